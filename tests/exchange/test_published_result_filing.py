"""Publications become asv results that merge, say the same twice, and are never measured."""

import json
import re
from datetime import date
from pathlib import Path

import pytest
import workbooks
from click.testing import CliRunner
from full_disk import fill, mounted

from deepbench_ops.analysis import point_reading
from deepbench_ops.asv_adapter import (
    asv_api,
    asv_environment,
    published_benchmarks,
    release_repository,
    result_files,
)
from deepbench_ops.asv_adapter.published_results import load
from deepbench_ops.commands.import_ import import_
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.published import published_machines, published_result_filing
from deepbench_ops.exchange.workbooks import workbook_values
from deepbench_ops.machine import machine_profile
from deepbench_ops.releases import release_table, table_location
from deepbench_ops.storage import locks

NAME = "2017-07-14__train__DeepBench_NV_P100.xlsx"
A_GEMM = (1760, 16, 1760, "N", "N")
A_LAYER = (512, 16, 25)
DAY = release_table.publication_of(date(2017, 7, 14))


def book(folder, name=NAME, *sections, **how):
    folder.mkdir(exist_ok=True)
    return workbooks.write(folder / name, *(sections or [workbooks.gemm((*A_GEMM, 0.055))]), **how)


def filed(folder, *paths, machine=None, day=None):
    found = [one for path in paths for one in workbook_values.read(path, machine, day)]
    return published_result_filing.file(folder / "results", found, list_days=len)[0]


def result_of(folder, machine="nvidia-p100", release=DAY):
    return folder / "results" / machine / f"{release.hash[:8]}-published.json"


def test_a_workbook_becomes_a_result_of_its_machine_and_day(tmp_path):
    """asv reads it as any result: under the same benchmark and parameters as measured points."""
    assert 1 == filed(tmp_path, book(tmp_path / "in"))
    stored = asv_api.Results.load(str(result_of(tmp_path)), machine_name="nvidia-p100")
    assert stored.commit_hash == DAY.hash
    params = stored.get_result_params("gemm.Training.kernel_forward")
    assert [["'m1760_n16_k1760_NN'"], ["'float32'"]] == params
    assert [5.5e-05] == stored.get_result_value("gemm.Training.kernel_forward", params)
    described = machine_profile.read(tmp_path / "results", "nvidia-p100")
    assert described.facts["CUDA Version"] == "8.0.61"
    assert described.peaks["cuda"]["float32"].how.startswith("data sheet: NVIDIA")


def test_importing_again_changes_nothing(tmp_path):
    """Not a byte of the results."""
    path = book(tmp_path / "in")
    filed(tmp_path, path)
    before = {p: p.read_bytes() for p in (tmp_path / "results").rglob("*.*")}
    assert 0 == filed(tmp_path, path)
    assert before == {p: p.read_bytes() for p in (tmp_path / "results").rglob("*.*")}


def test_workbooks_of_a_day_merge_whatever_their_order(tmp_path):
    """Training and inference of one machine and day are one file, first one or the other."""
    training = book(tmp_path / "in")
    server = book(
        tmp_path / "in",
        NAME.replace("train", "inference_server"),
        workbooks.gemm((1024, 700, 512, "N", "N", 0.46)),
        precision="GEMM, Conv: Int8 multiplication, 32 bit accumulation",
    )
    for folder, paths in (("one", (training, server)), ("other", (server, training))):
        for path in paths:
            (tmp_path / folder).mkdir(exist_ok=True)
            filed(tmp_path / folder, path)
    one, other = (load(result_of(tmp_path / folder)) for folder in ("one", "other"))
    assert one == other
    assert one[1]["CUDA Version"] == "8.0.61"
    assert one[1]["workbook"] == f"{server.name} / {training.name}"
    assert {name for name, _ in one[0]} == {
        "gemm.Training.kernel_forward",
        "gemm.InferenceServer.kernel_forward",
    }


def test_repeated_rows_are_samples_of_one_point(tmp_path):
    """Nine convolutions stand twice in the lists: both times are kept, a published one is shown."""
    rows = workbooks.gemm((*A_GEMM, 0.05), (*A_GEMM, 0.07))
    filed(tmp_path, book(tmp_path / "in", NAME, rows))
    stored = asv_api.Results.load(str(result_of(tmp_path)))
    params = stored.get_result_params("gemm.Training.kernel_forward")
    assert [[5e-05, 7e-05]] == stored.get_result_samples("gemm.Training.kernel_forward", params)
    assert stored.get_result_value("gemm.Training.kernel_forward", params) == [5e-05]


