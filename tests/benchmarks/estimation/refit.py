"""The friction refit: the global minimiser or not, evaluations and time; compared with two of scipy's searches.

jointwatch bench refit [--json] [--draws 100] [--long 100] [--only NAME] [--no-six]
                                  [--windows 100] [--first-seed 90000] [--law NAME] [--search NAME …]

First random windows of every law (parts/refit_windows.py), each refitted by multilevel coordinate search and by the
lattice in the same run, on seeds of their own: --windows, --first-seed; 0 windows leave them out. With --windows-only
nothing else is measured. It exits 1 where a row of mcs misses the limits of LIMITS.

T = b·v + C1·tanh(v/ω1) + C2·v·exp(−|v|/ω_s) + b_D·θ with b 76, C1 25, C2 590, b_D 40, ω1 0.0616, ω_s 0.1312 (SI), at
1 kHz, white noise of 1 % of rms(T). Trajectories: triangular positions, 1 s legs at 0.4 rad/s whose corners are
smoothed by a Hann window of 0.1 s (tri.1) or 0.3 s (tri.3), or legs of 0.25 s at 0.4, 0.05, 0.2, 0.1 rad/s there and
back (multi, 0.1 s); velocity sine of 0.4 rad/s, 2 s. Windows of 2,000 and of 20,000 rows. Box: ω1 in [0.005, 0.5], ω_s
in [0.02, 1]; C1, C2, b ≥ 0.

A hit is within 1 % of the global minimiser of the noisy objective, found without any code of ours on a 72 × 72 lattice,
its lowest local minima polished by Nelder–Mead (or a lower ρ than that found). Times are thread CPU time, medians.
scipy's direct and differential_evolution run to their own stop on the same objective (on nodes, called from Python, 5
draws).

Then the same searcher (MCS, ours and the paper's) on (ω1, ω_s) and on all six parameters, b in [0, 200], C1 in
[0, 100], C2 in [0, 2000], b_D in [0, 100]: expected evaluations until both ω are within 1 % of that minimiser, i.e. all
evaluations spent over the successes, 10 draws, at most 30,000 each (at MCS's own stop the draw counts as failed). All
takes about ten minutes.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from parts.refit_windows import LAWS, compare, missed
from scipy import optimize

from estimators.models.friction.structure import RefitModel
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.numerics.jit import kernel
from estimators.quantities import Floats, Parameter
from estimators.refit.objective import NO_TABLE, on_window, pack
from estimators.refit.refit import RefitRows, RefitSettings, prepare, refit
from estimators.refit.report import Refit
from estimators.search import minimise
from estimators.search.base import OBJECTIVE, Compiled, SearchStatus
from estimators.search.mcs import Mcs

TRUTH: Final = {"b": 76.0, "b_D": 40.0, "C1": 25.0, "C2": 590.0, "w1": 0.0616, "ws": 0.1312}
LOW, HIGH = np.array([0.005, 0.02]), np.array([0.5, 1.0])
MODEL: Final = RefitModel(
    (Parameter("b", "N·m·s/rad", 0.0, np.inf, ""), Parameter("b_D", "N·m/rad", -np.inf, np.inf, "")),
    TanhStribeckSettings(),
)
SIDE: Final = 72
TRAJECTORIES: Final = ("tri.1", "tri.3", "multi", "sine")


class Case(NamedTuple):
    """A trajectory."""

    name: str
    v: Floats
    q: Floats
    torque: Floats

    def window(self, seed: int | None) -> RefitRows:
        noise = 0.0 if seed is None else 0.01 * np.sqrt(np.mean(self.torque**2))
        y = self.torque + noise * np.random.default_rng(seed).normal(size=len(self.v))
        return RefitRows(np.stack([self.v, self.q], axis=1), y, self.v)


def case(name: str, rows: int) -> Case:
    """The trajectory of this name."""
    t = np.arange(rows) * 1e-3
    if name == "sine":
        v = 0.4 * np.sin(np.pi * t)
    else:
        leg, speeds, smooth = {"tri.1": (1000, [0.4], 100), "tri.3": (1000, [0.4], 300)}.get(
            name, (250, [0.4, 0.05, 0.2, 0.1], 100)
        )
        pad = 8 * leg
        k = np.arange(-pad, rows + pad) // leg
        v = np.where(k % 2 == 0, 1.0, -1.0) * np.array(speeds)[(k // 2) % len(speeds)]
        hann = np.hanning(smooth + 2)[1:-1]
        v = np.convolve(v, hann / hann.sum(), "same")[pad : pad + rows]
    q = np.cumsum(v) * 1e-3
    q -= q.mean()
    stribeck = TRUTH["C2"] * v * np.exp(-np.abs(v) / TRUTH["ws"])
    return Case(name, v, q, TRUTH["b"] * v + TRUTH["C1"] * np.tanh(v / TRUTH["w1"]) + stribeck + TRUTH["b_D"] * q)


class Reference:
    """The global minimiser, by brute force."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.logs = [np.linspace(np.log(a), np.log(b), SIDE) for a, b in zip(LOW, HIGH, strict=True)]
        v = case.v[:, np.newaxis]
        first, second = np.tanh(v / np.exp(self.logs[0])), v * np.exp(-np.abs(v) / np.exp(self.logs[1]))
        self.columns = self._off_q(np.concatenate([case.v[:, np.newaxis], first, second], axis=1))
        gram = self.columns.T @ self.columns
        i, j = np.meshgrid(1 + np.arange(SIDE), 1 + SIDE + np.arange(SIDE), indexing="ij")
        self.index = np.stack([np.zeros_like(i), i, j], axis=-1).reshape(-1, 3)
        self.K = gram[self.index[:, :, np.newaxis], self.index[:, np.newaxis, :]]

    def _off_q(self, x: Floats) -> Floats:
        q = self.case.q / np.linalg.norm(self.case.q)
        return x - np.multiply.outer(q, q @ x)

    def rho(self, eta: Floats, y: Floats) -> float:
        """ρ by scipy's non-negative least squares on the window's triangular factor."""
        v, q = self.case.v, self.case.q / np.linalg.norm(self.case.q)
        A = np.stack([v, np.tanh(v / eta[0]), v * np.exp(-np.abs(v) / eta[1])])
        part = A @ q
        L = np.linalg.cholesky(A @ A.T - np.outer(part, part))
        z = np.linalg.solve(L, A @ y)  # y is off q already
        return float(optimize.nnls(L.T, z)[1] ** 2 + y @ y - z @ z)

    def find(self, window: RefitRows) -> tuple[Floats, float]:
        """η of the global minimum, ρ there."""
        y = self._off_q(window.y)
        c = (self.columns.T @ y)[self.index]
        best = np.zeros(len(c))
        for subset in ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,)):
            used = list(subset)
            x = np.linalg.solve(self.K[:, used][:, :, used], c[:, used, np.newaxis])[..., 0]
            gain = np.where((x >= 0).all(axis=1), (x * c[:, used]).sum(axis=1), 0.0)
            best = np.maximum(best, gain)
        values = (y @ y - best).reshape(SIDE, SIDE)
        padded = np.pad(values, 1, constant_values=np.inf)
        inner = slice(1, -1)
        beside = [padded[:-2, inner], padded[2:, inner], padded[inner, :-2], padded[inner, 2:]]
        i, j = np.nonzero(values <= np.minimum.reduce(beside))
        order = np.argsort(values[i, j])[:8]
        found = []
        for a, b in zip(i[order], j[order], strict=True):
            start = np.array([self.logs[0][a], self.logs[1][b]])
            simplex = start + np.array([[0, 0], [0.05, 0], [0, 0.05]])
            result = optimize.minimize(
                lambda s: self.rho(np.exp(s), y),
                start,
                method="Nelder-Mead",
                bounds=list(zip(np.log(LOW), np.log(HIGH), strict=True)),
                options={
                    "initial_simplex": np.clip(simplex, np.log(LOW), np.log(HIGH)),
                    "xatol": 1e-4,
                    "fatol": np.inf,
                },
            )
            found.append((float(result.fun), np.exp(result.x)))
        value, eta = min(found, key=lambda pair: pair[0])
        return eta, value


