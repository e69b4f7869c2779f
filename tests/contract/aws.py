"""aws.py DRIVER: the driver aws against services that know nothing of it, as TAP.

moto answers, and verifies signatures and rights; botocore, of the same vendor as EC2, says how each request is to be
written and signed.  moto ignores client tokens and never lacks capacity: those are for the unit tests.
"""
import base64
import datetime
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from contextlib import contextmanager

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions
import botocore.serialize
import botocore.session

import imds
import shell
import tap

REGION = "eu-west-1"
CLUSTER = "0a1b2c3d-0000-4000-8000-001122334455"
AT_MS = 1795000000000
POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
TRUST = {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]}

tests = []


def test(fn):
    tests.append(fn)
    return fn


class Driver(shell.Shell):
    """driver.c, and an HTTP client that adds nothing to what it says."""

    def __init__(self, program, conf):
        super().__init__(program, "aws", conf, send)

    def build(self, **op):
        op.setdefault("cluster", CLUSTER)
        op.setdefault("at_ms", int(time.time() * 1000))
        return self.ask(do="build", op=op)

    def run(self, **op):
        op.setdefault("cluster", CLUSTER)
        status, body = send(self.build(**op))
        return self.ask(do="parse", op=op, status=status, body=body)

    def login(self):
        for _ in range(8):
            said = self.run(kind="login")
            want(said["code"], "ok", said)
            if not self.ask(do="renew", session=said["session"])["more"]:
                return
        raise AssertionError("the login does not end")

    def list(self):
        said = self.run(kind="list", cursor="")
        want((said["code"], said["cursor"]), ("ok", ""), said)
        return said["instances"]


def send(rq):
    url = urllib.parse.urlsplit(rq["url"])
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    headers = dict(h.split(": ", 1) for h in rq["headers"])
    conn.request(rq["method"], url.path or "/", body=rq["body"] or None, headers=headers)
    reply = conn.getresponse()
    return reply.status, reply.read().decode()


def want(got, expected, about=None):
    if got != expected:
        raise AssertionError(f"{got!r} is not {expected!r}: {about!r}"[:2000])


def place(kind="g4dn.metal", zone=REGION + "a", spot=False):
    return {"type": kind, "region": REGION, "zone": zone, "market": "spot" if spot else "on-demand"}


def create(token, names, where=None, gen=1, group=0):
    return {"kind": "create", "token": token, "place": where or place(),
            "wants": [[n, gen, group] for n in names]}


def credential(key):
    text = f"[default]\naws_access_key_id = {key['AccessKeyId']}\naws_secret_access_key = {key['SecretAccessKey']}\n"
    return text


# --- moto -----------------------------------------------------------------------------------------------------------


class World:
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def client(w, service, key):
    return boto3.client(service, region_name=REGION, endpoint_url=w.url, aws_access_key_id=key["AccessKeyId"],
                        aws_secret_access_key=key["SecretAccessKey"])


def make_user(iam, name, allowed):
    iam.create_user(UserName=name)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    if allowed:
        iam.put_user_policy(UserName=name, PolicyName="all", PolicyDocument=json.dumps(POLICY))
    return key


@contextmanager
def moto(program, server=("-m", "moto.server")):
    w = World()
    w.program, port = program, free_port()
    w.url = f"http://127.0.0.1:{port}"
    # From the fourth request on signatures and rights are verified.
    env = dict(os.environ, INITIAL_NO_AUTH_ACTION_COUNT="3", MOTO_ENABLE_AMI_VALIDATION="true",
               MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION="true")
    log = open(os.path.join(os.environ.get("BUILD", "build"),
                            f"moto-{os.path.basename(sys.argv[0])[:-3]}.log"), "w")
    server = subprocess.Popen([sys.executable, *server, "-H", "127.0.0.1", "-p", str(port)], env=env,
                              stdout=log, stderr=log)
    try:
        for _ in range(300):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        w.key = make_user(client(w, "iam", {"AccessKeyId": "a", "SecretAccessKey": "b"}), "burstd", True)
        w.burstd = w.key  # the driver's; w.key is the test's own
        iam = client(w, "iam", w.key)
        w.poor = make_user(iam, "nobody", False)
        w.role = iam.create_role(RoleName="launcher", AssumeRolePolicyDocument=json.dumps(TRUST))["Role"]["Arn"]
        iam.put_role_policy(RoleName="launcher", PolicyName="all", PolicyDocument=json.dumps(POLICY))
        ec2 = client(w, "ec2", w.key)
        w.image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
        w.subnets = {s["AvailabilityZone"]: s["SubnetId"] for s in ec2.describe_subnets()["Subnets"]}
        w.group = ec2.describe_security_groups()["SecurityGroups"][0]["GroupId"]
        w.template = ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData={
            "ImageId": w.image, "SecurityGroupIds": [w.group]})["LaunchTemplate"]["LaunchTemplateId"]
        w.ec2 = ec2
        yield w
    finally:
        server.terminate()
        server.wait()
        log.close()


def conf_of(w, **more):
    conf = {"region": REGION, "url": w.url, "sts_url": w.url, "image": w.image, "credential": credential(w.burstd),
            "subnets": ",".join(f"{z}={s}" for z, s in sorted(w.subnets.items())), "security_groups": w.group}
    conf.update(more)
    return conf


@contextmanager
def driver(w, **more):
    d = Driver(w.program, conf_of(w, **more))
    try:
        yield d
    finally:
        d.close()


