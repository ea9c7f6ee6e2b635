"""The second configuration: commits of this project through asv's own git support."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import processes
import pytest

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("deepbench_ops", "asv_bench_deepbench", "benchmarks")


@pytest.mark.network
@pytest.mark.slow
def test_a_commit_is_installed_with_its_matrix_and_its_suite_discovered(tmp_path):
    """asv builds this project at a commit, with the listed versions, and finds its benchmarks."""
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path / name)
    text = (ROOT / "asv.source.conf.json").read_text(encoding="utf-8")
    text = re.sub(r'"(torch|scipy)": \[.*?\],\n', "", text)  # the large ones change nothing here
    (tmp_path / "asv.source.conf.json").write_text(text, encoding="utf-8")
    run(tmp_path, "git", "init", "-q", "-b", "main")
    run(tmp_path, "git", "add", "-A")
    author = ("-c", "user.name=tests", "-c", "user.email=tests@example.org")
    run(tmp_path, "git", *author, "commit", "-qm", "first")
    asv = (sys.executable, "-m", "asv", "--config", "asv.source.conf.json")
    run(tmp_path, *asv, "machine", "--yes")
    run(tmp_path, *asv, "run", "HEAD^!", "--bench", "just-discover")
    found = json.loads((tmp_path / ".asv/source-results/benchmarks.json").read_text())
    assert "gemm.Training.kernel_forward" in found


def run(root: Path, *command: str) -> None:
    # pip's configuration lies in the home that asv's machine file must not be written to.
    home = os.environ.get("HOME", "")
    config = os.environ.get("PIP_CONFIG_FILE", str(Path(home, ".config", "pip", "pip.conf")))
    env = {**os.environ, "HOME": str(root), "PIP_CONFIG_FILE": config}
    done = processes.run(command, root, env)
    assert done.returncode == 0, done.stdout
