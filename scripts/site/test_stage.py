"""test_stage.py: what stage.py makes of Markdown: tables of what GitHub reads and what mkdocs needs for the same; and what
nav.py says of a nav.conf that is wrong."""
import sys
import unittest
from unittest import mock

import nav
import stage

TURNED = [
    ("a list right behind a paragraph", "text\n- one\n- two\n", "text\n\n- one\n- two\n"),
    ("one behind a blank line", "text\n\n- one\n", "text\n\n- one\n"),
    ("an item goes on by four columns", "- one\n  more\n\n  again\n", "- one\n    more\n\n    again\n"),
    ("a numbered one", "1. one\n   more\n", "1. one\n    more\n"),
    ("an item of several paragraphs ends with a blank line", "1. one\n\n   more\n2. two\n", "1. one\n\n    more\n\n2. two\n"),
    ("an item within one", "- one\n  - two\n    more\n- three\n", "- one\n    - two\n        more\n- three\n"),
    ("an example within one", "1. one\n\n\t\tcommand\n", "1. one\n\n         command\n"),
    ("a table within one", "1. one\n\n   | a |\n   |---|\n2. two\n", "1. one\n\n    | a |\n    |---|\n\n2. two\n"),
    ("a table ends a list", "- one\n\n| a |\n|---|\n\n2. two\n", "- one\n\n| a |\n|---|\n\n2. two\n"),
    ("a line that begins with a number", "with mode\n0600. More\n", "with mode\n0600\\. More\n"),
    ("one within an item", "1. with mode\n   0600. More\n", "1. with mode\n    0600\\. More\n"),
    ("what is fenced stays", "```sh\n- a\n  - b\n```\n", "```sh\n- a\n  - b\n```\n"),
    ("but for its indent", "1. one\n\n   ```sh\n   a\n   ```\n", "1. one\n\n    ```sh\n    a\n    ```\n"),
    ("a paragraph ends a list", "- one\n\ntext\n  more\n", "- one\n\ntext\n  more\n"),
    ("a heading ends a list", "- one\n# two\n- three\n", "- one\n# two\n\n- three\n"),
]


class Markdown(unittest.TestCase):
    def test_lists(self):
        for name, given, wanted in TURNED:
            with self.subTest(name):
                self.assertEqual(stage.for_mkdocs(given), wanted)

    def test_a_manual_page_in_prose_is_a_link(self):
        site = stage.Site(stage.ROOT / "build")
        site.known = {"man/burstd.conf.5"}
        link = "[burstd.conf(5)](../man/burstd.conf.5.md)"
        for given, wanted in [("see burstd.conf(5).", f"see {link}."), ("`burstd.conf(5)`", None), ("[burstd.conf(5)](x)", None),
                              ("slurm.conf(5)", None), ("    burstd.conf(5)", None), ("```\nburstd.conf(5)\n```", None)]:
            with self.subTest(given):
                self.assertEqual(site.mentions(given, "providers/a.md"), wanted or given)

    def test_a_link_leads_to_the_page_of_the_same_document(self):
        site = stage.Site(stage.ROOT / "build")
        site.known = {"docs/aws.md", "README.md"}
        for source, place, target, wanted in [
                ("docs/providers/x.md", "providers/x.md", "../aws.md#prices", "../aws.md#prices"),
                ("docs/aws.md", "aws.md", "../README.md", "what-burstd-is.md"),
                ("docs/aws.md", "aws.md", "#prices", "#prices"),
                ("docs/aws.md", "aws.md", "https://burstd.example", "https://burstd.example")]:
            with self.subTest(target):
                self.assertEqual(site.link(source, place, target), wanted)


class Nav(unittest.TestCase):
    def said(self, lines, documents):
        with mock.patch.object(nav, "lines", lambda: iter(lines)), mock.patch.object(nav, "documents", lambda: documents):
            return sorted(set(nav.problems()))

    def test_each_document_has_one_place(self):
        good = ["= Admins", "docs/spot.md", "- More", "docs/aws.md : EC2"]
        for name, lines, documents, wanted in [
                ("all is well", good, ["docs/spot.md", "docs/aws.md"], []),
                ("a document without a place", good, ["docs/spot.md", "docs/roles.md"],
                 ["docs/roles.md has no place in scripts/site/nav.conf"]),
                ("two places", good + ["docs/spot.md"], [], ["scripts/site/nav.conf: docs/spot.md has two places"]),
                ("a place without a document", good + ["docs/none.md"], [], ["scripts/site/nav.conf: there is no docs/none.md"]),
                ("a reader without a page", good + ["= Finance"], [], ["scripts/site/nav.conf: Finance has no page"])]:
            with self.subTest(name):
                self.assertEqual(self.said(lines, documents), wanted)

    def test_a_pattern_takes_what_has_no_line_of_its_own(self):
        first = "docs/adr/0001-lists-are-the-only-eyes.md"
        with mock.patch.object(nav, "lines", lambda: iter(["= A", "docs/adr/*.md", f"{first} : First"])):
            files = nav.files(nav.read())
        self.assertEqual((files.count(first), files[-1]), (1, first))
        self.assertIn("docs/adr/0002-hooks-are-hints.md", files)

    def test_the_configuration_has_the_order(self):
        tree = [("Admins", [(None, [("docs/spot.md", None)]), ("More", [("README.md", "What"), ("man/burstd.8", None)]), ("None", [])])]
        self.assertEqual(nav.as_yaml(tree), 'nav: [{"Admins": ["spot.md", {"More": [{"What": "what-burstd-is.md"}, "man/burstd.8.md"]}]}]\n')


if __name__ == "__main__":
    done = unittest.main(exit=False, argv=sys.argv[:1]).result
    sys.exit(not done.wasSuccessful())
