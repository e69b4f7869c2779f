#!/usr/bin/env python3
"""apply.py DRIVER PROGRAM PLUGINS WORK: examples/aws-new-cluster applied to moto and destroyed again, aws-hybrid applied, as
TAP.

moto verifies signatures and rights.  PROGRAM is terraform or tofu, PLUGINS a mirror with hashicorp/aws, WORK a folder.
tests/contract has what talks to moto.
"""
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "contract"))

import aws  # noqa: E402  pylint: disable=wrong-import-position
import aws_policy  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position
from aws import want  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM, PLUGINS, WORK = (os.path.abspath(a) for a in sys.argv[2:5])
BURSTCTL = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "burstctl")
HERE_NOT = (": the spool, where hooks leave their calls: ", ": ca_file: /etc/burstd/", ": credential_file: /etc/burstd/")

tests = []


def test(fn):
    tests.append(fn)
    return fn


class Example:
    """One example in a folder of its own."""

    def __init__(self, w, name, variables):
        self.place = os.path.join(WORK, "examples", name)
        self.env = dict(os.environ, AWS_ENDPOINT_URL=w.url, AWS_ACCESS_KEY_ID=w.key["AccessKeyId"],
                        AWS_SECRET_ACCESS_KEY=w.key["SecretAccessKey"], AWS_REGION=aws.REGION,
                        AWS_EC2_METADATA_DISABLED="true", AWS_MAX_ATTEMPTS="3")
        self.env.pop("TF_CLI_CONFIG_FILE", None)
        with open(os.path.join(self.place, "terraform.tfvars.example"), encoding="ascii") as f:
            text = f.read()
        for old, new in (("ami-0123456789abcdef0", w.image), ("ami-0fedcba9876543210", w.image)):
            text = text.replace(old, new)
        with open(os.path.join(self.place, "terraform.tfvars"), "w", encoding="ascii") as f:
            f.write(text)
        with open(os.path.join(self.place, "test.auto.tfvars"), "w", encoding="ascii") as f:
            f.write("".join(f"{k} = {json.dumps(v)}\n" for k, v in variables.items()))
        self.run("init", f"-plugin-dir={PLUGINS}")

    def run(self, *args, fails=False):
        done = subprocess.run([PROGRAM, f"-chdir={self.place}", args[0], "-no-color", *args[1:]], env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False, timeout=900)
        if (done.returncode != 0) != fails:
            raise AssertionError(f"{args}: status {done.returncode}: {done.stdout[-3000:]}")
        return done.stdout

    def output(self, name):
        return json.loads(self.run("output", "-json", name))

    def state(self):
        with open(os.path.join(self.place, "terraform.tfstate"), encoding="utf-8") as f:
            return f.read()

    def differs(self):
        """What another apply would change."""
        self.run("plan", "-out=again")
        plan = json.loads(self.run("show", "-json", "again"))
        with open(os.path.join(self.place, "again.json"), "w", encoding="utf-8") as f:
            json.dump(plan, f)
        out = set()
        for c in plan["resource_changes"]:
            if c["change"].get("replace_paths") == [["static_routes_only"]]:
                continue
            if c["change"]["actions"] in (["no-op"], ["read"]):
                continue
            before, after = c["change"]["before"] or {}, c["change"]["after"] or {}
            out |= {(c["type"], k) for k in set(before) | set(after) if before.get(k) != after.get(k)}
        return out


