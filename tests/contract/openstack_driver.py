"""openstack_driver.py PROGRAM: the driver openstack, through driver.c, against a real Nova and a real Keystone, as TAP.

Keystone's catalog gets Nova's address first, so that a login leads there.  This Nova takes any token (openstack_nova.py);
that a wrong one is 401 is in openstack.py.  What they cannot tell: networks with several addresses, volumes, hosts that
fail to boot a server, preemption.
"""
import http.client
import os
import sys
import time
import urllib.parse
from contextlib import ExitStack

import openstack
import shell
import tap

CLUSTER = "0b1c2d3e-4f50-4000-8000-000000000001"
OTHER = "0b1c2d3e-4f50-4000-8000-000000000002"
REGION = "R1"
RUNNING, FAILED = 2, 5  # enum provider_state

tests = []
same = openstack.same


def test(fn):
    tests.append(fn)
    return fn


def send(request):
    url = urllib.parse.urlsplit(request["url"])
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    path = url.path + ("?" + url.query if url.query else "")
    conn.request(request["method"], path, request["body"] or None, dict(h.split(": ", 1) for h in request["headers"]))
    reply = conn.getresponse()
    return reply.status, dict(reply.getheaders()), reply.read().decode()


class Driver(shell.Shell):
    def __init__(self, program, side, credential, **options):
        conf = {"url": side.keystone, "credential": credential, "region": REGION, "image": openstack.IMAGE,
                "networks": "none", **options}
        super().__init__(program, "openstack", conf, send, cluster=CLUSTER)

    def once(self, **op):
        status, headers, body = send(self.build(**op))
        return self.ask(do="parse", op={**self.always, **op}, status=status, headers=headers, body=body)

    def login(self):
        """All steps; what the last one says."""
        more = True
        while more:
            said = self.once(kind="login")
            if said["code"] != "ok":
                return said
            more = self.ask(do="renew", session=said["session"])["more"]
        return said

    def create(self, nodes, **more):
        op = {"kind": "create", "token": "burstd-0b1c2d3e-7", "wants": [[n, 4, 1] for n in nodes],
              "place": {"type": "m1.tiny", "region": REGION, "zone": "", "market": "on-demand", **more}}
        said = self.once(cursor="", **op)
        while said["code"] == "more":
            time.sleep(said["retry_after_ms"] / 1000)
            said = self.once(cursor=said["cursor"], **op)
        return said

    def list(self):
        said = self.once(kind="list", cursor="")
        same(said["code"], "ok")
        return said

    def until(self, reached):
        end = time.monotonic() + openstack.WAIT_S
        while time.monotonic() < end:
            said = self.list()
            if reached(said["instances"]):
                return said
            time.sleep(0.2)
        raise AssertionError(said)

    def delete(self, server):
        said = self.once(kind="delete", ids=[server])
        return said["items"][0]["code"] if said["code"] == "ok" else said["code"]

    def empty(self):
        for i in self.list()["instances"]:
            same(self.delete(i["id"]), "ok")
        self.until(lambda seen: not seen)


def logged_in(w, credential=openstack.SECRET, **options):
    made = Driver(w.program, w.real, credential, **{"user": "admin", "project": "admin", **options})
    same(made.login()["code"], "ok")
    return made


def refused(w, credential, **options):
    made = Driver(w.program, w.real, credential, **options)
    said = made.login()
    made.close()
    return said["code"], said["message"]


# --- logins -----------------------------------------------------------------------------------------------------------


@test
def a_password_leads_to_nova(w):
    d = logged_in(w)
    until = d.ask(do="good_until")["ms"] / 1000
    same(3500 < until - time.time() < 3700, True)
    asked = d.build(kind="list", cursor="")
    same(asked["url"], w.real.nova + "/v2.1/servers/detail")
    same([h for h in asked["headers"] if h.startswith("OpenStack-API-Version")], ["OpenStack-API-Version: compute 2.96"])
    same(d.list()["instances"], [])
    d.close()


@test
def ids_and_names_are_the_same_to_a_login(w):
    user = w.real.words["user_id"]
    for options in ({"user": user}, {"user_domain": "Default", "project_domain": "Default"}):
        logged_in(w, **options).close()


