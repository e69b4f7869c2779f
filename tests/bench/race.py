"""race.py: how fast, and with how many calls, burstd buys over EC2's API, within EC2's token buckets."""

import datetime
import hashlib
import hmac
import http.client
import json
import os
import struct
import subprocess
import time
import urllib.parse

from beat import Door
from world import RUN, World, cpu_ms, percentile, split

REGION, KEY_ID, SECRET = "eu-north-1", "AKIDBENCH", "bench"
MS = {"create": 1500, "list": 200, "delete": 200, "fabric": 200}
# Of an account that never asked for more (docs/aws.md).
BUCKETS = {
    "create": {"rate": 2, "burst": 5, "instances": {"rate": 2, "burst": 1000}},
    "delete": {"rate": 5, "burst": 100, "instances": {"rate": 20, "burst": 1000}},
    "list": {"rate": 20, "burst": 100},
    "offers": {"rate": 20, "burst": 100},
    "fabric": {"rate": 5, "burst": 50},
    "report": {"rate": 5, "burst": 50},
}
CUT_S = 200  # a race that takes longer is told as far as it came
SLICE = f"{RUN}/slice"


class Ec2(World):
    """burstd with the driver aws, and simcloud's face of EC2.

    template: with a launch template, and subnets in two zones to choose from.  queue: with EC2's notices, as lists are rare
    only where these are heard."""

    def __init__(self, bench, nodes, limited=True, template=False, fabric=False, queue=False, sim=None):
        sim = {"latency": {op: f"{ms}ms" for op, ms in MS.items()}, **(sim or {})}
        if limited:
            sim["buckets"] = BUCKETS
        super().__init__(bench, nodes, sim=sim)
        self.limited, self.template, self.fabric, self.list_every = limited, template, fabric, ""
        self.queue = queue

    def start_simcloud(self):
        with open(f"{RUN}/ec2.key", "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o600)) as f:
            f.write(f"aws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n")
        super().start_simcloud()

    def sim_args(self):
        return ["--aws-key-file", f"{RUN}/ec2.key"]

    def env(self):
        return {**os.environ, "LD_PRELOAD": f"{self.b.dir}/slice.so", "BENCH_SLICE": SLICE}

    def provider(self):
        lines = ['driver = "aws"', f'url = "{self.url}/"', f'region = "{REGION}"',
                 f'credential_file = "{RUN}/ec2.key"', 'image = "ami-0"',
                 f'subnets = "{REGION}a=subnet-{REGION}a,{REGION}b=subnet-{REGION}b"']
        if self.template:
            lines.append('launch_template = "lt-0"')
        if not self.limited:
            lines.append("rate = 10000")
        if self.queue:
            lines.append(f'notice_queue = "{self.url}/000000000000/burstd"')
        return "\n\t".join(lines + [self.list_every])

    def offers(self):
        lines = ['type = "gpu_8x_h100"', f'region = "{REGION}"', 'price = "29.52"']
        if not self.template:
            lines.append(f'zone = "{REGION}a"')
        if self.fabric:
            lines.append('fabric = "job"')
        return "\n\t".join(lines)

    def ops(self, op):
        return self.stats()["ops"][op]

    def forget(self):
        """Count and time calls from now on."""
        self.sim("DELETE", "/admin/stats")

    def wait(self, true, seconds):
        """false: it did not happen in that time."""
        end = time.time() + seconds
        while not true():
            if self.burstd.poll() is not None:
                raise RuntimeError("burstd ended")
            if time.time() > end:
                return False
            time.sleep(0.05)
        return True

    def config(self, **change):
        self.sim("POST", "/admin/config", change)

    def list_each(self, every):
        self.list_every = f'list_every = "{every}"'
        self.write_conf()
        for what in ("reload", "reconcile"):  # the next list was set before the reload
            subprocess.run([f"{self.b.bin}/burstctl", what], check=True, stdout=subprocess.DEVNULL)


class Keyed(Door, Ec2):
    """With a section `nodes`: burstd writes the user-data of each instance, and it has a proof of its own."""

    def provider(self):
        return super().provider() + '\n\tattest = "aws"'


def calls(op):
    return sum(op["answers"].values())


def addresses(w):
    return [(r[0], r[2]) for r in w.standin_log() if r[1] == "addr"]


def tell(b, w, case, t0, n, done, allow):
    """What came of a burst of n nodes that began at t0 (in us).  allow: targets and floors."""
    create, all_calls = w.ops("create"), w.stats()["requests"]
    made = create["instances"].get("ok", 0)
    params = {"case": case} if done else {"case": case, "made": f"{made}/{n}"}
    value = create["last_ms"] + MS["create"] - t0 / 1000 if done else (time.time() - t0 / 1e6) * 1000
    b.figure("hook to last create answered" if done else "not done after", value / 1000, "s", allow.get("s"),
             allow.get("floor_s"), **params)
    told = w.wait(lambda: sum(r[1] for r in addresses(w)) >= made, 30)
    rows = addresses(w)
    if rows:
        b.figure("hook to first address", (rows[0][0] - t0) / 1e6, "s", **params)
    if told and done:
        b.figure("hook to last address", (max(r[0] for r in rows) - t0) / 1e6, "s", **params)
    b.figure("create calls", calls(create), "calls", allow.get("calls"), allow.get("floor_calls"), **params)
    b.figure("throttled", sum(op["answers"].get("rate", 0) for op in w.stats()["ops"].values()), "calls",
             allow.get("throttled", 0), **params)
    for op in ("list", "fabric"):
        b.figure(f"{op} calls", calls(w.ops(op)), "calls", **params)
    b.figure("all calls", all_calls, "calls", **params)


def resume(w, jobs):
    nodes = f"c[1-{w.nodes}]"
    row = w.hook("resume", nodes, jobs)[0]
    if row[2] != 0:
        raise RuntimeError(f"burst-resume exits {row[2]}")
    return row[0]


def burst(b, case, n, each, allow, make=Ec2, **world):
    """One call of slurmctld for n nodes in jobs of `each`."""
    with make(b, n, **world) as w:
        w.standin("up", 1, n)
        w.forget()
        t0 = resume(w, split(n, each))
        done = w.wait(lambda: w.ops("create")["instances"].get("ok", 0) >= n, CUT_S)
        tell(b, w, case, t0, n, done, allow)


def spread(b, n=1000, each=8, gap=0.08):
    """A call of slurmctld for each job, one after the other."""
    jobs = split(n, each)
    with Ec2(b, n) as w:
        w.forget()
        begun, at = {}, time.time()
        for i, job in enumerate(jobs):
            time.sleep(max(0, at + i * gap - time.time()))
            w.standin("up", i * each + 1, (i + 1) * each)
            begun[i] = w.hook("resume", job, [job])[0][0]
        case = f"{len(jobs)} hooks in {len(jobs) * gap:g} s"
        done = w.wait(lambda: w.ops("create")["instances"].get("ok", 0) >= n, CUT_S)
        first = w.ops("create")["first_ms"] - begun[0] / 1000
        b.figure("hook to first create", first, "ms", 50, case=case)
        rows = json.loads(w.sim("GET", "/admin/meter"))["rows"]
        late = [max(r["start_ms"] - begun[(int(r["name"][1:]) - 1) // each] / 1000, 0) for r in rows]
        for name, q in (("p50", 0.5), ("last", 1)):
            b.figure(f"a hook to its create, {name}", percentile(late, q) / 1000, "s", case=case)
        tell(b, w, case, begun[0], n, done, {"throttled": None})


def release(b, jobs=1000, gone=50):
    """Creates wait for the bucket, and nodes are released meanwhile: deletes have a bucket of their own."""
    n = gone + 2 * jobs
    with Ec2(b, n, fabric=True) as w:
        w.standin("up", 1, gone)
        w.hook("resume", f"c[1-{gone}]", [f"c[1-{gone}]"])
        w.until(lambda: w.state_count("ready") == gone, 60)
        w.standin("up", gone + 1, n)
        w.hook("resume", f"c[{gone + 1}-{n}]", [f"c[{i}-{i + 1}]" for i in range(gone + 1, n, 2)])
        time.sleep(3)
        w.standin("down", 1, gone)
        w.forget()
        t0 = w.hook("suspend", f"c[1-{gone}]")[0][0]
        done = w.wait(lambda: w.ops("delete")["first_ms"] > 0, 60)
        value = w.ops("delete")["first_ms"] - t0 / 1000 if done else (time.time() - t0 / 1e6) * 1000
        b.figure("released to first delete" if done else "no delete after", value / 1000, "s", 2, 0,
                 creates_queued=jobs, released=gone)


# --- 10,000 nodes that are up -------------------------------------------------------------------


def sign(body, host):
    """The headers of a POST to EC2 (Signature Version 4)."""
    at = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{at[:8]}/{REGION}/ec2/aws4_request"
    asked = f"POST\n/\n\nhost:{host}\nx-amz-date:{at}\n\nhost;x-amz-date\n{hashlib.sha256(body).hexdigest()}"
    text = f"AWS4-HMAC-SHA256\n{at}\n{scope}\n{hashlib.sha256(asked.encode()).hexdigest()}"
    key = f"AWS4{SECRET}".encode()
    for part in (*scope.split("/"), text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return {"Content-Type": "application/x-www-form-urlencoded", "X-Amz-Date": at,
            "Authorization": f"AWS4-HMAC-SHA256 Credential={KEY_ID}/{scope}, SignedHeaders=host;x-amz-date, "
                             f"Signature={key.hex()}"}


def page(w, path):
    """A page of the list, as burstd gets it."""
    host, port = w.url.removeprefix("http://").split(":")
    body = urllib.parse.urlencode({"Action": "DescribeInstances", "Version": "2016-11-15", "MaxResults": 250}).encode()
    conn = http.client.HTTPConnection(host, int(port), timeout=60)
    conn.request("POST", "/", body, sign(body, f"{host}:{port}"))
    reply = conn.getresponse()
    with open(path, "wb") as f:
        f.write(reply.read())
    conn.close()
    if reply.status != 200:
        raise RuntimeError(f"DescribeInstances: {reply.status}")


def slices(clear=False):
    """The longest slice of the loop in ms, and how many were over 5 ms."""
    with open(SLICE, "r+b") as f:
        ns, over = struct.unpack("qq", f.read(16))
        if clear:
            f.seek(0)
            f.write(bytes(16))
    return ns / 1e6, over


def window(w, seconds):
    """What happens within so many seconds."""
    got = {}
    slices(clear=True)
    w.forget()
    cpu, at, polls = cpu_ms(w.burstd.pid), time.time(), len(w.standin_log())
    time.sleep(seconds)
    got["s"] = time.time() - at
    got["cpu"] = cpu_ms(w.burstd.pid) - cpu
    got["polls"] = sum(r[1] == "show" for r in w.standin_log()[polls:])
    got["pages"] = calls(w.ops("list"))
    got["requests"] = w.stats()["requests"]
    got["slice"], got["over"] = slices()
    return got


def lists(b, w, nodes, cards, seconds):
    params = {"nodes": nodes, "interfaces": cards}
    w.config(interfaces=cards)
    page(w, f"{RUN}/page.xml")
    parsed = json.loads(subprocess.run([f"{b.bin}/parse", "20", f"{RUN}/page.xml"], check=True, text=True,
                                       stdout=subprocess.PIPE).stdout)
    each = parsed["instances"]
    floor = parsed["expat_us"] / each
    b.figure("bytes of an instance in the list", parsed["bytes"] / each, "B", **params)
    b.figure("parse of an instance", parsed["driver_us"] / each, "us", 1.5 * floor, floor, **params)
    got = window(w, seconds)
    n = got["pages"] * each
    b.figure("CPU of burstd for one in a list", got["cpu"] / max(1, n) * 1000, "us", None, floor, **params)
    b.figure("longest slice of the loop", got["slice"], "ms", 5, **params)
    b.figure("slices over 5 ms", got["over"], "", 0, **params)
    b.figure("pages read meanwhile", got["pages"], "", **params)


def up(b, nodes=10000):
    seconds, fast = (131, 12) if b.quick else (241, 24)  # lists are two minutes apart
    with Ec2(b, nodes, limited=False, queue=True) as w:
        w.standin("up", 1, nodes)
        resume(w, split(nodes, 500))
        w.until(lambda: w.state_count("ready") == nodes, 300, 0.5)
        time.sleep(45)  # the first list since all are up, after which they come rarely
        got = window(w, seconds)
        b.figure("CPU, idle", got["cpu"] / got["s"] / 10, "%", 0.2, nodes=nodes, seconds=round(got["s"]))
        b.figure("requests, idle", got["requests"] / got["s"], "1/s", 0.4, nodes=nodes, seconds=round(got["s"]))
        b.figure("longest slice of the loop, idle", got["slice"], "ms", 5, nodes=nodes)
        w.config(latency={"list": "1ms"})
        w.list_each("1s")
        for cards in (1, 32):
            lists(b, w, nodes, cards, fast)


def run(b):
    latency = MS["create"] / 1000
    burst(b, "125 x 8", 1000, 8, {"s": 3, "floor_s": latency, "calls": 4, "floor_calls": 1})
    burst(b, "125 x 8, fabrics", 1000, 8, {"s": 66, "floor_s": 60, "floor_calls": 125, "throttled": 6}, fabric=True)
    burst(b, "125 x 8, no limits", 1000, 8, {"s": 3, "floor_s": latency, "calls": 4, "floor_calls": 1}, limited=False)
    burst(b, "125 x 8, section nodes", 1000, 8, {"s": 3, "floor_s": latency, "calls": 4, "floor_calls": 1}, make=Keyed)
    burst(b, "1000 x 1, template", 1000, 1, {"s": 4, "floor_s": latency, "calls": 4, "floor_calls": 1}, template=True)
    spread(b)
    release(b)
    up(b)
