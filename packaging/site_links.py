"""A hook of MkDocs (mkdocs.yml). Pages beside docs/ become pages of the site, and links lead to pages of the site, as they lead to files in a
checkout. Lists may follow a paragraph without an empty line, as on GitHub."""

import os
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"(?<=\n)(?!(?:[-*]|\d+\.) |\s|\n|\|)([^\n]+\n)((?:[-*]|\d+\.) )")


def on_files(files, config):
    for name in OUTSIDE:
        files.append(File.generated(config, f"project/{name}", abs_src_path=str(ROOT / name)))
    return files


def address(target):
    """A path in the checkout as one of the site; None where the site has no such page."""
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    return f"project/{target}" if target in OUTSIDE else None


def linked(text, page):
    source = Path(page.file.abs_src_path).relative_to(ROOT).parent.as_posix()

    def link(found):
        image, label, target, place = found.groups()
        if re.match(r"\w+:", target):
            return found[0]
        path = posixpath.normpath(posixpath.join(source, target))
        if not (ROOT / path).exists():
            return found[0]  # a broken link, about which MkDocs complains
        here = posixpath.dirname(page.file.src_uri) or "."
        there = address(path)
        return f"{image}[{label}]({os.path.relpath(there, here)}{place or ''})" if there else label

    return LINK.sub(link, text)


def on_page_markdown(markdown, page, **_):
    parts = CODE.split("\n" + markdown)
    return "".join(part if place % 2 else ITEM.sub(r"\1\n\2", linked(part, page)) for place, part in enumerate(parts))
