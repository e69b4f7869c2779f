"""lambda_driver.py SIMCLOUD PRISM SPEC DRIVER: the driver lambda against what Lambda publishes about its API, as TAP.

Prism stands between it and simcloud's face: a request that the description does not allow is refused, and so is an answer.
Then the driver reads the description's own examples, which simcloud has not written.
"""
import json
import sys
import time
import urllib.parse
from contextlib import ExitStack

from prism_proxy import Liar, arguments, prism, prism_says, run_all, send, simcloud, test, want
from shell import Shell

KEY = "secret_lab.k3y"
CLUSTER = "0b1c2d3e-4f50-4000-8000-000000000001"
PLACE = {"type": "gpu_8x_h100", "region": "eu-north-1", "zone": "", "market": "on-demand"}
FULL = {"ssh_key": "lab", "image": "lambda-stack-24-04", "firewall_rulesets": "c4d291f47f9d436fa39f58493ce3b50d,b"}
STATES = {"pending": 1, "running": 2, "stopping": 4, "ended": 6}


class World:
    """simcloud, Prism before it, and the description."""

    def __init__(self, program, direct, proxied, spec):
        self.program, self.direct, self.proxied, self.spec = program, direct, proxied, spec

    def admin(self, path, body):
        status, said = send(self.direct, "POST", "/admin/" + path, body)
        want(status, 200, said)

    def driver(self, url=None, key=KEY, **conf):
        conf = {"ssh_key": "lab", **conf, "url": url or self.proxied, "credential": key}
        return Shell(self.program, "lambda", conf, strictly, cluster=CLUSTER)


def strictly(rq):
    """Sends it; Prism must have nothing to say."""
    url = urllib.parse.urlsplit(rq["url"])
    headers = dict(h.split(": ", 1) for h in rq["headers"])
    status, said = send(f"{url.scheme}://{url.netloc}", rq["method"], url.path, rq["body"] or None, headers)
    want(prism_says(said), "", (rq, said))
    return status, said if isinstance(said, str) else json.dumps(said)


def launch(d, node="h100-7", gen=12, **more):
    said = d.run(kind="create", token="t", place={**PLACE, **more}, wants=[[node, gen, 0]])
    return said["items"][0]["instance"]["id"] if said["code"] == "ok" else said["code"]


def becomes(d, one, state):
    for _ in range(600):
        found = [i for i in d.run(kind="list")["instances"] if i["id"] == one]
        if found and found[0]["state"] == STATES[state]:
            return found[0]
        time.sleep(0.02)
    raise AssertionError(f"it is never {state}, but {found}")


# --- canaries -------------------------------------------------------------------------------------------------------


@test
def a_wrong_request_would_be_noticed(w, _):
    d = w.driver()
    rq = d.build(kind="create", token="t", place=PLACE, wants=[["n1", 1, 0]])
    for bad in ({"quantity": 2}, {"tags": [{"key": "a", "value": "v"}]}, {"name": "n" * 65}, {"hostname": "N1"}):
        body = json.dumps({**json.loads(rq["body"]), **bad})
        try:
            strictly({**rq, "body": body})
        except AssertionError:
            continue
        raise AssertionError(f"Prism takes {bad}")
    d.close()


# --- behind Prism ---------------------------------------------------------------------------------------------------


@test
def an_instance_is_launched_listed_and_terminated(w, _):
    for conf in ({}, FULL, {"user_data": "#!/bin/sh\necho \"x\"\n"}, {"address": "private"}):
        d = w.driver(**conf)
        one = launch(d)
        shown = becomes(d, one, "running")
        want((shown["node"], shown["gen"], shown["cluster"]), ("h100-7", 12, CLUSTER))
        want(shown["addr"].startswith("10.77."), True, shown)
        said = d.run(kind="delete", ids=[one])
        want([i["code"] for i in said["items"]], ["ok"], said)
        becomes(d, one, "ended")
        d.close()


@test
def names_that_slurm_may_have(w, _):
    d = w.driver()
    for node in ("a", "GPU-1", "gpu_1", "gpu.1", "0" * 40, "n" + "x" * 45):
        want(becomes(d, launch(d, node, 1), "running")["node"], node)
    d.close()


