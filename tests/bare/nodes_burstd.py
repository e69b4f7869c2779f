#!/usr/bin/python3 -B
"""nodes_burstd.py DIRECTORY: what a node hears of burstd, on 127.0.0.1:8443, as tests/agent has it (fakes.py).

In DIRECTORY are the CA and node n1's key and certificate before anybody listens; then `asked` has a line for each request, its
path and its body, and files that a test writes are in the answers: `beat`, more members of a heartbeat's (or one word: its
status), `keys` and `hosts`."""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "agent"))
import fakes  # pylint: disable=wrong-import-position

HERE = pathlib.Path(sys.argv[1])


def text(name, otherwise):
    try:
        return (HERE / name).read_text(encoding="ascii")
    except FileNotFoundError:
        return otherwise


def beat(handler, _):
    more = text("beat", "{}")
    if more.strip().isdigit():
        handler.answer(int(more), {"error": "over"})
    else:
        handler.answer(200, {"ok": True, "generation": 3, "now_ms": int(time.time() * 1000)} | json.loads(more))


class Burstd(fakes.Burstd):
    def asked(self, handler, body):
        with self.lock, open(HERE / "asked", "a", encoding="ascii") as log:
            print(handler.path, body.decode(errors="replace"), file=log)
        super().asked(handler, body)


def main():
    ca = fakes.CA(str(HERE))
    ca.issue("n1", fakes.CLIENT_EXT)
    burstd = Burstd(ca, port=8443)
    burstd.on("/v1/node/heartbeat", beat)
    for name in ("keys", "hosts"):
        burstd.on(f"/v1/node/{name}", lambda h, _, name=name: h.answer(200, text(name, "")))
    burstd.thread.join()


main()
