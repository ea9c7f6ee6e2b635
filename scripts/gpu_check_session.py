"""The environment of `gpu_check.py`, its journal, and the archive of its results."""

import io
import json
import os
import shutil
import signal
import subprocess
import sysconfig
import tarfile
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from gpu_check_parts import LISTED, Families, Part, Target

from deepbench_ops.storage import atomic_write

ARCHIVE = "gpu_check.tar.gz"
LOG_BYTES = 2**18
"""Number of bytes at the end of each log that are packed."""
MOST_BYTES = 15 * 2**20
"""Size from which the archive is split, and size of its parts."""
LEFT_OUT = {"environment", "env", ".cache", "__pycache__"}
"""Folders that every machine makes for itself."""
MARK = "RESULTS"
"""Environment variable that names the folder for figures of experiments."""
LIMIT_SECONDS = 570.0
RUN_LIMIT, SAVING_SECONDS = "DEEPBENCH_RUN_LIMIT", 30.0
"""Variable with the seconds after which asv run begins no point; time for the last one and to save
results."""
TRIES = 2
"""A part that has exceeded the limit so many times counts as failed."""


class Journal:
    """The state of every part; each change is written to the disk at once. Threads may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._parts: dict[str, dict[str, object]] = (
            json.loads(path.read_text("utf-8")) if path.exists() else {}
        )

    def has_ended(self, name: str) -> bool:
        """Return whether a part has ended, with or without success."""
        return self._parts.get(name, {}).get("state") in ("well", "failed")

    def has_failed(self, name: str) -> bool:
        """Return whether a part has ended without success."""
        return self._parts.get(name, {}).get("state") == "failed"

    def text(self, name: str) -> str:
        """Return the state of a part as text."""
        known = self._parts.get(name)
        if known is None:
            return "waiting"
        return f"{known['state']}, status {known['status']}, {known['seconds']} s"

    def note(self, part: Part, status: int | None, seconds: float) -> None:
        """Record how a part has ended; status None: it was ended because its time was over."""
        tries = int(str(self._parts.get(part.name, {}).get("tries", 0)))
        if status is None:
            tries += seconds >= LIMIT_SECONDS
            state = "failed" if tries >= TRIES else "unfinished"
        else:
            state = "well" if status in part.endings else "failed"
        with self._lock:
            self._parts[part.name] = {
                "state": state,
                "status": status,
                "seconds": round(seconds, 1),
                "tries": tries,
                "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            }
            self._write()

    def forget(self, names: Iterable[str]) -> None:
        """Remove the state of these parts, so that they run again."""
        for name in names:
            self._parts.pop(name, None)
        self._write()

    def summary(self, names: Sequence[str]) -> str:
        """Return how many parts succeeded, failed and wait, with the names of failed ones."""
        failed = [name for name in names if self.has_failed(name)]
        ended = sum(map(self.has_ended, names))
        counts = f"{ended - len(failed)} well, {len(failed)} failed, {len(names) - ended} waiting"
        return "\n".join([counts, *(f"failed: {name} (logs/{name}.log)" for name in failed)])

    def _write(self) -> None:
        atomic_write.write_text(self._path, json.dumps(self._parts, indent=1) + "\n")


@dataclass(frozen=True)
class Archive:
    """The archive of a work folder, in the folder for results; a large one is split into parts."""

    folder: Path
    out: Path

    def pack(self) -> None:
        """Write the archive: all folders but LEFT_OUT, and the ends of the logs."""
        self.out.mkdir(parents=True, exist_ok=True)
        new = self.out / f"{ARCHIVE}.new"
        with tarfile.open(new, "w:gz") as packed:
            for path in sorted(self.folder.rglob("*")):
                inner = path.relative_to(self.folder)
                if LEFT_OUT & set(inner.parts) or inner.name.startswith(ARCHIVE):
                    continue
                if path.suffix == ".log" and path.stat().st_size > LOG_BYTES:
                    path = _end_of(path)
                packed.add(path, str(inner), recursive=False)
        packed = self.out / ARCHIVE
        for part in parts_of_archive(packed):
            part.unlink()
        if new.stat().st_size <= MOST_BYTES:
            new.replace(packed)
            return
        packed.unlink(missing_ok=True)
        with new.open("rb") as whole:
            for number, part in enumerate(iter(lambda: whole.read(MOST_BYTES), b"")):
                packed.with_name(f"{ARCHIVE}.{number:02}").write_bytes(part)
        new.unlink()

    def unpack(self, archive: Path | None) -> None:
        """Unpack an archive, or its parts, if the folder has no results yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if archive is None or (self.folder / "state.json").exists():
            return
        parts = [archive] if archive.exists() else parts_of_archive(archive)
        if not parts:
            raise SystemExit(f"{archive} is no file, and has no parts {archive.name}.00, ...")
        whole = io.BytesIO(b"".join(part.read_bytes() for part in parts))
        with tarfile.open(fileobj=whole) as packed:
            packed.extractall(self.folder, filter="data")


def parts_of_archive(archive: Path) -> list[Path]:
    """Return the parts of a split archive, in order; none of one that is whole."""
    return sorted(archive.parent.glob(f"{archive.name}.[0-9]*"))


def _end_text(log: Path) -> str:
    """Return the last lines of a log."""
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-5:])


def _end_of(log: Path) -> Path:
    """Shorten a log to its last LOG_BYTES, which contain the reason of a failure."""
    with log.open("rb+") as stream:
        stream.seek(-LOG_BYTES, os.SEEK_END)
        end = stream.read()
        stream.seek(0)
        stream.truncate()
        stream.write(end)
    return log


