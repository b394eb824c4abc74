/* The reference that tests/benchmarks/estimation/rls.py measures against: the same recursions as estimators/recursive/kernel.py in plain C.
 *
 * bare():    UD measurement updates with a fixed lambda, nothing else, in textbook loops.
 * full():    the default step: refusal of non-finite rows, clip, residual variances, CUSUM, growing memory, pseudo-observations.
 * State:     theta[p] d[p] u[p*p], then for bare() 3p of scratch, for full() bound[p] visited[p] k[p]
 *            r[m] long[m] short[m].
 */
#include <math.h>
#include <stddef.h>

struct scalars {
    double lambda, forgotten, axis, rows, refused, clipped, weight, weight2, cusum, excursion, alarms, since, memory;
    double open, rate_long, rate_short, rate_error, error, signal, masked, longest, growth, restart, noise, allowance, limit;
    double worst, least, sudden, climbing, onset;
};

/* Bierman's update, textbook loops: two divisions a column, f before U. */
static double observe(double *theta, double *d, double *u, const double *h, double *f, double *v, double *k, long p,
                      double e)
{
    for (long i = 0; i < p; i++)
        e -= h[i] * theta[i];
    for (long i = 0; i < p; i++) {
        double s = h[i];
        for (long n = 0; n < i; n++)
            s += u[i * p + n] * h[n];
        f[i] = s;
        v[i] = d[i] * s;
    }
    double alpha = 1.0;
    for (long j = 0; j < p; j++) {
        double next = alpha + f[j] * v[j], step = -f[j] / alpha;
        d[j] *= alpha / next;
        k[j] = v[j];
        for (long i = 0; i < j; i++) {
            double old = u[j * p + i], ki = k[i];
            u[j * p + i] = old + ki * step;
            k[i] = ki + v[j] * old;
        }
        alpha = next;
    }
    double gain = e / alpha;
    for (long i = 0; i < p; i++)
        theta[i] += k[i] * gain;
    return e;
}

void bare(double *state, const double *phi, const double *y, long rows, long m, long p, double lambda)
{
    double *theta = state, *d = theta + p, *u = d + p, *f = u + p * p, *v = f + p, *k = v + p;
    double inverse = 1.0 / lambda;
    for (long row = 0; row < rows; row++) {
        for (long i = 0; i < p; i++)
            d[i] *= inverse;
        for (long j = 0; j < m; j++)
            observe(theta, d, u, phi + (row * m + j) * p, f, v, k, p, y[row * m + j]);
    }
}

/* From here on, loops and order of operations are those of estimators/recursive/kernel.py: one division a column, f and U together. */
static double observe_fused(double *d, double *u, const double *h, double *k, long p, double shrink, double noise,
                            double *inverse_alpha)
{
    double alpha = noise, inverse = 1.0 / noise;
    for (long j = 0; j < p; j++) {
        double *column = u + j * p, f = h[j];
        for (long i = 0; i < j; i++)
            f += column[i] * h[i];
        double dj = d[j] * shrink, v = dj * f, step = -f * inverse, next = alpha + f * v;
        inverse = 1.0 / next;
        d[j] = dj * (alpha * inverse);
        k[j] = v;
        for (long i = 0; i < j; i++) {
            double old = column[i], ki = k[i];
            column[i] = old + ki * step;
            k[i] = ki + v * old;
        }
        alpha = next;
    }
    *inverse_alpha = inverse;
    return alpha;
}

static void observe_axis(double *d, double *u, double *k, long p, long axis, double r)
{
    double alpha = r, inverse = 1.0 / r;
    for (long i = 0; i < axis; i++)
        k[i] = 0.0;
    for (long j = axis; j < p; j++) {
        double *column = u + j * p, f = j > axis ? column[axis] : 1.0;
        double v = d[j] * f, step = -f * inverse, next = alpha + f * v;
        inverse = 1.0 / next;
        d[j] *= alpha * inverse;
        k[j] = v;
        for (long i = 0; i < j; i++) {
            double old = column[i], ki = k[i];
            column[i] = old + ki * step;
            k[i] = ki + v * old;
        }
        alpha = next;
    }
}

