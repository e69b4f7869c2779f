#!/usr/bin/python3
"""mutate.py FILE...: small mistakes, one at a time, that the unit tests of the file's layer or the simulator must find.

Each mutant is compiled with one change (see `mutants`), takes its object's place in the archive, and is run through
those tests that it is linked into, those named after the file first; then, in its program, through the tests that run
that; then through --seeds worlds of the simulator.  What compiles to the same code as the original or as another mutant
is none.  One that nothing finds is a missing test, or changes nothing that matters: then a row of docs/mutation.md says
why, under the file's name; any other is printed as such a row, and is a failure.

The Makefile gives the commands: MUTATE_CC compiles (source on standard input), MUTATE_UNIT links a test (@TEST@),
MUTATE_LINK the program MUTATE_PROGRAM, MUTATE_SIM the simulator; and what they link: MUTATE_ARCHIVE of MUTATE_OBJECTS,
where MUTATE_OBJECT_OF is the one of a file ("%").  MUTATE_RUNS are tests that run the program: they look for it in BIN,
or in ../../../bin.
"""
import argparse
import ctypes
import hashlib
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

TOKEN = re.compile(r"""(?P<skip>\s+|/\*.*?\*/|//[^\n]*|^\#(?:[^\n]*\\\n)*[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<word>[A-Za-z_]\w*)|(?P<number>0[xX][0-9a-fA-F]+|\d+)
    |(?P<op><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""", re.X | re.S | re.M)
SWAPS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
         "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "<<": [">>"],
         ">>": ["<<"], "|": ["&"], "&": ["|"], "++": ["--"], "--": ["++"], "+=": ["-="], "-=": ["+="], "|=": ["&="],
         "&=": ["|="], "!": [""], "true": ["false"], "false": ["true"]}
BINARY = set("+-*/%&|")
ENDS = {"&&", "||", "?", ":", ",", ";", "=", "return", "{", "}"}
PAIR = {"(": ")", "[": "]", "{": "}"}


class Source:
    """The tokens of a file, without blanks and comments; what is in assert() does not count."""

    def __init__(self, path):
        self.path, self.text = path, path.read_text()
        self.tokens = [(m.group(), m.start(), m.lastgroup) for m in TOKEN.finditer(self.text) if m.lastgroup != "skip"]
        self.match, stack, self.depth = {}, [], []
        for i, (t, _, _) in enumerate(self.tokens):
            if t in PAIR.values():
                self.match[i] = stack.pop()
                self.match[self.match[i]] = i
            self.depth.append(len(stack))
            if t in PAIR:
                stack.append(i)
        self.asserted = set()
        for i, (t, _, _) in enumerate(self.tokens):
            if t == "assert":
                self.asserted |= set(range(i, self.match[i + 1] + 1))

    def tok(self, i):
        return self.tokens[i][0] if 0 <= i < len(self.tokens) else ""

    def end(self, i):
        return self.tokens[i][1] + len(self.tokens[i][0])

    def functions(self):
        """(name, first token, last token) of each body at the top level: functions, and tables with their name."""
        begin = 0
        for i, (t, _, _) in enumerate(self.tokens):
            if self.depth[i] == 0 and t == "{" and i in self.match:
                head = [j for j in range(begin, i) if self.depth[j] == 0 and self.tok(j + 1) in ("(", "[", "=")]
                if head and self.tok(begin) not in ("struct", "enum") or self.tok(i - 1) in (")", "="):
                    yield self.tok(head[0]), i + 1, self.match[i]
                begin = self.match[i] + 1
            elif self.depth[i] == 0 and t == ";":
                begin = i + 1

    def operand(self, i, step):
        """The other end of the operand of && or || that begins or ends beside token i."""
        level, j = self.depth[i], i + step
        while (self.tok(j) not in ENDS or self.depth[j] != level) and self.depth[j] >= level:
            j += step
        return j - step

    def change(self, first, last, new):
        return self.tokens[first][1], self.end(last), new

    def of_token(self, i):
        """What one token, and what belongs to it, may become."""
        t, _, kind = self.tokens[i]
        prev = self.tokens[i - 1]
        if t in SWAPS and not (t in BINARY and prev[2] == "op" and prev[0] not in (")", "]")):
            for new in SWAPS[t]:
                yield self.change(i, i, new)
        if kind == "number":
            octal = len(t) > 1 and t.isdigit() and t[0] == "0"
            n = int(t, 8 if octal else 0)
            yield from (self.change(i, i, f"0{v:o}" if octal else str(v)) for v in (n + 1, n - 1) if v >= 0)
        if t in ("if", "while"):
            close = self.match[i + 1]
            inside = self.text[self.end(i + 1):self.tokens[close][1]]
            for head in ("true ||", "false &&")[t == "while":]:
                yield self.tokens[i + 2][1], self.tokens[close][1], f"{head} ({inside})"
        if t in ("&&", "||"):
            for a, b in ((self.operand(i, -1), i - 1), (i + 1, self.operand(i, 1))):
                yield self.change(a, b, "true" if t == "&&" else "false")

    def of_statement(self, i, last):
        """The statement that begins at token i, taken out."""
        t = self.tok(i)
        if t in ("if", "for", "while", "do", "switch", "case", "default", "else", ";", "{", "}"):
            return
        begins = self.tok(i - 1) in (";", "{", "}", "else", ":") or (
            self.tok(i - 1) == ")" and self.tok(self.match[i - 1] - 1) in ("if", "for", "while"))
        end = i
        while end < last and not (self.tok(end) == ";" and self.depth[end] == self.depth[i]):
            end += 1
        if begins and end < last and not (t == "return" and end + 1 == last and self.tok(i + 1) != ";"):
            yield self.change(i, end, ";")

    def mutants(self):
        """(function, line, change): all of them."""
        for name, first, last in self.functions():
            for i in range(first, last):
                if i not in self.asserted:
                    for c in (*self.of_token(i), *self.of_statement(i, last)):
                        yield name, c

    def row(self, name, change, seen):
        """What names a mutant in docs/mutation.md: where, what it was and what it became, counted if not the only."""
        begin, end, new = change
        low = self.text.rfind("\n", 0, begin) + 1
        high = self.text.find("\n", end)
        old = self.text[low:high]
        now = self.text[low:begin] + new + self.text[end:high]
        key = tuple(" ".join(x.split()).replace("|", "\\|") for x in (name, old, now))
        seen[key] = seen.get(key, 0) + 1
        return f"| `{key[0]}`{' (%d)' % seen[key] if seen[key] > 1 else ''} | `{key[1]}` | `{key[2]}` |"


