"""Names that no machine may have, since results/ has files or folders of these names itself."""

from deepbench_ops.errors import DeepbenchError

RESERVED = frozenset(
    {
        "allowed_signers",
        "benchmarks.json",
        "readme.md",
        "releases.csv",
        "conflicts.jsonl.gz",
        "ensembles",
        "machine.json",
        "machine.profile",
        "model_runs.jsonl",
        "submissions.jsonl",
    }
)
"""In small letters, since some file systems do not tell them from capital ones: first those in
results/, then those in a machine's folder, by which its folder is known."""


def refuse(name: str) -> None:
    """Raise DeepbenchError for a machine's name that is reserved."""
    if name.lower() in RESERVED:
        raise DeepbenchError(
            f"machine name {name!r}: results/ has that name for a file of its own: choose another"
        )