def test_two_sheets_give_no_repetitions(tmp_path):
    """Two cards, or two libraries, under one name and precision: both cells are named."""
    path = book(
        tmp_path / "in",
        NAME,
        sheet="cuDNN 6",
        more=[("cuDNN 7", "Float", [workbooks.gemm((*A_GEMM, 50))])],
    )
    with pytest.raises(DeepbenchError) as caught:
        workbook_values.read(path)
    assert "sheet 'cuDNN 6', cell I4 and sheet 'cuDNN 7', cell I4 both give" in str(caught.value)


def test_a_workbook_without_times_is_refused_with_its_cell(tmp_path):
    """Where somebody looks for the title that is missing."""
    path = book(tmp_path / "in", NAME, [[None, "M", "N"]], precision=None)
    with pytest.raises(DeepbenchError, match=r"no table of times \(sheet 'Results FP32', cell B1"):
        workbook_values.read(path)


def test_unread_cells_of_a_sheet_without_times_are_kept(tmp_path):
    """A sheet whose times are all N/A is of the machine that the others are of."""
    empty = ("FP16", "16 bit inputs", [workbooks.gemm((*A_GEMM, "N/A*"))])
    [found] = workbook_values.read(book(tmp_path / "in", NAME, more=[empty]))
    assert ["FP16"] == [cell.place.sheet for cell in found.unread]


def test_two_times_for_one_kernel_and_day_are_refused(tmp_path):
    """Either of two workbooks may be right: nothing is written."""
    filed(tmp_path, book(tmp_path / "in"))
    before = result_of(tmp_path).read_bytes()
    other = book(tmp_path / "in", NAME.replace(".x", "__9e297a.x"), workbooks.gemm((*A_GEMM, 0.5)))
    with pytest.raises(DeepbenchError, match=r"took 0\.0005 s, but nvidia-p100 has 5\.5e-05 s"):
        filed(tmp_path, other)
    assert before == result_of(tmp_path).read_bytes()


def test_sheets_of_two_machines_go_to_both(tmp_path):
    """One workbook of 2017 has a sheet for each of two cards."""
    path = book(
        tmp_path / "in",
        "2017-05-28__train__DeepBench_NV_1080Ti_TitanXp.xlsx",
        workbooks.gemm((*A_GEMM, 1)),
        sheet="1080Ti_cuDNNv6",
        precision=None,
        more=[("TitanXp_cuDNNv6", None, [workbooks.gemm((*A_GEMM, 2))])],
    )
    found = {one.machine.name: list(one.values.values()) for one in workbook_values.read(path)}
    assert found == {"nvidia-gtx-1080-ti": [[0.001]], "nvidia-titan-xp": [[0.002]]}


def test_a_measured_machine_keeps_its_description(tmp_path):
    """Importing a log of one's own machine adds results; entry and measured profile stay."""
    folder = tmp_path / "results" / "our-box"
    folder.mkdir(parents=True)
    entry = dict.fromkeys(("accelerator", "arch", "cpu", "num_cpu", "os", "ram"), "ours")
    result_files.write_machine(folder / "machine.json", {"machine": "our-box", **entry})
    measured = {"cpu": {"float32": machine_profile.Figure(1e11, "FLOP/s", "measured: here")}}
    machine_profile.write(
        tmp_path / "results", machine_profile.Profile("our-box", "2016-01-01", peaks=measured)
    )
    before = {path: path.read_bytes() for path in folder.iterdir()}
    filed(tmp_path, book(tmp_path / "in"), machine="our-box")
    assert before == {path: path.read_bytes() for path in before}
    stored = asv_api.Results.load(str(result_of(tmp_path, "our-box")), machine_name="our-box")
    assert stored.params["cpu"] == "ours"


