#!/usr/bin/env python3
"""job-sentences.py [DIR] [-v]: what burstd may write on a job, or have its srun or salloc print.

One fragment a line: the texts that flow into the orders that do so (DOORS), cut at what is filled in.  check-docs.sh
looks for each in docs/researchers.md, so that no sentence reaches a researcher without a section that says what to do.
Nor may one name a command that is an admin's: whoever reads it can only fail with that.  Exit status 1 if one does.

No list says where sentences are made: the text of each door is followed back, from parameters to all callers, from
variables and members to what writes them, from functions to what they return, to literals, tables and macros.  This
is no compiler: a member of a struct that it cannot tell is that member of any, and rather too much is found than too
little.  With -v, where each is made.
"""
import re
import sys
from pathlib import Path

LAYERS = tuple(f"burstd/{d}/" for d in "core slurm engine cloud jobs keys money buy diff parts".split())  # and the headers of all
# Functions that queue a command with words about a job, and the parameter that has them: all that match QUEUES.
DOORS = {"slurm_postpone": "comment", "slurm_notify": "text"}
QUEUES = re.compile(r"\badd\(s, COMMAND_(?:POSTPONE|NOTIFY)\b")
# What flows there by these means and comes to no job, with the reason.
NOT_ON_JOBS = {
    "burstd/keys/claim_proof.c": (
        {"verify", "by_address", "by_document", "claim_is_from_machine", "is_by_root"},
        "a claim that is refused ends no machine; one whose times are wrong does (ask_untimely)",
    ),
}
# Members with words of others, which only fill in: names, and what a provider, a library or slurmctld said.
OTHERS = {"id", "name", "node", "provider", "type", "region", "zone", "currency", "instance", "msg", "error", "off", "p"}

# "%.19sZ" is a time in UTC, of which people see the local one, without the Z.
FILLED = re.compile(r"%\.19sZ|%[-0-9.*]*(?:l|z|h)*[a-zA-Z]")
# Researchers may look, and touch what is theirs.
ADMINS = re.compile(
    r"\b(?:sudo|systemctl|journalctl|sacctmgr|slurmctld -)"
    r"|\bscontrol (?!show\b|hold\b|release\b|requeue\b|update job)"
    r"|\bburstctl (?!plan\b|pools\b|nodes\b|node show\b|events\b|status\b)"
    r"|/etc/|\.conf\b"
)

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
NO_CODE = re.compile(r"""("(?:[^"\\\n]|\\.)*")|/\*.*?\*/|'(?:[^'\\]|\\.)+'""", re.S)
FUNCTION = re.compile(r"^([a-z][\w \t*\n]*?)\b(\w+)\(([^;{}]*?)\)[^;{}()]*\n\{(.*?)^\}", re.M | re.S)
TABLE = re.compile(r"^(?:[\w \t*]*|\} ?)\b(\w+)(?:\[[^\]]*\])+ = (?=\{)", re.M)
STRUCT = re.compile(r"^struct (\w+) \{(.*?)^\}", re.M | re.S)
DECLARED = re.compile(r"\bstruct (\w+)(?: const)?((?:[ *]+(?:const )?\w+(?:\[[^\]]*\])*(?:\s*=[^;,({]*)?,?)+)")
# A parameter through which a function gives words, and a variable that has some.
GIVES = re.compile(r"^(?!\s*const\b).*\b(?:char\b.*[*\[]|struct (?:text|str) \*)", re.S)
HAS = r"\b(?:char|struct (?:text|str))\b[^;(){}]*\b%s\b"
POINTS = re.compile(r"\b(?:char \*|struct (?:text|str) )(\w+)\s*=\s*\{?([^;,]*)")
ASSIGNED = r"(?:\[[^\]]*\])*\s*=(?!=)\s*"
NAME = re.compile(r"(?<![\w$])[A-Za-z_]\w*|\$\d+")
STEP = re.compile(r"\s*(?:(\()|(\[)|(?:->|\.)\s*(\w+))")


def closing(text, at):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i + 1
    return len(text)


def split(text):
    """At the commas outside of brackets."""
    parts, start, at = [], 0, 0
    while at < len(text):
        if text[at] in "([{":
            at = closing(text, at)
            continue
        if text[at] == ",":
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return parts + [text[start:]]


def first(text):
    """The first expression, up to a comma or semicolon."""
    return split(text[: text.find(";")])[0]


def chains(text):
    """name(...)->member[...].member: of each the name, the members, and the arguments if there is a call."""
    at = 0
    while found := NAME.search(text, at):
        members, args, at = [], None, found.end()
        while step := STEP.match(text, at):
            at = step.end()
            if step.group(3):
                members.append(step.group(3))
                continue
            at = closing(text, at - 1)
            if step.group(1):
                args = text[step.end() : at - 1]
        yield found.group(0), members, args


