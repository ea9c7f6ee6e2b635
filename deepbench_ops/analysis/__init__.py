"""Conclusions from results: derived figures, comparisons, verdicts; and the filing of ensembles.

A few modules measure again to confirm a verdict or to find the first slow release; pages are made
elsewhere. The functions that judge seconds of any origin are importable from here. Their modules
are loaded at their first use: most commands need neither these nor scipy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deepbench_ops.analysis.change_detection import Change, detect_changes
    from deepbench_ops.analysis.verdict import Verdict, compare_pairs, compare_samples, corrected

__all__ = [
    "Change",
    "Verdict",
    "compare_pairs",
    "compare_samples",
    "corrected",
    "detect_changes",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "change_detection" if name in ("Change", "detect_changes") else "verdict"
    return getattr(import_module(f"{__name__}.{module}"), name)
