/* SPDX-License-Identifier: MIT */
/* The committed golden files are, byte for byte, what the generator makes, its whole texts have the digests that are
 * committed, and the library gives what each of their lines says, whether it is stored or not.
 * usage: test_golden DIRECTORY */
#include <stdlib.h>
#include <string.h>

#include "tests/gen/golden.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/replay.h"
#include "tests/support/cmocka.h"

char *replay_text(size_t i) {
  t_text made = {NULL, 0, 0};
  golden_make(i, 0, &made);
  return made.at;
}

static void test_files(void **state) {
  size_t bytes = 0, files = 0;
  for (size_t i = 0; i < golden_count(); i++) {
    if (!golden_stored(i)) continue;
    size_t n, line = 1;
    char *committed = golden_read(*state, golden_name(i), &n);
    t_text made = {NULL, 0, 0};
    golden_make(i, 1, &made);
    if (n != made.n || memcmp(committed, made.at, n) != 0) {
      for (size_t k = 0; k < n && committed[k] == made.at[k]; k++) line += committed[k] == '\n';
      fail_msg("%s differs from what the generator makes, first in line %zu", golden_name(i), line);
    }
    bytes += n;
    files++;
    free(committed);
    text_free(&made);
  }
  assert_true(files > 10 && files < golden_count());
  print_message("%zu golden files, %zu bytes, made again\n", files, bytes);
}

int main(int argc, char **argv) {
  char *directory = argc > 1 ? argv[1] : (char *)".";
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_files, directory),
                                     cmocka_unit_test(replay_conversions), cmocka_unit_test(replay_stochastic),
                                     cmocka_unit_test(replay_sums)};
  return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
