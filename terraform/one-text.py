#!/usr/bin/env python3
"""one-text.py [--write]: what documents show of policies is the text of the files of which terraform makes them.

Each document has one block that begins with the file's first words; --write puts the file's text in its place.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ROOT / "terraform" / "modules"
VAULT = {"mount": "kv", "name": "slurm/prod/node"}

# Document, file, values of its variables, indent, the pattern of the block's first line.
TEXTS = [
    ("docs/aws.md", "iam/aws/burstd-policy.json.tftpl",
     {"account": "ACCOUNT", "partition": "aws", "uuid": "UUID", "queue": "arn:aws:sqs:eu-west-1:ACCOUNT:burstd",
      "node_role": "arn:aws:iam::ACCOUNT:role/burst-node"}, "\t", r'\t\{"Version"'),
    ("docs/secrets.md", "secrets/vault/policy-user-data.hcl.tftpl", VAULT, "    ", r'    path "kv/data/[^"]*" +\{[^}]*wrapping'),
    ("docs/secrets.md", "secrets/vault/policy-rotate.hcl.tftpl", VAULT, "    ", r'    path "kv/data/[^"]*" +\{[^}]*update'),
    ("docs/providers/openstack.md", "iam/openstack/access-rules.json.tftpl", {"prefix": "/v2.1"}, "    ",
     r"    openstack application .*--access-rules '\["),
]


def rendered(name, values):
    text = (MODULES / name).read_text(encoding="ascii")
    for key, value in values.items():
        text = text.replace("${" + key + "}", value)
    assert not re.search(r"\$\{", text) or not values, name
    return text


def block(lines, first):
    """Where the block begins and ends: it ends before the first line that is not indented."""
    begin = next(k for k, line in enumerate(lines) if re.match(first, line))
    end = begin
    while end < len(lines) and re.match(r"[\t ]", lines[end]):
        end += 1
    return begin, end


def wanted(lines, begin, name, text, indent):
    out = [indent + line for line in text.rstrip("\n").split("\n")]
    if name.startswith("iam/openstack"):  # it is an argument there, in quotes, and has more of an indent
        out = [lines[begin]] + out[1:]
        out[-1] += "'"
    if name.endswith("user-data.hcl.tftpl"):
        out[-1] += '   # release = "user-data" only'
    return out


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def squeezed(text):
    return re.sub(r"\s+", "", text)


def derived():
    """What documents say in words, and not as a block of their own."""
    whole = (MODULES / "secrets/vault/policy-user-data.hcl.tftpl").read_text(encoding="ascii").split("\n")
    wrap = (MODULES / "secrets/vault/policy-wrap.hcl.tftpl").read_text(encoding="ascii").split("\n")
    broker = (MODULES / "secrets/vault/policy-broker.hcl.tftpl").read_text(encoding="ascii").split("\n")
    if wrap[:-1] != whole[:-2]:
        yield "docs/secrets.md: the policy for wrap is not that for user-data without its last line"
    if broker[:-1] != [re.sub(r" m(in|ax)_wrapping_ttl = \"\w+\"", "", line) for line in whole[:2]]:
        yield "docs/secrets.md: the policy for broker is not that for user-data without both TTLs and the last two lines"
    if squeezed((MODULES / "notices/aws/event-pattern.json").read_text(encoding="ascii")) not in squeezed(text_of("docs/aws.md")):
        yield "docs/aws.md: --event-pattern is not the text of terraform/modules/notices/aws/event-pattern.json"
    manager = text_of("docs/secrets.md").split("## AWS Secrets Manager")[1]
    for name in ("secrets", "rotate"):
        text = (MODULES / "secrets/aws" / f"{name}-policy.json.tftpl").read_text(encoding="ascii")
        for action in re.findall(r'"(?:secretsmanager:(\w+)|kms:Decrypt)"', text):
            if f"{action}`" not in manager:
                yield f"docs/secrets.md: does not name {action}, of terraform/modules/secrets/aws/{name}-policy.json.tftpl"
    table = text_of("docs/bootstrap.md").split("5. **Ports**")[1].split("6. **One machine**")[0]
    ports = {int(p) for p in re.findall(r"\b(\d{4})\b", table)}
    made = set(json.loads((MODULES / "network/ports.json").read_text(encoding="ascii")).values())
    if ports != made:
        yield f"docs/bootstrap.md: ports {sorted(ports)}, in terraform/modules/network/ports.json {sorted(made)}"


def main():
    wrong = 0
    for said in derived():
        print(said)
        wrong += 1
    for document, name, values, indent, first in TEXTS:
        path = ROOT / document
        lines = path.read_text(encoding="utf-8").split("\n")
        try:
            begin, end = block(lines, first)
        except StopIteration:
            print(f"{document}: has no block that begins as terraform/modules/{name} does")
            wrong += 1
            continue
        want = wanted(lines, begin, name, rendered(name, values), indent)
        if lines[begin:end] == want:
            continue
        if sys.argv[1:] == ["--write"]:
            path.write_text("\n".join(lines[:begin] + want + lines[end:]), encoding="utf-8")
            print(f"{document}: written")
            continue
        wrong += 1
        differ = next((k for k, (a, b) in enumerate(zip(lines[begin:end], want)) if a != b), min(end - begin, len(want)))
        print(f"{document}:{begin + differ + 1}: not the text of terraform/modules/{name} (terraform/one-text.py --write)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
