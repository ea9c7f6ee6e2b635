"""`deepbench import`: published workbooks, and outputs of programs, into results/."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.backends import DEVICES
from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import Day, printed_as, results_folder_to_write, say
from deepbench_ops.commands.output_format import counted, show
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange import export_table_reader
from deepbench_ops.exchange.submissions import submission, submission_files
from deepbench_ops.exchange.unchanged_files import UnchangedFiles
from deepbench_ops.exchange.workbooks import workbook_values, xlsx_reader
from deepbench_ops.exchange.workbooks.workbook_values import Publication
from deepbench_ops.releases.release_table import Release

if TYPE_CHECKING:
    from deepbench_ops.exchange.published.published_result_filing import ListDays
    from deepbench_ops.exchange.submissions.submission_signature import Signer

COLUMNS = (
    terminal_tables.Column("file", wrap=12),
    terminal_tables.Column("machine", wrap=10),
    terminal_tables.Column("published"),
    terminal_tables.Column("set", drop=1),
    terminal_tables.Column("times", right=True),
    terminal_tables.Column("unread", right=True),
    terminal_tables.Column("slips joined", right=True, drop=2),
    terminal_tables.Column("in no list", right=True, drop=2),
    terminal_tables.Column("FLOPS disagree", right=True, drop=2),
)


@click.command("import")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--machine",
    metavar="NAME",
    help="Whose results (default: by the file's name, or as a submission says).",
)
@click.option(
    "--date",
    "day",
    metavar="YYYY-MM-DD",
    type=Day(),
    help="When they were published (default: by the file's name).",
)
@click.option(
    "--device",
    type=click.Choice([*dict.fromkeys([*DEVICES, "rocm"])]),
    help="Where the kernels of --machine ran (default: as the workbook's specs say, else cpu).",
)
@click.option(
    "--allowed-signers",
    "allowed",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Names and SSH keys of those who sign submissions (default: allowed_signers in results/).",
)
@click.option("--signed", is_flag=True, help="Refuse submissions that none of them signed.")
@results_folder_to_write
@click.option("--cells", is_flag=True, help="List every cell that could not be read, and why.")
@printed_as("table", "json")
def import_(
    files: tuple[Path, ...],
    machine: str | None,
    day: date | None,
    device: str | None,
    allowed: Path | None,
    signed: bool,
    results: Path,
    cells: bool,
    form: str,
) -> None:
    """Import published results, logs and submissions into results/.

    \b
        deepbench import ours.xlsx --machine our-card --date 2026-11-21
        deepbench import gemm.log --machine our-card --date 2026-11-21 --device cuda
        deepbench import submission.json
        deepbench import submission.json --signed --allowed-signers vendors

    FILE is one of these; the content decides, not the name:

    \b
      workbooks in the style of DeepBench's
      logs of DeepBench's programs, nccl-tests, osu_allreduce, benchdnn
      files that "deepbench submit" packed
      tables and workbooks that "deepbench export" wrote

    Workbooks and logs need a machine and a day, unless the file has the name of one of DeepBench's
    workbooks. Cells and lines that could not be
    read are counted, and listed with --cells. A file that was imported
    before changes nothing. The next "asv publish" shows the machines.

    With --machine a submission is filed under another name, for a machine whose name another one
    has here.

    A signature next to a file (FILE.sig, as "deepbench submit --sign" makes it) must be of that
    file. Who signed a submission or a table is kept with the results.
    """
    from deepbench_ops.exchange.published import published_result_filing
    from deepbench_ops.releases import table_location
    from deepbench_ops.storage import locks

    read = UnchangedFiles()
    sent = submission_files.SubmissionFiles(files, read)
    if len(sent) == len(files):
        _refuse_unused(files[0], {"--date": day, "--device": device})
    signers = {path: _signer(path, read.read(path), allowed, results, signed) for path in files}
    tables_of = {
        path: rows
        for path in files
        if path not in sent and not day
        if (rows := export_table_reader.read(path, read.read(path))) is not None
    }
    found = [
        one
        for path in files
        if path not in sent and path not in tables_of
        for one in workbook_values.read(
            path, machine, day, device, read.read(path, xlsx_reader.LARGEST_BYTES)
        )
    ]
    add = partial(table_location.append, results)
    with locks.results(results, doing=f"deepbench import {files[0]}"):
        # All of it must be checked before any is written.
        known = {release.hash: release for release in table_location.load(results)}
        submissions = {
            path: one.without_times()
            for path, one in submission.checked_all(results, sent, known, machine)
        }
        named = {path: machine or rows[0]["machine"] for path, rows in tables_of.items() if rows}
        _refuse_both(found, submissions, named)
        own = {
            path: _checked_table(path, results, rows, known, machine)
            for path, rows in tables_of.items()
        }
        changed, added = published_result_filing.file(results, found, add)
        for path, checked in submissions.items():
            one = replace(checked, content=submission.renamed(sent[path], machine))
            _store(path, results, one, read.digest(path), signers[path], add)
        say(_conflict_lines(results, {one.profile.machine for one in submissions.values()}))
        for path, several in own.items():
            for one in several:
                _store(path, results, one, read.digest(path), signers[path], add)
            say(f"{path}: {line}" for line in export_table_reader.remarks(tables_of[path]))
    if (sent or tables_of) and not found:
        return

    def text() -> str:
        table = terminal_tables.table(COLUMNS, [list(_row(one).values()) for one in found])
        times, names = sum(one.timings for one in found), {one.machine.name for one in found}
        return (
            f"{table}\n{counted(times, 'time')} of {counted(len(names), 'machine')}:"
            f" {counted(changed, 'result file')} written, {counted(added, 'day')} added to the"
            " release table"
        )

    show(form, text, lambda: [_row(one) for one in found])
    if cells:
        click.echo("\n".join(line for one in found for line in _cells(one, results)))


def _store(
    path: Path,
    results: Path,
    one: submission.CheckedSubmission,
    digest: str,
    signer: "Signer | None",
    add: "ListDays",
) -> None:
    """Store a submission, or a machine of an exported table, and print a line.

    digest: of the file. The note of who signed is written first: a kill leaves no result that looks
    as if it was measured here. Raises OSError.
    """
    from deepbench_ops.exchange.submissions import submission_provenance

    name = one.profile.machine
    releases = [release.name for release in one.releases]
    digest = one.content.get("digest", digest)
    versions = submission.signed_ids(one) if signer and signer.name is not None else ()
    sent_as = one.sent_as if one.sent_as != name else ""
    submission_provenance.note(results / name, digest, signer, releases, versions, sent_as)
    times = sum(len(result["points"]) for result in one.content["results"])
    written = submission.store(results, one, add)
    also = f" (sent as {sent_as})" if sent_as else ""
    done = f"{counted(times, 'time')} of {name}{also}, {counted(written, 'file')} written"
    click.echo(f"{path}: {done}; {signer or submission_provenance.NOT_SIGNED}")


def _refuse_unused(submission: Path, given: Mapping[str, object]) -> None:
    """Raise DeepbenchError for options whose values a submission names itself."""
    for option, value in given.items():
        if value is not None:
            raise DeepbenchError(
                f"{submission} is a submission, which names its days and devices: leave out"
                f" {option}"
            )


def _conflict_lines(results: Path, machines: Collection[str]) -> Iterator[str]:
    """Yield a line for each machine that has open conflicts."""
    from deepbench_ops.exchange.submissions import conflict_resolution, entry_conflicts

    for name in sorted(machines):
        times = conflict_resolution.of_machine(results / name, ())
        entries = entry_conflicts.of_machine(results / name)
        runs = sum(one.every[0].is_run for one in entries)
        counts = {"time": len(times), "model run": runs, "round": len(entries) - runs}
        if found := [counted(number, words) for words, number in counts.items() if number]:
            yield (
                f"{name}: {', '.join(found)} with different numbers, which are all kept:"
                f" deepbench conflicts --machine {name} lists them, and chooses one"
            )


def _signer(
    path: Path, content: bytes, allowed: Path | None, results: Path, demanded: bool
) -> "Signer | None":
    """Return who signed the content of a file. Raises DeepbenchError for a wrong signature, and
    where one by an allowed signer is demanded and missing."""
    from deepbench_ops.exchange.submissions import submission_signature

    usual = results / "allowed_signers"
    allowed = allowed or (usual if usual.exists() else None)
    signer = submission_signature.verify(path, content, allowed)
    if demanded and (signer is None or signer.name is None):
        raise DeepbenchError(
            f"{path}: {signer or 'it is not signed'}: ask for a signature of an allowed signer, or"
            " leave out --signed"
        )
    return signer


def _checked_table(
    path: Path,
    results: Path,
    rows: Sequence[export_table_reader.Row],
    known: Mapping[str, Release],
    machine: str | None,
) -> list[submission.CheckedSubmission]:
    """Return an exported table as submissions. Raises DeepbenchError naming the file."""
    try:
        return export_table_reader.checked_tables(results, rows, known, machine)
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{path}: {wrong}") from None


def _refuse_both(
    found: Sequence[Publication],
    submissions: Mapping[Path, submission.CheckedSubmission],
    tables: Mapping[Path, str],
) -> None:
    """Raise DeepbenchError for a machine of a submission, and of workbooks or tables, at once.

    tables: the machine of each.
    """
    others = [(one.source, one.machine.name) for one in found]
    for path, one in submissions.items():
        for source, machine in [*others, *((str(path), name) for path, name in tables.items())]:
            if machine == one.profile.machine:
                raise DeepbenchError(
                    f"{path} and {source} are both of {machine}: import one after the other"
                )


def _row(one: Publication) -> dict[str, object]:
    figures = (
        one.source,
        one.machine.name,
        one.day.isoformat(),
        one.published_set,
        one.timings,
        len(one.unread),
        len(one.misprinted_ids),
        len(one.unlisted),
        len(one.disagreeing),
    )
    return dict(zip((column.title for column in COLUMNS), figures, strict=True))


def _cells(one: Publication, results: Path) -> Iterator[str]:
    """Yield a line for each cell that was not taken, and for other oddities."""
    from deepbench_ops.analysis import wrong_published_times
    from deepbench_ops.exchange.published import published_result_filing

    for cell in one.unread:
        yield f"{one.source}: {cell.place} {cell.reason}: {cell.text!r}"
    for printed, run in sorted(one.misprinted_ids.items()):
        yield f"{one.source}: {printed} is a misprint, the programs ran {run}"
    for problem in sorted(one.unlisted):
        yield f"{one.source}: {problem} is in no program list: it keeps an id of its own"
    for timing in one.disagreeing:
        yield (
            f"{one.source}: {timing.place} gives {timing.seconds:g} s, which does not fit the FLOPS"
            " printed next to it; the time counts"
        )
    beyond = wrong_published_times.impossible(one.values, one.machine.peaks)
    path = published_result_filing.path_of(results, one)
    for key in sorted(
        wrong_published_times.of_machine(path.parent).get(path.name, set()) & one.values.keys()
    ):
        why = "it is beyond the machine's peak" if key in beyond else "later ones correct it"
        if key in one.out_of_step:
            why = f"{one.out_of_step[key]} was pasted out of step with its rows"
        name, params = key
        yield f"{one.source}: {name}({', '.join(params)}) is wrong, and pages leave it out: {why}"
