"""Rule for the listed releases of numpy and their companions."""

from deepbench_ops.backends.release_listing_rule import Rule

RULE = Rule(
    "1.23.2",
    ("scipy",),
    on_request=False,
    nightly="https://pypi.anaconda.org/scientific-python-nightly-wheels/simple",
)
