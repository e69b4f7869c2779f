"""openstack.py SIMCLOUD: simcloud's Nova and Keystone beside the real ones, as TAP.

One list of requests, right and wrong ones, goes to both; status, names of headers and the shape of the JSON (keys and
types) must be the same, and where a text is given, it too.  So the simulated cloud cannot agree with a driver on a
mistake about the API.  What may differ, and why:

  - the text of errors, but where it is given here: Nova prints Python's view of the body, and jsonschema's of itself;
  - the newest microversion: simcloud has 2.96, Nova what is newest; so "latest" is not asked for;
  - the header X-Content-Type-Options, which simcloud's server adds to all it says, and Server, Date, Connection;
  - the words of the page with which a framework answers a path that it does not know: only its type is compared;
  - keys of maps that clients or sites fill: extra_specs, metadata, addresses; and the sizes of flavors;
  - "rxtx_factor" and what is a whole number there by chance: a number is a number.
"""
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from contextlib import ExitStack

import tap

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGE = "155d900f-4e14-4e4c-a73d-069cbf4541e6"  # of Nova's tests; simcloud has all
NET = "3cb9bc59-5699-4588-a4b1-b87f96708bc6"
NOBODY = "00000000-0000-4000-8000-0000000000ff"
SECRET = "right"
IGNORED = {"date", "server", "connection", "keep-alive", "content-length", "transfer-encoding", "x-content-type-options"}
FREE = {"extra_specs", "metadata", "addresses"}
WAIT_S = 60

tests = []


def test(fn):
    tests.append(fn)
    return fn


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.type = dict(headers).get("content-type", "").replace(" ", "").lower()
        try:
            self.json = json.loads(body)
        except ValueError:
            self.json = None

    def names(self):
        return sorted(name for name, _ in self.headers if name not in IGNORED)

    def fault(self):
        """An error: its name, and what it says."""
        (name, what), = self.json.items()
        return name, what["message"]


class Side:
    """One of the two clouds: where its services are, and what its things are called."""

    def __init__(self, name, nova, keystone, user="admin"):
        self.name, self.nova, self.keystone = name, nova, keystone
        self.words = {"image": IMAGE, "net": NET, "nobody": NOBODY, "user": user}
        self.token = "none"

    def send(self, base, method, path, body=None, headers=()):
        url = urllib.parse.urlsplit(base)
        conn = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        conn.request(method, url.path + path, text, {"Accept": "*/*", **dict(headers)})
        reply = conn.getresponse()
        return Answer(reply.status, [(k.lower(), v) for k, v in reply.getheaders()], reply.read())

    def fill(self, what):
        """Put this side's words for {flavor} and the like into a path or a body."""
        if isinstance(what, str):
            return re.sub(r"\{(\w+)\}", lambda m: self.words[m[1]], what)
        if isinstance(what, dict):
            return {k: self.fill(v) for k, v in what.items()}
        return [self.fill(v) for v in what] if isinstance(what, list) else what

    def compute(self, method, path, body=None, version="2.96", old=False):
        headers = {"X-Auth-Token": self.token, "Content-Type": "application/json"}
        if version is not None:
            headers["X-OpenStack-Nova-API-Version" if old else "OpenStack-API-Version"] = (
                version if old else "compute " + version)
        return self.send(self.nova, method, self.fill(path), self.fill(body), headers)

    def identity(self, method, path, body=None, headers=None):
        return self.send(self.keystone, method, path, self.fill(body),
                         {"Content-Type": "application/json", **(headers or {})})

    def servers(self):
        return self.compute("GET", "/v2.1/servers/detail").json["servers"]

    def until(self, reached):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            if reached(self.servers()):
                return
            time.sleep(0.2)
        raise AssertionError(f"{self.name}: {[(s['name'], s['status']) for s in self.servers()]}")

    def empty(self):
        for s in self.servers():
            self.compute("DELETE", "/v2.1/servers/" + s["id"])
        self.until(lambda seen: not seen)


