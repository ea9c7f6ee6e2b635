"""Facts of this machine: those that identify it, as asv has them, and those that change."""

import pytest

from deepbench_ops.machine import machine_facts
from deepbench_ops.measure import threads

pytest.importorskip("asv", reason="machine entries are asv's: the `track` extra")

from deepbench_ops.asv_adapter import asv_api


def test_identity_has_asv_s_keys_and_nothing_that_updates_change():
    """The entry has asv's fields and the accelerator, the os without the kernel's release."""
    found = machine_facts.identity("box")
    assert {*asv_api.MACHINE_FIELDS, "accelerator"} == set(found)
    assert "box" == found["machine"]
    release = machine_facts.facts()["kernel"]
    assert not any(release in value for value in found.values())
    assert all(isinstance(value, str) and value for value in found.values())


def test_processor_and_memory_are_those_that_asv_would_enter(monkeypatch, tmp_path):
    """Entries of earlier runs hold asv's texts; another one would begin new lines."""
    asvs = asv_api.machine_defaults()
    found = machine_facts.identity("box")
    assert (asvs["cpu"] or found["cpu"], asvs["num_cpu"]) == (found["cpu"], found["num_cpu"])
    assert asvs["ram"] == str(machine_facts.memory_bytes())
    monkeypatch.setattr(machine_facts, "PROC", tmp_path)
    (tmp_path / "meminfo").write_text("MemFree: 7 kB\nMemTotal:       2048 kB\n")
    (tmp_path / "cpuinfo").write_text("model\t: 2\nmodel name\t: A: processor \n")
    assert (2 * 2**20, "A: processor") == (
        machine_facts.memory_bytes(),
        machine_facts.processor_name(),
    )


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        ("", {}),
        ("No devices were found\n", {}),
        (
            "NVIDIA H200, 550.54.15, 143771\n",
            {
                "accelerator": "NVIDIA H200",
                "driver": "550.54.15",
                "accelerator_memory_bytes": str(143771 * 2**20),
            },
        ),
        ("V100, 1, [N/A]\nV100, 1, [N/A]\n", {"accelerator": "2 x V100", "driver": "1"}),
        ("V100, 1, x\nT4, 1, x\n", {"accelerator": "V100 + T4", "driver": "1"}),
    ],
)
def test_accelerators_are_read_from_the_listing(listing, expected):
    """Names are counted, driver and memory kept, and text that is no listing gives nothing."""
    assert expected == machine_facts.parse_accelerators(listing)


@pytest.mark.parametrize(
    ("shared", "caches"), [(["0-3"] * 4, 1), (["0-1", "0-1", "2-3", "2-3"], 2)]
)
def test_last_level_caches_are_those_of_all_cores(tmp_path, monkeypatch, shared, caches):
    """The largest cache of each group of cores, whatever its unit; 0 where they are not known."""
    monkeypatch.setattr(threads, "allowed_cpus", lambda: {0, 1, 2, 3})
    for cpu, cores in enumerate(shared):
        for level, size in enumerate(["32K", "2048K", "32M"], 1):
            index = tmp_path / f"cpu{cpu}" / "cache" / f"index{level}"
            index.mkdir(parents=True)
            (index / "size").write_text(size + "\n")
            (index / "level").write_text(f"{level}\n")
            (index / "shared_cpu_list").write_text((cores if level == 3 else str(cpu)) + "\n")
    assert caches * 32 * 2**20 == machine_facts.last_level_caches(tmp_path)
    assert 0 == machine_facts.last_level_caches(tmp_path / "absent")
