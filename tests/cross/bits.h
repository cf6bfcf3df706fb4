/* SPDX-License-Identifier: MIT */
/* tests/cross/bits.h - what the files of the program `bits` share: numbers drawn, digests, how calls run. */
#ifndef HALFULP_TESTS_CROSS_BITS_H
#define HALFULP_TESTS_CROSS_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/halfulp.h"

#define BITS_START 0xCBF29CE484222325u

uint64_t bits_next(void);
/* n codes of `width` bits, each in `size` bytes. */
void bits_codes(void *z, size_t n, size_t size, uint32_t width);
uint64_t bits_digest(uint64_t h, const void *data, size_t size);
void bits_print(const char *what, const char *name, uint64_t h);
/* The levels that no call uses. */
extern uint32_t bits_off;
/* Whether the next case is to be computed: each of them, or with --every N the first of every N. */
int bits_chosen(void);

/* One line a case; 0: a call failed. */
int bits_arrays(void);
int bits_products(void);
int bits_scaled(void);

#endif
