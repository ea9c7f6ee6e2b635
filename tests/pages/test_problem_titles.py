"""Problems in the pages' data: those of modern families with a title in words."""

from deepbench_ops.pages.line_data import problem_fields
from deepbench_ops.problems import find, load
from deepbench_ops.problems.model import TITLES, network_sizes


def test_a_problem_with_a_title_has_it_behind_its_note():
    """A title says the sizes in words."""
    attention = find("attention", "attention_b1_h64_kv8_q1024_s1024_d128_v128_causal")
    product = find("gemm", "m1760_n128_k1760_NN")
    expected = "attention 64 heads of 128, 8 KV heads, 1024 x 1024, causal"
    assert [expected] == problem_fields(attention)[4:]
    fields = [product.id, "DeepSpeech", 128, product.note, "1760 x 128 x 1760"]
    assert fields == problem_fields(product)


def test_every_network_has_a_readable_name():
    """Two problems of models never share a title."""
    assert {*TITLES} == {*network_sizes()}
    titles = [problem.title for problem in load("model")]
    assert len({*titles}) == len(titles)
    assert "ResNet-50, batch 16, 12 at once" == find("model", "resnet50_b16_t12").title
