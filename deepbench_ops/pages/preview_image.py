"""preview.png, the image that a link to the site shows: the fastest machines, the latest changes.

Its address must be absolute, so it is only written if `site_url` is configured.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deepbench_ops.analysis.change_causes import Cause, latest
from deepbench_ops.analysis.machine_ranking_by_family import Ranking
from deepbench_ops.pages.verdict_page import row
from deepbench_ops.problems.problem_lists import heading
from deepbench_ops.storage import atomic_write

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

FILE = "preview.png"
SIZE = (1200, 630)
MARGIN = 48
SHOWN_MACHINES, SHOWN_CHANGES = 6, 4
PREFERRED_PRECISION = "float32"
PAGE, TEXT, QUIET, ROOF = "#ffffff", "#1b1f24", "#4f5963", "#cfd6dd"
MEASURED_COLOUR, PUBLISHED_COLOUR, SLOWER_COLOUR, FASTER_COLOUR = (
    "#0b57a4",
    "#8b99a8",
    "#a8321f",
    "#12683f",
)
"""Colours of the light theme: see assets/site/site.css."""
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def write(
    html_dir: Path,
    project: str,
    rankings: Sequence[Ranking],
    causes: Sequence[Cause],
    marks: Mapping[str, str],
) -> None:
    """Write html_dir/preview.png. Raises ImportError if Pillow is not installed.

    marks: by name, those of machines whose results came in without the signature of an allowed
    signer; they stand behind the names.
    """
    from PIL import Image, ImageDraw

    image = Image.new("RGB", SIZE, PAGE)
    draw = ImageDraw.Draw(image)
    _text(draw, MARGIN, 36, project, 44, TEXT)
    if rankings:
        _fastest(draw, 110, _chosen(rankings), marks)
    _changes(draw, 410, causes, marks)
    written = io.BytesIO()
    image.save(written, "PNG", optimize=True)
    atomic_write.write_bytes(html_dir / FILE, written.getvalue())


def _chosen(rankings: Sequence[Ranking]) -> Ranking:
    """The ranking that the start page shows first: of the first family, in float32 if possible."""
    own = [ranking for ranking in rankings if ranking.family == rankings[0].family]
    return next((ranking for ranking in own if ranking.precision == PREFERRED_PRECISION), own[0])


def _fastest(draw: ImageDraw, top: int, ranking: Ranking, marks: Mapping[str, str]) -> None:
    title = f"Fastest at {heading(ranking.family)}, {ranking.precision}"
    _text(draw, MARGIN, top, title, 28, TEXT)
    ranks = ranking.ranks[:SHOWN_MACHINES]
    least = min(rank.rate for rank in ranking.ranks) / 2
    most = max(max(rank.rate, rank.roof or 0) for rank in ranks)
    left, right = 400, SIZE[0] - 260
    for place, rank in enumerate(ranks):
        y = top + 46 + 40 * place
        mark = _in_brackets(marks.get(rank.machine, ""))
        _cut_before(draw, MARGIN, y, rank.name, mark, left - MARGIN - 20, TEXT)
        for value, colour in (
            (rank.roof, ROOF),
            (rank.rate, PUBLISHED_COLOUR if rank.published else MEASURED_COLOUR),
        ):
            if value:
                share = math.log(value / least) / math.log(most / least)
                draw.rectangle((left, y + 4, left + share * (right - left), y + 26), colour)
        _text(draw, right + 20, y, f"{_scaled(rank.rate)}{ranking.counts}", 24, TEXT)


def _changes(draw: ImageDraw, top: int, causes: Sequence[Cause], marks: Mapping[str, str]) -> None:
    _text(draw, MARGIN, top, "Latest changes", 28, TEXT)
    for place, cause in enumerate(latest(causes)[:SHOWN_CHANGES]):
        shown, y = row(cause), top + 46 + 36 * place
        what = shown["summary"] or shown["kernels"][0]["title"]
        colour = SLOWER_COLOUR if cause.slower else FASTER_COLOUR
        _text(draw, MARGIN, y, shown["ratio_text"], 24, colour)
        machine = f", {cause.machine}{_in_brackets(marks.get(cause.machine, ''))}"
        text = f"{shown['release']}, {what}"
        _cut_before(draw, 300, y, text, machine, SIZE[0] - 300 - MARGIN, QUIET)


def _in_brackets(mark: str) -> str:
    return f" ({mark})" if mark else ""


def _scaled(value: float) -> str:
    """A rate with three digits and its prefix, such as "11.2 T"."""
    size, prefix = next((each for each in PREFIXES if value >= each[0]), PREFIXES[-1])
    return f"{value / size:.3g} {prefix}"


def _text(draw: ImageDraw, x: float, y: float, text: str, size: int, colour: str) -> None:
    from PIL import ImageFont

    draw.text((x, y), text, colour, ImageFont.load_default(size))


def _cut_before(
    draw: ImageDraw, x: float, y: float, text: str, end: str, width: int, colour: str
) -> None:
    """Draw a text and its end in `width` pixels, for which the text is shortened."""
    from PIL import ImageFont

    room = width - int(draw.textlength(end, ImageFont.load_default(24)))
    _text(draw, x, y, _cut(draw, text, 24, room) + end, 24, colour)


def _cut(draw: ImageDraw, text: str, size: int, width: float) -> str:
    """Return `text`, shortened to `width` pixels."""
    from PIL import ImageFont

    font = ImageFont.load_default(size)
    while draw.textlength(text, font) > width:
        text = f"{text.removesuffix('…')[:-1]}…"
    return text