def objective(window: RefitRows, nodes: int) -> Callable[[Floats], float]:
    """ρ(ln η) for a search from outside."""
    p, _ = prepare(window, MODEL, LOW, HIGH, RefitSettings(nodes=nodes))
    data = pack(p, MODEL.friction.law(MODEL.axis).kernel, NO_TABLE, 0)
    return lambda s: float(on_window(np.ascontiguousarray(s), data))


def timed(f: Callable[[], Any], times: int = 15) -> tuple[Any, float]:
    """The last result and the median thread CPU time in ms."""
    spent = []
    for _ in range(times):
        begin = time.thread_time()
        result = f()
        spent.append(time.thread_time() - begin)
    return result, float(np.median(spent)) * 1e3


def hit(eta: Floats, truth: Floats) -> bool:
    return bool(np.abs(eta / truth - 1.0).max() < 0.01)


def refits(c: Case, draws: int) -> dict[str, Any]:
    """Ours on this many noise draws, the rivals on five."""
    reference = Reference(c)
    found: list[Refit] = []
    hits, ambiguous, bias, times, rivals = 0, 0, [], [], {"direct": [], "differential evolution": []}
    whole_ms = float("nan")
    for seed in range(draws):
        window = c.window(seed)
        eta, rho = reference.find(window)
        ours, ms = timed(lambda window=window: refit(window, MODEL, LOW, HIGH), 15 if seed < 5 else 1)
        exact, exact_ms = timed(
            lambda w=window: refit(w, MODEL, LOW, HIGH, RefitSettings(nodes=0)), 5 if seed < 3 else 1
        )
        whole_ms = exact_ms if seed == 2 else whole_ms
        found.append(ours)
        times += [ms] if seed < 5 else []
        better = ours.residual**2 * ours.rows < rho * (1 + 1e-9)  # lower than brute force's lowest: a hit as well
        hits += hit(ours.eta, eta) or (better and not hit(ours.eta, eta))
        ambiguous += ours.ambiguous is not None
        if hit(exact.eta, ours.eta):
            bias.append(float(np.abs(ours.eta / exact.eta - 1).max()))
        if seed < 5:
            f, box = objective(window, 128), list(zip(np.log(LOW), np.log(HIGH), strict=True))
            for name, run in (
                ("direct", lambda f=f, box=box: optimize.direct(f, box)),
                (
                    "differential evolution",
                    lambda f=f, box=box, seed=seed: optimize.differential_evolution(f, box, rng=seed),
                ),
            ):
                result, ms = timed(run, 1)
                rivals[name].append((hit(np.exp(result.x), eta), result.nfev, ms))
    row = {
        "trajectory": c.name,
        "rows": len(c.v),
        "hits": hits,
        "draws": draws,
        "evaluations": float(np.median([r.evaluations for r in found])),
        "most evaluations": max(r.evaluations for r in found),
        "fills": float(np.median([r.fills for r in found])),
        "most fills": max(r.fills for r in found),
        "ms": float(np.median(times)),
        "ms without nodes": whole_ms,
        "bias of nodes": max(bias),
        "ambiguous": ambiguous,
    }
    for name, results in rivals.items():
        row[name] = {
            "hits": sum(r[0] for r in results),
            "evaluations": float(np.median([r[1] for r in results])),
            "ms": float(np.median([r[2] for r in results])),
        }
    return row


