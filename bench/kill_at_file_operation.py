"""Run a Python module and kill it before its n-th operation on files of a folder.

    python kill_at_file_operation.py N REPORT MODULE [ARGUMENTS]

Counted are operations of this process, not of its children: opening to write, flushing, renaming,
removing and making folders, below results/, .asv, .deepbench and for files whose names begin with
.asv-machine in the current folder. Before every other flush the end of the file is cut off. With N
= 0 the module is not killed, and the operations are written into REPORT when it ends.
"""

import os
import runpy
import signal
import sys
from pathlib import Path

WATCHED = ("results", ".asv", ".deepbench", ".asv-machine")
CHANGING = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link"}


def watch(stop: int, seen: list[str]) -> None:
    """Record all further operations in `seen`, and kill this process before the `stop`-th."""
    root, own, flush = Path.cwd(), os.getpid(), os.fsync
    watched = tuple(str(root / name) for name in WATCHED)

    def operation(event: str, path: Path) -> None:
        seen.append(f"{event} {os.path.relpath(path, root)}")
        if len(seen) == stop:
            if event == "fsync" and stop % 2 and (size := path.stat().st_size):
                os.truncate(path, size - 1 - size // 20)
            os.kill(own, signal.SIGKILL)

    def hook(event: str, args: tuple) -> None:
        if os.getpid() != own or (event not in CHANGING and event != "open") or not args:
            return
        if event == "open" and not (args[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
        if isinstance(args[0], (str, bytes, os.PathLike)):
            path = Path(os.fsdecode(args[0])).absolute()
            made = event == "os.mkdir" and path.exists()
            if str(path).startswith(watched) and "env" not in path.parts and not made:
                operation(event, path)

    def fsync(descriptor: int) -> None:
        if os.getpid() == own:
            operation("fsync", Path(f"/proc/self/fd/{descriptor}").readlink())
        flush(descriptor)

    os.fsync = fsync
    sys.addaudithook(hook)


def main() -> None:
    """Run the module."""
    stop, report, module = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    sys.argv = sys.argv[3:]
    seen: list[str] = []
    watch(stop, seen)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        Path(report).write_text("\n".join(seen))


if __name__ == "__main__":
    main()
