"""Lyceum's own command line, many times.

What it imports takes it twenty times as long as what it does, and most of that is other people's libraries.  So a process
of its own has these imported (multiprocessing's fork server), and each run of the command line begins as a fork of it, in
which lyceum-cli itself is imported anew.
"""
import multiprocessing
import os
import sys

LIBRARIES = ["boto3", "httpx", "rich.console", "rich.markdown", "typer", "typer.rich_utils"]


def become(words, env, out, err):
    with open(os.devnull, encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 0)
    for fd, path in ((1, out), (2, err)):
        with open(path, "wb") as f:
            os.dup2(f.fileno(), fd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["lyceum", *words]
    # Not lyceum.py, the test.
    sys.path = [p for p in sys.path if p != os.path.dirname(os.path.abspath(__file__))]
    sys.modules.pop("lyceum", None)
    from lyceum.main import app  # pylint: disable=import-error,import-outside-toplevel
    sys.exit(app())


class Cli:
    """The command line, which writes what it says into files in `home`."""

    def __init__(self, home):
        self.home = home
        self.forks = multiprocessing.get_context("forkserver")
        self.forks.set_forkserver_preload(LIBRARIES)

    def run(self, words, env, seconds=60):
        """Its exit status, and what it says: standard output, then standard error."""
        paths = [os.path.join(self.home, name) for name in ("out", "err")]
        proc = self.forks.Process(target=become, args=(words, env, *paths))
        proc.start()
        proc.join(seconds)
        if proc.exitcode is None:
            proc.kill()
            proc.join()
        said = ""
        for path in paths:
            with open(path, encoding="utf-8") as f:
                said += f.read()
        return proc.exitcode, said
