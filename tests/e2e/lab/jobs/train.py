#!/usr/bin/python3
"""train.py: what torchrun does, without torch: one process a GPU, all meeting at MASTER_ADDR:MASTER_PORT.

Every rank connects by name to rank 0, an all-reduce over all ranks is done there, and each prints one line:
  rank 9/32 host c2 local_rank 1 gpu 1 master c1=10.77.0.2 allreduce 496
The first rank of each node also looks up the names of all nodes.  The exit status is 0 if every sum was right.
"""
import os
import socket
import sys
import time

LOCAL_RANKS = 8
PATIENCE = 20  # seconds; rank 0 may be the last to start


def lines(sock):
    with sock.makefile("r") as stream:
        return stream.readline().strip()


def serve(world, port):
    """Rank 0: take a number from everyone, give everyone the sum."""
    listener = socket.create_server(("", port), backlog=world)
    listener.settimeout(PATIENCE)
    peers = [listener.accept()[0] for _ in range(world - 1)]
    total = sum(int(lines(peer)) for peer in peers)
    for peer in peers:
        peer.sendall(f"{total}\n".encode())
        peer.close()
    return total


def meet(rank, master, port):
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            sock = socket.create_connection((master, port), timeout=PATIENCE)
            break
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.1)
    sock.sendall(f"{rank}\n".encode())
    return int(lines(sock))


def train(rank, local_rank, world):
    master, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    gpu = os.environ["CUDA_VISIBLE_DEVICES"].split(",")[local_rank]
    host = socket.gethostname()
    if local_rank == 0:
        found = [f"{name}={socket.gethostbyname(name)}" for name in os.environ["NODES"].split()]
        print("resolved", host, *found, flush=True)
    total = serve(world, port) if rank == 0 else meet(rank, master, port)
    print(f"rank {rank}/{world} host {host} local_rank {local_rank} gpu {gpu} "
          f"master {master}={socket.gethostbyname(master)} allreduce {total}", flush=True)
    return 0 if total == world * (world - 1) // 2 else 1


def main():
    node, nodes = int(os.environ["SLURM_NODEID"]), int(os.environ["SLURM_NNODES"])
    for local_rank in range(LOCAL_RANKS):
        if os.fork() == 0:
            status = 1
            try:
                status = train(node * LOCAL_RANKS + local_rank, local_rank, nodes * LOCAL_RANKS)
            finally:
                os._exit(status)
    failed = [os.wait()[1] for _ in range(LOCAL_RANKS)].count(0) != LOCAL_RANKS
    time.sleep(float(os.environ.get("TRAIN_SECONDS", "0")))
    return 1 if failed else 0


sys.exit(main())
