"""torch.distributed: a sum over all processes, which meet at MASTER_ADDR:MASTER_PORT."""
import os
import socket
import time

PATIENCE = 30  # seconds


joined = False


def init_process_group(backend):
    global joined
    assert backend == "gloo" and not joined
    joined = True


def destroy_process_group():
    global joined
    assert joined
    joined = False


def get_rank():
    assert joined
    return int(os.environ["RANK"])


def get_world_size():
    assert joined
    return int(os.environ["WORLD_SIZE"])


# What torchrun was given as --rdzv-id: those that were given another one wait for others.
own_id = os.environ.get("RDZV_ID", "none")


def hear(peer):
    id_, number = peer.recv(100).decode().split()
    assert id_ == own_id, id_
    return float(number)


def serve(port, own):
    with socket.create_server(("", port), backlog=get_world_size()) as listener:
        listener.settimeout(PATIENCE)
        peers = [listener.accept()[0] for _ in range(get_world_size() - 1)]
        total = own + sum(hear(peer) for peer in peers)
        for peer in peers:
            peer.sendall(str(total).encode())
            peer.close()
    return total


def ask(address, own):
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            with socket.create_connection(address, timeout=PATIENCE) as server:
                server.sendall(f"{own_id} {own}".encode())
                return float(server.recv(100))
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.1)


def all_reduce(t):
    port = int(os.environ["MASTER_PORT"])
    t.value = serve(port, t.value) if get_rank() == 0 else ask((os.environ["MASTER_ADDR"], port), t.value)
