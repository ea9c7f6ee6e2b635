"""`deepbench time` checks and times one problem of any sizes, and stores nothing."""

import json
import os
import subprocess
from dataclasses import replace

import click
import pytest
from command import COMMAND, deepbench
from installed_frameworks import needed

from deepbench_ops import problems
from deepbench_ops.analysis.single_timing import SingleTiming
from deepbench_ops.backends import framework_list
from deepbench_ops.commands.time import _installed, _of_first, _text, time
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure.nominal_readings import RAW
from deepbench_ops.problems.family_list import size_description
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.problem import size_fields
from deepbench_ops.problems.problem_lists import TYPES, named

SIZES = {
    "gemm": ["--m", "96", "--n", "32", "--k", "64", "--b-transposed"],
    "sparse_gemm": ["--m", "96", "--n", "32", "--k", "64", "--sparsity", "0.9"],
    "rnn": ["--cell", "gru", "--hidden", "16", "--batch", "2", "--timesteps", "3"],
    "conv": ["--w", "9", "--h", "8", "--c", "4", "--n", "2", "--k", "4", "--r", "3", "--s", "3"],
}


def record(*samples, disturbed=0, yardstick=True):
    """A record of one process, at a nominal reading of a second."""
    return {
        "samples": list(samples),
        "seconds": list(samples),
        "yardstick": [1.0] * len(samples) if yardstick else [],
        "nominal": 1.0 if yardstick else None,
        "disturbed": disturbed,
        "notes": {"route": "np.matmul"},
        "fingerprint": {"framework": "numpy 2.4.6", "threads": "2", "settings": ""},
    }


GEMM = Gemm(m=1000, n=1000, k=1000)
PROFILE = Profile("box", peaks={"cpu": {"float32": Figure(4e9, "FLOP/s", "measured: x")}})


def test_figures_follow_from_the_samples_of_all_processes():
    """2e9 FLOPs in a second are half of a peak of 4e9; the interval holds the median."""
    records = [record(0.98, 1.0, 1.02), record(0.99, 1.0, 1.01), record(1.0, 1.05, 1.1)]
    found = SingleTiming(GEMM, "forward", "float32", "cpu", records, PROFILE).as_data()
    assert 1.0 == found["seconds"]
    assert 0.97 < found["low"] < 1.0 < found["high"] < 1.2
    assert (2e9, 0.5) == (found["flops_per_second"], found["of_peak"])
    assert pytest.approx(0.05) == found["processes_apart"]
    assert (True, 3, 0) == (found["calibrated"], found["processes"], found["disturbed"])


def test_what_is_not_known_is_no_figure():
    """Without a profile there is no share, of a single sample no interval, and a reason."""
    found = SingleTiming(
        GEMM, "forward", "float32", "cpu", [record(1.0, yardstick=False)]
    ).as_data()
    assert (None, None, None, False) == tuple(
        found[name] for name in ("low", "of_peak", "of_roof", "calibrated")
    )
    assert "too few samples" == found["without_interval"]


def test_conditions_of_a_timing_are_printed_where_they_are_unusual():
    """And always stored as figures."""
    usual = SingleTiming(GEMM, "forward", "float32", "cpu", [record(1.0)])
    odd = replace(usual, conditions={"cache": "cold", "execution": "compiled"})
    names = ("cache", "layout", "execution")
    assert ["warm", "published", "eager"] == [usual.as_data()[name] for name in names]
    assert ["cold", "published", "compiled"] == [odd.as_data()[name] for name in names]
    assert "numpy 2.4.6, cpu, 2 threads\n" in _text(usual)
    assert "numpy 2.4.6, cpu, 2 threads, cold cache, compiled execution\n" in _text(odd)


def test_a_time_of_cold_caches_says_so(monkeypatch):
    """The condition comes from the environment, as that of the measuring process does."""
    monkeypatch.setenv("DEEPBENCH_CACHE", "cold")
    status, out, err = deepbench("time", "m96_n32_k64_NN", "--processes", "1", "--format", "json")
    assert 0 == status, err
    assert "cold" == json.loads(out)["cache"]
    monkeypatch.setenv("DEEPBENCH_CACHE", "cool")
    assert (2, "") == deepbench("time", "m96_n32_k64_NN")[:2]


def test_raw_seconds_have_the_reason_of_their_record():
    """A nominal reading may be missing of one state of the machine alone."""
    remark = "the machine's state was mixed"
    raw = record(1.0, yardstick=False)
    raw["notes"] = {"calibration": f"{RAW}{remark}"}
    timing = SingleTiming(GEMM, "forward", "float32", "cpu", [record(1.0), raw])
    assert remark == timing.as_data()["why_raw"]
    assert 1 == _text(timing).count(remark)
    lines = dict(line.split("  ", 1) for line in _text(timing).splitlines() if line[0] != " ")
    assert f"raw: {remark}" == lines["seconds are"].strip()
    assert "unknown, since the seconds are raw" == lines["disturbed"].strip()
    without = _text(SingleTiming(GEMM, "forward", "float32", "cpu", [record(1, yardstick=False)]))
    assert "raw: no nominal reading is known here ('deepbench machine' takes it)" in without


