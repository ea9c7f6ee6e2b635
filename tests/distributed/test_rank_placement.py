"""Placements of ranks on several nodes: their names, their text, and those that are refused."""

import json
from dataclasses import replace

import pytest

from deepbench_ops.distributed.launchers import rank_placement
from deepbench_ops.distributed.launchers.rank_placement import LAUNCHERS, VARIABLE, RankPlacement
from deepbench_ops.errors import DeepbenchError

PLACED = RankPlacement(2, 4, "srun", "hdr200")


def test_its_name_has_nodes_ranks_interconnect_and_launcher():
    """It becomes the end of a profile's name; srun, the usual launcher, is left out."""
    assert ("2x4-hdr200", 8) == (PLACED.name, PLACED.ranks)
    others = [replace(PLACED, launcher=each, hosts=("n1", "n2")) for each in LAUNCHERS]
    assert ["2x4-hdr200", "2x4-hdr200-torchrun", "2x4-hdr200-mpirun"] == [
        each.name for each in others
    ]


def test_a_process_gets_it_from_its_environment():
    """The same, with hosts too; None where the variable is not set."""
    hosts = RankPlacement(2, 1, "mpirun", "eth", ("n1", "n2"))
    assert [PLACED, hosts] == [rank_placement.asked(each.variables()) for each in (PLACED, hosts)]
    assert rank_placement.asked({}) is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"nodes": 1}, "1 nodes with 4 ranks each: give 2 nodes or more"),
        ({"ranks_per_node": 0}, "with 0 ranks each"),
        ({"launcher": "prun"}, "the launcher is 'prun': give one of srun, torchrun, mpirun"),
        ({"interconnect": "HDR 200"}, "the interconnect is 'HDR 200'"),
        ({"hosts": ["n1"]}, "the hosts are n1: give one for each of 2 nodes"),
        ({"launcher": "torchrun"}, "torchrun needs the names of the hosts"),
    ],
)
def test_what_no_ranks_can_have_is_refused(changed, message):
    """With the value and the mend, also where it stands in the environment."""
    content = {**json.loads(PLACED.variables()[VARIABLE]), **changed}
    with pytest.raises(DeepbenchError, match=message):
        rank_placement.asked({VARIABLE: json.dumps(content)})


@pytest.mark.parametrize("text", ["2x4", "[]", '{"nodes": 2}', '{"hosts": 3}'])
def test_a_variable_that_holds_none_is_one_line(text):
    """It names the variable."""
    with pytest.raises(DeepbenchError, match=f"{VARIABLE} holds no placement of ranks"):
        rank_placement.asked({VARIABLE: text})
