/* SPDX-License-Identifier: MIT */
/* Lines over steps as SVG: what is left out is said, and lines break where points are missing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draw/curves.h"
#include "tests/support/cmocka.h"

enum { POINTS = 4000 };

static double x[POINTS], y[POINTS];

/* Pieces of lines in the drawing of one curve of n points and `left_out` more; *said: is the number there? */
static unsigned pieces(size_t n, size_t left_out, int *said) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  const curve one = {"loss", x, y, n, 1, 0};
  const chart c = {"a", "A", "a", CURVE_LINEAR, &one, 1, NULL, NULL, CURVE_LINEAR, left_out};
  chart_draw(out, &c);
  assert_int_equal(fclose(out), 0);
  unsigned count = 0;
  for (const char *p = text; (p = strstr(p, "<polyline")) != NULL; p++) count++;
  *said = strstr(text, "3 more not drawn") != NULL;
  free(text);
  return count;
}

static void missing_points(void **state) {
  (void)state;
  int said;
  static const size_t sizes[] = {200, POINTS}; /* each point drawn; parts of them */
  for (size_t i = 0; i < 2; i++) {
    size_t n = sizes[i];
    for (size_t j = 0; j < n; j++) {
      x[j] = (double)j;
      y[j] = sin((double)j);
    }
    assert_int_equal(pieces(n, 0, &said), 1);
    for (size_t j = n / 4; j < n / 2; j++) y[j] = (double)NAN;
    assert_int_equal(pieces(n, 0, &said), 2);
    assert_false(said);
  }
}

static void left_out_lines(void **state) {
  (void)state;
  int said;
  x[1] = 1;
  y[0] = y[1] = 1;
  assert_int_equal(pieces(2, 3, &said), 1);
  assert_true(said);
  assert_int_equal(pieces(2, 0, &said), 1);
  assert_false(said);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(missing_points), cmocka_unit_test(left_out_lines)};
  return cmocka_run_group_tests_name("curves", tests, NULL, NULL);
}
