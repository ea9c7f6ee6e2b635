"""Values computed from a machine's results, stored until the results or the code change."""

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from deepbench_ops.storage import input_digest
from deepbench_ops.storage import json_cache as cache_file

NAME = re.compile(r"[0-9a-f]{16}(\.\w+)?|\.[0-9a-f]{16}\.\w+\.unfinished")
"""Name of a file of the cache, also of an unfinished one."""

Value = TypeVar("Value")


@dataclass
class MachineCache(Generic[Value]):
    """Computed values, one file for each machine.

    key: everything else on which the values depend, apart from the machine's files and the code.
    encode, decode: conversion of a value to JSON types and back. `decode` raises LookupError,
    TypeError, ValueError or AttributeError for JSON that encodes no such value.
    """

    folder: Path
    key: str = ""
    encode: Callable[[Value], Any] = lambda value: value
    decode: Callable[[Any], Value] = lambda value: value
    used: set[str] = field(default_factory=set)
    """File names of all machines whose value was requested."""
    new: dict[str, tuple[str, Value]] = field(default_factory=dict)
    """New values by file name: digest of the inputs, and the value."""

    def value(self, machine: Path, compute: Callable[[], Value]) -> Value:
        """Return the value of a machine's folder of results, from its file or from `compute`.

        `compute` is called if there is no file with a valid value.
        """
        name = hashlib.blake2b(machine.name.encode(), digest_size=8).hexdigest()
        digest = input_digest.of_machine(machine, self.key)
        self.used.add(name)
        found = cache_file.read(self.folder / name, digest)
        if found is not None:
            with suppress(LookupError, TypeError, ValueError, AttributeError):
                return self.decode(found)
        computed = compute()
        self.new[name] = digest, computed
        return computed

    def write(self) -> None:
        """Store the new values and remove the files of machines whose value was not requested.

        Values are encoded only now, so that properties computed in the meantime are stored too.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, (digest, computed) in self.new.items():
            cache_file.write(self.folder / name, self.encode(computed), digest)
        for path in self.folder.iterdir():
            if NAME.fullmatch(path.name) and path.name not in self.used:
                path.unlink(missing_ok=True)
