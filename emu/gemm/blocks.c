/* SPDX-License-Identifier: MIT */
/* The blocks of D that threads take one after the other. */
#include "emu/gemm/call.h"

/* As many equal blocks as the largest size needs; smaller ones while that leaves threads without work. */
void hu_gemm_set_blocks(hu_gemm_call *g, size_t rows, size_t row_step, size_t columns, size_t column_step) {
  size_t down = (g->m + rows - 1) / rows, across = (g->n + columns - 1) / columns;
  while (down * across < 2 * (size_t)g->threads && g->threads > 1) {
    size_t high = (g->m + down - 1) / down, wide = (g->n + across - 1) / across;
    if (high <= row_step && wide <= column_step) break;
    if (high >= wide || wide <= column_step) {
      down *= 2;
    } else {
      across *= 2;
    }
  }
  g->block_rows = hu_up_to((g->m + down - 1) / down, row_step);
  g->block_columns = hu_up_to((g->n + across - 1) / across, column_step);
  g->across = (g->n + g->block_columns - 1) / g->block_columns;
}
