"""Options take the types that people have: those of PyTorch, NumPy and pathlib. Others are refused with a sentence."""
import unittest
from pathlib import Path

import hopscope
import numpy
import torch
from hopscope._options import bytes_of, numbers_of
from hopscope._settings import settings_of


def read(name, value):
    """The setting of a run as the engine gets it."""
    return settings_of("run", {name: value})[name]


class Options(unittest.TestCase):
    def test_sizes_are_read_as_by_the_engine(self):
        sizes = {"1Gi": 1 << 30, "500M": 500_000_000, "7": 7, "1.5K": 1500, "2MiB": 2 << 20, "1 GiB": 1 << 30, "2gib": 2 << 30, "3kb": 3000,
                 1e9: 10 ** 9, 2.0 ** 30: 1 << 30, numpy.int32(5): 5, numpy.float64(8): 8, 0: 0, torch.tensor(6): 6, None: None}
        for size, count in sizes.items():
            with self.subTest(size=size):
                self.assertEqual((bytes_of(size), type(bytes_of(size))), (count, type(count)))
        for size in ("lots", "1i", "-3", "", -1, 1.5, float("inf"), float("nan"), True, [], torch.tensor(1.5)):
            with self.subTest(size=size), self.assertRaisesRegex(hopscope.UsageError, "memory: .* is not a size"):
                bytes_of(size)

    def test_numbers_may_be_those_of_numpy_and_pytorch(self):
        for value in (numpy.int64(100), numpy.uint8(100), torch.tensor(100), torch.tensor([100])):
            for name in ("batch", "threads", "stages"):
                self.assertEqual((read(name, value), type(read(name, value))), (100, int))
        for value in (numpy.float32(2), 2, numpy.int16(2)):
            self.assertEqual((read("deadline", value), type(read("deadline", value))), (2.0, float))
        for value in (True, numpy.bool_(True), torch.tensor(True), 2.0, "2", 0, numpy.int64(-1)):
            with self.subTest(value=value), self.assertRaisesRegex(hopscope.UsageError, "batch: .* is not a whole number of at least 1"):
                read("batch", value)
        for value in (True, "soon", float("nan"), 0, numpy.float32("inf")):
            with self.subTest(value=value), self.assertRaisesRegex(hopscope.UsageError, "deadline: .* is not a number of seconds above 0"):
                read("deadline", value)

    def test_nodes_may_be_one_number_a_list_an_array_or_a_tensor(self):
        for value in ([3, 5], (3, 5), range(3, 7, 2), numpy.array([3, 5]), torch.tensor([3, 5]), iter([3, 5]), [numpy.int8(3), torch.tensor(5)]):
            self.assertEqual(numbers_of("nodes", value), [3, 5])
        for value in (3, numpy.int64(3), torch.tensor(3)):
            self.assertEqual(numbers_of("nodes", value), [3])
        for value in ("3", 3.5, [3, -1], [True], None, torch.tensor([0.5, 1.5]), torch.tensor([True, False])):
            with self.subTest(value=value), self.assertRaisesRegex(hopscope.UsageError, "nodes: .* are not row numbers"):
                numbers_of("nodes", value)

    def test_devices_types_flags_folders_and_patterns(self):
        self.assertEqual(read("device", torch.device("cuda", 1)), "cuda:1")
        for value in ("bfloat16", torch.bfloat16):
            self.assertEqual(read("store", value), "bfloat16")
        for value in (torch.float32, torch.float, numpy.float32, numpy.dtype("float32")):
            self.assertEqual(read("store", value), "float32")
        for value in (True, numpy.bool_(True)):
            self.assertIs(read("resume", value), True)
        self.assertEqual((read("verify", True), read("verify", False), read("verify", None)), ("full", "none", "none"))
        self.assertEqual(read("cache", Path("/a/b")), "/a/b")
        self.assertEqual(read("fuse", ("chain", "softmax")), "chain,softmax")
        for name, value, sentence in (("store", numpy.int8, "is not one of its values"), ("resume", "no", "is neither True nor False"),
                                      ("resume", 1, "is neither True nor False"), ("fuse", 3, "is not a list of patterns"),
                                      ("cache", 3, "is not a path"), ("verify", numpy.array([1]), "is not one of its values")):
            with self.subTest(name=name, value=value), self.assertRaisesRegex(hopscope.UsageError, f"{name}: .* {sentence}") as caught:
                read(name, value)
            self.assertTrue(caught.exception.hint)

    def test_none_is_the_default_of_everything_but_verify(self):
        given = dict.fromkeys(name for name in settings_of("run", {}) if name != "verify")
        self.assertEqual(settings_of("run", given), settings_of("run", {}))


if __name__ == "__main__":
    unittest.main()
