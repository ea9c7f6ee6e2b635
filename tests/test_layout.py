"""The layout axis: what it changes, and that nothing changes where nobody asked for it."""

from pathlib import Path

import pytest
from asv.config import Config
from asv.environment import get_environments
from asv.util import UserError

from deepbench_ops.backends import check
from deepbench_ops.backends.numpy_backend import NumpyBackend
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.measure import kernel_run
from deepbench_ops.problems import FAMILIES, load
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.releases import config
from deepbench_ops.releases.environment import ReleaseEnvironment

ROOT = Path(config.__file__).parents[2]
PUBLISHED = "release-py3-DEEPBENCH_CACHEwarm-DEEPBENCH_DEVICEcpu"
CONDITIONS = {"DEEPBENCH_CACHE": "warm", "DEEPBENCH_DEVICE": "cpu"}


def environments(tmp_path, **more):
    """Name and variables of every environment that asv makes of the project's configuration."""
    values = config.load(ROOT / "asv.conf.json")
    values["matrix"]["env_nobuild"] |= more
    values |= {"repo": str(ROOT / values["repo"]), "env_dir": str(tmp_path)}
    found = list(get_environments(Config.from_json(values), None))
    assert {ReleaseEnvironment} == {type(one) for one in found}
    return [(one.name, one.env_vars) for one in found]


def test_results_of_the_published_layout_keep_their_names(tmp_path):
    """The axis is not in the configuration, and the committed results are named without it."""
    assert [(PUBLISHED, CONDITIONS)] == environments(tmp_path)
    committed = {path.stem.partition("-")[2] for path in ROOT.glob("results/*/*-*.json")}
    assert PUBLISHED in committed


def test_the_axis_as_the_configuration_explains_it(tmp_path):
    """null and channels_last give the old name, with its old variables, and a new one."""
    text = (ROOT / "asv.conf.json").read_text()
    assert '"DEEPBENCH_LAYOUT": [null, "channels_last"]' in text
    found = environments(tmp_path, DEEPBENCH_LAYOUT=[None, "channels_last"])
    assert (PUBLISHED, CONDITIONS) in found
    added = dict(found)[PUBLISHED + "-DEEPBENCH_LAYOUTchannels_last"]
    assert CONDITIONS | {"DEEPBENCH_LAYOUT": "channels_last"} == added
    assert 2 == len(found)


def test_a_layout_from_the_shell_alone_is_refused(tmp_path, monkeypatch):
    """Its results would bear the name of the published layout's, so it must be an axis."""
    monkeypatch.setenv("DEEPBENCH_LAYOUT", "channels_last")
    with pytest.raises(UserError, match=r"DEEPBENCH_LAYOUT is set to 'channels_last'.*add .* to"):
        environments(tmp_path)
    added = environments(tmp_path, DEEPBENCH_LAYOUT=["channels_last"])
    assert [PUBLISHED + "-DEEPBENCH_LAYOUTchannels_last"] == [name for name, _ in added]


def test_layout_is_published_unless_the_environment_says_otherwise(monkeypatch):
    """Unset means as published, and a misspelt layout is refused with those that exist."""
    monkeypatch.delenv("DEEPBENCH_LAYOUT", raising=False)
    assert "published" == kernel_run.layout()
    monkeypatch.setenv("DEEPBENCH_LAYOUT", "channels_last")
    assert "channels_last" == kernel_run.layout()
    monkeypatch.setenv("DEEPBENCH_LAYOUT", "nhwc")
    with pytest.raises(DeepbenchError, match="'nhwc': one of published, channels_last"):
        kernel_run.layout()


def test_what_has_no_such_layout_is_skipped_with_the_reason():
    """Only convolutions can lie channels-last; others say so instead of ignoring it."""
    assert ["conv"] == [f for f in FAMILIES if "channels_last" in load(f)[0].layouts]
    backend = NumpyBackend()
    backend.layout = "channels_last"
    with pytest.raises(Unsupported, match="gemm problems have no channels_last layout"):
        backend.build(Gemm(m=3, n=4, k=5), "float32")


def test_a_check_of_one_layout_does_not_vouch_for_another():
    """What is remembered of a passed check tells the layouts apart."""
    problem, backend = load("conv")[0], NumpyBackend()
    published = check.kind_of(backend, problem, "float32", "forward")
    backend.layout = "channels_last"
    assert published != check.kind_of(backend, problem, "float32", "forward")
