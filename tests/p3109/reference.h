/* SPDX-License-Identifier: MIT */
/* tests/p3109/reference.h - IEEE P3109 as draft report v4.0 writes it: closed extended reals, here MPFR numbers with so
 * many digits that no rounding of them is in doubt. Shares no text with the library. */
#ifndef HALFULP_TESTS_P3109_REFERENCE_H
#define HALFULP_TESTS_P3109_REFERENCE_H

#include <stdint.h>

#include <mpfr.h>

#include "halfulp/p3109.h"

/* Arithmetic of codes of up to 8 bits, and of two of them and scales, is exact in so many bits; no rational result and
 * no irrational one of such operands is nearer to a limit between codes than an ulp of it. */
enum { REFERENCE_BITS = 2600 };

typedef enum kind { NOT_A_NUMBER, MINUS_INFINITY, REAL, PLUS_INFINITY } kind;

typedef struct real {
  kind kind;
  mpfr_t r; /* of REAL */
} real;

/* A format by the draft's parameters. */
typedef struct t_parameters {
  int k, p, is_signed, extended;
} t_parameters;

void real_init(real *x);
void real_clear(real *x);
void real_set(real *z, const real *x);

hu_format format_of(t_parameters parameters);

/* 4.9.1 Decode. */
void decode(real *z, t_parameters parameters, uint32_t code);
/* 4.9.2 Project. */
uint32_t project(t_parameters parameters, hu_p3109_projection rho, const real *x, uint32_t random);
/* An operation that gives a number, of real numbers and infinities, by report v4.0 or by other rules. */
void operate(real *z, int op, const real *x);
void operate_by(real *z, int op, uint8_t rules, const real *x);
/* What the report's BlockProject rounds, of an exact result and the value of a scale. */
void quotient_by_scale(real *z, const real *result, const real *scale);
/* One that gives 0, 1 or a class, of codes. */
uint32_t predicate(int op, const t_parameters *parameters, const uint32_t *x);
/* NextGreaterThan, NextLessThan. */
uint32_t neighbour(t_parameters parameters, uint32_t code, int above);

#endif
