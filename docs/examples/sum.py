"""sum.py NODES: waits until that many nodes are in the Ray cluster, and has each of them work."""
import sys
import time

import ray

ray.init(address="auto")
nodes = int(sys.argv[1])
give_up = time.monotonic() + 300
while sum(node["Alive"] for node in ray.nodes()) < nodes:
    if time.monotonic() > give_up:
        sys.exit("not all nodes are in the cluster")
    time.sleep(0.5)


@ray.remote
def square(number):
    return number * number


print(f"{nodes} nodes, the sum is", sum(ray.get([square.remote(number) for number in range(10)])), flush=True)
