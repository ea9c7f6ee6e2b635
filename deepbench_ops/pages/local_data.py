"""The pages' data in a form that a browser reads from a disk.

A page opened as file:// may not fetch JSON, but may load scripts. Every JSON file of the site
therefore gets a script beside it, `index.json.js` beside `index.json`, which hands the same bytes
to deepbench.js. They are gzipped (and base64 to be text), so the copies add about a third of the
data's size instead of doubling it, and a page loads only those it shows. Web servers keep
serving the JSON.
"""

from __future__ import annotations

import base64
import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from deepbench_ops.storage import atomic


def strict(text: str) -> str:
    """`text` as JSON that a browser accepts: NaN and the infinities become null.

    Text without such tokens comes back unchanged.
    """
    if "NaN" not in text and "Infinity" not in text:
        return text
    found = []

    def to_null(token: str) -> None:
        found.append(token)

    data: Any = json.loads(text, parse_constant=to_null)
    return json.dumps(data, allow_nan=False) if found else text


def packed(text: str) -> str:
    """The script that carries `text`: one call with gzipped base64, the same on every run."""
    content = base64.b64encode(gzip.compress(text.encode("utf-8"), compresslevel=6, mtime=0))
    return f'deepbench.receive("{content.decode("ascii")}");\n'


def write(html_dir: Path) -> None:
    """Make every JSON file below `html_dir` strict, and write its script beside it, unless one is
    there that is not older."""
    with ThreadPoolExecutor() as threads:  # packing is done outside Python's lock
        list(threads.map(_write, filter(_is_new, html_dir.rglob("*.json"))))


def _is_new(path: Path) -> bool:
    script = _script(path)
    return not script.exists() or script.stat().st_mtime_ns < path.stat().st_mtime_ns


def _script(path: Path) -> Path:
    return path.with_name(path.name + ".js")


def _write(path: Path) -> None:
    before = path.read_text("utf-8")
    text = strict(before)
    if text != before:
        atomic.write_text(path, text, durable=False)
    atomic.write_text(_script(path), packed(text), durable=False)
