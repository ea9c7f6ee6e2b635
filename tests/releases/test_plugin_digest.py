"""The digest of plugins changes with each of them, their versions and their files."""

import shutil
from pathlib import Path

import plugin_site
import pytest

from deepbench_ops.releases import plugin_digest


@pytest.mark.parametrize("listed", [True, False])
def test_a_digest_is_of_name_version_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    """Also where pip lists no files of the packages, as of an editable install."""
    assert "" == plugin_digest.of_plugins()
    site = tmp_path / "site"
    shutil.copytree(plugin_site.PLUGIN, site, ignore=shutil.ignore_patterns("__pycache__"))
    if listed:
        plugin_site.record(site, site / "deepbench_axpy-1.0.dist-info")
    monkeypatch.syspath_prepend(str(site))
    first = plugin_digest.of_plugins()
    assert first.startswith("deepbench-axpy==1.0 ")
    (site / "deepbench_axpy" / "__pycache__").mkdir()
    (site / "deepbench_axpy" / "__pycache__" / "axpy.pyc").write_bytes(b"compiled")
    assert first == plugin_digest.of_plugins()
    (site / "deepbench_toy_backend" / "releases.csv").write_text("")
    second = plugin_digest.of_plugins()
    metadata = site / "deepbench_axpy-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("1.0", "1.1"))
    third = plugin_digest.of_plugins()
    assert 3 == len({first, second, third})
    assert third.startswith("deepbench-axpy==1.1 ")


def test_a_plugin_whose_package_is_missing_has_a_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other messages say that it cannot be used."""
    about = "deepbench_axpy-1.0.dist-info"
    shutil.copytree(plugin_site.PLUGIN / about, tmp_path / about)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert plugin_digest.of_plugins().startswith("deepbench-axpy==1.0 ")
