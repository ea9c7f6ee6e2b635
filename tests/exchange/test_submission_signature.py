"""Submissions are signed by SSH keys, and who signed is kept with the results."""

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command import deepbench
from example_submissions import sealed

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import (
    submission,
    submission_provenance,
    submission_signature,
)
from deepbench_ops.exchange.submissions.submission_signature import Signer

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "apple-iphone-7"
NAME = "lab@vendor.example"

pytestmark = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None,
    reason="signatures need ssh-keygen, which comes with OpenSSH",
)


def made_key(folder: Path, name: str) -> Path:
    """A new key without a passphrase."""
    path = folder / name
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)], check=True
    )
    return path


def allowed(folder: Path, key: Path, options: str = "") -> Path:
    """A file of allowed signers that names one key."""
    public = key.with_suffix(".pub").read_text()
    path = folder / "signers"
    path.write_text(f"{NAME} {options}{public}")
    return path


@pytest.fixture
def sent(tmp_path):
    """A signed submission of a published machine, and its key."""
    shutil.copytree(RESULTS / MACHINE, tmp_path / "here" / MACHINE)
    key, path = made_key(tmp_path, "key"), tmp_path / "sent.json"
    own = ("--machine", MACHINE, "--results", str(tmp_path / "here"))
    status, out, err = deepbench("submit", str(path), *own, "--sign", str(key))
    assert (0, "") == (status, err)
    assert f"signature: {path}.sig" in out
    return path, key


def take_in(path: Path, *options: str) -> tuple[int, str, str]:
    """Import a submission into a results folder next to it."""
    return deepbench("import", str(path), "--results", str(path.parent / "there"), *options)


def origins(path: Path) -> list[submission_provenance.SubmissionOrigin]:
    """The stored facts about the submissions of the machine."""
    return submission_provenance.read(path.parent / "there" / MACHINE)


def test_an_allowed_signer_is_named(sent, tmp_path):
    """The name is kept with the results, with the key's fingerprint and the releases."""
    path, key = sent
    status, out, err = take_in(path, "--signed", "--allowed-signers", str(allowed(tmp_path, key)))
    assert (0, "") == (status, err)
    assert f"signed by {NAME}" in out
    (origin,) = origins(path)
    assert (NAME, True) == (origin.signer, origin.key.startswith("SHA256:"))
    points = [
        each for result in json.loads(path.read_text())["results"] for each in result["points"]
    ]
    assert len(points) == len(origin.versions)
    assert json.loads(path.read_text())["digest"] == origin.digest
    assert origin.releases
    assert f"signed by {NAME}" == submission_provenance.in_words([origin])


@pytest.mark.parametrize("first", ["signed", "unsigned"])
def test_signed_numbers_are_shown_before_unsigned_ones(sent, tmp_path, first):
    """Of two imports in any order, although the unsigned time is longer; conflicts names the
    signer."""
    path, key = sent
    content = json.loads(path.read_text())
    [point, *_] = content["results"][0]["points"]
    point["seconds"] *= 1.01
    other = tmp_path / "other.json"
    other.write_text(json.dumps(sealed(content)))
    for each in (path, other) if first == "signed" else (other, path):
        assert 0 == take_in(each, "--allowed-signers", str(allowed(tmp_path, key)))[0]
    rows = json.loads(
        deepbench("conflicts", "--format", "json", "--results", str(tmp_path / "there"))[1]
    )
    assert {(NAME, True), ("", False)} == {(row["signer"], row["shown"]) for row in rows}
    assert 2 == len(rows)


def test_signers_are_looked_up_in_the_results_folder(sent, tmp_path):
    """A folder of results brings its own list."""
    path, key = sent
    (tmp_path / "there").mkdir()
    allowed(tmp_path, key).rename(tmp_path / "there" / "allowed_signers")
    assert f"signed by {NAME}" in take_in(path)[1]


def test_an_unknown_key_is_taken_in_and_marked(sent):
    """The signature is that of the file; who it is, no one knows."""
    path, _ = sent
    status, out, _ = take_in(path)
    assert 0 == status
    assert "signed by the unknown key SHA256:" in out
    assert origins(path)[0].signer is None


def test_no_signature_is_taken_in_and_marked(sent):
    """Without a signature there is neither name nor key."""
    path, _ = sent
    submission_signature.path_of(path).unlink()
    status, out, _ = take_in(path)
    assert 0 == status
    assert "not signed" in out
    assert "not signed" == submission_provenance.in_words(origins(path))


