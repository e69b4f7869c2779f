#!/usr/bin/env python3
"""clouds.py DIR: what a new machine meets: burstd on 127.0.0.1:8443, Vault on :8200, metadata on 169.254.169.254:80.

They behave by the words in DIR/modes and the key=value lines in DIR/answer, read at each request.  DIR/log has a line
for each: who, method, path, CN of the client's certificate, status; DIR/body.N the bodies."""

import base64
import contextlib
import hashlib
import http.server
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

DIR = sys.argv[1]
LOCK = threading.Lock()
COUNT = {}
BODIES = [0]
SECRET = open(f'{DIR}/secret').read()
INSTANCE = 'i-0123456789abcdef0'
KEY = base64.b64encode(bytes(range(128))).decode()


def modes():
    try:
        return open(f'{DIR}/modes').read().split()
    except FileNotFoundError:
        return []


def count(what):
    with LOCK:
        COUNT[what] = COUNT.get(what, 0) + 1
        return COUNT[what]


def openssl(*args, data=b''):
    return subprocess.run(['openssl', *args], input=data, capture_output=True, check=True).stdout


def answer(csr):
    open(f'{DIR}/node.csr', 'wb').write(csr)
    openssl('req', '-in', f'{DIR}/node.csr', '-verify', '-noout')
    cert = openssl('x509', '-req', '-in', f'{DIR}/node.csr', '-CA', f'{DIR}/ca.pem', '-CAkey', f'{DIR}/ca.key',
                   '-CAcreateserial', '-days', '1')
    init = open(f'{DIR}/node-init', 'rb').read()
    a = {
        'v': '1', 'node': 'c1', 'generation': '3', 'cert': base64.b64encode(cert).decode(), 'version': '7',
        'conf_server': '127.0.0.1:8443', 'auth': 'munge', 'cloud': 'aws', 'burst_uid': '0', 'instance_id': INSTANCE,
        'stage1_url': '/v1/node/stage1', 'stage1_sha256': hashlib.sha256(init).hexdigest(),
        'hosts': base64.b64encode(b'10.0.0.1 c1\n10.0.0.2 c2 c2.example.org\n').decode(),
    }
    if 'wrap' in modes():
        a.update({'release': 'wrap', 'vault': 'https://127.0.0.1:8200', 'wrap_token': 'hvs.CAES-x_y', 'wrap_ttl': '60',
                  'vault_ca': base64.b64encode(open(f'{DIR}/ca.pem', 'rb').read()).decode(),
                  'creation_path': 'kv/data/slurm/prod/node'})
    else:
        a.update({'release': 'inline', 'munge_key': KEY})
    for line in open(f'{DIR}/answer').read().split('\n'):
        if '=' in line:
            a[line.split('=', 1)[0]] = line.split('=', 1)[1]
    text = ''.join(f'{k}={v}\n' for k, v in a.items() if v != '-')
    if os.path.exists(f'{DIR}/odd'):
        text += open(f'{DIR}/odd').read()
    return text + 'end=1\n'


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    who = 'burstd'
    cut = False

    def log_message(self, *_):
        pass

    def say(self, status, text='', headers=(), cut=0):
        data = text.encode() if isinstance(text, str) else text
        peer = ''
        if isinstance(self.connection, ssl.SSLSocket) and self.connection.getpeercert():
            shown = self.connection.getpeercert()
            peer = dict(x[0] for x in shown['subject'])['commonName'] if shown['issuer'] != shown['subject'] else 'self'
        with LOCK:
            with open(f'{DIR}/log', 'a') as f:
                f.write(f'{self.who} {self.command} {self.path} {peer or "-"} {status}\n')
            with open(f'{DIR}/ports', 'a') as f:
                f.write(f'{self.path} {self.client_address[1]}\n')
        self.send_response(status)
        for k, v in headers:
            self.send_header(k, v)
        self.send_header('Content-Length', str(len(data) + cut))
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = self.cut = cut > 0

    def finish(self):
        """The client's end of the connection closes first, and has the TIME_WAIT: TLS tells of its end before TCP does."""
        super().finish()
        if not self.cut:
            self.connection.settimeout(5)
            with contextlib.suppress(OSError):
                socket.socket.recv(self.connection, 1)

    def date_time_string(self, timestamp=None):
        word = 'clock' if self.who == 'burstd' else f'{self.who}clock'
        off = [int(m[len(word):]) for m in modes() if m.startswith(word)]
        return super().date_time_string(time.time() + off[0] if off else timestamp)

    def body(self):
        data = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        with LOCK:
            BODIES[0] += 1
            open(f'{DIR}/body.{BODIES[0]}', 'wb').write(data)
        return data


