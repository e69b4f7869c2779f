"""moto_rights.py MOTO'S ARGUMENTS: moto's server, which judges rights of EC2, SQS and Secrets Manager by resources and
conditions, too.

moto itself asks only for the action, of the resource "*", and takes every condition of a policy as not met.  Which resources
and which keys of a condition belong to an action is in AWS's Service Authorization Reference; here is what burstd needs.
moto has no placement groups: whose they are is remembered here, and what is allowed ends as an error of the server.
"""
import fnmatch
import json
import sys

from moto.ec2.models import ec2_backends
from moto.iam import access_control
from moto.server import main


GROUPS = {}  # name: its tags, as keys of conditions


def numbered(data, name):
    """Values of NAME, or of NAME.1, NAME.2, and so on."""
    k, out = 1, [data[name]] if name in data else []
    while f"{name}.{k}" in data:
        out.append(data[f"{name}.{k}"])
        k += 1
    return out


def requested_tags(data):
    tags = {}
    for key, value in data.items():
        part = key.split(".")
        if part[0] == "TagSpecification" and part[-1] == "Key":
            tags["aws:RequestTag/" + value] = data[key[:-len("Key")] + "Value"]
    return tags


class Asked:
    """One request of EC2's or SQS's: what it needs, each an action, a resource and the keys of conditions."""

    def __init__(self, action, account, region, data, body):
        self.action, self.account, self.region, self.data, self.body = action, account, region, data, body
        self.ec2 = ec2_backends[account][region]

    def arn(self, what):
        return f"arn:aws:ec2:{self.region}:{self.account}:{what}"

    def tags_of(self, what):
        return {"aws:ResourceTag/" + t["key"]: t["value"] for t in self.ec2.describe_tags({"resource-id": [what]})}

    def instances(self):
        """One that is not there has no tags; taken to be told as such, which aws.py tests."""
        known = {i.id for r in self.ec2.reservations.values() for i in r.instances}
        return [(self.action, self.arn("instance/" + i), self.tags_of(i))
                for i in numbered(self.data, "InstanceId") if i in known]

    def tagged(self, by, resource):
        tags = requested_tags(self.data)
        return [("ec2:CreateTags", resource, {**tags, "ec2:CreateAction": by})] if tags else []

    def launch(self):
        tags, data = requested_tags(self.data), self.data
        made = [(self.action, self.arn(kind + "/*"), tags) for kind in ("instance", "volume", "network-interface")]
        others = [(k, v) for k, v in (("image", data.get("ImageId")), ("subnet", data.get("SubnetId")),
                                      ("key-pair", data.get("KeyName"))) if v]
        others += [("security-group", g) for g in numbered(data, "SecurityGroupId")]
        others += [("placement-group", data[k]) for k in ("Placement.GroupName",) if k in data]
        needs = made + [(self.action, self.arn(f"{k}/{v}"), {}) for k, v in others]
        profile = data.get("IamInstanceProfile.Name")
        if profile:
            needs.append(("iam:PassRole", f"arn:aws:iam::{self.account}:role/{profile}", {}))
        return needs + self.tagged("RunInstances", self.arn("instance/*"))

    def fleet(self):
        return [(self.action, self.arn("fleet/*"), {}), ("ec2:RunInstances", self.arn("instance/*"), {})] + \
            self.tagged("CreateFleet", self.arn("instance/*"))

    def group(self):
        name = self.data["GroupName"]
        resource = self.arn("placement-group/" + name)
        if self.action == "ec2:CreatePlacementGroup":
            return [(self.action, resource, requested_tags(self.data))] + self.tagged("CreatePlacementGroup", resource)
        return [(self.action, resource, GROUPS.get(name, {}))]

    def queue(self):
        url = json.loads(self.body)["QueueUrl"] if self.body else self.data["QueueUrl"]
        action = self.action.replace("DeleteMessageBatch", "DeleteMessage")
        return [(action, f"arn:aws:sqs:{self.region}:{self.account}:" + url.rsplit("/", 1)[1], {})]

    def secret(self):
        return [(self.action, json.loads(self.body).get("SecretId", "*"), {})]

    def needs(self):
        name = self.action.split(":")[1]
        if self.action.startswith("sqs:") and "Message" in name:
            return self.queue()
        if self.action.startswith("secretsmanager:"):
            return self.secret()
        if name in ("TerminateInstances", "GetConsoleOutput", "ReportInstanceStatus"):
            return self.instances()
        return {"RunInstances": self.launch, "CreateFleet": self.fleet, "CreatePlacementGroup": self.group,
                "DeletePlacementGroup": self.group}.get(name, lambda: [(self.action, "*", {})])()


def listed(value):
    return value if isinstance(value, list) else [value]


def any_of(patterns, text):
    return any(fnmatch.fnmatchcase(text.lower(), p.lower()) for p in listed(patterns))


def met(statement, keys):
    for operator, wanted in statement.get("Condition", {}).items():
        if operator != "StringEquals":
            raise ValueError(f"{operator}: what is that?")
        if not all(keys.get(k) in listed(v) for k, v in wanted.items()):
            return False
    return True


def allows(policies, need):
    """A statement that denies wins; without one that allows nothing is."""
    action, resource, keys = need
    effects = [s["Effect"] for p in policies for s in listed(p["Statement"])
               if any_of(s["Action"], action) and any_of(s["Resource"], resource) and met(s, keys)]
    return "Allow" in effects and "Deny" not in effects


def document(policy):
    if isinstance(policy, str):
        return json.loads(policy)
    if isinstance(policy, dict):
        return json.loads(policy["policy_document"])
    return json.loads(next(v for v in policy.versions if v.is_default).document)


def flat(data):
    return {k: v[0] if isinstance(v, list) else v for k, v in data.items()}


def check_action_permitted(self, resource, was=access_control.IAMRequestBase.check_action_permitted):
    if not self._action.startswith(("ec2:", "sqs:", "secretsmanager:")):
        was(self, resource)
        return
    policies = [document(p) for p in self._access_key.collect_policies()]
    asked = Asked(self._action, self.account_id, self._region, flat(self._data), self._body)
    for need in asked.needs():
        if not allows(policies, need):
            print("refused", *need, flush=True)
            self._raise_access_denied()
    if self._action == "ec2:CreatePlacementGroup":
        GROUPS[asked.data["GroupName"]] = {k.replace("Request", "Resource"): v for k, v in requested_tags(asked.data).items()}


access_control.IAMRequestBase.check_action_permitted = check_action_permitted

if __name__ == "__main__":
    main(sys.argv[1:])
