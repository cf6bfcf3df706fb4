/* SPDX-License-Identifier: MIT */
/* The text form of descriptors: golden texts, golden mistakes, round trips, truncated buffers, garbage. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

#define UNTOUCHED ((size_t)12345)

/* The next line that is no comment, without its newline; 0 at the end. */
static int next_line(FILE *in, char *line, int size) {
  while (fgets(line, size, in)) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] != '#' && line[0] != 0) return 1;
  }
  return 0;
}

static void good_texts(void **state) {
  (void)state;
  FILE *in = fopen(GOOD_TEXTS, "r");
  assert_non_null(in);
  char line[256], text[HU_FORMAT_TEXT_MAX];
  size_t rows = 0;
  for (; next_line(in, line, sizeof line); rows++) {
    char *want = strchr(line, ' ');
    assert_non_null(want);
    *want++ = 0;
    hu_format f, again;
    size_t where = UNTOUCHED;
    if (hu_format_parse(&f, line, &where) != HU_OK) fail_msg("%s: refused at %zu", line, where);
    assert_true(where == UNTOUCHED);
    size_t length = hu_format_text(text, sizeof text, f);
    if (strcmp(text, want) != 0 || length != strlen(want)) fail_msg("%s: %s, not %s", line, text, want);
    assert_int_equal(hu_format_parse(&again, want, NULL), HU_OK);
    assert_true(hu_format_equal(f, again));
  }
  fclose(in);
  print_message("%zu texts\n", rows);
  assert_true(rows > 50);
}

static void check_bad(const char *text, const char *status, size_t offset) {
  hu_format f, before;
  memset(&f, 0xA5, sizeof f);
  before = f;
  size_t where = UNTOUCHED;
  hu_status s = hu_format_parse(&f, text, &where);
  if (strcmp(hu_status_name(s), status) != 0 || where != offset)
    fail_msg("\"%s\": %s at %zu, not %s at %zu", text, hu_status_name(s), where, status, offset);
  assert_int_equal(hu_format_parse(&f, text, NULL), s);
  assert_memory_equal(&f, &before, sizeof f);
  const char *axis = NULL;
  size_t again = UNTOUCHED;
  assert_int_equal(hu_format_parse_axis(&f, text, &again, &axis), s);
  assert_true(again == where);
  assert_memory_equal(&f, &before, sizeof f);
  if (s == HU_E_FORMAT && (!axis || !strstr(axis, ": "))) fail_msg("\"%s\": no axis is named", text);
  if (s != HU_E_FORMAT) assert_null(axis);
}

static void bad_texts(void **state) {
  (void)state;
  FILE *in = fopen(BAD_TEXTS, "r");
  assert_non_null(in);
  char line[256];
  size_t rows = 0;
  for (; next_line(in, line, sizeof line); rows++) {
    char status[32];
    size_t offset;
    assert_int_equal(sscanf(line, "%31s %zu", status, &offset), 2);
    char *first = strchr(line, '"'), *last = strrchr(line, '"');
    assert_true(first && last > first);
    *last = 0;
    check_bad(first + 1, status, offset);
  }
  fclose(in);
  print_message("%zu texts refused\n", rows);
  assert_true(rows > 100);
}

static void null_arguments(void **state) {
  (void)state;
  hu_format f;
  size_t where = UNTOUCHED;
  assert_int_equal(hu_format_parse(NULL, "binary16", &where), HU_E_NULL);
  assert_int_equal(hu_format_parse(&f, NULL, &where), HU_E_NULL);
  assert_true(where == UNTOUCHED);
}

/* No character of any byte value may be skipped: blanks, control characters, bytes above 127. */
static void every_trailing_byte(void **state) {
  (void)state;
  static const char *const texts[] = {"fp(4,3,0)", "fp(4,3,0):finite", "float8_e4m3fn"};
  unsigned checked = 0;
  for (unsigned i = 0; i < 3; i++) {
    for (unsigned c = 1; c < 256; c++) {
      char text[32];
      size_t n = strlen(texts[i]), where;
      memcpy(text, texts[i], n);
      text[n] = (char)c;
      text[n + 1] = 0;
      hu_format f;
      assert_int_not_equal(hu_format_parse(&f, text, &where), HU_OK);
      assert_true(where <= n + 1); /* behind a comma a suffix is missing */
      checked++;
    }
  }
  print_message("%u trailing bytes refused\n", checked);
}

