/* SPDX-License-Identifier: MIT */
/* Tables of pairs of symbols: a pair's number is found by a hash of both. */
#include <stdlib.h>

#include "train/data/subwords.h"

static uint32_t *slot_of(const hu_pair_table *table, uint32_t left, uint32_t right) {
  uint64_t h = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;
  size_t i = (size_t)(h ^ h >> 32) & (table->slots - 1);
  for (; table->slot[i]; i = (i + 1) & (table->slots - 1)) {
    const hu_symbol_pair *pair = &table->pair[table->slot[i] - 1];
    if (pair->left == left && pair->right == right) break;
  }
  return &table->slot[i];
}

uint32_t hui_pair_number(const hu_pair_table *table, uint32_t left, uint32_t right) {
  return table->count ? *slot_of(table, left, right) - 1 : UINT32_MAX; /* 0 - 1 is UINT32_MAX */
}

/* Makes space for one pair more, half of the slots being free. */
static int grow(hu_pair_table *table) {
  if (table->count < table->buffer) return 1;
  const size_t buffer = table->buffer ? 2 * table->buffer : 1024;
  if (buffer > UINT32_MAX / 2) return 0;
  hu_symbol_pair *pair = realloc(table->pair, buffer * sizeof *pair);
  if (!pair) return 0;
  table->pair = pair;
  uint32_t *slot = hui_data_allocate(2 * buffer, sizeof *slot);
  if (!slot) return 0;
  free(table->slot);
  table->slot = slot;
  table->slots = 2 * buffer;
  table->buffer = buffer;
  for (size_t i = 0; i < table->count; i++) *slot_of(table, pair[i].left, pair[i].right) = (uint32_t)i + 1;
  return 1;
}

uint32_t hui_pair_add(hu_pair_table *table, uint32_t left, uint32_t right) {
  if (!grow(table)) return UINT32_MAX;
  uint32_t *slot = slot_of(table, left, right);
  if (!*slot) {
    table->pair[table->count] = (hu_symbol_pair){left, right};
    *slot = (uint32_t)++table->count;
  }
  return *slot - 1;
}

void hui_pair_close(hu_pair_table *table) {
  free(table->slot);
  free(table->pair);
}
