#!/usr/bin/env python3
"""Fetch the libraries of the pages again, to verify the copies in the repository.

The names, versions and sha256 sums are in deepbench_ops/pages/assets/manifest.json; npm fetches
the packages from the registry that it is set up for. A file whose sum differs stops the script
before anything is written. THIRD_PARTY.md is written from the same manifest.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

ASSETS = Path(__file__).resolve().parent.parent / "deepbench_ops" / "pages" / "assets"


def fetch(name: str, version: str, folder: Path) -> Path:
    """Fetch the tarball of one package into `folder` with npm, and return its path."""
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is not installed: it fetches the page libraries by name and version")
    done = subprocess.run(
        [npm, "pack", "--silent", f"{name}@{version}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise SystemExit(f"npm could not fetch {name}@{version}: {reason[0]}")
    return folder / done.stdout.split()[-1]


def checked_files(package: dict[str, Any], tarball: Path) -> dict[str, bytes]:
    """The listed files of one package, by their path in the assets of the pages."""
    label = f"{package['name']}-{package['version']}"
    files = {}
    with tarfile.open(tarball) as tar:
        for entry in package["files"]:
            try:
                member = tar.extractfile(f"package/{entry['source']}")
            except KeyError:
                member = None
            if member is None:
                raise SystemExit(f"{label} holds no file {entry['source']}")
            content = member.read()
            found = hashlib.sha256(content).hexdigest()
            if found != entry["sha256"]:
                raise SystemExit(
                    f"{label}/{entry['source']} has sha256 {found}, not {entry['sha256']}"
                )
            files[f"{label}/{PurePosixPath(entry['source']).name}"] = content
    return files


def third_party(packages: list[dict[str, Any]]) -> str:
    """The text of THIRD_PARTY.md: the libraries with their licences and sources."""
    lines = [
        "# Libraries brought along for the published pages",
        "",
        "asv's pages load these from content delivery networks; the copies here let them open",
        "without internet. Each folder of `vendor/` holds the licence text. Written by",
        "`scripts/vendor_assets.py` from `manifest.json`.",
        "",
        "| name | version | licence | origin | remark |",
        "|---|---|---|---|---|",
    ]
    for p in packages:
        cells = (p["name"], p["version"], p["licence"], p["origin"], p.get("note", ""))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    packages = json.loads((ASSETS / "manifest.json").read_text("utf-8"))["packages"]
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for package in packages:
            tarball = fetch(package["name"], package["version"], Path(scratch))
            files |= checked_files(package, tarball)
    for name, content in files.items():
        target = ASSETS / "vendor" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    (ASSETS / "THIRD_PARTY.md").write_text(third_party(packages), "utf-8")
    print(f"{len(files)} files of {len(packages)} packages, sums as recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
