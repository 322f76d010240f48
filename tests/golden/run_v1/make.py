#!/usr/bin/env python3
"""Made the files beside it, once. See README.md."""
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

PROGRAM = os.environ.get("SYMLAW") or str(Path(__file__).parents[3] / "build" / "symlaw")
STEPS, LOG_STEPS = 400, 20
OPTIONS = ["--width", "8", "--layers", "1", "--depth", "2", "--set-size", "300", "--points", "16", "--batch", "8",
           "--lanes", "4", "--steps", str(STEPS), "--warmup", "0.1", "--valid-pairs", "16", "--valid-steps", "50",
           "--log-steps", str(LOG_STEPS), "--checkpoint-steps", "60", "--lr", "0.01", "--seed", "3", "--threads", "1"]


def log(folder):
    """Whole lines; the last one may be in the making."""
    path = folder / "log.jsonl"
    return [json.loads(x) for x in path.read_text().split("\n")[:-1]] if path.exists() else []


def stopped(folder):
    """Trains until about step 300; answers the step that was saved."""
    shutil.rmtree(folder, ignore_errors=True)
    p = subprocess.Popen([PROGRAM, "train", *OPTIONS, "--quiet", "--out", str(folder)], stderr=subprocess.DEVNULL)
    while p.poll() is None and not [x for x in log(folder) if x["step"] >= 300]:
        time.sleep(0.001)
    p.send_signal(signal.SIGINT)
    p.wait()
    return max(int(x.name[6:14]) for x in folder.glob("model-*"))


os.chdir(Path(__file__).parent)
at = STEPS
while at == STEPS or at % LOG_STEPS == 0:  # too late, or at the end of a line
    at = stopped(Path("run"))

done = subprocess.run([PROGRAM, "train", *OPTIONS, "--quiet", "--json", "--out", "whole"], check=True,
                      stdout=subprocess.PIPE, text=True)
end = json.loads(done.stdout)
shutil.copy(f"whole/model-{STEPS:08d}.safetensors", "model.safetensors")
shutil.rmtree("whole")
keep = ("step", "loss", "loss_valid", "tokens", "flops", "bounds_set", "parameters")
Path("answers.json").write_text(json.dumps({"stopped": at, **{k: end[k] for k in keep}}, indent=1) + "\n")
