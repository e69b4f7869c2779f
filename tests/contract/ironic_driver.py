"""ironic_driver.py DRIVER SIMCLOUD: the driver ironic against Ironic 39, and against simcloud's face of it, as TAP.

Each story is told to both, and to the face with tokens of simcloud's Keystone; the face has to be like Ironic in all that the driver relies on.
"""
import json
import os
import shutil
import sys
import tempfile
import time
import urllib.parse

import bcrypt

import ironic
from shell import Shell

CLUSTER = "0b1c2d3e-4f50-4000-8000-000000000001"
OTHERS = "0b1c2d3e-4f50-4000-8000-00000000000f"  # the first 12 digits are those of CLUSTER
TOKEN = "s3cret.of-the-l4b"
PLACE = {"type": "h100", "region": "", "zone": "z1", "market": "on-demand"}
STATES = {"unknown": 0, "pending": 1, "running": 2, "reclaiming": 3, "stopping": 4, "failed": 5}
MACHINES = 6
PAGE = 4  # of both lists, so that they have several

# As ironic/drivers/modules/agent.py says it: the fake hardware looks at no image.
WITHOUT_CHECKSUM = "Failed to validate deploy or power info for node n: image_source's \"image_checksum\", or " \
                   "\"image_os_hash_algo\" and \"image_os_hash_value\" must be provided in instance_info for node n"

STORIES = []


def story(fn):
    STORIES.append(fn)
    return fn


def want(a, b, why=""):
    if a != b:
        raise AssertionError(f"{a!r}, not {b!r}: {why}")


class Cloud:
    """One of the two, with the driver opened on it."""

    def __init__(self, service, program, **conf):
        self.service, self.program, self.sent, self.lose = service, program, [], None
        by_keystone = "user" in conf or "application_credential" in conf
        self.conf = {"url": f"http://127.0.0.1:{service.port}{'/identity/v3' if by_keystone else ''}", **conf}
        self.driver = Shell(program, "ironic", self.conf, None, cluster=CLUSTER)
        if by_keystone:
            self.login()

    def send(self, rq):
        url = urllib.parse.urlsplit(rq["url"])
        path = url.path + ("?" + url.query if url.query else "")
        self.sent.append((rq["method"], path))
        headers = dict(h.split(": ", 1) for h in rq["headers"])
        status, self.said, said = self.service.send(rq["method"], path, text=rq["body"] or None, headers=headers)
        return status, said

    def login(self):
        op = {"kind": "login"}
        status, said = self.send(self.driver.ask(do="build", op=op))
        told = self.driver.ask(do="parse", op=op, status=status, headers=self.said, body=said)
        want(told["code"], "ok", told)
        want(self.driver.ask(do="renew", session=told["session"])["more"], 0)

    def step(self, op):
        """One request: what the driver makes of its answer."""
        op = {"cluster": CLUSTER, **op, "at_ms": int(time.time() * 1000)}
        rq = self.driver.ask(do="build", op=op)
        status, said = self.send(rq)
        return self.driver.ask(do="parse", op=op, status=status, body=said)

    def run(self, **op):
        """All requests of an operation, as burstd sends them: what is unclear again, later."""
        found = []
        for _ in ironic.patiently(0):
            said = self.step(op)
            found += said["instances"]
            begun = op.get("cursor", "") != "" and op["kind"] != "list"
            if said["code"] == "more":
                op["cursor"] = said["cursor"]
            elif not begun or said["for_good"] or said["code"] not in ("rate", "transient", "denied", "ambiguous"):
                said["instances"] = found
                return said
            time.sleep(min(said["retry_after_ms"] / 1000, 0.2) if said["code"] == "more" else 1)
        raise AssertionError(f"it does not end: {said}")

    def create(self, node, gen=1, **more):
        """Until it is no longer "not yet": Ironic's database is one file, which it may find locked."""
        for _ in ironic.patiently(1):
            said = self.run(kind="create", token="t", place={**PLACE, **more}, wants=[[node, gen, 0]])
            if said["code"] != "not-yet":
                break
        return said

    def made(self, node, gen=1, **more):
        said = self.create(node, gen, **more)
        want(said["code"], "ok", said)
        return said["items"][0]["instance"]["id"]

    def list(self):
        said = self.run(kind="list")
        want(said["code"], "ok", said)
        return {i["id"]: i for i in said["instances"]}

    def delete(self, one):
        """Until it is no longer "not yet"."""
        for _ in ironic.patiently(0.1):
            said = self.run(kind="delete", ids=[one])
            want(said["code"], "ok", said)
            if said["items"][0]["code"] != "not-yet":
                return said["items"][0]["code"]
        raise AssertionError("it stays locked")

    def becomes(self, one, state):
        for _ in ironic.patiently(0.1):
            if not self.service.switches_on:
                self.switch_on(one)
            shown = self.list().get(one)
            if (shown and shown["state"]) == (STATES[state] if state else None):
                return shown
        raise AssertionError(f"it is never {state}, but {shown}")

    def switch_on(self, one):
        """As a deployment does; that of Ironic's fake hardware does not."""
        on = self.service.get("/v1/nodes?fields=uuid,provision_state,power_state,reservation&instance_uuid=" + one)
        for n in on["nodes"]:
            if (n["provision_state"], n["power_state"], n["reservation"]) == ("active", "power off", None):
                self.service.send("PUT", f"/v1/nodes/{n['uuid']}/states/power", {"target": "power on"})

    def machine_of(self, one):
        return self.service.get("/v1/allocations/" + one)["node_uuid"]

    def machine(self, uuid):
        return self.service.get("/v1/nodes/" + uuid)

    def all(self, what):
        """Of a list, whatever its pages are."""
        found, path = [], f"/v1/{what}"
        while path:
            page = self.service.get(path)
            found += page[what.split("?", maxsplit=1)[0].split("/", maxsplit=1)[0]]
            path = "next" in page and "/v1/" + page["next"].split("/v1/", 1)[1]
        return found

    def settled(self):
        """Nothing is left, and all machines are free."""
        for _ in ironic.patiently(0.1):
            nodes = self.all("nodes?detail=true")
            if all(n["provision_state"] == "available" and not n["reservation"] and not n["instance_uuid"]
                   for n in nodes):
                break
        want([(n["name"], n["provision_state"], n["instance_uuid"]) for n in nodes
              if n["provision_state"] != "available" or n["instance_uuid"]], [])
        want(self.all("allocations"), [])
        want(self.list(), {})


