/* SPDX-License-Identifier: MIT */
/* tests/accum/reference_real.h - numbers of the reference: a kind, a sign and an MPFR number in which every product,
 * sum and cut of the models is exact; roundings by the oracle. */
#ifndef HALFULP_TESTS_REFERENCE_REAL_H
#define HALFULP_TESTS_REFERENCE_REAL_H

#include "emu/oracle/round.h"
#include "tests/accum/reference.h"

enum { PRECISION = 4608, SMALL = 768 };
typedef enum kind { ZERO, FINITE, INFINITE, NOT_A_NUMBER } kind;

typedef struct real {
  kind kind;
  int negative; /* also of zeros and infinities */
  int e;        /* of an operand: the exponent that aligns it */
  mpfr_t v;     /* finite: the number with its sign; else 0 */
} real;

/* A format that steps round to, and how. */
typedef struct grid {
  int is_binary64;
  table t;
  hu_mode mode;
  int over, ftz, plus;
} grid;

typedef struct t_engine {
  const t_dot *x;
  mpfr_prec_t precision;
  table ta, tb, tc, ts;
  grid sum, product, plain;
  grid join;          /* of c=last */
  grid via;           /* where twice is 1 */
  int twice;
  uint64_t roundings; /* so far */
  uint32_t events;    /* of the latest */
  hu_watch watch;     /* section 11.7 */
  reference_visit *visit;
  void *context;
} t_engine;

enum { BLOCK_MAX = 4096 };
typedef struct block {
  size_t k[BLOCK_MAX];
  real term[BLOCK_MAX]; /* product k[i] with its scale, read once */
  size_t count;
} block;

/* A +0 to begin with; drop it in the end. */
void real_make(const t_engine *engine, real *x);
void real_drop(real *x);
void real_set(real *x, kind k, int negative);
void real_copy(real *z, const real *x);
/* Kind and sign from the value; an exact zero is +0. */
void real_settle(real *x);
/* floor(log2 |x|) */
int real_log2(const real *x);
void real_multiply(real *z, const real *x, const real *y);
/* down: the sign of an exact zero of different signs. */
void real_add(real *z, const real *x, const real *y, int down);
/* z += x, exactly. */
void real_accumulate(real *z, const real *x);
void real_from_code(real *z, const table *t, uint32_t code);
void real_from_binary64(real *z, uint64_t bits);
void real_flush(real *z, int daz, int emin);
/* Operands with everything that block(...) does to them; e aligns them. */
void real_read_a(const t_engine *engine, real *z, size_t k);
void real_read_b(const t_engine *engine, real *z, size_t k);
/* The exact product of pair k; e: both exponents together. */
void real_product(const t_engine *engine, real *z, size_t k);
void real_to_exact(exact *z, const real *x);
/* Its 64 leading digits, the highest of them 1. */
hu_traced real_traced(const real *x);
/* x becomes what the step's format makes of it. One rounding is counted. */
void step_round(t_engine *engine, const grid *to, real *x);
/* z = rnd(x + y), rnd(x - y), rnd(a[k] b[k]); c = rnd(a[k] b[k] + c). */
void step_sum(t_engine *engine, const grid *to, real *z, const real *x, const real *y);
void step_difference(t_engine *engine, const grid *to, real *z, const real *x, const real *y);
void step_product(t_engine *engine, const grid *to, real *z, size_t k);
void step_fused(t_engine *engine, const grid *to, size_t k, real *c);

/* ---- section 11.7 ---- */
/* z = rnd(s + t), t an addend of the accumulator s; z may be either. pair: the larger of both is the accumulator. */
void join(t_engine *engine, const grid *to, real *z, const real *s, const real *t);
void join_pair(t_engine *engine, const grid *to, real *z, const real *x, const real *y);
/* |x| >= |y|; not if one is NaN. */
int at_least(const real *x, const real *y);
/* A term of a block, e below the largest exponent by gap, of which `kept` is left. */
void watch_cut(t_engine *engine, int gap, const real *kept);
/* The latest rounding made z of s and an addend t. */
void watch_sum(t_engine *engine, const real *s, const real *t, const real *z);

/* ---- reference_block.c ---- */
/* Reads the terms; drop them in the end. */
void block_read(const t_engine *engine, block *b);
void block_drop(block *b);
/* NaN and infinities among c and the terms: 1 and the answer in z. */
int block_special(const block *b, const real *c, real *z);
/* The blocks of products k0 ... k1 - 1 on top of c. */
void reference_blocks(t_engine *engine, size_t k0, size_t k1, real *c);

#endif
