/* SPDX-License-Identifier: MIT */
/* The committed golden files are, byte for byte, what the generator makes. usage: test_golden_files DIRECTORY */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/gen/golden.h"
#include "tests/golden/golden_file.h"

static void test_files(void **state) {
  const char *directory = *state;
  size_t bytes = 0;
  assert_true(golden_count() > 10);
  for (size_t i = 0; i < golden_count(); i++) {
    size_t n, line = 1;
    char *committed = golden_read(directory, golden_name(i), &n);
    text made = {NULL, 0, 0};
    golden_make(i, &made);
    if (n != made.n || memcmp(committed, made.at, n) != 0) {
      for (size_t k = 0; k < n && k < made.n && committed[k] == made.at[k]; k++) line += committed[k] == '\n';
      fail_msg("%s differs from what the generator makes, first in line %zu", golden_name(i), line);
    }
    bytes += n;
    free(committed);
    text_free(&made);
  }
  print_message("%zu golden files, %zu bytes, made again\n", golden_count(), bytes);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_files, argc > 1 ? argv[1] : (char *)".")};
  return cmocka_run_group_tests_name("golden_files", tests, NULL, NULL);
}
