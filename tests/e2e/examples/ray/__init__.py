"""ray: stands in for Ray where that is not installed; what is remote is done here."""
import os
import socket


def init(address):
    assert address == "auto"


def nodes():
    host, port = os.environ["RAY_ADDRESS"].rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=5) as head:
        head.sendall(b"status")
        return [{"Alive": True}] * int(head.recv(100))


def get(values):
    return values


def remote(function):
    function.remote = function
    return function
