"""What a process of the service does with memory."""

import ctypes
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from daq.processes.child import Child, give_memory_back, give_pages_of_files_back, without_collections
from tests.support.garbage import ENDED, Garbage, collected

BLOCK = 4096
BLOCKS = 10_000


FREED = f"""
import ctypes
from pathlib import Path
from daq.processes.child import give_memory_back
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * {BLOCK}
library = ctypes.CDLL(None)
library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
blocks = [library.malloc({BLOCK}) for _ in range({BLOCKS})]
for block in blocks: ctypes.memset(block, 1, {BLOCK})
for block in blocks[:-1]: library.free(block)
before = resident()
give_memory_back()
print(before - resident())
"""


def told(program: str, *words: str) -> str:
    """What a program of Python prints, in an interpreter of its own: this one holds what other tests have left."""
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
def test_memory_that_was_freed_below_memory_in_use_leaves_the_process() -> None:
    assert int(told(FREED)) > 0.8 * BLOCK * BLOCKS


def test_a_child_does_not_end_what_its_parent_has_let_go() -> None:
    def work() -> int:
        Garbage()
        give_memory_back()
        return 0 if [os.getpid()] == ENDED else 1

    collected()
    ENDED.clear()
    with without_collections():
        Garbage()
        assert Child("child", work).wait() == 0, "its own garbage alone"
        assert collected() == [os.getpid()]


def resident_of(path: Path) -> dict[str, int]:
    """kB of each mapping of a file that is in this process's memory, by its rights."""
    found, rights = dict[str, int](), ""
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            rights = words[1] if words[-1] == str(path) else ""
        elif words[0] == "Rss:" and rights:
            found[rights] = int(words[1])
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_what_is_only_read_from_a_file_is_given_back_and_what_was_written_to_stays(tmp_path: Path) -> None:
    path = tmp_path / "mapped"
    path.write_bytes(b"a" * 64 * BLOCK)
    with path.open("rb") as file:
        read = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
        written = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        written[:BLOCK] = b"b" * BLOCK
        # as the loader does with tables that it has filled in
        address = ctypes.addressof(ctypes.c_char.from_buffer(written))
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), len(written), mmap.PROT_READ | mmap.PROT_EXEC)
        assert read[:] == b"a" * 64 * BLOCK
        before = resident_of(path)
        give_pages_of_files_back()
        after = resident_of(path)
        assert before["r--p"] == 64 * BLOCK // 1024
        assert after["r--p"] == 0
        assert after["r-xp"] == before["r-xp"] > 0
        assert read[:] == b"a" * 64 * BLOCK
        assert written[: BLOCK + 1] == b"b" * BLOCK + b"a"
        read.close()
        written.close()


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
    found = told(ARENAS, *words).count("<heap nr=")
    assert found == arenas if words else found >= arenas
