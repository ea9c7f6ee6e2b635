"""The pages' data in a form that a browser can read from a disk.

A page opened as file:// must not fetch JSON, but may load scripts. So every JSON file of the site
has a script next to it, such as `index.json.js` for `index.json`, which passes the same bytes to
data_loading.js. The bytes are gzipped and encoded in base64, which takes about a third of the size
of the JSON files. A page loads only the scripts with the data that it shows. Pages on a web server
read the JSON files.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from deepbench_ops.storage import atomic_write

SCRIPT = re.compile(r'deepbench\.receive\("[A-Za-z0-9+/=]*"\);\n')
"""Text of a script that `script_of` returns: data, without further code."""


def strict_json(text: str) -> str:
    """Return `text` as strict JSON: NaN and the infinities become null.

    Text without such tokens is returned unchanged.
    """
    if "NaN" not in text and "Infinity" not in text:
        return text
    found = []

    def to_null(token: str) -> None:
        found.append(token)

    data: Any = json.loads(text, parse_constant=to_null)
    return json.dumps(data, allow_nan=False) if found else text


def script_of(text: str) -> str:
    """Return the script that holds `text`: one call with gzipped base64, reproducible to the
    byte."""
    content = base64.b64encode(gzip.compress(text.encode("utf-8"), compresslevel=6, mtime=0))
    return f'deepbench.receive("{content.decode("ascii")}");\n'


def write(html_dir: Path) -> None:
    """Make every JSON file below `html_dir` strict and write its script.

    Files whose script is not older than themselves are left as they are.
    """
    with ThreadPoolExecutor() as threads:  # compression releases Python's lock
        list(threads.map(_write, filter(_is_new, html_dir.rglob("*.json"))))


def _is_new(path: Path) -> bool:
    script = _script(path)
    return not script.exists() or script.stat().st_mtime_ns < path.stat().st_mtime_ns


def _script(path: Path) -> Path:
    return path.with_name(path.name + ".js")


def _write(path: Path) -> None:
    before = path.read_text("utf-8")
    text = strict_json(before)
    if text != before:
        atomic_write.write_text(path, text, durable=False)
    atomic_write.write_text(_script(path), script_of(text), durable=False)
