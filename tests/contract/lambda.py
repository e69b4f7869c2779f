"""lambda.py SIMCLOUD PRISM SPEC: simcloud's face of Lambda against what Lambda publishes about its API, as TAP.

Prism stands between; that the face and Prism refuse the same requests is asked of each directly.
"""
import base64
import sys
import time
from contextlib import ExitStack

from prism_proxy import Liar, arguments, prism, prism_says, run_all, send, simcloud, test, want

KEY = "secret_lab.k3y"
BEARER = {"Authorization": "Bearer " + KEY}
API = "/api/v1/"
LAUNCH = {"region_name": "eu-north-1", "instance_type_name": "gpu_8x_h100", "ssh_key_names": ["lab"]}
FULL = {**LAUNCH, "name": "My Instance", "hostname": "head-1", "image": {"family": "lambda-stack-24-04"},
        "user_data": "#!/bin/sh", "file_system_names": [], "file_system_mounts": [],
        "tags": [{"key": "burstd-node", "value": "h100-7"}, {"key": "a:b-1", "value": ""}],
        "firewall_rulesets": [{"id": "c4d291f47f9d436fa39f58493ce3b50d"}]}


def basic(key):
    return "Basic " + base64.b64encode((key + ":").encode()).decode()


class World:
    """simcloud, and Prism before it."""

    def __init__(self, direct, proxied):
        self.direct, self.proxied = direct, proxied

    def ask(self, method, path, body=None, headers=None):
        """Through Prism, which must have nothing to say; returns the status, and "data" or "error"."""
        status, said = send(self.proxied, method, API + path, body, headers or BEARER)
        want(prism_says(said), "", (path, body, said))
        want(list(said), ["data" if status == 200 else "error"], said)
        return status, said["data" if status == 200 else "error"]

    def right(self, method, path, body=None, headers=None):
        status, said = self.ask(method, path, body, headers)
        want(status, 200, said)
        return said

    def refused(self, method, path, body=None, headers=None):
        status, said = self.ask(method, path, body, headers)
        return status, said["code"]

    def admin(self, path, body):
        status, said = send(self.direct, "POST", "/admin/" + path, body)
        want(status, 200, said)

    def launch(self, **more):
        return self.right("POST", "instance-operations/launch", {**LAUNCH, **more})["instance_ids"][0]

    def becomes(self, one, status):
        seen = set()
        for _ in range(600):
            now = self.right("GET", "instances/" + one)["status"]
            if now == status:
                return
            seen.add(now)
            time.sleep(0.02)
        raise AssertionError(f"it is never {status}, but {seen}")


# --- canaries: is anything checked at all? --------------------------------------------------------------------------


@test
def prism_refuses_what_the_description_does_not_allow(w, _):
    for bad in ({**LAUNCH, "quantity": 2}, {"region_name": "r", "instance_type_name": "t"}, {**LAUNCH, "name": 1},
                {**LAUNCH, "tags": [{"key": "a", "value": "v"}]}):
        status, said = send(w.proxied, "POST", API + "instance-operations/launch", bad, BEARER)
        want((status, prism_says(said)), (422, "UNPROCESSABLE_ENTITY"), bad)
    status, said = send(w.proxied, "GET", API + "instances")
    want((status, prism_says(said)), (401, "UNAUTHORIZED"), said)


@test
def prism_refuses_answers_too(w, make):
    good = w.right("GET", "instances/" + w.launch())
    answers = [(200, {"data": good}), (200, {"data": {**good, "status": "sleeping"}}),
               (200, {"data": {**good, "address": "10.77.0.10"}}),
               (200, {"data": {k: v for k, v in good.items() if k != "region"}}), (200, {"data": [good]}),
               (404, {"error": {"code": "not-found", "message": "no"}})]
    with Liar() as liar, make(liar.url) as proxied:
        for liar.answer in answers:
            said = send(proxied, "GET", API + "instances/x", None, BEARER)[1]
            want(prism_says(said), "" if liar.answer == answers[0] else "VIOLATIONS", liar.answer)


# --- requests -------------------------------------------------------------------------------------------------------

