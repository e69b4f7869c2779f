"""ray: stands in for Ray where that is not installed; what is remote is done here."""
import os
import socket

begun = False


def init(address):
    global begun
    assert address == "auto"
    begun = True


def nodes():
    assert begun
    host, port = os.environ["RAY_ADDRESS"].rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=5) as head:
        head.sendall(b"status")
        return [{"Alive": True, "NodeManagerHostname": name} for name in head.recv(1000).decode().split()]


class Reference:
    def __init__(self, value):
        self.value = value


def get(references):
    return [r.value for r in references]


def remote(scheduling_strategy):
    assert begun and scheduling_strategy == "SPREAD"
    return Function


class Function:
    """Called by .remote() only."""

    def __init__(self, function):
        self.function = function

    def remote(self, *arguments):
        return Reference(self.function(*arguments))