static void round_trip(hu_format f) {
  char text[HU_FORMAT_TEXT_MAX];
  memset(text, '~', sizeof text);
  size_t length = hu_format_text(text, sizeof text, f);
  char axes[T_FORMAT_TEXT];
  if (length == 0 || length >= sizeof text) fail_msg("no text of %s", t_format_text(axes, f));
  if (strlen(text) != length) fail_msg("wrong length of %s", text);
  hu_format again;
  size_t where;
  hu_status s = hu_format_parse(&again, text, &where);
  if (s != HU_OK) fail_msg("%s: %s at %zu", text, hu_status_name(s), where);
  if (!hu_format_equal(f, again)) fail_msg("%s is another format than %s", text, t_format_text(axes, f));
}

static void round_trip_catalogue(void **state) {
  (void)state;
  for (size_t i = 0; i < hu_format_count(); i++) round_trip(hu_format_at(i).format);
  print_message("%zu formats\n", hu_format_count());
}

static void round_trip_random(void **state) {
  (void)state;
  t_random r = {t_seed("round_trip_random", 2026)};
  enum { COUNT = 300000 };
  for (int i = 0; i < COUNT; i++) round_trip(t_random_format(&r, 1, 32));
  print_message("%d random formats of 1 to 32 bits\n", COUNT);
}

/* Descriptor number n of all combinations of the axes, in mixed radix. */
static hu_format combination(unsigned n) {
  hu_format f;
  memset(&f, 0, sizeof f);
  f.sign = (uint8_t)(n % 2), n /= 2;
  f.zero = (uint8_t)(n % 3), n /= 3;
  f.subnormal = (uint8_t)(n % 3), n /= 3;
  f.inf = (uint8_t)(n % 3), n /= 3;
  f.nan = (uint8_t)(n % 6), n /= 6;
  f.negzero = (uint8_t)(n % 2), n /= 2;
  f.overflow = (uint8_t)(n % 3), n /= 3;
  f.negative = (uint8_t)(n % 3);
  return f;
}
#define COMBINATIONS (2 * 3 * 3 * 3 * 6 * 2 * 3 * 3)

/* Every combination of axes with small widths: the valid ones go round, the others have no text. */
static void round_trip_combinations(void **state) {
  (void)state;
  unsigned valid = 0, invalid = 0, combinations = 0;
  for (unsigned n = 0; n < COMBINATIONS; n++) {
    unsigned before = valid;
    for (unsigned widths = 0; widths < 5 * 5 * 3; widths++) {
      hu_format f = combination(n);
      f.e = (uint8_t)(widths % 5);
      f.m = (uint8_t)(widths / 5 % 5);
      f.b = (int16_t)((int)(widths / 25) * 7 - 7);
      if (hu_format_check(f, NULL) == HU_OK) {
        round_trip(f);
        valid++;
      } else {
        char text[8] = "kept";
        assert_int_equal(hu_format_text(text, sizeof text, f), 0);
        invalid++;
      }
    }
    combinations += valid > before;
  }
  print_message("%u combinations of axes, %u valid formats, %u without text\n", combinations, valid, invalid);
  assert_true(combinations > 100);
}

/* Any size of buffer: what fits is written and ended, nothing behind it, the same length is returned. */
static void truncated_buffers(void **state) {
  (void)state;
  t_random r = {t_seed("truncated_buffers", 7)};
  unsigned checked = 0;
  for (unsigned i = 0; i < 200; i++) {
    hu_format f = t_random_format(&r, 1, 32);
    char whole[HU_FORMAT_TEXT_MAX], part[HU_FORMAT_TEXT_MAX + 8];
    size_t length = hu_format_text(whole, sizeof whole, f);
    assert_int_equal(hu_format_text(NULL, 0, f), length);
    assert_int_equal(hu_format_text(NULL, 5, f), length);
    for (size_t size = 0; size <= length + 2; size++) {
      memset(part, '~', sizeof part);
      assert_int_equal(hu_format_text(part, size, f), length);
      size_t kept = size == 0 ? 0 : size <= length ? size - 1 : length;
      assert_memory_equal(part, whole, kept);
      if (size > 0) assert_int_equal(part[kept], 0);
      for (size_t j = kept + (size > 0); j < sizeof part; j++) assert_int_equal(part[j], '~');
      checked++;
    }
  }
  print_message("%u buffers\n", checked);
}

/* Text glued from pieces of the grammar and stray characters, in a block of exactly its size so that a sanitizer sees
 * a read behind the end. */
