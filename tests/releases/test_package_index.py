"""Releases on an index page, in both of its forms, and the companions of a day."""

import base64
import datetime
import http.server
import json
import os
import sys
import threading
from types import SimpleNamespace

import pytest
from packaging.tags import Tag
from packaging.version import Version

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import companion_pins, credentials, package_index, pip_settings
from deepbench_ops.releases.package_index import Index, Upload, dated
from deepbench_ops.releases.pip_settings import PipSettings

FILES = [
    Upload("numpy-2.0.0-cp311-cp311-linux_x86_64.whl", "2024-06-16"),
    Upload("numpy-2.0.0-py3-none-any.whl", "2024-06-17"),
    Upload("numpy-2.0.0.tar.gz", "2024-06-15"),
    Upload("numpy-2.0.1-cp310-cp310-linux_x86_64.whl", "2024-07-21"),
    Upload("numpy-2.0.2-py3-none-any.whl", "2024-08-26", yanked=True),
    Upload("numpy-2.1.0rc1-py3-none-any.whl", "2024-08-01"),
    Upload("numpy-2.1.0-py3-none-any.whl", "2024-08-18"),
    Upload("numpy-2.2.0-py3-none-any.whl", ""),
    Upload("numpy-not-a-version.exe", "2006-12-02"),
]
TAGS = frozenset({Tag("cp311", "cp311", "linux_x86_64"), Tag("py3", "none", "any")})


def page_of(files: list[Upload]) -> str:
    """The JSON answer of an index (PEP 691 and 700)."""
    listed = [
        {
            "filename": file.name,
            "url": f"https://example.org/{file.name}",
            "hashes": {},
            "yanked": "broken" if file.yanked else False,
        }
        | ({"upload-time": f"{file.day}T10:00:00Z"} if file.day else {})
        for file in files
    ]
    return json.dumps({"meta": {"api-version": "1.1"}, "name": "numpy", "files": listed})


def links_of(files: list[Upload]) -> str:
    """The page of links of an index that adds the days."""
    return "".join(
        f'<a href="https://example.org/{file.name}#sha256=0"'
        f" {f'data-upload-time={file.day}T10:00:00Z' if file.day else ''}"
        f" {'data-yanked=broken' if file.yanked else ''}>{file.name}</a>"
        for file in files
    )


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A package index on this machine, which pip's settings name by `use`."""
    seen: list[tuple[str, str]] = []
    pages: dict[str, tuple[str, str]] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("Authorization", "")))
            kind, text = pages.get(self.path, ("", ""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args):
            pass

    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def use(text: str) -> None:
        (tmp_path / "pip.conf").write_text(text.format(host=f"127.0.0.1:{serving.server_port}"))

    yield SimpleNamespace(pages=pages, seen=seen, use=use, port=serving.server_port)
    serving.shutdown()
    serving.server_close()
    thread.join()


JSON = "application/vnd.pypi.simple.v1+json"
HTML = "text/html; charset=utf-8"


def test_both_forms_of_an_index_page_say_the_same(server):
    """JSON and HTML answers give the same names, days and withdrawals."""
    server.use("[global]\nindex-url = http://{host}/simple\n")
    server.pages["/simple/numpy/"] = (JSON, page_of(FILES))
    assert FILES == package_index.fetch("numpy")
    server.pages["/simple/numpy/"] = (HTML, links_of(FILES))
    assert FILES == package_index.fetch("numpy")


def test_credentials_of_the_address_are_sent(server, monkeypatch):
    """A mirror's name and password stand in PIP_INDEX_URL, which comes before pip's file."""
    server.use("[global]\nindex-url = http://{host}/elsewhere\n")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://ada:secret@127.0.0.1:{server.port}/simple/")
    server.pages["/simple/ml-dtypes/"] = (JSON, page_of(FILES))
    assert FILES == package_index.fetch("ml_dtypes")
    expected = "Basic " + base64.b64encode(b"ada:secret").decode()
    assert [("/simple/ml-dtypes/", expected)] == server.seen


def test_credentials_of_netrc_are_sent(server, tmp_path):
    """An address without a password gets that of its host."""
    server.use("[global]\nindex-url = http://{host}/simple\n")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ada password netrc-secret\n")
    server.pages["/simple/numpy/"] = (JSON, page_of(FILES))
    package_index.fetch("numpy")
    expected = "Basic " + base64.b64encode(b"ada:netrc-secret").decode()
    assert [expected] == [authorization for _, authorization in server.seen]


def test_extra_indexes_add_their_files(server, tmp_path):
    """Those on this disk too; one without the project adds nothing."""
    folder = tmp_path / "index" / "numpy"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(links_of(FILES[2:3]))
    server.use(
        "[global]\nindex-url = http://{host}/simple\nextra-index-url = http://{host}/extra\n"
        f"    http://{{host}}/empty\n    {folder.parent.as_uri()}\n"
    )
    server.pages["/simple/numpy/"] = (JSON, page_of(FILES[:1]))
    server.pages["/extra/numpy/"] = (HTML, links_of(FILES[1:2]))
    assert FILES[:3] == package_index.fetch("numpy")


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ("[global]\nindex-url = http://{host}/simple\n", "has no numpy: is it spelt right"),
        ("[global]\nindex-url = http://{host}/broken\n", "page of numpy is broken"),
        ("[global]\nindex-url = http://127.0.0.1:9/\n", "cannot be asked for numpy"),
        ("[install]\nno-index = true\n", r"no-index is set\): give --date"),
        ("[global]\ntimeout = soon\n", "invalid floating-point value: 'soon'"),
        ("[global\n", "pip cannot read its configuration"),
    ],
)
def test_an_index_that_gives_no_answer_is_one_line(server, configuration, expected):
    """The line says whether the address, the project or pip's configuration is at fault."""
    server.use(configuration)
    server.pages["/broken/numpy/"] = (JSON, "{")
    with pytest.raises(DeepbenchError, match=expected) as error:
        package_index.fetch("numpy")
    assert "\n" not in str(error.value)


