"""Show the code path that the OpenBLAS of each numpy release chooses on other processors.

    python bench/openblas_core.py --folder FOLDER 26/2/1 25/17/1 25/1/1:no-avx512 1.26.4 2.2.6

OpenBLAS reads the processor's features with the instruction `cpuid` while it is loaded. In a copy
of the library a breakpoint replaces that instruction. Its handler returns another family, model and
stepping, and no AVX-512 if requested; all other features are those of this processor. So the
release's own dispatch runs. Printed is the core that it chooses by itself, and with
OPENBLAS_CORETYPE=Haswell. The processor `here` is this one, with the unchanged library. Needs Linux
on x86-64 with gcc, objdump and Python's pip.
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

HANDLER = r"""
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
static unsigned identity;
static int without;
static void answer(int number, siginfo_t *info, void *context) {
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    unsigned leaf = r[REG_RAX], part = r[REG_RCX], a, b, c, d;
    __cpuid_count(leaf, part, a, b, c, d);
    if (leaf == 1 && identity) a = identity;
    if (leaf == 7 && part == 0 && without) {
        b &= ~(1u << 16 | 1u << 17 | 1u << 21 | 1u << 28 | 1u << 30 | 1u << 31);
        c &= ~(1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14);
        d &= ~(1u << 8);
    }
    if (leaf == 7 && part == 1 && without) a &= ~(1u << 5);
    r[REG_RAX] = a; r[REG_RBX] = b; r[REG_RCX] = c; r[REG_RDX] = d;
}
__attribute__((constructor)) static void install(void) {
    const char *text = getenv("ANSWER_IDENTITY");
    if (text) identity = strtoul(text, 0, 16);
    without = getenv("ANSWER_WITHOUT_AVX512") != 0;
    struct sigaction action = {0};
    action.sa_sigaction = answer;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGTRAP, &action, 0);
}
"""

ASK = """
import ctypes, sys
ctypes.CDLL(sys.argv[1])
library = ctypes.CDLL(sys.argv[2])
for prefix in ("scipy_openblas_", "openblas_"):
    for suffix in ("64_", ""):
        name = getattr(library, f"{prefix}get_corename{suffix}", None)
        if name:
            name.restype = ctypes.c_char_p
            print(name().decode())
            sys.exit()
"""

HERE = "here"

CPUID, BREAKPOINT = b"\x0f\xa2", b"\xcc\x90"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", help="FAMILY/MODEL/STEPPING[:no-avx512] and releases")
    parser.add_argument("--folder", type=Path, required=True, help="folder for wheels and copies")
    given = parser.parse_args()
    processors = [name for name in given.names if "/" in name or name == HERE]
    releases = [name for name in given.names if name not in processors]
    handler = _handler(given.folder)
    print("| numpy | library |", " | ".join(f"{p} | with Haswell set" for p in processors), "|")
    print("|" + "---|" * (2 + 2 * len(processors)))
    for release in releases:
        original = _library(given.folder, release)
        copy = _patched(original)
        cells = [
            _core(handler, original if processor == HERE else copy, processor, setting)
            for processor in processors
            for setting in ("", "Haswell")
        ]
        digest = hashlib.sha1(original.read_bytes()).hexdigest()[:8]
        print(f"| {release} | {_version(original)}, {digest} |", " | ".join(cells), "|", flush=True)


def _handler(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    source, library = folder / "answer.c", folder / "answer.so"
    source.write_text(HANDLER)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return library


def _library(folder: Path, release: str) -> Path:
    """Return the OpenBLAS of a release's wheel for CPython 3.11 and x86-64."""
    place = folder / release
    if not list(place.rglob("*openblas*.so")):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", place]
        command += ["--python-version", "3.11", "--only-binary", ":all:", f"numpy=={release}"]
        subprocess.run(command, check=True)
        with zipfile.ZipFile(next(place.glob("*.whl"))) as wheel:
            for name in wheel.namelist():
                if name.startswith("numpy.libs/"):
                    wheel.extract(name, place)
        next(place.glob("*.whl")).unlink()
    return next(path for path in place.rglob("*openblas*.so") if "patched" not in path.name)


def _patched(library: Path) -> Path:
    """Return a copy whose `cpuid` instructions are breakpoints; other libraries stay next to it."""
    copy = library.with_name(f"patched-{library.name}")
    if copy.exists():
        return copy
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True
    ).stdout
    addresses = [int(at, 16) for at in re.findall(r"^\s*([0-9a-f]+):\s+cpuid", listing, re.M)]
    headers = subprocess.run(["readelf", "-lW", library], capture_output=True, text=True).stdout
    segments = [
        tuple(int(number, 16) for number in line.split()[1:5])
        for line in headers.splitlines()
        if line.strip().startswith("LOAD")
    ]
    content = bytearray(library.read_bytes())
    for address in addresses:
        offset, start = next((o, v) for o, v, _, size in segments if v <= address < v + size)
        place = address - start + offset
        assert content[place : place + 2] == CPUID, hex(address)
        content[place : place + 2] = BREAKPOINT
    copy.write_bytes(content)
    return copy


def _core(handler: Path, library: Path, processor: str, setting: str) -> str:
    identity, _, less = processor.partition(":")
    environ = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    if identity != HERE:
        environ["ANSWER_IDENTITY"] = f"{_leaf(*map(int, identity.split('/'))):x}"
    environ["LD_LIBRARY_PATH"] = str(library.parent)
    if less:
        environ["ANSWER_WITHOUT_AVX512"] = "1"
    if setting:
        environ["OPENBLAS_CORETYPE"] = setting
    command = [sys.executable, "-c", ASK, handler, library]
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    return done.stdout.strip() or f"status {done.returncode}"


def _leaf(family: int, model: int, stepping: int) -> int:
    """Return EAX of cpuid leaf 1. Families from 15 on have an extended part in it."""
    low, extended = min(family, 15), max(family - 15, 0)
    return extended << 20 | (model >> 4) << 16 | low << 8 | (model & 15) << 4 | stepping


def _version(library: Path) -> str:
    found = re.search(rb"OpenBLAS (\d[\w.]*)", library.read_bytes())
    return found[1].decode() if found else "unknown"


if __name__ == "__main__":
    main()
