"""Every public name has a docstring in Google style that fits its signature, and docs/reference/python.md has the same text. Its examples run
with those of the other pages (test_docs)."""
import dataclasses
import inspect
import re
import unittest

import hopscope
import reference

BRITISH = re.compile(r"(?:col|neighb|behavi|fav|hon|lab)our|centre|metre|grey|licence|catalogue|(?:mod|lab|trav)ell|artefact|analys(?!is|es)"
                     r"|(?:optim|minim|maxim|normal|initial|serial|summar|recogn|organ|visual|general|special)is[ei]")


def names():
    """All public names, the functions and classes of `debug` too."""
    found = [*hopscope.__all__, "open", "inspect", *(f"debug.{name}" for name in hopscope.debug.__all__)]
    return [name for name in found if name not in ("debug", "__version__")]


def functions():
    """(name, object) of public functions, methods and properties."""
    for name in names():
        item = reference.found(name)
        if inspect.isclass(item):
            yield from ((f"{name}.{one}", member) for one, member in reference.members(item))
        else:
            yield name, item


def classes():
    return [(name, item) for name in names() if inspect.isclass(item := reference.found(name))]


def parameters(item):
    """As docstrings write them."""
    taken = inspect.signature(item).parameters.values()
    return [("**" if one.kind is one.VAR_KEYWORD else "") + one.name for one in taken if one.name != "self"]


class Docstrings(unittest.TestCase):
    def test_the_page_is_what_the_docstrings_say(self):
        self.assertEqual(reference.PAGE.read_text(), reference.page(), "run tests/python/reference.py --write")

    def test_every_public_name_is_on_the_page(self):
        listed = [name for section in reference.SECTIONS.values() for name in section]
        self.assertEqual(len(listed), len(set(listed)))
        failures = {kind.__name__ for kind in hopscope.HopscopeError.__subclasses__()}  # docs/reference/exit-codes.md
        self.assertEqual(set(listed), set(names()) - failures)

    def test_every_docstring_begins_with_a_sentence(self):
        for name, item in [*functions(), *classes()]:
            with self.subTest(name=name):
                self.assertRegex(inspect.getdoc(item) or "", r"\A[A-Z`\"][^\n]*(?:\n[^\n]+)*[.:]")

    def test_arguments_results_and_failures_are_described(self):
        for name, item in functions():
            if isinstance(item, property):
                continue
            said = reference.parts(item)
            with self.subTest(name=name):
                listed = [one for one, _, _ in said.get("Args", ())]
                self.assertEqual(listed, ["model", "data", "out", "**options"] if name == "run" else parameters(item))
                self.assertEqual([one for one, kind, _ in said.get("Args", ()) if not kind and "**" not in one], [])
                result = inspect.signature(item).return_annotation
                self.assertEqual([kind for kind, _, _ in said.get("Returns", ())], [] if result in ("None", "pandas.DataFrame") else [result])
                for kind, _, text in said.get("Raises", ()):
                    self.assertTrue(issubclass(getattr(hopscope, kind), hopscope.HopscopeError) and text, kind)

    def test_attributes_are_described_with_their_types(self):
        for name, item in classes():
            if not dataclasses.is_dataclass(item):
                continue
            with self.subTest(name=name):
                expected = [(one.name, str(one.type)) for one in dataclasses.fields(item)]
                self.assertEqual(sorted((one, kind) for one, kind, _ in reference.fields_of(item)), sorted(expected))

    def test_functions_without_examples_are_few(self):
        own = {name: item for name, item in functions() if "." not in name.removeprefix("debug.")}
        self.assertEqual({name for name, item in own.items() if "Example" not in reference.parts(item)}, {"trust", "open"})

    def test_settings_are_those_of_the_contract(self):
        from hopscope._contract import DEFAULTS, SETTINGS

        meanings = {setting.name: setting.meaning for setting in SETTINGS}
        for task, function in {"run": hopscope.inference, "plan": hopscope.plan, "verify": hopscope.verify, "export": hopscope.export}.items():
            said = {name: (kind, text) for name, kind, text in reference.parts(function)["Args"]}
            for name in DEFAULTS[task]:
                kind, text = said[name]
                self.assertTrue(kind, name)
                self.assertTrue(text.startswith(meanings[name]), text)

    def test_names_are_american(self):
        found = {one for name, item in classes() for one in (name, *(field for field, _, _ in reference.fields_of(item)))}
        found |= {one for name, item in functions() for one in (name, *([] if isinstance(item, property) else parameters(item)))}
        self.assertGreater(len(found), 200)
        self.assertEqual([name for name in found if BRITISH.search(name)], [])
        for british in ("colour", "neighbours", "optimise", "analyse", "behaviour", "centre"):
            self.assertTrue(BRITISH.search(british), british)


if __name__ == "__main__":
    unittest.main()
