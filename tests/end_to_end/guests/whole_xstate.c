/* Preloaded into User-Mode Linux alone: gives the host the whole of a process' extended registers.

   The host takes PTRACE_SETREGSET of NT_X86_XSTATE at its own full size only, and the guest's kernel keeps a buffer of
   the size it was built for: on a processor with AMX (11 kB) its first process panics. What is missing is padded with
   zeros: components that the header of the guest's buffer does not name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef long (*trace_t)(int, pid_t, void *, void *);

static char whole[64 * 1024]; /* the guest's kernel has small stacks, and one thread that traces */
static size_t size;

long ptrace(enum __ptrace_request request, ...)
{
    static trace_t host;
    va_list list;
    va_start(list, request);
    pid_t pid = va_arg(list, pid_t);
    void *address = va_arg(list, void *);
    void *data = va_arg(list, void *);
    va_end(list);
    if (!host)
        host = (trace_t)dlsym(RTLD_NEXT, "ptrace");
    if (request != PTRACE_SETREGSET || (long)address != NT_X86_XSTATE)
        return host(request, pid, address, data);
    if (!size) {
        struct iovec all = {whole, sizeof whole};
        if (host(PTRACE_GETREGSET, pid, address, &all) == 0)
            size = all.iov_len;
    }
    struct iovec *given = data;
    if (given->iov_len >= size)
        return host(request, pid, address, data);
    memcpy(whole, given->iov_base, given->iov_len);
    memset(whole + given->iov_len, 0, size - given->iov_len);
    struct iovec padded = {whole, size};
    return host(request, pid, address, &padded);
}
