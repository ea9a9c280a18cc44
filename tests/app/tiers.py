"""How much of a product a test goes through: HOPSCOPE_TIER is full, or default where nothing is said."""
import os
import zlib

FULL = os.environ.get("HOPSCOPE_TIER", "default") == "full"


def one_in(count, items):
    """All of them in the full tier, else one in `count`, chosen by their names alone."""
    items = list(items)
    if FULL:
        return items
    by_name = sorted(items, key=lambda item: zlib.crc32(str(item).encode()))
    chosen = by_name[:-(-len(items) // count)]
    return [item for item in items if item in chosen]


def sized(usual, full):
    return full if FULL else usual