def test_a_later_signature_replaces_none(sent, tmp_path):
    """The same submission, unsigned, unknown and known: the best is kept, in any order."""
    path, key = sent
    known = allowed(tmp_path, key)
    stored = submission_signature.path_of(path).read_bytes()
    submission_signature.path_of(path).unlink()
    take_in(path)
    submission_signature.path_of(path).write_bytes(stored)
    take_in(path)
    assert (None, True) == (origins(path)[0].signer, bool(origins(path)[0].key))
    take_in(path, "--allowed-signers", str(known))
    take_in(path)
    assert [NAME] == [each.signer for each in origins(path)]


def resealed(path: Path) -> None:
    """Change the whitespace of a submission, which its own digest does not cover."""
    path.write_text(path.read_text() + "\n")


def other_signature(path: Path) -> None:
    """Put the signature of another file in place."""
    other = path.with_name("other.json")
    other.write_text("{}")
    submission_signature.sign(other, path.with_name("key")).replace(
        submission_signature.path_of(path)
    )


def torn(path: Path) -> None:
    """Cut the signature in half."""
    text = submission_signature.path_of(path).read_text()
    submission_signature.path_of(path).write_text(text[: len(text) // 2])


@pytest.mark.parametrize("damage", [resealed, other_signature, torn])
def test_a_wrong_signature_is_refused(sent, tmp_path, damage):
    """One line names both files, and nothing is taken in."""
    path, key = sent
    damage(path)
    status, out, err = take_in(path, "--allowed-signers", str(allowed(tmp_path, key)))
    assert (2, "") == (status, out)
    assert f"{path}.sig is no signature of {path}" in err
    assert 1 == err.count("\n")
    assert [] == list((tmp_path / "there").rglob("*.json"))


@pytest.mark.parametrize("options", ['valid-before="20200101" ', 'namespaces="git" '])
def test_options_of_a_signer_count(sent, tmp_path, options):
    """A key that has expired, or may sign other things alone, is not that of an allowed signer."""
    path, key = sent
    known = str(allowed(tmp_path, key, options))
    status, out, err = take_in(path, "--allowed-signers", known, "--signed")
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert NAME not in take_in(path)[1]


@pytest.mark.parametrize("signed", [False, True])
def test_only_allowed_signers_where_a_signature_is_demanded(sent, signed):
    """Neither none nor that of an unknown key is enough."""
    path, _ = sent
    if not signed:
        submission_signature.path_of(path).unlink()
    status, _, err = take_in(path, "--signed")
    assert (2, 1) == (status, err.count("\n"))
    assert ("unknown key" if signed else "not signed") in err


def test_a_signature_for_something_else_is_refused(sent):
    """A key signs commits too: such a signature is not one of a submission."""
    path, key = sent
    with path.open("rb") as content:
        done = subprocess.run(
            ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", "git"],
            stdin=content,
            capture_output=True,
            check=True,
        )
    submission_signature.path_of(path).write_bytes(done.stdout)
    status, _, err = take_in(path)
    assert 2 == status
    assert "is no signature of" in err


def test_a_missing_key_is_one_line(sent, tmp_path):
    """It is looked for before the submission is written; the reason of a damaged one is
    ssh-keygen's."""
    path, _ = sent
    before = path.read_bytes()
    own = ("--machine", MACHINE, "--results", str(tmp_path / "here"))
    damaged = tmp_path / "damaged"
    damaged.write_text("no key")
    damaged.chmod(0o600)
    for key, reason in ((tmp_path / "none", "no such key"), (damaged, "could not be signed")):
        status, _, err = deepbench("submit", str(path), *own, "--sign", str(key))
        assert (2, 1) == (status, err.count("\n"))
        assert reason in err
    assert before == path.read_bytes()


def test_options_that_a_submission_answers_itself_are_refused(sent):
    """It would be stored under its own day and device."""
    for option, value in (("--date", "2026-11-21"), ("--device", "cpu")):
        status, _, err = take_in(sent[0], option, value)
        assert (2, 1) == (status, err.count("\n"))
        assert f"its days and devices: leave out {option}" in err


def test_signatures_without_openssh_are_one_line(sent, tmp_path, monkeypatch):
    """The line says what to install."""
    path, _ = sent
    monkeypatch.setenv("PATH", str(tmp_path))
    status, _, err = take_in(path)
    assert (2, 1) == (status, err.count("\n"))
    assert "OpenSSH" in err


def test_damaged_lines_of_submissions_count_as_not_signed(tmp_path):
    """Also after the next note: a torn file costs no mark of a page."""
    (tmp_path / submission_provenance.FILE).write_text(
        '{"digest": 1}\nnot json\n{"digest": "a", "key": ""'
    )
    assert [submission_provenance.UNREADABLE] == submission_provenance.read(tmp_path)
    submission_provenance.note(tmp_path, "b", Signer("x", "SHA256:y"), ["numpy-2.4.6"])
    found = submission_provenance.read(tmp_path)
    assert {"", "b"} == {each.digest for each in found}
    assert "unsigned" == submission_provenance.mark(submission_provenance.in_words(found))


@pytest.fixture
def table(sent, tmp_path):
    """An exported table of the machine, and the key."""
    path = tmp_path / "table.csv"
    own = ("--machine", MACHINE, "--results", str(tmp_path / "here"))
    status, _, err = deepbench("export", str(path), *own)
    assert (0, "") == (status, err)
    return path, sent[1]


def test_a_table_is_noted_as_not_signed(table):
    """It is as little proven as a submission without a signature."""
    status, out, err = take_in(table[0])
    assert (0, "") == (status, err)
    assert "not signed" in out
    assert "not signed" == submission_provenance.in_words(origins(table[0]))


def test_a_signed_table_is_that_of_its_signer(table, tmp_path):
    """Its signature is looked for next to it, as that of a submission."""
    path, key = table
    submission_signature.sign(path, key)
    by = ("--signed", "--allowed-signers", str(allowed(tmp_path, key)))
    assert f"signed by {NAME}" in take_in(path, *by)[1]
    path.write_bytes(path.read_bytes() + b"\n")
    status, _, err = take_in(path, *by)
    assert 2 == status and "is no signature of" in err


def test_a_submission_and_a_table_of_a_machine_are_imported_one_after_the_other(table):
    """The profile that a table has replaced that of the submission."""
    path = table[0]
    status, out, err = take_in(path, str(path.with_name("sent.json")))
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert f"and {path} are both of {MACHINE}: import one after the other" in err
    assert not (path.parent / "there" / MACHINE).exists()


@pytest.mark.parametrize("name", ["sent.json", "table.csv", "table.parquet", "table.xlsx", "a.log"])
def test_a_file_that_changes_after_its_signature_was_checked_is_refused(
    table, tmp_path, monkeypatch, name
):
    """Other bytes than the signed ones are never stored."""
    path, key = tmp_path / name, table[1]
    if name == "a.log":
        path.write_text("# nThread 1 nGpus 2\n")
    elif name != "sent.json":
        own = ("--machine", MACHINE, "--results", str(tmp_path / "here"))
        assert 0 == deepbench("export", str(path), *own)[0]
    submission_signature.sign(path, key)
    verify = submission_signature.verify

    def then_changed(checked, *more):
        found = verify(checked, *more)
        checked.write_bytes(checked.read_bytes() + b"\n")
        return found

    monkeypatch.setattr(submission_signature, "verify", then_changed)
    status, out, err = take_in(path, "--allowed-signers", str(allowed(tmp_path, key)))
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert f"{path} changed while it was imported: import it again" in err
    assert not (tmp_path / "there" / MACHINE).exists()


def test_the_signature_is_that_of_the_bytes_that_were_read(sent):
    """Whatever the file holds when ssh-keygen runs."""
    path, _ = sent
    with pytest.raises(DeepbenchError, match="is no signature of"):
        submission_signature.verify(path, b"{}", None)


@pytest.mark.parametrize("name", ["table.csv", "nccl.log", "Results.xlsx"])
def test_files_of_every_kind_need_the_signature_that_is_demanded(table, tmp_path, name):
    """Nothing of them is read without it."""
    path = tmp_path / name
    if name != "table.csv":
        path.write_text("# nThread 1 nGpus 2")
    status, out, err = take_in(path, "--signed")
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert f"{path}: it is not signed" in err


def test_who_signed_is_written_before_the_times(sent, monkeypatch):
    """A full disk leaves no times that look as if they were measured here."""
    path, _ = sent
    submission_signature.path_of(path).unlink()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "there")

    monkeypatch.setattr(submission, "store", full)
    assert take_in(path)[0]
    assert "not signed" == submission_provenance.in_words(origins(path))


def test_a_key_with_several_names_signs_under_one_that_may(sent, tmp_path):
    """A line of the allowed signers may exclude some of its names."""
    path, key = sent
    public = key.with_suffix(".pub").read_text()
    signers = tmp_path / "signers"
    signers.write_text(f"!{NAME},other@vendor.example {public}")
    assert "signed by other@vendor.example" in take_in(path, "--allowed-signers", str(signers))[1]


def test_a_silent_ssh_keygen_is_one_line(sent, monkeypatch):
    """It may wait for a device that holds the key."""
    monkeypatch.setattr(submission_signature, "SECONDS", 0.0)
    status, _, err = take_in(sent[0])
    assert (2, 1) == (status, err.count("\n"))
    assert "ssh-keygen did not end within" in err