BAD = [
    {**LAUNCH, "quantity": 1},
    {k: LAUNCH[k] for k in ("region_name", "instance_type_name")},
    {k: LAUNCH[k] for k in ("region_name", "ssh_key_names")},
    {k: LAUNCH[k] for k in ("instance_type_name", "ssh_key_names")},
    {**LAUNCH, "region_name": None}, {**LAUNCH, "region_name": 1},
    {**LAUNCH, "ssh_key_names": "lab"}, {**LAUNCH, "ssh_key_names": [1]},
    {**LAUNCH, "name": "n" * 65}, {**LAUNCH, "name": None}, {**LAUNCH, "name": 7},
    {**LAUNCH, "hostname": ""}, {**LAUNCH, "hostname": "-a"}, {**LAUNCH, "hostname": "A"}, {**LAUNCH, "hostname": "a.b"},
    {**LAUNCH, "hostname": "a" * 64}, {**LAUNCH, "hostname": None},
    {**LAUNCH, "image": "i"}, {**LAUNCH, "image": {}}, {**LAUNCH, "image": {"name": "i"}},
    {**LAUNCH, "image": {"id": "i", "family": "f"}}, {**LAUNCH, "image": None},
    {**LAUNCH, "user_data": None}, {**LAUNCH, "user_data": ["#!/bin/sh"]},
    {**LAUNCH, "tags": {"a": "b"}}, {**LAUNCH, "tags": None}, {**LAUNCH, "tags": ["ab"]},
    {**LAUNCH, "tags": [{"key": "ab"}]}, {**LAUNCH, "tags": [{"value": "ab"}]},
    {**LAUNCH, "tags": [{"key": "a", "value": ""}]}, {**LAUNCH, "tags": [{"key": "1a", "value": ""}]},
    {**LAUNCH, "tags": [{"key": "a_b", "value": ""}]}, {**LAUNCH, "tags": [{"key": "Ab", "value": ""}]},
    {**LAUNCH, "tags": [{"key": "k" * 56, "value": ""}]}, {**LAUNCH, "tags": [{"key": "ab", "value": "v" * 129}]},
    {**LAUNCH, "tags": [{"key": "ab", "value": 1}]}, {**LAUNCH, "tags": [{"key": "ab", "value": "", "x": 1}]},
    {**LAUNCH, "firewall_rulesets": {"id": "x"}}, {**LAUNCH, "firewall_rulesets": [{"name": "x"}]},
    {**LAUNCH, "firewall_rulesets": ["x"]},
    {**LAUNCH, "file_system_names": "x"}, {**LAUNCH, "file_system_mounts": {}},
    [], '"x"', "1", "null", "",  # what is no JSON at all Prism never answers
]
GOOD = [
    LAUNCH, FULL, {**LAUNCH, "name": ""}, {**LAUNCH, "name": "n" * 64}, {**LAUNCH, "hostname": "0" * 63},
    {**LAUNCH, "image": {"id": "ddaedf1b7a0e41ac981711504493b242"}}, {**LAUNCH, "tags": []}, {**LAUNCH, "user_data": ""},
    {**LAUNCH, "tags": [{"key": "k" * 55, "value": "v" * 128}]}, {**LAUNCH, "firewall_rulesets": []},
]
BAD_TERMINATE = [{}, {"instance_ids": "x"}, {"instance_ids": [1]}, {"instance_ids": None}, {"instance_ids": ["x"], "force": 1},
                 {"ids": ["x"]}, [], None]


@test
def the_face_refuses_what_prism_refuses(w, _):
    for path, bodies in (("launch", BAD), ("terminate", BAD_TERMINATE)):
        for bad in bodies:
            status, said = send(w.proxied, "POST", API + "instance-operations/" + path, bad, BEARER)
            want((status, prism_says(said)), (422, "UNPROCESSABLE_ENTITY"), (bad, said))
            status, said = send(w.direct, "POST", API + "instance-operations/" + path, bad, BEARER)
            want((status, said["error"]["code"]), (400, "global/invalid-parameters"), bad)


@test
def the_face_takes_what_prism_takes(w, _):
    for good in GOOD:
        want(len(w.right("POST", "instance-operations/launch", good)["instance_ids"]), 1)


@test
def what_only_words_forbid_the_face_refuses_by_itself(w, _):
    for bad in ({**LAUNCH, "ssh_key_names": []}, {**LAUNCH, "ssh_key_names": ["a", "b"]}):
        want(w.refused("POST", "instance-operations/launch", bad), (400, "global/invalid-parameters"))


# --- operations -----------------------------------------------------------------------------------------------------


@test
def an_instance_is_launched_listed_shown_and_terminated(w, _):
    one = w.right("POST", "instance-operations/launch", FULL)["instance_ids"][0]
    two = w.launch()
    w.becomes(one, "active")
    seen = {i["id"]: i for i in w.right("GET", "instances")}
    want({one, two} <= set(seen), True)
    shown = w.right("GET", "instances/" + one)
    want(shown, seen[one] if seen[one]["status"] == "active" else shown)
    for key in ("name", "hostname", "tags"):
        want(shown[key], FULL[key])
    want(w.right("GET", "instances?cluster_id=ddaedf1b7a0e41ac981711504493b242"), [])
    gone = w.right("POST", "instance-operations/terminate", {"instance_ids": [one, two]})["terminated_instances"]
    want([i["id"] for i in gone], [one, two])
    w.becomes(one, "terminated")


