"""Logs as DeepBench's programs print them."""

GEMM = "    m       n      k      a_t     b_t      precision        time (usec) "


def output(header, *rows, width=88, running="training"):
    """The log of one program: its title, a line of dashes, the headers and the rows."""
    return "\n".join(
        [f"Running {running} benchmark ", "Times".rjust(30), "-" * width, header, *rows]
    )