# --- stories --------------------------------------------------------------------------------------------------------


@story
def a_machine_is_allocated_deployed_listed_and_undeployed(c):
    one = c.made("h100-7", 12)
    want(len(one), 36, one)
    shown = c.list()[one]
    want((shown["node"], shown["gen"], shown["cluster"]), ("h100-7", 12, CLUSTER))
    on = c.machine_of(one)
    c.becomes(one, "running")
    info = c.machine(on)["instance_info"]
    want(info["display_name"], "b0b1c2d3e4f50-c-h100-7", info)
    want(info["image_source"], "http://images/node.qcow2", info)
    want("configdrive" in info, True, info)
    want(c.delete(one), "ok")
    c.becomes(one, None)
    want(c.delete(one), "not-found")
    c.settled()


@story
def the_same_create_again_is_the_same_instance(c):
    ids = {c.made("n1", 3) for _ in range(3)}
    want(len(ids), 1, ids)
    want(len(c.list()), 1)
    want(c.delete(ids.pop()), "ok")
    c.settled()


@story
def a_create_that_stopped_anywhere_goes_on_from_the_beginning(c):
    op = {"kind": "create", "token": "t", "place": PLACE, "wants": [["n1", 1, 0]]}
    ids = set()
    for steps in (1, 2, 3, 4, 5):
        at = dict(op)
        for _ in range(steps):
            said = c.step(at)
            if said["code"] != "more":
                break
            at["cursor"] = said["cursor"]
    ids.add(c.made("n1", 1))
    want(len(c.list()), 1)
    want(c.delete(ids.pop()), "ok")
    c.settled()


@story
def what_is_allocated_and_not_deployed_is_no_instance_for_half_an_hour(c):
    op = {"kind": "create", "token": "t", "place": PLACE, "wants": [["n1", 1, 0]]}
    c.step(op)
    time.sleep(0.5)
    want(c.list(), {})
    later = {"kind": "list", "cluster": CLUSTER, "at_ms": int(time.time() * 1000) + 3600000}
    found = []
    while True:
        status, said = c.send(c.driver.ask(do="build", op=later))
        said = c.driver.ask(do="parse", op=later, status=status, body=said)
        found += said["instances"]
        if said["code"] != "more":
            break
        later["cursor"] = said["cursor"]
    want([i["state"] for i in found], [STATES["failed"]], said)
    want(c.delete(found[0]["id"]), "ok")
    c.settled()


@story
def without_a_machine_nothing_is_left(c):
    for more in ({"type": "a100"}, {"zone": "z9"}):
        said = c.create("n1", 1, **more)
        want(said["code"], "capacity", said)
        want("Failed to process allocation" in said["message"], True, said)
    c.settled()


