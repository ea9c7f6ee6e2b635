"""Options of sbatch that ReFrame makes of its own, by which nodes and partitions are chosen."""

import pytest

from deepbench_ops.fleet import sbatch_options

CHOOSING = {
    ("-Jreservation=x",): ["--reservation=x"],
    ("-J", "w=node1"): ["-w node1"],
    ("-J", "C=big"): ["-C big"],
    ("-JC=a=b",): ["-C a=b"],
    ("-J", "x=node1"): ["-x node1"],
    ("-J", "F=nodes.txt"): ["-F nodes.txt"],
    ("-J--exclude=node1",): ["--exclude=node1"],
    ("-J=-w node1",): ["-w node1"],
    ("-J", "#SBATCH -C big"): ["#SBATCH -C big"],
    ("--job-option=reservation=x",): ["--reservation=x"],
    ("--job-option", "nodelist=n1"): ["--nodelist=n1"],
}

OTHERS = {
    ("-x", "foo"): [],
    ("-C", "site.py"): [],
    ("--exclude=Foo", "-w"): [],
    ("-r", "-J", "exclusive"): ["--exclusive="],
    ("-J", "account=perf", "-p", "gnu", "--job-option=c=2"): ["--account=perf", "-c 2"],
    ("-J",): [],
}


@pytest.mark.parametrize("options", [*CHOOSING, *OTHERS])
def test_options_that_choose_nodes_are_known_in_all_spellings(options: tuple[str, ...]) -> None:
    """Those of ReFrame itself, with the same letters, are none of them."""
    found = sbatch_options.of(options)
    assert {**CHOOSING, **OTHERS}[options] == found
    assert (options in CHOOSING) == any(map(sbatch_options.CHOOSES_NODES.search, found))


@pytest.mark.parametrize("option", ["p=other", "partition=other", "-pother", "--partition other"])
def test_options_that_name_a_partition_are_known_in_all_spellings(option: str) -> None:
    """ReFrame's own -p is none."""
    for options in ([f"-J{option}"], [f"--job-option={option}"]):
        assert sbatch_options.NAMES_PARTITION.search(*sbatch_options.of(options))
    assert not sbatch_options.of(["-p", "other"])