static void bound_axes(struct scalars *s, double *d, double *u, const double *bound, double *visited, double *k, long p)
{
    long axis = (long)s->axis;
    for (long turn = 0; turn < p; turn++) {
        double share = s->forgotten - visited[axis];
        if (share < 0.01 || (turn > 0 && share < 0.25))
            break;
        observe_axis(d, u, k, p, axis, 0.5 * bound[axis] / share);
        visited[axis] = s->forgotten;
        axis = axis + 1 == p ? 0 : axis + 1;
    }
    s->axis = (double)axis;
}

static double next_lambda(struct scalars *s, double q)
{
    double g = 0.0, memory = s->memory + s->growth;
    if (s->noise > 0.0) {
        double x = q / s->noise;
        if (x > 25.0 * s->worst && 25.0 * s->worst > 0.0)
            s->sudden = 1.0;
        if (!(x < 12.0))
            x = 12.0;
        g = s->cusum + x - s->allowance;
        s->climbing += 1.0;
        if (g <= 0.0)
            g = s->climbing = s->sudden = 0.0;
        if (g > s->excursion)
            s->excursion = g;
    }
    s->since += 1.0;
    if (memory > s->longest)
        memory = s->longest;
    if (g > s->limit) {
        g = 0.0;
        s->onset = s->climbing;
        s->climbing = 0.0;
        s->alarms += 1.0;
        s->since = 0.0;
        memory = s->restart;
    }
    s->cusum = g;
    s->memory = memory;
    return 1.0 - 1.0 / (1.0 + memory);
}

void full(struct scalars *s, double *state, const double *phi, const double *y, long rows, long m, long p)
{
    double *theta = state, *d = theta + p, *u = d + p, *bound = u + p * p, *visited = bound + p, *k = visited + p;
    double *noises = k + p, *longs = noises + m, *shorts = longs + m;
    for (long row = 0; row < rows; row++) {
        double shrink = 1.0 / s->lambda, count = s->rows + 1.0, rate = 1.0 / count;
        double rate_long = s->rate_long > rate ? s->rate_long : rate;
        double rate_short = s->rate_short > rate ? s->rate_short : rate;
        int young = count <= 10.0 * p, opened = s->since < s->open;
        long present = 0;
        double sum_q = 0.0, sum_e = 0.0, sum_y = 0.0;
        for (long j = 0; j < m; j++) {
            const double *h = phi + (row * m + j) * p;
            double target = y[row * m + j], e = target, size = 0.0, inverse;
            for (long i = 0; i < p; i++) {
                e -= h[i] * theta[i];
                size += fabs(h[i]);
            }
            if (!(fabs(e) < 1e100 && size < 1e100)) {
                s->masked += 1.0;
                continue;
            }
            double noise = noises[j], alpha = observe_fused(d, u, h, k, p, shrink, noise, &inverse), q = e * e * inverse;
            double level = longs[j] > s->least ? longs[j] : s->least;
            shrink = 1.0;
            sum_q += q;
            sum_e += e * e / noise;
            if (opened && shorts[j] > level)
                level = shorts[j];
            if (q > 25.0 * level && !young) {
                e = copysign(sqrt(25.0 * level * alpha), e);
                q = 25.0 * level;
                s->clipped += 1.0;
            }
            double gain = e * inverse, limit = 9.0 * longs[j];
            for (long i = 0; i < p; i++)
                theta[i] += k[i] * gain;
            longs[j] += rate_long * ((young || q < limit ? q : limit) - longs[j]);
            shorts[j] += rate_short * (q - shorts[j]);
            sum_y += target * target / noise;
            present++;
        }
        if (present == 0) {
            s->refused += 1.0;
            continue;
        }
        s->rows = count;
        s->forgotten += 1.0 - s->lambda;
        s->weight = s->lambda * s->weight + 1.0;
        s->weight2 = s->lambda * s->lambda * s->weight2 + 1.0;
        rate = s->rate_error > rate ? s->rate_error : rate;
        s->error += rate * (sum_e - s->error);
        s->signal += rate * (sum_y - s->signal);
        bound_axes(s, d, u, bound, visited, k, p);
        s->lambda = next_lambda(s, sum_q / (double)present);
    }
}
