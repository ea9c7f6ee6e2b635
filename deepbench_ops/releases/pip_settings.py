"""pip's settings of where packages come from: its configuration files and its variables.

They are read by `pip config list`. Where there is no pip next to this Python, as in environments
made by uv, pip's variables (``PIP_INDEX_URL`` ...) count alone.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import credentials

PYPI = "https://pypi.org/simple"
TIMEOUT = 60.0
"""Seconds to wait for an answer where pip's settings say nothing."""
SECTIONS = (":env:", "install", "global")
"""Sections of pip's configuration for an install, the one that counts first first."""
PIP = (sys.executable, "-m", "pip")
TRUE = ("1", "true", "yes", "y", "on", "t")


@dataclass(frozen=True)
class PipSettings:
    """Addresses of the package indexes, and how to reach them.

    urls: the index and the extra ones, credentials included; none where pip may ask no index.
    certificates, client_certificate: files, "" for the usual ones. trusted: hosts, with their
    port or without, whose certificate is not checked. proxy: address, "" for the environment's.
    timeout: seconds.
    """

    urls: tuple[str, ...] = (PYPI,)
    certificates: str = ""
    client_certificate: str = ""
    trusted: tuple[str, ...] = ()
    proxy: str = ""
    timeout: float = TIMEOUT


def read() -> PipSettings:
    """Return the settings of this machine's pip.

    Raises DeepbenchError where pip cannot read its own configuration.
    """
    return settings(_listed())


def settings(options: Mapping[str, str]) -> PipSettings:
    """Return the settings in options by name, such as ``global.index-url``.

    Raises DeepbenchError for a timeout that is no number.
    """

    def value(*names: str) -> str:
        keys = (f"{section}.{name}" for section in SECTIONS for name in names)
        return next((options[key] for key in keys if options.get(key)), "")

    urls = (value("index-url") or PYPI, *value("extra-index-url").split())
    timeout = value("timeout", "default-timeout")
    try:
        seconds = float(timeout) if timeout else TIMEOUT
    except ValueError:
        raise DeepbenchError(f"pip's timeout is {timeout!r}: write seconds") from None
    return PipSettings(
        urls=() if value("no-index").lower() in TRUE else tuple(dict.fromkeys(urls)),
        certificates=value("cert"),
        client_certificate=value("client-cert"),
        trusted=tuple(value("trusted-host").split()),
        proxy=value("proxy"),
        timeout=seconds,
    )


def _listed() -> dict[str, str]:
    """Return pip's options by section and name."""
    done = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False)
    if not done.returncode:
        return parse(done.stdout)
    if "No module named pip" in done.stderr:
        return of_variables(os.environ)
    lines = f"{done.stdout}\n{done.stderr}".strip().splitlines() or ["it gives no reason"]
    reason = credentials.hidden(lines[-1].removeprefix("ERROR: "))
    raise DeepbenchError(
        f"pip cannot read its configuration: {reason}: mend it, see `pip config debug`"
    )


def parse(text: str) -> dict[str, str]:
    """Return the options that `pip config list` prints, a line ``section.name='value'`` each."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {name: str(ast.literal_eval(value)) for name, value in pairs}


def of_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the options in pip's environment variables, under the names that pip gives them."""
    return {
        f":env:.{name.removeprefix('PIP_').lower().replace('_', '-')}": value
        for name, value in environ.items()
        if name.startswith("PIP_")
    }