def every(text):
    """Those inside of calls, too."""
    for chain in chains(text):
        yield chain
        if chain[2]:
            yield from every(chain[2])


def declared(text):
    """Each variable or member that is a struct, or points to one, with that."""
    for struct, names in DECLARED.findall(text):
        for name in re.findall(r"(?:^|,)[ *]*(?:const )?(\w+)", names):
            yield name, struct


class Function:
    def __init__(self, path, head, name, params, body):
        self.path, self.name, self.body = path, name, body
        self.variadic = "..." in params
        self.kinds = [p for p in split(params) if p.strip() not in ("...", "void", "")]
        self.params = [re.findall(r"\w+", re.sub(r"\[.*", "", p))[-1] for p in self.kinds]
        self.structs = dict(declared(params.replace(",", ";") + ";" + body))
        self.struct = (re.findall(r"struct (\w+)", head) or [None])[0]  # that it returns

    def gives(self, at):
        return at < len(self.params) and bool(GIVES.search(self.kinds[at]))

    def returns(self):
        for text in re.findall(r"\breturn\b([^;]*);", self.body):
            yield from chains(text.split("?", 1)[-1])  # not what that depends on

    def hands_on(self, at):
        """Does it return that argument?"""
        return at < len(self.params) and (self.params[at], [], None) in self.returns()


class Sources:
    def __init__(self, root):
        self.texts, self.functions, self.calls = [], {}, {}
        self.tables, self.macros, self.structs, self.words = {}, {}, {}, set()
        for path in sorted((root / "burstd").rglob("*.[ch]")):
            name = str(path.relative_to(root))
            if name.startswith(LAYERS) or name.endswith(".h"):
                self.read(name, path.read_text())
        self.all = [f for same in self.functions.values() for f in same]
        for f in self.all:
            for name, _, args in every(f.body):
                if args is not None and name in self.functions:
                    self.calls.setdefault(self.function(name, f), []).append((f, split(args)))

    def keep(self, match):
        self.texts.append(match.group(1).replace('\\"', '"'))
        return " $%d " % (len(self.texts) - 1)

    def read(self, path, text):
        text = NO_CODE.sub(lambda m: m.group(1) or "", text)
        text = re.sub(r'"\s*PRI[a-z]\d+\b', 'u"', text)
        text = LITERAL.sub(self.keep, re.sub(r'(?<!\\)"\s+"', "", text))
        self.macros.update(re.findall(r"^#define (\w+)\s+(\$\d+)", text, re.M))
        for m in FUNCTION.finditer(text):
            self.functions.setdefault(m.group(2), []).append(Function(path, *m.groups()))
        for m in TABLE.finditer(text):
            self.tables[path, m.group(1)] = text[m.end() : closing(text, m.end())]
        for struct, body in STRUCT.findall(text):
            self.read_struct(struct, body)

    def read_struct(self, struct, body):
        for inner, name in re.findall(r"\bstruct \{([^{}]*)\} *(\w+)", body):
            self.structs[struct, name] = struct + "." + name
            self.read_struct(struct + "." + name, inner)
        self.structs.update(((struct, name), other) for name, other in declared(body))
        for line in re.findall(r"\bchar\b([^;]*);", body):
            self.words.update((struct, name) for name in re.findall(r"(\w+)(?:\[[^\]]*\])*\s*(?:,|$)", line))

    def function(self, name, f):
        same = self.functions.get(name, [])
        return next((g for g in same if f and g.path == f.path), same[0] if same else None)

    def holder(self, f, base, members, args):
        """The struct whose member the last one is; None: not known."""
        g = self.function(base, f) if args is not None else None
        held = f.structs.get(base) if args is None else g and g.struct
        for member in members[:-1]:
            held = self.structs.get((held, member))
        return held