def test_disturbed_slices_are_counted():
    records = [record(1.0, 1.0, disturbed=1), record(1.0, 1.0, disturbed=2)]
    assert 3 == SingleTiming(GEMM, "forward", "float32", "cpu", records).disturbed


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([record(0.1, 0.1), record(0.1, 0.1)], "beyond the roof: 5 times the peak"),
        ([record(1.0, 1.0), record(2.0, 2.0)], "processes disagree: 2 of them lie 2 times apart"),
        ([record(1.0, 1.0), record(1.1, 1.1)], ""),
    ],
)
def test_a_timing_is_judged_as_stored_points_are(records, expected):
    """The line on disturbances has the reason, and what to do."""
    timing = SingleTiming(GEMM, "forward", "float32", "cpu", records, PROFILE)
    assert expected == timing.as_data()["unsteady"]
    (line,) = [each for each in _text(timing).splitlines() if each.startswith("disturbed")]
    assert (f"{expected}; time it again" in line) == bool(expected)
    assert ("deepbench machine" in _text(timing)) == expected.startswith("beyond")


@pytest.mark.parametrize(
    ("bandwidth", "expected"),
    [
        (None, "50.0% of 4 GFLOP/s"),
        (1e12, "50.0% of 4 GFLOP/s, which is its roof too: the memory would allow more"),
        (2e7, "50.0% of 4 GFLOP/s; 80.0% of its roof, the 2.5 GFLOP/s of the memory"),
    ],
)
def test_a_share_is_printed_once_where_the_roof_is_the_peak(bandwidth, expected):
    """The product moves 16 MB for 2 GFLOP; at 20 MB/s the memory allows 2.5 GFLOP/s."""
    known = {"cpu": Figure(bandwidth, "B/s", "measured: x")} if bandwidth else {}
    timing = SingleTiming(
        GEMM, "forward", "float32", "cpu", [record(1.0, 1.0)], replace(PROFILE, bandwidth=known)
    )
    text = " ".join(_text(timing).split())
    assert f"of peak {expected} seconds are" in text


@pytest.mark.parametrize("family", SIZES)
def test_any_sizes_of_a_family_are_timed(family, tmp_path):
    """Sizes that no published list has; threads are settled for the process that measures."""
    command = [*COMMAND, "time", family, *SIZES[family], "--framework", "numpy", "--threads", "1"]
    command += ["--processes", "1", "--format", "json", "--results", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    found = json.loads(done.stdout)
    assert (family, 1) == (found["family"], found["threads"])
    assert 0 < found["seconds"] < 1
    assert found["problem"] not in {problem.id for problem in problems.load(family)}
    assert [] == list(tmp_path.iterdir())


def test_an_id_is_timed_and_external_settings_are_named(tmp_path):
    environ = {**os.environ, "OPENBLAS_CORETYPE": "Haswell"}
    command = [
        *COMMAND,
        "time",
        "m96_n32_k64_NN",
        "--processes",
        "1",
        "--results",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environ, cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert "external settings: OPENBLAS_CORETYPE=Haswell" in done.stderr
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert "gemm m96_n32_k64_NN forward, float32" == lines["problem"]
    assert "OPENBLAS_CORETYPE=Haswell" == lines["settings"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["gemm", "--m", "0", "--n", "1", "--k", "1"], "--m: m is '0': write a whole number"),
        (["gemm", "--m", "x", "--n", "1", "--k", "1"], "--m: m is 'x': write a whole number"),
        (["gemm", "--m", "1", "--n", "1"], "Missing option '--k'"),
        ([*["sparse_gemm", "--m", "1", "--n", "1", "--k", "1"], "--sparsity", "1"], "(0, 1)"),
        ([*["rnn", "--cell", "x", "--hidden", "1"], "--batch", "1", "--timesteps", "1"], "lstm"),
        (["conv", *SIZES["conv"][:-1], "30"], "the filter is larger than the padded image"),
        (["all_reduce"], "deepbench collective all_reduce --elements N"),
        (["m1760_n128_k1760_XX"], "unknown family or problem 'm1760_n128_k1760_XX'; nearest"),
        (["m96_n32_k64_NN", "--operation", "back"], "'back' is not one of 'forward'"),
        (["m96_n32_k64_NN", "--framework", "x"], "unknown framework 'x'"),
        (["m96_n32_k64_NN", "--framework", "numpy", "--precision", "tf32"], "numpy has no tf32"),
        (["m900000_n900000_k900000_NN", "--framework", "numpy"], "bytes of memory"),
    ],
)
def test_what_cannot_be_timed_is_one_line(arguments, expected):
    """With the value and a valid one to write instead, and exit status 2."""
    status, out, err = deepbench("time", *arguments)
    assert (2, "") == (status, out)
    assert expected in err.splitlines()[-1]


