"""One RLS step, p = 10, two outputs: ours against gcc -O3 C of the same algorithm, padasip, river and filterpy.

jointwatch bench rls [--json]

ns per sample (two scalar updates) of this thread, medians over turns. A ratio is the median of those of a turn, where
C runs right before: a processor that is shared changes its speed by half from one tenth of a second to the next.
C is called as ours is, through a Python call per batch, but its time is taken from a call of the whole chunk.
"""

import argparse
import ctypes
import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm
import numba
import numpy as np

from estimators.quantities import Floats
from estimators.recursive.estimator import RecursiveLeastSquares
from estimators.recursive.forgetting import Alarm, Fixed, Threshold
from estimators.recursive.kernel import absorb

P: Final = 10
M: Final = 2
ROWS: Final = 1000
PERIOD: Final = 1e-3
LAMBDA: Final = 1.0 - 1.0 / 60_001.0
THRESHOLD: Final = Threshold(1e-4, 3.0, 60.0)
FLAGS: Final = ("-O3",)
BATCHES: Final = (1, 8, 32, 1000)
TURNS: Final = 151

Chunk = Callable[[], object]


def data() -> tuple[Floats, Floats]:
    """phi (rows, outputs, parameters) and y (rows, outputs)."""
    rng = np.random.default_rng(1)
    phi = rng.standard_normal((ROWS, M, P))
    return phi, phi @ rng.standard_normal(P) + 0.01 * rng.standard_normal((ROWS, M))


def ours(phi: Floats, y: Floats, full: bool, batch: int) -> Chunk:
    """Our kernel over the chunk, batch rows a call; full: the default law, else a fixed λ."""
    rls = RecursiveLeastSquares(P, M, PERIOD, Alarm() if full else Fixed(memory=60.0))
    rls.begin(np.ones(M), np.ones(P))
    rls.absorb(phi, y)
    rls.settle(THRESHOLD)
    parts = [
        (np.ascontiguousarray(phi[i : i + batch]), np.ascontiguousarray(y[i : i + batch]))
        for i in range(0, ROWS, batch)
    ]
    state = rls.state

    def chunk() -> None:
        for part_phi, part_y in parts:
            absorb(state, part_phi, part_y)

    return chunk


