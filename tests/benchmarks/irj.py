"""The published elastic joint against the "excellent" column of its acceptance table; speed; integrated against full.

python tests/benchmarks/irj.py [--seeds 20] [--seeds-case2 30] [--boxes 6] [--json]

Full search: all six parameters of Case 2 (12 s, 1 %) by differential evolution over a box, to 1.01 times the cost that
the integrated search finds, evaluations counted and timed with the same compiled columns; boxes ×/÷2 to ×/÷10 about
the truth. Times are thread CPU.
"""

import argparse
import json
import sys
import time
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution

from estimators import reproduce_irj
from estimators.case2 import LINEAR, OMEGAS, case, estimator
from estimators.joints.friction_only import FrictionOnlySettings
from estimators.refit import RefitSettings
from estimators.refit_job import job, run
from estimators.shape import Shape, nothing
from hil_rig import reproduce_irj as case1

MOST = 20_000  # evaluations of the full search


def speed() -> list[dict[str, Any]]:
    """µs a sample of RLS and monitor in batch; ms of a refit over 8 s at 100 Hz, on the window and on nodes."""
    data = case(0, 0.01, end=120.0).rows
    joint = estimator()
    joint.absorb(data.part(slice(0, 2000)))
    began = time.thread_time()
    joint.absorb(data.part(slice(2000, None)))
    step = 1e6 * (time.thread_time() - began) / (len(data.time) - 2000)
    rows = [{"name": "RLS and monitor, a sample in batch", "unit": "µs", "limit": 2.0, "ours": step}]
    for nodes, limit, text in ((0, 5.0, "on the window"), (128, 1.0, "on 128 nodes")):
        times = []
        for seed in range(25):
            model = FrictionOnlySettings().build()
            window = case(seed, 0.01, end=8.0).rows
            shape = Shape(model, np.ones(1))
            began = time.thread_time()
            run(job(shape, window, np.ones(1), nothing(4), False, RefitSettings(nodes=nodes)))
            times.append(1e3 * (time.thread_time() - began))
        rows.append({"name": f"refit {text}, median", "unit": "ms", "limit": limit, "ours": float(np.median(times))})
    return rows


def full(boxes: int) -> list[dict[str, Any]]:
    """Time of a search over all six parameters over that of ours, to the same cost."""
    model = FrictionOnlySettings().build()
    shape, law = Shape(model, np.ones(1)), FrictionOnlySettings().friction.law(FrictionOnlySettings().axis)
    window = case(0, 0.01, end=12.0).rows
    settings = RefitSettings()
    began = time.thread_time()
    for _ in range(20):
        found = run(job(shape, window, np.ones(1), nothing(4), False, settings))
    ours = (time.thread_time() - began) / 20
    position, velocity, y = window.samples[:, 1, 0], window.samples[:, 0, 0], window.y[:, 0]
    target = 1.01 * found.residual * (len(y) - 6)

    def cost(x: np.ndarray) -> float:
        columns = law.columns(position, velocity, position, np.exp(x[4:]))
        return float(np.sum((y - columns @ np.exp(x[:4])) ** 2))

    ratios, reached = [], 0
    truth = np.log(np.concatenate([LINEAR, OMEGAS]))
    for box in range(boxes):
        factor = np.log(2.0 * 5.0 ** (box / max(1, boxes - 1)))
        rng = np.random.default_rng(box)
        middle = truth + factor * rng.uniform(-0.5, 0.5, 6)
        best = [np.inf]
        began = time.thread_time()

        def stop(x: np.ndarray, convergence: float, best: list[float] = best) -> bool:
            best[0] = cost(x)
            return best[0] <= target

        differential_evolution(
            cost,
            list(zip(middle - factor, middle + factor, strict=True)),
            seed=box,
            callback=stop,
            tol=0.0,
            polish=False,
            maxiter=MOST // 90,
        )
        spent = time.thread_time() - began
        reached += best[0] <= target
        ratios.append(spent / ours)
    text = f"full search over integrated, median of {boxes} boxes ({reached} reached the cost)"
    return [{"name": text, "unit": "×", "limit": 20.0, "ours": float(np.median(ratios)), "least": float(min(ratios))}]


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seeds-case2", type=int, default=30)
    parser.add_argument("--boxes", type=int, default=6)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = speed()
    rows += full(options.boxes)
    for row in rows:
        print(f"{row['name']:70} {row['limit']:8.3g} {row['ours']:8.3g} {row['unit']}", file=sys.stderr, flush=True)
    rows += reproduce_irj.table(options.seeds_case2, (0.005, 0.01, 0.02), "fast")
    rows += case1.table(options.seeds, 0.0)[0]
    for row in rows:
        print(f"{row['name']:70} {row['limit']:8.3g} {row['ours']:8.3g} {row['unit']}", file=sys.stderr)
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
