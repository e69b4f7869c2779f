"""openstack_keystone.py DIR: a real Keystone on SQLite, over HTTP; prints its URL.  DIR keeps a database as it is at first,
which takes longest to make; Keystone works on a copy.  Below /protected is what a service answers that asks for its tokens:
keystonemiddleware."""
import fcntl
import os
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

CONF = """[DEFAULT]
use_stderr = false
log_file = {dir}/keystone.log
[database]
connection = sqlite:///{dir}/keystone.db
[identity]
password_hash_rounds = 4
[fernet_tokens]
key_repository = {dir}/keys
[fernet_receipts]
key_repository = {dir}/keys
[credential]
key_repository = {dir}/credential
"""
PASSWORD = "right"


def manage(conf, *args):
    subprocess.run([os.path.join(sys.prefix, "bin", "keystone-manage"), "--config-file", conf, *args], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def write_conf(where):
    conf = os.path.join(where, "keystone.conf")
    with open(conf, "w", encoding="utf-8") as f:
        f.write(CONF.format(dir=where))
    return conf


def prepare(where):
    """Let DIR have a new Keystone's files, whoever else wants them at this moment."""
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        whole = os.path.join(where, "whole")
        if os.path.exists(whole):
            return
        for name in ("keys", "credential"):
            os.makedirs(os.path.join(where, name), mode=0o700, exist_ok=True)
        conf = write_conf(where)
        manage(conf, "db_sync")
        who = ["--keystone-user", str(os.getuid()), "--keystone-group", str(os.getgid())]
        manage(conf, "fernet_setup", *who)
        manage(conf, "credential_setup", *who)
        manage(conf, "bootstrap", "--bootstrap-password", PASSWORD, "--bootstrap-region-id", "R1",
               "--bootstrap-public-url", "http://127.0.0.1:5000/v3")
        with open(whole, "w", encoding="utf-8"):
            pass


class Handler(WSGIRequestHandler):
    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the copy goes with us
    prepare(os.path.abspath(sys.argv[1]))
    with tempfile.TemporaryDirectory() as work:
        serve(shutil.copytree(sys.argv[1], os.path.join(work, "keystone")))


def serve(where):
    conf = write_conf(where)
    os.environ["OS_KEYSTONE_CONFIG_DIR"] = where
    sys.argv = ["keystone", "--config-file", conf]
    # pylint: disable=import-outside-toplevel,import-error
    from keystone.server.wsgi import initialize_public_application
    from keystonemiddleware import auth_token
    keystone = initialize_public_application()
    parts = {}

    def app(env, start):
        return parts["guard" if env["PATH_INFO"].startswith("/protected") else "keystone"](env, start)

    server = make_server("127.0.0.1", 0, app, server_class=Server, handler_class=Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    parts["keystone"] = keystone
    parts["guard"] = auth_token.AuthProtocol(lambda env, start: [], {
        "www_authenticate_uri": url + "/v3", "auth_url": url + "/v3", "auth_type": "password", "username": "admin",
        "password": PASSWORD, "project_name": "admin", "interface": "public", "user_domain_id": "default", "project_domain_id": "default"})
    print(url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
