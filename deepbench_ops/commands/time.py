"""`deepbench time`: one problem of any sizes, checked and timed here and now."""

import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from deepbench_ops.backends import NAMES, framework_list
from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import (
    device_option,
    measure_alone,
    one_precision,
    printed_as,
    release_option,
    results_folder_if_any,
    say_settings,
)
from deepbench_ops.commands.output_format import show
from deepbench_ops.commands.problems import scaled
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.family_list import size_description, size_types
from deepbench_ops.problems.kernel_demands import demand_one_process
from deepbench_ops.problems.problem import Problem
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.problem_lists import TYPES, named, size_names
from deepbench_ops.problems.suggestions import unknown

if TYPE_CHECKING:
    from pathlib import Path

    from deepbench_ops.analysis.single_timing import SingleTiming
    from deepbench_ops.machine.machine_profile import Profile
    from deepbench_ops.measure.worker_control import Launch

RENAMED = {"threads": "at-once"}
"""Sizes whose own name is another option's."""

RESTLESS = 0.2
"""Relative distance of processes from which other work is assumed on the machine."""

LEFT_OUT = ("whole",)
"""Sizes of small twins alone."""

OPTIONS: tuple[Callable[..., Any], ...] = (
    click.option(
        "--framework",
        metavar="F",
        help=f"One of {', '.join(NAMES)} (default: the first of them that has the family).",
    ),
    release_option,
    click.option(
        "--threads",
        metavar="N",
        type=click.IntRange(min=1),
        help="Threads (default: the physical cores).",
    ),
    device_option,
    click.option(
        "--processes",
        metavar="N",
        type=click.IntRange(min=1),
        default=3,
        show_default=True,
        help="Processes that time it, one after the other.",
    ),
    results_folder_if_any,
    printed_as("table", "json"),
)


def _with(options: Iterable[Callable[..., Any]], command: click.Command) -> click.Command:
    for option in options:
        command = option(command)
    return command


SHARED_TITLE = "Options of all families"

SHARED = {"help", *(str(each.name) for each in _with(OPTIONS, click.Command("any")).params)}
"""Names of the options that all families share."""


class FamilyCommand(click.Command):
    """Time a problem of one family. Its help has the options of this family apart from those that
    all families share."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the family's own options, then the shared ones."""
        for title, shared in (("Options of this family", False), (SHARED_TITLE, True)):
            with formatter.section(title):
                formatter.write_dl(list(self.records(ctx, shared)))

    def records(self, ctx: click.Context, shared: bool) -> Iterator[tuple[str, str]]:
        """Yield the options of one of the two groups, each with its help."""
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None and shared == (option.name in SHARED or option.is_eager):
                yield record


