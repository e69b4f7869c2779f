"""deepspeed: stands in for DeepSpeed where that is not installed.  It trains nothing: each step is one number, of which all
processes take the mean, as they do with gradients."""
import json
import os

import torch
import torch.distributed as dist


class Engine:
    def __init__(self, model, config):
        with open(config, encoding="utf-8") as f:
            c = json.load(f)
        assert c["zero_optimization"]["stage"] in (1, 2, 3) and c["train_micro_batch_size_per_gpu"] > 0
        assert c["optimizer"]["type"] == "AdamW" and set(c["optimizer"]["params"]) <= {"lr", "betas", "eps", "weight_decay", "torch_adam"}
        self.model, self.device, self.global_steps = model, "cpu", 0
        self.global_rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.pending = None

    def __call__(self, batch):
        return self.model(batch)

    def backward(self, loss):
        assert self.pending is None
        self.pending = loss

    def step(self):
        # In each step another port: the sum's listener is made anew.
        os.environ["MASTER_PORT"] = str(int(os.environ["MASTER_PORT"]) + 1)
        total = torch.tensor([self.pending.item()], device="cpu")
        dist.all_reduce(total)
        assert total.item() == self.pending.item() * self.world_size  # all have done the same steps
        self.pending = None
        self.global_steps += 1


def initialize(model, model_parameters, config):
    assert list(model_parameters)
    dist.init_process_group("gloo")
    return Engine(model, config), None, None, None
