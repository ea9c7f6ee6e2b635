"""A job on its node: which of its disks is full."""

import full_disk

from deepbench_ops.fleet import node_job


def test_a_full_disk_of_a_job_is_named(tmp_path, monkeypatch):
    """That of temporary files or that of the job's folder; none where there is room."""
    folders = [tmp_path / name for name in ("temporary", "job")]
    for each in folders:
        each.mkdir()
    monkeypatch.setenv("TMPDIR", str(folders[0]))
    assert "" == node_job.full_disk(folders[1])
    for each in folders:
        with full_disk.mounted(each):
            assert "" == node_job.full_disk(folders[1])
            full_disk.fill(each / "filler")
            expected = f"{each}: No space left on device: make room there"
            assert expected == node_job.full_disk(folders[1])
