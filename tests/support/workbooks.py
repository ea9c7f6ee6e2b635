"""Workbooks in DeepBench's style, made for a test."""

from openpyxl import Workbook

from deepbench_ops.releases import release_table

GEMM = ["Dense Matrix Multiplication", None, "M", "N", "K", "A Transpose", "B Transpose", None]
CONV = [None, None, *"WHCNKRS", "pad_h", "pad_w", "Vertical Stride", "Horizontal Stride"]
RNN = ["Recurrent Layers - LSTM", None, "Hidden Units", "N", "Timesteps", None]
SPARSE = ["Sparse Matrix Multiplication", *GEMM[1:7], "Sparsity", None]
SPECS = [["CPU Model", "a cpu"], ["GPU Model", "a card"], ["CUDA Version", "8.0.61"]]


def gemm(*rows, headers=("Time (msec)", "TERAFLOPS")):
    """A section of products: rows of (m, n, k, "N" or "T", "N" or "T", time, ...)."""
    return [[*GEMM, *headers], *([None, None, *row[:5], None, *row[5:]] for row in rows)]


def conv(*rows, headers=("Forward (msec)", "wrt Inputs (msec)", "wrt Parameters (msec)")):
    """A section of convolutions: rows of sizes in the order of CONV, and times."""
    return [["Convolution"], [*CONV, *headers], *([None, None, *row] for row in rows)]


def rnn(*rows, headers=("Time Forward (msec)", "Time Backward (msec)")):
    """A section of LSTM layers: rows of (hidden, batch, timesteps, time, ...)."""
    return [[*RNN, *headers], *([None, None, *row[:3], None, *row[3:]] for row in rows)]


def sparse(*rows):
    """A section of sparse products: rows of (m, n, k, A, B, sparsity, sparse time, dense time)."""
    headers = [*SPARSE, "Sparse Time (msec)", "Dense Time (msec)", "SparseTERAFLOPS"]
    return [headers, *([None, None, *row[:6], None, *row[6:]] for row in rows)]


def all_reduce(*rows):
    """A section of all-reduces: rows of (elements, ranks, time)."""
    headers = ["All-Reduce", None, "Size # floats", "# chips / accelerator cards", None, None]
    return [
        [*headers, "Mean All Reduce Time (msec)", None, "Gigabytes/sec"],
        *([None, None, elements, ranks, None, None, time] for elements, ranks, time in rows),
    ]


def write(path, *sections, sheet="Results FP32", precision="Float", specs=SPECS, more=()):
    """Write a workbook of one sheet of results, and of `more`: (name, precision, sections)."""
    book = Workbook()
    book.remove(book.active)
    for name, words, parts in [(sheet, precision, sections), *more]:
        page = book.create_sheet(name)
        if words is not None:
            page.append(["Precision", words])
            page.append([])
        for part in parts:
            for row in part:
                page.append(row)
            page.append([])
    if specs is not None:
        page = book.create_sheet("Specs")
        for row in specs:
            page.append(row)
    book.save(path)
    return path


def with_release_of_2017(folder, monkeypatch):
    """Make a release table of one day of publication, 2017-07-14, the project's own."""
    path = folder / "releases.csv"
    header = ",".join(release_table.COLUMNS)
    path.write_text(f"{header}\npublished,2017.7.14,2017-07-14,,no,\n")
    load = release_table.load
    monkeypatch.setattr(release_table, "load", lambda known=path: load(known))
