"""What a process of the service does with memory."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from daq.processes.child import Child, give_memory_back

BLOCK = 4096
BLOCKS = 10_000


def resident() -> float:
    """MB of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def freed_below_what_is_held() -> int:
    """0 where 40 MB that were freed below a block that is still held leave this process."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [library.malloc(BLOCK) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK)
    for block in blocks[:-1]:
        library.free(block)
    before = resident()
    give_memory_back()
    return 0 if before - resident() > 0.8 * BLOCK * BLOCKS / 1e6 else 1


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
def test_memory_that_was_freed_below_memory_in_use_leaves_the_process() -> None:
    assert Child("memory", freed_below_what_is_held).wait() == 0


ARENAS = """
import ctypes, re, sys, threading
from daq.processes.child import share_arenas
if sys.argv[1:]: share_arenas()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
meet = threading.Barrier(8)
def work():
    library.malloc(1000)
    meet.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
library.malloc_info(0, ctypes.c_void_p.in_dll(library, "stdout"))
library.fflush(None)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="the C library is not glibc")
@pytest.mark.parametrize(("words", "arenas"), [([], 8), (["shared"], 2)])
def test_threads_share_an_arena_besides_the_first(words: list[str], arenas: int) -> None:
    told = subprocess.run(
        [sys.executable, "-c", ARENAS, *words],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = told.count("<heap nr=")
    assert found == arenas if words else found >= arenas
