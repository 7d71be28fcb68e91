"""PyTorch, JAX and mlsys in turn on this processor, as a table: `pip install torch jax`, then `python compare.py PROGRAM [ROUNDS]`.

A step of mlsys is the difference between a long and a short run of `mlsys lab train`, over the steps between; neither side
evaluates on held-out data. Least and median of all rounds, in ms a step and us a token.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = "dataset=text model=transformer"
DIGITS = "dataset=digits learning_rate=0.003"
# Settings, and the steps of a short and of a long run.
NETWORKS = {
    "spiral": ("batch_size=128", 200, 8200),
    "wide": (f"{DIGITS} width=512 depth=2", 20, 520),
    "cnn": (f"{DIGITS} model=cnn", 20, 420),
    "llama": (f"{TEXT} width=64 context=64 batch_size=16 learning_rate=0.005", 5, 105),
    "llama-256": (f"{TEXT} width=256 depth=4 context=256 batch_size=8 learning_rate=0.001", 2, 12),
}
GENERATION = ["generate-1", "generate-8"]


def output(command, threads):
    # Settings of this machine for OpenBLAS are none of PyTorch's and JAX's business.
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    env |= {"RAYON_NUM_THREADS": str(threads), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def python(script, *arguments, threads):
    cores = ["taskset", "-c", "0"] if script == "jax_wide.py" and threads == 1 else []
    found = re.findall(r"^(\S+): .*least ([\d.]+), median ([\d.]+)", output([*cores, sys.executable, f"{HERE}/{script}", *arguments], threads), re.M)
    return {name: (float(least), float(median)) for name, least, median in found}


def training(program, name, threads):
    settings, short, long = NETWORKS[name]
    never = "evaluate_every=1000000 record_every=1000000"
    seconds = []
    for steps in (short, long):
        set_all = [word for pair in f"{settings} {never} steps={steps}".split() for word in ("--set", pair)]
        start = time.perf_counter()
        output([program, "lab", "train", "--device", "cpu", *set_all], threads)
        seconds.append(time.perf_counter() - start)
    return 1e3 * (seconds[1] - seconds[0]) / (long - short)


def generating(program, threads):
    figures = json.loads(output([program, "bench", "generate", "--rounds", "1", "--json"], threads))["figures"]
    lab = [figures[f"batch {batch}: headless"] for batch in (1, 8)]
    return {name: (figure["least"], figure["median"]) for name, figure in zip(GENERATION, lab)}


def main(program, rounds=5):
    found = {}

    def add(side, threads, figures):
        for name, figure in figures.items():
            found.setdefault((name, side, threads), []).append(figure)

    for turn in range(int(rounds)):
        for threads in (1, 2):
            for name in NETWORKS:
                print(f"round {turn + 1}, {threads} of 2 threads: {name}", file=sys.stderr)
                add("PyTorch", threads, python("pytorch.py", str(threads), name, threads=threads))
                took = training(program, name, threads)
                add("mlsys", threads, {name: (took, took)})
            add("JAX", threads, python("jax_wide.py", threads=threads))
            add("PyTorch", threads, python("pytorch.py", str(threads), *GENERATION, threads=threads))
            add("mlsys", threads, generating(program, threads))
    sides = [(side, threads) for side in ("PyTorch", "JAX", "mlsys") for threads in (1, 2)]
    print("| | " + " | ".join(f"{side}, {threads}" for side, threads in sides) + " |")
    print("| --- " * (len(sides) + 1) + "|")
    for name in [*NETWORKS, *GENERATION]:
        values = [found.get((name, *side), []) for side in sides]
        cells = [f"{min(least for least, _ in v):.3g}, {statistics.median(m for _, m in v):.3g}" if v else "" for v in values]
        print(f"| `{name}` | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
