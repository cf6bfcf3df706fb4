/* SPDX-License-Identifier: MIT */
/* bench/peers - runs the cases of one adapter: halfulp and the other library in turn, one thread, on the same arrays;
 * then compares every result bit for bit. Prints a line per case for compare.py:
 *
 *   name, ns of theirs, ns of halfulp, best and worst quotient of three runs, compared, different, of these: pairs of
 *   NaN, zeros of the other sign, results of subnormal size, others; and the first of the others: operands, theirs,
 *   halfulp
 *
 *   driver ELEMENTS ROUNDS */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/timing.h"
#include "halfulp/halfulp.h"
#include "peer.h"

enum { RUNS = 3 };

typedef struct job {
  const peer_case *c;
  size_t n, size; /* bytes of a result */
  hu_format f;
  hu_mode mode;
  void *x, *y, *w, *theirs, *ours;
  hu_status status;
} job;

static void run_theirs(void *p) {
  job *j = p;
  peer_run(j->c, j->n, j->theirs, j->x, j->y, j->w);
}

static void run_ours(void *p) {
  job *j = p;
  const hu_format f = j->f;
  void *z = j->ours;
  hu_status s = HU_OK;
  switch (j->c->op) {
    case PEER_QUANTIZE: s = hu_quantize_n(j->n, z, 1, j->x, 1, f, j->mode, NULL, NULL); break;
    case PEER_ENCODE: s = hu_encode_n(j->n, z, 1, j->x, 1, f, j->mode, NULL, NULL); break;
    case PEER_ADD: s = hu_add_n(j->n, z, 1, f, j->x, 1, f, j->y, 1, f, j->mode, NULL, NULL); break;
    case PEER_MUL: s = hu_mul_n(j->n, z, 1, f, j->x, 1, f, j->y, 1, f, j->mode, NULL, NULL); break;
    case PEER_DIV: s = hu_div_n(j->n, z, 1, f, j->x, 1, f, j->y, 1, f, j->mode, NULL, NULL); break;
    case PEER_SQRT: s = hu_sqrt_n(j->n, z, 1, f, j->x, 1, f, j->mode, NULL, NULL); break;
    default: s = hu_fma_n(j->n, z, 1, f, j->x, 1, f, j->y, 1, f, j->w, 1, f, j->mode, NULL, NULL);
  }
  if (s != HU_OK) j->status = s;
}

static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return z ^ (z >> 29);
}

/* binary32 numbers over the format's range and six powers of two beyond either end; every 64th any pattern. */
static void fill_numbers(float *x, size_t n, hu_format f, uint64_t seed) {
  const hu_limits l = hu_limits_of(f);
  const int below = ilogb(l.min) - 6, low = below < -126 ? -126 : below;
  const int high = l.emax + 6 > 127 ? 127 : l.emax + 6;
  for (size_t i = 0; i < n; i++) {
    uint64_t r = next(&seed);
    uint32_t u = (uint32_t)(r & 0x807FFFFF) | (uint32_t)(127 + low + (int)((r >> 40) % (uint64_t)(high - low + 1)))
                                                  << 23;
    if (i % 64 == 0) u = (uint32_t)(r >> 32);
    memcpy(&x[i], &u, sizeof u);
  }
}

static void fill_codes(void *x, size_t bytes, uint64_t seed) {
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t r = next(&seed);
    memcpy((char *)x + i, &r, 8);
  }
}

typedef struct counts {
  size_t different, nan, zero, subnormal, other, first;
} counts;

static uint32_t pattern(const void *x, size_t i, size_t size) {
  uint32_t u = 0;
  memcpy(&u, (const char *)x + i * size, size);
  return u;
}

static double value(const job *j, uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return (double)(j->c->op == PEER_QUANTIZE ? x : hu_decode(j->f, u));
}

