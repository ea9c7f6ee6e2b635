"""Pages of the documentation that are files outside of docs/, and links to them: a hook of mkdocs.

They are where GitHub and readers of the repository expect them, and in the built pages as well.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
OUTSIDE = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "results/README.md": "results.md",
}
"""Names among the pages, by path in the repository."""
ORIGINS = {name: path for path, name in OUTSIDE.items()}
LINK = re.compile(r"\[([^\]]*)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    for path, name in OUTSIDE.items():
        files.append(File.generated(config, name, content=(ROOT / path).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **others: Any) -> str:
    """Let links that leave docs/ or lead into it lead to pages; others become their text."""
    name = page.file.src_uri
    here = posixpath.dirname(ORIGINS.get(name, f"docs/{name}"))

    def linked(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join(here, target))
        wanted = OUTSIDE.get(path, path.removeprefix("docs/"))
        if wanted == path:
            return text
        return f"[{text}]({posixpath.relpath(wanted, posixpath.dirname(name) or '.')}{anchor})"

    return LINK.sub(linked, markdown)
