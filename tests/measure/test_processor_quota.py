"""Limits of processor time of containers."""

import math

import pytest

from deepbench_ops.measure import processor_quota


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Write the groups of a process and files of groups, by path."""

    def write(own, **files):
        monkeypatch.setattr(processor_quota, "OWN_GROUPS", tmp_path / "own")
        monkeypatch.setattr(processor_quota, "GROUPS", tmp_path / "groups")
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


def test_a_container_may_use_the_quota_of_its_group(groups):
    """As version 2 of control groups shows it inside of the container."""
    groups("0::/\n", **{"cpu.max": "250000 100000\n"})
    assert 2.5 == processor_quota.processors()


def test_the_tightest_of_the_groups_around_a_process_counts(groups):
    """A service in a slice."""
    own = "0::/some.slice/one.service\n"
    limits = {"some.slice/cpu.max": "100000 100000\n", "some.slice/one.service/cpu.max": "max 1\n"}
    groups(own, **limits)
    assert 1.0 == processor_quota.processors()


def test_a_path_of_the_host_that_a_container_does_not_see_is_passed_over(groups):
    """Version 1 without a namespace of groups: the container sees its own as the root."""
    limits = {
        "cpu,cpuacct/cpu.cfs_quota_us": "150000\n",
        "cpu,cpuacct/cpu.cfs_period_us": "50000\n",
    }
    groups("4:cpu,cpuacct:/docker/1a2b\n1:cpuset:/\n", **limits)
    assert 3.0 == processor_quota.processors()


@pytest.mark.parametrize(
    ("own", "files"),
    [
        ("0::/\n", {"cpu.max": "max 100000\n"}),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}),
        ("0::/a\n", {}),
        ("", {}),
    ],
)
def test_without_a_limit_there_is_no_notice(groups, own, files):
    """Also on a system that describes no groups."""
    groups(own, **files)
    assert math.inf == processor_quota.processors()
    assert "" == processor_quota.notice(1000)


def test_threads_beyond_the_quota_are_named_with_a_remedy(groups):
    """No more threads than the limit has processors, and one at least."""
    groups("0::/\n", **{"cpu.max": "250000 100000\n"})
    assert "" == processor_quota.notice(2)
    said = processor_quota.notice(64)
    assert "64 threads" in said and "2.5 processors" in said and "DEEPBENCH_THREADS=2" in said
    groups("0::/\n", **{"cpu.max": "50000 100000\n"})
    assert "DEEPBENCH_THREADS=1" in processor_quota.notice(4)
