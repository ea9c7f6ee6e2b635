"""A submission of another machine with the same name is filed under a name of its own."""

import copy
import json
import shutil

import pytest
from command import deepbench
from example_submissions import GOOD, RELEASE, RELEASES, sealed, values
from test_submission_signature import NAME, allowed, made_key

from deepbench_ops.analysis import point_reading
from deepbench_ops.exchange.submissions import submission_provenance, submission_signature
from deepbench_ops.releases import table_location


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    """The table of releases holds the one that is sent."""
    monkeypatch.setattr(table_location, "load", lambda _: (RELEASE,))


def of_another_cpu(content):
    """Another description of the machine."""
    content["machine"]["cpu"] = "another"


def of_other_readings(content):
    """Other nominal readings of a yardstick."""
    reading = {"value": 2e-3, "unit": "s", "how": "measured: x"}
    content["profile"] |= {"yardsticks": {"1": {"compute": reading}}, "yardstick_version": "1"}


def in_other_variables(content):
    """Another device in the same environment."""
    content["results"][0]["variables"]["DEEPBENCH_DEVICE"] = "cuda"


def written(path, change=None):
    """A file of a submission, changed."""
    content = copy.deepcopy(GOOD)
    reading = {"value": 1e-3, "unit": "s", "how": "measured: x"}
    content["profile"] |= {"yardsticks": {"1": {"compute": reading}}, "yardstick_version": "1"}
    if change:
        change(content)
    path.write_text(json.dumps(sealed(content)))
    return path


@pytest.mark.parametrize("change", [of_another_cpu, of_other_readings, in_other_variables])
def test_the_line_names_the_option_that_keeps_both(tmp_path, change):
    """And the option files the second one, which may come twice."""
    first, second = written(tmp_path / "a.json"), written(tmp_path / "b.json", change)
    options = ("--results", str(tmp_path / "results"))
    assert 0 == deepbench("import", str(first), *options)[0]
    status, _, err = deepbench("import", str(second), *options)
    assert (2, 1) == (status, err.count("\n"))
    assert "if it is another machine, import it under another name with --machine NAME" in err
    for _ in range(2):
        status, out, _ = deepbench("import", str(second), "--machine", "box-2", *options)
        assert 0 == status
        assert "1 time of box-2 (sent as box), " in out
    assert ", 0 files written" in out
    for name in ("box", "box-2"):
        [point] = point_reading.load(tmp_path / "results", name, RELEASES)
        assert (0.5, name) == (point.seconds, point.machine)


def test_the_order_of_imports_gives_the_same_files_under_two_names(tmp_path):
    """One of them has the name that both were sent with."""
    paths = written(tmp_path / "a.json"), written(tmp_path / "b.json", of_another_cpu)
    for number, order in enumerate((paths, paths[::-1])):
        options = ("--results", str(tmp_path / str(number)))
        for path in order:
            own = () if path == paths[0] else ("--machine", "box-2")
            assert 0 == deepbench("import", str(path), *own, *options)[0]
    first, second = (
        {path: text for path, text in values(tmp_path / name).items() if ".lock" not in path.name}
        for name in ("0", "1")
    )
    assert first == second


def test_a_name_that_is_no_machine_s_is_refused(tmp_path):
    """It would be a path, or a file of the results."""
    path = written(tmp_path / "a.json")
    for name in ("../box", "machine.json"):
        status, _, err = deepbench(
            "import", str(path), "--machine", name, "--results", str(tmp_path / "results")
        )
        assert (2, 1) == (status, err.count("\n"))
        assert str(path) in err
        assert name in err


@pytest.mark.skipif(
    shutil.which("ssh-keygen") is None,
    reason="signatures need ssh-keygen, which comes with OpenSSH",
)
def test_the_signature_is_that_of_the_file_as_sent(tmp_path):
    """The note has the signer, and the name in the file; the results are sent on by the new one."""
    path, key = written(tmp_path / "a.json"), made_key(tmp_path, "key")
    submission_signature.sign(path, key)
    results = tmp_path / "results"
    named = ("--machine", "box-2", "--results", str(results))
    signers = ("--allowed-signers", str(allowed(tmp_path, key)))
    assert 0 == deepbench("import", str(path), "--signed", *signers, *named)[0]
    [origin] = submission_provenance.read(results / "box-2")
    assert (NAME, "box") == (origin.signer, origin.sent_as)
    assert json.loads(path.read_text())["digest"] == origin.digest
    assert 2 == len(origin.versions) + len(origin.releases)
    assert 0 == deepbench("submit", str(tmp_path / "on.json"), *named)[0]
    sent_on = json.loads((tmp_path / "on.json").read_text())
    assert {"box-2"} == {sent_on[field]["machine"] for field in ("machine", "profile")}
