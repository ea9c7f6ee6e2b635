"""Build of the wheel: pyproject.toml says all but where a new project folder's files come from.

They lie at the top of the repository, which is a project folder itself. A wheel holds them in
deepbench_ops/project_files, for `deepbench init`.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
TARGET = Path("deepbench_ops", "project_files")


def project_files() -> list[str]:
    """Return paths below the root: the configuration, benchmarks/, and published results.

    Published are those of a machine without raw seconds.
    """
    machines = [path.parent for path in ROOT.glob("results/*/machine.json")]
    published = [machine for machine in machines if not any(machine.glob("*.jsonl*"))]
    found = [
        ROOT / "asv.conf.json",
        ROOT / "benchmarks" / "__init__.py",
        *ROOT.glob("results/benchmarks.json"),
        *(file for machine in published for file in machine.iterdir() if file.is_file()),
    ]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


class BuildWithProjectFiles(build_py):
    """Copies the project files into a wheel, and lists them for a source archive.

    Leftovers of an earlier build go first: a file that is gone must not be in the wheel.
    """

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            for name in project_files():
                target = Path(self.build_lib, TARGET, name)
                self.mkpath(str(target.parent))
                self.copy_file(str(ROOT / name), str(target))

    def get_source_files(self) -> list[str]:
        return [*super().get_source_files(), *project_files()]


setup(cmdclass={"build_py": BuildWithProjectFiles})
