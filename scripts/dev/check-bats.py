#!/usr/bin/python3
"""check-bats.py [FILE...]: commands of bats tests whose failure nobody sees; exit status 1 if there is one.

In a test of bats a command that fails ends it, but neither the left side of "A && B" nor "! A" does, unless it is the
last command of the test; in a loop never, for all rounds but the last.  Write A and B on lines of their own, and "run ! A".

In a helper "A && do something" is as good as an if; it is the tests at the end of one ("A && [ B ]") that are lost there.
And of a helper that is asked ("within 10 helper", "if helper", "run helper") only the last command counts: "[ A ]" before
that does nothing.  Write "[ A ] || return".

Without arguments: all of git's *.bats, and the libraries that they load.  A file that it cannot read to its end fails.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

FILES = ["*.bats", "*.bash", "tests/e2e/lab/*.sh", "tests/node/*.sh"]
ASKED = re.compile(r"(?:within|lab_wait) \S+ ([a-z_]+)|(?:^|[ \t;(])(?:run|if|elif|until|while|!)(?: [-!0-9]+)* ([a-z_]+)"
                   r"|([a-z_]+)(?: \"?[$a-z0-9{}_-]+\"?)* (?:&&|\|\|)", re.M)
TOKEN = re.compile(r"\n|;;|;|&&|\|\||\|&?|\(|\)|(?:[<>]&|&>|[^\s;&|()])+|&")

Command = collections.namedtuple("Command", "words bodies")  # bodies: (role, chains)
Pipe = collections.namedtuple("Pipe", "negated commands")
Chain = collections.namedtuple("Chain", "start pipes ops aside")  # aside: it ends in "&"


class Blank:
    """A text of bash, as long as before, without what could be taken for bash and is none: what is quoted, comments,
    here-documents; and without substitutions, whose commands no test sees fail."""

    def __init__(self, text):
        self.text, self.out, self.here = text, list(text), []
        self.commands(0, None)

    def fill(self, begin, end, by="x"):
        self.out[begin:end] = by * (end - begin)
        return end

    def find(self, what, i):
        end = self.text.find(what, i)
        if end < 0:
            raise ValueError(f"{self.text.count(chr(10), 0, i) + 1}: no {what} for it")
        return end + len(what)

    def commands(self, i, close):
        """From i to behind the parenthesis that closes, or to the end."""
        while i < len(self.text):
            c, word = self.text[i], i == 0 or self.text[i - 1] in " \t\n;&|("
            if c == close:
                return i + 1
            quoted = self.quoted(i)
            if quoted > i:
                i = self.fill(i, quoted, " " if self.text.startswith("\\\n", i) else "x")
            elif c == "#" and word:
                i = self.fill(i, (self.text + "\n").index("\n", i), " ")
            elif c == "\n":
                i = self.documents(i + 1)
            elif self.text.startswith("<<<", i):
                i += 3
            elif m := re.compile(r"<<(-?)\s*(\\?)(['\"]?)([\w.]+)\3").match(self.text, i):
                self.here.append((m[1], m[4]))
                i = self.fill(i, m.end())
            elif self.text.startswith("[[", i) and word:
                i = self.fill(i + 2, self.test(i + 2))
            elif self.text.startswith("((", i) and word:
                i = self.fill(i, self.sum(i + 2))
            elif c == "(" and i and self.text[i - 1] == "=":
                i = self.fill(i, self.commands(i + 1, ")"))
            else:
                i = self.commands(i + 1, ")") if c == "(" and close else i + 1
        if close:
            raise ValueError(f"a {close} is missing at the end")
        return i

    def quoted(self, i):
        """Behind what begins at i, if it is quoted or substituted; else i."""
        two = self.text[i:i + 2]
        if two[:1] == "\\":
            return i + 2
        if two[:1] == "'":
            return self.find("'", i + 1)
        if two == "$'":
            return re.compile(r"(?:\\.|[^'\\])*'", re.S).match(self.text, i + 2).end()
        if two[:1] == '"':
            return self.until('"', i + 1)
        if two[:1] == "`":
            return self.find("`", i + 1)
        if self.text.startswith("$((", i):
            return self.sum(i + 3)
        if two in ("$(", "<(", ">("):
            return self.commands(i + 2, ")")
        return self.until("}", i + 2) if two == "${" else i

    def until(self, close, i):
        """Behind the closing quote or brace; in quotes an apostrophe is one."""
        while self.text[i:i + 1] != close:
            if i >= len(self.text):
                raise ValueError(f"a {close} is missing at the end")
            inner = i if self.text[i] == "'" or self.text[i:i + 2] in ("$'", "<(", ">(") else self.quoted(i)
            i = max(inner, i + 1)
        return i + 1

    def sum(self, i):
        """Behind what "((" began."""
        depth = 2
        while depth > 0:
            if i >= len(self.text):
                raise ValueError("a )) is missing at the end")
            depth += {"(": 1, ")": -1}.get(self.text[i], 0)
            i = max(self.quoted(i), i + 1)
        return i

    def test(self, i):
        while not re.compile(r"\s\]\]").match(self.text, i):
            i = max(self.quoted(i), i + 1)
            if i >= len(self.text):
                raise ValueError("a ]] is missing at the end")
        return i

    def documents(self, i):
        while self.here:
            dash, word = self.here.pop(0)
            end = re.compile(rf"^{dash and chr(9) + '*'}{re.escape(word)}$", re.M).search(self.text, i)
            if not end:
                raise ValueError(f"no end of the here-document {word}")
            i = self.fill(i, end.end(), " ")
        return i


class Parser:
    """What bash makes of it, as far as that matters here."""
    BODIES = {"if": (("then", "cond"), ("elif", "inherit"), ("else", "inherit"), ("fi", "inherit")),
              "while": (("do", "cond"), ("done", "loop")), "for": (("done", "loop"),)}

    def __init__(self, text):
        self.tokens = [(m.group(), m.start()) for m in TOKEN.finditer(text)] + [("", len(text))]
        self.line = lambda at: text.count("\n", 0, at) + 1
        self.i = 0

    @property
    def now(self):
        return self.tokens[self.i][0]

    def take(self, *wanted):
        if wanted and self.now not in wanted or self.now == "":
            raise ValueError(f"{self.line(self.tokens[self.i][1])}: {self.now!r} where {' or '.join(wanted)!r} should be")
        self.i += 1
        return self.tokens[self.i - 1][0]

    def lines(self):
        while self.now == "\n":
            self.i += 1

    def chains(self, *ends):
        found = []
        while True:
            while self.now in ("\n", ";"):
                self.i += 1
            if self.now in ends:
                return found
            found.append(self.chain())

    def chain(self):
        start, pipes, ops = self.tokens[self.i][1], [self.pipe()], []
        while self.now in ("&&", "||"):
            ops.append(self.take())
            self.lines()
            pipes.append(self.pipe())
        return Chain(start, pipes, ops, self.now == "&" and bool(self.take()))

    def pipe(self):
        negated = False
        while self.now == "!":
            negated = not negated and bool(self.take())
        commands = [self.command()]
        while self.now in ("|", "|&"):
            self.take()
            self.lines()
            commands.append(self.command())
        return Pipe(negated, commands)

    def command(self):
        word = self.now
        if word in ("", ")", ";;", "&&", "||", "|", "then", "do", "done", "fi", "esac", "}"):
            self.take("a command")
        if word in ("(", "{"):
            end = {"(": ")", "{": "}"}[self.take()]
            bodies = [("sub" if word == "(" else "inherit", self.chains(end))]
            self.take(end)
        elif word in ("if", "while", "until", "for"):
            bodies = self.compound()
        elif word == "case":
            bodies = self.case()
        else:
            return self.simple()
        return Command([word, *self.words()], bodies)

    def words(self):
        """The rest of a command: arguments, and what is written behind a compound one."""
        words = []
        while self.now not in ("\n", ";", ";;", "&", "&&", "||", "|", "|&", "(", ")", ""):
            words.append(self.take())
        return words

    def simple(self):
        words = self.words()
        if words[0] == "@test" and words[-1] == "{":
            bodies = [("test", self.chains("}"))]
            self.take("}")
            return Command(words, bodies)
        if self.now == "(" and len(words) == 1:
            self.take("(")
            self.take(")")
            self.lines()
            body = self.command()
            return Command(words, [(words[0], chains) for _, chains in body.bodies])
        return Command(words, [])

    def compound(self):
        bodies, word = [], self.take()
        parts = self.BODIES["while" if word == "until" else word]
        if word == "for":
            self.words()
            while self.now in ("\n", ";"):
                self.take()
            self.take("do")
        while self.now != parts[-1][0] or not bodies:
            role = "cond" if word in ("if", "elif", "while", "until") else "loop" if parts[-1][0] == "done" else "inherit"
            bodies.append((role, self.chains(*(p for p, _ in parts))))
            word = self.now
            if word == parts[-1][0]:
                break
            self.take()
        self.take(parts[-1][0])
        return bodies

    def case(self):
        bodies = []
        self.take("case")
        self.words()
        while self.now != "esac":
            if self.now in ("\n", "("):
                self.take()
                continue
            while self.take() != ")":
                pass
            bodies.append(("inherit", self.chains(";;", "esac")))
            if self.now == ";;":
                self.take()
        self.take("esac")
        return bodies


def is_test(pipe):
    return any(c.words[0] in ("[", "test") or c.words[0].startswith("[[") or c.words[:2] == ["grep", "-q"] for c in pipe.commands)


class Judge:
    def __init__(self, asked):
        self.asked, self.lost = asked, []

    def cannot_fail(self, chain, helper):
        last = chain.pipes[-1]
        if chain.aside:
            return False
        if last.negated and (not helper or len(chain.pipes) == 1 or is_test(last)):
            return True
        if chain.ops[-1:] == ["&&"]:
            return is_test(last) if helper else last.commands[0].words != ["false"]
        return helper in self.asked and not chain.ops and is_test(last)

    def judge(self, chains, helper, counts):
        """helper: its name, "" in a test, None outside of both; counts: the last one's status is that of the whole."""
        for chain in chains:
            last = counts and chain is chains[-1]
            if helper is not None and not last and self.cannot_fail(chain, helper):
                self.lost.append(chain.start)
            for pipe in chain.pipes:
                asked = last or pipe is not chain.pipes[-1]
                for role, body in (b for c in pipe.commands for b in c.bodies):
                    self.body(role, body, helper, asked)

    def body(self, role, body, helper, counts):
        if role in ("sub", "inherit", "loop"):
            self.judge(body, helper, role == "sub" or role == "inherit" and counts)
        elif role != "cond": # a function
            self.judge(body, "" if re.match("test$|setup|teardown", role) else role, True)


def main():
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    paths = sys.argv[1:] or subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *FILES], text=True,
                                           check=True, stdout=subprocess.PIPE).stdout.splitlines()
    texts = {p: pathlib.Path(p).read_text() for p in paths if pathlib.Path(p).exists()}
    judge, failed = Judge({name for t in texts.values() for m in ASKED.finditer(t) for name in m.groups() if name}), False
    for path, text in texts.items():
        judge.lost = []
        try:
            judge.judge(Parser("".join(Blank(text).out)).chains(""), None, True)
        except ValueError as e:
            print(f"{path}: cannot be read: {e}")
            failed = True
        for start in judge.lost:
            line = text.count("\n", 0, start)
            print(f"{path}:{line + 1}: cannot fail here: {text.splitlines()[line]}")
            failed = True
    sys.exit(failed)


main()
