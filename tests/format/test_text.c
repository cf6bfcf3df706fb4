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
    char *expected = strchr(line, ' ');
    assert_non_null(expected);
    *expected++ = 0;
    hu_format format, again;
    size_t where = UNTOUCHED;
    if (hu_format_parse(&format, line, &where) != HU_OK) fail_msg("%s: refused at %zu", line, where);
    assert_true(where == UNTOUCHED);
    size_t length = hu_format_text(text, sizeof text, format);
    if (strcmp(text, expected) != 0 || length != strlen(expected)) fail_msg("%s: %s, not %s", line, text, expected);
    assert_int_equal(hu_format_parse(&again, expected, NULL), HU_OK);
    assert_true(hu_format_equal(format, again));
  }
  fclose(in);
  print_message("%zu texts\n", rows);
  assert_true(rows > 50);
}

static void check_bad(const char *text, const char *status, size_t offset) {
  hu_format format, before;
  memset(&format, 0xA5, sizeof format);
  before = format;
  size_t where = UNTOUCHED;
  hu_status found = hu_format_parse(&format, text, &where);
  if (strcmp(hu_status_name(found), status) != 0 || where != offset)
    fail_msg("\"%s\": %s at %zu, not %s at %zu", text, hu_status_name(found), where, status, offset);
  assert_int_equal(hu_format_parse(&format, text, NULL), found);
  assert_memory_equal(&format, &before, sizeof format);
  const char *axis = NULL;
  size_t again = UNTOUCHED;
  assert_int_equal(hu_format_parse_axis(&format, text, &again, &axis), found);
  assert_true(again == where);
  assert_memory_equal(&format, &before, sizeof format);
  if (found == HU_E_FORMAT && (!axis || !strstr(axis, ": "))) fail_msg("\"%s\": no axis is named", text);
  if (found != HU_E_FORMAT) assert_null(axis);
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
  hu_format format;
  size_t where = UNTOUCHED;
  assert_int_equal(hu_format_parse(NULL, "binary16", &where), HU_E_NULL);
  assert_int_equal(hu_format_parse(&format, NULL, &where), HU_E_NULL);
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
      hu_format format;
      assert_int_not_equal(hu_format_parse(&format, text, &where), HU_OK);
      assert_true(where <= n + 1); /* behind a comma a suffix is missing */
      checked++;
    }
  }
  print_message("%u trailing bytes refused\n", checked);
}

static void round_trip(hu_format format) {
  char text[HU_FORMAT_TEXT_MAX];
  memset(text, '~', sizeof text);
  size_t length = hu_format_text(text, sizeof text, format);
  char axes[T_FORMAT_TEXT];
  if (length == 0 || length >= sizeof text) fail_msg("no text of %s", t_format_text(axes, format));
  if (strlen(text) != length) fail_msg("wrong length of %s", text);
  hu_format again;
  size_t where;
  hu_status status = hu_format_parse(&again, text, &where);
  if (status != HU_OK) fail_msg("%s: %s at %zu", text, hu_status_name(status), where);
  if (!hu_format_equal(format, again)) fail_msg("%s is another format than %s", text, t_format_text(axes, format));
}

static void round_trip_catalogue(void **state) {
  (void)state;
  for (size_t i = 0; i < hu_format_count(); i++) round_trip(hu_format_at(i).format);
  print_message("%zu formats\n", hu_format_count());
}

static void round_trip_random(void **state) {
  (void)state;
  t_random random = {t_seed("round_trip_random", 2026)};
  enum { COUNT = 300000 };
  for (int i = 0; i < COUNT; i++) round_trip(t_random_format(&random, 1, 32));
  print_message("%d random formats of 1 to 32 bits\n", COUNT);
}

/* Descriptor number n of all combinations of the axes, in mixed radix. */
static hu_format combination(unsigned n) {
  hu_format format;
  memset(&format, 0, sizeof format);
  format.sign = (uint8_t)(n % 2), n /= 2;
  format.zero = (uint8_t)(n % 3), n /= 3;
  format.subnormal = (uint8_t)(n % 3), n /= 3;
  format.inf = (uint8_t)(n % 3), n /= 3;
  format.nan = (uint8_t)(n % 6), n /= 6;
  format.negzero = (uint8_t)(n % 2), n /= 2;
  format.overflow = (uint8_t)(n % 3), n /= 3;
  format.negative = (uint8_t)(n % 3);
  return format;
}
#define COMBINATIONS (2 * 3 * 3 * 3 * 6 * 2 * 3 * 3)