@test
def each_status_is_one_of_the_description(w, _):
    w.admin("config", {"boot": "1h", "stop": "1h"})  # each lasts until it has been seen
    one = w.launch(name="n1")
    w.becomes(one, "booting")
    w.right("POST", "instance-operations/terminate", {"instance_ids": [one]})
    w.becomes(one, "terminating")
    w.admin("config", {"boot": "1ms", "stop": "1ms"})
    two, three = w.launch(name="n2"), w.launch(name="n3")
    w.becomes(two, "active")
    w.admin("reclaim", {"node": "n2", "kind": "faulty"})
    w.becomes(two, "unhealthy")
    w.right("POST", "instance-operations/terminate", {"instance_ids": [two]})
    w.becomes(two, "terminated")
    w.becomes(three, "active")
    w.admin("config", {"stop": "1h"})
    w.admin("reclaim", {"node": "n3", "notice_ms": 1})
    w.becomes(three, "preempted")
    w.admin("config", {"boot": "1ms", "stop": "1ms"})


@test
def instance_types_and_an_instance_tell_the_same_price(w, _):
    types = w.right("GET", "instance-types")
    want(types["gpu_8x_h100"]["instance_type"], w.right("GET", "instances/" + w.launch())["instance_type"])
    want([r["name"] for r in types["gpu_8x_h100"]["regions_with_capacity_available"]], ["eu-north-1", "eu-west-1"])


@test
def the_key_may_come_as_basic(w, _):
    w.right("GET", "instances", None, {"Authorization": basic(KEY)})


@test
def the_topology_is_still_not_described(w, _):
    status, said = send(w.proxied, "GET", API + "topology/instance", None, BEARER)
    want((status, prism_says(said)), (404, "NO_PATH_MATCHED_ERROR"), "describe it, and ask for it here")


# --- errors ---------------------------------------------------------------------------------------------------------


@test
def what_there_is_not_is_said_as_described(w, _):
    gone = (404, "global/object-does-not-exist")
    launch = "instance-operations/launch"
    want(w.refused("GET", "instances/0920582c7ff041399e34823a0be62549"), gone)
    want(w.refused("POST", "instance-operations/terminate", {"instance_ids": ["0920582c7ff041399e34823a0be62549"]}), gone)
    want(w.refused("POST", launch, {**LAUNCH, "instance_type_name": "gpu_8x_b200"}), gone)
    want(w.refused("POST", launch, {**LAUNCH, "region_name": "us-east-1"}), gone)
    want(w.refused("POST", launch, {**LAUNCH, "file_system_names": ["f"]}), (400, gone[1]))


@test
def a_wrong_key_is_refused_as_described(w, _):
    for path in ("instances", "instances/x", "instance-types"):
        want(w.refused("GET", path, None, {"Authorization": "Bearer x"}), (401, "global/invalid-api-key"))
    for path, body in (("launch", LAUNCH), ("terminate", {"instance_ids": ["x"]})):
        want(w.refused("POST", "instance-operations/" + path, body, {"Authorization": basic("wrong")}),
             (401, "global/invalid-api-key"))


@test
def no_capacity_and_no_quota_are_said_as_described(w, _):
    w.admin("capacity", {"type": "gpu_8x_h100", "capacity": 0})
    want(w.refused("POST", "instance-operations/launch", LAUNCH),
         (400, "instance-operations/launch/insufficient-capacity"))
    want(w.right("GET", "instance-types")["gpu_8x_h100"]["regions_with_capacity_available"], [])
    w.admin("capacity", {"type": "gpu_8x_h100", "capacity": None})
    w.admin("config", {"quota": 0})
    want(w.refused("POST", "instance-operations/launch", LAUNCH), (400, "global/quota-exceeded"))
    w.admin("config", {"quota": None})


@test
def errors_on_demand_are_as_described(w, _):
    for code, message, expected in (
            ("denied", "", (403, "global/account-inactive")),
            ("denied", "global/invalid-address: Move.", (403, "global/invalid-address")),
            ("invalid", "", (400, "global/invalid-parameters")),
            ("not-found", "", (404, "global/object-does-not-exist")),
            ("invalid", "instance-operations/launch/file-system-in-wrong-region: Elsewhere.",
             (400, "instance-operations/launch/file-system-in-wrong-region"))):
        w.admin("faults", {"op": "create", "action": "error", "count": 1, "code": code, "message": message})
        want(w.refused("POST", "instance-operations/launch", LAUNCH), expected)
    for path, op in (("instances", "list"), ("instance-types", "offers"), ("instances/x", "get")):
        w.admin("faults", {"op": op, "action": "error", "count": 1, "code": "denied"})
        want(w.refused("GET", path), (403, "global/account-inactive"))


@test
def a_list_cut_short_by_a_rule_is_still_well_formed(w, _):
    w.launch(name="n3")
    for rule in ({"action": "partial", "node": "n3"}, {"action": "empty"}):
        w.admin("faults", {"op": "list", "count": 1, **rule})
        want("n3" in [i.get("name") for i in w.right("GET", "instances")], False)


def main():
    program, proxy, spec = arguments()
    with ExitStack() as stack:
        direct = stack.enter_context(simcloud(program, KEY))
        proxied = stack.enter_context(prism(proxy, spec, direct))
        w = World(direct, proxied)
        w.admin("config", {"boot": "1ms", "stop": "1ms"})
        return run_all(w, lambda upstream: prism(proxy, spec, upstream))


if __name__ == "__main__":
    sys.exit(main())
