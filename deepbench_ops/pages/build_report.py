"""What the process that writes our own pages tells the one that asv runs in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deepbench_ops.pages.noise_data import Noises


@dataclass(frozen=True)
class Written:
    """noises: of every line; torn: what of the results the pages could not tell; broken: a line
    for each file of results that is not whole."""

    noises: Noises
    torn: Sequence[str]
    broken: Sequence[str]
