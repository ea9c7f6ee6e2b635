"""Print the table of patches: what of asv is replaced, for how long, and why."""

from tabulate import tabulate

from deepbench_ops.asv_adapter.patch_table import TABLE

HEADERS = ("replaced", "in force during", "kind", "why")


def main() -> None:
    """Print a row for each patch."""
    rows = [
        (row.place, row.scope, "needed" if row.needed else "speed-up", row.why) for row in TABLE
    ]
    print(tabulate(rows, HEADERS, tablefmt="github"))


if __name__ == "__main__":
    main()