@test
def a_batch_is_launched_listed_and_terminated(w):
    with driver(w) as d:
        made = d.run(**create("t-1", ["c1", "c2", "c4"], gen=7, group=1))
        want([i["code"] for i in made["items"]], ["ok"] * 3, made)
        ids = [i["instance"]["id"] for i in made["items"]]
        want(len(set(ids)), 3)
        seen = d.list()
        want({i["id"]: (i["node"], i["gen"], i["cluster"]) for i in seen},
             dict(zip(ids, [(n, 7, CLUSTER) for n in ("c1", "c2", "c4")])))
        for i in seen:
            want(i["state"], 2, i)
            assert i["addr"] and abs(i["created_ms"] - time.time() * 1000) < 300000, i
        # EC2 itself, through somebody else's client, says the same.
        shown = [i for r in w.ec2.describe_instances(InstanceIds=ids)["Reservations"] for i in r["Instances"]]
        for i in shown:
            want(i["SubnetId"], w.subnets[REGION + "a"])
            want(i["SecurityGroups"][0]["GroupId"], w.group)
            tags = {t["Key"]: t["Value"] for t in i["Tags"]}
            want(tags, {"Name": "c[1-2,4]", "burstd-cluster": CLUSTER, "burstd-batch": "t-1",
                        "burstd-node": "c[1-2,4]", "burstd-generation": "7*3"})
        said = d.run(kind="console", id=ids[0])
        want((said["code"], bool(said["console"])), ("ok", True), said)
        theirs = w.ec2.get_console_output(InstanceId=ids[0])["Output"]
        want(said["console"].split(), theirs.split())
        want(d.run(kind="console", id="i-0123456789abcdef0")["code"], "invalid")
        gone = d.run(kind="delete", ids=ids)
        want([i["code"] for i in gone["items"]], ["ok"] * 3, gone)
        seen = d.list()
        want({i["state"] for i in seen}, {6}, seen)


@test
def no_volume_is_left_behind_by_a_machine_that_was_terminated(w):
    """F11.  EC2 deletes what it made with the instance, unless it was told otherwise; and no address is asked for."""
    before = {v["VolumeId"] for v in w.ec2.describe_volumes()["Volumes"]}
    with driver(w) as d:
        made = d.run(**create("t-disk", ["c1", "c2"], gen=9, group=1))
        ids = [i["instance"]["id"] for i in made["items"]]
        with_it = {v["VolumeId"] for v in w.ec2.describe_volumes()["Volumes"]} - before
        want(len(with_it), 2, "moto makes a volume for each")
        d.run(kind="delete", ids=ids)
    want({v["VolumeId"] for v in w.ec2.describe_volumes()["Volumes"]}, before)
    # (moto keeps the first network interface, which EC2 deletes: it is of the instance's own making, too.)
    want(w.ec2.describe_addresses()["Addresses"], [])


@test
def of_a_batch_that_comes_in_part_the_first_nodes_are_there(w):
    with driver(w) as d:  # moto makes MinCount instances
        said = d.run(**dict(create("t-6", []), wants=[["g1", 1, 1], ["g2", 1, 1], ["s1", 1, 0]]))
        want([i["code"] for i in said["items"]], ["ok", "ok", "capacity"], said)
        ids = [i["instance"]["id"] for i in said["items"][:2]]
        want([(i["id"], i["node"]) for i in d.list() if i["id"] in ids], list(zip(ids, ["g1", "g2"])))
        d.run(kind="delete", ids=ids)


@test
def an_id_that_ec2_does_not_know_is_told_from_the_others(w):
    with driver(w) as d:
        made = d.run(**create("t-2", ["c1"]))["items"][0]["instance"]["id"]
        said = d.run(kind="delete", ids=[made, "i-0123456789abcdef0"])
        want([i["code"] for i in said["items"]], ["transient", "not-found"], said)
        want(d.run(kind="delete", ids=[made])["items"][0]["code"], "ok")


@test
def a_large_batch_is_who_it_is(w):
    with driver(w) as d:
        names = [f"n{k:04}" for k in range(1, 301)]
        made = d.run(**create("t-big", names, group=1))
        want({i["code"] for i in made["items"]}, {"ok"}, made["message"])
        alive = {i["id"]: i["node"] for i in d.list() if i["state"] == 2}
        want(alive, {i["instance"]["id"]: n for i, n in zip(made["items"], names)})
        for k in range(0, 300, 250):
            want({i["code"] for i in d.run(kind="delete", ids=list(alive)[k:k + 250])["items"]}, {"ok"})


def send_page(w, rq, size):
    """The same request for a shorter page, signed by botocore: moto counts reservations, and a thousand take long."""
    body = rq["body"].replace("MaxResults=250", f"MaxResults={size}")
    made = botocore.awsrequest.AWSRequest("POST", rq["url"], data=body, headers={
        "Content-Type": "application/x-www-form-urlencoded; charset=utf-8"})
    key = botocore.credentials.Credentials(w.key["AccessKeyId"], w.key["SecretAccessKey"])
    botocore.auth.SigV4Auth(key, "ec2", REGION).add_auth(made)
    return send(dict(rq, body=body, headers=[f"{k}: {v}" for k, v in made.headers.items()]))


