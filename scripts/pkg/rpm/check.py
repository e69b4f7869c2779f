#!/usr/bin/env python3
"""check.py: that burstd.spec is whole, as TAP, without rpm.

Every file that `make install` installs is in exactly one package, and every line of %files has files; a package has the directories
that its files are in; its units are known to systemd's macros; its version is VERSION's; what it is built with is what the Makefile
asks for and what the documents name.
Another spec, for tests of this one: check.py FILE.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

SPEC = "scripts/pkg/rpm/burstd.spec"
MACROS = {
    "_prefix": "/usr", "_bindir": "/usr/bin", "_sbindir": "/usr/sbin", "_libexecdir": "/usr/libexec",
    "_datadir": "/usr/share", "_mandir": "/usr/share/man", "_docdir": "/usr/share/doc", "_sysconfdir": "/etc",
    "_unitdir": "/usr/lib/systemd/system", "_tmpfilesdir": "/usr/lib/tmpfiles.d",
    "_sysusersdir": "/usr/lib/sysusers.d", "name": "burstd", "buildroot": "",
}
# Those of the packages filesystem, systemd and bash-completion.
OF_THE_SYSTEM = {
    "", "/etc", "/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/share", "/usr/share/doc", "/usr/share/man/man1", "/usr/share/man/man5",
    "/usr/share/man/man8", "/usr/lib/systemd/system", "/usr/lib/sysusers.d", "/usr/lib/tmpfiles.d",
    "/usr/share/bash-completion/completions",
}
SECTIONS = ("package", "description", "prep", "build", "install", "check", "pre", "post", "preun", "postun", "files", "changelog")


def expand(line):
    return re.sub(r"%\{(\w+)\}", lambda m: MACROS.get(m[1], m[0]), line)


def package(words):
    """The package that `%files -n burst-agent`, `%post doc` or `%post` is about."""
    if words[:1] == ["-n"]:
        return words[1]
    return "burstd" + ("-" + words[0] if words else "")


def sections(text):
    """{(section, package): its lines}; the tags at the beginning are ("tags", "burstd")."""
    found = {("tags", "burstd"): []}
    here = found["tags", "burstd"]
    for line in text.splitlines():
        first = re.match(r"%(\w+)(.*)", line)
        if first and first[1] in SECTIONS:
            here = found.setdefault((first[1], package(first[2].split())), [])
        elif line and not line.startswith("#"):
            here.append(expand(line))
    return found


def matches(pattern, path):
    """As rpm does it: a star stops at a slash; a directory has what is below it."""
    parts, want = path.split("/"), pattern.split("/")
    return len(want) <= len(parts) and all(map(fnmatch.fnmatchcase, parts, want))


def installed(spec):
    """What %install leaves: `make install`, what the spec moves, and what it adds."""
    said = subprocess.run(["make", "-s", "--no-print-directory", "install-list"], check=True, capture_output=True, text=True)
    paths = set(said.stdout.split())
    for line in spec["install", "burstd"]:
        words = line.split()
        if words[0] == "mv":
            depth = words[1].count("/")
            for path in [p for p in paths if matches(words[1], p)]:
                paths.remove(path)
                paths.add(words[2].rstrip("/") + "/" + "/".join(path.split("/")[depth:]))
        elif words[:2] == ["install", "-D"]:
            paths.add(words[-1])
    return paths


def claims(spec):
    """[(package, pattern)] of %files, without directories alone and %license, whose files come from the sources."""
    return [(p, line.split()[-1]) for (section, p), lines in spec.items() if section == "files"
            for line in lines if not line.startswith(("%dir", "%license"))]


def files(spec):
    paths, claimed, wrong = installed(spec), claims(spec), []
    if len(paths) < 50:
        wrong.append(f"`make install-list` names {len(paths)} files")
    for path in sorted(paths):
        owners = [p for p, pattern in claimed if matches(pattern, path)]
        if len(owners) != 1:
            wrong.append(f"{path}: in " + (" and ".join(owners) or "no package"))
    for p, pattern in claimed:
        if not any(matches(pattern, path) for path in paths):
            wrong.append(f"{p}: nothing is installed as {pattern}")
    return wrong


def directories(spec):
    """A directory that no package of the system has is one of each package with something in it: else it stays behind."""
    wrong = []
    for section, p in spec:
        if section != "files":
            continue
        lines = [line.split() for line in spec[section, p] if not line.startswith("%license")]
        own = {words[-1] for words in lines}
        for path in own:
            above = path.rsplit("/", 1)[0]
            while above not in OF_THE_SYSTEM and above not in own and above:
                wrong.append(f"{p}: no %dir {above}, with {path} in it")
                above = above.rsplit("/", 1)[0]
    return sorted(set(wrong))


def units(spec):
    """A unit that can be enabled must be made known, stopped and restarted by its package."""
    sources = [file for kind in ("service", "socket", "timer") for file in pathlib.Path("scripts").rglob("*." + kind)]
    can = {file.name for file in sources if "[Install]" in file.read_text(encoding="utf-8")}
    wrong = []
    for p, pattern in claims(spec):
        unit = pattern.split("/")[-1]
        for section, macro in (("post", "systemd_post"), ("preun", "systemd_preun"), ("postun", "systemd_postun_with_restart")):
            if pattern.startswith(MACROS["_unitdir"]) and unit in can:
                lines = [line.split() for line in spec.get((section, p), [])]
                if not any(words[0] == "%" + macro and unit in words for words in lines):
                    wrong.append(f"%{section} of {p}: no %{macro} {unit}")
    return wrong


def version(spec):
    with open("VERSION", encoding="utf-8") as file:
        want = file.read().strip()
    tag = re.search(r"^Version: *(\S+)$", "\n".join(spec["tags", "burstd"]), re.M)[1]
    newest = spec["changelog", "burstd"][0].split()[-1]
    return [f"{what} is {has}, VERSION {want}" for what, has in (("Version:", tag), ("the newest entry of %changelog", newest.split("-")[0]))
            if has != want]


def needs(spec):
    """Three lists of one thing: the spec's, the document's (for who builds without rpm), the Makefile's (pkg-config)."""
    built = {line.split()[1] for line in spec["tags", "burstd"] if line.startswith("BuildRequires:")}
    with open("docs/slurm-integration.md", encoding="utf-8") as file:
        dnf = re.search(r"sudo dnf install ((?:.*\\\n)*.*)", file.read())[1]
    told = set(dnf.replace("\\", " ").replace("'", " ").split())
    with open("Makefile", encoding="utf-8") as file:
        asked = re.search(r"^PKGS *:= (.*)", file.read(), re.M)[1].split()
    asked = {f"pkgconfig({name})" for name in [*asked, "libssl", "xlsxwriter"]}
    only_rpm, only_make = {"systemd-rpm-macros"}, {"pkgconf-pkg-config"}
    wrong = [f"the document does not name {name}" for name in sorted(built - told - only_rpm)]
    wrong += [f"the spec does not name {name}" for name in sorted((told - built - only_make) | (asked - built))]
    return wrong


def main():
    with open(sys.argv[1] if len(sys.argv) > 1 else SPEC, encoding="utf-8") as file:
        spec = sections(file.read())
    tests = ((files, "each installed file is in one package, and nothing else is in any"),
             (directories, "a package has the directories that its files are in, but the system's"),
             (units, "each unit that can be enabled is known to systemd's macros"),
             (version, "the version is VERSION's"),
             (needs, "what is needed to build is the same in burstd.spec, the Makefile and the document"))
    failed = False
    print(f"1..{len(tests)}")
    for number, (test, name) in enumerate(tests, 1):
        wrong = test(spec)
        failed = failed or bool(wrong)
        print(f"{'not ' if wrong else ''}ok {number} - burstd.spec: {name}")
        print("".join(f"# {line}\n" for line in wrong), end="")
    return failed


sys.exit(main())
