"""Words and sentences that make text hard to read for those whose English is plain."""

import re

AVOIDED = re.compile(r"\b(told|beside|nobody|anew|whoever|of which)\b", re.IGNORECASE)

NAMES = frozenset(
    ("told", "beside", "nobody", "anew", "whoever", "patience", "standing", "obstacles", "nursery")
)
"""Words that no name of a function, argument or variable has."""

RIDDLE = re.compile(
    r"(?:^\s*(?:[-*+] |\d+\. )?\**|[.!;)*] )What\b[^?.:]*[.:](?:\s|$)|(?:^|\. )What [^?]*\Z",
    re.MULTILINE,
)
"""A sentence or an item of a list that begins with "What" and is no question."""

RELATIVE = re.compile(
    r"\b(?:returns?|yields?|of|for|by|than|from|measures?|file|run|to) what (?:is|are|was|were)\b",
    re.IGNORECASE,
)
"""A thing named by `what is ...` instead of by a noun. After "say" or "name" it is a question."""

CODE = re.compile(r"```.*?```|``[^`]*``|`[^`]*`|^\| what +\||\| what +\|", re.DOTALL | re.MULTILINE)
"""Code and names of columns, which are no words of a sentence."""

ASKED = re.compile(
    r"\b(?:ask|asks|asked|asking|decide|decides|find|know|knows|known|say|says|said|see|sees|show|shows"
    r"|unknown)(?: (?:how|that|what|when|where|whether|which|why)\b.*(?:,|\band|\bor))? $",
    re.IGNORECASE,
)
"""Beginning of a sentence after which `what` asks: "it says ", "it says where it is, and "."""

RECORDED = (
    "jax.jit of jax.experimental.sparse.BCSR.fromdense, told how many values",
    "the request's own, written anew by every call",
    "MKL, not told to optimise for repetition",
    "half of what left a ReLU 0",
    "XLA multiplies all rows with every expert and adds what is masked",
    "int64 positions, which is what torch makes",
)
"""Notes in stored records, which a change of words would make look like another implementation."""


def unclear(text: str) -> list[str]:
    """Return the words to avoid in a text, and "What" for a sentence that begins so."""
    found = [match[0] for match in AVOIDED.finditer(text)]
    return [*found, "What"] if RIDDLE.search(text) else found


def nameless(text: str) -> list[str]:
    """Return the words of `unclear`, and those that name a thing by `what is`."""
    return [*unclear(text), *(" ".join(match[0].split()) for match in RELATIVE.finditer(text))]


def relative(text: str) -> list[str]:
    """Return the ends of sentences in which `what` stands for a noun: `what it does`, of no
    question.

    "Says what it does" and "what to do" are indirect questions; "what:" describes an argument.
    """
    sentences = re.split(r"(?<=[.!?:;])[*)\"]*\s+", CODE.sub("code", text))
    return [
        " ".join(sentence[match.start() :].split())
        for sentence in sentences
        for match in re.finditer(r"\bwhat\b(?! to\b|:)", sentence)
        if not sentence.endswith("?")
        and not ASKED.search(" ".join(sentence[: match.start()].split()) + " ")
    ]


def plain(text: str) -> list[str]:
    """Return the words of `nameless`, and the sentences of `relative`."""
    return [*nameless(text), *relative(text)]
