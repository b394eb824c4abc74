"""Sets the vector registers of a stopped child from a buffer that is shorter than the host's; prints what became of it.

A program of its own, so that the shim can be preloaded into it and its child alone.
"""

import ctypes
import json
import os
import signal

TRACEME, DETACH, GETREGSET, SETREGSET, XSTATE = 0, 17, 0x4204, 0x4205, 0x202
SHORT = 512 + 64 + 256  # bytes: legacy area, header, upper halves of AVX
XMM0, HEADER = 160, 512  # places in the buffer


class Area(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def main() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    libc.ptrace.restype = ctypes.c_long
    child = os.fork()
    if child == 0:
        libc.ptrace(TRACEME, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.waitpid(child, os.WUNTRACED)

    def registers(request: int, buffer: ctypes.Array[ctypes.c_char], length: int) -> tuple[int, int]:
        area = Area(ctypes.addressof(buffer), length)
        done = libc.ptrace(request, child, XSTATE, ctypes.addressof(area))
        return (ctypes.get_errno() if done else 0), area.length

    before = ctypes.create_string_buffer(64 * 1024)
    _, whole = registers(GETREGSET, before, len(before))
    wanted = ctypes.create_string_buffer(before.raw[:SHORT], SHORT)
    wanted[XMM0 : XMM0 + 16] = bytes(range(16))
    wanted[HEADER] = bytes([before.raw[HEADER] | 0b10])  # SSE is among what is given
    error, _ = registers(SETREGSET, wanted, SHORT)
    after = ctypes.create_string_buffer(64 * 1024)
    registers(GETREGSET, after, len(after))
    same, _ = registers(SETREGSET, after, whole)
    libc.ptrace(DETACH, child, None, None)
    os.kill(child, signal.SIGCONT)
    status = os.waitpid(child, 0)[1]
    print(
        json.dumps(
            {
                "whole": whole,
                "short": SHORT,
                "error": error,
                "whole buffer": same,
                "xmm0": list(after.raw[XMM0 : XMM0 + 16]),
                "ended": status,
            }
        )
    )


if __name__ == "__main__":
    main()
