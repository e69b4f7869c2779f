"""beat.py: 10,000 nodes that are up, a connection and a certificate each, and their heartbeats: what they cost burstd."""

import json
import os
import subprocess
import time

from flood import asks
from world import World, percentile, rss_kib, threads

NODES, SECONDS, PORT = 10000, 31, 9843


class Door(World):
    """With the node-facing listener; machines have their keys from elsewhere, so that they can be made up."""

    def write_conf(self):
        super().write_conf()
        keys = os.path.join(self.state, "keys")
        os.makedirs(keys, mode=0o700, exist_ok=True)
        key = "".join(chr(65 + i * 7 % 26) for i in range(64))
        with open(os.path.join(keys, "bundle"), "w", encoding="ascii", opener=lambda p, f: os.open(p, f, 0o600)) as f:
            json.dump({"munge_key": key, "kid": "1"}, f)
        with open("/etc/burstd/burstd.conf", "a", encoding="utf-8") as f:
            f.write(f'''nodes {{
	listen      = "127.0.0.1:{PORT}"
	url         = {{"https://127.0.0.1:{PORT}"}}
	conf_server = {{"127.0.0.1:6817"}}
}}
secrets {{
	driver  = "file"
	dir     = "{keys}"
	name    = "bundle"
	release = "broker"
}}
''')


def split_cpu(pid):
    """Milliseconds of the loop, and of the listener."""
    loop = listener = 0
    for t in threads(pid):
        with open(f"/proc/{pid}/task/{t}/comm", encoding="ascii") as f:
            name = f.read().strip()
        with open(f"/proc/{pid}/task/{t}/schedstat", encoding="ascii") as f:
            ms = int(f.read().split()[0]) / 1e6
        if name == "burstd-nodes":
            listener += ms
        elif int(t) == pid:
            loop = ms
    return loop, listener


def run(b):
    nodes, seconds = (1000, 31) if b.quick else (NODES, SECONDS)
    with Door(b, nodes, conf='attest = "off"') as w:
        w.bring_up(nodes)
        pid = w.burstd.pid
        calm = [r[0] for r in asks(b, 200)]
        rss, own = rss_kib(pid), split_cpu(pid)
        p = subprocess.Popen([f"{b.bin}/flood", "beat", str(PORT), os.path.join(w.state, "node-ca.pem"), str(nodes),
                              str(seconds)], stdout=subprocess.PIPE, text=True)
        empty = rss_kib(p.pid)
        if p.stdout.readline().strip() != "up":
            raise RuntimeError("the nodes do not come up")
        cpu = split_cpu(pid)
        each = (rss_kib(pid) - rss) / nodes
        b.figure("memory of a kept connection", each, "KiB", None, (rss_kib(p.pid) - empty) / nodes, nodes=nodes)
        b.figure("RSS", rss_kib(pid) / 1024, "MiB", nodes=nodes)
        b.figure("a node that connects, listener", (cpu[1] - own[1]) / nodes * 1000, "us", nodes=nodes)
        time.sleep(seconds / 3)  # heartbeats alone
        alone = split_cpu(pid)[0] - cpu[0]
        rows = [r[0] for r in asks(b, 200)]
        said = json.loads(p.stdout.read())
        p.wait()
        after = split_cpu(pid)
        beats = said["beats"]
        b.figure("connected", said["connected"], "nodes", nodes=nodes)
        b.figure("heartbeats refused or lost", said["refused"] + said["lost"], "", 0, nodes=nodes)
        b.figure("connections made again", said["again"], "", 0, nodes=nodes)
        for key, value in w.metrics().items():
            if key.startswith(("burstd_listener_dropped", "burstd_listener_refused")) and value > 0:
                b.figure(key.removeprefix("burstd_listener_"), value, "", nodes=nodes)
        b.figure("heartbeats", beats / seconds, "1/s", nodes=nodes)
        floor = said["cpu_us_per_beat"]
        b.figure("a heartbeat, listener", (after[1] - cpu[1]) / beats * 1000, "us", None, floor, nodes=nodes)
        b.figure("a heartbeat, loop", alone / (beats / 3) * 1000, "us", None, floor, nodes=nodes)
        b.figure("CPU, listener", (after[1] - cpu[1]) / seconds / 10, "%", nodes=nodes)
        b.figure("CPU, loop, with 200 requests", (after[0] - cpu[0]) / seconds / 10, "%", nodes=nodes)
        for name, q in (("p50", 0.5), ("p99", 0.99)):
            b.figure(f"answer of the control socket, {name}", percentile(rows, q), "ms", None, percentile(calm, q), nodes=nodes)
