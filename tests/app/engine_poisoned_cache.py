"""Entries of a cache that somebody else has written, with the right digest and other numbers: they are made anew. HOPSCOPE_ENGINE
names the program, HOPSCOPE_ROOT the repository."""
import struct
import unittest

import numpy
from safetensors.numpy import save_file

import engine_models as models
from engine_commands import EngineTest
from engine_options import WIDTH, planted
from engine_resume import xxh3

PIECE, PAGE = 1 << 20, 4096


def digest(content):
    return bytes.fromhex(xxh3(content).decode())


def arrays_of(entry):
    """Where the arrays of a file are."""
    sizes, begin, found = struct.unpack_from("=4q", entry, 40), PAGE, []
    for size in sizes:
        if size >= 0:
            found.append((begin, size))
            begin += (size + PAGE - 1) // PAGE * PAGE
    return found


def sealed(entry):
    """The same with the digest of what it holds."""
    parts = b"".join(digest(b"".join(digest(entry[at: min(at + PIECE, begin + size)])
                                     for at in range(begin, begin + size, PIECE)))
                     for begin, size in arrays_of(entry))
    return entry[:24] + digest(parts) + entry[40:]


def far(numbers, draw):
    numbers[draw.integers(len(numbers), size=3)] = numpy.iinfo(numbers.dtype).max


def negative(numbers, draw):
    numbers[draw.integers(len(numbers))] = -1 if numbers.dtype.kind == "i" else numpy.iinfo(numbers.dtype).max


def next_to_it(numbers, draw):
    numbers[draw.integers(len(numbers))] = numbers.max() + 1


def shuffled(numbers, draw):
    draw.shuffle(numbers)


def one_number(numbers, draw):
    numbers[:] = numbers[len(numbers) // 2]


def turned(numbers, draw):
    numbers[:] = numbers[::-1].copy()


POISONS = (far, negative, next_to_it, shuffled, one_number, turned)


class Poisoned(EngineTest):
    def setUp(self):
        super().setUp()
        self.model, self.cache = self.folder / "wide.pt", self.folder / "cache"
        models.save(models.Sage(WIDTH, 16, 8, 2), models.graph(50, 200, WIDTH), self.model)
        save_file(planted(20_011, 100, 10, 1), str(self.folder / "graph.safetensors"))
        self.expected = self.ran()
        self.kept = {path: path.read_bytes() for path in sorted(self.cache.iterdir())}

    def ran(self):
        self.done("run", self.model, "--data", self.folder / "graph.safetensors", "-o", self.folder / "out", "--verify", "none",
                  "--reorder", "community", "--cache", self.cache, "--quiet")
        return (self.folder / "out/out.npy").read_bytes()

    def test_the_digest_is_that_of_the_engine(self):
        self.assertEqual(len(self.kept), 6)
        for entry in self.kept.values():
            self.assertEqual(sealed(entry), entry)

    def test_other_numbers_are_made_anew(self):
        """An order is another matter: each is as good for the numbers, as long as it is one."""
        draw = numpy.random.default_rng(5)
        for path, entry in self.kept.items():
            for part, (begin, size) in enumerate(arrays_of(entry)):
                order = len(arrays_of(entry)) == 1 and size == 20_011 * 8
                for poison in POISONS if size else ():
                    numbers = numpy.frombuffer(entry[begin: begin + size], numpy.int64 if size % 8 == 0 and (
                        part == 0 and len(arrays_of(entry)) == 3 or part == 2 or order) else numpy.uint32).copy()
                    poison(numbers, draw)
                    if order and poison in (shuffled, turned):
                        continue
                    with self.subTest(entry=path.name[:8], part=part, poison=poison.__name__):
                        path.write_bytes(sealed(entry[:begin] + numbers.tobytes() + entry[begin + size:]))
                        self.assertNotEqual(path.read_bytes(), entry)
                        self.assertEqual(self.ran(), self.expected)
                        self.assertEqual({p: p.read_bytes() for p in self.cache.iterdir()}, self.kept)


if __name__ == "__main__":
    unittest.main()
