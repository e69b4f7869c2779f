"""ironic_keystone.py BIN KEYSTONE: the driver ironic, and `burstctl provider check`, against Ironic 39 which asks a
real Keystone for tokens, as TAP.

KEYSTONE is the virtual environment that has it: no one environment has both.  Ironic's policies are as it comes: a
machine has an owner or a lessee, and each user of USERS may do something else with it.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack

import ironic
import ironic_driver
import openstack
import openstack_driver
import tap
from ironic_driver import CLUSTER, PLACE, want
from shell import Shell

OWN = {"image": "http://images/node.qcow2", "user_data": "#!/bin/sh\necho \"x\"\n"}
PASSWORD = "s3cret.of-a-user"
ROLE = "operator"  # which Ironic's policies do not know
# The user, of which project, with which role.
USERS = {"burstd": ("hpc", "member"), "looker": ("hpc", "reader"), "stranger": ("hpc", ROLE),
         "tenant": ("rent", "member"), "manager": ("rent", "manager"), "poor": ("nothing", "member")}
OWNED, LEASED = ["own-0", "own-1"], ["rent-0"]  # by hpc, to rent

# A token is looked at each time: one that was revoked is not good for some minutes more.
GUARD = """[keystone_authtoken]
auth_type=password
auth_url={url}/v3
www_authenticate_uri={url}/v3
username=admin
password={password}
project_name=admin
user_domain_id=default
project_domain_id=default
token_cache_time=-1
"""
BURSTD = """cluster = "lab"
currency = "EUR"
state_dir = "{dir}"
provider "metal" {{
	driver = "ironic"
	url = "{url}"
	credential_file = "{dir}/secret"
	user = "{user}"
	project = "{project}"
	address = "name"
}}
pool "metal" {{
	nodes = "metal-[1-2]"
	provider = "metal"
	type = "h100"
	region = "here"
	market = "on-demand"
	price = "12.50"
	max_nodes = 2
	max_rate = "25"
}}
"""

tests = []


def test(fn):
    tests.append(fn)
    return fn


class Cloud(ironic_driver.Cloud):
    """The driver, logged in as one of USERS; each request goes where it says."""

    def __init__(self, w, who="burstd", **conf):
        self.w = w
        super().__init__(w.ironic, w.program, **OWN, **w.login_of(who, **conf))
        w.stack.callback(self.driver.close)

    def send(self, rq):
        self.token = dict(h.split(": ", 1) for h in rq["headers"]).get("X-Auth-Token", "")
        status, self.said, body = openstack_driver.send(rq)
        return status, body

    def revoke(self):
        self.w.admin("DELETE", openstack.TOKENS, headers={"X-Subject-Token": self.token})


def refused(w, **conf):
    """What a login says that must not succeed."""
    driver = Shell(w.program, "ironic", w.login_of("burstd", **conf), None)
    op = {"kind": "login"}
    status, headers, body = openstack_driver.send(driver.ask(do="build", op=op))
    said = driver.ask(do="parse", op=op, status=status, headers=headers, body=body)
    driver.close()
    return said


def denied(said, words):
    want((said["code"], words in said["message"]), ("denied", True), said)


# --- logins ---------------------------------------------------------------------------------------------------------


@test
def a_password_leads_to_ironic(w):
    c = Cloud(w)
    until = c.driver.ask(do="good_until")["ms"] / 1000
    want(3500 < until - time.time() < 3700, True, until)
    asked = c.driver.ask(do="build", op={"kind": "list", "cluster": CLUSTER})
    want(asked["url"].startswith(f"http://127.0.0.1:{w.ironic.port}/v1/nodes?"), True, asked)
    want(c.list(), {})


@test
def ids_are_names_to_a_login(w):
    Cloud(w, user_domain="Default", project_domain="Default", region="R1").list()
    Cloud(w, user=w.ids["burstd"], project=w.ids["hpc"]).list()


@test
def an_application_credential_has_its_project(w):
    for conf in ({"user": "", "application_credential": w.ids["bursts"]}, {"application_credential": "bursts"}):
        ironic_driver.which_classes_there_are(Cloud(w, project="", credential="of it", **conf))


@test
def wrong_credentials_are_denied(w):
    for conf in ({"credential": "wrong"}, {"project": "nosuch"}, {"project": "rent"}, {"user": "nosuch"},
                 {"user": "", "project": "", "application_credential": w.ids["bursts"], "credential": "wrong"}):
        denied(refused(w, **conf), "requires authentication")
    denied(refused(w, user="", project="", application_credential="0" * 32), "Could not find Application Credential")


@test
def a_region_without_ironic_is_said(w):
    said = refused(w, region="R7")
    want((said["code"], "a public endpoint of baremetal in region R7" in said["message"]), ("transient", True), said)


# --- machines -------------------------------------------------------------------------------------------------------


@test
def the_owners_member_has_them(w):
    for story in (ironic_driver.a_machine_is_allocated_deployed_listed_and_undeployed,
                  ironic_driver.without_a_machine_nothing_is_left,
                  ironic_driver.which_classes_there_are):
        story(Cloud(w))


def revoked_at_work(c, steps, **op):
    """An operation before whose steps, each once, the token is revoked; what it says in the end.  steps: the first
    letters of its cursors."""
    denied_at = set()
    for _ in ironic.patiently(0.1):
        step = op.get("cursor", "")[:1]
        if step not in denied_at:
            c.revoke()
            said = c.step(op)
            denied(said, "requires authentication")
            want((said["for_good"], said["items"]), (False, []), said)
            c.login()
            denied_at.add(step)
        said = c.step(op)
        if said["code"] == "ok" and "not-yet" not in [i["code"] for i in said["items"]]:
            want(sorted(denied_at), sorted(["", *steps]))
            return said
        if said["code"] in ("more", "ok"):
            op["cursor"] = said["cursor"]
    raise AssertionError(f"it does not end: {said}")


@test
def a_token_that_is_revoked_at_work_needs_a_login_and_no_more(w):
    c = Cloud(w)
    c.list()
    said = revoked_at_work(c, "clnd", kind="create", token="t", place=PLACE, wants=[["n1", 1, 0]])
    one = said["items"][0]["instance"]["id"]
    c.becomes(one, "running")
    said = revoked_at_work(c, "a", kind="list")
    want([i["id"] for i in said["instances"]], [one], said)
    revoked_at_work(c, "ld", kind="delete", ids=[one])
    c.becomes(one, None)
    c.settled()


# --- rights ---------------------------------------------------------------------------------------------------------


@test
def a_reader_may_look_and_is_told_that_he_may_not_allocate(w):
    c = Cloud(w, "looker")
    ironic_driver.which_classes_there_are(c)
    denied(c.create("n1"), "baremetal:allocation:create")
    c.settled()


@test
def who_has_no_role_of_ironics_is_told_so(w):
    c = Cloud(w, "stranger")
    denied(c.run(kind="list"), "baremetal:node:list")
    denied(c.run(kind="quotes", types=["h100"]), "baremetal:node:list")
    denied(c.create("n1"), "baremetal:allocation:create")


@test
def machines_of_other_projects_are_no_capacity(w):
    c = Cloud(w, "poor")
    want(c.run(kind="quotes", types=["h100"])["quotes"], [])
    want(c.create("n1")["code"], "capacity")
    c.settled()


@test
def a_lessees_member_may_allocate_and_not_deploy(w):
    c = Cloud(w, "tenant")
    said = c.create("n1")
    denied(said, "baremetal:node:update_instance_info")
    want(said["for_good"], True, said)
    c.settled()


@test
def a_lessees_manager_has_them(w):
    ironic_driver.a_machine_is_allocated_deployed_listed_and_undeployed(Cloud(w, "manager"))


# --- burstctl -------------------------------------------------------------------------------------------------------


def check(w, user="burstd", credential=PASSWORD):
    with tempfile.TemporaryDirectory() as where:
        os.mkdir(os.path.join(where, "state"), 0o700)
        for name, text in (("secret", credential), ("burstd.conf", BURSTD.format(
                dir=where, url=w.keystone.keystone + "/v3", user=user, project=USERS[user][0]))):
            with open(os.path.join(where, name), "w", opener=lambda p, f: os.open(p, f, 0o600), encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run([os.path.join(w.bin, "burstctl"), "provider", "check", "metal",
                               os.path.join(where, "burstd.conf")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
    return done.returncode, done.stdout


@test
def burstctl_tells_whether_it_would_serve(w):
    want_check = {
        (): (0, "ok: credential: taken\nok: list: ", "ok: quotes: 1\n", "ok: pool \"metal\": h100 in here, "),
        ("looker",): (0, "not tried: rights: "),
        ("stranger",): (1, "not ok: credential: refused: Access was denied to ", "baremetal:node:list"),
        ("poor",): (1, "ok: credential: taken\nok: list: ", "not ok: quotes: invalid: none at all"),
        ("burstd", "wrong"): (1, "not ok: credential: refused: The request you have made requires authentication.",
                              "not tried: list: without a session"),
    }
    for args, (status, *lines) in want_check.items():
        got, said = check(w, *args)
        want((got, [x for x in lines if x not in said]), (status, []), said)


# --- starting -------------------------------------------------------------------------------------------------------


class World:
    """Keystone with USERS, Ironic behind it with machines, and the programs."""

    def __init__(self, stack, bin_dir, keystone):
        self.stack, self.bin, self.program, self.ids = stack, bin_dir, os.path.join(bin_dir, "driver"), {}
        where = tempfile.mkdtemp()
        stack.callback(shutil.rmtree, where, ignore_errors=True)
        self.keystone = openstack.Side("real", "", openstack.start(stack, [
            *ironic.ENDS_WITH_US, "env", f"PYTHONPYCACHEPREFIX={keystone}/pycache", f"{keystone}/bin/python", "-P",
            os.path.join(openstack.HERE, "openstack_keystone.py"), f"{keystone}/keystone"], where))
        self.token = self.token_for(openstack.SCOPE)
        self.people()
        self.start_ironic(where)

    def token_for(self, scope):
        return openstack.token_of(self.keystone.identity("POST", openstack.TOKENS, openstack.password(scope)))

    def admin(self, method, path, body=None, headers=None):
        said = self.keystone.identity(method, path, body, {"X-Auth-Token": self.token, **(headers or {})})
        want(said.status // 100, 2, (method, path, said.json))
        return said.json

    def made(self, kind, **more):
        """A thing of Keystone's: its id."""
        return self.admin("POST", f"/v3/{kind}s", {kind: more})[kind]["id"]

    def people(self):
        roles = {r["name"]: r["id"] for r in self.admin("GET", "/v3/roles")["roles"]}
        roles[ROLE] = self.made("role", name=ROLE)
        for project in {project for project, _ in USERS.values()}:
            self.ids[project] = self.made("project", name=project)
        for user, (project, role) in USERS.items():
            self.ids[user] = self.made("user", name=user, password=PASSWORD)
            self.admin("PUT", f"/v3/projects/{self.ids[project]}/users/{self.ids[user]}/roles/{roles[role]}")
        own = self.keystone.identity("POST", openstack.TOKENS, openstack.password(
            {"project": {"id": self.ids["hpc"]}}, name="burstd", password=PASSWORD))
        self.ids["bursts"] = self.admin(
            "POST", f"/v3/users/{self.ids['burstd']}/application_credentials",
            {"application_credential": {"name": "bursts", "secret": "of it"}},
            {"X-Auth-Token": openstack.token_of(own)})["application_credential"]["id"]

    def endpoint(self, service, interface, url):
        self.made("endpoint", service_id=service, interface=interface, region_id="R1", url=url)

    def start_ironic(self, where):
        here = self.keystone.keystone
        identity, = self.admin("GET", "/v3/services?type=identity")["services"]
        self.endpoint(identity["id"], "internal", here + "/v3")  # where Ironic's guard asks
        ironic.NODES = OWNED + LEASED
        ironic.CONF += GUARD.format(url=here, password=openstack.SECRET)
        self.ironic = ironic.start_real(where, "keystone")
        self.stack.callback(self.ironic.close)
        self.ironic.switches_on = False
        self.ironic.headers = {"X-Auth-Token": self.token_for({"system": {"all": True}})}
        self.endpoint(self.made("service", type="baremetal", name="ironic"), "public",
                      f"http://127.0.0.1:{self.ironic.port}")
        ironic.enroll(self.ironic)
        for names, rights in ((OWNED, {"owner": self.ids["hpc"]}), (LEASED, {"lessee": self.ids["rent"]})):
            for name in names:
                self.ironic.send("PATCH", "/v1/nodes/" + name,
                                 [{"op": "add", "path": "/" + k, "value": v} for k, v in rights.items()])

    def login_of(self, who, **conf):
        return {"url": self.keystone.keystone + "/v3", "credential": PASSWORD, "user": who,
                "project": USERS[who][0], **conf}


def main():
    with ExitStack() as stack:
        w = World(stack, *map(os.path.abspath, sys.argv[1:]))
        return tap.run(tests, lambda fn: fn(w))


if __name__ == "__main__":
    sys.exit(main())
