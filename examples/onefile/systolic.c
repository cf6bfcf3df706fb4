/* SPDX-License-Identifier: MIT */
/* A toy simulator: an output-stationary systolic array, cycle by cycle. Row i of A enters from the left i cycles late,
 * column j of B from above j cycles late; a cell multiplies what passes and adds it to its accumulator, one rounding a
 * step, in a format of the designer's choice. The arithmetic is halfulp's, vendored as two files; at the end the whole
 * result is held against hu_gemm's model of such an accumulator, seq(F). */
#include <stdio.h>
#include <string.h>

#include "halfulp.h"

enum { SIDE = 8, DEPTH = 40 };

typedef struct cell {
  uint32_t a, b; /* codes that stand here in this cycle */
  uint32_t sum;  /* code of the accumulator's format */
} cell;

typedef struct design {
  hu_format in, sum;
  hu_mode mode;
} design;

/* What enters row (column) `lane` in a cycle: element `cycle - lane`, 0 outside. */
static uint32_t entering(const uint8_t *x, int lane, int cycle) {
  int k = cycle - lane;
  return k < 0 || k >= DEPTH ? 0 : x[lane * DEPTH + k];
}

static void one_cycle(const design *d, cell array[SIDE][SIDE], const uint8_t *a, const uint8_t *b, int cycle) {
  for (int i = SIDE - 1; i >= 0; i--) {
    for (int j = SIDE - 1; j >= 0; j--) {
      cell *c = &array[i][j];
      c->a = j ? array[i][j - 1].a : entering(a, i, cycle);
      c->b = i ? array[i - 1][j].b : entering(b, j, cycle);
      c->sum = hu_fma(d->sum, d->mode, d->in, c->a, d->in, c->b, d->sum, c->sum, 0, NULL);
    }
  }
}

int main(int argc, char **argv) {
  static uint8_t a[SIDE * DEPTH], b[SIDE * DEPTH]; /* rows of A, columns of B */
  static float x[SIDE * DEPTH];
  static uint16_t want[SIDE * SIDE];
  static cell array[SIDE][SIDE];
  const char *name = argc > 1 ? argv[1] : "fp(5,8,0)";
  char model[HU_ACCUM_TEXT_MAX];
  design d = {hu_float8_e4m3fn(), {0}, {0}};
  if (hu_format_parse(&d.sum, name, NULL) != HU_OK || hu_limits_of(d.sum).storage != 16) {
    fprintf(stderr, "%s: no format of 9 to 16 bits\n", name);
    return 1;
  }
  for (int i = 0; i < SIDE * DEPTH; i++) x[i] = (float)(i * 53 % 97 - 48) / 16.0f;
  hu_status s = hu_encode_n(SIDE * DEPTH, a, 1, x, 1, d.in, d.mode, NULL, NULL);
  if (s == HU_OK) s = hu_encode_n(SIDE * DEPTH, b, 1, x, 1, d.in, d.mode, NULL, NULL);

  int cycles = DEPTH + 2 * (SIDE - 1);
  for (int cycle = 0; cycle < cycles; cycle++) one_cycle(&d, array, a, b, cycle);

  hu_accum accum;
  hu_view oa = hu_matrix_codes(a, DEPTH, d.in), ob = hu_transposed(hu_matrix_codes(b, DEPTH, d.in));
  hu_output result = hu_matrix_codes_out(want, SIDE, d.sum);
  snprintf(model, sizeof model, "seq(%s)", name);
  if (s == HU_OK) s = hu_accum_parse(&accum, model, NULL);
  if (s == HU_OK) s = hu_gemm(SIDE, SIDE, DEPTH, &result, &oa, &ob, NULL, &accum, &(hu_how){d.mode, NULL, NULL});
  if (s != HU_OK) {
    fprintf(stderr, "%s\n", hu_status_text(s));
    return 1;
  }
  int different = 0;
  for (int i = 0; i < SIDE; i++) {
    for (int j = 0; j < SIDE; j++) different += array[i][j].sum != want[i * SIDE + j];
  }
  printf("%d x %d cells, %d cycles, accumulator %s: C(0,0) = %g, %d of %d sums differ from %s\n", SIDE, SIDE, cycles,
         name, hu_decode64(d.sum, array[0][0].sum), different, SIDE * SIDE, model);
  return different != 0;
}
