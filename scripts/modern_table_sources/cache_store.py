"""Storing keys and values of attention in a cache of blocks."""

from deepbench_ops.problems.cache_store import CacheStore
from modern_table_sources import OWN, Entry, Fact

KINDS = ("kv_cache",)

UNQUANTISED = "the source also stores int8; here tokens are stored as they are"


def entries(fact: Fact) -> list[Entry]:
    """Return the writes of a line."""
    sizes = [fact.size(name) for name in ("b", "hkv", "d", "cache", "q", "block")]
    notes = (fact.note, *fact.type_notes, UNQUANTISED)
    return [Entry(CacheStore(*sizes), fact.core, "xpu-perf's test", fact.source, notes)]


def _own(batch: int, held: int, added: int, why: str) -> Entry:
    source = "heads of Llama 3 8B, config.json of meta-llama"
    return Entry(CacheStore(batch, 8, 128, held, added, 512), True, why, source, (OWN,))


OURS = (
    _own(1, 0, 2048, "Llama 3 8B: a prompt"),
    _own(8, 1024, 1, "Llama 3 8B: a step of decoding"),
)
