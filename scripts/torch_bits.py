#!/usr/bin/env python3
"""Compares the bits of Falchion's bf16 and f16 results with those of torch.mm.

    scripts/torch_bits.py FALCHION [COUNT]

FALCHION is the command-line program. COUNT random problems (200 by default) have M, N, and K that
are multiples of 8 up to 4096, a row-major A, a column-major B, and normal data. The problems are
grouped by how each library computes them: whether it uses `wgmma`, and whether it splits K. Needs a
Hopper GPU, PyTorch, and numpy.
"""

import collections
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy
import torch
from torch.profiler import ProfilerActivity, profile


def torch_result(a, b):
    """The product as f32, and how torch computed it."""
    torch.mm(a, b)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as recorded:
        d = torch.mm(a, b)
        torch.cuda.synchronize()
    kernels = [event.key for event in recorded.key_averages() if event.device_time_total > 0]
    other = ("memcpy", "memset", "activity buffer", "::")
    kernels = [name for name in kernels if not any(word in name.lower() for word in other)]
    text = " ".join(kernels).lower()
    wgmma = "nvjet" in text or "sm90" in text or "gmma" in text
    splits = "splitk" in text or "split_k" in text
    return d.float().cpu().numpy(), wgmma, splits, text


def falchion_result(program, folder, element, a, b):
    """D as f32, and how Falchion computed it."""
    names = {name: os.path.join(folder, f"{name}.npy") for name in "abd"}
    numpy.save(names["a"], a.float().cpu().numpy())
    numpy.save(names["b"], b.float().cpu().numpy())
    command = [program, "gemm", "--on", "cuda", "--json", "--a", f"{element}:row"]
    command += ["--b", f"{element}:col", "--c", f"{element}:row", "--op", "tensorop"]
    command += ["--a-file", names["a"], "--b-file", names["b"], "--out", names["d"]]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    ((name, knobs),) = json.loads(ran.stdout)["description"]["mma"].items()
    splits = knobs["split_k"] > 1 or knobs["decomposition"] == "streamk"
    return numpy.load(names["d"]).astype("f4"), name == "wgmma", splits


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    random.seed(1)
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    tally = collections.Counter()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for number in range(count):
            element = ("bf16", "f16")[number % 2]
            dtype = (torch.bfloat16, torch.float16)[number % 2]
            m, n, k = (8 * random.randint(1, random.choice([16, 128, 512])) for _ in range(3))
            a = torch.randn(m, k, device="cuda").to(dtype)
            b = torch.randn(n, k, device="cuda").to(dtype).t()
            theirs, their_wgmma, they_split, kernels = torch_result(a, b)
            ours, our_wgmma, we_split = falchion_result(program, folder, element, a, b)
            equal = bool((theirs.view("u4") == ours.view("u4")).all())
            share = float((theirs == ours).mean())
            how = "both wgmma" if their_wgmma and our_wgmma else "another instruction"
            if they_split or we_split:
                how += ", K split by " + " and ".join(
                    side for side, is_split in (("torch", they_split), ("falchion", we_split)) if is_split
                )
            tally[how, equal] += 1
            if not equal:
                print(f"{element} {m}x{n}x{k}: {how}: {share:.4f} of the elements; {kernels[:90]}")
    for how in sorted({how for how, _ in tally}):
        print(f"{how}: {tally[how, True]} of {tally[how, True] + tally[how, False]} byte-equal")


if __name__ == "__main__":
    main()
