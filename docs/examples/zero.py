"""zero.py: some steps of a small model, whose optimizer's state ZeRO divides among all processes."""
import deepspeed
import torch

model = torch.nn.Linear(8, 1)
engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config="zero.json")
for step in range(10):
    loss = engine(torch.randn(4, 8, device=engine.device)).pow(2).mean()
    engine.backward(loss)
    engine.step()
print(f"rank {engine.global_rank} of {engine.world_size}: {engine.global_steps} steps, the last loss is {loss.item():.3f}", flush=True)