def test_a_refusal_names_the_host_without_the_password(server, monkeypatch):
    """Messages end up in logs that others read."""
    monkeypatch.setattr(
        package_index, "_get", lambda url, settings: SimpleNamespace(status_code=401, headers={})
    )
    monkeypatch.setenv("PIP_INDEX_URL", "http://ada:secret@mirror.example/simple")
    server.use("")
    with pytest.raises(DeepbenchError, match=r"mirror\.example answers 401") as error:
        package_index.fetch("numpy")
    assert "secret" not in str(error.value)


def test_an_address_that_cannot_be_asked_is_named_without_the_password(server, monkeypatch):
    """Also where it is no address at all."""
    monkeypatch.setenv("PIP_INDEX_URL", "htps://ada:s3cret@mirror.example/simple")
    server.use("")
    with pytest.raises(DeepbenchError, match=r"cannot be asked .*//\*\*\*\*@mirror") as error:
        package_index.fetch("numpy")
    assert "s3cret" not in str(error.value)


def test_a_configuration_that_cannot_be_read_is_quoted_without_the_password(server):
    """pip quotes the line at fault."""
    server.use("index-url = https://ada:s3cret@{host}/simple\n")
    with pytest.raises(DeepbenchError, match=r"//\*\*\*\*@127.*: mend it, see `pip config"):
        pip_settings.read()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("git+https://ada:t0ken@host/x.git@v1.0", "git+https://****@host/x.git@v1.0"),
        ("https://t0ken@host:8080/simple", "https://****@host:8080/simple"),
        ("https://ada:pa@ss@host/x", "https://****@host/x"),
        ("https://ada:pa/ss@host/x", "https://****@host/x"),
        ("git+https://host:8080/a/x.git@v1.0", "git+https://host:8080/a/x.git@v1.0"),
        ("git@host:x.git and file:///C:/a@b/ stay", "git@host:x.git and file:///C:/a@b/ stay"),
    ],
)
def test_credentials_are_hidden_and_revisions_stay(address, shown):
    """A revision follows an at sign too."""
    assert shown == credentials.hidden(address)
    assert (address != shown) == credentials.has_any(address)


def test_settings_of_certificates_and_proxies_reach_the_request():
    """A variable comes before the section of the command, and that before the general one."""
    found = pip_settings.settings(
        {
            ":env:.cert": "/of/the/variable",
            "install.cert": "/of/the/command",
            "install.client-cert": "/client",
            "global.client-cert": "/general",
            "global.trusted-host": "mirror.example other:8080",
            "global.proxy": "http://proxy",
            ":env:.default-timeout": "7",
            ":env:.index-url": "",
            "global.index-url": "https://mirror.example/simple",
        }
    )
    expected = PipSettings(
        ("https://mirror.example/simple",),
        "/of/the/variable",
        "/client",
        ("mirror.example", "other:8080"),
        "http://proxy",
        7.0,
    )
    assert expected == found


