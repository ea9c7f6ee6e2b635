"""Endings of commands: one line and a status for every error, and no traceback."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from command import COMMAND, deepbench

from deepbench_ops.asv_adapter import configuration_check
from deepbench_ops.errors import file_of, remedy

pytest.importorskip("click", reason="the command needs the `track` extra")
pytest.importorskip("asv", reason="results are read by asv")

MACHINE = "epyc-9005-2core"
NO_FOLDER = "--results nowhere: no such folder: name one that exists"


def test_a_package_that_is_missing_is_one_line(monkeypatch):
    """As after an update of this project without its new dependencies."""
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    configuration_check._validator.cache_clear()
    status, _, err = deepbench("config")
    assert (2, 1) == (status, err.count("\n"))
    assert err.startswith("deepbench: error: jsonschema is missing here")
    assert "pip install 'asv_bench_deepbench[track,tables]'" in err


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("repo", "gone.csv", "gone.csv: No such file or directory: set `repo` in asv.conf.json"),
        ("repo", "asv.conf.json", "asv.conf.json"),
        ("dvcs", "svn", "dvcs is 'svn': write \"releases\", or git or hg"),
    ],
)
@pytest.mark.parametrize("name", ["asv.conf.json", "other.json"])
def test_config_reads_the_release_table_too(tmp_path, name, key, value, said):
    """A project without one, or with another kind of repository, cannot measure a release."""
    assert 0 == deepbench("init", str(tmp_path / "speed"))[0]
    path = tmp_path / "speed" / name
    (tmp_path / "speed" / "asv.conf.json").rename(path)
    assert 0 == deepbench("config", str(path))[0]
    path.write_text(re.sub(rf'"{key}": "[^"]*"', f'"{key}": "{value}"', path.read_text()))
    status, out, err = deepbench("config", str(path))
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert said in err


def test_a_missing_module_of_this_project_is_no_missing_package(monkeypatch):
    """It is a fault of ours, whose traceback is wanted."""
    monkeypatch.setitem(sys.modules, "deepbench_ops.commands.config", None)
    with pytest.raises(ModuleNotFoundError, match="deepbench_ops"):
        deepbench("config")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("release list --framework foo", "unknown framework 'foo'"),
        ("release clean numpy-1.23.4", "no environment of numpy-1.23.4"),
        ("release add numpy==9.9 --source nowhere", "nowhere: no such folder"),
        (
            "compare numpy-1.26.4 numpy-2.2.6",
            "numpy-1.26.4 is a release and not a machine: write @",
        ),
        ("compare numpy-1.26.4", "write @numpy-1.26.4"),
        (f"compare {MACHINE}@numpy-9.9 raspberry-pi-3", "unknown release of"),
        (
            "compare raspberry-pi-3 raspberry-pi-3",
            "would be compared with itself: name another machine or @RELEASE",
        ),
        ("fastest --family foo", "unknown family 'foo'"),
        ("fastest --as-of 03.04.2018", "'03.04.2018' is no day: write it as 2018-04-03"),
        ("fastest --results nowhere", NO_FOLDER),
        ("frameworks --results nowhere", NO_FOLDER),
        ("verdict --all-machines --results nowhere", NO_FOLDER),
        ("unsteady numpy-2.4.6 --results nowhere", NO_FOLDER),
        ("conflicts --results nowhere", NO_FOLDER),
        ("store build --results nowhere", NO_FOLDER),
        (f"export --machine {MACHINE} --results nowhere", NO_FOLDER),
        ("time m96_n32_k64_NN --results nowhere", NO_FOLDER),
        ("export --machine vm", "--format is missing: choose one of xlsx, csv, json, parquet"),
        (f"export a.foo --machine {MACHINE}", "--format is missing, and a.foo ends in none"),
        ("problems --published-only --family conv", "no problem meets all of these conditions"),
        ("problems --format xml", "(deepbench problems --help lists its options)"),
        ("foo", "unknown command 'foo'; nearest of"),
        (
            "scaling wide_deep --precision int8",
            "int8 has no training steps: give --precision float32",
        ),
    ],
)
def test_wrong_input_is_one_line_and_status_2(arguments, said):
    status, out, err = deepbench(*arguments.split())
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert said in err


@pytest.mark.parametrize(
    ("variable", "value", "arguments"),
    [
        ("DEEPBENCH_CACHE", "cold", "noise"),
        ("DEEPBENCH_CACHE", "cold", "bisect m4096_n32_k4096_NN numpy-1.26.4..numpy-2.0.2"),
        ("DEEPBENCH_CACHE", "cold", "verdict --confirm"),
        ("DEEPBENCH_EXECUTION", "compiled", "verdict --confirm"),
        ("DEEPBENCH_CACHE", "cold", "latency resnet50"),
        ("DEEPBENCH_CACHE", "cold", "scaling wide_deep"),
        ("DEEPBENCH_LAYOUT", "channels_last", "scaling resnet50"),
        ("DEEPBENCH_EXECUTION", "compiled", "scaling wide_deep"),
        ("DEEPBENCH_DEVICE", "cuda", "verdict --all-machines --confirm"),
    ],
)
def test_conditions_that_a_command_lacks_are_refused(variable, value, arguments, monkeypatch):
    """Before anything is measured; the line names the variable."""
    monkeypatch.setenv(variable, value)
    status, out, err = deepbench(*arguments.split())
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert f"{variable} is {value}: " in err and "; unset it" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("fastest --as-of 1999-01-01", "no machine in results has a result that was out on 1999"),
        ("fastest --precision int8 --family all_reduce", "headline, all_reduce, int8"),
        ("fastest --results tests/commands", "commands holds no results of any machine"),
        (f"frameworks --machine {MACHINE} --family rnn --precision int8", "with two frameworks"),
        (f"overhead --machine {MACHINE}", "measure them with asv run"),
        (f"compare {MACHINE}@numpy raspberry-pi-3", "no kernel in common"),
        (f"compare {MACHINE}@numpy-1.23.5 raspberry-pi-3", "asv run numpy-1.23.5 measures it"),
        ("verdict --machine raspberry-pi-3", "no kernel has enough releases for a verdict"),
        ("verdict --all-machines --results tests/commands", "no machine has results there"),
        ("unsteady numpy-2.4.6 --machine raspberry-pi-3", "no measurements"),
    ],
)
def test_a_question_without_an_answer_is_one_line_and_status_3(arguments, said):
    status, out, err = deepbench(*arguments.split())
    assert (3, "", 1) == (status, out, err.count("\n"))
    assert said in err


@pytest.mark.parametrize("arguments", [("problems",), ("check", "--family", "gemm")])
def test_a_reader_that_leaves_early_ends_it(arguments):
    """As with head: no traceback, and the status of a closed pipe."""
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    process.stdout.close()
    assert "" == process.stderr.read()
    assert process.wait(60) in (0, 141)  # 0 where all of it fitted the pipe


def heard() -> None:
    """Let a process hear Ctrl-C, which a shell's background jobs ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_is_one_line_and_status_130():
    """The signal reaches the whole group, as from a terminal."""
    process = subprocess.Popen(
        [*COMMAND, "check", "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heard,
    )
    process.stdout.readline()
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (130, "deepbench: interrupted") == (process.returncode, err.strip())


@pytest.mark.parametrize(
    ("number", "name", "line"),
    [
        (errno.EACCES, "a.csv", "Permission denied: a.csv: allow it, or name another place"),
        (errno.EROFS, "a.csv", "Read-only file system: a.csv: allow it, or name another place"),
        (errno.ENOENT, "a.xlsx", "No such file or directory: a.xlsx: name one that exists"),
        (errno.ENOSPC, "a.csv", "No space left on device: a.csv: make room there"),
        (errno.EDQUOT, "a.csv", "Disk quota exceeded: a.csv: make room there"),
        (errno.EIO, "a.csv", "Input/output error: a.csv"),
    ],
)
def test_an_error_of_the_system_names_the_file_and_the_mend(monkeypatch, number, name, line):
    def failing(path):
        raise OSError(number, os.strerror(number), name)

    monkeypatch.setattr("deepbench_ops.commands.config.load", failing)
    assert (2, "", f"deepbench: error: {line}\n") == deepbench("config")


@pytest.mark.parametrize(
    ("number", "named"), [(errno.ENOSPC, "new.csv"), (errno.EACCES, "old.csv")]
)
def test_a_copy_without_room_names_the_new_file(number, named):
    """Python names the file that is read first, which is at fault in other cases."""
    assert named == file_of(OSError(number, os.strerror(number), "old.csv", None, "new.csv"))


@pytest.mark.parametrize("room", [0, 9])
def test_a_file_system_without_room_for_another_file_is_not_called_full(monkeypatch, room):
    """Its files are too many: making room for content would not help. The missing file's folder
    is asked."""

    def counted(path):
        if path == "new/a.csv":
            raise FileNotFoundError
        return SimpleNamespace(f_files=9, f_favail=room, f_bavail=9)

    monkeypatch.setattr(os, "statvfs", counted)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "new/a.csv")
    assert ("make room" in remedy(full)) == (room == 9)
    assert ("remove files" in remedy(full)) == (room == 0)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("verdct", "unknown command 'verdct'; nearest of"),
        (f"verdict --machine {MACHINE} --steps 3% --confirm", "--steps lists steps alone"),
        (f"verdict --machine {MACHINE} --steps 3% --each", "--steps lists steps alone"),
    ],
)
def test_what_was_mistyped_is_said(command, said):
    """The nearest name of a command, and options that exclude each other."""
    status, out, err = deepbench(*command.split())
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert said in err


def test_a_history_of_records_has_days():
    """In the last column, which the newest records alone do not need."""
    records = ("fastest", "--family", "gemm", "--format", "markdown")
    newest, history = (deepbench(*records, *more)[1].splitlines() for more in ((), ("--history",)))
    assert "day" not in newest[0]
    assert "day" == history[0].split("|")[-2].strip()
    days = [line.split("|")[-2].strip() for line in history[2:] if line.startswith("|")]
    assert days and all(re.fullmatch(r"\d{4}-\d\d-\d\d", day) for day in days)
