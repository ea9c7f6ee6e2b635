"""The frame of all pages of our own: head, ways to the others, theme, footer."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from string import Template

START = "index.html"
BENCHMARKS = "benchmarks.html"
"""asv's own pages, with a graph for each benchmark."""

POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file: 'unsafe-inline';"
    " img-src 'self' file: data: blob:; connect-src 'self'; font-src 'self' file:; base-uri 'none';"
    " form-action 'none'"
)
"""Content security policy of a page: no script runs but those of our files, nothing is fetched from
elsewhere. asv's and the charts' scripts write styles into elements. "file:" is for pages that are
opened from a disk, where browsers do not agree on the meaning of "self"."""

POLICY_TAG = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'

TABLES = ("data.js", "site/site.js", "site/table.js")
"""What a page runs whose tables are in it already, to let them be filtered and taken along."""

WAYS = (
    (START, "Start"),
    ("machine.html", "Machines"),
    ("timeline.html", "Timeline"),
    ("compare.html", "Compare"),
    ("frameworks.html", "Frameworks"),
    ("models.html", "Models"),
    ("verdicts.html", "Verdicts"),
    ("releases.html", "Releases"),
    (BENCHMARKS, "Benchmarks"),
)

ASV_ALONE = ((START, "Benchmarks"), ("releases.html", "Releases"))
"""The ways where commits are no releases, and there are no pages of our own but one."""


def framed(
    project: str,
    title: str,
    content: str,
    here: str,
    scripts: Sequence[str] = (),
    ways: Sequence[tuple[str, str]] = WAYS,
) -> str:
    """The whole of a page; `content` is HTML, `title` and `project` are text.

    here: the page's own file, marked among the ways. scripts: run in this order, after the
    content is there.
    """
    links = "\n".join(
        f'        <li><a href="{file}"{_CURRENT if file == here else ""}>{name}</a></li>'
        for file, name in ways
    )
    return _FRAME.substitute(
        project=html.escape(project),
        title=html.escape(title),
        links=links,
        content=content,
        policy=POLICY_TAG,
        scripts="\n".join(f'    <script src="{file}"></script>' for file in scripts),
    )


def scrolling(
    heads: Sequence[str], rows: Iterable[str], label: str, taken: Mapping[str, str] | None = None
) -> str:
    """A table that scrolls within itself where it is wider than the page; `label` alone is text.

    taken: what the page tells of the whole table, by its title: who takes it along gets it too.
    """
    along = f' data-taken="{html.escape(json.dumps(taken))}"' if taken else ""
    return (
        '<div class="scroll" tabindex="0" role="region"'
        f' aria-label="{html.escape(label)}"{along}>\n'
        f"<table>\n<thead><tr>{''.join(heads)}</tr></thead>\n"
        "<tbody>\n" + "\n".join(rows) + "\n</tbody>\n</table>\n</div>"
    )


def head(content: str, number: bool = False, unit: str = "") -> str:
    """A column's heading; `content` is HTML. number: its cells give their values, in `unit`."""
    told = f' data-unit="{html.escape(unit)}"' if unit else ""
    return f'<th scope="col"{_NUMBER if number else ""}{told}>{content}</th>'


def cell(content: str, value: object = None, name: bool = False) -> str:
    """A cell; `content` is HTML, `value` what it is sorted by and taken along as, where that is not
    how it reads. name: the row is named by it."""
    told = "" if value is None else f' data-value="{html.escape(str(value))}"'
    told += _NUMBER if isinstance(value, int | float) else ""
    return f'<th scope="row"{told}>{content}</th>' if name else f"<td{told}>{content}</td>"


_NUMBER = ' class="number"'
_CURRENT = ' aria-current="page"'

_FRAME = Template("""<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    $policy
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>$project: $title</title>
    <link rel="icon" href="swallow.ico">
    <link rel="stylesheet" href="site/site.css">
    <script src="site/theme.js"></script>
  </head>
  <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header>
      <a class="brand" href="index.html">$project</a>
      <nav aria-label="Pages">
        <ul>
$links
        </ul>
      </nav>
      <button type="button" id="theme" hidden>Dark</button>
    </header>
    <main id="main" tabindex="-1">
      <h1>$title</h1>
$content
    </main>
    <footer>
      Seconds are what was measured, so lower is faster; all else is derived from them.
      <a href="releases.html">How to read these pages</a>
    </footer>
$scripts
  </body>
</html>
""")
