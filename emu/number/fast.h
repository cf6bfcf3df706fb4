/* SPDX-License-Identifier: MIT */
/* emu/number/fast.h - pieces of arrays of number systems: what a call makes once, so that most elements need not go
 * through emu/core/number.h one by one. Each gives what hui_number_round, hui_number_unpack and
 * hui_quantity_pack32 give.
 */
#ifndef HALFULP_EMU_NUMBER_FAST_H
#define HALFULP_EMU_NUMBER_FAST_H

#include "emu/core/number.h"
#include "emu/number/lanes.h"

enum { HU_NUMBER_PIECE = 256 }; /* elements that are treated together */

/* Of binary32 operands, and of codes. */
enum { HU_NUMBER_ONE = 0, HU_NUMBER_LANES, HU_NUMBER_PLACES, HU_NUMBER_BINADE, HU_NUMBER_TABLE_OF_CODES };

typedef struct hu_number_fast {
  const hu_number_spec *to, *from; /* NULL: nothing is rounded; no codes are read */
  const hu_number_lanes *lanes;    /* NULL: none of this */
  int encode, decode;              /* ways; decode: of codes of `from` where they are read, else of `to` */
  hu_number_lane constants, back;
  /* table of codes: what is written for each, and its events; binade: binary64 patterns of 2^(j / 2^f) */
  uint64_t bits[256];
  uint32_t events[256];
  /* binade, by sign: the least trailing significands whose logarithm rounds to (j + 1) / 2^f or more */
  uint32_t fractions[2][256];
  uint32_t powers32[256]; /* binade: the same in binary32 */
} hu_number_fast;

/* values: what is written, 0 codes, else the bits of a float; reads32: binary32 operands are read. n: elements of the
 * call, which a table has to be worth. */
void hui_number_fast_make(hu_number_fast *fast, const hu_number_spec *to, const hu_number_spec *from, int reads32,
                          unsigned values, size_t n, const hu_number_lanes *lanes);
/* At most HU_NUMBER_PIECE elements. encode: of deterministic modes. */
void hui_number_fast_encode(const hu_number_fast *fast, size_t n, uint32_t *z, const uint32_t *x, hu_events *events);
void hui_number_fast_decode(const hu_number_fast *fast, size_t n, uint32_t *z, const uint32_t *x);
/* Returns the binary64 pattern of a code's value. */
uint64_t hui_number_fast_value64(const hu_number_fast *fast, uint32_t code);

#endif
