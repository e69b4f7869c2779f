#!/usr/bin/env python3
"""nav.py: nav.conf, read; and as a program: with --places the page of each document, else one line for each document that nav.conf places nowhere, and for each place
without a document.  Exit status 1 if there is one."""
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MADE = {"options"}  # pages that stage.py makes of no document


def lines():
    for line in (HERE / "nav.conf").read_text().splitlines():
        line = line.strip()
        if line and not line.startswith("#"):
            yield line


def exists(file):
    return file in MADE or (ROOT / file).exists()


def matches(pattern, taken):
    """The files of PATTERN that have no line of their own; man/* are those that docs/man has sources of."""
    if pattern.startswith("man/"):
        return sorted("man/" + f.stem for f in (ROOT / "docs/man").glob("*.scd"))
    return sorted(f for f in (str(p.relative_to(ROOT)) for p in ROOT.glob(pattern)) if f not in taken)


def read():
    """[(reader, [(group or None, [(file, title or None)])])]"""
    taken = {line.split(" : ")[0].strip() for line in lines() if line[0] not in "=-"}
    tree = []
    for line in lines():
        if line[0] == "=":
            tree.append((line[1:].strip(), [(None, [])]))
        elif line[0] == "-":
            tree[-1][1].append((line[1:].strip(), []))
        else:
            file, _, title = (part.strip() for part in line.partition(" : "))
            found = matches(file, taken) if "*" in file else [file]
            tree[-1][1][-1][1].extend((f, title or None) for f in found)
    return tree


def files(tree):
    return [file for _, groups in tree for _, pages in groups for file, _ in pages]


def place_of(file):
    """Where the page of a document is in the site."""
    if file in MADE:
        return file + ".md"
    if file.startswith("man/"):
        return file + ".md"
    if file.startswith("scripts/site/pages/"):
        return file.removeprefix("scripts/site/pages/")
    if file == "README.md":
        return "what-burstd-is.md"
    if file.startswith("docs/"):
        return file.removeprefix("docs/").replace("examples/README.md", "examples.md")
    return file.replace("/README.md", ".md").lower() if file.endswith(".md") else file


def as_yaml(tree):
    """mkdocs' nav; JSON is YAML."""
    def page(file, title):
        return {title: place_of(file)} if title else place_of(file)
    out = []
    for reader, groups in tree:
        entries = []
        for group, pages in groups:
            listed = [page(*p) for p in pages]
            if listed:
                entries += [{group: listed}] if group else listed
        out.append({reader: entries})
    return "nav: " + json.dumps(out) + "\n"


def documents():
    """All of the source tree, which may be one without git."""
    for top, directories, names in os.walk(ROOT):
        if top == str(ROOT):
            directories[:] = [d for d in directories if d not in ("build", ".git")]
        yield from (os.path.relpath(os.path.join(top, n), ROOT) for n in names if n.endswith(".md"))


def problems():
    tree = read()
    placed = files(tree)
    for file in documents():
        if file not in placed and file != "scripts/site/pages/options.md":
            yield f"{file} has no place in scripts/site/nav.conf"
    for file in placed:
        if not file.startswith("man/") and not exists(file):
            yield f"scripts/site/nav.conf: there is no {file}"
        if placed.count(file) > 1:
            yield f"scripts/site/nav.conf: {file} has two places"
    for reader, groups in tree:
        if not any(pages for _, pages in groups):
            yield f"scripts/site/nav.conf: {reader} has no page"


if __name__ == "__main__":
    if sys.argv[1:] == ["--places"]:
        print("\n".join(place_of(file) for file in files(read())))
        sys.exit()
    wrong = sorted(set(problems()))
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))