@dataclass(frozen=True)
class Session:
    """An environment for deepbench next to that of the framework, and its project folder."""

    root: Path
    folder: Path
    wheels: Path
    python: Path
    target: Target

    @property
    def environment(self) -> Path:
        """Folder of the environment."""
        return self.folder / "environment"

    @property
    def project(self) -> Path:
        """Folder of the project with the results."""
        return self.folder / "project"

    def prepare(self) -> None:
        """Make the missing folders and environment. Raises SystemExit, with the log, on failure."""
        for folder in ("logs", "home", "results"):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
        ready = self.environment / "ready"
        if not ready.exists():
            shutil.rmtree(self.environment, ignore_errors=True)
            self._demand([str(self.python), "-m", "venv", "--without-pip", str(self.environment)])
            self._show_framework()
            (pip,) = self.wheels.glob("pip-*.whl") or [None]
            packages = [f"{self.root}[track]"]
            offline = ["--no-index", "--find-links", str(self.wheels), "--quiet"]
            tool = [str(self.environment / "bin/python"), f"{pip}/pip", "install"]
            install = [*tool, *offline, "--editable", *packages]
            self._demand(install, "a package is missing: run scripts/collect_wheels.py again")
            ready.touch()
        if not (self.project / "asv.conf.json").exists():
            self._demand(["deepbench", "init", str(self.project)])
            conf = self.project / "asv.conf.json"
            usual, wanted = ('"DEEPBENCH_DEVICE": ["' + name + '"]' for name in self._devices)
            conf.write_text(conf.read_text("utf-8").replace(usual, wanted), encoding="utf-8")
        known = self.project / ".asv" / "env" / "interpreters.json"
        if not known.exists():
            self._demand(["deepbench", "machine", "--yes", "--no-measure", *self._name])
        if not known.exists() or self.target.release not in json.loads(known.read_text("utf-8")):
            self._demand(self._release())

    def end_leftovers(self) -> None:
        """End processes that a killed call has left running: they would hold the project's lock.

        All processes of this work folder share an environment variable, by which they are found.
        """
        mark = f"{MARK}={self.folder / 'results'}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # a process of another user, or one that has ended
                variables = (process / "environ").read_bytes().split(b"\0")
                if mark in variables and int(process.name) != os.getpid():
                    os.kill(int(process.name), signal.SIGKILL)

    def families(self) -> Families:
        """Return the names of the families."""
        python = str(self.environment / "bin/python")
        done = subprocess.run([python, "-c", LISTED], capture_output=True, text=True, check=True)
        return Families(*json.loads(done.stdout))

    def run(self, part: Part, seconds: float, journal: Journal) -> None:
        """Run a part for at most `seconds`, with a log of its own, and record how it ended."""
        limit, began = min(seconds, LIMIT_SECONDS), time.monotonic()
        print(f"{part.name} ...", flush=True)
        with (self.folder / "logs" / f"{part.name}.log").open("w", encoding="utf-8") as log:
            log.write(f"$ {part.command}\n")
            log.flush()
            process = subprocess.Popen(
                ["bash", "-c", part.command],
                cwd=self.root if part.command.startswith("python bench/") else self.project,
                env={**self._environ(), RUN_LIMIT: f"{max(1.0, limit - SAVING_SECONDS):.0f}"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status: int | None = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                self._end(process)
        if RUN_LIMIT in _end_text(self.folder / "logs" / f"{part.name}.log"):
            status = None
        journal.note(part, status, time.monotonic() - began)
        print(f"{part.name}: {journal.text(part.name)}", flush=True)

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        """End a part and all processes that it has started."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)  # lets it save its results
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
        with suppress(ProcessLookupError):  # nothing of its group is left
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    @property
    def _name(self) -> list[str]:
        return ["--name", self.target.machine]

    @property
    def _devices(self) -> tuple[str, str]:
        return "cpu", self.target.device

    def _release(self) -> list[str]:
        """Return the arguments that name the interpreter of the installed release."""
        wanted = f"{self.target.framework}=={self.target.version}"
        named = ["deepbench", "release", "add", wanted, "--python", str(self.python)]
        listed = (self.root / "deepbench_ops/releases/releases.csv").read_text("utf-8")
        known = f"\n{self.target.framework},{self.target.version}," in listed
        return named if known else [*named, "--date", date.today().isoformat()]

    def _show_framework(self) -> None:
        """Make the packages of the interpreter importable in the environment, without copies."""
        (site,) = self.environment.glob("lib/python3*/site-packages")
        paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        lines = [f"import site; site.addsitedir({path!r})\n" for path in sorted(paths)]
        (site / "framework.pth").write_text("".join(lines), encoding="utf-8")

    def _environ(self) -> dict[str, str]:
        scripts = self.environment / "bin"
        return {
            **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
            "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}",
            "HOME": str(self.folder / "home"),
            MARK: str(self.folder / "results"),
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def _demand(self, command: Sequence[str], advice: str = "") -> None:
        where = self.project if self.project.exists() else self.folder
        log = self.folder / "logs" / "environment.log"
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"$ {' '.join(command)}\n")
            stream.flush()
            done = subprocess.run(
                command, cwd=where, env=self._environ(), stdout=stream, stderr=subprocess.STDOUT
            )
        if done.returncode:
            raise SystemExit(f"failed: {' '.join(command)} [output: {log}] {advice}".rstrip())
