"""imds.py PORT: EC2's instance metadata service, version 2, as its documentation says; the machine's role is `launcher`,
with a key for an hour that moto takes."""
import datetime
import http.server
import json
import sys

ROLES = "/latest/meta-data/iam/security-credentials/"


class Metadata(http.server.BaseHTTPRequestHandler):
    def reply(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_PUT(self):
        lifetime = int(self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", 0))
        good = self.path == "/latest/api/token" and 1 <= lifetime <= 21600
        self.reply(200 if good else 400, "TOKEN==" if good else "")

    def do_GET(self):
        if self.headers.get("X-aws-ec2-metadata-token") != "TOKEN==":
            self.reply(401, "")
        elif self.path == ROLES:
            self.reply(200, "launcher")
        elif self.path == ROLES + "launcher":
            self.reply(200, json.dumps(self.server.key or an_hour()))
        else:
            self.reply(404, "")

    def log_message(self, *args):
        pass


def an_hour():
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    return {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "ASIAEXAMPLE", "SecretAccessKey": "secret",
            "Token": "session==", "Expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ")}


def make_server(port, key=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Metadata)
    server.key = key
    return server


if __name__ == "__main__":
    make_server(int(sys.argv[1])).serve_forever()
