"""`deepbench submit`: a machine's results in one file."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from deepbench_ops.commands.options import results_folder
from deepbench_ops.commands.output_format import counted
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import atomic_write


@click.command()
@click.argument(
    "output", metavar="[FILE]", required=False, type=click.Path(path_type=Path, dir_okay=False)
)
@click.option("--machine", metavar="NAME", required=True, help="Whose results.")
@click.option(
    "--sign",
    "key",
    metavar="KEY",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Sign it by this SSH key, such as ~/.ssh/id_ed25519; the signature is FILE.sig.",
)
@results_folder
def submit(output: Path | None, machine: str, key: Path | None, results: Path) -> None:
    """Pack the results of a machine into one file for others to import.

    \b
        deepbench submit --machine our-card
        deepbench submit ours.json --machine our-card --sign ~/.ssh/id_ed25519

    FILE (default: the machine's name with .json) holds results, runs of whole models, profile, raw
    seconds and conditions, with a digest over all of it; its form is
    deepbench_ops/exchange/submissions/submission.schema.json. "deepbench import FILE" reads it
    elsewhere, and refuses files that were changed afterwards, times that the machine's peak does
    not allow, and kernels that are in it twice. Unsteady times are left out: "deepbench unsteady
    RELEASE" lists them. Of a time, run or round with different numbers FILE has all versions that
    were not rejected: "deepbench conflicts" lists them, and chooses one.

    Results that take more than 50 MB are written to several files, ours-1.json, ours-2.json and so
    on, which may be imported in any order.
    """
    from deepbench_ops.exchange.submissions import (
        submission,
        submission_parts,
        submission_signature,
    )
    from deepbench_ops.releases import table_location

    if key is not None and not key.expanduser().is_file():
        raise DeepbenchError(f"{key}: no such key: name the file of an SSH key")
    unsteady: Counter[str] = Counter()
    releases = {each.hash: each for each in table_location.load(results)}
    packed = submission.pack(results, machine, releases, unsteady)
    parts = submission_parts.parts(packed, submission.LARGEST_BYTES)
    texts = [_text(machine, part) for part in parts]
    outputs = _names(output or Path(f"{machine}.json"), len(parts))
    with atomic_write.together() as ready:
        for path, text in zip(outputs, texts, strict=True):
            ready(path).write_text(text, "utf-8")
    for path, part, text in zip(outputs, parts, texts, strict=True):
        raw = sum(len(result.get("measurements", ())) for result in part["results"])
        click.echo(
            f"{_contents(part)} of {machine} in {path}, with the raw seconds of {raw} measurements"
            f" ({len(text) / 1e6:.1f} MB)"
        )
        if key is not None:
            click.echo(f"signature: {submission_signature.sign(path, key.expanduser())}")
    if others := _other_versions(packed):
        click.echo(
            f"with {counted(others, 'other version')} of times, runs or rounds whose numbers"
            f" differ: deepbench conflicts --machine {machine} lists them, and chooses one",
            err=True,
        )
    if unsteady.total():
        kinds = ", ".join(f"{count} {name}" for name, count in unsteady.most_common())
        click.echo(
            f"{unsteady.total()} unsteady times are left out ({kinds}): deepbench unsteady RELEASE"
            f" --machine {machine} lists them",
            err=True,
        )


def _contents(part: Mapping[str, Any]) -> str:
    """Return how many times, rounds and runs of models a file has, such as 30 times, 1 round."""
    counts = {
        "time": sum(len(result["points"]) for result in part["results"]),
        "round": sum(len(each["rounds"]) for each in part["ensembles"].values()),
        "model run": len(part["model_runs"]),
    }
    return ", ".join(counted(count, name) for name, count in counts.items() if count)


def _other_versions(packed: Mapping[str, Any]) -> int:
    """Return the number of versions of points, runs and rounds other than the shown ones."""
    from deepbench_ops.exchange.submissions import submission, submission_records

    of_points = (result.get(submission_records.OTHERS, ()) for result in packed["results"])
    entries = submission.entries(packed)
    return sum(map(len, of_points)) + len(entries) - len({one.key for one in entries})


def _text(machine: str, part: Mapping[str, Any]) -> str:
    """Return a part as text. Raises DeepbenchError where an import would refuse it."""
    from deepbench_ops.exchange.submissions import submission

    try:
        submission.check(part)
        return submission.text(part)
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{machine}: this would be refused: {wrong}") from None


def _names(output: Path, parts: int) -> list[Path]:
    """Return the file of each part: `output` for one, else numbered ones, as ours-1.json."""
    if parts == 1:
        return [output]
    return [output.with_stem(f"{output.stem}-{number}") for number in range(1, parts + 1)]
