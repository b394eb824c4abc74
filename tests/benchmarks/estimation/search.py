"""What a search costs: time per evaluation, start-up, evaluations on shifted boxes; SciPy's and nlopt's searches.

jointwatch bench search [--json] [--boxes 100]

Thread CPU time, medians; compile time of a cold cache in a process of its own. Overhead is a whole run's time less its
evaluations', the start of the run included. On the boxes: median evaluations to a relative error of 1e-4 and how many
failed within 12,000; random searches with one seed a box. MLSL+BOBYQA (nlopt) is the one to beat in medians. A hundred
boxes take about 6 minutes, `--boxes 20` one and a half.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

try:
    import nlopt
except ImportError:
    nlopt = None

from estimators.numerics.jit import kernel
from estimators.quantities import Floats
from estimators.search import minimise
from estimators.search.base import OBJECTIVE
from estimators.search.mcs import Mcs
from hil_rig.papers.searches.scipy_searches import BUDGET, RIVALS, Counted, Reached, evaluations
from hil_rig.papers.searches.test_functions import FUNCTIONS, Function, shifted_boxes
from jointwatch_numba.layout import pointer

RUNS = 200, 2000  # evaluations


def cpu(work: Callable[[], object], repeats: int = 15) -> float:
    """Median thread CPU time, s."""
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return float(np.median(times))


@kernel(f"f8(FunctionType({OBJECTIVE}), f8[::1], f8[::1], i8)")
def repeated(f: Callable[[Floats, Floats], float], x: Floats, data: Floats, times: int) -> float:
    """An objective by itself, called as often."""
    total = 0.0
    for _ in range(times):
        total += f(x, data)
    return total


def overheads(function: Function) -> dict[str, float]:
    """µs per evaluation beyond the objective's own cost."""
    x, run = 0.5 * (function.lower + function.upper), Mcs(stall=10_000)

    def cheap(x: Any) -> float:
        return float(x[0])

    def overhead(f: Any, own: Callable[[], object], evaluations: int) -> float:
        spent = cpu(lambda: minimise(run, f, function.lower, function.upper, budget=evaluations))
        return 1e6 * (spent - cpu(own)) / evaluations

    told = {}
    for n in RUNS:
        compiled = pointer(function.f.function), x, function.f.data, n
        told[f"compiled, {n} evaluations"] = overhead(function.f, lambda c=compiled: repeated(*c), n)
        told[f"Python, {n} evaluations"] = overhead(cheap, lambda n=n: [cheap(x) for _ in range(n)], n)
    return told


def starts() -> dict[str, float]:
    """CPU s of `import estimators.search` with an empty and with a filled cache, children's time included."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        program = "import time; import estimators.search; print(time.process_time())"
        found = [
            float(
                subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True).stdout
            )
            for _ in range(2)
        ]
    return {"cold": found[0], "warm": found[1]}


def mlsl(f: Counted, bounds: Any, seed: int) -> object:
    """nlopt's multi-level single linkage on a low-discrepancy sequence, with BOBYQA."""
    lower, upper = np.array(bounds).T
    nlopt.srand(seed + 1)
    search, local = (nlopt.opt(kind, lower.size) for kind in (nlopt.G_MLSL_LDS, nlopt.LN_BOBYQA))
    local.set_ftol_rel(1e-8)
    search.set_local_optimizer(local)
    search.set_lower_bounds(lower)
    search.set_upper_bounds(upper)
    search.set_maxeval(f.budget)

    def objective(x: Any, _gradient: Any) -> float:
        try:
            return f(x)
        except Reached:
            raise nlopt.ForcedStop from None

    search.set_min_objective(objective)
    try:
        return search.optimize(0.5 * (lower + upper))
    except nlopt.ForcedStop:
        raise Reached from None
    except nlopt.RoundoffLimited:
        return None


def on_boxes(function: Function, count: int) -> dict[str, dict[str, float]]:
    """Median evaluations and failures per search."""
    boxes = shifted_boxes(function, count)
    table = {}
    for name, search in {
        "MCS": Mcs(stall=10_000),
        "MCS, sixths": Mcs(stall=10_000, initial=2),
        "MCS, the paper's": Mcs(stall=10_000, published=True),
        "MCS, version 2.0": Mcs(stall=10_000, legacy_rank=True),
    }.items():
        found = [minimise(search, function.f, *box, budget=BUDGET, target=function.target) for box in boxes]
        table[name] = summary([m.evaluations if m.value <= function.target else np.inf for m in found])
    own = [minimise(Mcs(), function.f, *box, budget=10 * BUDGET) for box in boxes]
    table["MCS to its own stop"] = {
        "median": float(np.median([m.evaluations for m in own])),
        "failed": sum(m.value > function.target for m in own),
    }
    for name, rival in (RIVALS | ({} if nlopt is None else {"nlopt MLSL+BOBYQA": mlsl})).items():
        counts = [evaluations(rival, function.f, box, function.target, seed) for seed, box in enumerate(boxes)]
        table[name] = summary(counts)
    return table


def summary(counts: list[float]) -> dict[str, float]:
    """The median, failures counted as +∞ (null when it is), and how many failed."""
    median = float(np.median(counts))
    return {"median": median if np.isfinite(median) else None, "failed": sum(np.isinf(counts))}  # type: ignore[dict-item]


def main(argv: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--boxes", type=int, default=100)
    asked = parser.parse_args(argv)
    if nlopt is None:
        print("search: nlopt is not installed, its row is left out (pip install 'jointwatch[bench]')", file=sys.stderr)
    told: dict[str, Any] = {"start, CPU s": starts()}
    told["overhead, µs"] = {function.name: overheads(function) for function in (FUNCTIONS[0], FUNCTIONS[6])}
    told["boxes"] = {}
    for function in FUNCTIONS:
        print(f"{function.name} …", file=sys.stderr, flush=True)
        told["boxes"][function.name] = on_boxes(function, asked.boxes)
    if asked.json:
        print(json.dumps(told, ensure_ascii=False, default=float))
        return 0
    print(
        "first import, s of processor time:", ", ".join(f"{name} {s:.2g}" for name, s in told["start, CPU s"].items())
    )
    for name, found in told["overhead, µs"].items():
        print(f"µs an evaluation of {name}:", "; ".join(f"{what} {us:.2g}" for what, us in found.items()))
    print(f"evaluations to 1e-4 (median of {asked.boxes} shifted boxes; f: so many failed)")
    print(f"{'':24}", *(f"{function.name.replace(' ', '')[:11]:>12}" for function in FUNCTIONS))
    for name in told["boxes"]["Branin"]:
        cells = [told["boxes"][function.name][name] for function in FUNCTIONS]
        medians = ["—" if cell["median"] is None else f"{cell['median']:g}" for cell in cells]
        failed = [f"f{cell['failed']}" if cell["failed"] else "" for cell in cells]
        print(f"{name:24}", *(f"{m + f:>12}" for m, f in zip(medians, failed, strict=True)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
