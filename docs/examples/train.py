"""train.py: every process adds its rank to a sum, over NCCL where there are GPUs, and says what came of it."""
import os

import torch
import torch.distributed as dist

gpus = torch.cuda.is_available()
dist.init_process_group("nccl" if gpus else "gloo")
rank, world = dist.get_rank(), dist.get_world_size()
device = torch.device(f"cuda:{os.environ['LOCAL_RANK']}" if gpus else "cpu")
total = torch.tensor([float(rank)], device=device)
dist.all_reduce(total)
print(f"rank {rank} of {world}: the sum is {total.item():.0f}", flush=True)
dist.destroy_process_group()
assert total.item() == world * (world - 1) / 2
