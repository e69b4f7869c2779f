#!/usr/bin/env python3
"""reach.py serve ADDRESS...: a metadata service that answers on every port below, by TCP and UDP, until it is ended.
reach.py ask UID ADDRESS...: as that user, each address and port from which there is an answer, a line each.
reach.py hold UID ADDRESS PORT: connect as that user, say "up", wait for a line, send "late" and end: the kernel goes on
with what was not acknowledged, for a socket that is nobody's."""

import concurrent.futures
import os
import selectors
import socket
import sys

TCP = [53, 80, 123, 443, 988, 8080, 32526]
UDP = [53, 67, 80, 123, 443, 8080, 32526]


def place(address, port):
    return socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]


def serve(addresses):
    sel = selectors.DefaultSelector()
    for address in addresses:
        for kind, ports in ((socket.SOCK_STREAM, TCP), (socket.SOCK_DGRAM, UDP)):
            for port in ports:
                family, *_, where = place(address, port)
                s = socket.socket(family, kind)
                s.bind(where)
                if kind == socket.SOCK_STREAM:
                    s.listen()
                sel.register(s, selectors.EVENT_READ, kind)
    print('up', flush=True)
    while True:
        for key, _ in sel.select():
            if key.data == socket.SOCK_DGRAM:
                data, who = key.fileobj.recvfrom(64)
                key.fileobj.sendto(data, who)
            elif key.data == socket.SOCK_STREAM:
                c, _ = key.fileobj.accept()
                c.send(b'hello')
                sel.register(c, selectors.EVENT_READ, 'said')
            else:
                said = key.fileobj.recv(64)
                if said:
                    print(said.decode(), flush=True)
                sel.unregister(key.fileobj)
                key.fileobj.close()


def answers(address, kind, port):
    family, *_, where = place(address, port)
    with socket.socket(family, kind) as s:
        s.settimeout(1)
        try:
            s.connect(where)
            if kind == socket.SOCK_DGRAM:
                s.send(b'hello')
            return s.recv(64) == b'hello'
        except OSError:
            return False


def ask(uid, addresses):
    os.setgroups([])
    os.setuid(uid)
    all_of_it = [(address, kind, port) for address in addresses
                 for kind, ports in ((socket.SOCK_STREAM, TCP), (socket.SOCK_DGRAM, UDP)) for port in ports]
    with concurrent.futures.ThreadPoolExecutor(len(all_of_it)) as pool:
        for (address, kind, port), yes in zip(all_of_it, pool.map(lambda one: answers(*one), all_of_it)):
            if yes:
                print(address, 'tcp' if kind == socket.SOCK_STREAM else 'udp', port)


def hold(uid, address, port):
    os.setgroups([])
    os.setuid(uid)
    s = socket.create_connection((address, port))
    s.recv(64)
    print('up', flush=True)
    sys.stdin.readline()
    s.send(b'late')


if sys.argv[1] == 'serve':
    serve(sys.argv[2:])
elif sys.argv[1] == 'ask':
    ask(int(sys.argv[2]), sys.argv[3:])
else:
    hold(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
