"""lab.py - one burst-agent, its files and the fakes it talks to."""

import os
import re
import shutil
import ssl
import subprocess
import tempfile
import time

from fakes import CA, CLIENT_EXT, Burstd, Fake, Raw, SERVER_EXT

PATIENCE = 25  # seconds, for what should take one

CLOCK_C = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static long off(void) { long n = 0; FILE *f = fopen(getenv("CLOCK_OFFSET_FILE"), "r");
	if (f) { if (fscanf(f, "%ld", &n) != 1) n = 0; fclose(f); } return n; }
int clock_gettime(clockid_t id, struct timespec *ts) {
	static int (*real)(clockid_t, struct timespec *); int rc;
	if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	rc = real(id, ts); if (id == CLOCK_REALTIME) ts->tv_sec += off(); return rc; }
time_t time(time_t *t) { struct timespec ts; clock_gettime(CLOCK_REALTIME, &ts); if (t) *t = ts.tv_sec; return ts.tv_sec; }
"""


class Lab:
    """One agent, its files and the fakes it talks to."""

    agent = os.path.join(os.environ.get("BIN", "build/bin"), "burst-agent")

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="burst-agent-")
        self.ca = CA(self.dir)
        self.key, self.cert = self.ca.issue("h100-1", CLIENT_EXT)
        self.fakes, self.children, self.conf = [], [], {}
        self.conf_path = f"{self.dir}/agent.conf"
        self.log = f"{self.dir}/log"
        self.proc = f"{self.dir}/proc"
        os.makedirs(f"{self.proc}/sys/kernel/random")
        self.write("proc/sys/kernel/random/boot_id", "0f7c7d0e-1111-2222-3333-444455556666\n")
        self.write("proc/loadavg", "1.25 0.52 0.59 1/467 12345\n")
        self.write("proc/uptime", "351735.47 234388.90\n")
        self.write("key.version", "7\n")
        self.poweroff = self.script("poweroff", f"date >>{self.dir}/off")
        self.conf = {"ca": self.ca.pem, "cert": self.cert, "key": self.key, "node": "h100-1", "generation": "3",
                     "heartbeat": "1s", "poll": "1s", "poweroff": self.poweroff, "proc": self.proc,
                     "key_version_file": f"{self.dir}/key.version", "health": "1s",
                     "local_command": self.script("local", f'echo "$@" >>{self.dir}/local.ran') + " %j"}

    def write(self, name, text, mode=0o644):
        path = f"{self.dir}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".tmp", "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(path + ".tmp", mode)
        os.rename(path + ".tmp", path)
        return path

    def script(self, name, text):
        return self.write(name, f"#!/bin/sh\n{text}\n", 0o755)

    def read(self, name):
        try:
            with open(f"{self.dir}/{name}", encoding="utf-8", errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def job(self, pid, title="slurmstepd: [4711.batch]", uid=0):
        self.write(f"proc/{pid}/status", f"Name:\tslurmstepd\nUid:\t{uid}\t0\t0\t0\n")
        self.write(f"proc/{pid}/cmdline", title)

    def no_job(self, pid):
        shutil.rmtree(f"{self.proc}/{pid}")

    def burstd(self, **kw):
        self.fakes.append(Burstd(self.ca, **kw))
        return self.fakes[-1]

    def fake(self, **kw):
        self.fakes.append(Fake(kw.pop("address", "127.0.0.4"), **kw))
        return self.fakes[-1]

    def raw(self, fn, tls=True, **kw):
        context = None
        if tls:
            key, pem = self.ca.issue("raw", SERVER_EXT)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem, key)
        self.fakes.append(Raw(fn, context=context, **kw))
        return self.fakes[-1]

    def configure(self, urls, **more):
        """urls: fakes or texts."""
        self.conf.update(more)
        lines = [f"url = {u if isinstance(u, str) else u.url}" for u in urls]
        lines += [f"{k} = {v}" for k, v in self.conf.items()]
        self.write("agent.conf", "# written by the test\n" + "\n".join(lines) + "\n", 0o600)

    def command(self, *args, **kw):
        return subprocess.run([self.agent, "--config", self.conf_path, *args], capture_output=True, text=True, timeout=60,
                              check=False, **kw)

    def start(self, urls, env=None, **more):
        self.configure(urls, **more)
        with open(self.log, "ab") as log:
            p = subprocess.Popen([self.agent, "--config", self.conf_path], stderr=log,  # pylint: disable=consider-using-with
                                 stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
        self.children.append(p)
        return p

    def clock(self):
        """The environment in which self.clock_to(seconds) moves the agent's clock."""
        self.write("clock.c", CLOCK_C)
        subprocess.run([os.environ.get("CC", "cc").split()[0], "-shared", "-fPIC", "-o", f"{self.dir}/clock.so", f"{self.dir}/clock.c", "-ldl"],
                       check=True)
        self.clock_to(0)
        return {"LD_PRELOAD": f"{self.dir}/clock.so", "CLOCK_OFFSET_FILE": f"{self.dir}/offset",
                "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def clock_to(self, seconds):
        self.write("offset", str(seconds))

    def close(self):
        for p in self.children:
            if p.poll() is None:
                p.kill()
            p.wait()
        for f in self.fakes:
            f.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def until(fn, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        value = fn()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {patience} s")


def never(fn, what, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert not fn(), what
        time.sleep(0.05)


def rss_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))