@pytest.mark.parametrize(
    ("name", "machine", "day"),
    [
        ("2016-09-25__train__DeepBench_NV_TitanX.xlsx", "nvidia-titan-x", "2016-09-25"),
        ("2017-02-08__train__DeepBench_NV_M40__9e297a.xlsx", "nvidia-m40", "2017-02-08"),
        (
            "2017-07-27__train__DeepBench_NV__1080Ti_Trg_CUDA_8_0_88.xlsx",
            "nvidia-gtx-1080-ti",
            None,
        ),
        ("2017-07-14__inference_device__DeepBench_iPhone_7.xlsx", "apple-iphone-7", None),
        ("DeepBench_IA_KNL7250.xlsx", "intel-knl-7250", None),
    ],
)
def test_a_file_of_deepbench_names_machine_and_day(name, machine, day):
    """Revisions, driver stacks and doubled underscores do not hide the machine."""
    assert machine == published_machines.machines_of(Path(name), ["Results"])["Results"].name
    if day:
        assert day == published_machines.date_in(Path(name))


@pytest.mark.parametrize("machine", published_machines.table(), ids=lambda machine: machine.name)
def test_peaks_are_sourced_or_their_absence_explained(machine):
    """A peak of a machine names the document that it is from; where there is none, why."""
    figures = machine.profile({}, "2017-07-14").peaks[machine.device]
    assert figures
    for figure in figures.values():
        absent = figure.how.startswith("data sheet: no figure published: ")
        assert absent == (figure.value is None)
        assert absent or re.match(r"data sheet: (NVIDIA|Intel|AMD|Huawei) ", figure.how)
    assert machine.peaks or machine.bandwidth is None
    assert all(1e11 < peak < 1e15 for peak in machine.peaks.values())


def run(folder, *args):
    return CliRunner().invoke(import_, [*map(str, args), "--results", str(folder / "results")])


@pytest.fixture
def releases(tmp_path, monkeypatch):
    """The release table of a project of the test's own."""
    (tmp_path / "asv.conf.json").write_text('{"dvcs": "releases", "repo": "releases.csv"}')
    path = tmp_path / "releases.csv"
    path.write_text(
        "framework,version,date,pins,on_request,index\nnumpy,2.2.6,2025-05-17,scipy==1.15.3,no,\n"
    )
    monkeypatch.setattr(release_table, "TABLE", path)
    return path


def test_a_vendors_workbook_needs_a_name_and_a_day(tmp_path, releases):
    """Neither is guessed; with both it becomes a machine of its own, described by its specs."""
    path = book(tmp_path / "in", "ours.xlsx")
    assert "--date" in str(run(tmp_path, path).exception)
    assert "--machine" in str(run(tmp_path, path, "--date", "2026-11-21").exception)
    done = run(tmp_path, path, "--date", "2026-11-21", "--machine", "our-card")
    assert done.exit_code == 0, done.output
    entry = json.loads((tmp_path / "results" / "our-card" / "machine.json").read_text())
    assert (entry["accelerator"], entry["cpu"]) == ("a card", "a cpu")


def test_a_machines_name_is_no_path(tmp_path, releases):
    """A name with a separator would be written elsewhere: it is refused."""
    path = book(tmp_path / "in")
    refused = run(tmp_path, path, "--machine", "../elsewhere")
    assert "machine name '../elsewhere'" in str(refused.exception)
    assert not (tmp_path / "results").exists()


def test_the_report_lists_what_was_not_taken(tmp_path, releases):
    """Counts in the table; with --cells every cell, misprint, wrong time and stale FLOPS."""
    fast = (5124, 9124, 2560, "N", "T", 0.001)
    odd = ((512, 8, 1530, "N", "N", 1), (3, 3, 3, "N", "N", 1, 9), fast)
    rows = workbooks.gemm((*A_GEMM, "N/A*"), *odd)
    path = book(tmp_path / "in", NAME, rows, workbooks.gemm((*A_GEMM, 1)))
    done = run(tmp_path, path, "--cells")
    assert done.exit_code == 0, done.output
    assert f"{NAME}: sheet 'Results FP32', cell I4 says that there is none: 'N/A*'" in done.output
    assert f"{NAME}: m3_n3_k3_NN is in no program list" in done.output
    assert "cell I6 gives 0.001 s, which does not fit the FLOPS" in done.output
    wrong = "kernel_forward('m5124_n9124_k2560_NT', 'float32') is wrong, and pages leave it out"
    assert f"{wrong}: it is beyond the machine's peak" in done.output


