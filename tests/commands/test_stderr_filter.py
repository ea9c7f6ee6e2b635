"""Useless output of libraries is held back, and nothing else."""

import logging
import os
import subprocess
import sys
import warnings

import pytest
from command import COMMAND
from installed_frameworks import needed

pytest.importorskip("click", reason="the command needs the `track` extra")

from deepbench_ops.commands import stderr_filter


def test_only_lines_that_begin_so_are_held_back(capfd):
    """Lines that are written past Python, by any name of standard error."""
    with stderr_filter.hidden_lines(b"USDT:"):
        os.write(2, b"USDT:2026 profiler_start\nout of memory\n")
        print("a warning", file=os.fdopen(os.dup(2), "w"), flush=True)
    assert "out of memory\na warning\n" == capfd.readouterr().err


def test_lines_are_printed_when_it_fails(capfd):
    with pytest.raises(ValueError), stderr_filter.hidden_lines(b"USDT:"):
        os.write(2, b"why it failed\n")
        raise ValueError
    assert "why it failed\n" == capfd.readouterr().err


def test_torchs_tools_may_warn_of_anything_else(caplog, monkeypatch):
    """Each known warning is named by its text and its origin."""
    pytest.importorskip("torch")
    from deepbench_ops.backends.torch_backend import known_warnings

    exporter = logging.getLogger("torch.onnx._internal.exporter._registration")
    monkeypatch.setattr(exporter, "propagate", False)  # torch sets it when its exporter has run
    exporter.addHandler(caplog.handler)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        known_warnings.silence()
        text = "To copy construct from a tensor, it is recommended to use clone"
        for module in ("torch._inductor.mkldnn_lowerings", "somewhere.else"):
            warnings.warn_explicit(text, UserWarning, "file", 1, module)
        exporter.warning("torchvision is not installed. Skipping torchvision::nms")
        exporter.warning("something is wrong")
    exporter.removeHandler(caplog.handler)
    assert [text] == [str(each.message) for each in shown]
    assert ["something is wrong"] == [record.getMessage() for record in caplog.records]


@pytest.mark.slow
@pytest.mark.parametrize("by", ["compiled", "onnxruntime"])
def test_a_network_in_int8_is_timed_without_warnings_of_libraries(tmp_path, by):
    """Standard error stays empty."""
    for library in ("torch", "torchao" if by == "compiled" else "onnxruntime"):
        needed(library)
    asked = ["deepfm", "--batch", "8", "--precision", "int8", "--seconds", "0.2", "--by", by]
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [*COMMAND, "latency", *asked]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert (0, "") == (done.returncode, done.stderr)


def test_openvino_reports_nothing_to_its_makers():
    """Its import forks no process that would."""
    pytest.importorskip("openvino")
    program = (
        "import os, sys; os.fork = None\n"
        "from deepbench_ops import backends; backends.load('openvino')\n"
        "print(sorted(name for name in sys.modules if name.startswith('openvino_telemetry.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "[]\n" == done.stdout
