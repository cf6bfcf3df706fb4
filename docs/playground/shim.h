/* SPDX-License-Identifier: MIT */
/* docs/playground/shim.h - what the playground's page calls: the library's functions on numbers, texts and arrays that
 * lie in the memory which the page shares. The page has one thread; results are in the buffers below. */
#ifndef HALFULP_PLAYGROUND_SHIM_H
#define HALFULP_PLAYGROUND_SHIM_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/halfulp.h"

#define EXPORT __attribute__((used, visibility("default")))

enum { TEXT_MAX = 1 << 18, SLOTS = 8 };

/* A text from the page, or for it: JSON, or a message. */
extern char page_text[TEXT_MAX];
/* Begins an answer; adds to it. Doubles go out as patterns of 16 hexadecimal digits. */
void answer_begin(void);
__attribute__((format(printf, 1, 2))) void answer(const char *format, ...);
void answer_string(const char *text);

/* A number system or a scaled format that the page has named. */
enum { KIND_NONE = -1, KIND_SCALED = 100 };
typedef struct slot {
  int kind; /* HU_NUMBER_, KIND_SCALED, KIND_NONE */
  hu_number number;
  hu_scaling scaling;
  float room[HU_TABLE_MAX];
} slot;
extern slot slots[SLOTS];

/* The mode of the page's controls. */
hu_mode mode_of(uint32_t round, uint32_t bits, uint32_t saturate, uint32_t nan);

#endif