static counts compare(const job *j) {
  counts z = {0, 0, 0, 0, 0, 0};
  const double least = ldexp(1, hu_limits_of(j->f).emin);
  for (size_t i = 0; i < j->n; i++) {
    uint32_t a = pattern(j->theirs, i, j->size), b = pattern(j->ours, i, j->size);
    if (a == b) continue;
    double x = value(j, a), y = value(j, b);
    z.different++;
    if (isnan(x) && isnan(y))
      z.nan++;
    else if (x == 0 && y == 0)
      z.zero++;
    else if (fabs(x) <= least && fabs(y) <= least)
      z.subnormal++;
    else if (z.other++ == 0)
      z.first = i;
  }
  return z;
}

static hu_status open(job *j) {
  hu_status s = hu_format_parse(&j->f, j->c->format, NULL);
  if (s == HU_OK) s = hu_mode_round_parse(&j->mode, j->c->round);
  if (s != HU_OK) return s;
  j->mode.saturate = j->c->saturate ? HU_SAT_FINITE : HU_SAT_DEFAULT;
  j->size = j->c->op == PEER_QUANTIZE ? 4 : hu_limits_of(j->f).storage / 8;
  if (j->c->op <= PEER_ENCODE) {
    fill_numbers(j->x, j->n, j->f, 1);
  } else {
    void *const operands[] = {j->x, j->y, j->w};
    for (uint64_t i = 0; i < 3; i++) fill_codes(operands[i], j->n * j->size, i);
  }
  return HU_OK;
}

static void measure(job *j, int rounds) {
  double theirs = 1e30, ours = 1e30, best = 0, worst = 1e30;
  for (int i = 0; i < RUNS; i++) {
    bench_pair t = bench_against(run_ours, run_theirs, j, rounds, 1);
    double quotient = t.reference / t.subject;
    if (t.reference < theirs) theirs = t.reference;
    if (t.subject < ours) ours = t.subject;
    if (quotient > best) best = quotient;
    if (quotient < worst) worst = quotient;
  }
  const double ns = 1e9 / (double)j->n;
  printf("\"%s\",%.4g,%.4g,%.4g,%.4g", j->c->name, ns * theirs, ns * ours, best, worst);
}

static void judge(const job *j) {
  if (j->c->round[0] == 's') {
    printf(",0,0,0,0,0,0,\n"); /* other random numbers */
    return;
  }
  counts z = compare(j);
  printf(",%zu,%zu,%zu,%zu,%zu,%zu,", j->n, z.different, z.nan, z.zero, z.subnormal, z.other);
  size_t size = j->c->op <= PEER_ENCODE ? 4 : j->size, i = z.first;
  int operands = j->c->op == PEER_FMA ? 3 : j->c->op <= PEER_ENCODE || j->c->op == PEER_SQRT ? 1 : 2;
  const void *const from[] = {j->x, j->y, j->w};
  for (int k = 0; k < operands && z.other; k++) printf("%0*x ", 2 * (int)size, (unsigned)pattern(from[k], i, size));
  if (z.other)
    printf("-> %0*x not %0*x", 2 * (int)j->size, (unsigned)pattern(j->theirs, i, j->size), 2 * (int)j->size,
           (unsigned)pattern(j->ours, i, j->size));
  printf("\n");
}

int main(int argc, char **argv) {
  job j;
  memset(&j, 0, sizeof j);
  j.n = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
  int rounds = argc == 3 ? atoi(argv[2]) : 0;
  if (j.n < 64 || rounds < 1) return 2;
  void **const room[] = {&j.x, &j.y, &j.w, &j.theirs, &j.ours};
  for (int i = 0; i < 5; i++) {
    *room[i] = calloc(j.n, 4);
    if (!*room[i]) return 2;
  }
  for (j.c = peer_cases; j.c->name; j.c++) {
    memset(&j.mode, 0, sizeof j.mode);
    hu_status s = open(&j);
    if (s == HU_OK) {
      measure(&j, rounds);
      judge(&j);
      fflush(stdout);
      s = j.status;
    }
    if (s != HU_OK) {
      fprintf(stderr, "%s: %s\n", j.c->name, hu_status_text(s));
      return 1;
    }
  }
  for (int i = 0; i < 5; i++) free(*room[i]);
  return 0;
}
