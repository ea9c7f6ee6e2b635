"""The release table: releases of frameworks, with their dates and companions.

A release's hash is made from its own requirement and nothing else. Rows can therefore be added,
moved or corrected without touching anything that was measured under another row.

The dates are the days on which the package index received the release;
`releases/package_index.py` asks for them.

A framework of another distribution brings its own rows, in a table next to its kernels.
"""

import csv
import datetime
import hashlib
import io
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from functools import cache, cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from packaging.version import InvalidVersion, Version

from deepbench_ops import damage_reports
from deepbench_ops.backends import NAMES, framework_list
from deepbench_ops.errors import PLUGIN_FAULTS, DeepbenchError, one_line
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.releases import credentials
from deepbench_ops.storage import atomic_write, bounded_read, locks
from deepbench_ops.storage.csv_text import csv_text

TABLE = Path(__file__).with_name("releases.csv")
COLUMNS = ("framework", "version", "date", "pins", "on_request", "index")
PUBLISHED = "published"
"""Stands in place of a framework for figures that others have published: a version is a day."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._]*(?:-[A-Za-z0-9._]+)*")
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*")


@dataclass(frozen=True)
class Release:
    """One released version of one framework, with the companions that it is measured with."""

    framework: str
    version: str
    date: datetime.date
    pins: tuple[str, ...] = ()
    on_request: bool = False
    """A large install: measured only on request."""
    index: str = ""
    """A further package index that holds this release; empty for pip's own configuration."""

    def __hash__(self) -> int:
        return hash(self.hash)

    @cached_property
    def recency(self) -> tuple[datetime.date, Version, str]:
        """The place among a framework's releases, the newest last: by day, those of one day by
        version, those without one (commits) by name."""
        try:
            version = Version(self.version)
        except InvalidVersion:
            version = Version("0")
        return self.date, version, self.name

    @property
    def milliseconds(self) -> int:
        """Midnight UTC of the release's day, as asv and JavaScript count dates."""
        day = datetime.datetime.combine(self.date, datetime.time(), tzinfo=datetime.UTC)
        return int(day.timestamp()) * 1000

    @cached_property
    def measurable(self) -> bool:
        """Whether it can be installed and measured here."""
        return not self.why_not_measured

    @property
    def why_not_measured(self) -> str:
        """Reason why it can be shown and compared, but not measured; "" where it can be."""
        if self.framework == PUBLISHED:
            return f"{self.name} stands for figures that others have published"
        if self.framework not in NAMES:
            return f"no installed package brings the framework {self.framework}"
        return ""

    @property
    def name(self) -> str:
        """The tag people type, such as ``numpy-1.26.4``."""
        return f"{self.framework}-{self.version}"

    @property
    def requirement(self) -> str:
        """The requirement for pip, such as ``numpy==1.26.4``."""
        return f"{self.framework}=={self.version}"

    @cached_property
    def hash(self) -> str:
        """The commit hash asv files results under: 40 hexadecimal digits of the requirement."""
        return hashlib.sha1(self.requirement.encode()).hexdigest()


def publication_of(day: datetime.date) -> Release:
    """The release that stands for all figures published on a day, such as published-2017.7.14."""
    return Release(PUBLISHED, f"{day.year}.{day.month}.{day.day}", day)


def framework_and_version(name: str) -> tuple[str, str]:
    """Return the parts of a release's name, such as numpy and 1.26.4; "" as the framework of a name
    that has none."""
    framework, _, version = name.rpartition("-")
    return framework, version


def append(path: Path, releases: Iterable[Release]) -> int:
    """Add the rows that a table lacks, all or none; return their number.

    A table that is missing is made. Raises DeepbenchError for a row that could not be read again.
    """
    with locks.writing(path.parent, doing=f"adding to {path.name}"):
        known = {release.hash for release in load(path)} if path.exists() else set()
        new = {each.hash: each for each in releases if each.hash not in known}.values()
        if not new:
            return 0
        header = [] if path.exists() else [COLUMNS]
        old = path.read_bytes() if path.exists() else b""
        end = b"" if not old or old.endswith(b"\n") else b"\n"
        content = old + end + csv_text([*header, *map(_cells, new)]).encode()
        _parsed(path, content)
        atomic_write.write_bytes(path, content)
        return len(new)