@test
def a_long_list_comes_in_pages(w):
    with driver(w) as d:
        ids = [d.run(**create(f"t-page-{k}", [f"p{k}"]))["items"][0]["instance"]["id"] for k in range(12)]
        cursor, seen, pages = "", [], 0
        while cursor or not pages:
            status, body = send_page(w, d.build(kind="list", cursor=cursor), 5)
            said = d.ask(do="parse", op={"kind": "list", "cursor": cursor, "cluster": CLUSTER}, status=status,
                         body=body)
            want(said["code"], "more" if said["cursor"] else "ok", said)
            seen, cursor, pages = seen + [i["id"] for i in said["instances"]], said["cursor"], pages + 1
        assert pages > 2 and set(ids) <= set(seen) and len(set(seen)) == len(seen), (pages, ids, seen)
        d.run(kind="delete", ids=ids)


@test
def a_fleet_buys_one_node_in_any_subnet(w):
    with driver(w, launch_template=w.template) as d:
        op = create("t-3", ["f1"], place(zone="", spot=True), gen=3)
        assert "Action=CreateFleet&" in d.build(**op)["body"]
        said = d.run(**op)
        want([i["code"] for i in said["items"]], ["ok"], said)
        seen = [i for i in d.list() if i["id"] == said["items"][0]["instance"]["id"]]
        want([(i["node"], i["gen"]) for i in seen], [("f1", 3)])


@test
def types_and_prices_of_spot_instances_are_read(w):
    with driver(w) as d:
        said = d.run(kind="quotes", types=["c5.large", "g4dn.metal"], cursor="")
        want((said["code"], said["cursor"]), ("more", "p"), said)
        want(sorted((o["type"], o["spot"], o["cpus"], o["gpus"], o["memory_mb"]) for o in said["quotes"]),
             [("c5.large", False, 2, 0, 4096), ("g4dn.metal", False, 96, 8, 393216)])
        said = d.run(kind="quotes", types=["c5.large", "g4dn.metal"], cursor="p")
        want((said["code"], said["cursor"]), ("ok", ""), said)
        assert said["quotes"]
        for o in said["quotes"]:
            assert o["type"] in ("c5.large", "g4dn.metal") and o["spot"] and o["price_nano_h"] > 0, o
        said = d.run(kind="quotes", types=["c5.large"], cursor="p", since_ms=AT_MS)
        want(said["code"], "ok", said)
        assert said["quotes"] and all(o["valid_from_ms"] > 0 for o in said["quotes"]), said


@test
def a_role_is_assumed_by_sts(w):
    with driver(w, role=w.role) as d:
        want(d.ask(do="good_until")["ms"], 0)
        d.login()
        left = d.ask(do="good_until")["ms"] / 1000 - time.time()
        assert 3000 < left < 3700, left
        assert any(h.startswith("X-Amz-Security-Token: ") for h in d.build(kind="list", cursor="")["headers"])
        d.list()


@test
def the_role_of_the_machine_is_found(w):
    got = client(w, "sts", w.key).assume_role(RoleArn=w.role, RoleSessionName="machine")["Credentials"]
    server = imds.make_server(0, {
        "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": got["AccessKeyId"],
        "SecretAccessKey": got["SecretAccessKey"], "Token": got["SessionToken"],
        "Expiration": got["Expiration"].strftime("%Y-%m-%dT%H:%M:%SZ")})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with driver(w, credential=None, metadata_url=f"http://127.0.0.1:{server.server_port}/") as d:
            d.login()
            d.list()
            want(d.ask(do="good_until")["ms"], int(got["Expiration"].timestamp()) * 1000)
    finally:
        server.shutdown()
        server.server_close()


@test
def a_wrong_key_and_a_right_that_is_missing_are_denied(w):
    for wrong in (dict(w.key, SecretAccessKey="x" * 40), w.poor):
        with driver(w, credential=credential(wrong)) as d:
            for op in ({"kind": "list", "cursor": ""}, create("t-4", ["c1"]), {"kind": "delete", "ids": ["i-0a"]}):
                said = d.run(**op)
                want(said["code"], "denied", said)
                assert wrong["SecretAccessKey"] not in json.dumps(said), said
            want(d.run(kind="list", cursor="")["message"] != "", True)


@test
def what_can_never_succeed_is_invalid(w):
    with driver(w, image="ami-0123456789abcdef0") as d:
        said = d.run(**create("t-5", ["c1"]))
        want(said["code"], "invalid", said)


# --- notices --------------------------------------------------------------------------------------------------------


def event(name, instance=None):
    """A fixture as EventBridge puts it into a queue."""
    with open(os.path.join("tests", "fixtures", "aws", f"event-{name}.json"), encoding="ascii") as f:
        text = f.read()
    return text.replace("i-1234567890abcdef0", instance) if instance else text


@contextmanager
def queue(w, name, **attributes):
    sqs = client(w, "sqs", w.key)
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    yield sqs, url
    sqs.delete_queue(QueueUrl=url)


