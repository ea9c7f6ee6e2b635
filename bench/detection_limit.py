"""How many steps could be found by what takes slow drift for a step once in a hundred series?

A likelihood ratio sets the probability of a series with a step against its probability without
one; between two known probabilities no test beats it (Neyman and Pearson). Here places, sizes and
drifts are averaged over, so that it is close to the most that can be found, and no bound. It is
told what a detector has to find out: that the noise is Gaussian, that drift is a wave or a line of
the heights that bench/detection.py draws, and, in the first row, how large the noise is. Its
threshold is the one at which one series in a hundred of the worst of the noises without a change
raises an alarm. Steps are of 2 % at CV 1 %, ten points before the end of 80, found within two
points of their place.

    python bench/detection_limit.py [--series 8000]
"""

import argparse
from collections.abc import Iterator

import detection
import numpy as np
from scipy.special import logsumexp
from tabulate import tabulate

ALARMS = 0.01
STEP = detection.STEPS[1]
DRIFTS = ("Gaussian", "drift, line", "drift, wave")
SIZES = 3.0
"""Standard deviation of a step's size beforehand, in noise: hardly any size is less probable."""

TIME = np.arange(detection.POINTS)
PLACES = np.arange(2, detection.POINTS - 1)


def drawn(count: int, noise: str, step: detection.Step) -> np.ndarray:
    """Return so many series, in logarithms, in units of the noise, with mean 0."""
    random = np.random.default_rng(20161225)
    rows = [detection.series(random, detection.NOISES[noise], step)[0] for _ in range(count)]
    return centred(np.log(rows) / step.cv)


def centred(rows: np.ndarray) -> np.ndarray:
    return rows - rows.mean(axis=1, keepdims=True)


def gain(rows: np.ndarray, shape: np.ndarray, variance: float) -> np.ndarray:
    """Return by how much a shape (points x terms) makes each series likelier than a constant.

    Logarithm of the likelihood, integrated over normal coefficients of that variance.
    """
    shape = shape - shape.mean(axis=0)
    precision = shape.T @ shape + np.eye(shape.shape[1]) / variance
    along = rows @ shape
    explained = np.einsum("ij,jk,ik->i", along, np.linalg.inv(precision), along)
    return np.asarray((explained - np.linalg.slogdet(precision * variance)[1]) / 2)


def steps(rows: np.ndarray) -> np.ndarray:
    """Return the gain of a step at each place (series x places)."""
    return np.stack([gain(rows, (place <= TIME)[:, None] * 1.0, SIZES**2) for place in PLACES], 1)


def waves() -> Iterator[np.ndarray]:
    """Yield the sine and cosine of periods from 60 to 160 points."""
    for period in np.linspace(60, 160, 21):
        turns = 2 * np.pi * TIME / period
        yield np.stack([np.sin(turns), np.cos(turns)], axis=1)


def drifting(rows: np.ndarray) -> np.ndarray:
    """Return the gain of a wave, a line or nothing, which are as probable as each other.

    Waves half as high as the noise, lines that climb by half to once the noise.
    """
    by_wave = logsumexp([gain(rows, wave, 0.5**2 / 2) for wave in waves()], axis=0) - np.log(21)
    by_line = gain(rows, TIME[:, None] / detection.POINTS, (0.5**2 + 0.5 + 1) / 3)
    return np.asarray(logsumexp([by_wave, by_line, np.zeros(len(rows))], axis=0))


def place_of(gains: np.ndarray) -> np.ndarray:
    """Return the place that most of the probability of each series is within two points of."""
    likely = np.exp(gains - gains.max(axis=1, keepdims=True))
    padded = np.pad(likely, ((0, 0), (2, 2)))
    near = np.lib.stride_tricks.sliding_window_view(padded, 5, axis=1).sum(axis=2)
    return PLACES[(near + 0.01 * likely).argmax(axis=1)]


def by_own_noise(rows: np.ndarray) -> np.ndarray:
    """Return each series in units of the noise that it shows about the step that suits it best."""
    after = place_of(steps(rows))[:, None] <= TIME
    levels = [np.where(side, rows, 0).sum(1) / side.sum(1) for side in (~after, after)]
    off = rows - np.where(after, levels[1][:, None], levels[0][:, None])
    return rows / np.sqrt((off**2).sum(axis=1, keepdims=True) / (detection.POINTS - 2.5))


def limit(count: int, known: bool) -> dict[str, object]:
    """Return what the likelihood ratio finds, the size of the noise known to it or not."""

    def judged(noise: str, step: detection.Step) -> tuple[np.ndarray, np.ndarray]:
        rows = drawn(count, noise, step)
        rows = rows if known else by_own_noise(rows)
        gains = steps(rows)
        return logsumexp(gains, axis=1) - drifting(rows), place_of(gains)

    quiet = [judged(noise, detection.NO_STEPS[0])[0] for noise in DRIFTS]
    threshold = max(np.quantile(evidence, 1 - ALARMS) for evidence in quiet)
    evidence, places = judged("Gaussian", STEP)
    seen = evidence > threshold
    near = np.abs(places - (detection.POINTS - STEP.after)) <= detection.TOLERANCE
    return {
        "size of the noise": "known" if known else "from the series",
        "seen": f"{seen.mean():.1%}",
        "and placed within two points": f"{(seen & near).mean():.1%}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=8000, help="of each kind")
    count = parser.parse_args().series
    print(f"Gaussian, {STEP}; alarms on {ALARMS:.0%} of the worst of: {', '.join(DRIFTS)}\n")
    print(tabulate([limit(count, known) for known in (True, False)], "keys", "github"))


if __name__ == "__main__":
    main()