/* Every combination of axes with small widths: the valid ones go round, the others have no text. */
static void round_trip_combinations(void **state) {
  (void)state;
  unsigned valid = 0, invalid = 0, combinations = 0;
  for (unsigned n = 0; n < COMBINATIONS; n++) {
    unsigned before = valid;
    for (unsigned widths = 0; widths < 5 * 5 * 3; widths++) {
      hu_format format = combination(n);
      format.e = (uint8_t)(widths % 5);
      format.m = (uint8_t)(widths / 5 % 5);
      format.b = (int16_t)((int)(widths / 25) * 7 - 7);
      if (hu_format_check(format, NULL) == HU_OK) {
        round_trip(format);
        valid++;
      } else {
        char text[8] = "kept";
        assert_int_equal(hu_format_text(text, sizeof text, format), 0);
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
  t_random random = {t_seed("truncated_buffers", 7)};
  unsigned checked = 0;
  for (unsigned i = 0; i < 200; i++) {
    hu_format format = t_random_format(&random, 1, 32);
    char whole[HU_FORMAT_TEXT_MAX], part[HU_FORMAT_TEXT_MAX + 8];
    size_t length = hu_format_text(whole, sizeof whole, format);
    assert_int_equal(hu_format_text(NULL, 0, format), length);
    assert_int_equal(hu_format_text(NULL, 5, format), length);
    for (size_t size = 0; size <= length + 2; size++) {
      memset(part, '~', sizeof part);
      assert_int_equal(hu_format_text(part, size, format), length);
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
  t_random random = {t_seed("garbage", 99)};
  unsigned accepted = 0, by_status[3] = {0, 0, 0};
  for (int i = 0; i < COUNT; i++) {
    char glued[256];
    size_t n = 0;
    if (t_below(&random, 2)) /* half of them begin well */
      n = (size_t)snprintf(glued, sizeof glued, "fp(%u,%u,%d):", t_below(&random, 14), t_below(&random, 34),
                           t_between(&random, -9, 9));
    for (unsigned k = t_below(&random, 9) + 1; k > 0; k--) {
      const char *piece = pieces[t_below(&random, sizeof pieces / sizeof pieces[0])];
      memcpy(glued + n, piece, strlen(piece));
      n += strlen(piece);
    }
    glued[n] = 0;
    char *text = malloc(n + 1);
    assert_non_null(text);
    memcpy(text, glued, n + 1);
    hu_format format, before;
    memset(&format, 0xA5, sizeof format);
    before = format;
    size_t where = UNTOUCHED;
    hu_status status = hu_format_parse(&format, text, &where);
    if (status == HU_OK) {
      accepted++;
      assert_int_equal(hu_format_check(format, NULL), HU_OK);
      round_trip(format);
    } else {
      assert_true(status == HU_E_TEXT || status == HU_E_NAME || status == HU_E_FORMAT);
      by_status[status == HU_E_TEXT ? 0 : status == HU_E_NAME ? 1 : 2]++;
      if (where > n || (status != HU_E_TEXT && where != 0)) fail_msg("\"%s\": offset %zu", text, where);
      assert_memory_equal(&format, &before, sizeof format);
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
  t_random random = {t_seed("cut_texts", 3)};
  unsigned checked = 0;
  for (unsigned i = 0; i < 500; i++) {
    char whole[HU_FORMAT_TEXT_MAX];
    size_t length = hu_format_text(whole, sizeof whole, t_random_format(&random, 1, 32));
    for (size_t cut = 0; cut < length; cut++) {
      char *prefix = malloc(cut + 1), *hole = malloc(length);
      assert_true(prefix && hole);
      memcpy(prefix, whole, cut);
      prefix[cut] = 0;
      memcpy(hole, whole, cut);
      memcpy(hole + cut, whole + cut + 1, length - cut);
      hu_format format;
      size_t where = 0;
      if (hu_format_parse(&format, prefix, &where) != HU_OK) assert_true(where <= cut);
      if (hu_format_parse(&format, hole, &where) != HU_OK) assert_true(where < length);
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
