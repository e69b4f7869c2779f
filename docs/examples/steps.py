"""steps.py FILE STEPS: works in steps of a fifth of a second; FILE is written every ten, and when it must end (SIGTERM)."""
import json
import os
import signal
import sys
import time

path, steps = sys.argv[1], int(sys.argv[2])
ends = False


def end(*_):
    global ends
    ends = True


def save(step):
    with open(path + ".new", "w") as file:
        json.dump({"step": step}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)  # whole or not at all


signal.signal(signal.SIGTERM, end)
step = 0
if os.path.exists(path):
    with open(path) as file:
        step = json.load(file)["step"]
    print("goes on at step", step, flush=True)
while step < steps and not ends:
    time.sleep(0.2)
    step += 1
    if step % 10 == 0:
        save(step)
save(step)
print("ends at step", step, flush=True)
sys.exit(0 if step == steps else 1)