@kernel(OBJECTIVE)
def six(x: Floats, data: Floats) -> float:
    """Sum of squares in all six parameters; data: rows of (v, θ, y)."""
    total = 0.0
    w1, ws = np.exp(x[4]), np.exp(x[5])
    for i in range(0, len(data), 3):
        v = data[i]
        torque = x[0] * v + x[1] * np.tanh(v / w1) + x[2] * v * np.exp(-abs(v) / ws) + x[3] * data[i + 1]
        total += (data[i + 2] - torque) ** 2
    return total


def integrated(c: Case, published: bool, draws: int = 10) -> dict[str, Any]:
    """Expected evaluations of MCS, our default or the paper's, to success: on two and on six parameters."""
    reference = Reference(c)
    logs = np.log(LOW), np.log(HIGH)
    spent, won = {"two": 0, "six": 0}, {"two": 0, "six": 0}
    for seed in range(draws):
        window = c.window(seed)
        eta, _ = reference.find(window)

        def there(_: int, x: Floats, __: float, eta: Floats = eta) -> bool:
            return hit(np.exp(x[-2:]), eta)

        data = np.ascontiguousarray(np.stack([c.v, c.q, window.y], axis=1)).ravel()
        low = np.concatenate([np.zeros(4), logs[0]])
        high = np.concatenate([[200.0, 100.0, 2000.0, 100.0], logs[1]])
        for name, f, a, b, stall in (
            ("two", objective(window, 128), *logs, 6),
            ("six", Compiled(six, data), low, high, 18),
        ):
            search = Mcs(stall=stall, levels=20 if name == "two" else 40, published=published)
            result = minimise(search, f, a, b, budget=30_000, callback=there)
            spent[name] += result.evaluations
            won[name] += result.status is SearchStatus.CANCELLED
    expected = {name: spent[name] / won[name] if won[name] else float("inf") for name in spent}
    return {
        "trajectory": c.name,
        "searcher": "the paper's MCS" if published else "MCS",
        "draws": draws,
        "two": expected["two"],
        "won two": won["two"],
        "six": expected["six"],
        "won six": won["six"],
        "spent on six": spent["six"],
        "ratio, at least": (expected["six"] if won["six"] else float(spent["six"])) / expected["two"],
    }


