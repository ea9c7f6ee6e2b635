"""The `deepbench` command as its users meet it, but in this process, which has it loaded."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

COMMAND = [sys.executable, "-m", "deepbench_ops.cli"]
"""Starts it as a process of its own."""


def deepbench(*arguments: str) -> tuple[int, str, str]:
    """Run the command; (exit status, stdout, stderr)."""
    from deepbench_ops import cli

    out, err = io.StringIO(), io.StringIO()
    given = patch.object(sys, "argv", ["deepbench", *arguments])
    with given, redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), err.getvalue()