# --- comparing --------------------------------------------------------------------------------------------------------


def shape(v, key=""):
    if isinstance(v, dict):
        if key in FREE:
            return "map"
        return {k: shape(x, k) for k, x in sorted(v.items())}
    if isinstance(v, list):
        kinds = []
        for x in v:
            if shape(x) not in kinds:
                kinds.append(shape(x))
        return kinds
    if isinstance(v, bool) or v is None:
        return type(v).__name__
    return "number" if isinstance(v, (int, float)) else "string"


def differences(a, b, at="body"):
    """What is not the same in two shapes, as lines."""
    if isinstance(a, dict) and isinstance(b, dict):
        for k in sorted(a.keys() | b.keys()):
            if k not in b:
                yield f"{at}: only the real one has {k}"
            elif k not in a:
                yield f"{at}: only simcloud has {k}"
            else:
                yield from differences(a[k], b[k], f"{at}.{k}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b) == 1:
        yield from differences(a[0], b[0], at + "[]")
    elif a != b:
        yield f"{at}: {a} is {b} at simcloud"


def compare(real, sim, about, says=None):
    found = []
    if real.status != sim.status:
        found.append(f"status {real.status} is {sim.status}: {real.json} {sim.json}")
    if real.names() != sim.names():
        found.append(f"headers {real.names()} are {sim.names()}")
    if real.type != sim.type and not (real.type[:9] == sim.type[:9] == "text/html"):
        found.append(f"type {real.type} is {sim.type}")
    found.extend(differences(shape(real.json), shape(sim.json)))
    for header in ("openstack-api-version", "x-openstack-nova-api-version"):
        if dict(real.headers).get(header) != dict(sim.headers).get(header):
            found.append(f"{header} {dict(real.headers).get(header)} is {dict(sim.headers).get(header)}")
    for side in (real, sim):
        if says is not None and not re.search(says, json.dumps(side.json)):
            found.append(f"{says} is not in {side.json}")
    if found:
        raise AssertionError(f"{about}: " + "; ".join(found))


def both(w, method, path, body=None, says=None, **more):
    real, sim = (side.compute(method, path, body, **more) for side in w)
    compare(real, sim, f"{method} {path} {json.dumps(body)} {more}", says)
    return real, sim


def server(**more):
    made = {"name": "n", "flavorRef": "{flavor}", "imageRef": "{image}", "networks": "none", **more}
    return {"server": {k: v for k, v in made.items() if v is not ...}}


def same(got, expected):
    if got != expected:
        raise AssertionError(f"{got!r} is not {expected!r}")


# --- Nova -------------------------------------------------------------------------------------------------------------


@test
def versions_are_told_alike(w):
    both(w, "GET", "/", version=None)
    both(w, "GET", "/v2.1/", version=None)
    both(w, "GET", "/v2.1")
    both(w, "GET", "/v2.1/", version="2.50", old=True)


@test
def microversions_are_negotiated_alike(w):
    for version in ("2.1", "2.37", "2.96"):
        both(w, "GET", "/v2.1/servers", version=version)
        both(w, "GET", "/v2.1/servers", version=version, old=True)
    both(w, "GET", "/v2.1/servers", version=None)
    for version in ("2.2000", "3.1", "abc", "2", "2.x", "1.9"):
        both(w, "GET", "/v2.1/servers", version=version)


@test
def unknown_paths_and_methods_are_a_page(w):
    for method, path in (("GET", "/v2.1/nosuch"), ("PUT", "/v2.1/servers"), ("DELETE", "/v2.1/servers"),
                         ("POST", "/v2.1/servers/detail"), ("PUT", "/v2.1/os-server-groups")):
        both(w, method, path)


@test
def flavors_have_the_same_members(w):
    for path in ("/v2.1/flavors", "/v2.1/flavors/detail", "/v2.1/flavors/{flavor}", "/v2.1/flavors/detail?limit=1",
                 "/v2.1/flavors?limit=1&marker={flavor}", "/v2.1/flavors?limit=0"):
        for version in ("2.1", "2.54", "2.60", "2.96"):
            both(w, "GET", path, version=version)
    both(w, "GET", "/v2.1/flavors/nosuch", says="Flavor nosuch could not be found.")
    for query in ("limit=x", "limit=-1", "marker=zz", "bogus=1"):
        both(w, "GET", "/v2.1/flavors/detail?" + query)
    both(w, "GET", "/v2.1/flavors/detail?marker=zz", says=r"marker \[zz\] not found")


@test
def other_lists_have_the_same_members(w):
    both(w, "GET", "/v2.1/limits")
    both(w, "GET", "/v2.1/os-availability-zone")


@test
def wrong_bodies_of_a_create_are_refused_alike(w):
    for body in ("{bad", "", "[]", "{}", {"server": 1}, {"server": {}}, {**server(), "extra": {}},
                 {**server(), "os:scheduler_hints": {"group": "x"}}, {**server(), "os:scheduler_hints": 1}):
        both(w, "POST", "/v2.1/servers", body)


@test
def wrong_members_of_a_create_are_refused_alike(w):
    long = "a" * 256
    for more in ({"bogus": 1}, {"name": ...}, {"flavorRef": ...}, {"networks": ...}, {"name": ""}, {"name": " a"},
                 {"name": 1}, {"name": long}, {"imageRef": "xx"}, {"imageRef": 1}, {"flavorRef": ""},
                 {"min_count": 0}, {"min_count": "a"}, {"min_count": True}, {"max_count": -1}, {"max_count": "0"},
                 {"min_count": 1.5}, {"tags": ["a/b"]}, {"tags": ["a,b"]}, {"tags": ["a" * 61]}, {"tags": [""]},
                 {"tags": "a"}, {"tags": [str(i) for i in range(51)]}, {"metadata": {"a": 1}},
                 {"metadata": {"a": long}}, {"metadata": {"a b!": "x"}}, {"metadata": {"": "x"}}, {"metadata": []},
                 {"networks": "some"}, {"networks": [{"uuid": "x"}]}, {"networks": [{"uuid": NET, "foo": 1}]},
                 {"networks": {}}, {"config_drive": "maybe"}, {"config_drive": None}, {"availability_zone": ""},
                 {"key_name": ""}, {"hostname": "a b"}, {"hostname": ""}, {"user_data": 1}, {"user_data": None},
                 {"user_data": "a" * 65536}, {"security_groups": [{"name": "default", "x": 1}]},
                 {"security_groups": ["default"]}, {"OS-DCF:diskConfig": "X"}, {"return_reservation_id": "x"},
                 {"personality": []}, {"description": 1}):
        both(w, "POST", "/v2.1/servers", server(**more))


@test
def what_only_nova_itself_can_know_is_refused_alike(w):
    both(w, "POST", "/v2.1/servers", server(flavorRef="77"), says="Flavor 77 could not be found.")
    both(w, "POST", "/v2.1/servers", server(imageRef=...), says="Missing imageRef attribute")
    both(w, "POST", "/v2.1/servers", server(min_count=3, max_count=2), says="min_count must be <= max_count")
    both(w, "POST", "/v2.1/servers", server(availability_zone="mars"),
         says="The requested availability zone is not available")
    both(w, "POST", "/v2.1/servers", server(hostname="a", max_count=2),
         says="Unable to allocate a single hostname to multiple instances")
    both(w, "POST", "/v2.1/servers", {**server(), "os:scheduler_hints": {"group": "{nobody}"}},
         says="Instance group .* could not be found.")


@test
def microversions_change_what_a_create_may_say(w):
    for version, more in (("2.1", {"tags": ["x"], "networks": ...}), ("2.51", {"tags": ["x"]}), ("2.36", {}),
                          ("2.89", {"hostname": "a"}), ("2.18", {"description": "x", "networks": ...}),
                          ("2.37", {"networks": ...}), (None, {"networks": "none"})):
        both(w, "POST", "/v2.1/servers", server(**more), version=version)


@test
def wrong_queries_are_refused_alike(w):
    for path in ("/v2.1/servers/detail?", "/v2.1/servers?"):
        for query in ("limit=-1", "limit=x", "marker=xx", "bogus=1", "status=BOGUS"):
            both(w, "GET", path + query)
    both(w, "GET", "/v2.1/servers/detail?marker=xx", says=r"marker \[xx\] not found")
    both(w, "GET", "/v2.1/servers?tags=nobody&limit=0")


@test
def unknown_servers_are_not_found_alike(w):
    for path in ("/v2.1/servers/{nobody}", "/v2.1/servers/abc"):
        both(w, "GET", path, says="Instance .* could not be found.")
        both(w, "DELETE", path, says="Instance .* could not be found.")


@test
def a_project_in_the_path_must_be_the_right_one(w):
    both(w, "GET", "/v2.1/{project}/flavors/{flavor}")
    both(w, "GET", "/v2.1/aaaa0000/flavors/{flavor}", says="Malformed request URL")


@test
def servers_live_alike(w):
    more = {"networks": [{"uuid": "{net}"}], "tags": ["c1", "t2", "c1"], "metadata": {"a": "b"}, "config_drive": True,
            "availability_zone": "{zone}", "user_data": "aGVsbG8=", "description": "d",
            "security_groups": [{"name": "default"}]}
    made = both(w, "POST", "/v2.1/servers", server(**more))
    for side, answer in zip(w, made):
        side.words["server"] = answer.json["server"]["id"]
        same(dict(answer.headers)["location"], answer.json["server"]["links"][0]["href"])
        side.until(lambda seen: [s["status"] for s in seen] == ["ACTIVE"])
    for version in ("2.1", "2.18", "2.46", "2.70", "2.89", "2.95", "2.96"):
        both(w, "GET", "/v2.1/servers/{server}", version=version)
        both(w, "GET", "/v2.1/servers/detail", version=version)
    real, sim = both(w, "GET", "/v2.1/servers/{server}")
    for key in ("name", "status", "OS-EXT-STS:task_state", "OS-EXT-STS:vm_state", "OS-EXT-STS:power_state", "progress",
                "tags", "metadata", "config_drive", "key_name", "description", "locked", "accessIPv4",
                "OS-EXT-SRV-ATTR:hostname", "server_groups"):
        same((key, sim.json["server"][key]), (key, real.json["server"][key]))
    for console in ({}, {"length": 1}, {"length": "2"}, {"length": -1}, {"length": None}):
        both(w, "POST", "/v2.1/servers/{server}/action", {"os-getConsoleOutput": console})
    for console in ({"length": -2}, {"length": True}, {"length": ""}, {"lines": 1}, None):
        both(w, "POST", "/v2.1/servers/{server}/action", {"os-getConsoleOutput": console})
    both(w, "POST", "/v2.1/servers/{nobody}/action", {"os-getConsoleOutput": {}})
    for side in w:
        same(side.servers()[0]["pinned_availability_zone"], side.words["zone"])
    both(w, "DELETE", "/v2.1/servers/{server}")
    for side in w:
        side.until(lambda seen: not seen)
    both(w, "GET", "/v2.1/servers/{server}")
    both(w, "DELETE", "/v2.1/servers/{server}")


@test
def a_server_that_is_being_deleted_is_active_with_a_task(w):
    real, sim = w
    sim.send(sim.admin, "POST", "/admin/config", {"stop": "2s"})
    for side in w:
        made = side.compute("POST", "/v2.1/servers", server())
        side.words["server"] = made.json["server"]["id"]
        side.until(lambda seen: [s["status"] for s in seen] == ["ACTIVE"])
        same(side.compute("DELETE", "/v2.1/servers/{server}").status, 204)
    seen = sim.compute("GET", "/v2.1/servers/{server}").json["server"]
    same((seen["status"], seen["OS-EXT-STS:task_state"]), ("ACTIVE", "deleting"))
    # The real one is through by now, or about to be.
    same(real.compute("GET", "/v2.1/servers/{server}").status in (200, 404), True)
    for side in w:
        side.empty()
    sim.send(sim.admin, "POST", "/admin/config", {"stop": "0s"})


@test
def a_server_in_error_may_run(w):
    def reset(state, path="/v2.1/servers/{server}/action"):
        member, w[0].token = w[0].token, "admin"  # at simcloud all are
        both(w, "POST", path, {"os-resetState": state})
        w[0].token = member

    for side in w:
        made = side.compute("POST", "/v2.1/servers", server())
        side.words["server"] = made.json["server"]["id"]
        side.until(lambda seen: [s["status"] for s in seen] == ["ACTIVE"])
    for state in ({}, {"state": "deleted"}, {"state": None}, {"state": "error", "x": 1}, None):
        reset(state)
    reset({"state": "error"}, "/v2.1/servers/{nobody}/action")
    reset({"state": "error"})
    for answer in both(w, "GET", "/v2.1/servers/{server}"):
        seen = answer.json["server"]
        same([seen["status"], *(seen["OS-EXT-STS:" + key] for key in ("vm_state", "task_state", "power_state"))],
             ["ERROR", "error", None, 1])
        same((seen["OS-SRV-USG:launched_at"] is None, "fault" in seen), (False, False))
    reset({"state": "active"})
    both(w, "GET", "/v2.1/servers/{server}")
    for side in w:
        same([s["status"] for s in side.servers()], ["ACTIVE"])
        side.empty()


@test
def several_servers_have_names_and_pages_alike(w):
    for side in w:
        made = side.compute("POST", "/v2.1/servers", server(min_count=2, max_count=3, tags=["c1"]))
        same(made.status, 202)
        side.until(lambda seen: [s["status"] for s in seen] == ["ACTIVE"] * 3)
        same(sorted(s["name"] for s in side.servers()), ["n-1", "n-2", "n-3"])
        same([s["name"] for s in side.servers() if s["id"] == made.json["server"]["id"]], ["n-1"])
    for path in ("/v2.1/servers?limit=2", "/v2.1/servers/detail?tags=c1&limit=2", "/v2.1/servers?limit=3",
                 "/v2.1/servers?limit=4", "/v2.1/servers?tags=c1,x", "/v2.1/servers?tags-any=c1,x",
                 "/v2.1/servers?not-tags=c1", "/v2.1/servers?name=n-2", "/v2.1/servers?status=active",
                 "/v2.1/servers?status=ERROR", "/v2.1/servers?limit=0"):
        answers = both(w, "GET", path)
        # Those of one second have no order; simcloud has one.
        same((path, len(answers[1].json["servers"])), (path, len(answers[0].json["servers"])))
    for side in w:
        names, path = [], "/v2.1/servers?limit=2"
        while path:
            page = side.compute("GET", path).json
            names += [s["name"] for s in page["servers"]]
            path = page.get("servers_links", [{"href": ""}])[0]["href"].partition(side.nova)[2]
        same(sorted(names), ["n-1", "n-2", "n-3"])
        side.empty()


@test
def a_reservation_leads_to_its_servers(w):
    for side in w:
        side.compute("POST", "/v2.1/servers", server())
    made = both(w, "POST", "/v2.1/servers", server(return_reservation_id=True, name="r"))
    for side, answer in zip(w, made):
        found = side.compute("GET", "/v2.1/servers?reservation_id=" + answer.json["reservation_id"])
        same([s["name"] for s in found.json["servers"]], ["r"])
        side.until(lambda seen: "BUILD" not in [s["status"] for s in seen])
        side.empty()


@test
def no_host_is_found_alike(w):
    sim = w[1]
    sim.send(sim.admin, "POST", "/admin/capacity", {"type": "gpu_1x_h100", "capacity": 1})
    made = both(w, "POST", "/v2.1/servers", server(flavorRef="{full}", min_count=2, tags=["full"]))
    for side, answer in zip(w, made):
        side.words["server"] = answer.json["server"]["id"]
        side.until(lambda seen: [s["status"] for s in seen] == ["ERROR"] * 2)
    both(w, "GET", "/v2.1/servers/detail?tags=full",
         says="No valid host was found. ")  # and perhaps why
    real, other = both(w, "GET", "/v2.1/servers/{server}")
    for key in ("status", "OS-EXT-STS:task_state", "OS-EXT-STS:vm_state", "OS-EXT-STS:power_state", "addresses", "hostId",
                "OS-EXT-AZ:availability_zone"):
        same((key, other.json["server"][key]), (key, real.json["server"][key]))
    same(other.json["server"]["fault"]["code"], real.json["server"]["fault"]["code"])
    both(w, "DELETE", "/v2.1/servers/{server}")
    for side in w:
        side.until(lambda seen: len(seen) == 1)
        side.empty()


@test
def the_quota_is_told_alike_and_shortens_a_create(w):
    text = "Quota exceeded for .*instances: Requested .*11, but already used .*0 of .*10 .*instances"
    both(w, "POST", "/v2.1/servers", server(min_count=11), says=text)
    both(w, "POST", "/v2.1/servers", server(min_count=11, max_count=12), says="Requested .*11-12, but already used .*0")
    for side in w:
        same(side.compute("POST", "/v2.1/servers", server(min_count=1, max_count=12)).status, 202)
        # Nova's host has room for eight; those in ERROR count as well.
        side.until(lambda seen: len(seen) == 10 and "BUILD" not in [s["status"] for s in seen])
    both(w, "POST", "/v2.1/servers", server(),
         says="Quota exceeded for instances: Requested 1, but already used 10 of 10 instances")
    for side in w:
        side.empty()


@test
def server_groups_are_alike(w):
    path = "/v2.1/os-server-groups"
    for body in ({}, {"server_group": 1}, {"server_group": {"name": "g"}}, {"server_group": {"policy": "affinity"}},
                 {"server_group": {"name": "g", "policies": ["affinity"]}},
                 {"server_group": {"name": "g", "policy": "close"}},
                 {"server_group": {"name": "g", "policy": "affinity", "x": 1}},
                 {"server_group": {"name": "", "policy": "affinity"}},
                 {"server_group": {"name": "g", "policy": "affinity", "rules": {"max_server_per_host": 2}}},
                 {"server_group": {"name": "g", "policy": "anti-affinity", "rules": {"x": 2}}}):
        both(w, "POST", path, body)
    made = both(w, "POST", path, {"server_group": {"name": "g", "policy": "soft-affinity"}})
    for side, answer in zip(w, made):
        side.words["group"] = answer.json["server_group"]["id"]
    both(w, "POST", path, {"server_group": {"name": "h", "policy": "anti-affinity", "rules": {"max_server_per_host": 2}}})
    both(w, "POST", path, {"server_group": {"name": "old", "policies": ["affinity"]}}, version="2.50")
    for version in ("2.50", "2.96"):
        both(w, "GET", path, version=version)
        both(w, "GET", path + "?limit=1", version=version)
        both(w, "GET", path + "/{group}", version=version)
    for side in w:
        made = side.compute("POST", "/v2.1/servers", {**server(), "os:scheduler_hints": {"group": "{group}"}})
        side.words["server"] = made.json["server"]["id"]
        side.until(lambda seen: [s["status"] for s in seen] == ["ACTIVE"])
        same(side.compute("GET", path + "/{group}").json["server_group"]["members"], [side.words["server"]])
        same(side.compute("GET", "/v2.1/servers/{server}").json["server"]["server_groups"], [side.words["group"]])
    both(w, "DELETE", path + "/{group}")  # with a member in it
    both(w, "GET", path + "/{group}", says="Instance group .* could not be found.")
    both(w, "DELETE", path + "/{group}")
    for side in w:
        side.empty()


# --- Keystone ---------------------------------------------------------------------------------------------------------

USER = {"name": "{user}", "domain": {"id": "default"}, "password": SECRET}
SCOPE = {"project": {"name": "admin", "domain": {"id": "default"}}}
TOKENS = "/v3/auth/tokens"


def password(scope=..., **user):
    made = {k: v for k, v in {**USER, **user}.items() if v is not ...}
    auth = {"identity": {"methods": ["password"], "password": {"user": made}}}
    return {"auth": auth if scope is ... else {**auth, "scope": scope}}


def application(scope=..., **credential):
    auth = {"identity": {"methods": ["application_credential"], "application_credential": credential}}
    return {"auth": auth if scope is ... else {**auth, "scope": scope}}


def logins(w, method, path, body=None, headers=None, says=None):
    real, sim = (side.identity(method, path, body, headers(side) if headers else None) for side in w)
    compare(real, sim, f"{method} {path} {json.dumps(body)}", says)
    return real, sim


def token_of(answer):
    return dict(answer.headers)["x-subject-token"]


@test
def identity_versions_are_told_alike(w):
    for path in ("/v3", "/v3/"):
        logins(w, "GET", path)


@test
def passwords_are_taken_alike(w):
    logins(w, "POST", TOKENS, password())
    logins(w, "POST", TOKENS, password(SCOPE))
    logins(w, "POST", TOKENS, password(name=..., domain=..., id="{user_id}"))
    logins(w, "POST", TOKENS, password(domain={"name": "Default"}))
    logins(w, "POST", TOKENS, password(password="wrong"))


@test
def application_credentials_are_taken_alike(w):
    real, sim = logins(w, "POST", TOKENS, application(id="{credential}", secret="{secret}"))
    for answer in (real, sim):
        same(answer.json["token"]["methods"], ["application_credential"])
    logins(w, "POST", TOKENS, application(name="c", user={"name": "{user}", "domain": {"id": "default"}}, secret="{secret}"))
    logins(w, "POST", TOKENS, application(id="{credential}", secret="wrong"))
    # The real one says what it made of the identity, besides.
    for side in w:
        same(side.identity("POST", TOKENS, application(SCOPE, id="{credential}", secret="{secret}")).status, 401)
    logins(w, "POST", TOKENS, application(name="c", secret="{secret}"))
    logins(w, "POST", TOKENS, application(secret="{secret}"))


@test
def wrong_logins_are_refused_alike(w):
    for body in ("{bad", {}, {"auth": {}}, {"auth": {"identity": {}}}, {"auth": {"identity": {"methods": ["carrier"]}}},
                 {"auth": {"identity": {"methods": ["password"]}}}, {"auth": {"identity": {"methods": "password"}}},
                 {"auth": {"identity": {"methods": ["password"], "password": {}}}}, password(domain=...),
                 password(name=...), password(domain={})):
        logins(w, "POST", TOKENS, body)
    logins(w, "POST", TOKENS, "x=1", lambda _: {"Content-Type": "application/x-www-form-urlencoded"})
    logins(w, "PUT", TOKENS)
    logins(w, "GET", "/v3/nosuch")


@test
def tokens_are_shown_alike(w):
    given = [side.identity("POST", TOKENS, password(SCOPE)) for side in w]
    for side, answer in zip(w, given):
        side.words["token"] = token_of(answer)
    logins(w, "GET", TOKENS, None, lambda s: {"X-Auth-Token": s.words["token"], "X-Subject-Token": s.words["token"]})
    logins(w, "GET", TOKENS, None, lambda s: {"X-Auth-Token": "bad", "X-Subject-Token": s.words["token"]})
    logins(w, "GET", TOKENS, None, lambda s: {"X-Auth-Token": s.words["token"], "X-Subject-Token": "bad"})
    logins(w, "GET", TOKENS, None, lambda s: {"X-Auth-Token": s.words["token"]})
    logins(w, "GET", TOKENS)


@test
def the_catalog_leads_to_nova(w):
    sim = w[1]
    token = sim.identity("POST", TOKENS, password(SCOPE)).json["token"]
    compute, = (s for s in token["catalog"] if s["type"] == "compute")
    urls = {e["region"]: e["url"] for e in compute["endpoints"] if e["interface"] == "public"}
    same(sorted(urls), ["eu-north-1", "eu-west-1"])
    for region, url in urls.items():
        found = sim.send(url, "GET", "/os-availability-zone", None, {"X-Auth-Token": sim.token})
        same([z["zoneName"][:-1] for z in found.json["availabilityZoneInfo"]], [region] * 2)


@test
def a_lacking_token_is_refused_as_by_the_middleware(w):
    real, sim = w
    there = real.send(real.keystone, "GET", "/protected")
    here = sim.send(sim.nova, "GET", "/v2.1/servers")
    # Nova's own middleware adds the ids of the request.
    here.headers = [(k, v) for k, v in here.headers if not k.endswith("request-id")]
    compare(there, here, "GET /protected")


# --- starting ---------------------------------------------------------------------------------------------------------


def start(stack, args, cwd=None):
    """Start a service that prints its URL.  (-P: a file here is called as a package is.)"""
    log = stack.enter_context(tempfile.TemporaryFile("w+"))
    proc = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=log, text=True, cwd=cwd)
    stack.callback(proc.wait)
    stack.callback(proc.terminate)
    for line in proc.stdout:
        if line.startswith("http://"):
            return line.strip()
    log.seek(0)
    raise RuntimeError(f"{args} does not start: {log.read()[-2000:]}")


