#!/usr/bin/env python3
"""names.py PACKAGE DIR...: every resource, argument, block and attribute of a provider that *.tf below DIR name is one that
PACKAGE knows: the typings of an npm package @cdktf/provider-NAME.  One line for each that is not; exit status 1 if there is
one, 2 if nothing was found to look at.

It reads HCL as `fmt` leaves it: one argument or block on a line.
"""
import json
import pathlib
import re
import sys

META = {"count", "for_each", "depends_on", "lifecycle", "provider", "provisioner", "connection"}
LINK = re.compile(r"\{@link https://registry\.terraform\.io/providers/\S+#(\w+) ")
FIELD = re.compile(r"\s+readonly \w+\??: (.*)")
GETTER = re.compile(r"\s+get (\w+)\(\)")


class Typings:
    """What one resource has: interfaces (name: {argument: type}), and the names of all its attributes in camel case."""

    def __init__(self, path):
        self.interfaces, self.attributes, self.config = {}, set(), None
        name = link = None
        for file in sorted(path.glob("index*.d.ts")):
            for line in file.read_text(encoding="utf-8").split("\n"):
                found = re.match(r"export interface (\w+)( extends cdktf\.TerraformMetaArguments)?", line)
                if found:
                    name = found.group(1)
                    self.interfaces[name] = {}
                    self.config = name if found.group(2) else self.config
                elif line.startswith("}"):
                    name = None
                elif LINK.search(line):
                    link = LINK.search(line).group(1)
                elif name and FIELD.match(line) and link:
                    self.interfaces[name][link] = FIELD.match(line).group(1)
                    link = None
                elif GETTER.match(line):
                    self.attributes.add(GETTER.match(line).group(1))


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(w.capitalize() for w in rest)


class Package:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        about = json.loads((self.path / "package.json").read_text(encoding="utf-8"))
        self.provider = about["cdktf"]["provider"]["name"].rsplit("/", 1)[1]
        self.version = about["cdktf"]["provider"]["version"]
        self.known = {}

    def of(self, kind, name):
        short = name[len(self.provider) + 1:].replace("_", "-")
        where = self.path / "lib" / (("data-" + self.provider + "-" if kind == "data" else "") + short)
        if (kind, name) not in self.known:
            self.known[kind, name] = Typings(where) if where.is_dir() else None
        return self.known[kind, name]


def without_text(line):
    """Without comments and the inside of strings, whose braces count for nothing."""
    return re.sub(r"#.*", "", re.sub(r'"(?:\\.|[^"\\])*"', '""', line))


def blocks(text):
    """(kind, type, [(line number, depth of blocks, path of blocks, name, is a block)]) of each resource and data source."""
    current, stack, nested = None, [], 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = without_text(line)
        head = re.match(r'(resource|data) "(\w+)" "\w+" \{', line)
        if head and not stack and not line.endswith("{}"):
            current, stack = (head.group(1), head.group(2), []), ["top"]
            continue
        if current is None:
            continue
        if nested:
            nested += sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
            continue
        argument, block = re.match(r"\s+(\w+)\s+= ", bare + " "), re.match(r"\s+(\w+)( \"\")* \{", bare)
        if argument:
            current[2].append((number, tuple(stack[1:]), argument.group(1), False))
            nested = sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
        elif block:
            current[2].append((number, tuple(stack[1:]), block.group(1), True))
            stack.append(block.group(1))
            if bare.rstrip().endswith("}"):
                stack.pop()
        elif bare.strip() == "}":
            stack.pop()
            if not stack:
                yield current
                current = None


def look_at_block(package, typings, kind, name, named):
    for number, path, word, is_block in named:
        if (path and path[0] in META) or (not path and word in META):
            continue
        where = typings.config
        for step in path:
            of = typings.interfaces.get(where, {}).get(step, "")
            where = next((w for w in re.findall(r"\w+", of) if w in typings.interfaces), None)
        if where is None or word not in typings.interfaces.get(where, {}):
            yield number, f"{name}: {'block' if is_block else 'argument'} {'.'.join(path + (word,))}"


def look_at(package, file):
    text = file.read_text(encoding="utf-8")
    for kind, name, named in blocks(text):
        if name.startswith(package.provider + "_"):
            typings = package.of(kind, name)
            if typings is None:
                yield 0, f"{kind} {name}"
            else:
                yield from look_at_block(package, typings, kind, name, named)
    for number, line in enumerate(text.split("\n"), 1):
        for data, name, attribute in re.findall(
                r"(?<![\w.\"/])(data\.)?(" + package.provider + r"_\w+)\.\w+(?:\[[^]]*\])?\.(\w+)", line):
            typings = package.of("data" if data else "resource", name)
            if typings is None or camel(attribute) not in typings.attributes:
                yield number, f"{name}: attribute {attribute}"


def main():
    package, files, wrong = Package(sys.argv[1]), [], 0
    for place in sys.argv[2:]:
        files += sorted(pathlib.Path(place).rglob("*.tf"))
    used = [f for f in files if re.search(r"\b" + package.provider + r"_\w+", f.read_text(encoding="utf-8"))]
    for file in used:
        for number, what in look_at(package, file):
            print(f"{file}:{number}: {package.provider} {package.version} has no {what}")
            wrong += 1
    if not package.known:
        print(f"no resource of {package.provider}")
        return 2
    if not wrong:
        print(f"{len(package.known)} resources and data sources of {package.provider} {package.version}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
