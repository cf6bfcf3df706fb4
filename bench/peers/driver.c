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
  const peer_case *asked;
  size_t n, size; /* bytes of a result */
  hu_format format;
  hu_mode mode;
  void *x, *y, *third, *theirs, *ours;
  hu_status status;
} job;

static void run_theirs(void *context) {
  job *work = context;
  peer_run(work->asked, work->n, work->theirs, work->x, work->y, work->third);
}

/* Multiplies the tiles by one hu_gemm each. */
static hu_status multiply_tiles(const job *work) {
  const size_t depth = (size_t)work->asked->number, tile = PEER_SIDE * PEER_SIDE;
  hu_accum fused = {0};
  fused.kind = HU_ACCUM_FP32;
  for (size_t i = 0; i + tile <= work->n; i += tile) {
    hu_view a = hu_matrix_codes((const uint16_t *)work->x + i, depth, work->format);
    hu_view b = hu_matrix_codes((const uint16_t *)work->y + i, PEER_SIDE, work->format);
    hu_output z = hu_matrix_floats_out((float *)work->ours + i, PEER_SIDE);
    hu_status status = hu_gemm(PEER_SIDE, PEER_SIDE, depth, &z, &a, &b, NULL, &fused, NULL);
    if (status != HU_OK) return status;
  }
  return HU_OK;
}

static void run_ours(void *context) {
  job *work = context;
  const hu_format format = work->format;
  void *z = work->ours;
  hu_status status = HU_OK;
  switch (work->asked->op) {
    case PEER_QUANTIZE: status = hu_quantize_n(work->n, z, 1, work->x, 1, format, work->mode, NULL, NULL); break;
    case PEER_ENCODE: status = hu_encode_n(work->n, z, 1, work->x, 1, format, work->mode, NULL, NULL); break;
    case PEER_ADD:
      status = hu_add_n(work->n, z, 1, format, work->x, 1, format, work->y, 1, format, work->mode, NULL, NULL);
      break;
    case PEER_MUL:
      status = hu_mul_n(work->n, z, 1, format, work->x, 1, format, work->y, 1, format, work->mode, NULL, NULL);
      break;
    case PEER_DIV:
      status = hu_div_n(work->n, z, 1, format, work->x, 1, format, work->y, 1, format, work->mode, NULL, NULL);
      break;
    case PEER_SQRT: status = hu_sqrt_n(work->n, z, 1, format, work->x, 1, format, work->mode, NULL, NULL); break;
    case PEER_DOT: status = multiply_tiles(work); break;
    default:
      status = hu_fma_n(work->n, z, 1, format, work->x, 1, format, work->y, 1, format, work->third, 1, format,
                        work->mode, NULL, NULL);
  }
  if (status != HU_OK) work->status = status;
}

static uint64_t next(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return z ^ (z >> 29);
}

/* Makes binary32 numbers over the format's range and six powers of two beyond either end; every 64th is any pattern. */
static void fill_numbers(float *x, size_t n, hu_format format, uint64_t seed) {
  const hu_limits limits = hu_limits_of(format);
  const int below = ilogb(limits.min) - 6, low = below < -126 ? -126 : below;
  const int high = limits.emax + 6 > 127 ? 127 : limits.emax + 6;
  for (size_t i = 0; i < n; i++) {
    uint64_t random = next(&seed);
    uint32_t bits = (uint32_t)(random & 0x807FFFFF) |
                    (uint32_t)(127 + low + (int)((random >> 40) % (uint64_t)(high - low + 1))) << 23;
    if (i % 64 == 0) bits = (uint32_t)(random >> 32);
    memcpy(&x[i], &bits, sizeof bits);
  }
}

/* Makes codes of binary16 from 1/8 to 8, of both signs. */
static void fill_halves(uint16_t *x, size_t n, uint64_t seed) {
  for (size_t i = 0; i < n; i++) {
    uint64_t random = next(&seed);
    x[i] = (uint16_t)((random & 0x83FF) | (12 + (random >> 40) % 6) << 10);
  }
}

static void fill_codes(void *x, size_t bytes, uint64_t seed) {
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t random = next(&seed);
    memcpy((char *)x + i, &random, 8);
  }
}

typedef struct counts {
  size_t different, nan, zero, subnormal, other, first;
} counts;

static uint32_t pattern(const void *x, size_t i, size_t size) {
  uint32_t bits = 0;
  memcpy(&bits, (const char *)x + i * size, size);
  return bits;
}

static double value(const job *work, uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)(work->asked->op == PEER_QUANTIZE || work->asked->op == PEER_DOT ? x : hu_decode(work->format, bits));
}

