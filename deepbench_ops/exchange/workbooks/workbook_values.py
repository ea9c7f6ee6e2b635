"""The values of one workbook for one machine, by benchmark and parameters.

Benchmarks and parameters are those of the asv suite, so that published figures and measured ones
are points of the same lines.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange import program_logs
from deepbench_ops.exchange.published import problem_matching, published_machines
from deepbench_ops.exchange.published.published_machines import PublishedMachine
from deepbench_ops.exchange.workbooks import workbook_timings, xlsx_reader
from deepbench_ops.exchange.workbooks.workbook_timings import Place, Timing, Unread
from deepbench_ops.problems.benchmark_names import why_not
from deepbench_ops.problems.problem_lists import set_name
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.storage import bounded_read
from deepbench_ops.storage.result_key import ResultKey, unquoted


@dataclass
class Publication:
    """Published times of one machine, day and layout.

    values: seconds by benchmark and parameters, several where a sheet repeats a row.

    misprinted_ids: printed ids, with the ids that ran. unlisted: ids that no program list has.
    disagreeing: times whose printed FLOPS do not fit them. specs: the `Specs` sheet.
    out_of_step: places of times that were pasted into other rows than their own.
    layout: the value of DEEPBENCH_LAYOUT, "" as the lists have it.
    """

    source: str
    machine: PublishedMachine
    day: date
    published_set: str
    specs: dict[str, str]
    values: dict[ResultKey, list[float]] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    misprinted_ids: dict[str, str] = field(default_factory=dict)
    unlisted: set[str] = field(default_factory=set)
    disagreeing: list[Timing] = field(default_factory=list)
    out_of_step: dict[ResultKey, Place] = field(default_factory=dict)
    layout: str = ""

    @property
    def timings(self) -> int:
        """Number of published times in it."""
        return sum(len(found) for found in self.values.values())


def read(
    path: Path,
    machine: str | None = None,
    day: date | None = None,
    device: str | None = None,
    content: bytes | None = None,
) -> list[Publication]:
    """Return the published times in a workbook or in a program's output, machine by machine.

    The machine and the day are taken from the name of the file where it is one of DeepBench's;
    `device` is where a `machine` given by name ran its kernels, if its specs do not say it.
    content: the file's, where it was read before.
    Raises DeepbenchError, naming the file, for a value that cannot be read or placed.
    """
    if content is None:
        content = bounded_read.read_input(path, xlsx_reader.LARGEST_BYTES)
    is_workbook = xlsx_reader.is_workbook(content)
    cells = xlsx_reader.read(path, content) if is_workbook else ()
    specs = workbook_timings.specs(cells)
    try:
        found, unread = (
            workbook_timings.read(cells)
            if is_workbook
            else program_logs.read_file(content.decode("utf-8", errors="replace"))
        )
        if not found:
            first = f" ({unread[0].place} {unread[0].reason})" if unread else ""
            raise DeepbenchError(
                f"no table of times{first}: see docs/reference/published.md for how one begins"
            )
        stated = specs.get(workbook_timings.SET)
        published_set = set_name(stated) if stated else problem_matching.set_of(found)
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{path}: {wrong}") from None
    day = day or _day(path)
    given = None if machine is None else published_machines.named(machine, specs, device)
    places = _machines(path, given, [timing.place.sheet for timing in found])
    publications = {
        one.name: Publication(path.name, one, day, published_set, specs) for one in places.values()
    }
    places_of: dict[tuple[str, ResultKey], Place] = {}
    for timing in found:
        one = publications[places[timing.place.sheet].name]
        key = _key(timing, published_set)
        if reason := why_not(*unquoted(*key)):
            raise DeepbenchError(f"{path}: {timing.place}: {reason}")
        before = places_of.setdefault((one.machine.name, key), timing.place)
        if before.sheet != timing.place.sheet:
            name, params = key
            raise DeepbenchError(
                f"{path}: {before} and {timing.place} both give {name}({', '.join(params)}): one"
                " machine and precision has one sheet"
            )
        _take(one, key, timing)
    others = next(iter(places.values()))  # a sheet without a time tells no machine
    for cell in unread:
        publications[places.get(cell.place.sheet, others).name].unread.append(cell)
    return list(publications.values())


def benchmark(timing: Timing, published_set: str) -> str:
    """Return the name of the benchmark that a time is of."""
    return f"{timing.problem.family}.{CLASSES[published_set]}.kernel_{timing.operation}"


def _key(timing: Timing, published_set: str) -> ResultKey:
    """Return the benchmark and the parameters that a time is of."""
    params = [repr(problem_matching.listed_problem(timing.problem).id), repr(timing.precision)]
    if timing.ranks is not None:
        params.append(repr(timing.ranks))
    return benchmark(timing, published_set), tuple(params)


def _take(publication: Publication, key: ResultKey, timing: Timing) -> None:
    run = problem_matching.listed_problem(timing.problem)
    if run.id != timing.problem.id:
        publication.misprinted_ids[timing.problem.id] = run.id
    elif not problem_matching.is_listed(run):
        publication.unlisted.add(run.id)
    if not timing.agrees:
        publication.disagreeing.append(timing)
    if not timing.in_step:
        publication.out_of_step[key] = timing.place
    publication.values.setdefault(key, []).append(timing.seconds)


def _day(path: Path) -> date:
    text = published_machines.date_in(path)
    try:
        return date.fromisoformat(text or "")
    except ValueError:
        raise DeepbenchError(
            f"{path}: the day of publication is not in its name: give it with --date YYYY-MM-DD"
        ) from None


def _machines(
    path: Path, given: PublishedMachine | None, used: Iterable[str]
) -> dict[str, PublishedMachine]:
    """Return the machine of each sheet."""
    names = list(dict.fromkeys(used))
    if given is not None:
        return dict.fromkeys(names, given)
    found = published_machines.machines_of(path, names)
    if set(found) != set(names):
        raise DeepbenchError(f"{path}: its name is no published machine's: give --machine NAME")
    return found
