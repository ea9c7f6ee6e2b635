"""Print the table of replaced functions of asv with the reasons, and the times of publishing."""

from importlib.resources import files

from tabulate import tabulate

from deepbench_ops.asv_adapter.patch_table import TABLE

TIMES = "publishing_times.txt"
"""The file with the measured times of publishing with and without the speed-ups."""

HEADERS = ("replaced", "in force during", "kind", "why")


def main() -> None:
    """Print a row for each patch, and the times of publishing with and without the speed-ups."""
    rows = [
        (row.place, row.scope, "needed" if row.needed else "speed-up", row.why) for row in TABLE
    ]
    print(tabulate(rows, HEADERS, tablefmt="github"))
    print()
    print(files(__package__).joinpath(TIMES).read_text("utf-8"), end="")


if __name__ == "__main__":
    main()
