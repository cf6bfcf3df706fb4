/* SPDX-License-Identifier: MIT */
/* Replays sums by hu_gemm: each line as the one element of a 1 x 1 product, as the element (1, 2) of a 3 x 5
 * one with the line's operands in every row and column, operands as codes and, where binary32 holds them, as values, on
 * every set of levels. */
#include "tests/golden/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/gemm.h"
#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "tests/gen/golden.h"
#include "tests/golden/golden_file.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { ROWS = 3, COLUMNS = 5 };

static void store(void *data, uint8_t storage, hu_format format, size_t i, uint32_t code) {
  uint32_t width = hu_limits_of(format).storage;
  if (storage == HU_TYPE_VALUES32)
    ((float *)data)[i] = hu_decode(format, code);
  else if (width == 8)
    ((uint8_t *)data)[i] = (uint8_t)code;
  else if (width == 16)
    ((uint16_t *)data)[i] = (uint16_t)code;
  else
    ((uint32_t *)data)[i] = code;
}

static uint32_t load(const void *data, hu_format format, size_t i) {
  uint32_t width = hu_limits_of(format).storage;
  return width == 8    ? ((const uint8_t *)data)[i]
         : width == 16 ? ((const uint16_t *)data)[i]
                       : ((const uint32_t *)data)[i];
}

static void run(const golden_sum *sum, size_t rows, size_t columns, uint8_t storage, uint32_t levels_off,
                size_t number) {
  static _Alignas(64) uint8_t a[ROWS * GOLDEN_TERMS * 4], b[GOLDEN_TERMS * COLUMNS * 4], c[ROWS * COLUMNS * 4],
      d[ROWS * COLUMNS * 4];
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < sum->n; k++) store(a, storage, sum->fa, i * sum->n + k, sum->a[k]);
  for (size_t k = 0; k < sum->n; k++)
    for (size_t j = 0; j < columns; j++) store(b, storage, sum->fb, k * columns + j, sum->b[k]);
  for (size_t i = 0; i < rows * columns; i++)
    if (sum->has_c) store(c, storage, sum->fc, i, sum->c);
  t_fill_pattern(d, sizeof d);
  size_t lda = sum->n ? sum->n : 1;
  hu_view oa = hu_matrix_of(a, lda, hu_type_values(storage, sum->fa)),
          ob = hu_matrix_of(b, columns, hu_type_values(storage, sum->fb)),
          oc = hu_matrix_of(c, columns, hu_type_values(storage, sum->fc));
  hu_output od = hu_matrix_codes_out(d, columns, sum->fz);
  hu_events got, expected;
  hu_exec exec;
  memset(&got, 0, sizeof got);
  memset(&expected, 0, sizeof expected);
  memset(&exec, 0, sizeof exec);
  exec.levels_off = levels_off;
  hu_status status = hu_gemm(rows, columns, sum->n, &od, &oa, &ob, sum->has_c ? &oc : NULL, &sum->accum,
                             &(hu_how){sum->mode, &exec, &got});
  if (status != HU_OK) fail_msg("line %zu: hu_gemm says %s", number, hu_status_name(status));
  for (size_t i = 0; i < rows * columns; i++) {
    hu_events_count(&expected, sum->events);
    if (load(d, sum->fz, i) != sum->code)
      fail_msg("sum %zu, element %zu of %zu x %zu, storage %u, levels off %#x: %#x, the line says %#x", number, i, rows,
               columns, storage, levels_off, load(d, sum->fz, i), sum->code);
  }
  if (!t_same_events(&got, &expected))
    fail_msg("sum %zu, %zu x %zu, storage %u, levels off %#x: event counts differ", number, rows, columns, storage,
             levels_off);
}

static uint64_t replay(const golden_sum *sum, size_t number) {
  int values = hu_format_fits_binary32(sum->fa) && hu_format_fits_binary32(sum->fb) &&
               (!sum->has_c || hu_format_fits_binary32(sum->fc));
  uint64_t n = 0;
  for (size_t i = 0; i < t_levels(); i++)
    for (int storage = values ? HU_TYPE_VALUES32 : HU_TYPE_CODES; storage <= HU_TYPE_CODES; storage++, n += 2) {
      run(sum, 1, 1, (uint8_t)storage, t_levels_off(i), number);
      run(sum, ROWS, COLUMNS, (uint8_t)storage, t_levels_off(i), number);
    }
  return n;
}

void replay_sums(void **state) {
  size_t count = 0;
  uint64_t products = 0;
  (void)state;
  for (size_t i = 0; i < golden_count(); i++) {
    golden_lines lines;
    if (golden_kind(i) != GOLDEN_SUMS) continue;
    char *content = replay_text(i);
    golden_open(&lines, golden_name(i), content);
    for (const char *line; (line = golden_next(&lines)) != NULL; count++) {
      golden_sum sum = golden_sum_parse(&lines, line);
      products += replay(&sum, count);
    }
    free(content);
  }
  assert_true(count > 1000);
  print_message("%zu sums in %llu products\n", count, (unsigned long long)products);
}
