/* SPDX-License-Identifier: MIT */
/* emu/oracle/number.h - number systems beside floating point as docs/numbers.md words them, by MPFR. */
#ifndef HALFULP_ORACLE_NUMBER_H
#define HALFULP_ORACLE_NUMBER_H

#include "emu/oracle/exact.h"
#include "halfulp/number.h"

/* Digits of irrational numbers. Rational ones here have fewer than 1400, so that the two are never taken for equal. */
#define NUMBER_DIGITS 2048

/* An exact number; an irrational power, with x.value to NUMBER_DIGITS digits, is (-1)^s 2^(j / 2^fraction). */
typedef struct quantity {
  exact x;
  int power; /* j and fraction hold, whether the number is irrational or not */
  long j;
  unsigned fraction;
} quantity;

/* Returns HU_OK, HU_E_FORMAT or HU_E_NUMBER. */
hu_status number_valid(hu_number n);
unsigned number_width(hu_number n);
void number_value(quantity *real, hu_number n, uint32_t code);

#endif
