"""transcript.py NAME METHOD PATH STATUS BODY LOCATION: is that exchange with a real Vault as it is recorded in
tests/fixtures/vault?  BODY is a file.  Errors are the same to the letter; of the rest the members and their types are.
With RECORD in the environment it is written down, without the secrets in it, and its line of the index is printed."""
import json
import os
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "vault")
SECRETS = {("auth", "client_token"): "s.SESSIONSESSIONSESSION0001", ("wrap_info", "token"): "s.WRAPPINGWRAPPINGWRAP0002",
           ("data", "secret_id"): "11111111-2222-3333-4444-555555555555"}


def shape(v, at=""):
    if isinstance(v, dict):
        # Of "versions" the members are numbers.
        return {"#" if k.isdigit() else k: shape(v[k], k) for k in v}
    if isinstance(v, list):
        return v if at == "errors" else [shape(x) for x in v[:1]]
    return type(v).__name__


def without_secrets(text):
    told = json.loads(text)
    for (outer, inner), instead in SECRETS.items():
        was = (told.get(outer) or {}).get(inner) if isinstance(told, dict) else None
        if was:
            text = text.replace(was, instead)
    return text


def main():
    name, method, path, status, body, location = sys.argv[1:]
    with open(body, encoding="utf-8") as f:
        text = f.read()
    line = f"{name} {status} {method} {path}"
    file = os.path.join(HERE, name + ".json")
    if "RECORD" in os.environ:
        print(line)
        if text:
            with open(file, "w", encoding="utf-8") as f:
                f.write(without_secrets(text))
        return
    with open(os.path.join(HERE, "index"), encoding="utf-8") as f:
        if line not in f.read().splitlines():
            sys.exit(f"not recorded: {line}")
    if not os.path.exists(file):
        if text or (status == "307" and not location.endswith("/v1/" + path)):
            sys.exit(f"{name}: {text[:200]} {location}")
        return
    with open(file, encoding="utf-8") as f:
        recorded = f.read()
    if shape(json.loads(recorded)) != shape(json.loads(text)):
        sys.exit(f"{name}: it says now {text[:1000]}")


main()
