"""Add the setting OPENBLAS_CORETYPE to committed records that were measured under it.

    python scripts/mark_openblas_settings.py [RESULTS]

Until 24 November 2026 a fingerprint held the code path of numpy's OpenBLAS (`blas_core`), but not
the environment variables that may have chosen it. If the path differs from the one that the release
itself chooses on the processor of the fingerprint, the variable was set: the fingerprint gets
`settings`, and `settings_inferred` says that they were not recorded. If the two paths are equal,
the setting is unknown and nothing is written. CHOSEN is the table of
docs/lab-notes/2026-11-24-openblas-core.md, made by bench/openblas_core.py. The yardstick of such a
machine ran the same path. Its compute reading is removed from the profile, so that the next run on
the machine takes a new one, and the peaks of numpy name the setting under which they were reached.
A second call changes nothing.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure import fingerprint, library_variables
from deepbench_ops.storage import facts_digest, measurement_files

NOTE = "docs/lab-notes/2026-11-24-openblas-core.md"
VARIABLE = "OPENBLAS_CORETYPE"

OLDER = ("1.24.4", "1.25.2", "1.26.0", "1.26.4", "2.0.2")
NEWER = ("2.1.3", "2.2.6", "2.3.5", "2.4.1", "2.4.6")
CHOSEN = {
    (processor, release): core
    for processor, cores in {
        "25/1/1": ("Zen", "Haswell"),
        "25/17/1": ("Cooperlake", "SkylakeX"),
        "26/2/1": ("Cooperlake", "SkylakeX"),
    }.items()
    for releases, core in zip((OLDER, NEWER), cores, strict=True)
    for release in releases
}
"""The core that a numpy release chooses on a processor, named by family/model/stepping.

The processor has all of its AVX-512 instructions.
"""


def inferred(facts: dict[str, str]) -> dict[str, str]:
    """Return the facts with the setting that follows from them; unchanged if none does."""
    processor, core = facts["cpu_family_model_stepping"], facts.get("blas_core", "")
    chosen = CHOSEN.get((processor, facts.get("numpy", "")))
    if fingerprint.SETTINGS in facts or not core or chosen in (None, core):
        return facts
    marked = {
        **facts,
        fingerprint.SETTINGS: library_variables.text(((VARIABLE, core),)),
        "settings_inferred": f"concluded from blas_core, not recorded ({NOTE})",
    }
    return dict(sorted(marked.items()))


def mark(path: Path) -> str:
    """Add the setting to a file's fingerprints; return the setting, "" if there is none."""
    facts, entries = measurement_files.load(path)
    marked = {digest: inferred(each) for digest, each in facts.items()}
    changed = {digest for digest in facts if marked[digest] != facts[digest]}
    if not changed:
        return ""
    names = {d: facts_digest.digest(marked[d]) if d in changed else d for d in facts}
    for entry in entries:
        if "fingerprint" in entry:
            entry["fingerprint"] = names[entry["fingerprint"]]
    measurement_files.write(path, {names[digest]: marked[digest] for digest in facts}, entries)
    return next(marked[digest][fingerprint.SETTINGS] for digest in changed)


def mark_profile(known: Profile, setting: str) -> Profile:
    """Return a profile without the compute reading, whose peaks of numpy name the setting."""
    under = f", under {setting} (inferred: {NOTE})"
    yardsticks = {
        count: {
            kind: Figure(None, "s", f"not measured: {figure.value:.4g} s was read{under}")
            if kind == "compute" and figure.value
            else figure
            for kind, figure in kinds.items()
        }
        for count, kinds in known.yardsticks.items()
    }
    peaks = {
        device: {
            name: replace(figure, how=figure.how + under)
            if ", numpy " in figure.how and figure.value and under not in figure.how
            else figure
            for name, figure in figures.items()
        }
        for device, figures in known.peaks.items()
    }
    return replace(known, yardsticks=yardsticks, peaks=peaks)


def main() -> None:
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "results")
    for machine in sorted(path for path in results.iterdir() if path.is_dir()):
        found = [mark(path) for path in measurement_files.paths(machine)]
        marked = [setting for setting in found if setting]
        known = machine_profile.read(results, machine.name) if marked else None
        if known is not None:
            machine_profile.write(results, mark_profile(known, marked[0]))
        if marked:
            print(json.dumps({"machine": machine.name, "files": len(marked), "setting": marked[0]}))


if __name__ == "__main__":
    main()
