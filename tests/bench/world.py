"""world.py: burstd, simcloud and the stand-in for slurmctld, started and asked, inside tests/e2e/lab/enter."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import time

RUN = "/run/bench"
SOCKET = "/run/burstd/ctl.sock"
SPOOL = "/var/spool/burstd"
METRICS = ("127.0.0.1", 9818)
CREATE_MAX = 1000  # of the driver `sim`, instances in one request
CONCURRENCY = 16  # burstd's default


def log(name):
    with open(f"{RUN}/{name}.log", encoding="utf-8") as f:
        return f.read()


def requests(metrics, operation):
    """How many were sent to all providers."""
    return sum(v for k, v in metrics.items()
               if k.startswith("burstd_provider_requests_total{") and f'operation="{operation}"' in k)


class Ask:
    """One kept connection: a question every few milliseconds must not cost a connect."""

    def __init__(self, host, port):
        self.where = (host, port)
        self.conn = None

    def __call__(self, method, path, body=None):
        for _ in range(2):
            try:
                if self.conn is None:
                    self.conn = http.client.HTTPConnection(*self.where, timeout=20)
                head = {"Content-Type": "application/json"} if body is not None else {}
                self.conn.request(method, path, None if body is None else json.dumps(body), head)
                reply = self.conn.getresponse()
                text = reply.read()
                if reply.status != 200:
                    raise RuntimeError(f"{method} {path}: {reply.status} {text[:200]}")
                return text
            except (http.client.HTTPException, ConnectionError):
                self.conn = None
        raise RuntimeError(f"{method} {path}: no answer")


class World:
    """with World(bench, nodes): ... -- a fresh journal, no instances, every node powered down.

    provider(), offers(), sim_args() and env() are what a benchmark may have its own of."""

    def __init__(self, bench, nodes, boot_ms=300, sim=None, conf=""):
        self.b, self.nodes, self.boot_ms, self.sim_conf, self.conf = bench, nodes, boot_ms, sim or {}, conf
        self.state = os.path.join(bench.dir, "state")
        self.burstd = self.simcloud = None

    def __enter__(self):
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.rmtree(RUN, ignore_errors=True)
        for d in (self.state, "/var/spool/burstd", "/run/burstd", RUN, "/etc/burstd"):
            os.makedirs(d, mode=0o700, exist_ok=True)
        self.spool_on_disk()
        self.standin("init", self.nodes, self.boot_ms)
        self.start_simcloud()
        self.write_conf()
        self.start_burstd()
        return self

    def __exit__(self, *exc):
        for p in (self.burstd, self.simcloud):
            if p is not None and p.poll() is None:
                p.send_signal(signal.SIGTERM)
                try:
                    p.wait(10)
                except subprocess.TimeoutExpired:
                    p.kill()
                    p.wait()
        if self.burstd is not None and self.burstd.returncode not in (0, -signal.SIGKILL):
            print(f"burstd ended with {self.burstd.returncode}: {log('burstd')[-300:]}", flush=True)
        shutil.rmtree(self.state, ignore_errors=True)

    def spool_on_disk(self):
        """The lab's /var/spool is in memory, where a sync costs nothing."""
        disk = os.path.join(self.b.dir, "spool")
        os.makedirs(disk, mode=0o700, exist_ok=True)
        for name in os.listdir(disk):
            os.unlink(os.path.join(disk, name))
        if not os.path.ismount(SPOOL):
            subprocess.run(["mount", "--bind", disk, SPOOL], check=True)

    def sim_args(self):
        """Further arguments of simcloud."""
        return []

    def env(self):
        """The environment of burstd."""
        return None

    def provider(self):
        """The options in the provider's section."""
        return f'''driver = "sim"
	url = "{self.url}"'''

    def offers(self):
        """What the pool is bought of, as options or sections of the pool."""
        return '''type = "gpu_8x_h100"
	region = "eu-north-1"'''

    def start_simcloud(self):
        with open(f"{RUN}/simcloud.json", "w", encoding="utf-8") as f:
            json.dump(self.sim_conf, f)
        self.simcloud = subprocess.Popen(
            [f"{self.b.bin}/simcloud", "--config", f"{RUN}/simcloud.json", *self.sim_args()],
            stdout=subprocess.PIPE, stderr=open(f"{RUN}/simcloud.log", "ab"), text=True)
        self.url = self.simcloud.stdout.readline().strip()
        if not self.url:
            raise RuntimeError("simcloud does not start: " + log("simcloud"))
        host, port = self.url.removeprefix("http://").split(":")
        self.sim = Ask(host, int(port))

    def write_conf(self):
        with open("/etc/burstd/burstd.conf", "w", encoding="utf-8") as f:
            f.write(f'''cluster = "bench"
currency = "EUR"
state_dir = "{self.state}"
listen = "{METRICS[0]}:{METRICS[1]}"
log_level = "{self.b.log_level}"
slurm {{
	bin_dir = "{self.b.dir}/slurm"
}}
provider "sim" {{
	{self.provider()}
	settle = "5s"
	{self.conf}
}}
pool "p" {{
	nodes = "c[1-{self.nodes}]"
	provider = "sim"
	{self.offers()}
	max_nodes = {self.nodes}
	max_rate = "1000000"
	boot_timeout = "1h"
}}
''')

    def start_burstd(self, wait=True):
        self.burstd = subprocess.Popen([f"{self.b.bin}/burstd"], stdin=subprocess.DEVNULL, env=self.env(),
                                       stdout=subprocess.DEVNULL, stderr=open(f"{RUN}/burstd.log", "ab"))
        self.metrics_ask = Ask(*METRICS)
        if wait:
            out = self.timed("connect", SOCKET, "10000")
            self.until(lambda: self.metric('burstd_slurm_up') == 1 and requests(self.metrics(), "list") >= 1)
            time.sleep(0.3)
            return int(out)
        return None

    def standin(self, *args):
        return subprocess.run([f"{self.b.dir}/standin", *map(str, args)], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def timed(self, *args, env=None):
        return subprocess.run([f"{self.b.dir}/timed", *map(str, args)], check=True, text=True, env=env or {},
                              stdout=subprocess.PIPE).stdout

    def hook_env(self, nodes, jobs):
        if jobs is None:
            return {}
        with open(f"{RUN}/resume.json", "w", encoding="utf-8") as f:
            f.write(resume_file(nodes, jobs))
        return {"SLURM_RESUME_FILE": f"{RUN}/resume.json"}

    def hook_beside_floor(self, kind, nodes, jobs=None, runs=1, gap_ms=0):
        """As hook(), and in ms what a new durable file of the call's size took, right before each."""
        size = 154 + len(nodes) + (len(resume_file(nodes, jobs)) if jobs is not None else 0)
        out = self.timed("pairs", runs, gap_ms, SPOOL, size, f"{self.b.bin}/burst-{kind}", nodes,
                         env=self.hook_env(nodes, jobs))
        rows = [[int(x) for x in l.split()] for l in out.splitlines()]
        return [(r[1], r[2] / 1e9, r[3], r[4]) for r in rows], [r[0] / 1e6 for r in rows]

    def hook(self, kind, nodes, jobs=None, runs=1, gap_ms=0):
        """[(started_us, seconds, status, rss_kib)] of burst-KIND as slurmctld starts it."""
        env = self.hook_env(nodes, jobs)
        out = self.timed("run", runs, gap_ms, f"{self.b.bin}/burst-{kind}", nodes, env=env)
        rows = [l.split() for l in out.splitlines()]
        return [(int(r[0]), int(r[1]) / 1e9, int(r[2]), int(r[3])) for r in rows]

    def calls(self):
        """Names in the spool that burstd has not taken away yet."""
        return [n for n in os.listdir(SPOOL) if n[0] != "."]

    def metrics(self):
        rows = {}
        for l in self.metrics_ask("GET", "/metrics").decode().splitlines():
            if not l.startswith("#"):
                k, v = l.rsplit(" ", 1)
                rows[k] = float(v)
        return rows

    def metric(self, key):
        return self.metrics().get(key, 0)

    def state_count(self, *states):
        m = self.metrics()
        return sum(v for k, v in m.items() if k.startswith("burstd_nodes{") and
                   any(f'state="{s}"' in k for s in states))

    def stats(self):
        return json.loads(self.sim("GET", "/admin/stats"))

    def until(self, true, seconds=120, every=0.05):
        end = time.time() + seconds
        while not true():
            if time.time() > end or self.burstd.poll() is not None:
                raise RuntimeError(f"it does not happen (burstd: {self.burstd.poll()})\n{log('burstd')[-2000:]}")
            time.sleep(every)

    def standin_log(self):
        """[(at_us, what, count)]"""
        try:
            with open(f"{RUN}/log", encoding="utf-8") as f:
                return [(int(a), w, int(n)) for a, w, n in (l.split() for l in f)]
        except FileNotFoundError:
            return []

    def bring_up(self, nodes):
        """All nodes READY, and nothing moves."""
        self.standin("up", 1, nodes)
        self.hook("resume", f"c[1-{nodes}]", [f"c[1-{nodes}]"])
        self.until(lambda: self.state_count("ready") == nodes, 300, 0.5)


def resume_file(nodes, jobs):
    """As slurmctld writes it since 23.02."""
    return json.dumps({"all_nodes_resume": nodes, "jobs": [
        {"extra": None, "job_id": 1000 + i, "features": None, "nodes_alloc": j, "nodes_resume": j,
         "oversubscribe": "NO", "partition": "cloud", "reservation": None} for i, j in enumerate(jobs)]})


def split(nodes, each):
    """c1..cNODES in jobs of EACH nodes."""
    if each == 1:
        return [f"c{i}" for i in range(1, nodes + 1)]
    return [f"c[{i}-{min(i + each - 1, nodes)}]" for i in range(1, nodes + 1, each)]


def percentile(values, p):
    v = sorted(values)
    return v[min(len(v) - 1, int(len(v) * p))]


def threads(pid):
    return os.listdir(f"/proc/{pid}/task")


def cpu_ms(pid):
    ns = 0
    for t in threads(pid):
        with open(f"/proc/{pid}/task/{t}/schedstat", encoding="ascii") as f:
            ns += int(f.read().split()[0])
    return ns / 1e6


def status(pid, key):
    total = 0
    for t in threads(pid):
        with open(f"/proc/{pid}/task/{t}/status", encoding="ascii") as f:
            total += sum(int(l.split()[1]) for l in f if l.startswith(key + ":"))
    return total


def rss_kib(pid, key="VmRSS"):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(l.split()[1]) for l in f if l.startswith(key + ":"))
