"""Our own pages with more than kernels under usual conditions: other conditions, whole models,
published figures."""

import math
from pathlib import Path
from typing import Any

import published_site
import pytest
from browsing import column, column_of, heat_of_releases, rows, series

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def more(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("more")
    published_site.write_table(folder / "releases.csv", published_site.OLD)
    published_site.write_results(folder / "results")
    published_site.write_more(folder / "results")
    return published_site.published(folder)


def test_a_line_under_other_conditions_says_so(more: Path, opened: Any) -> None:
    """The timeline, the table of a release and the heatmap, in a separate row, name the
    conditions."""
    page = opened(more, "timeline#machine=lab-1&family=gemm&framework=torch")
    assert {"usual", "channels_last"} == set(column(page, "#table", "conditions"))
    assert "channels_last" not in page.inner_text("#summary")
    page = opened(more, "release#release=torch-2.5.1&machine=lab-1")
    kernels = page.inner_text("#kernels table")
    assert 1 == kernels.count("training, m1760_n128_k1760_NN, channels_last")
    page = opened(more, f"release#release=torch-2.5.1&machine={published_site.TWO_DEVICES}")
    assert 1 == page.inner_text("#kernels table").count("training, m1760_n128_k1760_NN, cuda")
    page = opened(more, "compare#side=lab-1@numpy&side=lab-1@torch&framework=torch")
    heat = heat_of_releases(page)
    assert 4 == len({row[0] for row in heat})
    (row,) = [row for row in heat if "m1760_n128_k1760_NN, channels_last, training" in row[0]]
    assert "1.5\u00d7" == row[-1]


def test_a_kernel_without_its_data_in_the_cache_is_compared_as_such(
    more: Path, opened: Any
) -> None:
    """The same problem in a cold and in a warm cache is two kernels."""
    page = opened(more, "compare#side=lab-1@numpy-2.1.3&side=lab-1@numpy-2.2.6")
    names = [text.splitlines()[-1] for text in column(page, "#kernels", "problem")]
    ratios = dict(zip(names, rows(page, "#kernels"), strict=True))
    at = column_of(page, "#kernels", "other compared with first")
    assert "1.5\u00d7 slower" == ratios["m1760_n128_k1760_NN, cold"][at]
    assert "1.01\u00d7 faster" == ratios["m1760_n128_k1760_NN"][at]


def test_means_of_a_comparison_are_of_usual_conditions(more: Path, opened: Any) -> None:
    """As in `deepbench compare`, whose command each row shows; the table of kernels has all."""
    page = opened(more, "compare#side=lab-1@torch-2.3.1&side=lab-1@torch-2.5.1")
    assert ["1.03\u00d7 slower"] == column(page, "#groups", "other compared with first")
    counts = [column(page, "#groups", f"kernels of {side}") for side in ("both", "first", "other")]
    assert [["2"]] * 3 == counts
    assert "2 shared kernels" in page.inner_text("#forest")
    ratios = column(page, "#kernels", "other compared with first")
    assert ["1.03\u00d7 slower"] * 2 + ["1.5\u00d7 slower"] * 2 == ratios


def test_a_published_machine_shows_the_libraries_of_each_day(more: Path, opened: Any) -> None:
    """Drivers and libraries from its publications, and the new ones of each day."""
    page = opened(more, f"machine#machine={published_site.CARD}")
    page.click("#software summary")
    page.wait_for_selector("#software dl > *")
    assert "8.0" in page.inner_text("#software dl")
    new = column(page, "#software", "new with it")
    assert ["CUDA Version 8.0 (before: 7.5)", ""] == new


def test_a_familys_speed_is_over_the_kernels_of_both_releases(more: Path, opened: Any) -> None:
    """Two of four products are twice as fast, two nearly equal; cold ones do not count."""
    page = opened(more, "index#machine=lab-1&framework=numpy&precision=float32")
    assert ["numpy-2.1.3", "numpy-2.2.6"] == column(page, "#speed-table", "release")
    speed = math.sqrt(2 * 1.51 / 1.50)
    assert ["no difference", f"{speed:.3g}\u00d7 faster"] == column(
        page, "#speed-table", "matrix products"
    )
    (gemm,) = series(page, "#speed")
    assert speed == pytest.approx(gemm["y"][-1], rel=1e-3)
    assert page.locator("#speed text.y").count() >= 3


def test_devices_of_a_machine_are_separate(more: Path, opened: Any) -> None:
    """The start page has a row and a speed for each device; the compare page uses one device."""
    page = opened(more, f"index#machine={published_site.TWO_DEVICES}&framework=torch")
    names, devices = (column(page, "#machines", title) for title in ("machine", "device"))
    shown = [d for n, d in zip(names, devices, strict=True) if n == published_site.TWO_DEVICES]
    assert ["cpu", "cuda"] == sorted(shown)
    assert ["no difference", "2\u00d7 faster"] == column(
        page, "#speed-table", "matrix products on cpu"
    )
    assert ["no difference", "2\u00d7 slower"] == column(
        page, "#speed-table", "matrix products on cuda"
    )
    page.click("#speed-table tbody tr:first-child .open")
    commands = page.locator("#speed-table tr.detail code").all_text_contents()
    assert ["cuda" in command for command in commands] == [False, True]
    sides = f"side={published_site.TWO_DEVICES}@torch-2.5.1&side=lab-1@torch-2.5.1"
    for device, ratio in (("cpu", 0.31 / 4), ("cuda", 0.31 / 0.4)):
        page = opened(more, f"compare#{sides}&device={device}")
        (faster,) = set(column(page, "#kernels", "other compared with first"))
        assert f"{1 / ratio:.3g}\u00d7 faster" == faster
    page.select_option("#device", "cpu")
    page.wait_for_function("() => location.hash.includes('device=cpu')")
    page.click("#groups tbody tr:first-child .open")
    assert "--device cpu" in page.inner_text("#groups tr.detail code")


def test_a_row_of_another_device_leads_to_that_device(more: Path, opened: Any) -> None:
    """The machine's page shows the device's kernels; the usual device needs no condition. Pictures
    of speeds name another device."""
    page = opened(more, "index")
    links = page.locator(f"#machines tbody a:text-is('{published_site.TWO_DEVICES}')")
    conditions = [link.get_attribute("href").partition("conditions=")[2] for link in links.all()]
    assert ["", "cuda"] == sorted(conditions)
    links.nth(conditions.index("cuda")).click()
    page.wait_for_url("**/machine.html#**")
    page.wait_for_selector("body[data-ready]")
    assert "cuda" == page.input_value("#conditions")
    names = page.locator("#past .multiple strong").evaluate_all(
        "all => all.map(each => each.nextSibling.textContent)"
    )
    assert [" 2.3.1 to 2.5.1", " 2.3.1 to 2.5.1 on cuda"] == sorted(names)


def test_a_machine_without_usual_figures_is_named_below_the_others(more: Path, opened: Any) -> None:
    """With its results; machines of another kind than chosen are not named."""
    page = opened(more, "index")
    assert published_site.ODD_BOX not in column(page, "#machines", "machine")
    shown = f"{published_site.ODD_BOX} (matrix products under other conditions)"
    assert shown in page.inner_text("#others")
    page.select_option("#kind", "published")
    assert "" == page.inner_text("#others")


def test_a_model_is_next_to_its_published_figure(more: Path, opened: Any) -> None:
    """32 images in two seconds, with the command that measures them under the same conditions."""
    page = opened(more, "models#table=qingcloud")
    shown = column(page, "#rows", "lab-1")
    assert "16/s" in shown
    page.click(f"#rows tbody tr:nth-child({shown.index('16/s') + 1}) button.open")
    assert (
        'asv run "torch-2.5.1^!" --bench '
        "\"^model\\.InferenceServer\\.kernel_forward\\('resnet50_b32', 'float32'\""
        '  # with "DEEPBENCH_LAYOUT": ["channels_last"] in the matrix of asv.conf.json'
    ) in page.locator("#rows tr.detail code").all_text_contents()


def test_published_times_are_on_the_same_axis(more: Path, opened: Any) -> None:
    """A machine of 2016 and one measured now, over days."""
    page = opened(more, f"timeline#family=gemm&machine={published_site.CARD}&machine=lab-1")
    lines = {line["label"]: line for line in series(page, "#chart")}
    old = lines[f"{published_site.CARD}, published"]
    assert (["2016-09-25", "2017-07-14"], [5e-3, 2e-3]) == (old["x"], old["y"])
    assert "2024-02-05" in lines["lab-1, numpy"]["x"]