def _cells(release: Release) -> tuple[str, ...]:
    """Return a release as a row of the table."""
    asked = "yes" if release.on_request else "no"
    day, pins = release.date.isoformat(), " ".join(release.pins)
    return release.framework, release.version, day, pins, asked, release.index


def find(name: str, releases: Iterable[Release]) -> Release:
    """Return the release of that name; DeepbenchError, with the nearest names, for none."""
    by_name = {release.name: release for release in releases}
    if name not in by_name:
        raise unknown("release", name, by_name)
    return by_name[name]


def measurable(path: Path = TABLE) -> list[Release]:
    """Return the listed releases that can be measured, oldest first: no published figures."""
    return [release for release in with_plugins(load(path)) if release.measurable]


def with_plugins(releases: Iterable[Release]) -> tuple[Release, ...]:
    """Return a timeline with the rows that other distributions bring; a row that `releases` hold
    already stays as it is there."""
    listed = list(releases)
    known = {_place(release) for release in listed}
    return timeline([*listed, *(each for each in of_plugins()[0] if _place(each) not in known)])


def differing(releases: Iterable[Release]) -> list[str]:
    """Return a line for each row of another distribution that differs from that in `releases`."""
    listed = {_place(release): release for release in releases}
    distributions = {each.name: each.distribution for each in framework_list.found()[0].values()}
    return [
        f"{distributions[row.framework]}: its release {row.name} is in the release table with other"
        f" values, which are used: remove that row to use those of the distribution"
        for row in of_plugins()[0]
        if (other := listed.get(_place(row))) is not None and astuple(other) != astuple(row)
    ]


def _place(release: Release) -> tuple[str, Version]:
    return release.framework, Version(release.version)


@cache
def of_plugins() -> tuple[tuple[Release, ...], tuple[str, ...]]:
    """Return the rows of the frameworks of other distributions, and a line for each table that
    cannot be used."""
    found: list[Release] = []
    faults = []
    for framework in framework_list.found()[0].values():
        tables = [] if framework.own else _tables(framework.package)
        try:
            for path in tables:
                found += _of_framework(framework.name, path)
        except PLUGIN_FAULTS as fault:
            where = f"{framework.distribution}: the releases of {framework.name}"
            faults.append(f"{where} cannot be used: {one_line(fault)}")
    return tuple(found), tuple(faults)


def _tables(package: str) -> list[Path]:
    """Return the release tables in a package, in each folder of one without an __init__.py."""
    paths = (Path(folder) / TABLE.name for folder in import_module(package).__path__)
    return [path for path in paths if path.exists()]


def _of_framework(name: str, path: Path) -> tuple[Release, ...]:
    """Read the table of one framework; DeepbenchError for a row of another."""
    rows = load(path)
    for row in rows:
        if row.framework != name:
            raise DeepbenchError(f"{path} lists {row.name}, which is no release of {name}")
    return rows


def load(path: Path = TABLE) -> tuple[Release, ...]:
    """Read a release table into a timeline, oldest first.

    Raises
    ------
    DeepbenchError
        The file cannot be read, a column is missing, or a row is wrong; the text names the
        file, the line, the value and the mend.
    """
    try:
        content = bounded_read.read_bytes(path, bounded_read.SMALL)
    except OSError as error:
        raise DeepbenchError(
            f"{path}: {error.strerror}: set `repo` in asv.conf.json to the release table"
        ) from None
    return _parsed(path, content)


@lru_cache(maxsize=4)
def _parsed(path: Path, content: bytes) -> tuple[Release, ...]:
    """Return the timeline that the content of a table gives; asv asks for it several times a run.

    Raises DeepbenchError as `load` does.
    """
    try:
        rows = csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""), strict=True)
        _check_header(path, rows.fieldnames)
        releases = _read(path, rows)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DeepbenchError(f"{path} is not a CSV file in UTF-8 ({error})") from None
    if not releases:
        raise DeepbenchError(f"{path} lists no release: add a row")
    return timeline(releases)


