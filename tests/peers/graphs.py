"""Graphs for benchmarks: undirected, without loops and duplicates, sorted by destination, as [2, E]."""
import numpy


def sorted_both_ways(pairs, nodes):
    pairs = pairs[:, pairs[0] != pairs[1]]
    both = numpy.concatenate([pairs, pairs[::-1]], axis=1)
    keys = numpy.unique(both[1] * nodes + both[0])
    return numpy.stack([keys % nodes, keys // nodes])


def communities(nodes, degree, seed=7):
    """Communities of equal size, 90 % of the edges inside; ids are shuffled."""
    random = numpy.random.default_rng(seed)
    half = nodes * degree // 2
    size = max(nodes // 1000, 50)
    source = random.integers(0, nodes, half)
    inside = numpy.minimum(source // size * size + random.integers(0, size, half), nodes - 1)
    target = numpy.where(random.random(half) < 0.9, inside, random.integers(0, nodes, half))
    names = random.permutation(nodes)
    return sorted_both_ways(numpy.stack([names[source], names[target]]), nodes)


def rmat(nodes, degree, seed=1):
    """R-MAT with 0.57, 0.19, 0.19, 0.05, on a number of nodes rounded up to a power of two, cut to `nodes`; ids are
    shuffled, since those of R-MAT are sorted by degree. Draws until the degree is reached; repeated pairs count once."""
    random = numpy.random.default_rng(seed)
    wanted = nodes * degree // 2
    keys = numpy.empty(0, numpy.int64)
    while keys.size < wanted:
        drawn = rmat_pairs(random, max(nodes - 1, 1).bit_length(), int((wanted - keys.size) * 1.15) + 1000)
        low, high = drawn.min(0), drawn.max(0)
        keys = numpy.union1d(keys, (low * nodes + high)[(low != high) & (high < nodes)])
    keys = random.permutation(keys)[:wanted]
    names = random.permutation(nodes)
    return sorted_both_ways(numpy.stack([names[keys // nodes], names[keys % nodes]]), nodes)


def rmat_pairs(random, bits, count):
    pairs = numpy.zeros((2, count), numpy.int64)
    for _ in range(bits):
        quarter = random.random(count, dtype=numpy.float32)
        down = quarter >= 0.76
        right = ((quarter >= 0.57) & ~down) | (quarter >= 0.95)
        pairs = pairs << 1 | numpy.stack([down, right])
    return pairs


GRAPHS = {"communities": communities, "rmat": rmat}
