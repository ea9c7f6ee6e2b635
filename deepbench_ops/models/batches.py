"""Inputs and expected answers of networks: synthetic, seeded, the same on every machine.

A `Field` is one array of it, by the shape of one item. Values come from `inputs`, whose
numbers stay the same from release to release of numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deepbench_ops import random_operands

PICTURE = 3
"""Dimensions of a picture: channels, height, width."""

DIM = np.float32(0.25)


@dataclass(frozen=True)
class Field:
    """One array: `shape` of an item, uniform in [-1, 1), or integers from 0 to below `below`.

    below: 0 for real numbers. real: integers as floating-point numbers, which is what losses of
    two classes ask for. dimmed: every other item is DIM times as bright, since to a network that
    averages over places all noise is the same.
    """

    shape: tuple[int, ...] = ()
    below: int = 0
    real: bool = False
    dimmed: bool = False

    @property
    def size(self) -> int:
        """Numbers of one item."""
        return int(np.prod(self.shape))

    def draw(self, batch: int, seed: int, stream: int) -> np.ndarray:
        """Return (batch, *shape): float32, or int64 for integers."""
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
    """One size of a network: what its class is called with, what goes in, what is aimed at.

    masked: FLOPs of an input's forward pass that whole products would spend on pairs of a query and
    a key which a causal mask hides, and which are not counted.
    """

    options: dict[str, object]
    given: tuple[Field, ...]
    aims: tuple[Field, ...]
    masked: int = 0

    @property
    def pictures(self) -> bool:
        """Whether pictures go in, which have channels that can lie inside or outside."""
        return any(len(field.shape) == PICTURE for field in self.given)

    def inputs(self, batch: int, seed: int = 0) -> list[np.ndarray]:
        """Return the network's arguments for `batch` items."""
        return _drawn(self.given, batch, seed, 0)

    def targets(self, batch: int, seed: int = 0) -> list[np.ndarray]:
        """Return what the loss compares the network's output with."""
        return _drawn(self.aims, batch, seed, len(self.given))


def _drawn(fields: Sequence[Field], batch: int, seed: int, first: int) -> list[np.ndarray]:
    return [field.draw(batch, seed, first + place) for place, field in enumerate(fields)]


def images(size: int, classes: int, **options: object) -> Form:
    """Return the form of a network that classifies pictures of size x size in three colours."""
    return Form(options | {"classes": classes}, (Field((3, size, size)),), (Field((), classes),))


def dimmed(form: Form) -> Form:
    """Return the form with pictures, where it has any, that differ by more than their noise."""
    given = (replace(field, dimmed=len(field.shape) == PICTURE) for field in form.given)
    return replace(form, given=tuple(given))


def words(length: int, vocabulary: int, **options: object) -> Form:
    """Return the form of a network that judges a text of `length` words."""
    given = (Field((length,), vocabulary),)
    return Form(options | {"vocabulary": vocabulary}, given, (Field((), 2),))


def sentences(length: int, vocabulary: int, **options: object) -> Form:
    """Return the form of a network that judges a pair of sentences, `length` words together."""
    given = (Field((length,), vocabulary), Field((length,), 2))
    return Form(options | {"vocabulary": vocabulary}, given, (Field((), 2),))


def masked_sentences(length: int, vocabulary: int, guessed: int, **options: object) -> Form:
    """Return the form of a network that guesses masked words, and whether a sentence follows."""
    plain = sentences(length, vocabulary, **options)
    given = (*plain.given, Field((guessed,), length))
    return Form(plain.options, given, (Field((guessed,), vocabulary), *plain.aims))


def answers(length: int, vocabulary: int, **options: object) -> Form:
    """Return the form of a network that finds where in a text an answer begins and ends."""
    plain = sentences(length, vocabulary, **options)
    return Form(plain.options, plain.given, (Field((2,), length),))


def prompts(length: int, vocabulary: int, trained: bool = False, **options: Any) -> Form:
    """Return the form of a decoder of `length` words: `trained` on each next word, or for the last
    one's scores."""
    aims = (Field((length,), vocabulary),) if trained else ()
    layers, width = options["layers"], options["width"]
    named = options | {"vocabulary": vocabulary}
    return Form(named, (Field((length,), vocabulary),), aims, layers * hidden_pairs(length, width))


def decoding(cached: int, vocabulary: int, **options: Any) -> Form:
    """Return the form of a decoder of one word behind `cached` words, whose keys and values go
    in."""
    size = options["width"] // options["heads"]
    cache = Field((options["layers"], options["kv_heads"], cached, size))
    named = options | {"vocabulary": vocabulary, "start": cached}
    return Form(named, (Field((1,), vocabulary), cache, cache), ())


def vectors(length: int, width: int, **options: Any) -> Form:
    """Return the form of one decoder layer on `length` vectors."""
    masked = hidden_pairs(length, options["heads"] * options["size"])
    return Form(options | {"width": width}, (Field((length, width)),), (), masked)


def hidden_pairs(length: int, width: int) -> int:
    """Return the FLOPs of both products of attention for the pairs that a causal mask hides, with
    heads of `width` numbers together."""
    return 4 * width * (length * (length - 1) // 2)


def features(fields: int, vocabulary: int, **options: object) -> Form:
    """Return the form of a recommender of features with values: clicked or not."""
    given = (Field((fields,), vocabulary), Field((fields,)))
    named = {"fields": fields, "vocabulary": vocabulary}
    return Form(options | named, given, (Field((), 2, real=True),))


def lookups(
    tables: int, rows: int, looked_up: int, bottom: tuple[int, ...], **options: object
) -> Form:
    """Return the form of a recommender of dense features and of indices into tables."""
    given = (Field((bottom[0],)), Field((tables, looked_up), rows))
    named = {"tables": tables, "rows": rows, "bottom": bottom}
    return Form(options | named, given, (Field((), 2, real=True),))


def texts(vocabulary: int, trigrams: int, documents: int, **options: object) -> Form:
    """Return the form of a network that finds the document a query means: always the first."""
    given = (Field((trigrams,), vocabulary), Field((documents, trigrams), vocabulary))
    return Form(options | {"vocabulary": vocabulary}, given, (Field((), 1),))


def tasks(features: int, tasks: int, **options: object) -> Form:
    """Return the form of a network that answers several yes-no questions on the same features."""
    named = {"features": features, "tasks": tasks}
    return Form(options | named, (Field((features,)),), (Field((tasks,), 2, real=True),))