@story
def more_than_there_are(c):
    ids = [c.made(f"n{k}") for k in range(MACHINES)]
    want(c.create("n99")["code"], "capacity")
    want(len(set(ids)), MACHINES, ids)
    shown = c.list()  # in several pages
    want(sorted(i["node"] for i in shown.values()), [f"n{k}" for k in range(MACHINES)])
    for one in ids:
        c.becomes(one, "running")
    want({i["addr"] for i in c.list().values()}, {n["name"] for n in c.all("nodes")})
    for one in ids:
        on = c.machine_of(one)
        want(c.delete(one), "ok")
        c.service.until("/v1/nodes/" + on, "provision_state", "available")  # its database is one file
    c.settled()


@story
def a_machine_that_others_have_meanwhile_is_left_alone(c):
    one = c.made("n1")
    on = c.machine_of(one)
    c.becomes(one, "running")
    look = c.step({"kind": "delete", "ids": [one]})
    look = c.step({"kind": "delete", "ids": [one], "cursor": look["cursor"]})
    want(look["code"], "more", look)  # the next is the undeployment
    name = c.machine(on)["name"]
    c.service.send("PUT", f"/v1/nodes/{on}/states/provision", {"target": "deleted"})
    c.service.until("/v1/nodes/" + on, "provision_state", "available")
    c.service.until("/v1/nodes/" + on, "reservation", None)
    c.service.send("POST", "/v1/allocations", {"name": "theirs", "resource_class": "h100", "candidate_nodes": [name]})
    c.service.until("/v1/allocations/theirs", "state", "active")
    c.service.send("PUT", f"/v1/nodes/{on}/states/provision", {"target": "active"})
    c.service.until("/v1/nodes/" + on, "provision_state", "active")
    said = c.run(kind="delete", ids=[one], cursor=look["cursor"])
    want(said["items"][0]["code"], "not-yet", said)
    want(c.delete(one), "not-found")
    want(c.machine(on)["provision_state"], "active")
    c.service.until("/v1/nodes/" + on, "reservation", None)
    c.service.send("PUT", f"/v1/nodes/{on}/states/provision", {"target": "deleted"})
    c.settled()


def spoil(c, on):
    """Make it a machine that cannot be deployed, until it is allocated again; of a bad BMC the fake hardware has none."""
    c.service.send("PATCH", "/v1/nodes/" + on,
                   [{"op": "add", "path": "/instance_info/traits", "value": ["CUSTOM_NOT_THERE"]}])


@story
def a_machine_that_cannot_be_deployed_is_changed_for_another(c):
    op = {"kind": "create", "token": "t", "place": PLACE, "wants": [["n1", 1, 0]]}
    told = []
    for _ in ironic.patiently(0.1):
        if op.get("cursor", "").startswith("d "):
            spoil(c, c.machine_of("b0b1c2d3e4f50-1-n1"))
        said = c.step(op)
        if said["code"] in ("more", "not-yet"):
            op["cursor"] = said["cursor"] or op["cursor"]
            told.append(op["cursor"])
        elif said["code"] != "ambiguous":
            break
    want(said["code"], "capacity", said)
    want("Failed to validate deploy or power info for node " in said["message"], True, said)
    want(len({t.split()[1] for t in told if t.startswith("b ")}), 3, told)
    want(c.all("allocations"), [])
    for k in range(MACHINES):  # the next tenants do not see it
        c.made(f"n{k}")
    for one in list(c.list()):
        on = c.machine_of(one)
        want(c.delete(one), "ok")
        c.service.until("/v1/nodes/" + on, "provision_state", "available")
    c.settled()


@story
def an_image_that_cannot_be_is_nobody_elses_fault(c):
    made = {"kind": "create", "token": "t", "place": PLACE, "wants": [["n1", 1, 0]], "cursor": ""}
    status, said = 400, json.dumps({"error_message": json.dumps({"faultstring": WITHOUT_CHECKSUM})})
    while not made["cursor"].startswith("d "):
        made["cursor"] = c.step(made)["cursor"]
    told = c.driver.ask(do="parse", op={"cluster": CLUSTER, **made, "at_ms": int(time.time() * 1000)}, status=status,
                        body=said)
    want((told["code"], told["cursor"].split()[4]), ("more", "i"), told)
    said = c.run(**{**made, "cursor": told["cursor"]})
    want(said["code"], "invalid", said)
    c.settled()


@story
def what_is_locked_waits(c):
    one = c.made("n1")
    said = c.run(kind="delete", ids=[one])
    want(said["items"][0]["code"], "not-yet", said)
    want(said["retry_after_ms"] > 0, True, said)
    want(c.delete(one), "ok")
    c.settled()


@story
def instances_of_others_are_left_out(c):
    for name in ("by-hand", "b0b1c2d3e4f51-1-n1"):
        c.service.send("POST", "/v1/allocations", {"name": name, "resource_class": "h100"})
        c.service.until("/v1/allocations/" + name, "state", "active")
    want(c.list(), {})
    for name in ("by-hand", "b0b1c2d3e4f51-1-n1"):
        c.service.send("DELETE", "/v1/allocations/" + name)
    c.settled()


