"""ironic.py SIMCLOUD: simcloud's face of Ironic beside Ironic 39, as TAP.

Each request of STORY goes to Ironic, and then each to simcloud, so that neither gets on while the other takes its time.
Each answer of one must be like the other's: the status, the names of the headers, and the body: the same members of the same types (null is like anything), the same words where
they are states, and errors with the same text, but for what names a thing of its own.  What differs on purpose stands
in the request's row (`but`), with the reason.
"""
import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

VERSION = "1.78"
NODES = ["h100-z1-0", "h100-z1-1"]
NOBODY = "00000000-0000-4000-8000-0000000000ff"
OTHER = "00000000-0000-4000-8000-000000000abc"
SIM_S = 3  # how long simcloud's machines boot and stop; it answers what is asked meanwhile in milliseconds
PATIENCE_S = 240
ENDS_WITH_US = ["setpriv", "--pdeathsig", "TERM"]  # also where a test is killed
TOKEN = "secret"
BROKEN = "0.2"  # no whole number: Ironic's fake hardware then fails whatever takes time

# Members whose values are the same on both sides, and those that both have or both lack.
SAME = {"provision_state", "target_provision_state", "power_state", "target_power_state", "state", "maintenance",
        "maintenance_reason", "resource_class", "name", "owner", "lessee", "traits", "extra", "instance_info"}
BOTH = {"reservation", "instance_uuid", "allocation_uuid", "node_uuid", "last_error"}
# Free of form: what they have in them is the operator's, or the driver's.
OPAQUE = {"properties", "driver_info", "driver_internal_info"}
# Headers of the server that each one runs in, not of Ironic.
SERVERS_OWN = {"date", "server", "connection", "x-content-type-options", "content-length", "retry-after", "allow"}

CONF = """[DEFAULT]
auth_strategy={auth}
{users}
rpc_transport=none
enabled_hardware_types=fake-hardware
enabled_bios_interfaces=fake,no-bios
enabled_boot_interfaces=fake
enabled_console_interfaces=fake
enabled_deploy_interfaces=fake
enabled_firmware_interfaces=no-firmware,fake
enabled_inspect_interfaces=fake
enabled_management_interfaces=fake
enabled_network_interfaces=noop
enabled_power_interfaces=fake
enabled_raid_interfaces=fake,no-raid
enabled_rescue_interfaces=fake,no-rescue
enabled_storage_interfaces=noop
enabled_vendor_interfaces=fake,no-vendor
default_network_interface=noop
default_deploy_interface=fake
state_path={dir}
host_ip=127.0.0.1
[api]
host_ip=127.0.0.1
port={port}
[database]
connection=sqlite:///{dir}/ironic.sqlite?timeout=60
sqlite_max_wait_for_retry=60
[conductor]
automated_clean=false
sync_power_state_interval=0
[oslo_concurrency]
lock_path={dir}/locks
[fake]
deploy_delay={delay}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def patiently(pause):
    """Looks, `pause` seconds apart, for as long as Ironic may take on a machine that has no time for it."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        yield
        time.sleep(pause)


class Service:
    """One of the two.  `ids` are its names for things, which are replaced before answers are compared."""

    def __init__(self, port):
        self.port, self.ids, self.proc, self.headers, self.held = port, {}, None, {}, None

    def send(self, method, path, body=None, headers=None, text=None):
        conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"X-OpenStack-Ironic-API-Version": VERSION, "Content-Type": "application/json"}
        sent.update(self.headers if headers is None else headers)
        sent = {k: v for k, v in sent.items() if v is not None}
        conn.request(method, self.fill(path), body=text if text is not None else
                     self.fill(json.dumps(body)) if body is not None else None, headers=sent)
        reply = conn.getresponse()
        said = reply.read().decode()
        conn.close()
        return reply.status, {k.lower(): v for k, v in reply.getheaders()}, said

    def fill(self, text):
        for name, value in self.ids.items():
            text = text.replace("{" + name + "}", value)
        return text

    def get(self, path):
        return json.loads(self.send("GET", path)[2])

    def until(self, path, key, value):
        """value: what it becomes, or a function of it that says when it has."""
        for _ in patiently(0.05):
            now = self.get(path).get(key)
            if value(now) if callable(value) else now == value:
                return
        raise AssertionError(f"{path}: {key} is not {value}: {self.send('GET', path)[2]}")

    def hold(self, on):
        """Whether what takes time takes until further notice; simcloud's takes SIM_S."""
        if self.held and on:
            with open(self.held, "w", encoding="utf-8"):
                pass
        elif self.held:
            os.unlink(self.held)

    def close(self):
        self.proc.terminate()
        self.proc.wait()