class Families(click.Group):
    """A command for each family, with its sizes as options; any other word is a problem's id."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the families that run in one process."""
        return [name for name, kind in TYPES.items() if not kind.ranks]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return the command of a family, or the one that times the problem of that id.

        Raises DeepbenchError for an unknown name, and for a family that runs between processes.
        """
        family = cmd_name.replace("-", "_")
        if family not in TYPES:
            problem = _by_id(cmd_name)
            demand_one_process(type(problem))
            return _of_problem(problem, cmd_name)
        demand_one_process(TYPES[family])
        return _of_family(family)


@click.group(cls=Families, subcommand_metavar="FAMILY|ID [OPTIONS]")
def time() -> None:
    """Time one problem here and now, and print its seconds and share of peak.

    \b
        deepbench time gemm --m 1760 --n 128 --k 1760
        deepbench time gemm --m 1760 --n 128 --k 1760 --framework torch
        deepbench time lstm_h256_n4_t150 --operation fused_forward --framework onnxruntime
        deepbench time m1760_n128_k1760_NN --release torch-2.13.0

    Give a family and its sizes, or the id of a listed problem ("deepbench problems" lists them,
    "deepbench time gemm --help" the sizes of a family). The framework is one that is installed in
    this environment, or the one of --release in its own; nothing is stored.

    The output is checked against float64 before and after the timing. Printed are the median of
    all samples with its 99 % interval, FLOP/s, bytes/s (counting each operand and result once) and
    the share of this machine's peak, which "deepbench machine" measures.
    """


def _of_family(family: str) -> click.Command:
    kind = TYPES[family]
    fields = _fields(kind)

    def run(**given: Any) -> None:
        made = _problem(kind, {field.name: given.pop(_parameter(field.name)) for field in fields})
        _time(made, **given)

    text = f"Time a problem of the family {family}."
    options = (*(_size(kind, field) for field in fields), *_choices(kind), *OPTIONS)
    return _with(options, click.command(family, cls=FamilyCommand, help=text)(run))


def _of_problem(problem: Problem, name: str) -> click.Command:
    def run(**options: Any) -> None:
        _time(problem, **options)

    text = f"Time {problem.id}, a {problem.family}."
    options = (*_choices(type(problem)), *OPTIONS)
    return _with(options, click.command(name, cls=FamilyCommand, help=text)(run))


def _choices(kind: type[Problem]) -> tuple[Callable[..., Any], ...]:
    """Return the options whose values depend on the family: precision and operation."""
    operation = click.option(
        "--operation",
        type=click.Choice((*kind.operations, *kind.uncompared)),
        default=kind.operations[0],
        show_default=True,
        help="The operation.",
    )
    return one_precision(kind.precisions), operation


def _fields(kind: type[Problem]) -> list[dataclasses.Field[Any]]:
    names = size_names(kind.family)
    return [f for f in dataclasses.fields(kind) if f.name in names and f.name not in LEFT_OUT]


def _parameter(size: str) -> str:
    """Return the parameter of a size, which no shared option can have."""
    return f"size_{size}"


def _size(kind: type[Problem], field: dataclasses.Field[Any]) -> Callable[..., Any]:
    """Return the option of a size."""
    names = f"--{RENAMED.get(field.name, field.name).replace('_', '-')}", _parameter(field.name)
    about = size_description(kind, field.name)
    about = f"{about[0].upper()}{about[1:]}."
    type_ = size_types(kind)[field.name]
    if type_ is bool:
        return click.option(*names, is_flag=True, help=about)
    words = kind.words.get(field.name)
    values: dict[str, Any] = {"type": click.Choice(words)} if words else {"metavar": "N"}
    if type_ is str and not words:
        values["metavar"] = "NAME"
    if field.default is dataclasses.MISSING or type_ is float:
        return click.option(*names, required=True, help=about, **values)
    values["default"] = str(field.default)
    return click.option(*names, show_default=True, help=about, **values)


def _problem(kind: type[Problem], given: dict[str, Any]) -> Problem:
    """Return the problem of these sizes. Raises DeepbenchError for impossible ones."""
    checked = {
        name: value
        if isinstance(value, bool) or size_types(kind)[name] is str
        else _number(kind, name, value)
        for name, value in given.items()
    }
    return problem_of(kind.family, size_checks.problem(kind.family, checked).id)


def _number(kind: type[Problem], name: str, value: str) -> float:
    try:
        return size_checks.size(name, value, kind)
    except DeepbenchError as wrong:
        raise DeepbenchError(f"--{RENAMED.get(name, name).replace('_', '-')}: {wrong}") from None


def _by_id(id: str) -> Problem:
    """Return the problem of an id in any family. Raises DeepbenchError for an unknown id."""
    for family in TYPES:
        try:
            return problem_of(family, id)
        except DeepbenchError:
            continue
    known = [*TYPES, *(name for family in TYPES for name in named(family))]
    raise unknown("family or problem", id, known)


def _time(
    problem: Problem,
    framework: str | None,
    release: str | None,
    precision: str,
    operation: str,
    threads: int | None,
    device: str,
    processes: int,
    results: "Path | None",
    form: str,
) -> None:
    from deepbench_ops.analysis.single_timing import TIMED, SingleTiming
    from deepbench_ops.measure import kernel_measurement, kernel_process, yardstick
    from deepbench_ops.measure import threads as cores

    if framework is not None and release is not None:
        raise DeepbenchError("give --framework or --release, which names its framework, not both")
    names: list[str | None] = [framework]
    if framework is None and release is None:
        names = [*_installed(problem.family)]
    if framework is not None and framework not in NAMES:
        raise unknown("framework", framework, NAMES)
    conditions = {each.name: each.asked() for each in TIMED}
    measure_alone()
    say_settings()
    known = _profile(results)
    count = threads or cores.wanted()
    environ = {"DEEPBENCH_DEVICE": device, "DEEPBENCH_THREADS": str(count)}
    if known is not None:
        environ[kernel_measurement.NOMINAL_VARIABLE] = known.for_processes(yardstick.VERSION)
    task = {"family": problem.family, "problem": problem.id, "precision": precision}
    task["operation"] = operation

    def measured(name: str | None) -> list[dict[str, Any]]:
        launch = _launch(name, release)
        own = {**launch.environ, **environ}
        return [kernel_process.measured(task, own, launch.python) for _ in range(processes)]

    records = _of_first(names, measured)
    timing = SingleTiming(problem, operation, precision, device, records, known, conditions)
    show(form, lambda: _text(timing), timing.as_data)


def _of_first(
    names: Sequence[str | None], measured: Callable[[str | None], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the records of the first framework that has the kernel.

    Raises Unsupported with the reasons of all where none has it.
    """
    refusals: dict[str, list[str]] = {}
    for name in names:
        try:
            return measured(name)
        except Unsupported as reason:
            if len(names) == 1:
                raise
            refusals.setdefault(str(reason), []).append(str(name))
    reasons = "; ".join(f"{', '.join(those)}: {reason}" for reason, those in refusals.items())
    raise Unsupported(f"no framework that is installed here has it: {reasons}")