@test
def many_are_terminated_though_one_is_unknown(w, _):
    d = w.driver()
    ids = [launch(d, f"m{k}", 1) for k in range(5)]
    ids.insert(2, "0920582c7ff041399e34823a0be62549")
    said = d.run(kind="delete", ids=ids)
    want([i["code"] for i in said["items"]], ["ok", "ok", "not-found", "ok", "ok", "ok"], said)
    d.close()


@test
def prices_are_read(w, _):
    d = w.driver()
    said = d.run(kind="quotes", types=["gpu_8x_h100"])
    want({(q["type"], q["price_nano_h"], q["currency"]) for q in said["quotes"]}, {("gpu_8x_h100", 29520000000, "USD")})
    d.close()


@test
def each_refusal_is_understood(w, _):
    d = w.driver()
    for code, message, expected in (
            ("capacity", "", "capacity"), ("quota", "", "quota"), ("denied", "", "denied"),
            ("denied", "global/invalid-address: Move.", "denied"), ("invalid", "", "invalid"), ("not-found", "", "invalid"),
            ("invalid", "instance-operations/launch/file-system-in-wrong-region: Elsewhere.", "invalid")):
        w.admin("faults", {"op": "create", "action": "error", "count": 1, "code": code, "message": message})
        want(launch(d), expected, (code, message))
    want(launch(d, type="gpu_8x_b200"), "invalid")
    want(launch(d, region="us-east-1"), "invalid")
    d.close()
    d = w.driver(key="wrong")
    want(d.run(kind="list")["code"], "denied")
    want(launch(d), "denied")
    d.close()


# --- the description's own examples ---------------------------------------------------------------------------------


def example(w, path, method):
    """The first example of a success, with the names that burstd would have given."""
    schema = w.spec["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]
    data = schema["properties"]["data"]
    if "examples" in data:
        return data["examples"][0]
    return w.spec["components"]["schemas"][data["$ref"].split("/")[-1]]["example"]


@test
def the_examples_of_the_description_are_read(w, _):
    with Liar() as liar:
        d = w.driver(liar.url)
        gone = example(w, "/api/v1/instance-operations/terminate", "post")
        shown = gone["terminated_instances"][0]
        op = {"kind": "delete", "ids": [shown["id"]], "cluster": CLUSTER}
        said = d.ask(do="parse", op=op, status=200, body=json.dumps({"data": gone}))
        want([i["code"] for i in said["items"]], ["ok"], said)
        tags = [{"key": "burstd-cluster", "value": CLUSTER}, {"key": "burstd-node", "value": "n1"},
                {"key": "burstd-generation", "value": "3"}]
        liar.answer = 200, {"data": [shown, {**shown, "tags": tags}]}
        said = d.run(kind="list")
        want([(i["id"], i["node"], i["gen"], i["addr"], i["state"]) for i in said["instances"]],
             [(shown["id"], "n1", 3, "198.51.100.2", STATES["stopping"])], said)
        liar.answer = 200, {"data": example(w, "/api/v1/instance-types", "get")}
        said = d.run(kind="quotes", types=[])
        one = ("gpu_8x_example", 15920000000, 124, 8, 1800 * 1024)
        want([(q["type"], q["price_nano_h"], q["cpus"], q["gpus"], q["memory_mb"]) for q in said["quotes"]], [one, one])
        d.close()


@test
def each_status_of_the_description_is_known(w, _):
    with Liar() as liar:
        d = w.driver(liar.url)
        for status in w.spec["components"]["schemas"]["InstanceStatus"]["enum"]:
            tags = [{"key": "burstd-cluster", "value": CLUSTER}]
            liar.answer = 200, {"data": [{"id": "i", "status": status, "tags": tags}]}
            want(d.run(kind="list")["instances"][0]["state"] != 0, True, status)
        d.close()


def main():
    driver = sys.argv.pop()
    program, proxy, spec = arguments()
    with ExitStack() as stack:
        direct = stack.enter_context(simcloud(program, KEY))
        proxied = stack.enter_context(prism(proxy, spec, direct))
        w = World(driver, direct, proxied, spec)
        w.admin("config", {"boot": "1ms", "stop": "1ms"})
        return run_all(w, None)


if __name__ == "__main__":
    sys.exit(main())