@test
def application_credentials_have_their_project(w):
    words = w.real.words
    logged_in(w, words["secret"], user="", project="", application_credential=words["credential"]).close()
    logged_in(w, words["secret"], project="", application_credential="c").close()


@test
def wrong_credentials_are_denied(w):
    words = w.real.words
    same(refused(w, "wrong", user="admin", project="admin")[0], "denied")
    same(refused(w, openstack.SECRET, user="admin", project="nosuch")[0], "denied")
    same(refused(w, "wrong", application_credential=words["credential"])[0], "denied")
    code, message = refused(w, words["secret"], application_credential="0" * 32)
    same((code, message.startswith("Could not find Application Credential: ")), ("denied", True))


@test
def a_region_that_is_not_there_is_said(w):
    made = Driver(w.program, w.real, openstack.SECRET, user="admin", project="admin", region="R7")
    said = made.login()
    made.close()
    same((said["code"], "public endpoint of compute in region R7" in said["message"]), ("transient", True))


# --- servers ----------------------------------------------------------------------------------------------------------


@test
def one_server_lives_and_ends(w):
    d = logged_in(w, networks="auto", config_drive="true", security_groups="default")
    said = d.create(["gpu-07"], zone="nova")
    same([i["code"] for i in said["items"]], ["ok"])
    made = said["items"][0]["instance"]["id"]
    seen, = d.until(lambda seen: [i["state"] for i in seen] == [RUNNING])["instances"]
    same((seen["id"], seen["node"], seen["gen"], seen["cluster"]), (made, "gpu-07", 4, CLUSTER))
    same(bool(seen["addr"]), True)
    same(abs(seen["created_ms"] / 1000 - time.time()) < 120, True)
    real, = w.real.servers()
    same((real["name"], real["config_drive"]), ("gpu-07", "True"))
    said = d.once(kind="console", id=made)
    same((said["code"], bool(said["console"])), ("ok", True))
    same(d.once(kind="console", id=openstack.NOBODY)["code"], "invalid")
    same(d.delete(made), "ok")
    d.until(lambda seen: not seen)
    same(d.delete(made), "not-found")
    d.close()


@test
def the_servers_of_a_job_know_their_nodes(w):
    d = logged_in(w)
    nodes = ["a1", "a2", "b-7"]
    said = d.create(nodes)
    same([i["code"] for i in said["items"]], ["ok"] * 3)
    ids = [i["instance"]["id"] for i in said["items"]]
    seen = d.until(lambda seen: [i["state"] for i in seen] == [RUNNING] * 3)["instances"]
    same({i["id"]: (i["node"], i["gen"]) for i in seen}, {i: (n, 4) for i, n in zip(ids, nodes)})
    # Nova's names have the numbers that we go by.
    same(sorted(s["name"] for s in w.real.servers()), [f"burstd-0b1c2d3e-7-{i}" for i in (1, 2, 3)])
    d.empty()
    d.close()


@test
def servers_of_others_are_not_listed(w):
    d = logged_in(w)
    w.real.compute("POST", "/v2.1/servers", openstack.server(tags=["burstd-cluster=" + OTHER]))
    w.real.compute("POST", "/v2.1/servers", openstack.server())
    w.real.until(lambda seen: [s["status"] for s in seen] == ["ACTIVE"] * 2)
    same(d.list()["instances"], [])
    d.close()
    w.real.empty()


@test
def a_server_that_was_renamed_is_still_ours(w):
    d = logged_in(w)
    d.create(["c1", "c2"])
    d.until(lambda seen: [i["state"] for i in seen] == [RUNNING] * 2)
    for s in w.real.servers():
        w.real.compute("PUT", "/v2.1/servers/" + s["id"], {"server": {"name": "mine"}})
    same([(i["node"], i["gen"], i["cluster"]) for i in d.list()["instances"]], [("", 0, CLUSTER)] * 2)
    d.empty()
    d.close()


