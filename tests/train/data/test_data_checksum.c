/* SPDX-License-Identifier: MIT */
/* Digests of data files: SHA-256 of known messages, texts of digests, runs whose files are the wanted ones or not.
 * Argument: the folder with the shipped data. */
#define _GNU_SOURCE /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/trainer/trainers.h"
#include "train/data/watch.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void digest_is(size_t n, const void *x, const char *expected) {
  char text[HU_SHA256_TEXT + 1];
  assert_ptr_equal(hui_sha256_text(text, n, x), text);
  assert_string_equal(text, expected);
}

/* NIST's examples for FIPS 180, and ends of every length around a block, whose digests chain into one. */
static void test_known(void **state) {
  (void)state;
  static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  static const char four[] =
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrst"
      "u";
  digest_is(0, NULL, EMPTY);
  digest_is(3, "abc", ABC);
  digest_is(sizeof two - 1, two, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  digest_is(sizeof four - 1, four, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  char *million = malloc(1000000);
  assert_non_null(million);
  memset(million, 'a', 1000000);
  digest_is(1000000, million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(million);
  /* Digests of n times the byte n for n = 0 ... 130, as text, and of that text; from another implementation. */
  char all[131 * HU_SHA256_TEXT], text[HU_SHA256_TEXT + 1];
  uint8_t bytes[131];
  for (size_t n = 0; n < 131; n++) {
    memset(bytes, (int)n, n);
    memcpy(all + n * HU_SHA256_TEXT, hui_sha256_text(text, n, bytes), HU_SHA256_TEXT);
  }
  digest_is(sizeof all, all, "d0baea72526dad7349caefa1eb0367cdf14831720b58b6ab382f9386e8ad7be9");
}

static void test_texts(void **state) {
  (void)state;
  assert_int_equal(hui_checksums_of(""), 0);
  assert_int_equal(hui_checksums_of("-"), 1);
  assert_int_equal(hui_checksums_of("sha256:" ABC), 1);
  assert_int_equal(hui_checksums_of("-,sha256:" ABC ",-"), 3);
  const char *const bad[] = {ABC,  "sha256:", "sha256:" ABC "0",   "sha256:x" ABC, "md5:" ABC,       ",", "-,",
                             ",-", "--",      "sha256:" ABC ", -", "-,,-",         "sha256:ba7816bf"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(hui_checksums_of(bad[i]), -1);
  hu_trainer *trainer = hu_trainer_new();
  assert_int_equal(hu_trainer_set(trainer, "data.checksum", "sha256:abc", why), HU_E_TRAIN);
  assert_non_null(strstr(why, "data.checksum: 'sha256:abc' is not sha256: and 64 hexadecimal digits"));
  hu_trainer_free(trainer);
}

/* By sha256sum: of 1 and -2, of 1, of -2. */
static void test_weights(void **state) {
  (void)state;
  static const char *const digests[] = {"ee4ac73c2bd27756ab82780f27c73a7bc4d3f0bb6acb37e008bc27eccd7e588b",
                                        "e00e5eb9444182f352323374ef4e08ebcb784725fdd4fd612d7730540b3e0c8c",
                                        "e4767380eb5e2fc046bce28b8b2a30c81c733be1a56203cd9499066086617f6c"};
  char text[HU_SHA256_TEXT + 1] = "";
  hu_trainer *trainer = with(PAIRS("data.set", "least_squares", "data.features", "1", "model.net", "linear"));
  assert_int_equal(hu_trainer_sha256(NULL, -1, text), HU_E_NULL);
  assert_int_equal(hu_trainer_sha256(trainer, -1, NULL), HU_E_NULL);
  assert_int_equal(hu_trainer_sha256(trainer, -1, text), HU_E_TRAIN);
  assert_int_equal(hu_trainer_begin(trainer, ".", why), HU_OK);
  assert_int_equal(hu_trainer_write(trainer, 0, &(const float){1}), HU_OK);
  assert_int_equal(hu_trainer_write(trainer, 1, &(const float){-2}), HU_OK);
  for (int i = -1; i < 2; i++) {
    assert_int_equal(hu_trainer_sha256(trainer, i, text), HU_OK);
    assert_string_equal(text, digests[i + 1]);
  }
  assert_int_equal(hu_trainer_sha256(trainer, -2, text), HU_E_SHAPE);
  assert_int_equal(hu_trainer_sha256(trainer, 2, text), HU_E_SHAPE);
  hu_trainer_free(trainer);
}

/* ---- runs ---- */

static char dir[64];

static void put(const char *name, const char *text) {
  char path[96];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  for (int i = 0; i < 40; i++) fputs(text, out);
  fclose(out);
}

static int set_up(void **state) {
  (void)state;
  strcpy(dir, "/tmp/halfulp-checksum-XXXXXX");
  if (!mkdtemp(dir)) return 1;
  put("train", "a b c d\n");
  put("test", "d c b a\n");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  char path[96];
  snprintf(path, sizeof path, "%s/train", dir);
  unlink(path);
  snprintf(path, sizeof path, "%s/test", dir);
  unlink(path);
  return rmdir(dir);
}

#define WORDS                                                                                                \
  "data.set", "words", "data.path", "train", "data.test_file", "test", "data.window", "4", "run.batch", "2", \
      "model.net", "lstm(units=3)"
/* By sha256sum. */
#define TRAIN "f0dc5b46dc1a3bf27cd930815dc384e6872834e2af988729a6b0413c54c8f1fa"
#define TEST "d9151e43e43b3f9c3eb0e39a9dbad5e0636623a3e5ff3d6840abc927645ba7b2"

static void ends(const char *checksum, hu_status status, const char *sentence) {
  hu_trainer *trainer = with(PAIRS(WORDS, "data.checksum", checksum));
  *why = 0;
  assert_int_equal(hu_trainer_begin(trainer, dir, why), status);
  if (!strstr(why, sentence)) fail_msg("'%s', not '%s'", why, sentence);
  assert_int_equal(hu_trainer_file_count(trainer), status == HU_OK ? 2 : 0);
  hu_trainer_free(trainer);
}

static void test_runs(void **state) {
  (void)state;
  hu_trainer *trainer = with(PAIRS(WORDS));
  assert_int_equal(hu_trainer_file_count(trainer), 0);
  assert_int_equal(hu_trainer_begin(trainer, dir, why), HU_OK);
  assert_int_equal(hu_trainer_file_count(trainer), 2);
  assert_int_equal(hu_trainer_file_count(NULL), 0);
  hu_trainer_file file = hu_trainer_file_at(trainer, 0);
  assert_true(file.bytes == 320 && strstr(file.path, "/train") && strcmp(file.sha256, TRAIN) == 0);
  file = hu_trainer_file_at(trainer, 1);
  assert_true(file.bytes == 320 && strstr(file.path, "/test") && strcmp(file.sha256, TEST) == 0);
  file = hu_trainer_file_at(trainer, 2);
  assert_true(!file.path && !file.sha256 && !file.bytes);
  hu_trainer_free(trainer);
  ends("sha256:" TRAIN ",sha256:" TEST, HU_OK, "");
  ends("-,sha256:" TEST, HU_OK, "");
  ends("sha256:" TRAIN ",sha256:" TRAIN, HU_E_DATA, "/test: SHA-256 is " TEST ", and data.checksum requires " TRAIN);
  ends("sha256:" TEST ",-", HU_E_DATA, "/train: SHA-256 is " TRAIN ", and data.checksum requires " TEST);
  ends("sha256:" TRAIN, HU_E_DATA, "/test: data.checksum: 1 digests, and this is file 2 of the run");
  ends("-,-,-", HU_E_TRAIN, "data.checksum: 3 digests, and the run reads 2 files");
  /* Files are no longer noted, and capitals are digits, too. */
  hu_text text;
  char path[96], capitals[] = "sha256:" TRAIN ",-";
  snprintf(path, sizeof path, "%s/test", dir);
  assert_int_equal(hu_text_load(&text, path, why), HU_OK);
  hu_text_free(&text);
  for (char *c = capitals + 7; *c; c++) *c = (char)(*c >= 'a' && *c <= 'f' ? *c - 'a' + 'A' : *c);
  ends(capitals, HU_OK, "");
  trainer = with(PAIRS("data.set", "gratings", "data.checksum", "-"));
  assert_int_equal(hu_trainer_begin(trainer, dir, why), HU_E_TRAIN);
  assert_string_equal(why, "data.checksum: 1 digests, and the run reads 0 files");
  hu_trainer_free(trainer);
}

int main(int argc, char **argv) {
  if (argc < 2) return 1;
  folder = argv[1];
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_texts),
                                     cmocka_unit_test(test_weights), cmocka_unit_test(test_runs)};
  return cmocka_run_group_tests_name("checksums", tests, set_up, tear_down);
}