@story
def names_that_slurm_may_have(c):
    ids = {c.made(node): node for node in ("a", "GPU-1", "gpu_1", "gpu.1", "0" * 40, "n" + "x" * 62)}
    want({k: v["node"] for k, v in c.list().items()}, ids)
    for one in ids:
        on = c.machine_of(one)
        c.delete(one)
        c.service.until("/v1/nodes/" + on, "provision_state", "available")
    c.settled()


@story
def which_classes_there_are(c):
    said = c.run(kind="quotes", types=["h100"])
    want([(q["type"], q["price_nano_h"]) for q in said["quotes"]], [("h100", 0)])
    want(c.run(kind="quotes", types=["a100"])["quotes"], [])


# --- where no machine boots, and a password is wanted ---------------------------------------------------------------


def a_deployment_that_fails(c):
    one = c.made("n1")
    on = c.machine_of(one)
    c.becomes(one, "failed")
    want(c.delete(one), "ok")
    c.service.until("/v1/nodes/" + on, "instance_uuid", None)
    c.becomes(one, None)
    want(c.machine(on)["provision_state"] != "deploy failed", True)  # that hardware cannot be undeployed, either


def a_wrong_password(c):
    d = Cloud(c.service, c.program, credential="admin:wrong")
    said = d.run(kind="list")
    want(said["code"], "denied", said)
    want("Incorrect username or password" in said["message"], True, said)


# --- the two --------------------------------------------------------------------------------------------------------


def tell(n, name, fn, *args):
    try:
        fn(*args)
    except AssertionError as e:
        print(f"not ok {n} - {name}\n# {str(e)[:1500]}", flush=True)
        return 1
    print(f"ok {n} - {name}", flush=True)
    return 0


def tell_all(who, cloud, stories, n):
    failed = 0
    for fn in stories:
        n += 1
        failed += tell(n, who + ": " + fn.__name__.replace("_", " "), fn, cloud)
    return failed, n


def a_token_that_ends(c):
    """The driver says "denied", and burstd logs in again."""
    c.list()
    c.service.send("POST", "/admin/config", {"login_life": "1ms"})
    time.sleep(0.1)
    want(c.run(kind="list")["code"], "denied")
    c.service.send("POST", "/admin/config", {"login_life": "1h"})
    c.login()
    c.list()


def password(where):
    """The file for http_basic, and the one for simcloud."""
    with open(os.path.join(where, "htpasswd"), "w", encoding="utf-8") as f:
        f.write("admin:" + bcrypt.hashpw(TOKEN.encode(), bcrypt.gensalt(4)).decode() + "\n")
    token = os.path.join(where, "token")
    with open(token, "w", opener=lambda name, flags: os.open(name, flags, 0o600), encoding="utf-8") as f:
        f.write(TOKEN)
    return token


def run(program, simcloud, where):
    ironic.NODES = [f"h100-z1-{k}" for k in range(MACHINES)]
    ironic.CONF = ironic.CONF.replace("[api]", f"[api]\nmax_limit={PAGE}")
    token, failing = password(where), [a_deployment_that_fails, a_wrong_password]
    own = {"image": "http://images/node.qcow2", "user_data": "#!/bin/sh\necho \"x\"\n"}
    basic = {**own, "credential": "admin:" + TOKEN}
    keystone = {**own, "user": "burstd", "project": "hpc", "region": "r1", "credential": TOKEN}
    times = {"boot": "1s", "stop": "1s", "machine_lock": "1s", "page_max": PAGE}
    failed = n = 0
    for who, start, stories, conf in (
            ("Ironic", lambda: ironic.start_real(where, delay=1), STORIES, own),
            ("Ironic", lambda: ironic.start_real(where, "http_basic", ironic.BROKEN), failing, basic),
            ("simcloud", lambda: ironic.start_sim(simcloud, where, **times), STORIES, own),
            ("simcloud", lambda: ironic.start_sim(simcloud, where, token, **{**times, "boot": "0s", "boot_fails": ["*"]}),
             failing, basic),
            ("simcloud with Keystone", lambda: ironic.start_sim(simcloud, where, token, **times),
             [*STORIES, a_token_that_ends], keystone)):
        service = start()
        service.switches_on = who != "Ironic"
        service.headers = ironic.basic("admin", TOKEN) if "credential" in conf else {}
        try:
            if who == "Ironic" and stories is STORIES:
                ironic.enroll(service)
            more, n = tell_all(who, Cloud(service, program, **conf), stories, n)
            failed += more
        finally:
            service.close()
    print(f"1..{n}")
    return failed > 0


def main():
    where = tempfile.mkdtemp()
    try:
        return run(sys.argv[1], sys.argv[2], where)
    finally:
        shutil.rmtree(where, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
