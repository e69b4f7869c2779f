"""sum.py NODES: waits until that many nodes are in the Ray cluster, and has all of them work."""
import sys
import time

import ray

ray.init(address="auto")
nodes = int(sys.argv[1])


def hosts():
    return {node["NodeManagerHostname"] for node in ray.nodes() if node["Alive"]}


give_up = time.monotonic() + 300
while len(hosts()) < nodes:
    if time.monotonic() > give_up:
        sys.exit("not all nodes are in the cluster")
    time.sleep(0.5)


@ray.remote(scheduling_strategy="SPREAD")
def square(number):
    return number * number


squares = ray.get([square.remote(number) for number in range(10)])
print(f"{len(hosts())} nodes, the sum is {sum(squares)}", flush=True)
