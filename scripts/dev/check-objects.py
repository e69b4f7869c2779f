#!/usr/bin/env python3
"""check-objects.py [-v] OBJECTS: who calls whom, by the symbols of the object files.

check-layers.sh reads #include lines; this sees which functions a file really needs.  Two rules:

  - Directories form no cycle: if a directory needs another, that one does not need it, not even through a third.
  - Inside a directory no more than MOST files form a cycle.

OBJECTS is the directory of a build, such as build/release.  -v prints the figures of each directory.  Exit status 1: a
rule is broken, one line for each breach; 2: there is nothing to read.
"""
import subprocess
import sys
from collections import defaultdict
from pathlib import Path, PurePath

MOST = 3
# Programs of their own: nobody else is linked with what is there.
PROGRAMS = ("burstd/agent", "burstd/cli", "providers/simcloud")


def is_stale(path):
    """Is the source of this object gone, from a directory that is still there?"""
    source = path.with_suffix(".c")
    return source.parent.is_dir() and not source.exists()


def read(root):
    """What each object defines and what it needs: two dicts from its name to symbols."""
    objects = [p for top in ("burstd", "providers") for p in sorted((root / top).rglob("*.o"))]
    objects = [p for p in objects if not is_stale(p.relative_to(root))]
    defines, needs = {}, {}
    for path in objects:
        out = subprocess.run(["nm", "-g", "-P", str(path)], check=True, capture_output=True, text=True).stdout
        rows = [line.split()[:2] for line in out.splitlines()]
        name = str(path.relative_to(root).with_suffix(""))
        defines[name] = {symbol for symbol, kind in rows if kind not in "Uwv"}
        needs[name] = {symbol for symbol, kind in rows if kind in "Uwv"}
    return defines, needs


def home(name):
    return str(PurePath(name).parent)


def edges(defines, needs):
    """Which objects each object needs."""
    where = defaultdict(list)
    for name, symbols in defines.items():
        for symbol in symbols:
            where[symbol].append(name)
    out = {name: set() for name in needs}
    for name, symbols in needs.items():
        for symbol in symbols:
            near = [o for o in where[symbol] if home(o) == home(name)]
            far = [o for o in where[symbol] if home(o) not in PROGRAMS]
            out[name].update((near or far)[:1])
        out[name].discard(name)
    return out


def cycles(graph):
    """The strongly connected components of more than one node, by Tarjan's algorithm, largest first."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for to in sorted(graph.get(node, ())):
            if to not in index:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in stack:
                low[node] = min(low[node], index[to])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


def of_directories(graph):
    out = defaultdict(set)
    for name, to in graph.items():
        out[home(name)].update(home(o) for o in to if home(o) != home(name))
    return out


def judge(graph):
    """One line for each breach."""
    for cycle in cycles(of_directories(graph)):
        yield "directories need each other: " + " ".join(cycle)
    for cycle in cycles(graph):
        if len({home(name) for name in cycle}) == 1 and len(cycle) > MOST:
            yield f"{home(cycle[0])}: a cycle of {len(cycle)} files: " + " ".join(PurePath(name).name for name in cycle)


def figures(graph):
    print("directory                objects  calls inside  calls outside  in cycles")
    for directory in sorted({home(name) for name in graph}):
        inside = {name for name in graph if home(name) == directory}
        near = sum(len(graph[name] & inside) for name in inside)
        far = sum(len(graph[name] - inside) for name in inside)
        bound = sum(len(c) for c in cycles({name: graph[name] & inside for name in inside}))
        print(f"{directory:24} {len(inside):7} {near:13} {far:14} {bound:10}")


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    if len(args) != 1:
        sys.exit(__doc__)
    sys.setrecursionlimit(10000)
    defines, needs = read(Path(args[0]))
    if not defines:
        print(f"check-objects: there are no objects below {args[0]}", file=sys.stderr)
        sys.exit(2)
    graph = edges(defines, needs)
    if "-v" in sys.argv[1:]:
        figures(graph)
    breaches = list(judge(graph))
    for line in breaches:
        print(f"check-objects: {line}")
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
