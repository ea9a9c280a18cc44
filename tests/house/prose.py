"""Places in prose that are worth a second reading, and the lengths of its sentences.

    prose.py [--strings] FILE..      prints the places in Markdown files, docstrings of Python files, comments of C++ files (or, with
                                     --strings, the texts that the window shows) and lessons, and the rate

A place is not a mistake by itself; the rate is what counts.
"""
import ast
import json
import re
import sys
from pathlib import Path

LONGEST = 35  # words of a sentence
NOUNS = "a noun in place of the clause: contents, cost, result"
VERBS = "an English verb or preposition"
RULES = {
    NOUNS: r"\b[Ww]hat (?:a|an|are|comes|each|follows|has|is|it|nobody|remains|the|they|was|were)\b(?![^.!?]*\?)|\bof which\b",
    VERBS: r"\b(?:go|goes|went|going) on (?:with|from|under|there)\b|\b(?:deals?|dealt) out\b|\b(?:is|are|be) told\b|\bin words\b"
           r"|\bbeside (?:each|it|that|them|these|this|those)\b|\bnothing beside\b|\bby (?:itself|themselves)\b|\bas ever\b|\b[Bb]egun with\b"
           r"|\bis no (?:file|graph|model|number|size|tensor)\b|\bthe way back\b|\bways? out\b|\bwill do\b|\band so (?:are|did|do|does|has|is)\b",
    "a machine, not a person": r"\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever|[Aa]nybody)\b",
    "'contains' or 'provides'": r"`[\w./-]+` (?:has|have) (?:a|it|the|them|what)\b",
    "'also', before the verb": r", too\b(?=[.;)]|$)",
}


def plain(text):
    """Markdown without its marks: code is one word, links are their labels."""
    text = re.sub(r"`[^`\n]*`", "code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<[^>\n]+>|[*_]{1,2}(?=\w)|(?<=\w)[*_]{1,2}", "", text)


def marked_parts(text):
    """(number of the line, text) of the paragraphs, items and cells of a page."""
    text = re.sub(r"^```.*?^```$|^ {4}[^\n]*$|<!--.*?-->", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    begin, lines, before = 1, [], ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.startswith("|"):
            yield from ((number, cell) for cell in line.strip("|").split("|") if not re.fullmatch(r"[\s:-]*", cell))
        starts = re.match(r"\s*(?:[-*#>|]|\d+\.)(?=\s|#|\|)", line)
        if starts or not line.strip() or before.startswith("#"):
            yield begin, " ".join(lines)
            begin, lines = number, []
        if line.strip() and not line.startswith("|"):
            lines.append(re.sub(r"^\s*(?:[-*>#]+|\d+\.)\s", "", line).strip())
        before = line


def docstrings(text):
    tree = ast.parse(text)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and ast.get_docstring(node):
            for number, part in enumerate(re.split(r"\n\s*\n|\n(?= *\w+: )", ast.get_docstring(node))):
                yield getattr(node, "lineno", 1) + number, " ".join(part.split())


def comments(text):
    """The comments of C++: lines that follow each other are one part."""
    begin, lines, below = 1, [], False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        found = re.search(r"(?:^|\s)///?(?:\s(.*))?$", line)
        alone = line.lstrip().startswith("//")
        if not (below and alone and found and found[1]):
            yield begin, " ".join(lines)
            begin, lines = number, []
        if found and found[1]:
            lines.append(found[1].strip())
        below = alone


LITERALS = r'((?:"(?:[^"\\\n]|\\.)*"\s*)+)'
SHOWN = re.compile(r'(?:\btr\(|\b(?:translate|NOOP)\(\s*"[^"]*",)\s*' + LITERALS)


def strings(text):
    """The texts of C++ that the window shows: the arguments of tr() and its like."""
    for found in SHOWN.finditer(text.replace("QT_TRANSLATE_", "")):
        literal = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found[1]))
        shown = re.sub(r"\\n|</?p>", "\n", literal).replace('\\"', '"').replace("&", "")
        yield from ((text.count("\n", 0, found.start()) + 1, part) for part in shown.split("\n"))


def lesson(text):
    """All texts of a lesson; it has no two that are alike."""
    def texts(item):
        if isinstance(item, dict):
            return [one for key, value in item.items() if key not in ("do", "expect") for one in texts(value)]
        if isinstance(item, list):
            return [one for value in item for one in texts(value)]
        return [item] if isinstance(item, str) else []
    for one in texts(json.loads(text)):
        yield from ((text.count("\n", 0, max(0, text.find(json.dumps(one, ensure_ascii=False)))) + 1, part) for part in one.split("\n\n"))


READERS = {".md": marked_parts, ".py": docstrings, ".h": comments, ".cpp": comments, ".json": lesson}


def parts(path, reader=None):
    found = (reader or READERS[path.suffix])(path.read_text())
    return [(number, plain(part).strip()) for number, part in found if part.strip()]


def sentences(part):
    return [one for one in re.split(r"(?<=[.:;!?])\s+(?=\S)", part) if one]


def places(part):
    """(rule, the words) of each place in a part."""
    for rule, pattern in RULES.items():
        for found in re.finditer(pattern, part):
            yield rule, part[max(0, found.start() - 40):found.end() + 40]
    for sentence in sentences(part):
        if len(sentence.split()) > LONGEST:
            yield f"more than {LONGEST} words", sentence[:90]


def figures(paths, reader=None):
    """(places, words, words of each sentence) of some files; a place is (path, line, rule, words). A reader other than that of a file's kind."""
    found, words, lengths = [], 0, []
    for path in paths:
        for number, part in parts(path, reader):
            found += [(path, number, *place) for place in places(part)]
            words += len(part.split())
            lengths += [len(one.split()) for one in sentences(part) if len(one.split()) > 3]
    return found, words, sorted(lengths)


def main(arguments):
    paths = [Path(name) for name in arguments if name != "--strings"]
    found, words, lengths = figures(paths, strings if "--strings" in arguments else None)
    for path, number, rule, text in found:
        print(f"{path}:{number}: {rule}: {text}")
    if words:
        print(f"-- {len(found)} in {words} words: {1000 * len(found) / words:.2f} per 1,000; nine of ten sentences have up to "
              f"{lengths[len(lengths) * 9 // 10]} words")


if __name__ == "__main__":
    main(sys.argv[1:])
