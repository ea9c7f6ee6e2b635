"""Two hosts with an sshd each, joined by a virtual cable on this machine, for root on Linux.

Users of ssh find them by name, with a key of the folder and without a password.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import network
from network import Host

DAEMON = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
PRIVILEGE_SEPARATION = Path("/run/sshd")
START_SECONDS = 30.0


def why_not() -> str:
    """Return the reason why there can be no such hosts here; "" where there can be."""
    if DAEMON is None:
        return "sshd is missing: apt-get install openssh-server"
    return network.impossible()


class SshHosts:
    """The two hosts; their sshds keep their files in a folder."""

    def __init__(self, folder: Path, hosts: Sequence[Host]) -> None:
        self.folder, self.hosts = folder, tuple(hosts)
        self._daemons: dict[Host, subprocess.Popen[bytes]] = {}
        self.programs = folder / "bin"
        PRIVILEGE_SEPARATION.mkdir(exist_ok=True)
        self._write()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the hosts."""
        return tuple(host.namespace for host in self.hosts)

    @property
    def options(self) -> list[str]:
        """Options of ssh and scp with which they know key and hosts."""
        return ["-F", str(self.folder / "config")]

    @property
    def path(self) -> str:
        """PATH in which `ssh` has these options, for programs that call it without any."""
        return f"{self.programs}:{os.environ['PATH']}"

    def start(self, host: Host) -> None:
        """Start the sshd of a host; it answers then."""
        daemon = [str(DAEMON), "-D", "-f", str(self.folder / "sshd_config")]
        log = ["-E", str(self.folder / f"{host.namespace}.log")]
        self._daemons[host] = subprocess.Popen(
            host.command(*daemon, *log), start_new_session=True, stdin=subprocess.DEVNULL
        )
        until = time.monotonic() + START_SECONDS
        while self.ask(host, "true").returncode:
            assert time.monotonic() < until, (self.folder / f"{host.namespace}.log").read_text()
            time.sleep(0.1)

    def ask(self, host: Host, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command over ssh, from the first host."""
        line = ["ssh", *self.options, "-o", "BatchMode=yes", host.namespace, *command]
        return subprocess.run(
            self.hosts[0].command(*line), capture_output=True, text=True, timeout=60
        )

    def lose(self, host: Host) -> None:
        """Kill all processes of a host."""
        for pid in self.processes(host):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        daemon = self._daemons.pop(host, None)
        if daemon is not None:
            daemon.wait()

    def processes(self, host: Host) -> list[int]:
        """Return the processes in the network of a host."""
        done = network.ip("netns", "pids", host.namespace)
        return [int(pid) for pid in done.stdout.split()]

    def stop(self) -> None:
        """End all processes of both hosts."""
        for host in self.hosts:
            self.lose(host)
            shutil.rmtree(Path("/etc/netns", host.namespace), ignore_errors=True)

    def _write(self) -> None:
        """Write keys, both configurations, names of the hosts, and a `ssh` with the options."""
        for name in ("host", "user"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)]
            subprocess.run(key, check=True)
        daemon = {
            "HostKey": self.folder / "host",
            "AuthorizedKeysFile": self.folder / "user.pub",
            "PidFile": "none",
            "PermitRootLogin": "prohibit-password",
            "StrictModes": "no",
            "UsePAM": "no",
            "Subsystem": "sftp internal-sftp",
            "MaxStartups": "100",
            "SetEnv": f"TMPDIR={self.folder}",
        }
        user = {
            "User": "root",
            "IdentityFile": self.folder / "user",
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": self.folder / "known_hosts",
            "StrictHostKeyChecking": "accept-new",
            "LogLevel": "ERROR",
        }
        for name, values in (("sshd_config", daemon), ("config", user)):
            text = "".join(f"{key} {value}\n" for key, value in values.items())
            (self.folder / name).write_text(text)
        named = "".join(f"{host.address} {host.namespace}\n" for host in self.hosts)
        for host in self.hosts:
            own = Path("/etc/netns", host.namespace)
            own.mkdir(parents=True, exist_ok=True)
            (own / "hosts").write_text(f"127.0.0.1 localhost\n{named}")
        self.programs.mkdir()
        program = self.programs / "ssh"
        real = shutil.which("ssh")
        program.write_text(f'#!/bin/sh\nexec {real} {" ".join(self.options)} "$@"\n')
        program.chmod(0o755)


@contextmanager
def two_ssh_hosts(folder: Path) -> Iterator[SshHosts]:
    """Give two hosts that answer; no process of theirs is left afterwards."""
    with network.two_hosts() as hosts:
        found = SshHosts(folder, hosts)
        try:
            for host in hosts:
                found.start(host)
            yield found
        finally:
            found.stop()
