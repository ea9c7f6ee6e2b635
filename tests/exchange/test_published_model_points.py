"""Published tables of whole models become points of their machine and day; nothing is guessed."""

import csv
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from deepbench_ops.analysis import point_reading
from deepbench_ops.analysis import published_model_figures as figures
from deepbench_ops.asv_adapter import asv_api, published_benchmarks, published_results
from deepbench_ops.cli import cli
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.published import published_machines, published_result_filing
from deepbench_ops.exchange.published.published_model_points import publications
from deepbench_ops.problems import find
from deepbench_ops.releases import release_table

RESULTS = Path(__file__).resolve().parents[2] / "results"

ASCEND = ("huawei-ascend-910", date(2022, 4, 28), "training_step", "float16", "published")
GPU, CPU8, CPU16, BROADWELL8, BROADWELL16 = (
    (f"qingcloud-{name}", date(2018, 3, 29))
    for name in ("gpu", "cpu-8core", "cpu-16core", "cpu-8core-broadwell", "cpu-16core-broadwell")
)
LAST = ("float32", "channels_last")
FIRST = ("float32", "published")
EXPECTED = {
    "mindspore": {
        (*ASCEND, "resnet50_v1p5_b256"): 256 / 2115,
        (*ASCEND, "bert_large_128_b96"): 96 / 269,
        (*ASCEND, "wide_deep_b16000"): 16000 / 796892,
    },
    "qingcloud": {
        (*GPU, "training_step", *FIRST, "resnet50_b64"): 64 / 199.09,
        (*GPU, "forward", *FIRST, "resnet50_b64"): 64 / 632.51,
        (*CPU8, "training_step", *LAST, "resnet50_b32"): 32 / 1.91,
        (*CPU8, "forward", *LAST, "resnet50_b32"): 32 / 8.36,
        (*CPU16, "training_step", *LAST, "resnet50_b32"): 32 / 2.62,
        (*CPU16, "forward", *LAST, "resnet50_b32"): 32 / 11.44,
        (*BROADWELL8, "training_step", *FIRST, "resnet50_b32"): 32 / 12.55,
        (*BROADWELL8, "forward", *FIRST, "resnet50_b32"): 32 / 37.78,
        (*BROADWELL16, "training_step", *FIRST, "resnet50_b32"): 32 / 16.15,
        (*BROADWELL16, "forward", *FIRST, "resnet50_b32"): 32 / 48.65,
    },
    "paper": {},
}
"""Seconds of a step, batch over rate, by machine, day, pass, precision, layout and problem."""


def found_in(results):
    """The points of a folder, as EXPECTED has them."""
    known = {release.hash: release for release in release_table.load()}
    return {
        (
            point.machine,
            point.release.date,
            point.operation,
            point.precision,
            point.layout,
            point.problem_id,
        ): point.seconds
        for machine in point_reading.machines(results)
        for point in point_reading.load(results, machine, known)
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_a_tables_figures_arrive_under_their_machine_day_precision_and_problem(tmp_path, name):
    published_result_filing.file(tmp_path, publications(figures.load(name)), list_days=len)
    assert pytest.approx(EXPECTED[name], rel=1e-5) == found_in(tmp_path)


@pytest.mark.parametrize("name", figures.TABLES)
def test_the_committed_results_are_what_the_tables_say(tmp_path, name):
    """Filing a table into the repository's own results would change nothing."""
    one = publications(figures.load(name))
    published_result_filing.file(tmp_path, one, list_days=len)
    for path in tmp_path.glob("*/*.json"):
        assert path.read_bytes() == (RESULTS / path.relative_to(tmp_path)).read_bytes()
    known = {release.hash for release in release_table.load()}
    assert {release_table.publication_of(each.day).hash for each in one} <= known


def test_stream_computings_table_is_points_throughout():
    """One device, a batch and a latency in each of its rows."""
    (one,) = publications(figures.load("stcp920"))
    assert (21, date(2022, 2, 24)) == (one.timings, one.day)
    assert {"float16", "int8"} == {params[1].strip("'") for _, params in one.values}


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("mindspore", {"several devices": 7, figures.SPLIT: 1}),
        ("qingcloud", {"several devices": 2}),
        ("paper", {"several devices": 3, "whole training": 6, "no batch size is given": 3}),
        ("stcp920", {}),
    ],
)
def test_what_is_no_point_says_why(name, reasons):
    """Every figure is a point or has one of the reasons."""
    without_point = [figure.no_point for figure in figures.load(name)]
    assert reasons == {reason: sum(reason in each for each in without_point) for reason in reasons}
    assert len(without_point) == sum(reasons.values()) + without_point.count("")


def test_every_point_is_of_a_listed_machine_and_problem():
    known = {machine.name for machine in published_machines.table()}
    for name in figures.TABLES:
        for figure in figures.load(name):
            assert figure.no_point or figure.machine in known
        for one in publications(figures.load(name)):
            for _, (problem, _precision) in one.values:
                assert find("model", problem.strip("'")).sets


def test_points_of_another_layout_join_the_benchmarks(tmp_path):
    """asv's pages know the parameters of channels-last files too."""
    published_result_filing.file(
        tmp_path,
        publications(figures.load("qingcloud")),
        list_days=len,
    )
    for path in tmp_path.glob("*/*-published.json"):
        path.unlink()
    conf = asv_api.configuration({"repo": "r", "project": "p"})
    conf.results_dir = str(tmp_path)
    found = published_benchmarks.extended(asv_api.benchmarks(conf, []), conf)
    assert [["'resnet50_b32'"], ["'float32'"]] == found["model.Training.kernel_training_step"][
        "params"
    ]


def changed(path, **cells):
    """Write models.csv again, with these cells in its second row."""
    rows = list(csv.DictReader(figures.FIGURES.read_text().splitlines()))
    rows[1] |= cells
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        ({"day": ""}, "line 3: day is '': write when"),
        ({"day": "2022"}, "line 3: day is '2022': write when"),
        ({"basis": ""}, "line 3: 2022-04-28 has no basis: write the source of the day"),
    ],
)
def test_a_figure_without_a_day_or_its_basis_is_refused(tmp_path, cells, line):
    """With the file, the line, the fault and its mend, in one line of text."""
    with pytest.raises(DeepbenchError) as refused:
        figures.read(changed(tmp_path / "models.csv", **cells))
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", figures.TABLES)
def test_the_basis_of_a_day_stands_with_table_result_and_profile(tmp_path, name):
    """Wherever the day is shown, its source can be read."""
    first = figures.load(name)[0]
    said = CliRunner().invoke(
        cli, ["table", name, "--results", str(RESULTS), "--machine", "stream-stcp920"]
    )
    assert f"published {first.day}: {first.basis}" in said.output
    published_result_filing.file(tmp_path, publications(figures.load(name)), list_days=len)
    described = f"{first.day}: {first.basis}"
    for path in tmp_path.glob("*/*-published*.json"):
        assert described == published_results.load(path)[1]["Day of publication"]
    for path in tmp_path.glob("*/machine.profile"):
        assert described in path.read_text()