def inventory(w):
    """All that an account has which somebody must have made, by its kind."""
    ec2, iam = w.ec2, aws.client(w, "iam", w.key)
    instances = [i for r in ec2.describe_instances()["Reservations"] for i in r["Instances"]]
    return {
        "instances": {i["InstanceId"] for i in instances if i["State"]["Name"] != "terminated"},
        "volumes": {v["VolumeId"] for v in ec2.describe_volumes()["Volumes"]},
        "vpcs": {v["VpcId"] for v in ec2.describe_vpcs()["Vpcs"]},
        "subnets": {s["SubnetId"] for s in ec2.describe_subnets()["Subnets"]},
        "groups": {g["GroupId"] for g in ec2.describe_security_groups()["SecurityGroups"]},
        "tables": {t["RouteTableId"] for t in ec2.describe_route_tables()["RouteTables"]},
        "gateways": {g["InternetGatewayId"] for g in ec2.describe_internet_gateways()["InternetGateways"]},
        "endpoints": {e["VpcEndpointId"] for e in ec2.describe_vpc_endpoints()["VpcEndpoints"] if e["State"] != "deleted"},
        "vpn": {v["VpnConnectionId"] for v in ec2.describe_vpn_connections()["VpnConnections"] if v["State"] != "deleted"},
        "addresses": {a["AllocationId"] for a in ec2.describe_addresses()["Addresses"]},
        "roles": {r["RoleName"] for r in iam.list_roles()["Roles"]},
        "users": {u["UserName"] for u in iam.list_users()["Users"]},
        "profiles": {p["InstanceProfileName"] for p in iam.list_instance_profiles()["InstanceProfiles"]},
        "policies": {p["PolicyName"] for p in iam.list_policies(Scope="Local")["Policies"]},
        "queues": set(aws.client(w, "sqs", w.key).list_queues().get("QueueUrls", [])),
        "rules": {r["Name"] for r in aws.client(w, "events", w.key).list_rules()["Rules"]},
        "secrets": {s["Name"] for s in aws.client(w, "secretsmanager", w.key).list_secrets()["SecretList"]},
    }