def alone(limit, command):
    """Run as a process of its own: whatever the command leaves behind becomes this one's child, and ends with it."""
    libc = ctypes.CDLL(None)
    libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    for s in signal.SIGINT, signal.SIGTERM:
        signal.signal(s, signal.default_int_handler)
    libc.prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG
    try:
        rc = subprocess.run(command, timeout=limit, check=False).returncode
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        rc = 1
    for s in signal.SIGINT, signal.SIGTERM:
        signal.signal(s, signal.SIG_IGN)
    while children := pathlib.Path("/proc/thread-self/children").read_text().split():
        for pid in children:
            os.kill(int(pid), signal.SIGKILL)
            os.waitpid(int(pid), 0)
    return rc


def runs(command, limit, **more):
    return subprocess.run([sys.executable, __file__, "--alone", str(limit), *map(str, command)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False, **more).returncode == 0


class Judge:
    def __init__(self, source, args):
        self.source, self.args = source, args
        self.dir = pathlib.Path(args.build, "mutate", str(source.path.with_suffix("")).replace("/", "_")).absolute()
        self.dir.mkdir(parents=True, exist_ok=True)
        self.own = os.environ["MUTATE_OBJECT_OF"].replace("%", str(source.path.with_suffix("")))
        self.objects = os.environ["MUTATE_OBJECTS"].split()
        self.program = os.environ["MUTATE_PROGRAM"]
        if self.own not in self.objects + os.environ["MUTATE_LINK"].split():
            sys.exit(f"mutate: {source.path}: no test of this kind runs what it is linked into")
        self.tests = os.environ["MUTATE_TESTS"].split() if self.own in self.objects else []

    def compile(self, text, obj):
        code = f'#line 1 "{self.source.path}"\n{text}'.encode()
        command = [*shlex.split(os.environ["MUTATE_CC"]), "-x", "c", "-c", "-o", str(obj), "-"]
        return runs(command, 60, input=code) and hashlib.sha256(obj.read_bytes()).digest()

    def archive(self, obj, *instead):
        """The layer's archive, beside the object, with that or nothing in the place of the file's."""
        out = obj.with_suffix(".a")
        out.unlink(missing_ok=True)
        subprocess.run(["ar", "rcsD", str(out), *instead, *(o for o in self.objects if o != self.own)], check=True)

    def link(self, what, obj, out, test=""):
        """With the object, or the archive that has it."""
        swap = {"@TEST@": test, self.own: obj}
        if self.own in self.objects:
            swap[os.environ["MUTATE_ARCHIVE"]] = obj.with_suffix(".a")
        return runs([*(swap.get(word, word) for word in os.environ[what].split()), "-o", out], 60)

    def linked(self, what, obj, out, test=""):
        if not self.link(what, obj, out, test):
            sys.exit(f"mutate: cannot link {test or what}")
        return out

    def runs_program(self, obj):
        """The tests that run the program, with that one in the place of the built one, and the others beside it."""
        room, test_dir = obj.with_suffix(""), obj.with_suffix("") / "tests/unit/x"
        shutil.rmtree(room, ignore_errors=True)
        test_dir.mkdir(parents=True)
        shutil.copytree(os.environ["MUTATE_BIN"], room / "bin", symlinks=True)
        self.linked("MUTATE_LINK", obj, room / "bin" / self.program)
        for test in os.environ["MUTATE_RUNS"].split():
            run = shutil.copy(test, test_dir) if test.endswith(".t") else test
            if not runs([run], 300, env={**os.environ, "BIN": str(room / "bin")}):
                return False
        return True

    def by(self, obj):
        """What finds it; None: nothing."""
        if self.own in self.objects:
            self.archive(obj, obj)
        for test in self.tests:
            if not runs([self.linked("MUTATE_UNIT", obj, obj.with_suffix(".run"), test)], 60):
                return "unit"
        if self.program and not self.runs_program(obj):
            return "unit"
        found = self.args.seeds and not runs(
            [self.linked("MUTATE_SIM", obj, obj.with_suffix(".run")), "--seeds", self.args.seeds, "--steps", "2000"], 300)
        return "sim" if found else None

    def as_it_is(self, obj):
        """Nothing may find the file itself.  Tests that can be linked without it are left out, and the slow come last."""
        self.archive(obj)
        self.tests = [t for t in self.tests if not self.link("MUTATE_UNIT", obj, obj.with_suffix(".run"), t)]
        order, tests, self.program, program = {}, self.tests, "", self.program
        for test in tests:
            self.tests, began = [test], time.monotonic()
            if self.by(obj):
                sys.exit(f"mutate: {self.source.path}: {test} fails as it is")
            order[test] = f"test_{self.source.path.stem}" not in test, time.monotonic() - began
        self.tests, self.program = [], program
        if self.by(obj):
            sys.exit(f"mutate: {self.source.path}: the tests fail as it is")
        self.tests = sorted(tests, key=order.get)

    def all(self):
        """Lists of rows: found by the unit tests, by the simulator, by nothing."""
        seen, chosen, text = {}, [], self.source.text
        for name, (begin, end, new) in self.source.mutants():
            chosen.append((self.source.row(name, (begin, end, new), seen), text[:begin] + new + text[end:]))
        if self.args.only:
            chosen = [c for c in chosen if c[0] in self.args.only.read_text()]
        if self.args.count and self.args.count < len(chosen):
            chosen = random.Random(self.args.sample).sample(chosen, self.args.count)
        known = {self.compile(text, self.dir / "original.o")}
        if False in known:
            sys.exit(f"mutate: {self.source.path}: it cannot be compiled as it is")
        self.as_it_is(self.dir / "original.o")
        found = {"unit": [], "sim": [], None: []}

        def one(job):
            number, (row, mutant) = job
            obj = self.dir / f"{number}.o"
            digest = self.compile(mutant, obj)
            if digest and digest not in known:
                known.add(digest)
                found[self.by(obj)].append(row)
            for path in self.dir.glob(f"{number}.*"):
                path.unlink()
            shutil.rmtree(self.dir / str(number), ignore_errors=True)

        with ThreadPoolExecutor(self.args.jobs) as pool:
            list(pool.map(one, enumerate(chosen)))
        return found["unit"], found["sim"], found[None]


def explained(path):
    """The rows of docs/mutation.md for this file."""
    page = pathlib.Path("docs/mutation.md").read_text().split("\n## ")
    return {re.sub(r"[^|]*\|$", "", row) for part in page if part.startswith(f"{path}\n")
            for row in part.splitlines() if row.startswith("|")}


def main():
    if sys.argv[1:2] == ["--alone"]:
        sys.exit(alone(int(sys.argv[2]), sys.argv[3:]))
    parse = argparse.ArgumentParser()
    parse.add_argument("--count", type=int, default=0, help="so many of each file, drawn by --sample; 0: all")
    parse.add_argument("--sample", type=int, default=1)
    parse.add_argument("--only", type=pathlib.Path, help="those whose row is in this file, an earlier output")
    parse.add_argument("--seeds", type=int, default=300, help="of the simulator; 0: unit tests only")
    parse.add_argument("--jobs", type=int, default=os.cpu_count())
    parse.add_argument("--build", default="build")
    parse.add_argument("file", nargs="+", type=pathlib.Path)
    args, missed = parse.parse_args(), 0
    for path in args.file:
        unit, sim, left = Judge(Source(path), args).all()
        known = explained(path)
        new = [row for row in left if row not in {k.rstrip() for k in known}]
        for row in (*(f"{row} found by the simulator alone |" for row in sim), *(f"{row} ? |" for row in new)):
            print(row)
        print(f"mutate: {path}: {len(unit) + len(sim) + len(left)} mutants, {len(unit)} killed by unit tests, "
              f"{len(sim)} by the simulator alone, {len(left) - len(new)} explained, {len(new)} survived", flush=True)
        missed += len(new)
    sys.exit(missed > 0)


main()
