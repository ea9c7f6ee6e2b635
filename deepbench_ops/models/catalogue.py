"""The networks of the published tables: what each is, what goes in, how it is trained.

What a table leaves open is decided here, and said in the network's note. Two networks of the same
name in two tables are one entry where no difference is known.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from deepbench_ops.errors import Unsupported
from deepbench_ops.models import batches
from deepbench_ops.models.batches import Form
from deepbench_ops.problems.suggestions import unknown

RECIPE_NOTES = {
    "momentum": "SGD, momentum 0.9, weight decay 1e-4",
    "descent": "SGD without momentum",
    "adam": "Adam",
    "adamw": "AdamW, weight decay 0.01 but for biases and normalisations",
    "lamb": "LAMB, weight decay 0.01 but for biases and normalisations",
    "ftrl_adam": "FTRL for the wide part, Adam for the deep one",
}
STATES = {"momentum": 1, "descent": 0, "adam": 2, "adamw": 2, "lamb": 2, "ftrl_adam": 2}
"""Numbers that an optimiser remembers of each weight."""


@dataclass(frozen=True)
class Network:
    """One network of the tables.

    module, builder: where its class is. whole, small: its real size, and that of the twin which
    is checked against float64. loss: see `models.training.LOSSES`. recipe: how its source trains
    it, see RECIPE_NOTES. item: what a throughput counts. note: what it is where its
    table leaves that open, and why.
    """

    name: str
    module: str
    builder: str
    whole: Form
    small: Form
    loss: str = "classes"
    recipe: str = "momentum"
    item: str = "images"
    note: str = ""

    def make(self, form: Form, within: str = "") -> Any:
        """Return it in torch, in one of its two forms; torch is imported here.

        within: "mindspore" for the same in MindSpore. Raises Unsupported where it is not written
        in that.
        """
        place = (
            f"{__package__}.{within}.{self.module}" if within else f"{__package__}.{self.module}"
        )
        kind = getattr(import_module(place), self.builder, None) if find_spec(place) else None
        if kind is None:
            raise Unsupported(f"{self.name} is not written in {within}, in torch alone")
        return kind(**form.options)


GUESSED = 20
"""Masked words of a sentence of 128: the original's max_predictions_per_seq."""

_SMALL_IMAGE, _SMALL_CLASSES, _SMALL_WORDS = 48, 11, 211
_BERT_BASE = {"layers": 12, "width": 768, "heads": 12}
_BERT_LARGE = {"layers": 24, "width": 1024, "heads": 16}
_BERT_SMALL = {"layers": 2, "width": 32, "heads": 4}
_DLRM = {"bottom": (512, 512, 64), "top": (1024, 1024, 1024, 1)}
_SMALL_DLRM = {"bottom": (19, 16, 8), "top": (31, 1)}
_CRITEO_HIDDEN = (1024, 512, 256, 128)
_GOOGLENET = (
    ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)),
    (
        (192, 96, 208, 16, 48, 64),
        (160, 112, 224, 24, 64, 64),
        (128, 128, 256, 24, 64, 64),
        (112, 144, 288, 32, 64, 64),
        (256, 160, 320, 32, 128, 128),
    ),
    ((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)),
)
"""The paper's table 1, modules 3a to 5b: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj."""
_GOOGLENET_SMALL = (((8, 6, 8, 4, 8, 8),), ((8, 6, 16, 4, 8, 8), (16, 6, 8, 4, 8, 8)))
_MOBILENET_SMALL = ((1, 8, 1, 1), (6, 16, 2, 2), (6, 24, 2, 1))


def _resnet(name: str, blocks: tuple[int, ...], note: str = "", **options: object) -> Network:
    return Network(
        name,
        "resnet",
        "ResNet",
        whole=batches.images(224, 1000, blocks=blocks, **options),
        small=batches.images(_SMALL_IMAGE, _SMALL_CLASSES, blocks=(1, 2), **options),
        note=note,
    )


def _bert(
    name: str,
    length: int,
    builder: str = "Classifier",
    large: bool = False,
    vocabulary: int = 30522,
    recipe: str = "adamw",
    note: str = "",
) -> Network:
    size = _BERT_LARGE if large else _BERT_BASE
    if builder == "Pretraining":
        whole = batches.masked_sentences(length, vocabulary, GUESSED, **size)
        least = batches.masked_sentences(13, _SMALL_WORDS, 5, **_BERT_SMALL)
    else:
        form = batches.answers if builder == "Answering" else batches.sentences
        whole = form(length, vocabulary, **size)
        least = form(13, _SMALL_WORDS, **_BERT_SMALL)
    return Network(
        name,
        "bert",
        builder,
        whole=whole,
        small=least,
        loss={"Answering": "answer", "Pretraining": "pretraining"}.get(builder, "classes"),
        recipe=recipe,
        item="sentences",
        note=note,
    )


_CLASSIFIED = (
    "The table names the length alone: BERT base, uncased vocabulary, with the original's head for"
    " two classes; sentences fill the whole length"
)


def _dlrm(name: str, rows: int, note: str) -> Network:
    return Network(
        name,
        "recommenders",
        "DLRM",
        whole=batches.lookups(8, rows, 100, **_DLRM),
        small=batches.lookups(3, 50, 4, **_SMALL_DLRM),
        loss="clicked",
        recipe="descent",
        item="samples",
        note=note,
    )