def wait_up(service):
    for _ in patiently(0.1):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", service.port)) == 0:
                return service
        if service.proc.poll() is not None:
            break
    raise AssertionError("it does not start")


# Ironic as it is, but for the steps of its fake hardware, each of which ends no sooner than a file is gone; and for its
# transactions, which wait for each other: one that has read when another writes gets "database is locked" from SQLite at
# once, whatever the timeout, and Ironic then leaves a machine in "deleting" for ever.
HELD = """import os, sys, time
import sqlalchemy
from ironic.command.singleprocess import main
from ironic.drivers.modules import fake
class Held:
    @staticmethod
    def sleep(seconds):
        time.sleep(seconds)
        while os.path.exists({file!r}):
            time.sleep(0.05)
fake.time = Held
@sqlalchemy.event.listens_for(sqlalchemy.engine.Engine, "begin")
def begin_before_oslo_does(conn):
    conn.execute(sqlalchemy.text("BEGIN IMMEDIATE"))
    conn.info["in_transaction"] = True
sys.argv = ["ironic", "--config-file", {conf!r}]
sys.exit(main())
"""


def start_real(where, auth="noauth", delay=1):
    bin_dir, real = os.path.dirname(sys.executable), Service(free_port())
    conf = os.path.join(where, auth + ".conf")
    users = os.path.join(where, "htpasswd")
    with open(conf, "w", encoding="utf-8") as f:
        f.write(CONF.format(dir=where, port=real.port, delay=delay, auth=auth,
                            users=f"http_basic_auth_user_file={users}" if auth == "http_basic" else ""))
    log = open(os.path.join(where, auth + ".log"), "w", encoding="utf-8")
    if not os.path.exists(os.path.join(where, "ironic.sqlite")):
        subprocess.run([os.path.join(bin_dir, "ironic-dbsync"), "--config-file", conf, "create_schema"], check=True,
                       stdout=log, stderr=log)
        # Readers and the writer of one file then do not wait for each other.
        with contextlib.closing(sqlite3.connect(os.path.join(where, "ironic.sqlite"))) as db:
            db.execute("PRAGMA journal_mode=WAL")
    real.held = os.path.join(where, "held")
    real.proc = subprocess.Popen([*ENDS_WITH_US, sys.executable, "-c", HELD.format(file=real.held, conf=conf)],
                                 stdout=log, stderr=log)
    return wait_up(real)


def enroll(real):
    for name in NODES:
        made = json.loads(real.send("POST", "/v1/nodes", {
            "name": name, "driver": "fake-hardware", "resource_class": "h100"})[2])
        real.ids[name] = made["uuid"]
        path = "/v1/nodes/" + name
        for target, state in (("manage", "manageable"), ("provide", "available")):
            real.send("PUT", path + "/states/provision", {"target": target})
            real.until(path, "provision_state", state)
        real.until(path, "reservation", None)
        real.send("PUT", path + "/states/power", {"target": "power off"})
        real.until(path, "power_state", "power off")
        real.until(path, "reservation", None)
        real.send("PUT", path + "/traits", {"traits": ["CUSTOM_Z1"]})


