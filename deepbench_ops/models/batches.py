"""Inputs and targets of networks: synthetic, seeded, the same on every machine.

A `Field` describes one array by the shape of one item. Values come from `random_operands`, whose
numbers are the same in every release of numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deepbench_ops import random_operands

PICTURE = 3
"""Number of dimensions of a picture: channels, height, width."""

DIM = np.float32(0.25)
"""Factor on the brightness of every other picture of a dimmed field."""


@dataclass(frozen=True)
class Field:
    """One array of a batch: real numbers uniform in [-1, 1), or integers from 0 to below - 1.

    shape: that of one item. below: 0 for real numbers. real: whether integers are stored as
    floating-point numbers, as losses of two classes require. dimmed: whether every other item is
    multiplied by DIM; without it the outputs of a network that averages over a picture would be
    nearly the same for all items.
    """

    shape: tuple[int, ...] = ()
    below: int = 0
    real: bool = False
    dimmed: bool = False

    @property
    def size(self) -> int:
        """Number of elements of one item."""
        return int(np.prod(self.shape))

    def draw(self, batch: int, seed: int, stream: int) -> np.ndarray:
        """Return an array (batch, *shape), float32, or int64 for integers."""
        shape = (batch, *self.shape)
        if not self.below:
            noise = random_operands.floats(shape, "float32", 1.0, seed, stream)
            if self.dimmed:
                noise[1::2] *= DIM
            return noise
        bits = random_operands.random_bits(4 * batch * self.size, seed, stream).view(np.uint32)
        drawn = (bits % np.uint32(self.below)).reshape(shape)
        return drawn.astype(np.float32 if self.real else np.int64)


@dataclass(frozen=True)
class Form:
    """One size of a network.

    options: arguments of its class. given: its inputs. aims: its targets. masked: FLOPs for one
    input of the products of queries and keys that a causal mask hides, which are not counted.
    """

    options: dict[str, object]
    given: tuple[Field, ...]
    aims: tuple[Field, ...]
    masked: int = 0

    @property
    def pictures(self) -> bool:
        """Whether an input is pictures, which can have the channels_last layout."""
        return any(len(field.shape) == PICTURE for field in self.given)

    def inputs(self, batch: int, seed: int = 0) -> list[np.ndarray]:
        """Return the network's arguments for `batch` items."""
        return _drawn(self.given, batch, seed, 0)

    def targets(self, batch: int, seed: int = 0) -> list[np.ndarray]:
        """Return the targets, with which the loss compares the network's outputs."""
        return _drawn(self.aims, batch, seed, len(self.given))


def _drawn(fields: Sequence[Field], batch: int, seed: int, first: int) -> list[np.ndarray]:
    return [field.draw(batch, seed, first + place) for place, field in enumerate(fields)]


def images(size: int, classes: int, **options: object) -> Form:
    """Return the form of a network that classifies pictures of 3 x size x size."""
    return Form(options | {"classes": classes}, (Field((3, size, size)),), (Field((), classes),))


def dimmed(form: Form) -> Form:
    """Return the form with dimmed pictures, if it has pictures; see `Field`."""
    given = (replace(field, dimmed=len(field.shape) == PICTURE) for field in form.given)
    return replace(form, given=tuple(given))


def words(length: int, vocabulary: int, **options: object) -> Form:
    """Return the form of a network that classifies a text of `length` words."""
    given = (Field((length,), vocabulary),)
    return Form(options | {"vocabulary": vocabulary}, given, (Field((), 2),))


def sentences(length: int, vocabulary: int, **options: object) -> Form:
    """Return the form of a network that classifies a pair of sentences of `length` words
    together."""
    given = (Field((length,), vocabulary), Field((length,), 2))
    return Form(options | {"vocabulary": vocabulary}, given, (Field((), 2),))


def masked_sentences(length: int, vocabulary: int, guessed: int, **options: object) -> Form:
    """Return the form of a network that predicts masked words, and whether the second sentence
    follows the first."""
    plain = sentences(length, vocabulary, **options)
    given = (*plain.given, Field((guessed,), length))
    return Form(plain.options, given, (Field((guessed,), vocabulary), *plain.aims))


def answers(length: int, vocabulary: int, **options: object) -> Form:
    """Return the form of a network that finds where in a text an answer begins and ends."""
    plain = sentences(length, vocabulary, **options)
    return Form(plain.options, plain.given, (Field((2,), length),))


def prompts(length: int, vocabulary: int, trained: bool = False, **options: Any) -> Form:
    """Return the form of a decoder with a prompt of `length` words.

    trained: whether its output is the scores of each next word, for training, instead of those of
    the word after the prompt.
    """
    aims = (Field((length,), vocabulary),) if trained else ()
    layers, width = options["layers"], options["width"]
    named = options | {"vocabulary": vocabulary}
    return Form(named, (Field((length,), vocabulary),), aims, layers * hidden_pairs(length, width))


def decoding(cached: int, vocabulary: int, **options: Any) -> Form:
    """Return the form of a decoding step: one word after `cached` words, whose keys and values are
    inputs."""
    size = options["width"] // options["heads"]
    cache = Field((options["layers"], options["kv_heads"], cached, size))
    named = options | {"vocabulary": vocabulary, "start": cached}
    return Form(named, (Field((1,), vocabulary), cache, cache), ())


def vectors(length: int, width: int, **options: Any) -> Form:
    """Return the form of one decoder layer on `length` vectors."""
    masked = hidden_pairs(length, options["heads"] * options["size"])
    return Form(options | {"width": width}, (Field((length, width)),), (), masked)


def hidden_pairs(length: int, width: int) -> int:
    """Return the FLOPs of both products of attention for the pairs that a causal mask hides.

    width: size of all heads together.
    """
    return 4 * width * (length * (length - 1) // 2)


def features(fields: int, vocabulary: int, **options: object) -> Form:
    """Return the form of a recommender that predicts a click from features and their values."""
    given = (Field((fields,), vocabulary), Field((fields,)))
    named = {"fields": fields, "vocabulary": vocabulary}
    return Form(options | named, given, (Field((), 2, real=True),))


def lookups(
    tables: int, rows: int, looked_up: int, bottom: tuple[int, ...], **options: object
) -> Form:
    """Return the form of a recommender that predicts a click from dense features and table
    indices."""
    given = (Field((bottom[0],)), Field((tables, looked_up), rows))
    named = {"tables": tables, "rows": rows, "bottom": bottom}
    return Form(options | named, given, (Field((), 2, real=True),))


def texts(vocabulary: int, trigrams: int, documents: int, **options: object) -> Form:
    """Return the form of a network that finds the document for a query; it is always the first."""
    given = (Field((trigrams,), vocabulary), Field((documents, trigrams), vocabulary))
    return Form(options | {"vocabulary": vocabulary}, given, (Field((), 1),))


def tasks(features: int, tasks: int, **options: object) -> Form:
    """Return the form of a network that predicts several yes-no targets from the same features."""
    named = {"features": features, "tasks": tasks}
    return Form(options | named, (Field((features,)),), (Field((tasks,), 2, real=True),))
