"""`deepbench history`: measured, printed, kept and refused; workers with known times."""

import json
import sys

import pytest
from command import deepbench

from deepbench_ops import project
from deepbench_ops.analysis import history_stores
from deepbench_ops.commands import history_report
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import core_latency, ensemble_sweeps
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import worker_launch

KERNEL = ("--problem", "m35_n700_k2048_NN", "--family", "gemm")
SPAN = "2.2.4..2.3.0"

PROGRAM = """
import json, os, random, sys
name, seconds = os.environ["NAME"], float(os.environ["CALL"])
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    command = json.loads(line)
    if command["do"] == "prepare" and name == os.environ.get("LACKS"):
        answer = {"error": "Unsupported: no such operation"}
    elif command["do"] == "prepare":
        answer = {"seconds": seconds, "stoppable": False}
    else:
        answer = {"seconds": seconds * random.uniform(0.999, 1.001), "ended": 0.0}
    print(json.dumps(answer), flush=True)
"""
"""A worker that says how long its calls took instead of running any."""

TIMES = {"numpy-2.2.4": 1e-3, "numpy-2.2.5": 1e-3, "numpy-2.2.6": 1.5e-3, "numpy-2.3.0": 1.2e-3}


@pytest.fixture
def releases(monkeypatch, tmp_path):
    """Four releases with known times, in a folder of environments of their own."""
    monkeypatch.setattr(project, "environments", lambda: tmp_path / "env")
    monkeypatch.setattr(project, "histories", lambda: tmp_path / "history")
    monkeypatch.setattr(core_latency.Reader, "read", lambda reader: None)

    def launch(release, folder, say):
        environ = {"NAME": release.name, "CALL": str(TIMES[release.name])}
        return Launch(sys.executable, environ, ("-c", PROGRAM))

    monkeypatch.setattr(worker_launch, "launch", launch)
    return history_stores.journal_of("numpy")


def history(*more: str) -> tuple[int, str, str]:
    """Run the command on one kernel over four releases."""
    return deepbench("history", "numpy", SPAN, *KERNEL, "--rounds", "5", "--no-save", *more)


def test_all_releases_are_compared(releases):
    """Newest over oldest, and the release with the largest step, as the workers have it."""
    status, out, err = history()
    assert 0 == status
    row = out.splitlines()[2].split("  ")
    assert "m35_n700_k2048_NN" == row[0].strip()
    assert pytest.approx(1.2, abs=0.01) == float(next(c for c in row[1:] if c.strip()[:2] == "1."))
    assert "numpy-2.2.6: 1.5 times slower" in " ".join(out.split())
    assert "1 of 1 kernels are known to 1 % or better" in err


def test_one_round_has_no_interval(releases):
    """The table says so in words."""
    _, out, _ = history("--budget", "0.000001s")
    assert "too few rounds" in out
    assert "nan" not in out


def test_ratios_to_the_anchor_are_machine_readable(releases):
    """Every release against the newest, with its interval."""
    _, out, _ = history("--format", "json", "--anchor", "numpy-2.2.6")
    document = json.loads(out)
    assert "numpy-2.2.6" == document["anchor"]
    (kernel,) = document["kernels"]
    found = {name: each["ratio"] for name, each in kernel["releases"].items()}
    assert {"numpy-2.2.4", "numpy-2.2.5", "numpy-2.3.0"} == set(found)
    assert pytest.approx(2 / 3, rel=0.01) == found["numpy-2.2.4"]
    assert pytest.approx(0.8, rel=0.01) == found["numpy-2.3.0"]


def test_a_history_goes_on_after_an_interruption(releases, monkeypatch):
    """Rounds that are on the disk are not measured again, and the interruption names them."""
    measure, begun = ensemble_sweeps.run_round, []

    def interrupted(launches, tasks, number, *more, **options):
        begun.append(number)
        if len(begun) == 4:
            raise KeyboardInterrupt
        return measure(launches, tasks, number, *more, **options)

    monkeypatch.setattr(ensemble_sweeps, "run_round", interrupted)
    status, _, err = history()
    assert 130 == status
    assert f"{releases} keeps all rounds" in err
    status, _, _ = history()
    assert (0, [0, 1, 2, 3, 3, 4]) == (status, begun)


@pytest.mark.slow
def test_damaged_lines_are_measured_again(releases):
    """Half a line, no JSON and impossible seconds: the round is missing, and nothing else."""
    history()
    lines = releases.read_text().splitlines()
    kept = [line for line in lines if line]
    entry = json.loads(kept[0])
    entry["seconds"]["numpy-2.2.4"][0] = -1.0
    releases.write_text("\n".join([json.dumps(entry), kept[1][:50], "null", *kept[2:]]))
    status, _, _ = history()
    assert 0 == status
    rounds = [json.loads(line)["round"] for line in _whole(releases)]
    assert 1 + 3 + 2 == len(rounds)
    assert 6 == len(set(rounds))


def _whole(path):
    for line in path.read_text().splitlines():
        if line.startswith("{") and line.endswith("}"):
            yield line


@pytest.mark.slow
def test_a_release_without_the_kernel_is_left_out(releases, monkeypatch):
    """Its reason is printed; the others are compared."""
    monkeypatch.setenv("LACKS", "numpy-2.2.5")
    status, out, err = history("--format", "json")
    (kernel,) = json.loads(out)["kernels"]
    assert {"numpy-2.2.5": "Unsupported: no such operation"} == kernel["left_out"]
    assert {"numpy-2.2.4", "numpy-2.2.6"} == set(kernel["releases"])
    _, _, err = history()
    assert "left out: numpy-2.2.5, gemm forward: Unsupported: no such operation" in err
    assert 0 == status


