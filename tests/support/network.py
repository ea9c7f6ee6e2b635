"""Two hosts on one machine: network namespaces joined by a virtual cable, for root on Linux."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """One end of the cable. `command` wraps a command so that it runs there."""

    namespace: str
    interface: str
    address: str

    def command(self, *arguments: str) -> list[str]:
        """The command in this host's network, under a host name of its own."""
        rename = f'hostname {self.namespace}; exec "$@"'
        inside = ["unshare", "--uts", "sh", "-c", rename, "sh", *arguments]
        return ["ip", "netns", "exec", self.namespace, *inside]


def impossible() -> str:
    """Why there can be no such hosts here, "" where there can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("ip", "unshare"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    trial = f"deepbench{os.getpid()}"
    done = ip("netns", "add", trial)
    ip("netns", "del", trial)
    return f"no network namespaces here: {done.stderr.strip()}" if done.returncode else ""


@contextmanager
def two_hosts() -> Iterator[tuple[Host, Host]]:
    """Lay the cable, and take everything away again in the end."""
    number = os.getpid() % 10_000
    hosts = tuple(
        Host(f"deepbench{number}{side}", f"db{number}{side}", f"10.231.7.{last}")
        for last, side in enumerate("ab", 1)
    )
    try:
        for host in hosts:
            demand("netns", "add", host.namespace)
        first, second = hosts
        cable = ("type", "veth", "peer", "name", second.interface, "netns", second.namespace)
        demand("link", "add", first.interface, "netns", first.namespace, *cable)
        for host in hosts:
            inside = ("-n", host.namespace)
            demand(*inside, "addr", "add", f"{host.address}/24", "dev", host.interface)
            demand(*inside, "link", "set", host.interface, "up")
            demand(*inside, "link", "set", "lo", "up")
        yield first, second
    finally:
        for host in hosts:
            ip("netns", "del", host.namespace)


def cut(host: Host) -> None:
    """Pull the cable out at this host."""
    demand("-n", host.namespace, "link", "set", host.interface, "down")


def demand(*arguments: str) -> None:
    """Run `ip`, and fail with its own word where it fails."""
    done = ip(*arguments)
    assert not done.returncode, f"ip {' '.join(arguments)}: {done.stderr}"


def ip(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run `ip`."""
    command: Sequence[str] = ["ip", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30)