def test_a_day_of_publication_is_a_row_of_the_release_table(tmp_path, releases):
    """Added once, after all that was there, and found by name and by hash."""
    path = book(tmp_path / "in")
    before = releases.read_text()
    run(tmp_path, path)
    after = releases.read_text()
    run(tmp_path, path)
    assert after == releases.read_text() == before + "published,2017.7.14,2017-07-14,,no,\n"
    known = release_repository.ReleaseRepo(str(releases), "")
    assert known.get_hash_from_name("published-2017.7.14") == DAY.hash


def test_an_import_that_breaks_off_leaves_no_result_without_its_day(
    tmp_path, releases, monkeypatch
):
    """A full disk leaves everything as it was, and the next import writes it all."""
    path = book(tmp_path / "in")
    before = releases.read_text()

    def full(*args):
        raise OSError("No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(asv_api.Results, "save", full)
        assert "No space left" in str(run(tmp_path, path).exception)
    assert [locks.NAME] == [path.name for path in (tmp_path / "results").iterdir()]
    assert before == releases.read_text()
    done = run(tmp_path, path)
    assert "1 result file written, 1 day added" in done.output
    known = {release.hash: release for release in release_table.load(releases)}
    assert [DAY] == [
        point.release for point in point_reading.load(tmp_path / "results", "nvidia-p100", known)
    ]


def test_without_its_day_nothing_is_written(tmp_path, releases, monkeypatch):
    """A release table that cannot be written stops an import before the first result."""
    path = book(tmp_path / "in")

    def refused(*args):
        raise OSError("Read-only file system")

    with monkeypatch.context() as broken:
        broken.setattr(release_table, "append", refused)
        assert "Read-only" in str(run(tmp_path, path).exception)
    assert [locks.NAME] == [path.name for path in (tmp_path / "results").iterdir()]


def test_results_without_a_project_have_a_table_of_their_own(tmp_path):
    """Not a byte of the package's table changes, and commands find the days again."""
    listed, path = release_table.TABLE.read_text(), book(tmp_path / "in", "ours.xlsx")
    given = ("--date", "1999-12-31", "--machine", "our-card")
    assert 0 == run(tmp_path, path, *given).exit_code
    assert listed == release_table.TABLE.read_text()
    own = tmp_path / "results" / "releases.csv"
    assert "published,1999.12.31,1999-12-31,,no,\n" == own.read_text().splitlines(True)[-1]
    found = table_location.load(tmp_path / "results")
    assert "published-1999.12.31" == found[0].name
    assert {*release_table.load()} < {*found}


def test_the_table_is_that_of_the_results_project(tmp_path, releases):
    """An asv.conf.json next to a folder that names other results is of another project."""
    assert releases == table_location.path_of(tmp_path / "results")
    other = tmp_path / "other"
    assert other / "releases.csv" == table_location.path_of(other)
    project = Path(release_table.__file__).parents[2]
    assert Path(release_table.__file__).with_name("releases.csv") == table_location.path_of(
        project / "results"
    )


def test_no_results_folder_is_made_outside_a_project(tmp_path, monkeypatch):
    """An import in any folder is one line; one that names a folder makes it."""
    path = book(tmp_path / "in")
    monkeypatch.chdir(tmp_path)
    assert isinstance(CliRunner().invoke(import_, [str(path)]).exception, DeepbenchError)
    assert ["in"] == [path.name for path in tmp_path.iterdir()]


def test_a_damaged_machine_entry_is_one_line(tmp_path, releases):
    """Such as an empty one, which earlier versions left on a full disk."""
    path = book(tmp_path / "in")
    run(tmp_path, path)
    described = result_of(tmp_path).with_name("machine.json")
    described.write_text("")
    refused = run(tmp_path, path, "--date", "2017-07-15").exception
    assert isinstance(refused, DeepbenchError)
    assert f"{described} is not whole" in str(refused)


def test_an_import_on_a_full_disk_leaves_no_empty_file(tmp_path, releases):
    """It is one line, and the same import goes well once there is room."""
    path, results = book(tmp_path / "in"), tmp_path / "results"
    with mounted(results):
        fill(results / "filler")
        failed = run(tmp_path, path).exception
        assert isinstance(failed, (DeepbenchError, OSError))
        files = {one for one in results.rglob("*") if one.is_file()} - {results / locks.NAME}
        assert [results / "filler"] == sorted(files)
        (results / "filler").unlink()
        assert run(tmp_path, path).exception is None
        assert result_of(tmp_path).exists()


def test_a_refused_import_lists_no_day(tmp_path, releases):
    """Publications that cannot be filed leave the release table as it was."""
    run(tmp_path, book(tmp_path / "in"), "--date", "2017-07-15")
    before = releases.read_text()
    other = book(tmp_path / "in", NAME.replace(".x", "__9e297a.x"), workbooks.gemm((*A_GEMM, 0.5)))
    refused = run(tmp_path, book(tmp_path / "in"), other)
    assert "took 0.0005 s" in str(refused.exception)
    assert before == releases.read_text()


def test_a_day_that_several_bring_is_listed_once(releases):
    """Publications of several machines on one day ask for one row."""
    assert 1 == release_table.append(releases, [DAY, DAY])
    assert 1 == releases.read_text().count("published,")


def test_published_figures_are_never_measured(tmp_path, releases):
    """No range and no `asv run` without one asks for them; by name they are refused."""
    run(tmp_path, book(tmp_path / "in"))
    known = release_repository.ReleaseRepo(str(releases), "")
    assert DAY.hash not in known.measurable()
    assert [] == known.get_hashes_from_range("published")
    conf = asv_api.configuration({"repo": str(releases), "dvcs": "releases", "project": "p"})
    conf.env_dir = str(tmp_path / "env")
    place = asv_environment.ReleaseEnvironment(conf, "3", {}, {})
    with pytest.raises(asv_api.UserError, match=r"published-2017\.7\.14 stands for figures"):
        place.install_project(conf, known, DAY.hash)


def test_pages_show_passes_that_nothing_here_measures(tmp_path, releases):
    """asv's benchmarks gain those of published results, and lose nothing."""
    headers = ("Time Forward (msec)", "Time Backward wrt Inputs (msec)")
    layers = workbooks.rnn((*A_LAYER, 1, 2), headers=headers)
    run(tmp_path, book(tmp_path / "in", NAME, layers))
    ours = {
        "name": "rnn.Training.kernel_forward",
        "param_names": ["problem", "precision"],
        "params": [["'lstm_h8_n1_t1'"], ["'float32'"]],
        "version": "1",
        "type": "time",
        "unit": "seconds",
        "code": "",
    }
    known = {ours["name"]: ours}
    asv_api.write_benchmarks(tmp_path / "results" / "benchmarks.json", known)
    conf = asv_api.configuration({"repo": str(releases), "dvcs": "releases", "project": "p"})
    conf.results_dir = str(tmp_path / "results")
    found = published_benchmarks.extended(asv_api.benchmarks(conf, known.values()), conf)
    forward = found["rnn.Training.kernel_forward"]
    assert [["'lstm_h8_n1_t1'", "'lstm_h512_n16_t25'"], ["'float32'"]] == forward["params"]
    assert [["'lstm_h512_n16_t25'"], ["'float32'"]] == found["rnn.Training.kernel_backward_data"][
        "params"
    ]
    assert ours["params"] == [["'lstm_h8_n1_t1'"], ["'float32'"]]


def test_the_repo_of_a_configuration_knows_them(releases):
    """asv finds the table by its configuration, with published days as a branch."""
    release_table.append(releases, [DAY])
    conf = asv_api.configuration({"repo": str(releases), "dvcs": "releases", "project": "p"})
    assert asv_api.repository(conf).frameworks() == {"numpy", "published"}


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        (
            [
                ["Quantised Linear", None, "m", "n", "k", "group", "forward time (msec)"],
                [None, None, 1, 64, 64, 32, 0.5],
            ],
            "G4: unknown precision of quantised_linear 'float32'",
        ),
        (
            [
                ["All Gather", None, "elements", "# nodes", "gather time (msec)"],
                [None, None, 7, 2, 0.5],
            ],
            "E4: all_gather_n7 cannot be shared by 2 ranks",
        ),
    ],
)
def test_a_sheet_with_a_time_of_no_kernel_is_refused(tmp_path, section, reason):
    """The commands that read results would leave it out."""
    path = book(tmp_path / "in", NAME, section, specs=[["Set", "modern"]])
    with pytest.raises(DeepbenchError) as caught:
        filed(tmp_path, path)
    assert reason in str(caught.value)
    assert 1 == len(str(caught.value).splitlines())
