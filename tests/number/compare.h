/* SPDX-License-Identifier: MIT */
/* tests/number/compare.h - one operation of the library against the oracle, and the number systems to try. */
#ifndef HALFULP_TESTS_NUMBER_COMPARE_H
#define HALFULP_TESTS_NUMBER_COMPARE_H

#include <stddef.h>

#include "halfulp/number.h"
#include "tests/support/support.h"

/* 1 if code and events are the oracle's; else says what differs. */
int same_encode(hu_number n, hu_mode mode, double x, uint32_t random);
int same_convert(hu_number n, hu_mode mode, hu_number from, uint32_t code, uint32_t random);
int same_decode(hu_number n, uint32_t code);

/* By name or text; must be one. Tables written out get room of their own, TABLES_MAX of them. */
hu_number number_of(const char *text);
/* The i-th of the systems of at most 8 bits that are tried with everything; NULL behind the last. */
const char *small_system(size_t i);
/* Numbers of `bits` bits from a word of random ones: the modes all, every policy. */
hu_mode any_mode(t_random *random);
/* A valid number system of any kind but float. */
hu_number any_number(t_random *random, float table[HU_TABLE_MAX]);

/* Operands of interest: values of codes, means of neighbours, powers of two, each of them and what lies beside it in
 * binary64; zeros, infinities, NaN, the ends of binary64. */
double any_operand(t_random *random, hu_number n);

#endif