def left(sqs, url):
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    return sum(int(v) for v in sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"].values())


@test
def notices_are_heard_through_a_queue_and_deleted_when_they_were(w):
    with queue(w, "burstd") as (sqs, url), driver(w, notice_queue=url) as d:
        want(d.run(kind="notices", wait_ms=0)["ack"], None)
        for body in (event("interruption", "i-0abc"), event("rebalance"), event("retirement"), event("state"), "what?"):
            sqs.send_message(QueueUrl=url, MessageBody=body)
        said = d.run(kind="notices", wait_ms=1000)
        want(said["code"], "ok", said)
        at = int(datetime.datetime.fromisoformat("2026-11-18T11:08:40+00:00").timestamp()) * 1000
        want(sorted((n["id"], n["kind"], n["at_ms"]) for n in said["notices"]),
             [("i-0abc", "reclaim", at), ("i-1234567890abcdef0", "rebalance", 0),
              ("i-abcd1111", "maintenance", 1796224209000), ("i-abcd2222", "maintenance", 1796224209000)])
        want((said["ended"], said["unread"]), (["i-abcd1111"], 1))
        want(d.run(kind="notices", wait_ms=0)["notices"], [])  # hidden, not gone
        want(left(sqs, url), 5)
        want(d.run(kind="notices", ack=said["ack"])["code"], "ok")
        want(left(sqs, url), 0)


@test
def a_request_for_notices_is_held_until_there_is_one(w):
    with queue(w, "slow") as (sqs, url), driver(w, notice_queue=url) as d:
        start = time.time()
        threading.Timer(1, lambda: sqs.send_message(QueueUrl=url, MessageBody=event("interruption"))).start()
        said = d.run(kind="notices", wait_ms=20000)
        want([n["kind"] for n in said["notices"]], ["reclaim"], said)
        assert 0.9 < time.time() - start < 10, time.time() - start


@test
def a_queue_that_is_not_there_or_not_ours_is_told(w):
    with driver(w, notice_queue=w.url + "/123456789012/nowhere") as d:
        said = d.run(kind="notices", wait_ms=0)
        want(said["code"], "invalid", said)
        assert said["message"], said
    with queue(w, "theirs") as (_, url), driver(w, notice_queue=url, credential=credential(w.poor)) as d:
        want(d.run(kind="notices", wait_ms=0)["code"], "denied")
    with queue(w, "late") as (_, url), driver(w, notice_queue=url) as d:
        said = d.run(kind="notices", ack="not-a-receipt")
        want(said["code"], "transient", said)


# --- botocore -------------------------------------------------------------------------------------------------------


def serialised(service, operation, params):
    model = botocore.session.get_session().get_service_model(service)
    protocol = model.metadata["protocol"]
    made = botocore.serialize.create_serializer(protocol, True).serialize_to_request(
        params, model.operation_model(operation))
    return {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in made["body"].items()}


def body_of(rq):
    pairs = urllib.parse.parse_qsl(rq["body"], keep_blank_values=True, strict_parsing=True)
    want(len(dict(pairs)), len(pairs))
    return dict(pairs)


TAGS = [("Name", "c[1-2],d1"), ("burstd-cluster", CLUSTER), ("burstd-batch", "tok"), ("burstd-node", "c[1-2],d1"),
        ("burstd-generation", "4*3")]


def tag_list(pairs):
    return [{"Key": k, "Value": v} for k, v in pairs]


@test
def run_instances_is_written_as_botocore_writes_it(w):
    conf = {"region": REGION, "image": "ami-1", "credential": credential(w.key), "key_name": "ops",
            "subnets": f"{REGION}a=subnet-a", "security_groups": "sg-1,sg-2", "instance_profile": "nodes",
            "user_data": "#!/bin/sh\necho \u00e9\n"}
    d = Driver(w.program, conf)
    got = body_of(d.build(**create("tok", ["c1", "c2", "d1"], place(spot=True), gen=4, group=9)))
    d.close()
    want(got, serialised("ec2", "RunInstances", {
        "ClientToken": "tok", "MinCount": 3, "MaxCount": 3, "InstanceType": "g4dn.metal", "ImageId": "ami-1",
        "KeyName": "ops", "IamInstanceProfile": {"Name": "nodes"},
        "UserData": base64.b64encode(conf["user_data"].encode()).decode(), "SubnetId": "subnet-a",
        "SecurityGroupIds": ["sg-1", "sg-2"],
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
        "InstanceInitiatedShutdownBehavior": "terminate",
        "InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": {
            "SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}},
        "TagSpecifications": [{"ResourceType": "instance", "Tags": tag_list(TAGS)},
                              {"ResourceType": "volume", "Tags": tag_list(TAGS[1:2])}]}))


@test
def reserved_capacity_is_asked_for_as_botocore_does(w):
    conf = {"region": REGION, "launch_template": "nodes:7", "credential": credential(w.key)}
    d = Driver(w.program, conf)
    got = body_of(d.build(**create("tok", ["c1"], dict(place(), market="reserved"))))
    d.close()
    want({k: v for k, v in got.items() if not k.startswith("TagSpec")}, serialised("ec2", "RunInstances", {
        "ClientToken": "tok", "MinCount": 1, "MaxCount": 1, "InstanceType": "g4dn.metal",
        "Placement": {"AvailabilityZone": REGION + "a"},
        "LaunchTemplate": {"LaunchTemplateName": "nodes", "Version": "7"},
        "CapacityReservationSpecification": {"CapacityReservationPreference": "capacity-reservations-only"},
        "InstanceInitiatedShutdownBehavior": "terminate"}))


@test
def a_reservation_and_a_capacity_block_are_asked_for_as_botocore_does(w):
    group = "arn:aws:resource-groups:eu-west-1:1:group/burst"
    spec = "CapacityReservationSpecification"
    for target, expected in (
            ("cr-1", {spec: {"CapacityReservationPreference": "capacity-reservations-only",
                             "CapacityReservationTarget": {"CapacityReservationId": "cr-1"}}}),
            (group, {spec: {"CapacityReservationPreference": "capacity-reservations-only",
                            "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": group}}}),
            ("block:cr-1", {"InstanceMarketOptions": {"MarketType": "capacity-block"},
                            spec: {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}}})):
        d = Driver(w.program, {"region": REGION, "launch_template": "nodes:7", "credential": credential(w.key),
                               "reservations": "g4dn.metal=" + target})
        got = body_of(d.build(**create("tok", ["c1"], dict(place(), market="reserved"))))
        d.close()
        want({k: v for k, v in got.items() if not k.startswith("TagSpec")}, serialised("ec2", "RunInstances", {
            "ClientToken": "tok", "MinCount": 1, "MaxCount": 1, "InstanceType": "g4dn.metal",
            "Placement": {"AvailabilityZone": REGION + "a"},
            "LaunchTemplate": {"LaunchTemplateName": "nodes", "Version": "7"},
            "InstanceInitiatedShutdownBehavior": "terminate", **expected}))