def cost() -> float:
    """Microseconds of one evaluation on 128 nodes, two calls from Python included."""
    rho, s = objective(case("sine", 2000).window(0), 128), np.log([0.06, 0.13])
    return timed(lambda: [rho(s) for _ in range(500)])[1] * 2.0


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--draws", type=int, default=100, help="of noise, at 2,000 rows")
    parser.add_argument("--long", type=int, default=100, help="of noise, at 20,000 rows")
    parser.add_argument("--only", choices=TRAJECTORIES, help="one trajectory")
    parser.add_argument("--windows", type=int, default=100, help="random windows of each law")
    parser.add_argument("--first-seed", type=int, default=90_000, help="of the random windows")
    parser.add_argument("--windows-only", action="store_true", help="measure nothing else")
    parser.add_argument("--law", choices=list(LAWS), action="append", help="of the random windows; all of them")
    parser.add_argument("--search", action="append", help="of the random windows; mcs and lattice")
    parser.add_argument("--no-six", action="store_true", help="leave out the search over all six parameters")
    options = parser.parse_args()
    windows: list[dict[str, Any]] = []
    for row in windowed(options):
        windows.append(row)
        if not options.json:
            print(in_line(row), flush=True)
    code = int(any(row["missed"] for row in windows))
    if options.windows_only:
        if options.json:
            json.dump({"windows": windows}, sys.stdout)
        return code
    report: dict[str, Any] = {"µs an evaluation": cost(), "refits": [], "integrated": [], "windows": windows}
    if not options.json:
        print(f"an evaluation on 128 nodes: {report['µs an evaluation']:.1f} µs", flush=True)
    for rows, draws in ((2000, options.draws), (20_000, options.long)):
        for name in [options.only] if options.only else TRAJECTORIES:
            if draws == 0:
                continue
            row = refits(case(name, rows), draws)
            report["refits"].append(row)
            if not options.json:
                rivals = "; ".join(
                    f"{rival} {row[rival]['hits']}/5, {row[rival]['evaluations']:.0f}, {row[rival]['ms']:.1f} ms"
                    for rival in ("direct", "differential evolution")
                )
                print(
                    f"{name} {rows}: {row['hits']}/{draws}, evaluations {row['evaluations']:.0f} (most"
                    f" {row['most evaluations']}), fills {row['fills']:.0f} (most {row['most fills']}),"
                    f" {row['ms']:.2f} ms, without nodes {row['ms without nodes']:.1f} ms, bias of nodes"
                    f" {row['bias of nodes']:.1e}, ambiguous {row['ambiguous']} | {rivals}",
                    flush=True,
                )
    for name in () if options.no_six else ("tri.3", "multi"):
        if options.only not in (None, name):
            continue
        for published in (False, True):
            row = integrated(case(name, 2000), published)
            report["integrated"].append(row)
            if not options.json:
                print(told(row), flush=True)
    if options.json:
        json.dump(report, sys.stdout)
    return code


def windowed(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Rows of the random windows, law by law, each with the limits that it misses."""
    seeds = range(options.first_seed, options.first_seed + options.windows)
    for law in (options.law or list(LAWS)) if options.windows else ():
        found = compare(law, options.search or ["mcs", "lattice"], seeds)
        lattice = next((row for row in found if row["search"] == "lattice"), None)
        yield from (row | {"missed": missed(row, lattice)} for row in found)


def in_line(row: dict[str, Any]) -> str:
    """A row for people."""
    shown = (f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items())
    return ", ".join(one for one in shown if not one.startswith(("law", "search", "missed"))).join(
        (f"{row['law']}, {row['search']}: ", f"  MISSED: {'; '.join(row['missed'])}" if row["missed"] else "")
    )


def told(row: dict[str, Any]) -> str:
    """What the search over all six parameters costs compared with that over two."""
    by = {part: f"{row[part]:.0f} evaluations ({row[f'won {part}']} of {row['draws']})" for part in ("two", "six")}
    return (
        f"{row['trajectory']}, {row['searcher']}: both ω {by['two']}, all six {by['six']}, spent"
        f" {row['spent on six']}: at least {row['ratio, at least']:.0f} × as many"
    )


if __name__ == "__main__":
    sys.exit(main())
