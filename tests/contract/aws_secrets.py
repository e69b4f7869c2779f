"""aws_secrets.py STORE: burstd's session with Secrets Manager against moto, which verifies signatures and rights, as TAP."""
import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager

import aws
import imds
from aws import want

KEY = base64.b64encode(os.urandom(64)).decode()
CONF = """
cluster = "prod"
currency = "EUR"
secrets {{
    driver = "aws"
    address = "{url}"
    sts_url = "{url}"
    region = "{region}"
    name = "{name}"
    release = "{release}"
    poll = "1s"
    timeout = "5s"
    {more}
}}
provider "sim" {{
    driver = "sim"
}}
pool "p" {{
    nodes = "n1"
    provider = "sim"
    type = "t"
    region = "r"
    max_nodes = "1"
    max_rate = "1"
}}
"""

tests = []


def test(fn):
    tests.append(fn)
    return fn


class Store:
    """tests/contract/store/store.c"""

    def __init__(self, program, conf):
        self.log = tempfile.TemporaryFile("w+")
        self.proc = subprocess.Popen([program, conf], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                     text=True)
        self.events = []
        self.nodes = 0

    def read(self, key):
        while True:
            said = json.loads(self.proc.stdout.readline())
            if key in said:
                return said
            self.events.append(said)

    def ask(self, line, key):
        self.proc.stdin.write(line + "\n")
        self.proc.stdin.flush()
        return self.read(key)

    def status(self, **wanted):
        for _ in range(100):
            said = self.ask("status", "phase")
            if all(said[k] == v for k, v in wanted.items()):
                return said
            time.sleep(0.1)
        raise AssertionError(f"{said!r} has not {wanted!r}")

    def rotation(self, **wanted):
        for _ in range(100):
            said = self.ask("rotation", "rotation")
            if all(said[k] == v for k, v in wanted.items()):
                return said
            time.sleep(0.1)
        raise AssertionError(f"{said!r} has not {wanted!r}: {self.events!r}")

    def step(self, *words):
        for word in words:
            self.proc.stdin.write(f"step {word}\n")
        self.proc.stdin.flush()

    def rotate(self, kind, key=None):
        """With a credential of its own, which is read when it begins."""
        if key is not None:
            write_key(self.key, key)
        self.proc.stdin.write(f"rotate {kind}\n")
        self.proc.stdin.flush()

    def keys(self):
        return self.ask("broker", "node")

    def said(self):
        self.log.seek(0)
        return self.log.read()


def write_key(path, key):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
        f.write(aws.credential(key))


