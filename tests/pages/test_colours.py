"""The colours of charts, by how people see them who lack a kind of cone."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deepbench_ops.pages.data_pages import SCRIPTS

Colour = NDArray[np.float64]
LEAST = 15.0
"""CIE76 differences of 2.3 are just seen side by side; lines of a chart lie apart."""
CONTRAST = 4.5

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SEEN = {
    "everything": np.eye(3),
    "no red": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no blue": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def themes() -> dict[str, dict[str, Colour]]:
    """By theme the colours of the style sheet, as linear RGB."""
    text = (Path(SCRIPTS) / "site.css").read_text("utf-8")
    blocks = re.findall(r"^:root[^{]*\{(.*?)\}", text, re.MULTILINE | re.DOTALL)
    light, dark = (dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in blocks)
    return {
        name: {key: linear(value) for key, value in theme.items()}
        for name, theme in (("light", light), ("dark", dark))
    }


def linear(text: str) -> Colour:
    value = np.array([int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(colour: Colour) -> Colour:
    ratio = TO_XYZ @ colour / TO_XYZ.sum(axis=1)
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def luminance(colour: Colour) -> float:
    return float(TO_XYZ[1] @ colour)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("seen", SEEN)
def test_no_two_lines_of_a_chart_look_alike(theme: str, seen: str) -> None:
    """Any two colours differ clearly, also for each kind of colour blindness."""
    known = [value for name, value in themes()[theme].items() if re.fullmatch(r"c\d", name)]
    assert 7 == len(known)
    shown = [lab(np.clip(SEEN[seen] @ colour, 0, 1)) for colour in known]
    assert LEAST <= min(float(np.linalg.norm(a - b)) for a, b in combinations(shown, 2))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_line_has_contrast_with_the_page(theme: str) -> None:
    """4.5 to 1, as WCAG 2.1 AA asks for text."""
    known = themes()[theme]
    page = luminance(known["page"])
    for name, colour in known.items():
        if re.fullmatch(r"c\d", name):
            low, high = sorted((page, luminance(colour)))
            assert CONTRAST <= (high + 0.05) / (low + 0.05), name
