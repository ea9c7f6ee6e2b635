"""Published figures of whole models as publications: points of the timeline."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date

from deepbench_ops.analysis.published_model_figures import (
    LAYOUTS,
    PRECISIONS,
    SOURCES,
    PublishedFigure,
)
from deepbench_ops.asv_adapter.published_results import ALTERNATIVES
from deepbench_ops.exchange.published import published_machines
from deepbench_ops.exchange.workbooks.workbook_values import Publication
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.selections import CLASSES


def publications(figures: Iterable[PublishedFigure]) -> list[Publication]:
    """Return those figures that can be points of the timeline, by source, machine and day."""
    found: dict[tuple[str, str, date, str], list[PublishedFigure]] = defaultdict(list)
    for figure in figures:
        if not figure.no_point:
            key = (figure.table, figure.machine, figure.day, LAYOUTS.get(figure.layout, ""))
            found[key].append(figure)
    return [_publication(several, layout) for (*_, layout), several in found.items()]


def _publication(figures: Sequence[PublishedFigure], layout: str) -> Publication:
    """Return figures of one source, machine and day."""
    first = figures[0]
    by_name = {machine.name: machine for machine in published_machines.table()}
    specs = {
        "Day of publication": f"{first.day}: {first.basis}",
        "Framework": ALTERNATIVES.join(sorted({figure.framework for figure in figures})),
        "Platform": ALTERNATIVES.join(sorted({figure.platform for figure in figures})),
        "CPU cores": ALTERNATIVES.join(sorted({str(figure.cores or "") for figure in figures})),
        "Conditions": ALTERNATIVES.join(sorted({figure.conditions for figure in figures})),
    }
    one = Publication(
        SOURCES[first.table],
        by_name[first.machine],
        first.day,
        "inference_server",
        {name: text for name, text in specs.items() if text},
        layout=layout,
    )
    for figure in figures:
        assert figure.batch is not None and figure.seconds is not None  # says no_point
        problem = Model(name=figure.network, batch=figure.batch, threads=figure.threads)
        kind = "training" if figure.operation == "training_step" else "inference_server"
        benchmark = f"model.{CLASSES[kind]}.kernel_{figure.operation}"
        precision = PRECISIONS.get(figure.precision, figure.precision)
        key = (benchmark, (repr(problem.id), repr(precision)))
        one.values.setdefault(key, []).append(figure.seconds)
    return one
