"""The `deepbench` command as its users meet it, but in this process, which has it loaded."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from deepbench_ops import project

COMMAND = [sys.executable, "-m", "deepbench_ops.cli"]
"""Starts it as a process of its own."""


class Terminal(io.StringIO):
    """Text that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


def make_project(folder: Path, **more: str) -> None:
    """Write the configuration that makes a folder a project folder, with `more` keys."""
    values = {"plugins": [f".{project.PLUGIN}"], "env_dir": ".asv/env", **more}
    (folder / project.CONFIGURATION).write_text(json.dumps(values))


def deepbench(*arguments: str, columns: int | None = None) -> tuple[int, str, str]:
    """Run the command, on a terminal of so many columns if any; (exit status, stdout, stderr)."""
    from deepbench_ops import cli

    out, err = Terminal() if columns else io.StringIO(), io.StringIO()
    given = patch.object(sys, "argv", ["deepbench", *arguments])
    wide = patch.dict(os.environ, {"COLUMNS": str(columns)} if columns else {})
    with given, wide, redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), err.getvalue()
