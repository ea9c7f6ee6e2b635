"""Machines of published results, and the machine that each workbook is about."""

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from deepbench_ops.asv_adapter.machine_entry import LONGEST_NAME
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.storage import reserved_names

# DATE__KIND__DeepBench_MACHINE__REVISION.xlsx; DeepBench's own files have the third part.
NAMED = re.compile(
    r"(?:(?P<date>\d{4}-\d\d-\d\d)__)?(?:[a-z_]+?__)?DeepBench_(?P<machine>.+?)"
    r"(?:_Trg_.*)?(?:__[0-9a-f]{6})?",
)


@dataclass(frozen=True)
class PublishedMachine:
    """One machine: its names here and in workbooks, and its facts for asv and for a profile.

    workbook: "" where none is about it. peaks: FLOP/s by precision, bandwidth: bytes/s, both from
    the data sheet that `source` names; without peaks it says why there are none.
    """

    workbook: str
    name: str
    accelerator: str
    device: str
    arch: str
    cpu: str
    peaks: dict[str, float]
    bandwidth: float | None
    source: str

    def entry(self) -> dict[str, str]:
        """asv's entry of a machine; nothing that changes from one publication to the next."""
        return {
            "accelerator": self.accelerator,
            "arch": self.arch,
            "cpu": self.cpu,
            "machine": self.name,
            "num_cpu": "",
            "os": "",
            "ram": "",
        }

    def profile(self, specs: dict[str, str], date: str) -> Profile:
        """The profile, with the specs that were published last."""
        how = f"data sheet: {self.source}"
        absent: dict[str, float | None] = {"float32": None} if self.source else {}
        known = {**self.peaks} or absent
        peaks = {name: Figure(value, "FLOP/s", how) for name, value in known.items()}
        bandwidth = {} if self.bandwidth is None else {self.device: self.bandwidth}
        return Profile(
            machine=self.name,
            date=date,
            facts=specs,
            peaks={self.device: peaks} if peaks else {},
            bandwidth={name: Figure(value, "bytes/s", how) for name, value in bandwidth.items()},
        )


@cache
def table() -> tuple[PublishedMachine, ...]:
    """Return all machines of the table."""
    with files(__package__).joinpath("published_machines.csv").open(encoding="utf-8") as lines:
        return tuple(_machine(line) for line in csv.DictReader(lines))


def date_in(path: Path) -> str | None:
    """Return the day of publication that a file's name begins with, None without one."""
    named = NAMED.fullmatch(path.stem)
    return named["date"] if named else None


def machines_of(path: Path, sheets: list[str]) -> dict[str, PublishedMachine]:
    """Return the machine of each sheet, by the file's name; {} where it names none.

    One file holds two machines, a sheet each, whose names begin the sheets' names.
    """
    named = NAMED.fullmatch(path.stem)
    if named is None:
        return {}
    by_name = {_plain(each.workbook): each for each in table() if each.workbook}
    whole = by_name.get(_plain(named["machine"]))
    if whole is not None:
        return dict.fromkeys(sheets, whole)
    vendor = named["machine"].split("_")[0]
    found = {}
    for sheet in sheets:
        machine = by_name.get(_plain(vendor + sheet.split("_")[0]))
        if machine is not None:
            found[sheet] = machine
    return found


def named(name: str, specs: dict[str, str], device: str | None = None) -> PublishedMachine:
    """Return the machine of that name in the table, or one made from its specs.

    device: where its kernels ran; None for the device that the specs suggest. Raises DeepbenchError
    for a name that cannot be a folder's, or is that of a file in results/.
    """
    for machine in table():
        if machine.name == name:
            return machine
    if len(name) > LONGEST_NAME:
        raise DeepbenchError(
            f"machine name {name[:20]!r}...: {len(name)} letters, write at most {LONGEST_NAME}"
        )
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise DeepbenchError(f"machine name {name!r}: write letters, digits, '-', '_' and '.'")
    reserved_names.refuse(name)
    accelerator = specs.get("GPU Model", "none")
    return PublishedMachine(
        workbook="",
        name=name,
        accelerator=accelerator,
        device=device or ("cpu" if accelerator == "none" else _device(specs)),
        arch="",
        cpu=specs.get("CPU Model", specs.get("CPU", "")),
        peaks={},
        bandwidth=None,
        source="",
    )


def _device(specs: dict[str, str]) -> str:
    return "rocm" if specs.get("ROCm Version") else "cuda"


def _machine(line: dict[str, str]) -> PublishedMachine:
    peaks = {name: float(line[name]) for name in ("float32", "float16", "int8") if line[name]}
    return PublishedMachine(
        workbook=line["workbook"],
        name=line["name"],
        accelerator=line["accelerator"],
        device=line["device"],
        arch=line["arch"],
        cpu=line["cpu"],
        peaks=peaks,
        bandwidth=float(line["bandwidth"]) if line["bandwidth"] else None,
        source=line["source"],
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