class Flow:
    """One step for each thing that words may come from, with what led there."""

    def __init__(self, sources):
        self.s, self.found, self.seen, self.due, self.at = sources, {}, {}, [], None

    def want(self, *what):
        if what not in self.seen:
            self.seen[what] = self.at
            self.due.append(what)

    def run(self):
        for name, param in DOORS.items():
            self.want(self.variable, self.s.function(name, None), param)
        while self.due:
            self.at = self.due.pop()
            self.at[0](*self.at[1:])

    def trace(self, text, f):
        """All that an expression in function f may be."""
        for chain in chains(text):
            self.follow(*chain, f)

    def follow(self, base, members, args, f):
        if base[0] == "$":
            self.found.setdefault((f.path, f.name, self.s.texts[int(base[1:])]), self.at)
        elif (f.path, base) in self.s.tables:
            self.want(self.table, f, base)
        elif members == ["p"] and f.structs.get(base) == "str":
            self.want(self.variable, f, base)
        elif members:
            self.want(self.member, self.s.holder(f, base, members, args), members[-1])
        elif args is not None:
            self.call(base, split(args), f)
        elif base in self.s.macros:
            self.trace(self.s.macros[base], f)
        else:
            self.want(self.variable, f, base)

    def call(self, name, args, f):
        g = self.s.function(name, f)
        if g:
            self.want(self.returned, g)
        for at, arg in enumerate(args):
            if not g or g.hands_on(at):
                self.trace(arg, f)

    def table(self, f, name):
        self.trace(self.s.tables[f.path, name], f)

    def returned(self, g):
        for chain in g.returns():
            if chain[0] not in g.params or chain[1]:
                self.follow(*chain, g)

    def variable(self, f, name):
        at = f.params.index(name) if name in f.params else -1
        if at >= 0 and not f.gives(at):
            self.parameter(f, at)
        elif at >= 0 or re.search(HAS % name, f.body):
            for m in re.finditer(r"(?<![\w.>])%s%s" % (name, ASSIGNED), f.body):
                self.trace(first(f.body[m.end() :]), f)
            self.writers(f, lambda base, members, args: base == name and args is None)

    def parameter(self, f, at):
        if not re.search(r"\bchar\b", f.kinds[at]):
            return  # no words
        for caller, args in self.s.calls.get(f, []):
            more = f.variadic and at == len(f.params) - 1
            for arg in args[at:] if more else args[at : at + 1]:
                self.trace(arg, caller)

    def member(self, struct, name):
        if name in OTHERS or not any(s == (struct or s) and n == name for s, n in self.s.words):
            return
        for f in self.s.all:
            if re.search(r"\b%s\b" % name, f.body):
                self.member_in(f, struct, name)

    def member_in(self, f, struct, name):
        def is_it(base, members, args):
            holder = self.s.holder(f, base, members, args)
            return members[-1:] == [name] and (None in (struct, holder) or struct == holder)

        for m in re.finditer(r"((?:\w+(?:\[[^\]]*\])*(?:->|\.))+)%s%s" % (name, ASSIGNED), f.body):
            if is_it(*next(chains(m.group(1) + name))):
                self.trace(first(f.body[m.end() :]), f)
        for m in re.finditer(r"\bstruct (\w+)\b[^;=]*=?[^;]*?\{(?:[^;]*?[{,\s])?\.%s%s" % (name, ASSIGNED), f.body):
            if struct in (m.group(1), None):
                self.trace(first(f.body[m.end() :]), f)
        self.writers(f, is_it)

    def writers(self, f, is_it):
        """The functions that f gives it to, and what f has point there."""
        for name, _, args in every(f.body):
            if args is None or name in ("sizeof", "if", "while", "for", "switch", "assert"):
                continue
            args, g = split(args), self.s.function(name, f)
            for at, arg in enumerate(args):
                chain = next(chains(arg), None)
                if not chain or not is_it(*chain):
                    continue
                if g and g.gives(at):
                    self.want(self.variable, g, g.params[at])
                elif not g and at == 0:
                    for other in args[1:]:
                        self.trace(other, f)
        for m in POINTS.finditer(f.body):
            chain = next(chains(m.group(2)), None)
            if chain and chain[2] is None and is_it(*chain):
                self.want(self.variable, f, m.group(1))


def fragments(sentence):
    for part in FILLED.split(sentence.replace("burstd: ", "")):
        part = part.strip(" :;,.()\"")
        if len(part.split()) > 1:
            yield part


def complain(text):
    print("job-sentences.py: " + text, file=sys.stderr)
    return True


def main():
    root = Path(next((a for a in sys.argv[1:] if a != "-v"), Path(__file__).parent / "../.."))
    sources = Sources(root)
    failed = False
    for f in sources.all:
        if QUEUES.search(f.body) and f.name not in DOORS:
            failed = complain(f"{f.path}: {f.name}: a command with words about a job: put it into DOORS")
    flow = Flow(sources)
    flow.run()
    for path, (names, _) in NOT_ON_JOBS.items():
        for name in names - {n for p, n, _ in flow.found if p == path}:
            failed = complain(f"NOT_ON_JOBS: {path}: {name}: nothing flows from there")
    for path, name, sentence in sorted(flow.found):
        if name in NOT_ON_JOBS.get(path, ((), ""))[0]:
            continue
        for fragment in fragments(sentence):
            print(f"{path}: {name}: {fragment}" if "-v" in sys.argv else fragment)
        if ADMINS.search(sentence):
            failed = complain(f'{path}: {name}: an admin\'s command: "{sentence}"')
    return failed


if __name__ == "__main__":
    sys.exit(main())
