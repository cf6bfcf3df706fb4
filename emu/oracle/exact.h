/* SPDX-License-Identifier: MIT */
/* emu/oracle/exact.h - exact numbers: MPFR with more digits than any operand needs, in storage of the caller's.
 *
 * No value here is ever rounded: operands have 53 bits, products of codes 62, and a sum of 2^64 products lies between
 * 2^-2148 and 2^2112. MPFR's exponent range and flags belong to the thread; exact_enter widens the range and
 * exact_leave puts everything back as it was. */
#ifndef HALFULP_ORACLE_EXACT_H
#define HALFULP_ORACLE_EXACT_H

#include <stdint.h>

#define MPFR_USE_INTMAX_T 1
#include <mpfr.h>

#include "emu/oracle/table.h"

#define EXACT_SMALL 64
#define EXACT_SUM 4608

typedef struct exact {
  code_class kind;
  int negative; /* sign of zeros and infinities too; 0 for NaN */
  mpfr_t value; /* the magnitude of a finite number */
  mp_limb_t limbs[(EXACT_SUM + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS];
} exact;

typedef struct exact_state {
  mpfr_exp_t emin, emax;
  mpfr_flags_t flags;
} exact_state;

exact_state exact_enter(void);
void exact_leave(exact_state saved);

/* Makes a positive zero of this many bits. The struct must not move afterwards. */
void exact_init(exact *x, mpfr_prec_t precision);
void exact_from_double(exact *x, double value);
void exact_from_code(exact *x, const table *values, uint32_t code);
/* Compares |x| with a value of the table: < 0, 0, > 0. */
int exact_compare(const exact *x, magnitude value);

#endif