@test
def no_host_is_capacity_that_comes_late(w):
    d = logged_in(w)
    said = d.create(["c1", "c2"], type="m1.xlarge")
    same([i["code"] for i in said["items"]], ["ok"] * 2)
    said = d.until(lambda seen: [i["state"] for i in seen] == [FAILED] * 2)
    same([(f["code"], f["message"].startswith("No valid host was found.")) for f in said["failures"]],
         [("capacity", True)] * 2)
    same(sorted(f["id"] for f in said["failures"]), sorted(i["id"] for i in said["instances"]))
    d.empty()
    d.close()


@test
def refusals_at_once_have_their_meaning(w):
    d = logged_in(w)
    said = d.create([f"c{i}" for i in range(1, 12)])
    same((said["code"], said["message"].startswith("Quota exceeded for instances: Requested 11")), ("quota", True))
    same(d.create(["c1"], zone="mars")["code"], "invalid")
    d.close()
    for options in ({"networks": openstack.NOBODY}, {"image": openstack.NOBODY}, {"key_name": "nosuch"},
                    {"server_group": openstack.NOBODY}):
        d = logged_in(w, **options)
        same((options, d.create(["c1"])["code"]), (options, "invalid"))
        d.close()
    d = logged_in(w)
    same(d.list()["instances"], [])
    d.close()


@test
def user_data_may_be_as_long_as_nova_allows(w):
    d = logged_in(w, user_data="x" * 49149)
    same(d.create(["c1"])["code"], "ok")
    d.empty()
    d.close()


@test
def servers_boot_from_volumes_and_join_a_group(w):
    made = w.real.compute("POST", "/v2.1/os-server-groups", {"server_group": {"name": "g", "policy": "soft-anti-affinity"}})
    group = made.json["server_group"]["id"]
    d = logged_in(w, volume_gb="20", server_group=group, networks=openstack.NET)
    same([i["code"] for i in d.create(["c1", "c2"])["items"]], ["ok"] * 2)
    members = w.real.compute("GET", "/v2.1/os-server-groups/" + group).json["server_group"]["members"]
    same(sorted(members), sorted(i["id"] for i in d.list()["instances"]))
    same([s["image"] for s in w.real.servers()], [""] * 2)
    d.empty()
    d.close()


@test
def flavors_are_quotes_without_a_price(w):
    d = logged_in(w, spot_trait="HW_CPU_X86_AMD_SEV")
    said = d.once(kind="quotes", types=["m1.tiny"], cursor="")
    tiny, = (q for q in said["quotes"] if q["type"] == "m1.tiny")
    same((tiny["price_nano_h"], tiny["cpus"], tiny["memory_mb"], tiny["spot"]), (0, 1, 512, False))
    same([q["type"] for q in said["quotes"] if q["spot"]], ["m1.xlarge"])
    try:
        d.build(kind="create", token="t", wants=[["c1", 1, 0]],
                place={"type": "m1.xlarge", "region": REGION, "market": "on-demand"})
        raise RuntimeError("a preemptible server would be bought on demand")
    except AssertionError as e:
        same("want market = \"spot\"" in str(e), True)
    d.close()


# --- starting ---------------------------------------------------------------------------------------------------------


class World:
    """The real services, and the program that has the driver."""

    def __init__(self, stack, program):
        self.program = program
        self.real = openstack.real_side(stack)
        self.register()

    def register(self):
        """Put Nova's address into the catalog."""
        real = self.real
        headers = {"X-Auth-Token": openstack.token_of(real.identity("POST", openstack.TOKENS,
                                                                    openstack.password(openstack.SCOPE)))}
        made = real.identity("POST", "/v3/services", {"service": {"type": "compute", "name": "nova"}}, headers)
        for interface, url in (("public", real.nova + "/v2.1"), ("internal", "http://internal.invalid:1")):
            same(real.identity("POST", "/v3/endpoints", {"endpoint": {
                "service_id": made.json["service"]["id"], "interface": interface, "region_id": REGION,
                "url": url}}, headers).status, 201)


def main():
    with ExitStack() as stack:
        w = World(stack, os.path.abspath(sys.argv[1]))
        return tap.run(tests, lambda fn: fn(w))


if __name__ == "__main__":
    sys.exit(main())