IN_ONE_PROCESS = [family for family, kind in TYPES.items() if not kind.ranks]


@pytest.mark.parametrize("family", IN_ONE_PROCESS)
def test_a_family_has_its_sizes_as_options_with_their_meaning(family):
    """Each size has a text of its own, and defaults are operations and precisions of the family."""
    kind = TYPES[family]
    command = time.get_command(click.Context(time), family)
    options = {each.name: each for each in command.params}
    sizes = [name for name in size_fields(kind) if name != "whole"]
    plain = [name.replace("_", " ") for name in sizes]
    described = [size_description(kind, name) for name in sizes]
    assert [] == [name for name, text in zip(plain, described, strict=True) if name == text]
    assert sizes == [name[5:] for name in options if name.startswith("size_")]
    assert options["precision"].default in kind.precisions
    assert options["operation"].default in kind.operations


@pytest.mark.parametrize("family", IN_ONE_PROCESS)
def test_no_size_of_a_family_is_taken_for_a_shared_option(family):
    """Neither by its spelling nor by its parameter."""
    command = time.get_command(click.Context(time), family)
    spellings = [spelling for each in command.params for spelling in each.opts]
    assert sorted({*spellings}) == sorted(spellings)
    names = [each.name for each in command.params]
    assert sorted({*names}) == sorted(names)


def test_batches_at_once_and_threads_of_a_model_are_two_options(monkeypatch):
    """`--at-once` is a size of the problem, `--threads` the number of processors."""
    asked = []
    stand_in = "deepbench_ops.commands.time._time"
    monkeypatch.setattr(stand_in, lambda problem, **more: asked.append((problem, more)))
    arguments = ["model", "--name", "mmoe", "--batch", "64", "--at-once", "2", "--threads", "3"]
    assert (0, "", "") == deepbench("time", *arguments)
    ((problem, more),) = asked
    assert ("mmoe_b64_t2", 3) == (problem.id, more["threads"])


@pytest.mark.slow
def test_a_model_is_timed_by_its_sizes(tmp_path):
    needed("torch")
    command = [*COMMAND, "time", "model", "--name", "mmoe", "--batch", "64", "--processes", "1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    assert "model mmoe_b64 forward, float32" in done.stdout


def test_a_size_that_is_a_text_of_a_few_shows_them():
    """`--cell [vanilla|lstm|gru]`, and options that all families share stand apart."""
    status, out, _ = deepbench("time", "rnn", "--help")
    assert 0 == status
    own, shared = out.split("Options of all families:")
    assert "--cell [vanilla|lstm|gru]" in own
    assert "--framework" in shared


@pytest.mark.parametrize(
    ("family", "framework"), [("gemm", "numpy"), ("model", "torch"), ("quantisation", "torch")]
)
def test_the_framework_is_the_first_that_has_the_family(family, framework):
    assert framework == framework_list.with_family(family)[0]


def test_all_frameworks_that_cannot_time_it_are_named():
    """With the reason of each, which several may share; the reason of a single one stands alone."""
    refused = {"numpy": "no such type", "torch": "no such unit", "jax": "no such unit"}

    def measured(name):
        raise Unsupported(refused[name])

    said = "numpy: no such type; torch, jax: no such unit$"
    with pytest.raises(Unsupported, match=f"^no framework that is installed here has it: {said}"):
        _of_first(list(refused), measured)
    with pytest.raises(Unsupported, match=r"^no such type$"):
        _of_first(["numpy"], measured)


def test_a_framework_that_is_not_installed_is_not_tried(monkeypatch):
    """Without any, the line names those that have the family."""
    monkeypatch.setattr(framework_list, "find_spec", lambda name: name != "torch" or None)
    assert "torch" not in _installed("gemm")
    monkeypatch.setattr(framework_list, "is_installed", lambda framework: False)
    with pytest.raises(DeepbenchError, match="with kernels of gemm is installed here: pip"):
        _installed("gemm")


@pytest.mark.slow
@pytest.mark.parametrize("family", IN_ONE_PROCESS)
def test_a_listed_problem_of_each_family_is_timed(family, tmp_path):
    """The smallest one, checked, by the first framework that has the kernel."""
    needed("torch")
    kind = TYPES[family]
    precision = "float32" if "float32" in kind.precisions else kind.precisions[0]
    listed = named(family).values()
    smallest = min(listed, key=lambda each: each.bytes_of(precision, kind.operations[0]) or 0)
    command = [*COMMAND, "time", smallest.id, "--processes", "1", "--format", "json"]
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
    found = json.loads(done.stdout)
    assert (family, smallest.id) == (found["family"], found["problem"])
    assert 0 < found["seconds"]
