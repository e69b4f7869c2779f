"""lyceum.py SIMCLOUD: simcloud's face of Lyceum, used by the vendor's own command line (lyceum-cli), as TAP.

It knows nothing of simcloud: what it cannot read, or reads otherwise than we meant it, fails here.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

import tap
from lyceum_cli import Cli

KEY = "lk_contract"

tests = []


def test(fn):
    tests.append(fn)
    return fn


class World:
    """A simcloud, and the command line with a home of its own."""

    def __init__(self, simcloud):
        self.home = tempfile.mkdtemp()
        self.cli = Cli(self.home)
        key = os.path.join(self.home, "key")
        with open(key, "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as f:
            f.write(KEY + "\n")
        self.proc = subprocess.Popen([simcloud, "--token-file", key], stdout=subprocess.PIPE, text=True)
        self.url = self.proc.stdout.readline().strip()
        self.post("/admin/config", {"boot": "1ms", "stop": "1ms"})

    def close(self):
        self.proc.terminate()
        self.proc.wait()
        self.proc.stdout.close()
        shutil.rmtree(self.home)

    def post(self, path, body):
        rq = urllib.request.Request(self.url + path, json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(rq, timeout=20) as reply:
            return json.load(reply)

    def run(self, *words, ok=True):
        env = {"HOME": self.home, "PATH": os.environ["PATH"], "COLUMNS": "300", "NO_COLOR": "1"}
        status, said = self.cli.run(words, env)
        assert (status == 0) == ok, f"{words}: {status}: {said}"
        return said

    def login(self):
        said = self.run("auth", "login", "--api-key", KEY, "--url", self.url)
        assert "Successfully authenticated" in said and "simcloud" in said, said

    def start(self, *words, ok=True):
        return self.run("vm", "start", "-k", "ssh-ed25519 A", "--async", *words, ok=ok)

    def started(self, *words):
        return re.search(r"VM ID: (\S+)", self.start(*words)).group(1)

    def status(self, vm):
        return json.loads(self.run("vm", "status", vm, "--json"))

    def list(self, *words):
        said = self.run("vm", "list", "--json", *words)
        return json.loads(said) if said.strip().startswith("[") else []

    def wait(self, vm, status):
        for _ in range(50):
            if self.status(vm)["status"] == status:
                return
            time.sleep(0.1)
        raise AssertionError(f"{vm} is {self.status(vm)['status']}, not {status}")


def needs(text, *words):
    for word in words:
        assert word in text, f"{word} is not in: {text}"


@test
def it_logs_in_with_the_key_alone(w):
    said = w.run("auth", "login", "--api-key", "lk_other", "--url", w.url, ok=False)
    needs(said, "Authentication failed: HTTP 401")
    w.login()
    needs(w.run("auth", "status"), "API connection working", "simcloud (personal org)")


@test
def it_reads_what_is_available(w):
    w.login()
    w.post("/admin/capacity", {"type": "gpu_1x_h100", "market": "on-demand", "capacity": 0})
    said = w.run("vm", "availability")
    spot = said.index("Spot Hardware Profiles")
    assert re.search(r"h100 +│ +\$3\.69 +│ +8 ", said[:spot]), said
    assert re.search(r"h100 +│ +\$1\.47 +│ +1, 8 ", said[spot:]), said


@test
def it_starts_names_and_stops_a_machine(w):
    w.login()
    vm = w.started("-h", "h100", "-g", "8", "-n", "c1")
    w.wait(vm, "ready")
    said = w.run("vm", "status", vm)
    # It shows no price: it looks for one under group_by, where the recorded answers have applies_to.
    needs(said, "Status: ready", "Display name: c1", "Hardware Profile: h100", "GPU Count: 8", "SSH command:",
          "lyceum@10.77.")
    needs(w.run("vm", "rename", vm, "c2"), "renamed to 'c2'")
    needs(w.run("vm", "list"), vm, "c2", "on-demand", "10.77.")
    needs(w.run("vm", "rename", vm, "--clear"), "Cleared display name")
    assert w.list()[0]["display_name"] is None
    needs(w.run("vm", "stop", vm, "--force"), f"VM {vm} has been terminated")
    w.wait(vm, "terminated")


@test
def it_reads_an_address_with_a_port(w):
    w.login()
    w.started("-h", "h100")
    vm = w.started("-h", "h100")
    w.wait(vm, "ready")
    needs(w.run("vm", "status", vm), "-p 22 lyceum@10.77.")


@test
def it_filters_its_list(w):
    w.login()
    old, new = w.started("-h", "h100"), w.started("-h", "h100", "-t", "spot")
    w.run("vm", "stop", old, "--force")
    w.wait(old, "terminated")
    w.wait(new, "ready")
    assert [v["vm_id"] for v in w.list()] == [old, new]
    assert [v["vm_id"] for v in w.list("--no-terminated")] == [new]
    assert [v["vm_id"] for v in w.list("--no-ready")] == [old]
    assert w.list()[1]["instance_type"] == "spot"


@test
def it_tells_refusals(w):
    w.login()
    needs(w.start("-h", "v100", ok=False), "HTTP 400", "Unknown hardware_profile 'v100'")
    needs(w.start("-h", "h100", "-g", "3", ok=False), "HTTP 400", "The instance request was invalid.")
    needs(w.run("vm", "status", "0123", ok=False), "HTTP 404", "VM not found")
    w.post("/admin/capacity", {"type": "gpu_8x_h100", "capacity": 0})
    needs(w.start("-h", "h100", "-g", "8", ok=False), "HTTP 500", "could not be provisioned right now")
    w.post("/admin/config", {"quota": 0})
    needs(w.start("-h", "h100", ok=False), "HTTP 402", "Insufficient credits")
    assert w.list() == []


@test
def it_renews_its_session(w):
    w.login()
    session = w.post("/api/v2/external/auth/login", {"email": "a@example.com", "password": KEY})
    path = os.path.join(w.home, ".lyceum", "config.json")
    with open(path, encoding="utf-8") as f:
        conf = json.load(f)
    conf["refresh_token"] = session["refresh_token"]
    # A JWT that has ended: {"exp":1}.
    conf["api_key"] = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjF9.AAAA"
    with open(path, "w", encoding="utf-8") as f:
        json.dump(conf, f)
    needs(w.run("vm", "list"), "Token refreshed automatically", "No VM instances found")
    with open(path, encoding="utf-8") as f:
        renewed = json.load(f)["api_key"]
    assert renewed.startswith("eyJ") and renewed != conf["api_key"]
    assert "refreshed" not in w.run("vm", "list")


def alone(fn):
    """Each test has a world of its own."""
    w = World(sys.argv[1])
    try:
        fn(w)
    finally:
        w.close()


def main():
    return tap.run(tests, alone)


if __name__ == "__main__":
    sys.exit(main())
