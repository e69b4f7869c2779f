"""aws_policy.py DRIVER: the driver aws with the policy of docs/aws.md and of terraform/modules/iam/aws, as TAP.

moto verifies signatures, and with moto_rights.py rights by resource and condition.  What the driver does with that policy
is what aws.py has it do with all rights.
"""
import json
import os
import re
import sys

import aws
import tap
from aws import CLUSTER, REGION, want

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, "..", "..", "terraform", "modules", "iam", "aws", "burstd-policy.json.tftpl")
ACCOUNT = "123456789012"
NODE_ROLE = "burst-node"

tests = []


def test(fn):
    tests.append(fn)
    return fn


def rendered():
    """As templatefile() does: there are plain variables in it, and nothing else."""
    values = {"account": ACCOUNT, "partition": "aws", "uuid": CLUSTER,
              "queue": f"arn:aws:sqs:{REGION}:{ACCOUNT}:burstd", "node_role": f"arn:aws:iam::{ACCOUNT}:role/{NODE_ROLE}"}
    with open(FILE, encoding="ascii") as f:
        text = f.read()
    for name, value in values.items():
        text = text.replace("${" + name + "}", value)
    assert not re.search(r"[$%]\{", text), text
    return json.loads(text)


def give(w, policy):
    aws.client(w, "iam", w.key).put_user_policy(UserName="held", PolicyName="burstd", PolicyDocument=json.dumps(policy))


def held(w):
    """A user with that policy alone is the driver's from now on."""
    iam = aws.client(w, "iam", w.key)
    w.burstd = aws.make_user(iam, "held", False)
    iam.create_role(RoleName=NODE_ROLE, AssumeRolePolicyDocument=json.dumps(aws.TRUST))
    iam.create_instance_profile(InstanceProfileName=NODE_ROLE)
    iam.add_role_to_instance_profile(InstanceProfileName=NODE_ROLE, RoleName=NODE_ROLE)
    give(w, rendered())


# --- what aws.py tests, by a driver that may do no more than that -----------------------------------------------------

for whole in (aws.a_batch_is_launched_listed_and_terminated, aws.no_volume_is_left_behind_by_a_machine_that_was_terminated,
              aws.of_a_batch_that_comes_in_part_the_first_nodes_are_there, aws.a_fleet_buys_one_node_in_any_subnet, aws.types_and_prices_of_spot_instances_are_read,
              aws.notices_are_heard_through_a_queue_and_deleted_when_they_were):
    test(whole)


# --- not one right less ------------------------------------------------------------------------------------------------


class Life:
    """All that burstd asks of EC2, each by its name."""

    def __init__(self, w, d, fleet, queue, name):
        self.w, self.d, self.fleet_driver, self.queue, self.name = w, d, fleet, queue, name
        self.ids = []

    def launch(self, driver, *args):
        said = driver.run(**aws.create(*args))
        self.ids += [i["instance"]["id"] for i in said.get("items") or [] if i["code"] == "ok"]
        return said

    def one(self):
        if not self.ids:
            self.launch(self.d, f"{self.name}-one", ["c9"])
        return (self.ids or ["i-0123456789abcdef0"])[0]

    def ask(self, what):
        d, name = self.d, self.name
        return {
            "create": lambda: self.launch(d, f"{name}-t", ["c1"]),
            "fleet": lambda: self.launch(self.fleet_driver, f"{name}-f", ["f1"], aws.place(zone="", spot=True)),
            "list": lambda: d.run(kind="list", cursor=""),
            "types": lambda: d.run(kind="quotes", types=["g4dn.metal"], cursor=""),
            "prices": lambda: d.run(kind="quotes", types=["g4dn.metal"], cursor="p"),
            "topology": lambda: d.run(kind="topology", ids=[self.one()]),
            "console": lambda: d.run(kind="console", id=self.one()),
            "report": lambda: d.run(kind="report", id=self.one(), words="XID 79"),
            "group": lambda: d.run(kind="fabric-make", name=name),
            "groups": lambda: d.run(kind="fabric-list", cursor=""),
            "in group": lambda: self.launch(d, f"{name}-g", ["g1"], dict(aws.place(), fabric=name)),
            "notices": lambda: d.run(kind="notices", wait_ms=0),
            "read": self.read,
            "delete": lambda: d.run(kind="delete", ids=[self.one()]),
            "drop": lambda: (d.run(kind="fabric-make", name=f"{name}-d"), d.run(kind="fabric-drop", name=f"{name}-d"))[1],
        }[what]()

    def read(self):
        self.queue.send_message(QueueUrl=self.d.url, MessageBody=aws.event("interruption"))
        return self.d.run(kind="notices", ack=self.d.run(kind="notices", wait_ms=0)["ack"])


ALL = ["create", "fleet", "list", "types", "prices", "topology", "console", "report", "group", "groups", "in group",
       "notices", "read", "delete", "drop"]