static void garbage(void **state) {
  (void)state;
  static const char *const pieces[] = {"fp(",      "4",      ",",     "3",         "0",          ")",
                                       ":",        "-",      "+",     "1",         "10",         "99999",
                                       "ieee",     "finite", "fn",    "fnuz",      "p3109e",     "p3109f",
                                       "unsigned", "nosub",  "flush", "negzero",   "nonegzero",  "zero=",
                                       "sub=",     "inf=",   "nan=",  "ovf=",      "neg=",       "field",
                                       "code",     "none",   "top",   "max",       "low",        "ones",
                                       "ieee1",    "=",      " ",     "fp(4,3,0)", "fp(5,2,1):", "fp(2,1,0):unsigned,",
                                       "binary",   "p",      "8",     "se",        "uf",         "float8_e4m3fn",
                                       "_",        "\xC3",   "\n",    "\t",        "A"};
  enum { COUNT = 400000 };
  t_random r = {t_seed("garbage", 99)};
  unsigned accepted = 0, by_status[3] = {0, 0, 0};
  for (int i = 0; i < COUNT; i++) {
    char glued[256];
    size_t n = 0;
    if (t_below(&r, 2)) /* half of them begin well */
      n = (size_t)snprintf(glued, sizeof glued, "fp(%u,%u,%d):", t_below(&r, 14), t_below(&r, 34),
                           t_between(&r, -9, 9));
    for (unsigned k = t_below(&r, 9) + 1; k > 0; k--) {
      const char *piece = pieces[t_below(&r, sizeof pieces / sizeof pieces[0])];
      memcpy(glued + n, piece, strlen(piece));
      n += strlen(piece);
    }
    glued[n] = 0;
    char *text = malloc(n + 1);
    assert_non_null(text);
    memcpy(text, glued, n + 1);
    hu_format f, before;
    memset(&f, 0xA5, sizeof f);
    before = f;
    size_t where = UNTOUCHED;
    hu_status s = hu_format_parse(&f, text, &where);
    if (s == HU_OK) {
      accepted++;
      assert_int_equal(hu_format_check(f, NULL), HU_OK);
      round_trip(f);
    } else {
      assert_true(s == HU_E_TEXT || s == HU_E_NAME || s == HU_E_FORMAT);
      by_status[s == HU_E_TEXT ? 0 : s == HU_E_NAME ? 1 : 2]++;
      if (where > n || (s != HU_E_TEXT && where != 0)) fail_msg("\"%s\": offset %zu", text, where);
      assert_memory_equal(&f, &before, sizeof f);
    }
    free(text);
  }
  print_message("%d texts: %u accepted, %u not the grammar, %u no name, %u no format\n", COUNT, accepted, by_status[0],
                by_status[1], by_status[2]);
  assert_true(accepted > 100 && by_status[0] > 100 && by_status[1] > 100 && by_status[2] > 100);
}

/* Every prefix of a text that is accepted, and every text with one character left out, ends well. */
static void cut_texts(void **state) {
  (void)state;
  t_random r = {t_seed("cut_texts", 3)};
  unsigned checked = 0;
  for (unsigned i = 0; i < 500; i++) {
    char whole[HU_FORMAT_TEXT_MAX];
    size_t length = hu_format_text(whole, sizeof whole, t_random_format(&r, 1, 32));
    for (size_t cut = 0; cut < length; cut++) {
      char *prefix = malloc(cut + 1), *hole = malloc(length);
      assert_true(prefix && hole);
      memcpy(prefix, whole, cut);
      prefix[cut] = 0;
      memcpy(hole, whole, cut);
      memcpy(hole + cut, whole + cut + 1, length - cut);
      hu_format f;
      size_t where = 0;
      if (hu_format_parse(&f, prefix, &where) != HU_OK) assert_true(where <= cut);
      if (hu_format_parse(&f, hole, &where) != HU_OK) assert_true(where < length);
      free(prefix);
      free(hole);
      checked += 2;
    }
  }
  print_message("%u texts\n", checked);
}

int main(void) {
  /* Whatever the user's locale, texts are read and written the same. */
  (void)setlocale(LC_ALL, "");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_texts),
      cmocka_unit_test(bad_texts),
      cmocka_unit_test(null_arguments),
      cmocka_unit_test(every_trailing_byte),
      cmocka_unit_test(round_trip_catalogue),
      cmocka_unit_test(round_trip_random),
      cmocka_unit_test(round_trip_combinations),
      cmocka_unit_test(truncated_buffers),
      cmocka_unit_test(garbage),
      cmocka_unit_test(cut_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
