"""Add to the release table every stable release that it lacks, with its date and companions.

    python scripts/refresh_releases.py                (all frameworks)
    python scripts/refresh_releases.py onnxruntime jax

Rows are only ever added. A release none of whose companions installs on this Python is left out,
and told.
"""

import argparse
import sys

from packaging.version import Version

from deepbench_ops.releases import table
from deepbench_ops.releases.companions import RULES, row
from deepbench_ops.releases.index import Index


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("frameworks", nargs="*", help=f"of {', '.join(RULES)}")
    index = Index()
    for framework in parser.parse_args().frameworks or RULES:
        if framework not in RULES:
            parser.error(f"{framework!r} is none of {', '.join(RULES)}")
        listed = sorted(index.releases(framework).items())
        wanted = [each for each in listed if each[0] >= Version(RULES[framework].oldest)]
        made = {version: row(framework, version, day, index) for version, day in wanted}
        added = table.append(table.TABLE, [release for release in made.values() if release])
        print(f"{framework}: {len(made)} releases install here, {added} added")
        for version, release in made.items():
            if release is None:
                print(f"{framework} {version}: no companion installs here", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
