"""Conclusions from results: derived figures, comparisons, verdicts. Nothing here measures or
draws."""

from deepbench_ops.analysis.changes import Change, detect_changes
from deepbench_ops.analysis.verdict import Verdict, compare_pairs, compare_samples, corrected

__all__ = [
    "Change",
    "Verdict",
    "compare_pairs",
    "compare_samples",
    "corrected",
    "detect_changes",
]