def start_sim(program, where, token=None, **more):
    conf = {"offers": [{"type": "h100", "region": "r1", "zone": "z1", "price": "1", "capacity": len(NODES)}],
            "boot": f"{SIM_S}s", "stop": f"{SIM_S}s", "machine_lock": "1h"}
    conf.update(more)
    path = os.path.join(where, "sim.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(conf, f)
    args = [program, "--config", path]
    if token:
        args += ["--token-file", token]
    proc = subprocess.Popen(ENDS_WITH_US + args, stdout=subprocess.PIPE, text=True)
    sim = Service(int(proc.stdout.readline().rsplit(":", 1)[1]))
    sim.proc = proc
    for n in sim.get("/v1/nodes").get("nodes", []):
        sim.ids[n["name"]] = n["uuid"]
    return sim


# --- comparing ------------------------------------------------------------------------------------------------------


def plain(service, text):
    """A text without what is the service's own."""
    for name, value in sorted(service.ids.items()):
        text = text.replace(value, "{" + name + "}")
    text = re.sub(r"http://[^/\"]+/", "http://HOST/", text)
    text = re.sub(r"locked by host \S+,", "locked by host HOST,", text)
    return re.sub(r"req-[0-9a-f-]{36}", "req-ID", text)


def kind(v):
    return "number" if isinstance(v, (int, float)) and not isinstance(v, bool) else type(v).__name__


def alike(a, b, but, at=""):
    """What differs between two bodies, but for the members in `but`; "": nothing."""
    key = at.rsplit(".", 1)[-1]
    if key in but:
        return ""
    if key in SAME and a != b:
        return f"{at}: {a!r} {b!r}"
    if key in BOTH and (a is None) != (b is None):
        return f"{at}: {a!r} {b!r}"
    if a is None or b is None or key in OPAQUE:
        return ""
    if kind(a) != kind(b):
        return f"{at}: {kind(a)} {kind(b)}"
    if isinstance(a, dict):
        if set(a) != set(b):
            return f"{at}: only one has {sorted(set(a) ^ set(b))}"
        return next(filter(None, (alike(a[k], b[k], but, f"{at}.{k}") for k in a)), "")
    if isinstance(a, list):
        if len(a) != len(b):
            return f"{at}: {len(a)} and {len(b)} of them"
        return next(filter(None, (alike(x, y, but, f"{at}.{i}") for i, (x, y) in enumerate(zip(a, b)))), "")
    return ""


def error_of(text):
    told = json.loads(text)
    return json.loads(told["error_message"]) if "error_message" in told else told


def compare(real, sim, answers, but):
    (status, headers, body), (status2, headers2, body2) = answers
    if status != status2:
        return f"status {status} and {status2}: {body} {body2}"
    names = (set(headers) ^ set(headers2)) - SERVERS_OWN
    if not body and not body2:
        names.discard("content-type")
    if names:
        return f"only one has the headers {sorted(names)}"
    if status < 400:
        if "location" in headers and plain(real, headers["location"]) != plain(sim, headers2["location"]):
            return f"{headers['location']} {headers2['location']}"
        return "" if body == body2 else alike(json.loads(plain(real, body)), json.loads(plain(sim, body2)), but)
    a, b = error_of(plain(real, body)), error_of(plain(sim, body2))
    if "text" not in but and a != b:
        return f"{a} {b}"
    if {k: v for k, v in a.items() if k != "faultstring"} != {k: v for k, v in b.items() if k != "faultstring"}:
        return f"{a} {b}"
    return ""


# --- the story ------------------------------------------------------------------------------------------------------

STORY = []


def ask(name, method, path, body=None, version=None, but=None, text=None, keep=None):
    """keep: under this name the answer's uuid is known from now on.  but: what differs,
    a member or the error's "text", and why."""
    headers = {"X-OpenStack-Ironic-API-Version": version} if version else None
    STORY.append(("ask", name, method, path, body, headers, but or {}, text, keep))


def hold(on):
    STORY.append(("hold", on))


def until(path, key, value):
    STORY.append(("until", path, key, value))


N0, N1 = "/v1/nodes/" + NODES[0], "/v1/nodes/" + NODES[1]
SHORT = "?fields=uuid,name,provision_state,target_provision_state,power_state,target_power_state,reservation," \
    "instance_uuid,allocation_uuid,instance_info,last_error,maintenance"
SCHEMA = {"text": "the text is that of Python's jsonschema"}
PYTHON = {"text": "the text is that of Python"}

ask("the versions", "GET", "/")
ask("a version too high", "GET", "/v1/nodes", version="1.999")
ask("a version too low", "GET", "/v1/nodes", version="1.0")
ask("another major version", "GET", "/v1/nodes", version="2.1")
ask("no version at all", "GET", "/v1/nodes", version="x")
ask("the latest version", "GET", N0, version="latest")
for minor in (1, 4, 10, 30, 36, 51, 52, 60, 74, 78, 81, 86, 95, 104, 109, 115):
    ask(f"a node in version 1.{minor}", "GET", "/v1/nodes/{" + NODES[0] + "}", version=f"1.{minor}")
ask("nodes", "GET", "/v1/nodes")
ask("nodes in detail", "GET", "/v1/nodes/detail")
ask("nodes in detail, by the query", "GET", "/v1/nodes?detail=true")
ask("some fields of nodes", "GET", "/v1/nodes" + SHORT.replace("allocation_uuid,", ""))
for field in ("allocation_uuid", "chassis_uuid", "conductor", "traits", "links", "states", "ports", "bogus"):
    ask(f"the field {field} of nodes", "GET", "/v1/nodes?fields=uuid," + field)
ask("a page of nodes", "GET", "/v1/nodes?limit=1")
ask("the next page of nodes, full and with a link", "GET", "/v1/nodes?limit=1&marker={" + NODES[0] + "}")
ask("the page behind the last", "GET", "/v1/nodes?limit=1&marker={" + NODES[1] + "}")
ask("nodes by state and class", "GET", "/v1/nodes?provision_state=available&resource_class=h100")
ask("nodes by another class", "GET", "/v1/nodes?resource_class=a100")
ask("nodes without an instance", "GET", "/v1/nodes?associated=false&maintenance=False")
ask("nodes by an odd yes", "GET", "/v1/nodes?associated=perhaps")
ask("nodes by an unknown argument", "GET", "/v1/nodes?color=red")
ask("nodes by an unknown state", "GET", "/v1/nodes?provision_state=bogus")
ask("a limit that is no number", "GET", "/v1/nodes?limit=x")
ask("a limit below one", "GET", "/v1/nodes?limit=-1")
ask("an unknown marker", "GET", "/v1/nodes?marker=" + NOBODY)
ask("a field of a later version", "GET", N0 + "?fields=allocation_uuid", version="1.51")
ask("a field that no node has", "GET", N0 + "?fields=bogus")
ask("a node that there is not", "GET", "/v1/nodes/nosuch")
ask("the states of a node", "GET", N0 + "/states")
ask("the traits of a node", "GET", N0 + "/traits")
ask("another trait", "PUT", N0 + "/traits/CUSTOM_X")
ask("a trait of a bad form", "PUT", N0 + "/traits/x")
ask("one trait less", "DELETE", N0 + "/traits/CUSTOM_X")
ask("a trait that is not there", "DELETE", N0 + "/traits/CUSTOM_X")
ask("all traits anew", "PUT", N0 + "/traits", {"traits": ["CUSTOM_Z1"]})

ask("an allocation with an unknown member", "POST", "/v1/allocations",
    {"name": "a", "resource_class": "h100", "bogus": 1}, but=SCHEMA)
ask("an allocation without a class", "POST", "/v1/allocations", {"name": "a"})
ask("an allocation of a bad name", "POST", "/v1/allocations", {"name": "a !", "resource_class": "h100"})
ask("an allocation whose class is a number", "POST", "/v1/allocations", {"resource_class": 5}, but=SCHEMA)
ask("an allocation of an unknown node", "POST", "/v1/allocations",
    {"resource_class": "h100", "candidate_nodes": ["nosuch"]})
ask("an allocation of a bad trait", "POST", "/v1/allocations", {"resource_class": "h100", "traits": ["bad"]})
ask("an allocation that is no JSON", "POST", "/v1/allocations", text="{", but=PYTHON)
ask("an allocation that is a list", "POST", "/v1/allocations", [], but=SCHEMA)
ask("an allocation before there were any", "POST", "/v1/allocations", {"resource_class": "h100"}, version="1.51")
ask("allocations before there were any", "GET", "/v1/allocations", version="1.51")
ask("an allocation", "POST", "/v1/allocations",
    {"name": "a1", "resource_class": "h100", "traits": ["CUSTOM_Z1"], "candidate_nodes": [NODES[0]],
     "extra": {"burstd-node": "n1"}}, keep="a1")
ask("the same name again", "POST", "/v1/allocations", {"name": "a1", "resource_class": "h100"})
until("/v1/allocations/a1", "state", "active")
ask("the allocation, which is active", "GET", "/v1/allocations/a1")
ask("some of its fields", "GET", "/v1/allocations/{a1}?fields=state,node_uuid")
ask("a field that no allocation has", "GET", "/v1/allocations/a1?fields=bogus", but=SCHEMA)
ask("the allocation of the node", "GET", N0 + "/allocation")
ask("the allocation of a node without one", "GET", N1 + "/allocation")
ask("the node with its allocation", "GET", N0 + SHORT)
ask("an allocation of the same node", "POST", "/v1/allocations",
    {"name": "a2", "resource_class": "h100", "candidate_nodes": ["{" + NODES[0] + "}"]}, keep="a2")
until("/v1/allocations/a2", "state", "error")
ask("the allocation, which failed", "GET", "/v1/allocations/a2")
ask("an allocation of what nobody has", "POST", "/v1/allocations", {"name": "a3", "resource_class": "b200"}, keep="a3")
until("/v1/allocations/a3", "state", "error")
ask("no machine of that class", "GET", "/v1/allocations/{a3}")
ask("allocations", "GET", "/v1/allocations")
ask("a page of allocations", "GET", "/v1/allocations?limit=2")
ask("the next page of allocations", "GET", "/v1/allocations?limit=2&marker={a2}")
ask("allocations by their state", "GET", "/v1/allocations?state=error&fields=name,last_error")
ask("allocations of a node", "GET", "/v1/allocations?node=" + NODES[0])
ask("allocations of an unknown node", "GET", "/v1/allocations?node=nosuch")
ask("allocations by an unknown argument", "GET", "/v1/allocations?color=red")
ask("allocations by their uuid", "GET", "/v1/allocations?sort_key=uuid&limit=1&fields=uuid",
    but={"next": "the names of what is shown differ", "uuid": "likewise"})
ask("nodes with an instance, by that", "GET", "/v1/nodes?sort_key=instance_uuid&associated=true&fields=uuid,instance_uuid")
ask("a page of them", "GET", "/v1/nodes?sort_key=instance_uuid&associated=true&limit=1&fields=uuid")
ask("... and the next", "GET", "/v1/nodes?sort_key=instance_uuid&associated=true&limit=1&fields=uuid&marker={"
    + NODES[0] + "}")
ask("an allocation that there is not", "GET", "/v1/allocations/nosuch")
ask("an allocation is removed", "DELETE", "/v1/allocations/a3")
ask("and again", "DELETE", "/v1/allocations/a3")
ask("another extra", "PATCH", "/v1/allocations/a2", [{"op": "add", "path": "/extra/x", "value": "y"}])
ask("PUT to an allocation", "PUT", "/v1/allocations/a2", {})

ask("a patch that is no list", "PATCH", N0, {"op": "add"}, but=SCHEMA)
ask("a patch of no known kind", "PATCH", N0, [{"op": "bogus", "path": "/extra/x", "value": "y"}])
ask("a patch of a bad path", "PATCH", N0, [{"op": "add", "path": "extra", "value": "y"}])
ask("a patch of nothing that there is", "PATCH", N0, [{"op": "remove", "path": "/extra/nosuch"}])
ask("a patch of what nobody may write", "PATCH", N0, [{"op": "add", "path": "/provision_state", "value": "y"}],
    but={"text": "Ironic lists what one may write, and here it is less"})
ask("a patch of a wrong type", "PATCH", N0, [{"op": "add", "path": "/extra", "value": "y"}], but=SCHEMA)
ask("a patch that is no JSON", "PATCH", N0, text="{", but=PYTHON)
ask("a patch of a node that there is not", "PATCH", "/v1/nodes/nosuch",
    [{"op": "add", "path": "/extra/x", "value": "y"}])
ask("instance_uuid that is none", "PATCH", N1, [{"op": "add", "path": "/instance_uuid", "value": "y"}])
ask("another instance on the node", "PATCH", N0, [{"op": "replace", "path": "/instance_uuid", "value": OTHER}])
ask("an instance on another node, too", "PATCH", N1, [{"op": "add", "path": "/instance_uuid", "value": "{a1}"}],
    but={"text": "Ironic names the column of its database"})
ask("an instance without an allocation", "PATCH", N1, [{"op": "add", "path": "/instance_uuid", "value": OTHER}])
ask("... by which the node is found", "GET", "/v1/nodes?instance_uuid=" + OTHER)
ask("... and which is taken away", "PATCH", N1, [{"op": "remove", "path": "/instance_uuid"}])
ask("an image and a name", "PATCH", N0, [
    {"op": "add", "path": "/instance_info/image_source", "value": "http://x/i.qcow2"},
    {"op": "add", "path": "/instance_info/display_name", "value": "n1"},
    {"op": "add", "path": "/extra/a", "value": {"b": [1, 2]}},
    {"op": "add", "path": "/owner", "value": "me"},
    {"op": "replace", "path": "/lessee", "value": "you"}])
ask("nodes of an owner", "GET", "/v1/nodes?owner=me&lessee=you")
ask("nodes of another owner", "GET", "/v1/nodes?owner=you")

ask("a state without a target", "PUT", N0 + "/states/provision", {})
ask("a state that is no JSON", "PUT", N0 + "/states/provision", text='{"target":')
ask("a state with an unknown argument", "PUT", N0 + "/states/provision", {"target": "active", "bogus": 1})
ask("an unknown state", "PUT", N0 + "/states/provision", {"target": "bogus"})
ask("what is free is not undeployed", "PUT", N0 + "/states/provision", {"target": "deleted"})
ask("what is free is not provided", "PUT", N0 + "/states/provision", {"target": "provide"})
ask("a config drive that is a number", "PUT", N0 + "/states/provision", {"target": "active", "configdrive": 5},
    but=PYTHON)
ask("a config drive of unknown parts", "PUT", N0 + "/states/provision",
    {"target": "active", "configdrive": {"bogus": 1}}, but=SCHEMA)
ask("a state of a node that there is not", "PUT", "/v1/nodes/nosuch/states/provision", {"target": "active"})
ask("POST to a state", "POST", N0 + "/states/provision", {"target": "active"})
ask("DELETE of states", "DELETE", N0 + "/states")
ask("maintenance", "PUT", N0 + "/maintenance", {"reason": "a fan"})
ask("maintenance with an unknown argument", "PUT", N0 + "/maintenance", {"bogus": "a fan"})
ask("the node in maintenance", "GET", N0 + SHORT + ",maintenance_reason")
ask("no deployment in maintenance", "PUT", N0 + "/states/provision", {"target": "active"})
ask("the end of maintenance", "DELETE", N0 + "/maintenance")
hold(True)
ask("a deployment", "PUT", N0 + "/states/provision",
    {"target": "active", "configdrive": {"user_data": "#!/bin/sh\n", "meta_data": {"a": "b"}}})
until(N0, "provision_state", "deploying")
# Which Ironic writes down a moment later.
until(N0, "instance_info", lambda info: "configdrive" in info)
ask("the node, which deploys", "GET", N0 + SHORT)
ask("another deployment, of the locked", "PUT", N0 + "/states/provision", {"target": "active"})
ask("an end, of the locked", "PUT", N0 + "/states/provision", {"target": "deleted"})
ask("nodes that deploy", "GET", "/v1/nodes?provision_state=deploying")
ask("a patch of the moving", "PATCH", N0, [{"op": "add", "path": "/extra/x", "value": "y"}])
# Last, since Ironic tries for some seconds to get the lock.
ask("power, of the locked", "PUT", N0 + "/states/power", {"target": "power off"})
hold(False)
until(N0, "provision_state", "active")
until(N0, "reservation", None)
ask("the node, which is active", "GET", N0 + SHORT,
    but={"power_state": "Ironic's fake deployment does not switch it on, as a real one does"})
ask("what is active is not deployed again", "PUT", N0 + "/states/provision", {"target": "active"})
ask("no config drive at the end", "PUT", N0 + "/states/provision", {"target": "deleted", "configdrive": "x"})
ask("the allocation of the active stays", "DELETE", "/v1/allocations/a1")
ask("its instance stays, too", "PATCH", N0, [{"op": "remove", "path": "/instance_uuid"}])
ask("power off", "PUT", N0 + "/states/power", {"target": "power off"})
until(N0, "power_state", "power off")
until(N0, "reservation", None)
ask("power on", "PUT", N0 + "/states/power", {"target": "power on"})
until(N0, "power_state", "power on")
until(N0, "reservation", None)
ask("an unknown power", "PUT", N0 + "/states/power", {"target": "bogus"})
ask("power without a target", "PUT", N0 + "/states/power", {})
ask("power within no time", "PUT", N0 + "/states/power", {"target": "power on", "timeout": -1})
hold(True)
ask("the end", "PUT", N0 + "/states/provision", {"target": "deleted"})
until(N0, "provision_state", "deleting")
ask("the node, which is deleted", "GET", N0 + SHORT)
ask("the end again, of the locked", "PUT", N0 + "/states/provision", {"target": "deleted"})
hold(False)
until(N0, "provision_state", "available")
until(N0, "reservation", None)
ask("its allocation went with it", "GET", "/v1/allocations/a1")
ask("and its instance", "GET", N0 + "?fields=uuid,name,provision_state,target_provision_state,reservation,instance_uuid,"
    "allocation_uuid,instance_info,last_error,extra,owner,lessee")
ask("managed", "PUT", N0 + "/states/provision", {"target": "manage"})
until(N0, "provision_state", "manageable")
until(N0, "reservation", None)
ask("no deployment of the managed", "PUT", N0 + "/states/provision", {"target": "active"})
ask("provided", "PUT", N0 + "/states/provision", {"target": "provide"})
until(N0, "provision_state", "available")
ask("the old name is free", "POST", "/v1/allocations", {"name": "a1", "resource_class": "h100"}, keep="a4")
until("/v1/allocations/a1", "state", "active")
ask("an allocation that was not used ends", "DELETE", "/v1/allocations/a1")

FAILING = len(STORY)  # from here on no machine boots
ask("an allocation whose deployment is to fail", "POST", "/v1/allocations",
    {"name": "f1", "resource_class": "h100", "candidate_nodes": [NODES[1]]}, keep="f1")
until("/v1/allocations/f1", "state", "active")
ask("a deployment that is to fail", "PUT", N1 + "/states/provision", {"target": "active"})
until(N1, "provision_state", "deploy failed")
until(N1, "reservation", None)
ask("the node, whose deployment failed", "GET", N1 + SHORT)
ask("nodes whose deployment failed", "GET", "/v1/nodes?provision_state=deploy%20failed&fields=name")
ask("the allocation of the failed", "GET", "/v1/allocations/f1")
ask("the instance of the failed stays", "PATCH", N1, [{"op": "remove", "path": "/instance_uuid"}])
until(N1, "reservation", None)
ask("its allocation may go", "DELETE", "/v1/allocations/f1")
ask("a patch of the failed", "PATCH", N1, [{"op": "add", "path": "/instance_info/image_source", "value": "http://y"}])
until(N1, "reservation", None)
ask("what failed is not provided", "PUT", N1 + "/states/provision", {"target": "provide"})
ask("it is tried again", "PUT", N1 + "/states/provision", {"target": "active"})
until(N1, "provision_state", "deploy failed")
until(N1, "reservation", None)
ask("the node, whose deployment failed again", "GET", N1 + SHORT)


def tell(n, name, why):
    print(f"ok {n} - {name}" if not why else f"not ok {n} - {name}\n# {why[:1500]}", flush=True)
    return bool(why)


def answers_of(service, story):
    """Plays the story with one of the two."""
    answers = []
    for step in story:
        if step[0] == "until":
            service.until(*step[1:])
        elif step[0] == "hold":
            service.hold(step[1])
        else:
            _, _, method, path, body, headers, _, text, keep = step
            answers.append(service.send(method, path, body, headers, text))
            if keep:
                service.ids[keep] = json.loads(answers[-1][2])["uuid"]
    return answers


def play(real, sim, story, n):
    failed = 0
    asked = [step for step in story if step[0] == "ask"]
    for step, answers in zip(asked, zip(answers_of(real, story), answers_of(sim, story))):
        n += 1
        failed += tell(n, step[1], compare(real, sim, answers, step[6]))
    return failed, n


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def play_credentials(real, sim, n):
    failed = 0
    for name, path, headers in (("the right password", "/v1/nodes?fields=name", basic("admin", TOKEN)),
                                ("no credential", "/v1/nodes", {}),
                                ("a wrong password", "/v1/nodes", basic("admin", "other")),
                                ("versions without a credential", "/", {})):
        n += 1
        answers = [s.send("GET", path, headers=headers) for s in (real, sim)]
        failed += tell(n, name, compare(real, sim, answers, {}))
    return failed, n


def run(program, where):
    services = []
    try:
        real = start_real(where)
        services.append(real)
        enroll(real)
        sim = start_sim(program, where)
        services.append(sim)
        failed, n = play(real, sim, STORY[:FAILING], 0)
        for s in services:
            s.close()
        services = []
        import bcrypt  # pylint: disable=import-outside-toplevel
        with open(os.path.join(where, "htpasswd"), "w", encoding="utf-8") as f:
            f.write("admin:" + bcrypt.hashpw(TOKEN.encode(), bcrypt.gensalt(4)).decode() + "\n")
        token = os.path.join(where, "token")
        with open(token, "w", encoding="utf-8") as f:
            f.write(TOKEN)
        os.chmod(token, 0o600)
        known = real.ids
        real = start_real(where, "http_basic", BROKEN)
        services.append(real)
        sim = start_sim(program, where, token, boot_fails=["*"], boot="0s")
        services.append(sim)
        real.ids = known
        real.headers = sim.headers = basic("admin", TOKEN)
        sim.ids.update((x["name"], x["uuid"]) for x in sim.get("/v1/nodes")["nodes"])
        more, n = play_credentials(real, sim, n)
        failed += more
        more, n = play(real, sim, STORY[FAILING:], n)
    finally:
        for s in services:
            s.close()
    print(f"1..{n}")
    return failed + more > 0


def main():
    where = tempfile.mkdtemp()
    try:
        return run(sys.argv[1], where)
    finally:
        shutil.rmtree(where, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
