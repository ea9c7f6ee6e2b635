"""Code in the documentation that is a file of this repository, such as the worked examples.

python scripts/copy_code_into_docs.py           copies the files into their blocks
python scripts/copy_code_into_docs.py --check   exits with 1 where a block is not its file

A block belongs to the file that a comment `<!-- file: PATH -->` on the line above it names.
"""

import re
from functools import partial
from pathlib import Path

import generated_page

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"<!-- file: (\S+) -->\n```(\w*)\n(.*?)```\n", re.DOTALL)
PAGES = [path for path in (ROOT / "docs").rglob("*.md") if BLOCK.search(path.read_text("utf-8"))]


def copied(page: Path) -> str:
    """Return the text of a page with the present files in its blocks."""
    return BLOCK.sub(_block, page.read_text(encoding="utf-8"))


def _block(found: re.Match[str]) -> str:
    path, language, _ = found.groups()
    return f"<!-- file: {path} -->\n```{language}\n{(ROOT / path).read_text(encoding='utf-8')}```\n"


if __name__ == "__main__":
    for each in PAGES:
        script = "python scripts/copy_code_into_docs.py"
        generated_page.write_or_check(each, partial(copied, each), script)
