"""The nodes of Slurm's partitions that jobs do not get: reserved, drained or down ones."""

from collections.abc import Sequence

from deepbench_ops.fleet import sbatch_options, scheduler_answer

OUT_OF_USE = ("down", "drained", "fail", "inval")
"""States of nodes, in sinfo's words, that end only when an administrator resumes the node. A node
that does not respond is waited for: Slurm sets it down if it remains so."""

PLAIN_MARKS = "*$-+"
"""Marks after a state that change nothing here. After the others a node comes back by itself: it
saves energy, or is starting."""

AGAIN = "when that is mended, give the same command again"

RESERVED = "RESERVED"
"""Slurm's mark of a node in a reservation that has begun."""


def states(partitions: set[str]) -> dict[str, dict[str, str]]:
    """Return the state of each node by its name, by partition; "" where jobs may wait for it.

    Of other nodes it has sinfo's word and the administrator's reason. partitions: as squeue names
    those of a job, with commas between several.
    """
    found: dict[str, dict[str, str]] = {each: {} for each in partitions}
    if not partitions:
        return found
    # sinfo refuses --partition next to --all, which lists hidden partitions too
    asked = ("sinfo", "--all", "--Node", "--format=%N|%R|%T|%E")
    for name, partition, state, reason in rows(4, *asked):
        word = state.rstrip(PLAIN_MARKS)
        said = f"{word} ({reason})" if word in OUT_OF_USE else ""
        for each in partitions:
            if partition in each.split(","):
                found[each][name] = said
    return found


def reservations() -> dict[str, str]:
    """Return the reservation of each node that Slurm marks as reserved, which ReFrame leaves out of
    its list of nodes."""
    marked = {
        node["NodeName"]
        for node in _described("nodes")
        if RESERVED in node.get("State", "").split("+")
    }
    return {
        node: each["ReservationName"]
        for each in (_described("reservations") if marked else ())
        if each.get("State") == "ACTIVE"
        for node in names(each.get("Nodes", ""))
        if node in marked
    }


def all_left_out(partition: str, options: Sequence[str]) -> dict[str, str]:
    """Return a line for each node of a partition that a job for it does not get now, by its name.

    options: those of sbatch; where they choose among the nodes, there are no lines.
    """
    if any(sbatch_options.CHOOSES_NODES.search(each) for each in options):
        return {}
    found = states({partition})[partition]
    reserved = reservations()
    out = {node: left_out(node, partition, state) for node, state in found.items() if state}
    held = {
        node: in_reservation(node, partition, reserved[node])
        for node in found
        if node in reserved and node not in out
    }
    return out | held


def left_out(node: str, partition: str, state: str) -> str:
    """Return the line about a node that is out of use; state: its clause from `states`."""
    return f"{node} of {partition} is {state}: left out; {AGAIN}"


def in_reservation(node: str, partition: str, reservation: str) -> str:
    """Return the line about a node that is reserved."""
    return (
        f"{node} of {partition} is in the reservation {reservation}: left out; give the same"
        f" command again after its end, or with -- -J reservation={reservation}"
    )


def names(nodes: str) -> list[str]:
    """Return the names in a list of nodes, such as node[1-3]."""
    if "[" not in nodes:
        return nodes.split(",")
    return scheduler_answer.of("scontrol", "show", "hostnames", nodes).split()


def rows(columns: int, *command: str) -> list[list[str]]:
    """Return the rows of a table of Slurm, without lines of another kind."""
    lines = scheduler_answer.of(*command, "--noheader").splitlines()
    rows = [line.split("|", maxsplit=columns - 1) for line in lines]
    return [row for row in rows if len(row) == columns]


def _described(things: str) -> list[dict[str, str]]:
    """Return the fields of each of Slurm's nodes or reservations; a value with spaces is cut at the
    first one."""
    asked = ("scontrol", "--all", "--oneliner", "show", things)
    return [
        dict(word.partition("=")[::2] for word in line.split() if "=" in word)
        for line in scheduler_answer.of(*asked).splitlines()
        if "Name=" in line
    ]