def refused_with(w, policy, name, asked):
    """Which of these are refused for want of a right."""
    give(w, policy)
    with aws.queue(w, "burstd") as (sqs, url), aws.driver(w, notice_queue=url, instance_profile=NODE_ROLE) as d, \
            aws.driver(w, launch_template=w.template) as fleet:
        d.url, refused = url, set()
        life = Life(w, d, fleet, sqs, name)
        for what in asked:
            said = life.ask(what)
            if "denied" in [said["code"]] + [i["code"] for i in said.get("items") or []]:
                refused.add(what)
        if life.ids:
            w.ec2.terminate_instances(InstanceIds=life.ids)
        return refused


@test
def all_that_burstd_asks_is_allowed(w):
    want(refused_with(w, rendered(), "whole", ALL), set())


# What is refused without an action of a statement.
NEEDED = {
    "Look ec2:DescribeInstances": {"list"},
    "Look ec2:DescribeInstanceTypes": {"types"},
    "Look ec2:DescribeSpotPriceHistory": {"prices"},
    "Look ec2:DescribeInstanceTopology": {"topology"},
    "Launch ec2:RunInstances": {"create", "fleet", "in group"},
    "Launch ec2:CreateFleet": {"fleet"},
    "Tag ec2:CreateTags": {"create", "fleet", "in group"},
    "Terminate ec2:TerminateInstances": {"delete"},
    "Report ec2:ReportInstanceStatus": {"report"},
    "Console ec2:GetConsoleOutput": {"console"},
    "Notices sqs:ReceiveMessage": {"notices"},
    "Notices sqs:DeleteMessage": {"read"},
    "NodeRole iam:PassRole": {"create", "in group"},
    "GroupLook ec2:DescribePlacementGroups": {"groups"},
    "GroupMake ec2:CreatePlacementGroup": {"group"},
    "GroupTag ec2:CreateTags": {"group"},
    "GroupDrop ec2:DeletePlacementGroup": {"drop"},
}


def listed(value):
    return value if isinstance(value, list) else [value]


@test
def without_any_one_of_its_actions_something_is_refused(w):
    policy = rendered()
    want(sorted(f"{s['Sid']} {a}" for s in policy["Statement"] for a in listed(s["Action"])), sorted(NEEDED))
    for k, (right, expected) in enumerate(NEEDED.items()):
        sid, action = right.split(" ")
        less = json.loads(json.dumps(policy))
        for s in less["Statement"]:
            if s["Sid"] == sid:
                s["Action"] = [a for a in listed(s["Action"]) if a != action] or ["none:None"]
        want(refused_with(w, less, f"less-{k}", sorted(expected)), expected, right)
    give(w, policy)


# --- and nothing of others ---------------------------------------------------------------------------------------------


@test
def instances_of_others_are_neither_ended_nor_looked_into(w):
    theirs = w.ec2.run_instances(ImageId=w.image, MinCount=1, MaxCount=1, TagSpecifications=[
        {"ResourceType": "instance", "Tags": [{"Key": "burstd-cluster", "Value": "another"}]}])["Instances"][0]["InstanceId"]
    with aws.driver(w) as d:
        want(d.run(kind="delete", ids=[theirs])["code"], "denied")
        want(d.run(kind="console", id=theirs)["code"], "denied")
    state = w.ec2.describe_instances(InstanceIds=[theirs])["Reservations"][0]["Instances"][0]["State"]["Name"]
    want(state, "running")
    w.ec2.terminate_instances(InstanceIds=[theirs])


@test
def groups_of_others_stay_and_no_group_is_made_for_another_cluster(w):
    with aws.driver(w, credential=aws.credential(w.key)) as other, aws.driver(w) as d:
        want(other.run(kind="fabric-make", name="theirs", cluster="another")["code"] != "denied", True)
        want(d.run(kind="fabric-drop", name="theirs")["code"], "denied")
        want(d.run(kind="fabric-make", name="other", cluster="another")["code"], "denied")


@test
def tags_are_given_at_the_launch_alone(w):
    """Who could tag any instance as burstd's could end it, too."""
    theirs = w.ec2.run_instances(ImageId=w.image, MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    burstd = aws.client(w, "ec2", w.burstd)
    want(aws.refused(lambda: burstd.create_tags(Resources=[theirs], Tags=[{"Key": "burstd-cluster", "Value": CLUSTER}]))[0],
         "AccessDenied")
    w.ec2.terminate_instances(InstanceIds=[theirs])


@test
def queues_and_roles_of_others_are_not_used(w):
    with aws.queue(w, "theirs") as (_, url), aws.driver(w, notice_queue=url) as d:
        want(d.run(kind="notices", wait_ms=0)["code"], "denied")
    with aws.driver(w, instance_profile="admin") as d:
        want(d.run(**aws.create("t-role", ["c1"]))["code"], "denied")


def main():
    with aws.moto(sys.argv[1], (os.path.join(HERE, "moto_rights.py"),)) as w:
        held(w)
        return tap.run(tests, lambda fn: fn(w))


if __name__ == "__main__":
    sys.exit(main())
