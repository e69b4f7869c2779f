"""shell.py: driver.c, which builds requests and reads replies; a script sends them."""
import json
import subprocess


class Shell:
    """One driver.  `send` takes a request as driver.c writes it, and returns status and text of the answer."""

    def __init__(self, program, name, conf, send, **always):
        self.proc = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.send, self.always = send, always
        self.ask(do="open", driver=name, conf=conf)

    def ask(self, **what):
        self.proc.stdin.write(json.dumps(what) + "\n")
        self.proc.stdin.flush()
        said = json.loads(self.proc.stdout.readline())
        if "error" in said:
            raise AssertionError(said["error"])
        return said

    def close(self):
        self.proc.stdin.close()
        self.proc.wait()
        self.proc.stdout.close()

    def build(self, **op):
        return self.ask(do="build", op={**self.always, **op})

    def run(self, **op):
        """All requests of an operation; each answer but the last is "more"."""
        said = {"code": "more", "cursor": op.pop("cursor", "")}
        while said["code"] == "more":
            op["cursor"] = said["cursor"]
            status, body = self.send(self.build(**op))
            said = self.ask(do="parse", op={**self.always, **op}, status=status, body=body)
        return said
