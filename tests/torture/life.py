"""life.py: one worker of `make torture`, in a mount and a network namespace of its own.

It reads orders, one JSON object a line, and answers each with one.  An order is one life: burstd starts, a job of
two nodes wants them, they are bought, come up and are given back, burstd is told to stop.  On the way one call of
libc fails (fail.c).  When burstd ends of it, it is started again without; whatever happens, the same must come out.
"""

import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time

RUN = "/run/torture"
SPOOL = "/var/spool/burstd"
SOCKET = "/run/burstd/ctl.sock"
METRICS = ("127.0.0.1", 9818)
JOB = '{"all_nodes_resume":"c[1-2]","jobs":[{"job_id":7,"nodes_alloc":"c[1-2]","nodes_resume":"c[1-2]","partition":"cloud"}]}'
SPEED = 20  # burstd's seconds in one of ours
PHASE_S = 8.0  # of ours; then it hangs
STOP_S = 4.0
SICK_S = 0.6  # how long a burstd that can do nothing is watched before it is restarted
STATES = "duUD"


class Bad(Exception):
    """A promise is broken."""


class Life:
    def __init__(self, bin_dir, build):
        self.bin, self.build = bin_dir, build
        self.fds = {}  # of a burstd that nothing happened to

    # --- the world ---

    def prepare(self):
        for d in (RUN, SPOOL, "/run/burstd"):
            for name in os.listdir(d):
                p = f"{d}/{name}"
                shutil.rmtree(p) if os.path.isdir(p) and not os.path.islink(p) else os.unlink(p)
        os.mkdir(f"{RUN}/state", 0o700)
        os.mkdir(f"{RUN}/bin")
        for name in ("scontrol", "squeue"):
            os.symlink(f"{self.build}/slurm", f"{RUN}/bin/{name}")
        self.put("token", "torture\n")
        self.put("resume.json", JOB)
        self.put("simcloud.json", '{"boot":"0s","stop":"0s","addr_reuse":"0s"}')
        self.slurm("init")
        self.sim = subprocess.Popen(
            [f"{self.bin}/simcloud", "--config", f"{RUN}/simcloud.json", "--state", f"{RUN}/meter", "--token-file", f"{RUN}/token"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(f"{RUN}/simcloud.log", "ab"))
        url = self.sim.stdout.readline().decode().strip()
        self.sim_at = url.removeprefix("http://").split(":")
        self.put("burstd.conf", f'''cluster = "torture"
currency = "EUR"
state_dir = "{RUN}/state"
listen = "{METRICS[0]}:{METRICS[1]}"
slurm {{
	bin_dir = "{RUN}/bin"
}}
provider "sim" {{
	driver = "sim"
	url = "{url}"
	credential_file = "{RUN}/token"
	settle = "2s"
	list_every = "1s"
}}
pool "p" {{
	nodes = "c[1-2]"
	provider = "sim"
	type = "gpu_8x_h100"
	region = "eu-north-1"
	max_nodes = 2
	max_rate = "1000"
	boot_timeout = "60s"
}}
''')

    @staticmethod
    def put(name, text):
        fd = os.open(f"{RUN}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(fd, text.encode())
        os.close(fd)

    def slurm(self, what):
        subprocess.run([f"{self.build}/slurm", what], check=True)

    def nodes(self):
        """[(state, address)] of slurmctld, as slurm.c has them in its file."""
        with open(f"{RUN}/slurm", "rb") as f:
            text = f.read()
        out = []
        for i in range(2):
            state, addr = struct.unpack_from("<8xi?48s", text, 8 + i * 64)[0::2]
            out.append((STATES[state], addr.split(b"\0")[0].decode()))
        return out

    def resumes(self):
        with open(f"{RUN}/slurm", "rb") as f:
            return struct.unpack_from("<4xI", f.read())[0]

    def ask(self, at, path):
        c = http.client.HTTPConnection(at[0], int(at[1]), timeout=2)
        try:
            c.request("GET", path)
            return c.getresponse().read().decode()
        finally:
            c.close()

    def alive(self):
        """{node: [address]} of what simcloud really has."""
        out = {}
        for i in json.loads(self.ask(self.sim_at, "/admin/instances"))["instances"]:
            if i["state"] != "ended":
                out.setdefault(i["name"], []).append(i.get("address"))
        return out

    # --- burstd ---

    def start(self, env):
        self.log = open(f"{RUN}/burstd.log", "ab")
        self.burstd = subprocess.Popen(
            [f"{self.bin}/burstd", "-c", f"{RUN}/burstd.conf"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env={"PATH": "/usr/bin:/bin", "TORTURE_SPEED": str(SPEED), "TORTURE_ANCHOR": self.anchor,
                 "LD_PRELOAD": f"{self.preload}{self.build}/fail.so", **env})
        self.log.close()
        self.clean = not env

    def counters(self):
        try:
            with open(f"{RUN}/shared", "rb") as f:
                return struct.unpack("<QQ", f.read(16))
        except (FileNotFoundError, struct.error):
            return (0, 0)

    def text(self):
        with open(f"{RUN}/burstd.log", encoding="utf-8", errors="replace") as f:
            return f.read()

    def judge_end(self, asked=False):
        """It has ended: so that its user knows why?"""
        rc = self.burstd.returncode
        last = self.text()[-3000:]
        self.ends.append(rc)
        if asked and rc in (0, -signal.SIGTERM):  # the latter: before it had a handler
            return
        if self.clean:
            raise Bad(f"burstd ended with {rc}, and nothing had happened to it")
        said = " error msg=" in last or "Fatal error in" in last or "burstd: out of memory" in last
        if rc in self.may_abort:
            return
        if "Assertion" in last or "AddressSanitizer" in last or "runtime error" in last:
            raise Bad("an assertion failed, or worse")
        if rc in (1, 78, -signal.SIGABRT) and (said or self.fn == "write"):
            return
        raise Bad(f"burstd ended with {rc} without saying why")

    def look(self):
        """Restart it when it has ended, or when it cannot do anything."""
        if self.burstd.poll() is not None:
            self.judge_end()
            self.start({})
        elif not self.clean and self.ms == -1:
            if self.counters()[1] == 0:
                return
            self.sick = self.sick or time.monotonic()
            if time.monotonic() > self.sick + SICK_S:
                self.stop()
                self.start({})

    def until(self, what, true):
        end = time.monotonic() + PHASE_S
        while True:
            self.look()
            if true():
                return
            if time.monotonic() > end:
                raise Bad(f"hangs: {what}")
            time.sleep(0.012)

    def stop(self):
        if self.burstd.poll() is None:
            self.burstd.send_signal(signal.SIGTERM)
            try:
                self.burstd.wait(STOP_S)
            except subprocess.TimeoutExpired:
                raise Bad("does not stop") from None
        self.judge_end(asked=True)

    def listens(self):
        """It does, or has ended before."""
        if self.burstd.poll() is not None:
            return True
        c = socket.socket(socket.AF_UNIX)
        try:
            c.connect(SOCKET)
            return True
        except OSError:
            return False
        finally:
            c.close()

    def request(self, op):
        c = socket.socket(socket.AF_UNIX)
        c.settimeout(1)
        try:
            c.connect(SOCKET)
            body = json.dumps({"v": 1, "op": op}).encode()
            c.sendall(b"J" + struct.pack(">I", len(body)) + body)
            data = b""
            while part := c.recv(65536):
                data += part
            return json.loads(data[5:])
        except (OSError, ValueError):
            return {}
        finally:
            c.close()

    def all_are(self, states):
        nodes = self.request("nodes").get("nodes", [])
        return len(nodes) == 2 and all(n["state"] in states and not n.get("older") for n in nodes)

    def hook(self, kind):
        p = subprocess.run([f"{self.bin}/burst-{kind}", "c[1-2]"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, env={"SLURM_RESUME_FILE": f"{RUN}/resume.json"}, timeout=4, check=False)
        if p.returncode != 0:
            raise Bad(f"burst-{kind} ended with {p.returncode}")

    # --- one life ---

    def is_up(self):
        if self.resumes() > self.resumed:  # the job went back into the queue, and slurmctld tries again
            self.resumed = self.resumes()
            self.hook("resume")
        nodes = self.nodes()
        if any(s != "U" for s, _ in nodes):
            return False
        alive = self.alive()
        return all(alive.get(f"c{i + 1}") == [a] for i, (_, a) in enumerate(nodes))

    def is_down(self):
        return all(s == "d" for s, _ in self.nodes()) and not self.alive() and self.all_are(("none", "gone"))

    def live(self):
        # No look(): a call comes while it is down.
        end = time.monotonic() + PHASE_S
        while not self.listens():
            if time.monotonic() > end:
                raise Bad("hangs: does not listen")
            if not self.clean and self.ms == -1 and time.monotonic() > end - PHASE_S + SICK_S:
                break
            time.sleep(0.005)
        wanted = time.time()
        self.slurm("submit")
        self.resumed = self.resumes()
        self.hook("resume")
        self.until("the nodes do not come up", self.is_up)
        self.until("burstd does not see them up", lambda: self.all_are(("ready",)))
        if self.burstd.poll() is None:
            self.burstd.send_signal(signal.SIGHUP)
        try:
            self.ask(METRICS, "/metrics")
        except (OSError, http.client.HTTPException):
            pass
        self.slurm("cancel")
        with open(f"{RUN}/wanted", "w", encoding="ascii") as f:
            for n in ("c1", "c2"):
                f.write(f"{n} {int(wanted * 1000)} {int(time.time() * 1000)}\n")
        self.hook("suspend")
        self.until("the nodes are not given back", self.is_down)
        self.until("the spool is not drained", lambda: not [n for n in os.listdir(SPOOL) if n[0] != "."])
        self.check_descriptors()
        if self.burstd.poll() is None:
            children = open(f"/proc/{self.burstd.pid}/task/{self.burstd.pid}/children", encoding="ascii").read().split()
            if len(children) > 3:
                raise Bad(f"{len(children)} children")
        self.stop()

    def descriptors(self):
        kinds = {}
        try:
            for fd in os.listdir(f"/proc/{self.burstd.pid}/fd"):
                to = os.readlink(f"/proc/{self.burstd.pid}/fd/{fd}")
                kind = to.split("[")[0].split(":")[0] if to.startswith(("socket:", "pipe:")) else to
                kind = "/dev/null" if to == "/" else kind  # what libuv keeps for EMFILE
                kinds[kind] = kinds.get(kind, 0) + 1
        except FileNotFoundError:
            pass  # closed meanwhile, or burstd has ended
        return kinds

    def check_descriptors(self):
        """More of a kind than a burstd has that nothing happened to: a leak.  Those of a request or of a child that
        is being started come and go."""
        if self.fault is None:
            self.fds = {k: max(v, self.fds.get(k, 0)) for k, v in self.descriptors().items()}
            return
        end = time.monotonic() + 2
        while True:
            more = [f"{n} descriptors of {k}" for k, n in self.descriptors().items()
                    if n > self.fds.get(k, 0) + (4 if k == "socket" else 0) and "memfd" not in k]
            if not more:
                return
            if time.monotonic() > end:
                raise Bad(", ".join(more))
            time.sleep(0.01)

    def judge(self):
        """The world's own books."""
        db = sqlite3.connect(f"file:{RUN}/state/journal.db?mode=ro", uri=True)
        if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            raise Bad("the journal is damaged")
        db.close()
        with open(f"{RUN}/state/uuid", encoding="ascii") as f:
            uuid = f.read().strip()
        p = subprocess.run([f"{self.bin}/simcloud", "audit", "--meter", f"{RUN}/meter", "--wanted", f"{RUN}/wanted",
                            "--cluster", uuid, "--grace", "10s"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
        if p.returncode != 0:
            raise Bad("audit: " + p.stdout)
        return json.loads(self.ask(self.sim_at, f"/admin/meter?cluster={uuid}"))["rows"]

    def run(self, order):
        self.fault = order.get("fault")
        self.fn = (self.fault or "").split(" ")[0]
        self.ms = int(self.fault.split(" ")[4]) if self.fault else 0
        self.may_abort = order.get("may_abort", [])
        self.preload = order.get("preload", "")
        self.ends, self.sick = [], None
        self.sim = self.burstd = None
        result = {"ok": True, "why": ""}
        began = time.monotonic()
        try:
            self.prepare()
            self.anchor = f"{time.time_ns()} {time.clock_gettime_ns(time.CLOCK_BOOTTIME)}"
            env = {}
            if self.fault:
                env = {"TORTURE_FAULT": self.fault, "TORTURE_SHARED": f"{RUN}/shared"}
            elif order.get("record"):
                env = {"TORTURE_RECORD": order["record"]}
            self.start(env)
            self.live()
            result["bought"] = len(self.judge())
        except Bad as e:
            result = {"ok": False, "why": str(e)}
        except (OSError, ValueError, http.client.HTTPException, sqlite3.Error, subprocess.SubprocessError) as e:
            result = {"ok": False, "why": f"the test itself: {e!r}"}
        finally:
            for p in (self.burstd, self.sim):
                if p is not None:
                    if p.poll() is None:
                        p.kill()
                    p.wait()
            if self.sim is not None:
                self.sim.stdout.close()
        if not result["ok"]:
            result["log"] = self.text()[-4000:]
        result.update(fired=self.counters()[1], ends=self.ends, seconds=round(time.monotonic() - began, 3))
        return result


def main():
    life = Life(*sys.argv[1:3])
    for d in (RUN, SPOOL, "/run/burstd"):
        os.makedirs(d, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=700", "tmpfs", d], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for line in sys.stdin:
        print(json.dumps(life.run(json.loads(line))), flush=True)


main()
