/* SPDX-License-Identifier: MIT */
/* emu/accum/block_keys.h - the table of the keys of block(...): which rule takes which key, its range and words, and
 * where a record keeps its value.
 */
#ifndef HALFULP_EMU_ACCUM_BLOCK_KEYS_H
#define HALFULP_EMU_ACCUM_BLOCK_KEYS_H

#include "emu/core/round.h"
#include "halfulp/accum.h"

/* In the order in which hu_accum_text writes them: numbers, words, the rest. */
enum {
  HU_BLOCK_KEY_L,
  HU_BLOCK_KEY_F,
  HU_BLOCK_KEY_F2,
  HU_BLOCK_KEY_EMIN,
  HU_BLOCK_KEY_LANES,
  HU_BLOCK_KEY_FAR,
  HU_BLOCK_KEY_BIG,
  HU_BLOCK_KEY_IN,
  HU_BLOCK_KEY_G,
  HU_BLOCK_KEY_EVERY,
  HU_BLOCK_KEY_CUT,
  HU_BLOCK_KEY_ORDER,
  HU_BLOCK_KEY_C,
  HU_BLOCK_KEY_LAST,
  HU_BLOCK_KEY_DAZ,
  HU_BLOCK_KEY_FTZ,
  HU_BLOCK_KEY_PRODUCTS,
  HU_BLOCK_KEY_NAN,
  HU_BLOCK_KEY_SCALING,
  HU_BLOCK_KEY_AS,
  HU_BLOCK_KEY_SCALE,
  HU_BLOCK_KEY_ACC,
  HU_BLOCK_KEY_OUT,
  HU_BLOCK_KEY_ROUND,
  HU_BLOCK_KEY_SAT,
  HU_BLOCK_KEY_OVER,
  HU_BLOCK_KEY_ZERO,
  HU_BLOCK_KEY_COUNT
};
#define HU_BLOCK_KEY_WORDS 8

typedef struct hu_block_key {
  const char *name;
  uint8_t rules, required;               /* bit r: rule r takes it, requires it */
  int16_t low, high;                     /* numbers */
  const char *words[HU_BLOCK_KEY_WORDS]; /* words, by value; NULL: none */
} hu_block_key;

extern const hu_block_key hu_block_keys[HU_BLOCK_KEY_COUNT];
extern const char *const hu_rule_names[HU_BLOCK_RULES];

/* Elements by kind: "any" stands for CODE, whose name is a format's. */
enum { HU_ELEMENT_KINDS = HU_ELEMENT_S32 + 1 };
extern const char *const hu_element_names[HU_ELEMENT_KINDS];

/* Numbers and words of a record. */
int hui_key_get(const hu_block *block, unsigned key);
void hui_key_set(hu_block *block, unsigned key, int value);
/* The first key whose value does not go with the others; HU_BLOCK_KEY_COUNT if there is none. */
unsigned hui_key_clash(const hu_accum *accum);

#endif