def burstd_takes(text, name):
    path = os.path.join(WORK, f"{name}.conf")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as f:
        f.write(text)
    done = subprocess.run([BURSTCTL, "config", "check", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    # Files of burstd's host are not here; all else must be right.
    wrong = [line for line in done.stdout.strip().split("\n") if not line.startswith("note: ")
             and not (line.endswith(": No such file or directory") and any(w in line for w in HERE_NOT))]
    assert done.returncode == 0 or not wrong, done.stdout
    return path


def provider_options(text):
    """The provider's section, as burstd reads it."""
    section = re.search(r'provider "ec2" \{\n(.*?)\n\}', text, re.S).group(1)
    return dict(re.findall(r'\t(\w+) = "(.*)"', section))


def burstd_of(w, text, key):
    """burstd's driver with what burstd.conf says, as the principal that was made for it."""
    options = provider_options(text)
    w.burstd = key
    return aws.driver(w, subnets=options["subnets"], security_groups=options["security_groups"], image=options["image"],
                      notice_queue=options["notice_queue"])


def reach(w, ids, works):
    """What stands for the controller: a burstctl whose `terminate` ends these instances, or one that does not get to it."""
    folder = os.path.join(WORK, "reach")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    end = os.path.join(folder, "end.py")
    with open(end, "w", encoding="ascii") as f:
        f.write(f"import boto3\nboto3.client('ec2', endpoint_url={w.url!r}, region_name={aws.REGION!r}, "
                f"aws_access_key_id={w.key['AccessKeyId']!r}, aws_secret_access_key={w.key['SecretAccessKey']!r})"
                f".terminate_instances(InstanceIds={sorted(ids)!r})\n")
    with open(os.open(os.path.join(folder, "burstctl"), os.O_WRONLY | os.O_CREAT, 0o755), "w", encoding="ascii") as f:
        f.write(f"""#!/bin/sh
echo "$*" >>{folder}/said
case "$*" in
"terminate --all --yes") {sys.executable + " " + end + f" && touch {folder}/gone" if works else "true"} ;;
"nodes --json") if [ -e {folder}/gone ]; then s=gone; else s=ready; fi
  echo '{{"nodes": [{{"name": "h1", "state": "none"}}, {{"name": "h2", "state": "'$s'"}}]}}' ;;
"status --json") echo '{{"providers": [{{"name": "aws", "ok": true, "ok_ms": 1, "error": ""}}], "problems": []}}' ;;
esac
""")
    return f"env PATH={folder}:/usr/bin:/bin", folder


def statements(policy):
    return sorted(json.dumps(s, sort_keys=True) for s in policy["Statement"])


# What moto forgets: the description of a rule that names a group, the groups of an instance with a public address.  A VPN's
# connection has no options there, and would be replaced for its static routes.
FORGOTTEN = {("aws_vpc_security_group_ingress_rule", "description"), ("aws_vpc_security_group_egress_rule", "description"),
             ("aws_instance", "vpc_security_group_ids")}


# --- a new cluster ------------------------------------------------------------------------------------------------------


@test
def a_new_cluster_is_applied_and_another_apply_changes_nothing(w):
    w.before = inventory(w)
    w.reach, w.folder = reach(w, [], False)
    w.new = Example(w, "aws-new-cluster", {"reach": w.reach, "recovery_days": 0})
    said = w.new.run("apply", "-auto-approve")
    assert re.search(r"Apply complete! Resources: \d+ added", said), said
    want(w.new.differs() - FORGOTTEN, set())


@test
def what_it_costs_is_shown_before(w):
    cost = w.new.output("cost_per_hour")
    want(cost, {"m6i.large": 0.107, "GB of gp3": 0.006, "public IPv4 address": 0.005})
    want(w.new.output("burst_at_most_per_hour"), 60)


@test
def burstd_takes_the_burstd_conf_of_a_new_cluster(w):
    w.conf = w.new.output("burstd_conf")
    burstd_takes(w.conf, "new")
    options = provider_options(w.conf)
    want(options["account"], aws_policy.ACCOUNT)
    want(sorted(z.split("=")[0] for z in options["subnets"].split(",")), [aws.REGION + "a", aws.REGION + "b"])
    # The same is on the controller.
    made = [i for r in w.ec2.describe_instances()["Reservations"] for i in r["Instances"] if i["PrivateIpAddress"] == "10.60.255.10"]
    want(len(made), 1)
    data = w.ec2.describe_instance_attribute(InstanceId=made[0]["InstanceId"], Attribute="userData")["UserData"]["Value"]
    assert len(data) <= 4 * 16384 / 3, len(data)


@test
def the_policy_that_was_made_is_that_of_the_document(w):
    iam = aws.client(w, "iam", w.key)
    arn = f"arn:aws:iam::{aws_policy.ACCOUNT}:policy/falcon-burstd"
    made = iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"]
    w.uuid = re.search(r'"aws:ResourceTag/burstd-cluster": "([^"]*)"', json.dumps(made)).group(1)
    expected = json.loads(json.dumps(aws_policy.rendered()).replace(aws.CLUSTER, w.uuid).replace(":burstd\"", ":falcon-burstd\""))
    expected["Statement"] = [s for s in expected["Statement"] if s["Sid"] != "NodeRole"]
    want(statements(made), statements(expected))


@test
def the_role_of_the_controller_buys_there_and_has_no_other_right(w):
    """By its own policy, as moto has it: in the subnets and groups of burstd.conf."""
    iam = aws.client(w, "iam", w.key)
    names = {p["PolicyName"] for p in iam.list_attached_role_policies(RoleName="falcon-burstd")["AttachedPolicies"]}
    want(names, {"falcon-burstd", "falcon-keys"})
    key = aws.make_user(iam, "as-controller", False)
    for name in names:
        iam.attach_user_policy(UserName="as-controller", PolicyArn=f"arn:aws:iam::{aws_policy.ACCOUNT}:policy/{name}")
    with burstd_of(w, w.conf, key) as d:
        made = d.run(cluster=w.uuid,
                     **aws.create("t-new", ["h100-1", "h100-2"], aws.place("g4dn.metal", aws.REGION + "b"), group=1))
        want([i["code"] for i in made["items"]], ["ok", "ok"], made)
        w.ids = [i["instance"]["id"] for i in made["items"]]
        want({i["id"] for i in d.run(kind="list", cursor="", cluster=w.uuid)["instances"]}, set(w.ids))
        want(d.run(kind="notices", wait_ms=0)["code"], "ok")
    secret = aws.client(w, "secretsmanager", w.key).list_secrets()["SecretList"][0]["ARN"]
    aws.client(w, "secretsmanager", w.key).put_secret_value(SecretId=secret, SecretBinary=b"{}")
    reader = aws.client(w, "secretsmanager", key)
    want(reader.get_secret_value(SecretId=secret)["SecretBinary"], b"{}")
    want(aws.refused(lambda: reader.put_secret_value(SecretId=secret, SecretBinary=b"x"))[1], 403)
    iam.detach_user_policy(UserName="as-controller", PolicyArn=f"arn:aws:iam::{aws_policy.ACCOUNT}:policy/falcon-keys")
    iam.detach_user_policy(UserName="as-controller", PolicyArn=f"arn:aws:iam::{aws_policy.ACCOUNT}:policy/falcon-burstd")
    iam.delete_access_key(UserName="as-controller", AccessKeyId=key["AccessKeyId"])
    iam.delete_user(UserName="as-controller")


@test
def no_secret_is_in_the_state(w):
    """Neither a resource that has one, nor a value: there are scripts in it, which make some on the controller."""
    state = json.loads(w.new.state())
    kinds = {r["type"] for r in state["resources"]}
    want(kinds & {"aws_secretsmanager_secret_version", "aws_iam_access_key", "aws_key_pair", "random_password"}, set())
    for r in state["resources"]:
        for k in r["instances"]:
            want(k.get("sensitive_attributes") or [], [], r["type"])


@test
def while_a_node_is_left_nothing_is_destroyed(w):
    before = inventory(w)
    w.new.env["PATH"] = os.environ["PATH"]
    script = os.path.join(WORK, "modules", "guard", "empty.sh")
    text = open(script, encoding="ascii").read()
    with open(script, "w", encoding="ascii") as f:  # as if a quarter of an hour was over
        f.write(text.replace("left=${1:-900}", "left=0"))
    said = w.new.run("destroy", "-auto-approve", fails=True)
    with open(script, "w", encoding="ascii") as f:
        f.write(text)
    assert "nothing else is destroyed" in said, said
    want(inventory(w), before)
    want(open(os.path.join(w.folder, "said"), encoding="ascii").read().split("\n")[:3],
         ["pause", "terminate --all --yes", "nodes --json"])


@test
def destroy_terminates_the_nodes_first_and_leaves_nothing(w):
    reach(w, w.ids, True)
    said = w.new.run("destroy", "-auto-approve")
    assert said.index("burstd has no node any more") < said.index(": Destroying...", said.index("guard.terraform_data.nodes: Dest") + 30), said
    now = inventory(w)
    want({k: now[k] - w.before[k] for k in now if now[k] != w.before[k]}, {})


# --- a cluster that is there ---------------------------------------------------------------------------------------------


@test
def a_cluster_of_the_sites_gets_a_network_and_a_user(w):
    path, _ = reach(w, [], True)
    # moto has no routes of a VPN's connection.
    main_tf = os.path.join(WORK, "examples", "aws-hybrid", "main.tf")
    text = open(main_tf, encoding="ascii").read()
    less = re.sub(r'resource "aws_vpn_connection_route" .*?\n}\n', "", text, flags=re.S)
    assert less != text
    with open(main_tf, "w", encoding="ascii") as f:
        f.write(less)
    hybrid = Example(w, "aws-hybrid", {"reach": path})
    hybrid.run("apply", "-auto-approve")
    want(hybrid.differs() - FORGOTTEN, set())
    conf = hybrid.output("burstd_conf")
    burstd_takes(conf, "hybrid")
    want(provider_options(conf)["credential_file"], "/etc/burstd/ec2.key")
    # The key that the admin makes, which is not in the state.
    key = aws.client(w, "iam", w.key).create_access_key(UserName="falcon-burstd")["AccessKey"]
    with burstd_of(w, conf, key) as d:
        made = d.run(**aws.create("t-h", ["h100-1"], aws.place("g4dn.metal", aws.REGION + "a"), group=1))
        want([i["code"] for i in made["items"]], ["ok"], made)
    group = provider_options(conf)["security_groups"]
    allowed = w.ec2.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [group]}])["SecurityGroupRules"]
    want({(r.get("CidrIpv4"), r["FromPort"], r["ToPort"]) for r in allowed if not r["IsEgress"] and r.get("CidrIpv4")},
         {("192.0.2.10/32", 6818, 6818), ("192.0.2.20/31", 6818, 6818)})
    # moto cannot list all that a user may have, which the provider asks before it deletes one: nothing is destroyed here.


def main():
    with aws.moto(sys.argv[1], (os.path.join(ROOT, "tests", "contract", "moto_rights.py"),)) as w:
        return tap.run(tests, lambda fn: fn(w))


if __name__ == "__main__":
    sys.exit(main())
