/* ADBench's Gaussian mixture, value and gradient by hand: `models.mixture_loss` with its adjoint.

   A point at a time: differences and products of all components stay in the first cache until their weights
   are known. Row i of a component's factor is lower[i (i - 1) / 2] and on, its diagonal exp(q[i]). */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double mixture(long n, long d, long k, const double *restrict alpha, const double *restrict mu,
               const double *restrict q, const double *restrict lower, const double *restrict x,
               double *restrict d_alpha, double *restrict d_mu, double *restrict d_q,
               double *restrict d_lower)
{
    const long below = d * (d - 1) / 2;
    double *memory = malloc(sizeof(double) * (4 * k * d + 3 * k)), *diagonal = memory;
    double *away = diagonal + k * d, *turned = away + k * d, *pulled = turned + k * d;
    double *inner = pulled + d * k, *logs = inner + k, *sizes = logs + k;
    double total = 0.0, largest, sum;
    memset(d_alpha, 0, sizeof(double) * k);
    memset(d_mu, 0, sizeof(double) * k * d);
    memset(d_q, 0, sizeof(double) * k * d);
    memset(d_lower, 0, sizeof(double) * k * below);
    for (long c = 0; c < k; c++) {
        logs[c] = alpha[c];
        for (long i = 0; i < d; i++) {
            diagonal[c * d + i] = exp(q[c * d + i]);
            logs[c] += q[c * d + i];
        }
    }
    for (long p = 0; p < n; p++) {
        largest = -DBL_MAX;
        for (long c = 0; c < k; c++) {
            const double *rows = lower + c * below;
            double *restrict a = away + c * d, *restrict t = turned + c * d, square = 0.0;
            for (long i = 0; i < d; i++)
                a[i] = x[p * d + i] - mu[c * d + i];
            for (long i = 0; i < d; i++) {
                const double *row = rows + i * (i - 1) / 2;
                double s = diagonal[c * d + i] * a[i];
                for (long j = 0; j < i; j++)
                    s += row[j] * a[j];
                t[i] = s;
                square += s * s;
            }
            inner[c] = logs[c] - 0.5 * square;
            largest = inner[c] > largest ? inner[c] : largest;
        }
        sum = 0.0;
        for (long c = 0; c < k; c++)
            sum += sizes[c] = exp(inner[c] - largest);
        total += log(sum) + largest;
        for (long c = 0; c < k; c++) {
            const double weight = sizes[c] / sum, *rows = lower + c * below;
            const double *restrict a = away + c * d, *restrict t = turned + c * d;
            double *restrict d_rows = d_lower + c * below, *restrict m = d_mu + c * d;
            d_alpha[c] += weight;
            for (long i = 0; i < d; i++) {
                const double *restrict row = rows + i * (i - 1) / 2, s = weight * t[i];
                double *restrict d_row = d_rows + i * (i - 1) / 2;
                d_q[c * d + i] += weight - s * diagonal[c * d + i] * a[i];
                m[i] += s * diagonal[c * d + i];
                for (long j = 0; j < i; j++) {
                    d_row[j] -= s * a[j];
                    m[j] += s * row[j];
                }
            }
        }
    }
    largest = -DBL_MAX;
    for (long c = 0; c < k; c++)
        largest = alpha[c] > largest ? alpha[c] : largest;
    sum = 0.0;
    for (long c = 0; c < k; c++)
        sum += sizes[c] = exp(alpha[c] - largest);
    total -= n * (log(sum) + largest);
    for (long c = 0; c < k; c++)
        d_alpha[c] -= n * sizes[c] / sum;
    for (long i = 0; i < k * d; i++) {
        total += 0.5 * diagonal[i] * diagonal[i];
        d_q[i] += diagonal[i] * diagonal[i];
    }
    for (long i = 0; i < k * below; i++) {
        total += 0.5 * lower[i] * lower[i];
        d_lower[i] += lower[i];
    }
    free(memory);
    return total - 0.5 * n * d * 1.8378770664093453;
}