def reference(folder: Path) -> ctypes.CDLL:
    """rls_reference.c compiled with gcc -O3."""
    library = folder / "rls_reference.so"
    source = Path(__file__).with_name("rls_reference.c")
    subprocess.run(["gcc", *FLAGS, "-shared", "-fPIC", "-o", str(library), str(source), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def c_state() -> tuple[Floats, Floats]:
    """Scalars and arrays of the C reference before the first row: what ours has after begin() and settle()."""
    state = np.zeros(5 * P + P * P + 3 * M)
    state[5 * P + P * P : 5 * P + P * P + M] = 1.0
    state[P : 2 * P] = 50.0
    state[2 * P + P * P : 3 * P + P * P] = 100.0
    scalars = np.zeros(31)
    scalars[0] = 1.0
    scalars[11:19] = 1e12, 6e4, 1000.0, 2e-4, 1e-2, 5e-4, 0.0, 0.0
    scalars[20:28] = 6e4, 0.5, 5.0, *THRESHOLD, 0.25 * THRESHOLD.noise
    return scalars, state


def c_chunk(library: ctypes.CDLL, phi: Floats, y: Floats, full: bool) -> Chunk:
    """The C reference over the chunk, in one call."""
    scalars, state = c_state()
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (scalars, state, phi, y)]
    sizes = [ctypes.c_long(n) for n in (ROWS, M, P)]

    def chunk(_: Any = (scalars, state, phi, y)) -> None:
        if full:
            library.full(*pointers, *sizes)
        else:
            library.bare(*pointers[1:], *sizes, ctypes.c_double(LAMBDA))

    return chunk


def agree(library: ctypes.CDLL, phi: Floats, y: Floats) -> float:
    """Largest relative difference of θ between the C reference's default step and ours, through an alarm."""
    changed = y.copy()
    changed[ROWS // 2 :] *= 1.5
    scalars, state = c_state()
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (scalars, state, phi, changed)]
    library.full(*pointers, *(ctypes.c_long(n) for n in (ROWS, M, P)))
    rls = RecursiveLeastSquares(P, M, PERIOD, Alarm())
    rls.begin(np.ones(M), np.ones(P))
    rls.settle(THRESHOLD)
    rls.absorb(phi, changed)
    return float(np.max(np.abs(rls.theta / state[:P] - 1.0)))


def libraries(phi: Floats, y: Floats) -> dict[str, tuple[Chunk, int]]:
    """The neighbours, as their users call them: chunk and its rows."""
    import padasip
    import river.linear_model
    from filterpy.kalman import KalmanFilter

    n = 100
    names = [f"x{i}" for i in range(P)]
    flat = [(x, float(v)) for row, target in zip(phi[:n], y[:n], strict=True) for x, v in zip(row, target, strict=True)]
    maps = [(dict(zip(names, x.tolist(), strict=True)), v) for x, v in flat]
    adaptive = padasip.filters.FilterRLS(n=P, mu=LAMBDA)
    bayesian = river.linear_model.BayesianLinearRegression(smoothing=LAMBDA)
    walk = KalmanFilter(dim_x=P, dim_z=M)
    walk.R = np.eye(M)

    def run_padasip() -> None:
        for x, v in flat:
            adaptive.adapt(v, x)

    def run_river() -> None:
        for x, v in maps:
            bayesian.learn_one(x, v)

    def run_filterpy() -> None:
        for row, target in zip(phi[:n], y[:n], strict=True):
            walk.update(target, H=row)

    return {"padasip": (run_padasip, n), "river": (run_river, n), "filterpy": (run_filterpy, n)}


def took(chunk: Chunk, rows: int) -> float:
    """ns per sample."""
    chunk()  # warms caches and branch prediction, which the contender before has left cold
    start = time.thread_time_ns()
    chunk()
    return (time.thread_time_ns() - start) / rows


def measure(chunks: dict[str, tuple[Chunk, int]], references: Sequence[Chunk], repeats: int) -> dict[str, Floats]:
    """ns per sample of each, and its ratio to each reference's, run right before it: medians of so many turns."""
    turns: dict[str, list[list[float]]] = {name: [] for name in chunks}
    for _ in range(repeats):
        for name, (chunk, rows) in chunks.items():
            before = [took(one, ROWS) for one in references]
            own = took(chunk, rows)
            turns[name].append([own, *(own / one for one in before)])
    return {name: np.median(found, axis=0) for name, found in turns.items()}


def figures() -> list[dict[str, Any]]:
    """One row per contender."""
    phi, y = data()
    with tempfile.TemporaryDirectory() as folder:
        library = reference(Path(folder))
        difference = agree(library, phi, y)
        if not difference < 1e-9:
            raise AssertionError(f"C and ours are not the same algorithm: θ differs by {difference:.1g}")
        references = [c_chunk(library, phi, y, full=full) for full in (False, True)]
        chunks = {name: (chunk, ROWS) for name, chunk in zip(("C bare UD", "C default step"), references, strict=True)}
        for batch in BATCHES:
            chunks[f"ours fixed λ, batch {batch}"] = ours(phi, y, False, batch), ROWS
            chunks[f"ours default step, batch {batch}"] = ours(phi, y, True, batch), ROWS
        result = measure(chunks, references, TURNS) | measure(libraries(phi, y), references, 7)
    keys = "ns", "to_bare_c", "to_same_c"
    return [{"name": name, **dict(zip(keys, found.tolist(), strict=True))} for name, found in result.items()]


def processor() -> str:
    """What it runs on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "unknown processor")
    family, model = (
        next((line.partition(": ")[2] for line in lines if re.match(rf"{key}\s*:", line)), "?")
        for key in ("cpu family", "model")
    )
    return f"{name} (family {family}, model {model}), seen by LLVM as {llvm.get_host_cpu_name()}"


def compilers() -> str:
    """What compiled C, and what compiled ours."""
    gcc = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    options = " ".join(FLAGS)
    version = ".".join(map(str, llvm.llvm_version_info))
    return f"C: {gcc} {options}; ours: numba {numba.__version__}, LLVM {version}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", action="store_true")
    rows = figures()
    if parser.parse_args().json:
        print(json.dumps(rows))
        return
    print(f"{processor()}; {compilers()}")
    print(f"{'':32}{'ns/sample':>10}{'× bare C':>10}{'× C default step':>18}")
    for row in rows:
        print(f"{row['name']:32}{row['ns']:10.0f}{row['to_bare_c']:10.2f}{row['to_same_c']:18.2f}")


if __name__ == "__main__":
    main()