@test
def requests_to_a_queue_are_written_and_signed_as_botocore_does(w):
    url = f"https://sqs.{REGION}.amazonaws.com/123456789012/burstd"
    key = {"AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
    d = Driver(w.program, {"region": REGION, "image": "ami-1", "credential": credential(key), "notice_queue": url})
    model = botocore.session.get_session().get_service_model("sqs")
    for op, name, params in (
            ({"wait_ms": 20000, "cursor": ""}, "ReceiveMessage",
             {"QueueUrl": url, "MaxNumberOfMessages": 10, "VisibilityTimeout": 30, "WaitTimeSeconds": 20}),
            ({"ack": "r/1=\nr2"}, "DeleteMessageBatch",
             {"QueueUrl": url, "Entries": [{"Id": "0", "ReceiptHandle": "r/1="}, {"Id": "1", "ReceiptHandle": "r2"}]})):
        rq = d.build(kind="notices", at_ms=AT_MS, **op)
        made = botocore.serialize.create_serializer(model.metadata["protocol"], True).serialize_to_request(
            params, model.operation_model(name))
        want((rq["method"], rq["url"]), (made["method"], f"https://sqs.{REGION}.amazonaws.com/"))
        want(json.loads(rq["body"]), json.loads(made["body"]))
        headers = dict(h.split(": ", 1) for h in rq["headers"])
        for header in ("Content-Type", "X-Amz-Target"):
            want(headers[header], made["headers"][header])
        signed = botocore.awsrequest.AWSRequest("POST", rq["url"], data=rq["body"], headers={
            k: headers[k] for k in ("Content-Type", "X-Amz-Target", "X-Amz-Date")})
        signed.context["timestamp"] = headers["X-Amz-Date"]
        signer = botocore.auth.SigV4Auth(
            botocore.credentials.Credentials(key["AccessKeyId"], key["SecretAccessKey"]), "sqs", REGION)
        canonical = signer.canonical_request(signed)
        want(headers["Authorization"].rsplit("=", 1)[1], signer.signature(signer.string_to_sign(signed, canonical), signed),
             canonical)
    d.close()


@test
def a_template_and_a_zone_are_written_as_botocore_writes_them(w):
    conf = {"region": REGION, "launch_template": "nodes:7", "credential": credential(w.key),
            "instance_profile": "arn:aws:iam::1:instance-profile/n"}
    d = Driver(w.program, conf)
    got = body_of(d.build(**create("tok", ["c1", "c2"])))
    d.close()
    want({k: v for k, v in got.items() if not k.startswith("TagSpec")}, serialised("ec2", "RunInstances", {
        "ClientToken": "tok", "MinCount": 1, "MaxCount": 2, "InstanceType": "g4dn.metal",
        "IamInstanceProfile": {"Arn": "arn:aws:iam::1:instance-profile/n"},
        "Placement": {"AvailabilityZone": REGION + "a"},
        "LaunchTemplate": {"LaunchTemplateName": "nodes", "Version": "7"},
        "InstanceInitiatedShutdownBehavior": "terminate"}))


@test
def create_fleet_is_written_as_botocore_writes_it(w):
    conf = {"region": REGION, "launch_template": "lt-1", "credential": credential(w.key),
            "subnets": f"{REGION}a=subnet-a,{REGION}b=subnet-b"}
    d = Driver(w.program, conf)
    tags = tag_list([("Name", "c1"), ("burstd-cluster", CLUSTER), ("burstd-batch", "tok"), ("burstd-node", "c1"),
                     ("burstd-generation", "1")])
    template = {"LaunchTemplateId": "lt-1", "Version": "$Default"}
    for spot in (True, False):
        got = body_of(d.build(**create("tok", ["c1"], place(zone="", spot=spot))))
        overrides = [{"InstanceType": "g4dn.metal", "SubnetId": s} for s in ("subnet-a", "subnet-b")]
        options = {"MinTargetCapacity": 1, "SingleInstanceType": True, "SingleAvailabilityZone": True}
        want_rq = {"Type": "instant", "ClientToken": "tok", "TargetCapacitySpecification": {
            "TotalTargetCapacity": 1, "DefaultTargetCapacityType": "spot" if spot else "on-demand"},
            "LaunchTemplateConfigs": [{"LaunchTemplateSpecification": template, "Overrides": overrides}],
            "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}]}
        if spot:
            want_rq["SpotOptions"] = dict(options, AllocationStrategy="price-capacity-optimized",
                                          InstanceInterruptionBehavior="terminate")
        else:
            want_rq["OnDemandOptions"] = dict(options, AllocationStrategy="prioritized")
            for k, o in enumerate(overrides):
                o["Priority"] = k
        want(got, serialised("ec2", "CreateFleet", want_rq))
    d.close()


@test
def the_other_requests_are_written_as_botocore_writes_them(w):
    d = Driver(w.program, {"region": REGION, "image": "ami-1", "credential": credential(w.key), "role": "arn:aws:iam::1:role/r"})
    want(body_of(d.build(kind="list", cursor="C/+=")), serialised("ec2", "DescribeInstances", {
        "Filters": [{"Name": "tag:burstd-cluster", "Values": [CLUSTER]}], "MaxResults": 250, "NextToken": "C/+="}))
    want(body_of(d.build(kind="delete", ids=["i-1", "i-2"])),
         serialised("ec2", "TerminateInstances", {"InstanceIds": ["i-1", "i-2"]}))
    want(body_of(d.build(kind="report", id="i-1", words="XID 79")), serialised("ec2", "ReportInstanceStatus", {
        "Instances": ["i-1"], "Status": "impaired", "ReasonCodes": ["other"]}))
    want(body_of(d.build(kind="topology", ids=["i-1", "i-2"])),
         serialised("ec2", "DescribeInstanceTopology", {"InstanceIds": ["i-1", "i-2"]}))
    want(body_of(d.build(kind="console", id="i-1")), serialised("ec2", "GetConsoleOutput", {
        "InstanceId": "i-1", "Latest": True}))
    want(body_of(d.build(kind="quotes", types=["g4dn.metal", "x"], cursor="tN+")),
         serialised("ec2", "DescribeInstanceTypes", {
             "Filters": [{"Name": "instance-type", "Values": ["g4dn.metal", "x"]}], "MaxResults": 100,
             "NextToken": "N+"}))
    got = body_of(d.build(kind="quotes", types=["g4dn.metal"], cursor="p", at_ms=AT_MS))
    at = datetime.datetime.fromisoformat(got["StartTime"].replace("Z", "+00:00"))
    want(at.timestamp(), AT_MS / 1000)
    got["StartTime"] = "x"
    expected = serialised("ec2", "DescribeSpotPriceHistory", {
        "StartTime": at, "ProductDescriptions": ["Linux/UNIX"],
        "Filters": [{"Name": "instance-type", "Values": ["g4dn.metal"]}], "MaxResults": 1000})
    want(got, dict(expected, StartTime="x"))
    # The past: from then on, and to now, as there is no EndTime.
    got = body_of(d.build(kind="quotes", types=["g4dn.metal"], cursor="p", at_ms=AT_MS, since_ms=AT_MS - 86400000))
    at = datetime.datetime.fromisoformat(got["StartTime"].replace("Z", "+00:00"))
    want(at.timestamp(), AT_MS / 1000 - 86400)
    want(dict(got, StartTime="x"), dict(expected, StartTime="x"))
    want(body_of(d.build(kind="login")), serialised("sts", "AssumeRole", {
        "RoleArn": "arn:aws:iam::1:role/r", "RoleSessionName": "burstd", "DurationSeconds": 3600}))
    d.close()


@test
def placement_groups_are_written_as_botocore_writes_them(w):
    d = Driver(w.program, {"region": REGION, "image": "ami-1", "credential": credential(w.key)})
    want(body_of(d.build(kind="fabric-make", name="g-1")), serialised("ec2", "CreatePlacementGroup", {
        "GroupName": "g-1", "Strategy": "cluster",
        "TagSpecifications": [{"ResourceType": "placement-group", "Tags": tag_list(TAGS[1:2])}]}))
    want(body_of(d.build(kind="fabric-list", cursor="")), serialised("ec2", "DescribePlacementGroups", {
        "Filters": [{"Name": "tag:burstd-cluster", "Values": [CLUSTER]}]}))
    want(body_of(d.build(kind="fabric-drop", name="g-1")),
         serialised("ec2", "DeletePlacementGroup", {"GroupName": "g-1"}))
    got = body_of(d.build(**create("tok", ["c1", "c2"], dict(place(), fabric="tok"), group=3)))
    d.close()
    want({k: v for k, v in got.items() if not k.startswith("TagSpec")}, serialised("ec2", "RunInstances", {
        "ClientToken": "tok", "MinCount": 2, "MaxCount": 2, "InstanceType": "g4dn.metal", "ImageId": "ami-1",
        "Placement": {"AvailabilityZone": REGION + "a", "GroupName": "tok"},
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
        "InstanceInitiatedShutdownBehavior": "terminate"}))


@test
def a_request_is_signed_as_botocore_signs_it(w):
    key = {"AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
    conf = {"region": REGION, "image": "ami-1", "url": "http://127.0.0.1:4711/",
            "credential": credential(key) + "aws_session_token = TOK/EN+==\n"}
    d = Driver(w.program, conf)
    rq = d.build(kind="list", cursor="", at_ms=AT_MS)
    d.close()
    headers = dict(h.split(": ", 1) for h in rq["headers"])
    made = botocore.awsrequest.AWSRequest("POST", rq["url"], data=rq["body"],
                                          headers={"Content-Type": headers["Content-Type"]})
    signer = botocore.auth.SigV4Auth(botocore.credentials.Credentials(key["AccessKeyId"], key["SecretAccessKey"],
                                                                      "TOK/EN+=="), "ec2", REGION)
    made.context["timestamp"] = headers["X-Amz-Date"]
    when = datetime.datetime.fromtimestamp(AT_MS / 1000, datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    want(headers["X-Amz-Date"], when)
    made.headers["X-Amz-Date"] = when
    made.headers["X-Amz-Security-Token"] = "TOK/EN+=="
    canonical = signer.canonical_request(made)
    signature = signer.signature(signer.string_to_sign(made, canonical), made)
    want(headers["Authorization"].rsplit("=", 1)[1], signature, canonical)
    want(headers["X-Amz-Security-Token"], "TOK/EN+==")


# --- simcloud's face of EC2, as others see it -----------------------------------------------------------------------


@contextmanager
def simcloud(w, key, service="ec2"):
    """The program, and a client of botocore's, which signs and reads by itself."""
    with tempfile.TemporaryDirectory() as place_of:
        path = os.path.join(place_of, "key")
        with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600), encoding="ascii") as f:
            f.write(credential(key))
        with subprocess.Popen([os.path.join(os.path.dirname(w.program), "simcloud"), "--aws-key-file", path],
                              stdout=subprocess.PIPE, text=True) as proc:
            try:
                url = proc.stdout.readline().strip()
                yield boto3.client(service, region_name=REGION, endpoint_url=url,
                                   aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"],
                                   config=botocore.config.Config(retries={"total_max_attempts": 1}))
            finally:
                proc.terminate()


SIMCLOUD_KEY = {"AccessKeyId": "AKIDLAB", "SecretAccessKey": "lab/secret+key"}


def sim_run(ec2, n, **more):
    return ec2.run_instances(ImageId="ami-1", InstanceType="gpu_8x_h100", MinCount=1, MaxCount=n,
                             SubnetId=f"subnet-{REGION}a", **more)


@test
def simclouds_instances_are_read_by_botocore(w):
    tags = [{"Key": "burstd-cluster", "Value": CLUSTER}, {"Key": "a&b", "Value": "<c>"}]
    with simcloud(w, SIMCLOUD_KEY) as ec2:
        made = sim_run(ec2, 12, ClientToken="t", TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
                       InstanceMarketOptions={"MarketType": "spot"}, UserData="#!/bin/sh")
        want([i["AmiLaunchIndex"] for i in made["Instances"]], list(range(12)))
        pages = list(ec2.get_paginator("describe_instances").paginate(
            Filters=[{"Name": "tag:burstd-cluster", "Values": [CLUSTER]}], PaginationConfig={"PageSize": 5}))
        want(len(pages), 3)
        seen = [i for p in pages for r in p["Reservations"] for i in r["Instances"]]
        want([i["InstanceId"] for i in seen], [i["InstanceId"] for i in made["Instances"]])
        want(seen[0]["Tags"], tags)
        want((seen[0]["InstanceLifecycle"], seen[0]["Placement"]["AvailabilityZone"]), ("spot", REGION + "a"))
        assert abs(seen[0]["LaunchTime"].timestamp() - time.time()) < 60, seen[0]["LaunchTime"]
        ec2.get_waiter("instance_running").wait(InstanceIds=[], Filters=[
            {"Name": "tag:burstd-cluster", "Values": [CLUSTER]}], WaiterConfig={"Delay": 1, "MaxAttempts": 20})
        ec2.report_instance_status(Instances=[seen[0]["InstanceId"]], Status="impaired", ReasonCodes=["unresponsive"])
        said = ec2.get_console_output(InstanceId=seen[0]["InstanceId"], Latest=True)
        want(said["InstanceId"], seen[0]["InstanceId"])
        assert f"instance {said['InstanceId']} of type gpu_8x_h100\n" in said["Output"], said
        ids = [i["InstanceId"] for i in seen[:2]]
        where = ec2.describe_instance_topology(InstanceIds=ids)["Instances"]
        want([(i["InstanceId"], i["InstanceType"], i["NetworkNodes"], i["AvailabilityZone"]) for i in where],
             [(i, "gpu_8x_h100", [f"nn-{REGION}a"], REGION + "a") for i in ids])
        want(refused(lambda: ec2.describe_instance_topology(InstanceIds=ids + ["i-0123"])),
             ("InvalidInstanceID.NotFound", 400))
        gone = ec2.terminate_instances(InstanceIds=[seen[0]["InstanceId"]])["TerminatingInstances"]
        want([g["CurrentState"]["Name"] in ("shutting-down", "terminated") for g in gone], [True])


@test
def simclouds_prices_types_and_fleets_are_read_by_botocore(w):
    with simcloud(w, SIMCLOUD_KEY) as ec2:
        kinds = ec2.describe_instance_types(Filters=[{"Name": "instance-type", "Values": ["gpu_8x_h100"]}])
        want([k["InstanceType"] for k in kinds["InstanceTypes"]], ["gpu_8x_h100"])
        prices = ec2.describe_spot_price_history(Filters=[{"Name": "instance-type", "Values": ["gpu_8x_h100"]}],
                                                 ProductDescriptions=["Linux/UNIX"])
        want([(p["AvailabilityZone"], float(p["SpotPrice"])) for p in prices["SpotPriceHistory"]],
             [(REGION + "a", 11.8), (REGION + "b", 11.8)])
        fleet = ec2.create_fleet(
            Type="instant", TargetCapacitySpecification={"TotalTargetCapacity": 1, "DefaultTargetCapacityType": "spot"},
            LaunchTemplateConfigs=[{
                "LaunchTemplateSpecification": {"LaunchTemplateName": "nodes", "Version": "1"},
                "Overrides": [{"InstanceType": "none", "SubnetId": f"subnet-{REGION}a"},
                              {"InstanceType": "gpu_8x_h100", "SubnetId": f"subnet-{REGION}b"}]}])
        want([len(i["InstanceIds"]) for i in fleet["Instances"]], [1])
        want([e["LaunchTemplateAndOverrides"]["Overrides"]["InstanceType"] for e in fleet["Errors"]], ["none"])


@test
def simclouds_queue_is_read_by_botocore(w):
    with simcloud(w, SIMCLOUD_KEY, "sqs") as sqs:
        base = sqs.meta.endpoint_url
        url = base + "/123456789012/any"
        ec2 = boto3.client("ec2", region_name=REGION, endpoint_url=base, aws_access_key_id=SIMCLOUD_KEY["AccessKeyId"],
                           aws_secret_access_key=SIMCLOUD_KEY["SecretAccessKey"])
        made = sim_run(ec2, 1)["Instances"][0]["InstanceId"]
        want("Messages" in sqs.receive_message(QueueUrl=url), False)
        for kind in ("reclaim", "rebalance", "maintenance"):
            conn = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc)
            conn.request("POST", "/admin/reclaim", json.dumps({"id": made, "kind": kind, "notice_ms": 90000}))
            want(conn.getresponse().status, 200)
        said = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=20)["Messages"]
        events = [json.loads(m["Body"]) for m in said]
        want([e["detail-type"] for e in events], ["EC2 Spot Instance Interruption Warning",
                                                  "EC2 Instance Rebalance Recommendation", "AWS Health Event"])
        for e, name in zip(events, ("interruption", "rebalance", "retirement")):
            like = json.loads(event(name))
            want(set(e) - set(like), set())
            want(set(e["detail"]) - set(like["detail"]), set())
        gone = sqs.delete_message_batch(QueueUrl=url, Entries=[
            {"Id": str(k), "ReceiptHandle": m["ReceiptHandle"]} for k, m in enumerate(said)] + [
                {"Id": "x", "ReceiptHandle": "nothing"}])
        want(([g["Id"] for g in gone["Successful"]], [g["Id"] for g in gone["Failed"]]), (["0", "1", "2"], ["x"]))
        try:
            sqs.purge_queue(QueueUrl=url)
            raise AssertionError("it does not purge")
        except botocore.exceptions.ClientError as e:
            want(e.response["Error"]["Code"], "UnknownOperationException")