static counts compare(const job *work) {
  counts found = {0, 0, 0, 0, 0, 0};
  const double least = ldexp(1, hu_limits_of(work->format).emin);
  for (size_t i = 0; i < work->n; i++) {
    uint32_t a = pattern(work->theirs, i, work->size), b = pattern(work->ours, i, work->size);
    if (a == b) continue;
    double x = value(work, a), y = value(work, b);
    found.different++;
    if (isnan(x) && isnan(y))
      found.nan++;
    else if (x == 0 && y == 0)
      found.zero++;
    else if (fabs(x) <= least && fabs(y) <= least)
      found.subnormal++;
    else if (found.other++ == 0)
      found.first = i;
  }
  return found;
}

static hu_status open(job *work) {
  hu_status status = hu_format_parse(&work->format, work->asked->format, NULL);
  if (status == HU_OK) status = hu_mode_round_parse(&work->mode, work->asked->round);
  if (status != HU_OK) return status;
  work->mode.saturate = work->asked->saturate ? HU_SAT_FINITE : HU_SAT_DEFAULT;
  work->size = work->asked->op == PEER_QUANTIZE ? 4 : hu_limits_of(work->format).storage / 8;
  if (work->asked->op == PEER_DOT) {
    work->size = 4;
    fill_halves(work->x, work->n, 1);
    fill_halves(work->y, work->n, 2);
  } else if (work->asked->op <= PEER_ENCODE) {
    fill_numbers(work->x, work->n, work->format, 1);
  } else {
    void *const operands[] = {work->x, work->y, work->third};
    for (uint64_t i = 0; i < 3; i++) fill_codes(operands[i], work->n * work->size, i);
  }
  return HU_OK;
}

static void measure(job *work, int rounds) {
  double theirs = 1e30, ours = 1e30, best = 0, worst = 1e30;
  for (int i = 0; i < RUNS; i++) {
    bench_pair times = bench_against(run_ours, run_theirs, work, rounds, 1);
    double quotient = times.reference / times.subject;
    if (times.reference < theirs) theirs = times.reference;
    if (times.subject < ours) ours = times.subject;
    if (quotient > best) best = quotient;
    if (quotient < worst) worst = quotient;
  }
  const double ns = 1e9 / (double)work->n;
  printf("\"%s\",%.4g,%.4g,%.4g,%.4g", work->asked->name, ns * theirs, ns * ours, best, worst);
}

static void judge(const job *work) {
  if (work->asked->round[0] == 's') {
    printf(",0,0,0,0,0,0,\n"); /* other random numbers */
    return;
  }
  counts found = compare(work);
  printf(",%zu,%zu,%zu,%zu,%zu,%zu,", work->n, found.different, found.nan, found.zero, found.subnormal, found.other);
  size_t size = work->asked->op <= PEER_ENCODE ? 4 : work->size, i = found.first;
  int operands = work->asked->op == PEER_DOT                                      ? 0
                 : work->asked->op == PEER_FMA                                    ? 3
                 : work->asked->op <= PEER_ENCODE || work->asked->op == PEER_SQRT ? 1
                                                                                  : 2;
  const void *const from[] = {work->x, work->y, work->third};
  for (int k = 0; k < operands && found.other; k++) printf("%0*x ", 2 * (int)size, (unsigned)pattern(from[k], i, size));
  if (found.other)
    printf("-> %0*x not %0*x", 2 * (int)work->size, (unsigned)pattern(work->theirs, i, work->size), 2 * (int)work->size,
           (unsigned)pattern(work->ours, i, work->size));
  printf("\n");
}

int main(int argc, char **argv) {
  job work;
  memset(&work, 0, sizeof work);
  work.n = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
  int rounds = argc == 3 ? atoi(argv[2]) : 0;
  if (work.n < 64 || rounds < 1) return 2;
  void **const arrays[] = {&work.x, &work.y, &work.third, &work.theirs, &work.ours};
  for (int i = 0; i < 5; i++) {
    *arrays[i] = calloc(work.n, 4);
    if (!*arrays[i]) return 2;
  }
  for (work.asked = peer_cases; work.asked->name; work.asked++) {
    memset(&work.mode, 0, sizeof work.mode);
    hu_status status = open(&work);
    if (status == HU_OK) {
      measure(&work, rounds);
      judge(&work);
      fflush(stdout);
      status = work.status;
    }
    if (status != HU_OK) {
      fprintf(stderr, "%s: %s\n", work.asked->name, hu_status_text(status));
      return 1;
    }
  }
  for (int i = 0; i < 5; i++) free(*arrays[i]);
  return 0;
}
