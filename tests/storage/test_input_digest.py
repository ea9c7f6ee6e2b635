"""Digests of a machine's results, also while these are written."""

import threading

import pytest

from deepbench_ops.storage import atomic_write, input_digest, machine_files


@pytest.fixture
def folder(tmp_path):
    """A machine's folder with a result and rounds."""
    for name in ("a.json", "ensembles/numpy.jsonl.gz"):
        atomic_write.write_text(tmp_path / name, "1")
    return tmp_path


def test_digests_are_taken_while_a_result_is_replaced(folder):
    """The digest of the same content is the same at any moment."""
    for number in range(50):  # to read them takes a while
        atomic_write.write_text(folder / f"b{number}.json", "1" * 10_000, durable=False)
    before = input_digest.of_machine(folder, "")
    ended = threading.Event()

    def save():
        while not ended.is_set():
            atomic_write.write_text(folder / "a.json", "1", durable=False)

    saving = threading.Thread(target=save)
    saving.start()
    try:
        found = {input_digest.of_machine(folder, "") for _ in range(200)}
    finally:
        ended.set()
        saving.join()
    assert {before} == found


@pytest.mark.parametrize("name", ["a.json", "ensembles/numpy.jsonl.gz"])
def test_a_file_that_a_killed_command_left_is_no_input(folder, name):
    """Commands that save results remove it later, which is no change either."""
    before = input_digest.of_machine(folder, "")
    with atomic_write.replacing(folder / name) as unfinished:
        unfinished.write_text("2")
        assert before == input_digest.of_machine(folder, "")
    assert before != input_digest.of_machine(folder, "")


def test_a_file_that_is_removed_after_it_was_listed_counts_as_absent(folder, monkeypatch):
    listed = machine_files.sizes(folder)
    (folder / "a.json").unlink()
    expected = input_digest.of_machine(folder, "")
    monkeypatch.setattr(machine_files, "sizes", lambda _: listed)
    assert expected == input_digest.of_machine(folder, "")


def test_sizes_are_of_finished_files_in_order(folder):
    """Folders and links that lead nowhere have none."""
    (folder / "b.json").symlink_to(folder / "missing")
    (folder / ".a.json.1-0.unfinished").write_text("half")
    expected = {folder / "a.json": 1, folder / "ensembles" / "numpy.jsonl.gz": 1}
    assert list(expected.items()) == list(machine_files.sizes(folder).items())