@contextmanager
def store(w, name, key=None, release="broker", more=""):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "key")
        if key is not None:
            write_key(path, key)
            more += f'\ncredential_file = "{path}"'
        conf = os.path.join(d, "burstd.conf")
        with open(os.open(conf, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write(CONF.format(url=w.url, region=aws.REGION, name=name, release=release, more=more))
        s = Store(w.program, conf)
        s.key = path
        try:
            yield s
        finally:
            s.proc.stdin.close()
            s.proc.wait()


def manager(w):
    return aws.client(w, "secretsmanager", w.key)


def bundle(kid="1"):
    return json.dumps({"munge_key": KEY, "kid": kid})


@test
def a_binary_bundle_is_read(w):
    made = manager(w).create_secret(Name="binary", SecretBinary=bundle().encode())
    with store(w, made["ARN"], w.key) as s:
        want(s.status(ready=True)["version"], made["VersionId"])
        got = s.keys()
        want(json.loads(got["bundle"]), json.loads(bundle()))
        want(got["version"], made["VersionId"])


@test
def a_bundle_as_text_is_read(w):
    manager(w).create_secret(Name="text", SecretString=bundle())
    with store(w, "text", w.key) as s:
        s.status(ready=True)
        want(json.loads(s.keys()["bundle"]), json.loads(bundle()))


@test
def a_lone_key_as_parallelcluster_stores_it_is_read(w):
    manager(w).create_secret(Name="lone", SecretString=KEY)
    with store(w, "lone", w.key) as s:
        s.status(ready=True)
        want(json.loads(s.keys()["bundle"]), {"munge_key": KEY})


@test
def a_new_version_is_seen(w):
    sm = manager(w)
    sm.create_secret(Name="turns", SecretBinary=bundle("1").encode())
    with store(w, "turns", w.key) as s:
        s.status(ready=True)
        second = sm.put_secret_value(SecretId="turns", SecretBinary=bundle("2").encode())["VersionId"]
        s.status(version=second)
        got = s.keys()
        want((json.loads(got["bundle"])["kid"], got["version"]), ("2", second))


@test
def a_wrong_key_and_a_right_that_is_missing_are_refused(w):
    manager(w).create_secret(Name="denied", SecretBinary=bundle().encode())
    for wrong in (dict(w.key, SecretAccessKey="x" * 40), dict(w.key, AccessKeyId="AKIANOBODY"), w.poor):
        with store(w, "denied", wrong) as s:
            said = s.status(phase="refused")
            assert said["error"] != "", said
            assert "error" in s.keys()
            assert wrong["SecretAccessKey"] not in s.said(), s.said()


@test
def a_secret_that_is_not_there_is_told_of(w):
    with store(w, "nothing", w.key) as s:
        for _ in range(50):
            if "ResourceNotFoundException" in s.status()["error"]:
                break
            time.sleep(0.1)
        assert "ResourceNotFoundException" in s.status()["error"]


@test
def a_role_is_assumed(w):
    manager(w).create_secret(Name="role", SecretBinary=bundle().encode())
    with store(w, "role", w.key, more=f'role = "{w.role}"') as s:
        want(s.status(ready=True)["logins"], 1)
        assert "bundle" in s.keys()


@test
def the_role_of_the_machine_is_enough(w):
    manager(w).create_secret(Name="machine", SecretBinary=bundle().encode())
    got = aws.client(w, "sts", w.key).assume_role(RoleArn=w.role, RoleSessionName="machine")["Credentials"]
    server = imds.make_server(0, {
        "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": got["AccessKeyId"],
        "SecretAccessKey": got["SecretAccessKey"], "Token": got["SessionToken"],
        "Expiration": got["Expiration"].strftime("%Y-%m-%dT%H:%M:%SZ")})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with store(w, "machine", more=f'metadata_url = "http://127.0.0.1:{server.server_port}/"') as s:
            s.status(ready=True)
            assert "bundle" in s.keys()
    finally:
        server.shutdown()
        server.server_close()


# What docs/secrets.md says that a rotation needs.
ROTATES = ("GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage")


def user(w, name, actions):
    """Somebody who may do these things in Secrets Manager, and no others."""
    iam = aws.client(w, "iam", w.key)
    key = aws.make_user(iam, name, False)
    iam.put_user_policy(UserName=name, PolicyName="some", PolicyDocument=json.dumps({
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": ["secretsmanager:" + a for a in actions], "Resource": "*"}]}))
    return key


def stages(w, name):
    """Which version is the current one, and how many there are with a label."""
    got = manager(w).describe_secret(SecretId=name)["VersionIdsToStages"]
    return next(v for v, labels in got.items() if "AWSCURRENT" in labels), got


def current(w, name):
    return json.loads(manager(w).get_secret_value(SecretId=name, VersionStage="AWSCURRENT")["SecretBinary"])


@test
def munge_s_key_is_replaced_in_two_steps_each_of_which_becomes_the_current_version(w):
    first = manager(w).create_secret(Name="rotates", SecretBinary=bundle().encode())["VersionId"]
    with store(w, "rotates", w.key) as s:
        s.status(ready=True)
        s.rotate("munge", user(w, "rotator", ROTATES))
        s.rotation(rotation="spreading")
        staged = current(w, "rotates")
        want(staged["munge_key"], KEY)
        want(len(base64.b64decode(staged["munge_key_next"])), 128)
        second, labels = stages(w, "rotates")
        assert second != first and "AWSPREVIOUS" in labels[first], labels
        s.status(version=second)
        s.step("have", "switch", "timer")
        s.rotation(rotation="settling")
        switched = current(w, "rotates")
        want(switched["munge_key"], staged["munge_key_next"])
        assert "munge_key_next" not in switched, switched
        s.step("told", "have")
        s.rotation(rotation="done")
        want([e for e in s.events if e["event"] == "rotation-alarm"], [])
        for key in (KEY, switched["munge_key"]):
            assert key not in s.said(), s.said()


@test
def an_abort_takes_the_new_key_out_again(w):
    manager(w).create_secret(Name="aborted", SecretBinary=bundle().encode())
    with store(w, "aborted", w.key) as s:
        s.status(ready=True)
        s.rotate("munge")
        s.rotation(rotation="spreading")
        s.step("abort")
        s.rotation(rotation="aborted")
        got = current(w, "aborted")
        want(got["munge_key"], KEY)
        assert "munge_key_next" not in got, got


@test
def when_somebody_else_writes_meanwhile_the_rotation_ends_and_nothing_of_his_is_lost(w):
    sm = manager(w)
    sm.create_secret(Name="alien", SecretBinary=bundle().encode())
    with store(w, "alien", w.key) as s:
        s.status(ready=True)
        s.rotate("munge")
        s.rotation(rotation="spreading")
        # (A plain PutSecretValue leaves AWSCURRENT on two versions of moto's, once the label was moved.)
        theirs = sm.put_secret_value(SecretId="alien", SecretBinary=bundle("theirs").encode(),
                                     VersionStages=["THEIRS"])["VersionId"]
        sm.update_secret_version_stage(SecretId="alien", VersionStage="AWSCURRENT",
                                       RemoveFromVersionId=stages(w, "alien")[0], MoveToVersionId=theirs)
        s.step("have", "switch", "timer")
        s.rotation(rotation="aborted")
        want((stages(w, "alien")[0], current(w, "alien")["kid"]), (theirs, "theirs"))


@test
def who_is_late_does_not_move_the_label(w):
    sm = manager(w)
    first = sm.create_secret(Name="late", SecretBinary=bundle().encode())["VersionId"]
    with store(w, "late", w.key) as s:
        s.status(ready=True)
        s.rotate("munge")
        s.rotation(rotation="spreading")
        now = stages(w, "late")[0]
        said = s.ask(f"write {first}", "wrote")
        want(said["wrote"], "conflict", said)
        want(stages(w, "late")[0], now)


@test
def who_may_not_write_stops_the_rotation(w):
    for missing in ROTATES:
        name = "may-not-" + missing
        first = manager(w).create_secret(Name=name, SecretBinary=bundle().encode())["VersionId"]
        with store(w, name, w.key) as s:
            s.status(ready=True)
            s.rotate("munge", user(w, name, [a for a in ROTATES if a != missing]))
            said = s.rotation(stuck=True)
            assert missing in said["error"] or "AccessDenied" in said["error"], said
            want(stages(w, name)[0], first)


@test
def it_wraps_nothing_and_says_so_at_the_start(w):
    with store(w, "x", w.key, release="wrap") as s:
        want(s.proc.wait(10), 1)
        assert "cannot make wrapping tokens" in s.said(), s.said()


if __name__ == "__main__":
    aws.tests[:] = tests
    sys.exit(aws.main())