def timeline(releases: list[Release]) -> tuple[Release, ...]:
    """Order releases so that each framework runs by version and frameworks mix by date.

    A patch of an old minor that came out after a newer minor stays before it: on its framework's
    line, newer means a higher version.
    """
    keyed = []
    for framework in {release.framework for release in releases}:
        ours = [release for release in releases if release.framework == framework]
        day = datetime.date.min
        for release in sorted(ours, key=lambda release: Version(release.version)):
            day = max(day, release.date)
            keyed.append(((day, framework, Version(release.version)), release))
    return tuple(release for _, release in sorted(keyed, key=lambda item: item[0]))


def _check_header(path: Path, found: object) -> None:
    header = tuple(found) if isinstance(found, list | tuple) else ()
    if header != COLUMNS:
        raise DeepbenchError(
            f"{path}, line 1: the columns are {','.join(header)!r}: write {','.join(COLUMNS)!r}"
        )


def _read(path: Path, rows: "csv.DictReader[str]") -> list[Release]:
    lines: dict[tuple[str, Version], int] = {}
    releases: list[Release] = []
    for row in rows:
        where = f"{path}, line {rows.line_num}"
        if None in row or None in row.values():
            raise DeepbenchError(f"{where}: a row needs exactly {len(COLUMNS)} cells")
        release = _release(where, {column: cell.strip() for column, cell in row.items()})
        key = (release.framework, Version(release.version))
        if key in lines:
            raise DeepbenchError(
                f"{where}: {release.name} is already on line {lines[key]}: remove one of the two"
            )
        lines[key] = rows.line_num
        if release.framework not in {*NAMES, PUBLISHED, *(each.framework for each in releases)}:
            _warn_of(release, where)
        releases.append(release)
    return releases


def _warn_of(release: Release, where: str) -> None:
    """Warn once for each table that rows of a framework that is not installed stay."""
    damage_reports.report(
        f"{where}: {release.why_not_measured}: its releases are shown, but not measured; install"
        f" that package, or write one of {', '.join(NAMES)}",
        damaged=False,
    )


def _release(where: str, row: dict[str, str]) -> Release:
    if not NAME.fullmatch(row["framework"]):
        known = ", ".join((*NAMES, PUBLISHED))
        raise DeepbenchError(
            f"{where}: {row['framework']!r} is no framework's name: write one of {known}"
        )
    if row["on_request"] not in ("yes", "no"):
        raise DeepbenchError(f"{where}: on_request is {row['on_request']!r}: write yes or no")
    return Release(
        framework=row["framework"],
        version=_version(where, row["version"]),
        date=_date(where, row["date"]),
        pins=_pins(where, row["pins"]),
        on_request=row["on_request"] == "yes",
        index=_index(where, row["index"]),
    )


def _version(where: str, text: str) -> str:
    try:
        plain = str(Version(text))
    except InvalidVersion:
        raise DeepbenchError(f"{where}: version is {text!r}: write it like 2.13.0") from None
    if text != plain:
        raise DeepbenchError(f"{where}: version is {text!r}: write {plain!r}")
    return text


def _date(where: str, text: str) -> datetime.date:
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise DeepbenchError(f"{where}: date is {text!r}: write it as YYYY-MM-DD") from None


def _pins(where: str, text: str) -> tuple[str, ...]:
    for pin in text.split():
        demand_exact(where, pin)
    return tuple(text.split())


def demand_exact(where: str, pin: str) -> None:
    """Raise DeepbenchError, naming the place `where`, for a pin unlike scipy==1.10.1."""
    if not PIN.fullmatch(pin):
        raise DeepbenchError(f"{where}: pin {pin!r} is not exact: write it like scipy==1.10.1")


def _index(where: str, text: str) -> str:
    if text:
        demand_url(where, text)
    return text


def demand_url(where: str, text: str) -> None:
    """Raise DeepbenchError, naming the place `where`, for a text that is no URL of an index, or one
    with credentials, which a table that others read must not have."""
    shown = repr(credentials.hidden(text))
    if credentials.has_any(text):
        raise DeepbenchError(
            f"{where}: index is {shown}: leave out its name and password, and write them into"
            " ~/.netrc or pip.conf"
        )
    try:
        parts = urlsplit(text)
    except ValueError:  # of an address such as https://[::1
        parts = urlsplit("")
    place = parts.path if parts.scheme == "file" else parts.hostname
    if parts.scheme not in ("https", "http", "file") or not place or re.search(r"\s", text):
        raise DeepbenchError(f"{where}: index is {shown}: write the URL of a package index")