class Burstd(Handler):
    def do_GET(self):
        if self.path.endswith('/nonce'):
            return self.say(200, 'Nonce0123456789abcdef0123456789A')
        if self.path == '/v1/node/stage1' and self.connection.getpeercert():
            data = open(f'{DIR}/node-init', 'rb').read()
            return self.say(200, data + b'# changed\n' if 'changed' in modes() else data)
        if self.path == '/v1/node/stage1.sha256' and self.connection.getpeercert() and 'hashless' not in modes():
            return self.say(200, hashlib.sha256(open(f'{DIR}/node-init', 'rb').read()).hexdigest())
        if self.path == '/v1/node/keys' and self.connection.getpeercert():
            if 'often' in modes():
                return self.say(429, 'error=too many requests\n')
            return self.say(200, open(f'{DIR}/keys').read())
        return self.say(404)

    def do_POST(self):
        data = self.body()
        path = self.path
        # Three times: as often as node-init tells one thing without patience.
        if f'busy{path.replace("/", ".")}' in modes() and count(path) <= 3:
            return self.say(503, 'retry_after=1\n')
        if f'often{path.replace("/", ".")}' in modes() and count(f'often{path}') <= 2:
            return self.say(429, 'retry_after=1\n')
        if f'moved{path.replace("/", ".")}' in modes():
            return self.say(307, '', [('Location', f'https://127.0.0.1:8444{path}')])
        if f'no{path.replace("/", ".")}' in modes():
            return self.say(410, 'error=this node was released\n')
        if path == '/v1/claim':
            return self.claim(json.loads(data))
        if path == '/v1/node/confirm':
            return self.confirm(data)
        if path.startswith('/v1/node/') and self.connection.getpeercert() or path == '/v1/alarm':
            json.loads(data)
            open(f'{DIR}/last{path.replace("/", ".")}', 'wb').write(data)
            return self.say(200, 'ok=1\n')
        return self.say(403)

    def claim(self, j):
        words = modes()
        n = count('claim')
        if not self.has_key(base64.b64decode(j['csr'])):
            return self.say(403)
        if self.headers['Accept'] != 'text/plain' or j['claim_secret'] != SECRET or j['v'] != 1:
            return self.say(401)
        if 'redirect' in words:
            return self.say(307, '', [('Location', f'https://127.0.0.1:8444{self.path}')])
        for w in words:
            if w.isdigit():
                return self.say(int(w))
        if 'wait' in words and n <= 2:
            return self.say(202, 'retry_after=1\nstate=attesting\n')
        text = answer(base64.b64decode(j['csr']))
        if 'short' in words and n == 1:
            return self.say(200, text[:len(text) // 2])
        if 'cut' in words and n == 1:
            return self.say(200, text[:len(text) // 2], cut=len(text) - len(text) // 2)
        return self.say(200, text)

    def has_key(self, csr):
        """Its certificate is of its own making, and of the key of its request."""
        der = self.connection.getpeercert(True)
        if not der or self.connection.getpeercert()['issuer'] != self.connection.getpeercert()['subject']:
            return False
        return openssl('x509', '-pubkey', '-noout', data=ssl.DER_cert_to_PEM_cert(der).encode()) == openssl(
            'req', '-pubkey', '-noout', data=csr)

    def confirm(self, data):
        words = modes()
        auth = self.headers.get('Authorization', '')
        if 'authslurm' in words:
            return self.say(403 if auth else 200, 'ok=1\n')
        r = subprocess.run(['unmunge', '-m', f'{DIR}/meta'], input=auth[6:].encode(), capture_output=True)
        got = r.stdout.split(b'\0')
        want = [b'burst1', b'127.0.0.1', b'POST', b'/v1/node/confirm', hashlib.sha256(data).hexdigest().encode(), b'c1']
        if not auth.startswith('MUNGE ') or r.returncode or got[:6] != want or b'root (0)' not in open(
                f'{DIR}/meta', 'rb').read() or not self.connection.getpeercert():
            return self.say(401, 'replayed\n')
        if 'replayed' in words and count('confirm') == 1:
            return self.say(401, 'replayed\n')
        text = got[6] if 'othernonce' not in words else b'0' * 32
        cred = subprocess.run(['munge', '-u', '0'], input=text, capture_output=True).stdout.decode().strip()
        if 'otherkey' in words:
            cred = cred[:60] + ('A' if cred[60] != 'A' else 'B') + cred[61:]
        return self.say(200, f'cred={cred}\n')


def recorded(name):
    """What a real Vault answered: tests/fixtures/vault."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fixtures', 'vault', name + '.json'), encoding='utf-8') as f:
        return f.read()


class Vault(Handler):
    who = 'vault'

    def do_GET(self):
        return self.say(200 if self.path == '/v1/sys/health' else 404, '{}')

    def do_POST(self):
        words = modes()
        data = self.body()
        if 'troubled' in words:  # by one thing after the other
            words = ['sealed', 'vaultredirect', 'proxy', *['sealedunwrap'] * 6, '', ''][count('troubled') - 1:][:1]
        if 'sealed' in words:
            return self.say(503, recorded('sealed'))
        if ('sealedunwrap' in words or 'sealedused' in words) and self.path.endswith('/unwrap'):
            return self.say(503, recorded('sealed'))
        if 'proxy' in words:
            return self.say(403, '<html>wrapping token</html>')
        if 'vaultredirect' in words:
            return self.say(307, '', [('Location', f'https://127.0.0.1:8444{self.path}')])
        if self.path == '/v1/sys/wrapping/lookup':
            if 'expired' in words or ('lostused' in words or 'sealedused' in words) and count('look') > 1:
                return self.say(400, recorded('spent'))
            assert json.loads(data) == {'token': 'hvs.CAES-x_y'}
            text = recorded('peek')
            if 'otherpath' in words:
                text = text.replace('kv/data/slurm/prod/node', 'sys/wrapping/wrap')
            return self.say(200, text)
        if self.path == '/v1/sys/wrapping/unwrap':
            assert self.headers['X-Vault-Token'] == 'hvs.CAES-x_y' and data == b''
            if 'used' in words:
                return self.say(400, recorded('spent-unwrap'))
            if 'lostused' in words or 'lost' in words and count('unwrap') == 1:
                return self.say(502)
            text = re.sub('"munge_key":"[^"]*"', f'"munge_key":"{KEY}"', recorded('unwrap'))
            return self.say(200, text.replace('"version":1', f'"version":{6 if "old" in words else 7}'))
        return self.say(404)


class Metadata(Handler):
    """AWS's, Google's and Azure's at once."""
    who = 'metadata'

    def do_PUT(self):
        if self.path == '/latest/api/token' and self.headers.get('X-aws-ec2-metadata-token-ttl-seconds'):
            return self.say(200, 'token1')
        return self.say(404)

    def do_GET(self):
        aws = self.headers.get('X-aws-ec2-metadata-token') == 'token1'
        gcp = self.headers.get('Metadata-Flavor') == 'Google'
        azure = self.headers.get('Metadata') == 'true'
        url = urllib.parse.urlparse(self.path)
        q = urllib.parse.parse_qs(url.query)
        if self.path == '/latest/user-data' and aws:
            return self.say(200, open(f'{DIR}/user-data').read())
        if self.path == '/latest/meta-data/instance-id' and aws:
            return self.say(200, INSTANCE)
        if self.path == '/latest/dynamic/instance-identity/rsa2048' and aws:
            if 'noidentity' in modes() and count('identity') == 1:
                return self.say(503)
            return self.say(200, 'AWSDOC\nLINE2')
        if url.path == '/computeMetadata/v1/instance/id' and gcp:
            return self.say(200, '4242')
        if url.path.endswith('/identity') and gcp:
            if 'noidentity' in modes() and count('identity') == 1:
                return self.say(200)
            return self.say(200, 'jwt.' + q['audience'][0])
        if url.path.endswith('/vmId') and azure:
            return self.say(200, '0a1b-2c3d')
        if url.path == '/metadata/attested/document' and azure:
            # It has none just now: it fails, or answers with something else.
            hiccups = [(503, ''), (200, '{"error":"try later"}')] if 'hiccups' in modes() else []
            n = count('document')
            if n <= len(hiccups):
                return self.say(*hiccups[n - 1])
            return self.say(200, json.dumps({'encoding': 'pkcs7', 'signature': 'QVpVUkU=' + q['nonce'][0]}))
        return self.say(404)


SELF = '/run/burst/s/self.pem'


def context(name, client):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain(f'{DIR}/{name}.pem', f'{DIR}/{name}.key')
    if client:
        c.load_verify_locations(f'{DIR}/ca.pem')
        # Python takes no certificate that it does not know.
        if os.path.exists(SELF):
            c.load_verify_locations(SELF)
        c.verify_mode = ssl.CERT_OPTIONAL
    return c


def tls(handler, port, name, client):
    s = http.server.ThreadingHTTPServer(('127.0.0.1', port), handler)
    c = context(name, client)
    if client:
        def again(sock, *_):
            sock.context = context(name, client)
        c.sni_callback = again
    s.socket = c.wrap_socket(s.socket, server_side=True, do_handshake_on_connect=False)
    return s


class Elsewhere(Handler):
    """Where redirects lead."""
    who = 'elsewhere'

    def do_POST(self):
        self.body()
        self.say(200, 'end=1\n')

    def do_GET(self):
        self.say(200, open(f'{DIR}/node-init').read())


servers = [tls(Burstd, 8443, 'server', True), tls(Vault, 8200, 'vault', False), tls(Vault, 8202, 'vault', False),
           tls(Elsewhere, 8444, 'server', False), http.server.ThreadingHTTPServer(('169.254.169.254', 80), Metadata)]
for one in servers:
    threading.Thread(target=one.serve_forever, daemon=True).start()
open(f'{DIR}/up', 'w').close()
threading.Event().wait()