_ALL = (
    _resnet("resnet34", (3, 4, 6, 3), bottleneck=False),
    _resnet(
        "resnet50",
        (3, 4, 6, 3),
        "Version 1: the first 1x1 convolution of a stage strides",
        stride_first=True,
    ),
    _resnet("resnet50_v1p5", (3, 4, 6, 3), "Version 1.5: the 3x3 convolution of a stage strides"),
    _resnet(
        "resnet101",
        (3, 4, 23, 3),
        "Version 1, which the Keras application of that name is",
        stride_first=True,
    ),
    Network(
        "densenet101",
        "densenet",
        "DenseNet",
        whole=batches.images(224, 1000, blocks=(6, 12, 24, 16)),
        small=batches.images(_SMALL_IMAGE, _SMALL_CLASSES, blocks=(2, 3), growth=8),
        note="DenseNet-121: neither the paper nor Keras has a DenseNet of 101 layers (121, 169, 201"
        " and 264 exist), 121 is the smallest and the nearest, and its throughput next to that of"
        " ResNet-101 in the table fits its FLOPs",
    ),
    Network(
        "mobilenet_v2",
        "mobilenet",
        "MobileNetV2",
        whole=batches.images(224, 1000),
        small=batches.images(_SMALL_IMAGE, _SMALL_CLASSES, stages=_MOBILENET_SMALL),
        note="Width 1.0",
    ),
    Network(
        "googlenet",
        "googlenet",
        "GoogLeNet",
        whole=batches.images(224, 10, stages=_GOOGLENET),
        small=batches.images(_SMALL_IMAGE, _SMALL_CLASSES, stages=_GOOGLENET_SMALL),
        note="CIFAR-10's pictures enlarged to 224 x 224, as MindSpore's model collection does: the"
        " published 126.87 minutes on a V100 are far too long for 32 x 32; batch normalisation, no"
        " auxiliary outputs",
    ),
    Network(
        "lstm",
        "sentiment",
        "SentimentLSTM",
        whole=batches.words(500, 100_000),
        small=batches.words(9, _SMALL_WORDS, width=20, hidden=12),
        recipe="momentum",
        item="reviews",
        note="As in MindSpore's model collection: reviews of 500 words, two layers of 100 in both"
        " directions, given word vectors of 300 that are not trained. The number of words is our"
        " own: it is not stated, and only those that are read cost time",
    ),
    _bert("bert_128", 128, note=_CLASSIFIED),
    _bert("bert_256", 256, note=_CLASSIFIED),
    _bert("bert_512", 512, note=_CLASSIFIED),
    _bert(
        "bert_pretraining_128",
        128,
        "Pretraining",
        vocabulary=21128,
        note="BERT base on Chinese Wikipedia: 21128 words, 20 of 128 masked; the paper names length"
        " and data alone",
    ),
    _bert(
        "bert_large_128",
        128,
        "Pretraining",
        large=True,
        vocabulary=21128,
        recipe="lamb",
        note="Pretraining, 20 of 128 words masked",
    ),
    _bert(
        "bert_large_384",
        384,
        "Answering",
        large=True,
        note="Question answering, for which a length of 384 is used; uncased vocabulary",
    ),
    Network(
        "xlnet",
        "xlnet",
        "XLNet",
        whole=batches.sentences(128, 32000, layers=24, width=1024, heads=16),
        small=batches.sentences(13, _SMALL_WORDS, layers=2, width=32, heads=4),
        recipe="adamw",
        item="sentences",
        note="XLNet-Large as a classifier of 128 words: size and length are not in the table, and"
        " its batch of 8 is that of the original's example of this form",
    ),
    Network(
        "deepfm",
        "recommenders",
        "DeepFM",
        whole=batches.features(39, 184_965, width=10, hidden=(400, 400, 400)),
        small=batches.features(7, 101, width=6, hidden=(16, 8)),
        loss="clicked",
        recipe="adam",
        item="samples",
        note="Layers and vectors as the paper has them for Criteo's 39 fields; 184965 features, as"
        " MindSpore's model collection prepares that data",
    ),
    _dlrm(
        "dlrm",
        10_000,
        "The network of dlrm_1m with tables of 10000 rows: their size is our own, since the table"
        " says no more than that dlrm_1M's are larger",
    ),
    _dlrm(
        "dlrm_1m",
        1_000_000,
        "Eight tables of a million rows of 64, 100 looked up in each: the sizes of the original's"
        " benchmark script",
    ),
    Network(
        "dssm",
        "recommenders",
        "DSSM",
        whole=batches.texts(30_000, 50, 5),
        small=batches.texts(101, 7, 3, hidden=20, width=8),
        loss="first",
        recipe="descent",
        item="samples",
        note="A query with five documents, as the paper trains it; 30000 letter trigrams, 50 a"
        " text, which is our own figure",
    ),
    Network(
        "mmoe",
        "recommenders",
        "MMoE",
        whole=batches.tasks(499, 2, experts=8, width=4, tower=8),
        small=batches.tasks(23, 2, experts=3, width=4, tower=5),
        loss="clicked",
        recipe="adam",
        item="samples",
        note="Sizes of the census-income example that is commonly used: 499 features, eight experts"
        " of 4, two tasks",
    ),
    Network(
        "wide_deep",
        "recommenders",
        "WideDeep",
        whole=batches.features(39, 200_000, width=80, hidden=_CRITEO_HIDDEN),
        small=batches.features(7, 101, width=6, hidden=(16, 8)),
        loss="clicked",
        recipe="ftrl_adam",
        item="samples",
        note="As MindSpore's model collection has it for Criteo: 39 fields of 200000 features,"
        " vectors of 80",
    ),
)
NETWORKS = {network.name: network for network in _ALL}


def network(name: str) -> Network:
    """The network of that name; DeepbenchError, naming the nearest, when there is none."""
    if name not in NETWORKS:
        raise unknown("model", name, tuple(NETWORKS))
    return NETWORKS[name]
