#!/usr/bin/python3
"""called.py FILE...: the programs that these shell scripts call, a line each: NAME needed|optional.

Read by shfmt's parser, so that neither quotes nor here-documents deceive.  A program is optional where the script looks for it
first (`have NAME`) everywhere it calls it.  Functions of the script and what the shell has built in are none.  Templates
(stage0.sh.in) are shell scripts, too.  What a string has for `sh -c` is read likewise.
"""
import json
import re
import subprocess
import sys

BUILTIN = set(""". : [ alias bg break case cd command continue echo eval exec exit export false fg getopts hash jobs kill local printf
pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait""".split())
# Their first argument that is no option, number, variable or setting is the program that they run.
RUNS = {"timeout", "setpriv", "setsid", "env", "exec", "command", "bounded", "patient", "try_until", "unshare", "nice", "eval"}
VALUE = {"--propagation", "-k", "-w"}  # an option whose value is the next word
NAME = re.compile(r"^[a-z][a-z0-9_.+-]*$")


def parse(text):
    done = subprocess.run(["shfmt", "-ln", "posix", "--to-json"], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"shfmt: {done.stderr.strip()}")
    return json.loads(done.stdout)


def walk(node):
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def literal(word):
    """The text of a word, if it has no expansion."""
    text = ""
    for part in word.get("Parts", []):
        if part["Type"] in ("Lit", "SglQuoted"):
            text += part.get("Value", "")
        elif part["Type"] == "DblQuoted" and all(p["Type"] == "Lit" for p in part.get("Parts", [])):
            text += "".join(p.get("Value", "") for p in part["Parts"])
        else:
            return None
    return text


def calls(tree):
    """(program, looked for), of each call."""
    for node in walk(tree):
        if node.get("Type") != "CallExpr" or not node.get("Args"):
            continue
        words = [literal(w) for w in node["Args"]]
        while words and words[0] in RUNS:
            yield words[0], False
            if "-c" in words[1:3] and words[0] == "sh":
                break
            words = words[1:]
            while words and (words[0] is None or not NAME.match(words[0])):
                words = words[2 if words[0] in VALUE else 1:]
        if not words or words[0] is None:
            continue
        if words[0] in ("have", "need") and len(words) > 1 and words[1]:
            yield words[1], words[0] == "have"
            continue
        if words[0] == "command":
            continue
        yield words[0], False
        if words[0] in ("sh", "bash") and len(words) > 2 and words[1] == "-c" and words[2]:
            yield from calls(parse(words[2]))


def called(path):
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"@([A-Z0-9_]+)@", r"\1", f.read())
    tree = parse(text)
    functions = {n["Name"]["Value"] for n in walk(tree) if n.get("Type") == "FuncDecl"}
    found, looked = set(), set()
    for name, optional in calls(tree):
        if name in functions or name in BUILTIN or not NAME.match(name):
            continue
        (looked if optional else found).add(name)
    return found, looked


def main():
    found, looked = set(), set()
    for path in sys.argv[1:]:
        f, o = called(path)
        found |= f
        looked |= o
    for name in sorted(found | looked):
        print(name, "optional" if name in looked else "needed")


if __name__ == "__main__":
    main()