def test_without_pip_its_variables_count(monkeypatch):
    """As in an environment that uv made."""
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    monkeypatch.setattr(pip_settings, "PIP", [sys.executable, "-S", "-E", "-m", "pip"])
    assert ("https://mirror.example/simple",) == pip_settings.read().urls[:1]


def test_releases_are_those_that_install_here_dated_by_their_first_wheel():
    """Candidates, other Pythons, withdrawn and undated files do not count, nor do archives."""
    expected = {
        Version("2.0.0"): datetime.date(2024, 6, 16),
        Version("2.1.0"): datetime.date(2024, 8, 18),
    }
    assert expected == dated(FILES, TAGS)


def served(monkeypatch, projects):
    """Let the index hold these projects: of each, days by version."""
    pages = {
        name: [Upload(f"{name}-{v}-py3-none-any.whl", day) for v, day in days.items()]
        for name, days in projects.items()
    }
    monkeypatch.setattr(package_index, "fetch", pages.__getitem__)


def test_companions_are_those_of_the_day(monkeypatch):
    """The companions of a release are the newest of its day, below a ceiling if there is one."""
    served(
        monkeypatch,
        {
            "numpy": {"1.26.4": "2024-02-05", "2.0.0": "2024-06-16", "2.1.0": "2024-08-18"},
            "onnx": {"1.16.0": "2024-03-25", "1.17.0": "2024-10-01"},
            "protobuf": {"5.27.0": "2024-05-22"},
        },
    )
    for day, numpy in (("2024-08-20", "1.26.4"), ("2024-09-03", "2.1.0")):
        row = companion_pins.row(
            "onnxruntime", Version("1.19.0"), datetime.date.fromisoformat(day), Index()
        )
        assert (f"numpy=={numpy}", "onnx==1.16.0", "protobuf==5.27.0") == row.pins
        assert ("onnxruntime-1.19.0", True) == (row.name, row.on_request)


def test_a_ceiling_without_an_end_stands(monkeypatch):
    """MindSpore is built for numpy 1, and no last version is known."""
    served(monkeypatch, {"numpy": {"1.26.4": "2024-02-05", "2.4.6": "2026-05-01"}})
    row = companion_pins.row("mindspore", Version("3.0.0"), datetime.date(2030, 1, 1), Index())
    assert ("numpy==1.26.4",) == row.pins


def test_jaxlib_is_the_highest_of_the_same_minor_that_is_not_above(monkeypatch):
    """jax sometimes comes out without a jaxlib; without any of its minor it has no row."""
    of_jaxlib = dict.fromkeys(("0.4.20", "0.4.23", "0.5.0"), "2023-11-01")
    others = {name: {"1.0": "2023-01-01"} for name in ("numpy", "scipy", "ml_dtypes")}
    served(monkeypatch, {"jaxlib": of_jaxlib, **others})
    day = datetime.date(2023, 12, 1)
    assert "jaxlib==0.4.20" == companion_pins.row("jax", Version("0.4.22"), day, Index()).pins[0]
    for alone in ("0.4.19", "0.4.26", "0.6.0"):
        assert companion_pins.row("jax", Version(alone), day, Index()) is None


def test_an_index_without_upload_times_is_reported(monkeypatch):
    """A date must come from somewhere."""
    monkeypatch.setattr(
        package_index, "fetch", lambda project: [Upload("jax-1-py3-none-any.whl", "")]
    )
    index = Index()
    for _ in range(2):  # the second time as the first
        with pytest.raises(DeepbenchError, match="no upload times for jax: give --date"):
            index.releases("jax")


@pytest.mark.parametrize(
    ("stated", "day"),
    [
        ("2024-03-01T00:00:00Z", "2024-03-01"),
        ("1709251200", "2024-03-01"),
        ("1709251200.5", "2024-03-01"),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_mirrors_write_upload_times_as_dates_or_seconds(stated, day):
    """Any other text counts as none, since a release has one day or no row."""
    page = f'<a href="jax-1-py3-none-any.whl" data-upload-time="{stated}">jax</a>'
    assert [Upload("jax-1-py3-none-any.whl", day)] == package_index.linked(page.encode())