def real_side(stack):
    # Nova's fixtures write into the directory that they run in.
    work = stack.enter_context(tempfile.TemporaryDirectory())
    nova = start(stack, [sys.executable, "-P", os.path.join(HERE, "openstack_nova.py")], work)
    keystone = start(stack, [sys.executable, "-P", os.path.join(HERE, "openstack_keystone.py"),
                             os.path.join(sys.prefix, "keystone")], work)
    side = Side("real", nova, keystone)
    side.words.update(flavor="1", full="5", zone="nova", project="6f70656e737461636b20342065766572")
    given = side.identity("POST", TOKENS, password(SCOPE))
    user = given.json["token"]["user"]["id"]
    path = f"/v3/users/{user}/application_credentials"
    headers = {"X-Auth-Token": token_of(given)}
    made = side.identity("POST", path, {"application_credential": {"name": "c", "secret": "of it"}}, headers)
    side.words.update(user_id=user, secret="of it", credential=made.json["application_credential"]["id"])
    return side


def sim_side(stack, program):
    work = stack.enter_context(tempfile.TemporaryDirectory())
    token = os.path.join(work, "token")
    with open(token, "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as f:
        f.write(SECRET)
    url = start(stack, [program, "--token-file", token])
    side = Side("simcloud", url + "/compute/eu-north-1", url)
    side.admin = url
    side.send(url, "POST", "/admin/config", {"quota": 10, "boot": "50ms"})
    side.token = token_of(side.identity("POST", TOKENS, password(SCOPE)))
    flavors = {f["name"]: f["id"] for f in side.compute("GET", "/v2.1/flavors").json["flavors"]}
    side.words.update(flavor=flavors["gpu_8x_h100"], full=flavors["gpu_1x_h100"], zone="eu-north-1a",
                      project="5c0000000000400080000000000000aa", user_id="u", secret=SECRET, credential="c")
    return side


def main():
    with ExitStack() as stack:
        w = (real_side(stack), sim_side(stack, os.path.abspath(sys.argv[1])))
        return tap.run(tests, lambda fn: fn(w))


if __name__ == "__main__":
    sys.exit(main())
