/* SPDX-License-Identifier: MIT */
/* Published numbers: usage: test_number_golden FILE. The file says what its lines mean. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/number.h"
#include "tests/support/cmocka.h"

static const char *path;

static uint32_t rounded(hu_number n, double x) {
  hu_mode rne = {0};
  return hu_number_encode64(n, rne, x, 0, NULL);
}

static int whole(hu_number n, double most) {
  for (double x = most < 4000 ? 0 : most - 4000; x <= most; x++) {
    if (hu_number_decode64(n, rounded(n, x)) != x) return 0;
  }
  return hu_number_decode64(n, rounded(n, most + 1)) != most + 1;
}

static int holds(const char *kind, hu_number n, const char *a, const char *b, const char *c) {
  uint32_t code = (uint32_t)strtoul(b, NULL, 0);
  if (strcmp(kind, "value") == 0) {
    double got = hu_number_decode64(n, (uint32_t)strtoul(a, NULL, 0)), expected = strtod(b, NULL);
    return isnan(expected) ? isnan(got) : got == expected || (float)got == (float)expected;
  }
  if (strcmp(kind, "code") == 0) return rounded(n, strtod(a, NULL)) == code;
  if (strcmp(kind, "next") == 0) return hu_number_decode64(n, rounded(n, strtod(a, NULL)) + 1) == strtod(b, NULL);
  if (strcmp(kind, "whole") == 0) return whole(n, strtod(a, NULL));
  float t = strtof(a, NULL);
  return strcmp(kind, "step") == 0 && rounded(n, (double)t) == code &&
         rounded(n, (double)nextafterf(t, INFINITY)) == (uint32_t)strtoul(c, NULL, 0);
}

static void test_published(void **state) {
  (void)state;
  char line[256], kind[16], name[64], a[64], b[64], c[64];
  unsigned lines = 0, wrong = 0;
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    hu_number n;
    if (line[0] == '#') continue;
    b[0] = c[0] = 0;
    assert_true(sscanf(line, "%15s %63s %63s %63s %63s", kind, name, a, b, c) >= 3);
    assert_int_equal(hu_number_parse(&n, name, NULL, NULL), HU_OK);
    if (!holds(kind, n, a, b, c)) {
      print_message("not so here: %s", line);
      wrong++;
    }
    lines++;
  }
  fclose(file);
  assert_true(lines > 90);
  assert_int_equal(wrong, 0);
  print_message("%u published numbers\n", lines);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  path = argv[1];
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_published)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
