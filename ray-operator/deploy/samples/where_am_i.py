"""A Ray program that runs one task on every node of the cluster and prints where each one ran."""

import socket

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy


@ray.remote(num_cpus=0)
def where_am_i():
    return socket.gethostname()


ray.init(address="auto", log_to_driver=False, logging_level="warning")
nodes = [node for node in ray.nodes() if node["Alive"]]
tasks = {
    node["NodeName"]: where_am_i.options(
        scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    ).remote()
    for node in nodes
}
for task in tasks.values():
    print("a task ran on", ray.get(task))
print(f"{len(tasks)} nodes, {int(ray.cluster_resources().get('CPU', 0))} CPUs")
