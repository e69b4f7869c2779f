#!/usr/bin/env python3
"""job-sentences.py [DIR]: what burstd may write on a job, or have its srun or salloc print.

One fragment a line: the texts of the functions and tables below, cut at what is filled in.  check-docs.sh looks for each
in docs/researchers.md, so that no sentence reaches a researcher without a section that says what to do.  Nor may one name
a command that is an admin's: whoever reads it can only fail with that.  Exit status 1 if one does.
"""
import re
import sys
from pathlib import Path

SOURCES = {
    "burstd/core/plan.c": ["explain_need", "explain_limit", "plan_explain"],
    "burstd/core/ladder.c": ["say_jurisdiction", "say_spot_first", "say_closed", "say_price", "say_why"],
    "burstd/core/node.c": ["reasons"],
    "burstd/core/reclaim.c": ["kinds"],
    "burstd/engine/form.c": ["refuse_sold_out", "refuse_too_large"],
    "burstd/engine/pool.c": ["engine_closed", "pool_probes"],
    "burstd/engine/postpone.c": ["describe"],
    "burstd/engine/refuse.c": ["tell", "say_why"],
    "burstd/engine/rescue.c": ["announce", "requeued"],
}
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*')
# "%.19sZ" is a time in UTC, of which people see the local one, without the Z.
FILLED = re.compile(r"%\.19sZ|%[-0-9.*]*(?:l|z|h)*[a-zA-Z]|%\" *PRI?[a-z0-9]+ *\"")
# Researchers may look, and touch what is theirs.
ADMINS = re.compile(
    r"\b(?:sudo|systemctl|journalctl|sacctmgr|slurmctld -)"
    r"|\bscontrol (?!show\b|hold\b|release\b|requeue\b|update job)"
    r"|\bburstctl (?!plan\b|pools\b|nodes\b|node show\b|events\b|status\b)"
    r"|/etc/|\.conf\b"
)


def body(text, name):
    """Of the function or table of that name, from its line to the brace that closes it."""
    found = re.search(r"^(?:static )?[^\n;=]*\b%s\b(?:\([^;{]*\)\s*\n\{|\[[^\n]*= \{)" % name, text, re.M)
    if not found and name in ("reasons", "kinds"):
        found = re.search(r"\} %s\[" % name, text)
    if not found:
        sys.exit("job-sentences.py: there is no %s any more" % name)
    return text[found.start():text.index("\n}", found.end())]


def sentences(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"\s*PRI[a-z0-9]+\s*"', "u", text)
    for match in LITERAL.finditer(text):
        yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(0))).replace('\\"', '"')


def fragments(text):
    for sentence in sentences(text):
        for part in FILLED.split(sentence):
            part = part.strip(" :;,.()")
            if len(part.split()) > 1:
                yield part


failed = False
root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "../..")
for path, names in SOURCES.items():
    source = (root / path).read_text()
    for name in names:
        for fragment in fragments(body(source, name)):
            print(fragment)
        for sentence in filter(ADMINS.search, sentences(body(source, name))):
            print(f'job-sentences.py: {path}: {name}: an admin\'s command: "{sentence}"', file=sys.stderr)
            failed = True
sys.exit(failed)
