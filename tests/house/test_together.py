"""Sources are compiled together only where no name of one could mean something else in another."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import together


def groups(lax=False, largest=8, **texts):
    """The groups, as sets of names, of sources with these texts."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.cpp" for name in texts]
        for path, text in zip(paths, texts.values()):
            path.write_text(text)
        found = together.partition(together.names(paths, lax), largest)
    return [{path.stem for path in group.files} for group in found]


class Partition(unittest.TestCase):
    def test_sources_without_common_names_compile_as_one(self):
        self.assertEqual(groups(a="int f() { return 1; }", b="int g() { return 2; }"), [{"a", "b"}])

    def test_a_name_defined_twice_separates(self):
        one = "namespace { int helper() { return 1; } }\nint f() { return helper(); }"
        self.assertEqual(groups(a=one, b=one.replace("int f", "int g")), [{"a"}, {"b"}])

    def test_a_private_name_that_another_source_mentions_separates(self):
        # b calls the function of a header with an int; after a it would call that of a instead.
        a = "namespace n { namespace { double scale(int x) { return x; } } double f() { return scale(1); } }"
        b = '#include "scale.h"\nnamespace n { double g() { return scale(1); } }'
        self.assertEqual(groups(a=a, b=b), [{"a"}, {"b"}])
        self.assertEqual(groups(lax=True, a=a, b=b), [{"a", "b"}])

    def test_a_part_of_something_else_and_a_variable_are_no_calls(self):
        a = "namespace { int size(int x) { return x; } }\nint f() { return size(1); }  // size(2)"
        b = "#include <rows.h>\nint g(Row& row) { const int size = row.size(); return size; }  // not size(2)"
        self.assertEqual(groups(a=a, b=b), [{"a", "b"}])

    def test_overloads_that_others_may_call_do_not_separate(self):
        self.assertEqual(groups(a="int run(int x) { return x; }", b="int run(double x) { return int(x); }"), [{"a", "b"}])

    def test_locals_of_tests_are_no_names_of_the_source(self):
        one = '#include <doctest/doctest.h>\nTEST_CASE("one") { const int found = 1; CHECK(found == 1); }\n'
        self.assertEqual(groups(a=one, b=one.replace("one", "two")), [{"a", "b"}])

    def test_a_static_function_is_private(self):
        self.assertEqual(groups(a="static int half(int x) { return x / 2; }", b="int g() { return half(4); }"),
                         [{"a"}, {"b"}])

    def test_a_type_that_means_another_one_elsewhere_separates_even_lax_sources(self):
        a, b = "namespace { struct Row { int x; }; }", "#include <rows.h>\nint width(const Row& row);"
        self.assertEqual(groups(lax=True, a=a, b=b), [{"a"}, {"b"}])

    def test_public_functions_may_be_called(self):
        self.assertEqual(groups(a="int f() { return 1; }", b="int f();\nint g() { return f(); }"), [{"a", "b"}])

    def test_macros_are_names(self):
        self.assertEqual(groups(a="#define LIMIT 1\n", b="#define LIMIT 2\n"), [{"a"}, {"b"}])

    def test_sources_that_are_using_different_namespaces_separate(self):
        texts = {name: f"using namespace n;\n{more}int {name}();" for name, more in
                 {"a": "", "b": "using namespace n::x;\n", "c": "using namespace n::y;\n"}.items()}
        self.assertEqual(groups(**texts), [{"a", "b"}, {"c"}])
        self.assertEqual(groups(lax=True, **texts), [{"a", "b", "c"}])

    def test_groups_have_a_largest_size(self):
        self.assertEqual([len(group) for group in groups(largest=2, **{f"s{i}": f"int f{i}();" for i in range(5)})],
                         [2, 2, 1])


class Program(unittest.TestCase):
    def test_keys_stay_apart_and_some_sources_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = {name: f"int {name}();" for name in "abcdf"}
            texts["e"] = '#define HWY_TARGET_INCLUDE "e.cpp"\n'
            for name, text in texts.items():
                (Path(folder) / f"{name}.cpp").write_text(text)
            keys = {"one|": "abf", "one|-O3": "cde", "two|": "f"}
            lines = "".join(f"{key}|{folder}/{name}.cpp\n" for key, names in keys.items() for name in names)
            out = subprocess.run([sys.executable, "-B", str(ROOT / "packaging/together.py")], input=lines, text=True,
                                 capture_output=True, check=True).stdout.replace(folder + "/", "")
        self.assertEqual(out.splitlines(), ["one||a.cpp|b.cpp", "one|-O3|c.cpp|d.cpp"])


if __name__ == "__main__":
    unittest.main()