def _installed(family: str) -> list[str]:
    """Return the frameworks that have kernels of a family and are installed.

    Raises DeepbenchError where none is.
    """
    known = framework_list.found()[0]
    able = framework_list.with_family(family)
    names = [name for name in able if framework_list.is_installed(known[name])]
    if not names:
        raise DeepbenchError(
            f"no framework with kernels of {family} is installed here: pip install one of"
            f" {', '.join(able)}"
        )
    return names


def _launch(framework: str | None, release: str | None) -> "Launch":
    """Return the interpreter and the variables of the measured processes."""
    from deepbench_ops.measure.worker_control import Launch

    if release is None:
        assert framework is not None
        return Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": framework})
    from deepbench_ops.releases import worker_launch

    return worker_launch.of_name(release, lambda line: click.echo(line, err=True))


def _profile(results: "Path | None") -> "Profile | None":
    """Return this machine's profile; None where it has none, or that is of another processor."""
    from deepbench_ops.asv_adapter import machine_entry
    from deepbench_ops.machine import machine_profile
    from deepbench_ops.measure import fingerprint

    if results is None:
        return None
    known = machine_profile.read(results, machine_entry.default_name())
    try:
        machine_profile.refuse_another(known, fingerprint.silicon())
    except DeepbenchError as another:
        click.echo(f"no share of peak: {another}", err=True)
        return None
    return known


def _text(timing: "SingleTiming") -> str:
    """Return the figures as text, one on a line."""
    found = timing.as_data()
    lines = {
        "problem": f"{found['family']} {found['problem']} {found['operation']}, "
        f"{found['precision']}",
        "on": f"{found['framework']}, {found['device']}, {found['threads']} threads"
        f"{_unusual_conditions(found)}",
        "time": f"{_milliseconds(found)}, {_processes(found)}",
    }
    if found["flops_per_second"]:
        lines["FLOP/s"] = f"{scaled(found['flops_per_second'])}FLOP/s"
    if found["bytes_per_second"]:
        lines["bytes/s"] = (
            f"{scaled(found['bytes_per_second'])}B/s, each operand and result moved once"
        )
    lines["of peak"] = _of_peak(timing, found)
    lines["seconds are"] = (
        "calibrated by the yardstick"
        if found["calibrated"]
        else "raw: "
        + (found["why_raw"] or "no nominal reading is known here ('deepbench machine' takes it)")
    )
    lines["disturbed"] = _disturbed(found)
    lines["checked"] = "against float64, on a small problem and in the output that was timed"
    lines |= {
        f"  {name}": str(text)
        for name, text in found["notes"].items()
        if name != "calibration" or found["calibrated"]
    }
    lines["settings"] = found["settings"] or "no external ones"
    width = max(map(len, lines)) + 2
    return "\n".join(
        terminal_tables.prose(f"{name:{width}}{text}", " " * width) for name, text in lines.items()
    )


def _unusual_conditions(found: dict[str, Any]) -> str:
    """Return the unusual run conditions as the end of a line, such as ", cold cache"."""
    from deepbench_ops.analysis.single_timing import TIMED

    unusual = [each.name for each in TIMED if found[each.name] != each.usual]
    return "".join(f", {found[name]} {name}" for name in unusual)


def _milliseconds(found: dict[str, Any]) -> str:
    if found["low"] is None:
        return f"{found['seconds'] * 1e3:.4g} ms (no interval: {found['without_interval']})"
    low, high = (f"{found[end] * 1e3:.4g}" for end in ("low", "high"))
    return f"{found['seconds'] * 1e3:.4g} ms (99 %: {low} to {high} ms)"


def _processes(found: dict[str, Any]) -> str:
    count = found["processes"]
    return "1 process" if count == 1 else f"{count} processes, {found['processes_apart']:.1%} apart"


def _of_peak(timing: "SingleTiming", found: dict[str, Any]) -> str:
    peak = timing.peak
    if found["of_peak"] is None or peak is None or peak.value is None:
        if not found["flops_per_second"]:
            return "it has no FLOPs to share"
        return "not known here: run 'deepbench machine'"
    text = f"{found['of_peak']:.1%} of {scaled(peak.value)}FLOP/s"
    roof = timing.roof
    if roof is None:
        return text
    if roof == peak.value:
        return f"{text}, which is its roof too: the memory would allow more"
    return f"{text}; {found['of_roof']:.1%} of its roof, the {scaled(roof)}FLOP/s of the memory"


def _disturbed(found: dict[str, Any]) -> str:
    """Return a line about other work on the processors, as far as the measurement shows it."""
    from deepbench_ops.machine import steadiness

    if found["unsteady"]:
        beaten = steadiness.kind(found["unsteady"]) == steadiness.ROOF
        peaks = ", or the peaks, which are too low then: deepbench machine" if beaten else ""
        return f"{found['unsteady']}; time it again{peaks}"
    if found["disturbed"]:
        return (
            f"{found['disturbed']} of {len(found['samples'])} slices: other work took processor"
            " time; time it again"
        )
    if found["processes_apart"] > RESTLESS:
        return f"the processes lie {found['processes_apart']:.0%} apart; time it again"
    return "no" if found["calibrated"] else "unknown, since the seconds are raw"