@test
def simclouds_placement_groups_are_read_by_botocore(w):
    tags = [{"Key": "burstd-cluster", "Value": CLUSTER}]
    with simcloud(w, SIMCLOUD_KEY) as ec2:
        made = ec2.create_placement_group(GroupName="g", Strategy="cluster", TagSpecifications=[
            {"ResourceType": "placement-group", "Tags": tags}])["PlacementGroup"]
        want((made["GroupName"], made["State"], made["Tags"]), ("g", "available", tags))
        seen = ec2.describe_placement_groups(Filters=[{"Name": "tag:burstd-cluster", "Values": [CLUSTER]}])
        want([(g["GroupName"], g["Strategy"]) for g in seen["PlacementGroups"]], [("g", "cluster")])
        made = sim_run(ec2, 2, Placement={"GroupName": "g"})["Instances"]
        want([i["Placement"]["GroupName"] for i in made], ["g", "g"])
        want(refused(lambda: ec2.delete_placement_group(GroupName="g")), ("InvalidPlacementGroup.InUse", 400))
        want(refused(lambda: ec2.create_placement_group(GroupName="g", Strategy="cluster")),
             ("InvalidPlacementGroup.Duplicate", 400))
        want(refused(lambda: sim_run(ec2, 1, Placement={"GroupName": "h"})), ("InvalidPlacementGroup.Unknown", 400))
        ec2.terminate_instances(InstanceIds=[i["InstanceId"] for i in made])
        time.sleep(0.1)
        ec2.delete_placement_group(GroupName="g")
        want(refused(lambda: ec2.delete_placement_group(GroupName="g")), ("InvalidPlacementGroup.Unknown", 400))


def refused(call):
    try:
        call()
    except botocore.exceptions.ClientError as e:
        return e.response["Error"]["Code"], e.response["ResponseMetadata"]["HTTPStatusCode"]
    return None


@test
def simclouds_refusals_are_read_by_botocore(w):
    with simcloud(w, SIMCLOUD_KEY) as ec2:
        want(refused(lambda: ec2.terminate_instances(InstanceIds=["i-1"])), ("InvalidInstanceID.NotFound", 400))
        want(refused(lambda: ec2.describe_volumes()), ("InvalidAction", 400))
        want(refused(lambda: sim_run(ec2, 1, EbsOptimized=True)), ("UnknownParameter", 400))
        other = boto3.client("ec2", region_name=REGION, endpoint_url=ec2.meta.endpoint_url, aws_access_key_id="AKIDLAB",
                             aws_secret_access_key="other")
        want(refused(other.describe_instances), ("AuthFailure", 401))


def main():
    with moto(sys.argv[1]) as w:
        return tap.run(tests, lambda fn: fn(w))


if __name__ == "__main__":
    sys.exit(main())
