"""compare.py SITE: for each document, whether its page in SITE has the lists, tables, examples and headings that CommonMark
reads in it: markdown-it against mkdocs' Markdown, behind stage.py."""
import collections
import re
import sys
from pathlib import Path

from markdown_it import MarkdownIt

import nav

TAGS = re.compile(r"<(li|ol|ul|pre|table|tr|td|th|code|h2|h3|strong|blockquote)\b")


def count(html):
    return collections.Counter(TAGS.findall(html))


def of_page(html):
    article = re.search(r"<article.*?>(.*?)</article>", html, re.S)[1]
    return count(re.sub(r'<a class="headerlink".*?</a>', "", article, flags=re.S))


reader = MarkdownIt("commonmark").enable("table")
wrong = 0
for file in nav.files(nav.read()):
    if file in nav.MADE or file.startswith("man/"):
        continue
    wanted = count(reader.render((nav.ROOT / file).read_text()))
    had = of_page((Path(sys.argv[1]) / nav.place_of(file)).with_suffix(".html").read_text())
    if wanted != had:
        print(file, "has", dict(wanted - had), "more, and its page", dict(had - wanted))
        wrong = 1
sys.exit(wrong)
