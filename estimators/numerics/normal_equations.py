"""Normal equations of a window's columns, from its Statistics, and the Gauss–Newton system they give.

Columns are [F M …]: F the signed fixed ones, M and what follows live on B nodes; the unsigned fixed columns,
orthonormal as Q, are projected out of all of them. With z = Qᵀ(W x):

    K = Xᵀ(WᵀW)X − zᵀz     c = (Wᵀy⊥)ᵀX     (and the entries with F from block and cross)
"""

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.numerics.nnls import PASSIVE, Integers
from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR


@inline
def dot(a: Floats, b: Floats) -> float:
    """Four running sums: the processor need not wait for one addition to begin the next."""
    s0 = s1 = s2 = s3 = 0.0
    whole = len(a) - len(a) % 4
    for i in range(0, whole, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(whole, len(a)):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@inline
def copy(source: Floats, target: Floats) -> None:
    """target = source, vectors; a loop, because slices cost the compiler far more."""
    for i in range(len(source)):
        target[i] = source[i]


@inline
def normal_equations(X: Floats, band: Floats, cross: Floats, block: Floats, K: Floats, c: Floats, size: Floats) -> None:
    """Fill K (f + k, f + k), c (f + k,) and size (f + k,), the columns' squared lengths before projection.

    X: (k, B); band: (width, B); cross: (free + f + 1, B) of [Q F y]; block: (f + 1, f + 1) of [F y].
    """
    f, nodes = len(block) - 1, X.shape[1]
    free = len(cross) - 1 - f
    for i in range(f):
        for j in range(f):
            K[i, j] = block[i, j]
        c[i] = block[i, f]
        size[i] = block[i, i]
    z, y = np.empty((len(X), free)), np.empty(nodes)
    for a in range(len(X)):
        x = X[a]
        for b in range(nodes):
            y[b] = band[0, b] * x[b]
        for d in range(1, len(band)):
            w = band[d]
            for b in range(nodes - d):
                y[b] += w[b] * x[b + d]
            for b in range(nodes - d):
                y[b + d] += w[b] * x[b]
        for i in range(free):
            z[a, i] = dot(x, cross[i])
        for i in range(f):
            K[f + a, i] = K[i, f + a] = dot(x, cross[free + i])
        c[f + a] = dot(x, cross[free + f])
        for b in range(a + 1):
            entry = dot(y, X[b])
            if a == b:
                size[f + a] = entry
            for i in range(free):
                entry -= z[a, i] * z[b, i]
            K[f + a, f + b] = K[f + b, f + a] = entry


@kernel("void(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])")
def unprojected(X: Floats, band: Floats, cross: Floats, gram: Floats, K: Floats, c: Floats) -> None:
    """K and c of [F X] with every fixed column in F: cross (fixed + 1, B) and gram (fixed + 1, fixed + 1) of [F y]."""
    normal_equations(X, band, cross, gram, K, c, np.empty(len(c)))


@kernel("i8(f8[:, ::1], f8[:, ::1], i8[::1], i8, f8, f8[:, ::1], f8[:, ::1])")
def project_out(
    gram: Floats, cross: Floats, order: Integers, free: int, collinear: float, Q: Floats, block: Floats
) -> int:
    """Orthonormalise the first `free` of the fixed columns in this order, and project the others and y off them.

    gram (fixed + 1, fixed + 1), cross (fixed + 1, B): of [F y]. Fills Q (fixed + 1, B) with the cross products of
    [Q F y], F of length one before projection, and block (fixed − free + 1, …) with those of [F y] among themselves.
    Returns the index in F of a column whose part off those before it is, squared, at most `collinear` of it; or −1.
    """
    count = len(gram)
    G, lengths = np.empty((count, count)), np.ones(count)
    for i in range(count):
        a = order[i] if i < count - 1 else i
        if i < count - 1:
            lengths[i] = np.sqrt(max(gram[a, a], LEAST_DIVISOR))  # of a column of zeros: found below
        for j in range(i + 1):
            b = order[j] if j < count - 1 else j
            G[i, j] = G[j, i] = gram[a, b] / (lengths[i] * lengths[j])
        for b in range(Q.shape[1]):
            Q[i, b] = cross[a, b] / lengths[i]
    for k in range(count):
        if k == free:
            for i in range(k, count):
                for j in range(k, count):
                    block[i - k, j - k] = G[i, j]
        if k == count - 1:
            break
        if not G[k, k] > collinear:
            return int(order[k])
        length = np.sqrt(G[k, k])
        if k < free:
            for b in range(Q.shape[1]):
                Q[k, b] /= length
        for j in range(k + 1, count):
            part = G[k, j] / length
            if k < free:
                for b in range(Q.shape[1]):
                    Q[j, b] -= part * Q[k, b]
            for i in range(k + 1, count):
                G[j, i] -= part * G[k, i] / length
    return -1


@inline
def gauss_newton(
    K: Floats, c: Floats, state: Integers, theta: Floats, m: int, owner: Integers, H: Floats, g: Floats
) -> None:
    """H = DᵀP⊥D and g = Dᵀr from the normal equations of [F M M′] and their solution theta (f + m,), state of [F M].

    M′: derivatives of M's m columns, in their order, over and over; owner (derivatives,): by which η.
    D_k = Σ_j θ_j M′_j over those by η_k; P⊥ projects off the columns whose state is PASSIVE.
    """
    n, q = len(theta), len(g)
    A = np.zeros((n + q, n + q))  # of [F M D], then its Cholesky factor
    for i in range(n):
        A[i, : i + 1] = K[i, : i + 1]
    for k in range(q):
        g[k] = 0.0
    for j in range(len(owner)):
        factor, row = theta[n - m + j % m], n + owner[j]
        g[owner[j]] += factor * c[n + j]
        for i in range(n):
            A[row, i] += factor * K[n + j, i]
        for i in range(len(owner)):
            A[row, n + owner[i]] += factor * theta[n - m + i % m] * K[n + j, n + i]
    for k in range(q):
        for i in range(n):
            g[k] -= A[n + k, i] * theta[i]
    for i in range(n + q):
        if i < n and state[i] != PASSIVE:
            continue
        for j in range(min(i + 1, n)):
            if state[j] == PASSIVE:
                entry = A[i, j]
                for k in range(j):
                    if state[k] == PASSIVE:
                        entry -= A[i, k] * A[j, k]
                A[i, j] = np.sqrt(entry) if i == j else entry / A[j, j]
    for a in range(q):
        for b in range(q):
            H[a, b] = A[n + a, n + b]
            for k in range(n):
                if state[k] == PASSIVE:
                    H[a, b] -= A[n + a, k] * A[n + b, k]


@inline
def damped_step(H: Floats, g: Floats, mu: float, s: Floats, scale: Floats, limit: float, d: Floats) -> float:
    """Fill d with the solution of (H + μ diag H) d = g within the box; return the decrease H and g promise.

    scale: (3, q) lower and upper s, and 1 where no step may be longer than limit. A coordinate that would leave the box
    from its edge, or that changes nothing, stays.
    """
    q = len(g)
    A = np.zeros((q, q))
    for k in range(q):
        stays = (s[k] <= scale[0, k] and g[k] < 0.0) or (s[k] >= scale[1, k] and g[k] > 0.0) or not H[k, k] > 0.0
        d[k] = 0.0 if stays else g[k]
        A[k, k] = 0.0 if stays else H[k, k] * (1.0 + mu)
    for k in range(q):
        for j in range(q):
            if j != k and A[k, k] > 0.0 and A[j, j] > 0.0:
                A[k, j] = H[k, j]
    for k in range(q):  # Gaussian elimination: A is positive definite but for zero rows
        for i in range(k + 1, q):
            if A[k, k] > 0.0:
                factor = A[i, k] / A[k, k]
                for j in range(k + 1, q):
                    A[i, j] -= factor * A[k, j]
                d[i] -= factor * d[k]
    longest = 0.0
    for k in range(q - 1, -1, -1):
        for j in range(k + 1, q):
            d[k] -= A[k, j] * d[j]
        d[k] = d[k] / A[k, k] if A[k, k] > 0.0 else 0.0
        if scale[2, k] > 0.0:
            longest = max(longest, abs(d[k]))
    shorter = min(1.0, limit / max(longest, LEAST_DIVISOR))
    for k in range(q):
        d[k] = min(max(d[k] * shorter, scale[0, k] - s[k]), scale[1, k] - s[k])
    promise = 0.0
    for k in range(q):
        promise += 2.0 * g[k] * d[k]
        for j in range(q):
            promise -= d[k] * H[k, j] * d[j]
    return promise
