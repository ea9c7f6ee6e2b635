"""Values computed from a machine's results, stored until these, the code or plugins change."""

import hashlib
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, starmap
from pathlib import Path
from typing import Any, Generic, TypeVar

from deepbench_ops.pages.forked_writing import divided
from deepbench_ops.releases import plugin_digest
from deepbench_ops.storage import compression, ensemble_round_files, input_digest, machine_files
from deepbench_ops.storage import json_cache as cache_file

NAME = re.compile(r"[0-9a-f]{16}(\.\w+)?|\.[0-9a-f]{16}\.\w+\.unfinished")
"""Name of a file of the cache, also of an unfinished one."""

RECORDS, ROUNDS = 15, 60
"""How many times as long a byte of compressed records, and of rounds of ensembles, takes as a byte
of a result: in results/ 0.5, 2 and 0.035 s per MB."""

Value = TypeVar("Value")
Derived = TypeVar("Derived")


@dataclass
class MachineCache(Generic[Value]):
    """Computed values, one file for each machine.

    key: everything else on which the values depend, apart from the machine's files, the code and
    the plugins, whose families and frameworks the values have.
    encode, decode: conversion of a value to JSON types and back. `decode` raises LookupError,
    TypeError, ValueError or AttributeError for JSON that encodes no such value.
    """

    folder: Path
    key: str = ""
    encode: Callable[[Value], Any] = lambda value: value
    decode: Callable[[Any], Value] = lambda value: value
    plugins: str = field(default_factory=plugin_digest.of_plugins)
    digests: dict[Path, str] = field(default_factory=dict)
    """Digest of the inputs of each machine whose value was requested."""
    new: list[tuple[Path, Value]] = field(default_factory=list)
    """Machines with their new values, which are not stored yet."""

    def values(
        self, machines: Iterable[Path], compute: Callable[[Path], Value]
    ) -> dict[Path, Value]:
        """Return the value of each machine's folder of results, from its file or from `compute`.

        `compute` is called for machines without a file that has a valid value. If these are
        several, a fork computes and stores the values of some of them.
        """
        machines = list(machines)
        stored = {machine: self._stored(machine) for machine in machines}
        found = {machine: value for machine, value in stored.items() if value is not None}
        missing = by_work(machine for machine in machines if machine not in found)

        def store(machine: Path) -> None:
            computed = compute(machine)
            with suppress(OSError):  # then it is computed again
                self._write(machine, computed)

        with divided(missing[1:], store) as rest:
            ours = chain(missing[:1], rest)  # values of the fork are read from its files
            computed = {machine: compute(machine) for machine in ours}
        for machine in missing:
            if machine not in computed:
                value = self._stored(machine)
                if value is None:  # the disk is full
                    value = computed[machine] = compute(machine)
                found[machine] = value
        self.new += computed.items()
        found |= computed
        return {machine: found[machine] for machine in machines}

    def derived(
        self, folder: str, key: Callable[[str], str], decode: Callable[[Any], Derived]
    ) -> "MachineCache[Derived]":
        """Return a cache of JSON values made from those of the same machines, in a folder below.

        key: function that returns, for the name of a machine, everything else on which its value
        depends, apart from that on which these values depend. decode: as in the class.
        """
        digests = {
            machine: f"{digest} {key(machine.name)}" for machine, digest in self.digests.items()
        }
        return MachineCache(self.folder / folder, decode=decode, digests=digests)

    def value(self, name: str, compute: Callable[[], Value]) -> Value:
        """Return the value of a machine in `digests`, from its file or from `compute`.

        A computed value is stored at once.
        """
        (machine,) = (each for each in self.digests if each.name == name)
        found = self._stored(machine)
        if found is None:
            found = compute()
            with suppress(OSError):  # then it is computed again
                self._write(machine, found)
        return found

    def _stored(self, machine: Path) -> Value | None:
        """The value of a machine's file; None if there is no valid one."""
        if machine not in self.digests:
            key = f"{input_digest.of_program()} {self.plugins} {self.key}"
            self.digests[machine] = input_digest.of_machine(machine, key)
        found = cache_file.read(self.folder / _name(machine), self.digests[machine])
        with suppress(LookupError, TypeError, ValueError, AttributeError):
            return None if found is None else self.decode(found)
        return None

    def write(self) -> None:
        """Store the new values and remove the files of machines whose value was not requested.

        Those that a fork has computed are stored already.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for machine, computed in self.new:
            self._write(machine, computed)
        used = set(map(_name, self.digests))
        for path in self.folder.iterdir():
            if NAME.fullmatch(path.name) and path.name not in used:
                path.unlink(missing_ok=True)

    def _write(self, machine: Path, value: Value) -> None:
        cache_file.write(self.folder / _name(machine), self.encode(value), self.digests[machine])


def by_work(machines: Iterable[Path]) -> list[Path]:
    """Return the folders of machines, those first whose values take longest to compute."""
    work = {each: sum(starmap(_work, machine_files.sizes(each).items())) for each in machines}
    return sorted(work, key=work.__getitem__, reverse=True)


def _work(path: Path, size: int) -> int:
    """Work that a file of so many bytes makes, in that of a byte of a result."""
    of_rounds = path.parent.name == ensemble_round_files.FOLDER
    packed = path.name.endswith(compression.ENDING)
    return size * (ROUNDS if of_rounds else RECORDS if packed else 1)


def _name(machine: Path) -> str:
    """Name of the file of a machine."""
    return hashlib.blake2b(machine.name.encode(), digest_size=8).hexdigest()
