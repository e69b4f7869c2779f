#!/usr/bin/env python3
"""stage.py BUILD: write the sources of the documents' site into BUILD/site-src, and mkdocs' configuration beside them.

GitHub and mkdocs read Markdown a little differently, and the documents are written for the first: here they become what
the second reads.  Links keep leading to the same document; a file that is no document becomes a page of its own.  The
manual pages are BUILD/man's, by mandoc, and the table of options is what BUILD/bin/burstctl says.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nav

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^( *)([-*+]|\d+\.)( +)(?=\S)")
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
LANGUAGE = {".sbatch": "sh", ".sh": "sh", ".py": "python", ".json": "json", ".lua": "lua"}


class Lists:
    """Continues the lines of a list's item by four columns for each level, which is what mkdocs' Markdown wants."""

    def __init__(self):
        self.open = []  # of each open item: the column of its text
        self.blank = True  # was the line before blank?
        self.loose = False  # has the last item several paragraphs?

    def line(self, line):
        indent = len(line) - len(line.lstrip(" "))
        item = ITEM.match(line)
        in_list = bool(self.open) and not self.loose
        if item and item[2][:-1] not in ("", "1") and not self.blank and indent >= (self.open[-1] if self.open else 0):
            line, item = line.replace(".", "\\.", 1), None  # a number that begins a line of a paragraph
        # A line left of an item's text ends the item, but for one that goes on with its paragraph.
        while self.open and indent < self.open[-1] and (item or self.blank):
            self.open.pop()
        left = self.open[-1] if self.open else 0
        if item and indent < left + 4:
            out = [" " * 4 * len(self.open) + line.lstrip(" ")]
            self.open.append(item.end())
            self.loose = False
            return out if in_list or self.blank else ["", *out]
        self.loose |= self.blank
        return [" " * (4 * len(self.open) + max(0, indent - left)) + line.lstrip(" ")] if self.open else [line]


def for_mkdocs(text):
    """Lists with blank lines before them and indents of four; what stands between fences as it is."""
    out, fenced, lists = [], False, Lists()
    for line in text.splitlines():
        fence = FENCE.match(line)
        if not fenced and not fence and line.strip():
            if line.startswith("#"):
                lists = Lists()
                out.append(line)
            else:
                out += lists.line(line.expandtabs(4))
        elif lists.open and line.strip():
            out.append(" " * 4 * len(lists.open) + line.removeprefix(" " * lists.open[-1]))
        else:
            out.append(line)
        fenced ^= bool(fence)
        lists.blank = not line.strip()
    return "\n".join(out) + "\n"


class Site:
    def __init__(self, build):
        self.build = build
        self.out = build / "site-src" / "pages"
        self.files = set()

    def write(self, place, text):
        path = self.out / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def link(self, source, place, target):
        """TARGET, as the document SOURCE has it, from the page at PLACE."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        path, _, heading = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(source), path))
        ours = file in self.known or file.startswith("scripts/site/pages/")
        there = nav.place_of(file) if ours else self.plain(file)
        return os.path.relpath(there, os.path.dirname(place) or ".") + ("#" + heading if heading else "")

    def plain(self, file):
        """A page for a file that is no document."""
        if file.endswith((".png", ".svg")):
            place = nav.place_of(file)
            (self.out / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.out / place)
            return place
        place = f"files/{file}.md"
        if file not in self.files:
            self.files.add(file)
            text = (ROOT / file).read_text()
            self.write(place, f"# {file}\n\n~~~~~{LANGUAGE.get(Path(file).suffix, 'text')}\n{text}~~~~~\n")
        return place

    def document(self, file):
        place = nav.place_of(file)
        text = for_mkdocs((ROOT / file).read_text())
        text = LINK.sub(lambda m: m[1] + self.link(file, place, m[2]) + m[3], text)
        self.write(place, self.mentions(text, place))

    def mentions(self, text, place):
        """burstd.conf(5) in prose leads to that manual page."""
        out, fenced = [], False
        for line in text.splitlines(keepends=True):
            fenced ^= bool(FENCE.match(line))
            if not fenced and not line.startswith(("    ", "\t", "#")):
                line = re.sub(r"(?<![`\w\[.-])([a-z][a-z.-]+)\((\d)\)(?![`\]])", lambda m: self.mention(m, place), line)
            out.append(line)
        return "".join(out)

    def mention(self, match, place):
        page = f"man/{match[1]}.{match[2]}"
        if page not in self.known:
            return match[0]
        return f"[{match[0]}]({os.path.relpath(page + '.md', os.path.dirname(place) or '.')})"

    def manual(self, name):
        """A manual page: headings for the table of contents and for the search, and mandoc's HTML between them."""
        html = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", self.build / name], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        page, section = name.removeprefix("man/").rsplit(".", 1)
        out, options = [f"# {page}({section})\n"], ""
        for part in re.split(r"(<h[12] class=\"S[hs]\".*?</h[12]>)", html, flags=re.S)[1:]:
            if part.startswith("<h"):
                title = " ".join(re.sub(r"<.*?>", "", part).split())
                options = re.sub(r"SECTION | NAME$|^.* ", "", title).lower()
                out.append(("## " if part.startswith("<h1") else "### ") + title + "\n")
                continue
            part = re.sub(r"</?section[^>]*>|</div>\s*<table class=\"foot\">.*", "", part, flags=re.S)
            out.append(f'<div class="man">\n{self.anchors(self.pages(part), options)}\n</div>\n')
        self.write(f"man/{page}.{section}.md", "\n".join(out))

    def anchors(self, html, section):
        """An option has an anchor, image of a provider's section #provider.image; the first of a name has it."""
        def one(match):
            name = f"{section}.{match[1]}"
            if name in self.named:
                return match[0]
            self.named.add(name)
            return f'<p class="Pp" id="{name}"><b>{match[1]}</b>'
        return re.sub(r'<p class="Pp"><b>([a-z_]+)</b>(?=</p>| \(reload)', one, html)

    def pages(self, html):
        """NAME(N) of ours is a link."""
        ours = {p.name: p for p in (self.build / "man").iterdir()}
        return re.sub(r"<b>([a-z.-]+)</b>\((\d)\)", lambda m: f'<a href="{m[1]}.{m[2]}.html">{m[0]}</a>'
                      if f"{m[1]}.{m[2]}" in ours else m[0], html)

    def options(self):
        """What burstctl says of all options: a table for each section."""
        said = subprocess.run([self.build / "bin" / "burstctl", "config", "options"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.splitlines()
        at = [said[0].index(word) for word in ("SECTION", "OPTION", "DEFAULT", "BY RELOAD", "MEANING")]
        out, before = [self.mentions((HERE / "pages" / "options.md").read_text(), "options.md")], None
        for line in said[1:]:
            section, option, default, reload, meaning = [
                line[a:b].strip().replace("|", "\\|") for a, b in zip(at, at[1:] + [None])]
            if section != before:
                out.append(f"\n## {section.replace('(top)', 'Top level')}\n\n"
                           "| option | default | by reload | meaning |\n|---|---|---|---|\n")
            before = section
            out.append(f"| [`{option}`]({self.option_link(section, option)}) | {default} | {reload} | {meaning} |\n")
        self.write("options.md", "".join(out))

    def option_link(self, section, option):
        name = f"{section.replace('(top)', 'level').split()[-1].split(':')[-1]}.{option}"
        return "man/burstd.conf.5.md" + ("#" + name if name in self.named else "")

    def everything(self):
        shutil.rmtree(self.build / "site-src", ignore_errors=True)
        tree = nav.read()
        self.known = set(nav.files(tree))
        self.named = set()
        for page in sorted(self.known - nav.MADE):
            if page.startswith("man/"):
                self.manual(page)
            else:
                self.document(page)
        self.options()
        shutil.copy(HERE / "site.css", self.out)
        config = (HERE / "mkdocs.yml").read_text() + f"docs_dir: pages\nsite_dir: {self.build.resolve() / 'site'}\n" + nav.as_yaml(tree)
        (self.build / "site-src" / "mkdocs.yml").write_text(config)


if __name__ == "__main__":
    Site(Path(sys.argv[1])).everything()