@pytest.mark.parametrize(
    ("release", "reason", "found"),
    [
        ("torch-2.1.2", "torch 2.1.2 has no conv", "torch has no conv"),
        ("openvino-2026.4.1", "openvino 2026.4.1-22982-e21 has no conv", "openvino has no conv"),
        ("torch-2.1.2", "torch has no conv", "torch has no conv"),
    ],
)
def test_a_reason_of_several_releases_is_one_line(release, reason, found):
    """It does not name their versions, which stand before it."""
    assert found == history_report._without_version(release, reason)


def test_releases_that_cannot_be_installed_are_named(releases, monkeypatch):
    """One of four: the others go on. Three of four: nothing to compare, in one line."""
    launch = worker_launch.launch

    def failing(*names):
        def wrapped(release, folder, say):
            if release.name in names:
                raise DeepbenchError("no such wheel")
            return launch(release, folder, say)

        return wrapped

    monkeypatch.setattr(worker_launch, "launch", failing("numpy-2.2.4"))
    status, out, err = history()
    assert (0, True) == (status, "left out: numpy-2.2.4: no such wheel" in err)
    monkeypatch.setattr(worker_launch, "launch", failing(*list(TIMES)[1:]))
    status, out, err = history()
    assert (2, "") == (status, out)
    assert "compares two releases or more, and only numpy-2.2.4 is left" in err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--budget", "soon"), "'soon' is no time: write 90s, 60m or 2h"),
        (("--within", "0"), "'0' is no percentage between 0 and 100: write 1%"),
        (("--anchor", "numpy-1.0"), "unknown release 'numpy-1.0'"),
        (("--precision", "int3"), "int3"),
    ],
)
def test_bad_options_are_one_line(releases, more, message):
    """Each names the value and the mend."""
    status, out, err = history(*more)
    assert (2, "") == (status, out)
    assert message in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("nunpy",), "unknown framework 'nunpy'"),
        (("numpy", "2.3.0..2.2.4"), "2.3.0..2.2.4: name an older release and then a newer one"),
        (("numpy", "2.3.0"), "2.3.0 is one release: name two or more, such as 1.26.4..2.4.6"),
        (("numpy", "2.3.0,"), "an empty part names no releases: write 1.26.4..2.4.6, or"),
        (("numpy", "2.2.4,9.9.9"), "unknown release 'numpy-9.9.9'"),
        (("numpy", SPAN, "--family", "all_reduce"), "no kernel of all_reduce at float32 runs"),
    ],
)
def test_bad_arguments_are_one_line(releases, asked, message):
    """Each names the argument and the mend."""
    status, out, err = deepbench("history", *asked)
    assert (2, "") == (status, out)
    assert message in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            ("--precision", "mxfp4"),
            "no kernel of m35_n700_k2048_NN at mxfp4 runs in one process of numpy: choose"
            " --precision float32, float16, int8",
        ),
        (("--device", "cuda"), "numpy does not run on cuda: choose --device cpu"),
    ],
)
def test_the_impossible_is_refused_before_anything_is_installed(
    releases, monkeypatch, asked, message
):
    """A precision or a device that the framework never has, with the possible ones."""
    monkeypatch.setattr(worker_launch, "launch", None)
    status, out, err = history(*asked)
    assert (2, "") == (status, out)
    assert message in err.splitlines()[-1]


def test_a_device_outside_the_configuration_is_refused_before_anything_is_installed(
    monkeypatch, tmp_path
):
    """Results of a device are filed only where asv.conf.json has an environment with it."""
    monkeypatch.setattr(project, "environments", lambda: tmp_path / "env")
    monkeypatch.setattr(project, "histories", lambda: tmp_path / "history")
    monkeypatch.setattr(worker_launch, "launch", None)
    status, _, err = deepbench("history", "torch", *KERNEL, "--device", "cuda")
    assert 2 == status
    assert "asv.conf.json has no environment with device cuda" in err.splitlines()[-1]


def test_a_history_without_any_measured_kernel_has_no_answer(releases, monkeypatch):
    """Where all releases lack the kernels, the exit status is 3."""
    monkeypatch.setitem(globals(), "PROGRAM", PROGRAM.replace("name ==", "True or name =="))
    status, _, err = history()
    assert 3 == status
    assert "numpy has no times of these kernels: the reasons are above" in err.splitlines()[-1]
    assert "left out: all 4 releases, gemm forward: Unsupported: no such operation" in err


def test_the_widest_kernels_are_named():
    """Eight of ten, the widest first, in percent; then the number of the others."""
    widths = {KernelIdentity("gemm", f"k{n}", "float32"): n / 100 for n in range(10)}
    named = history_report._widest(widths)
    assert named.startswith("k9 forward 9 %, k8 forward 8 %,")
    assert named.endswith(", k2 forward 2 %, and 2 more")


def test_the_budget_ends_it(releases):
    """No further round begins after the time, and the line says how to go on."""
    status, _, err = history("--budget", "0.000001s", "--within", "0.0001%")
    assert 0 == status
    assert "0 of 1 kernels are known to 0.0001 % or better" in err
    assert "not known so well, with half-widths: m35_n700_k2048_NN forward (too few rounds)" in err
    assert "the same command with a larger --budget or --rounds goes on" in err
    assert 1 == len(list(_whole(releases)))
