/* SPDX-License-Identifier: MIT */
/* The words of modes, policies, accumulation models and statuses. */
#include <stdio.h>
#include <string.h>

#include "halfulp/halfulp.h"
#include "tests/support/cmocka.h"

/* A mode with a pattern in every field, to see which of them a call writes. */
static hu_mode pattern(void) {
  hu_mode mode;
  memset(&mode, 0xA5, sizeof mode);
  return mode;
}

static void check_round(const char *text, unsigned round, unsigned bits, const char *canonical) {
  hu_mode expected = pattern(), got = pattern();
  expected.round = (uint8_t)round;
  expected.bits = (uint8_t)bits;
  if (hu_mode_round_parse(&got, text) != HU_OK) fail_msg("%s: refused", text);
  assert_memory_equal(&got, &expected, sizeof got);
  char written[9] = "~~~~~~~~";
  assert_ptr_equal(hu_mode_round_text(written, got), written);
  assert_string_equal(written, canonical);
  assert_true(strlen(canonical) < 8 && written[8] == 0);
  hu_mode plain = {0};
  assert_int_equal(hu_mode_round_parse(&plain, text), HU_OK);
  assert_int_equal(hu_mode_check(plain), HU_OK);
}

static void rounding_words(void **state) {
  (void)state;
  static const char *const names[8] = {"rne", "rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto"};
  unsigned checked = 0;
  for (unsigned i = 0; i < 8; i++, checked++) check_round(names[i], i, 0, names[i]);
  for (unsigned letter = 0; letter < 3; letter++) {
    for (unsigned bits = 1; bits <= 32; bits++) {
      char text[16], plain[16];
      snprintf(text, sizeof text, "sr%c:%u", 'a' + letter, bits);
      check_round(text, HU_SRA + letter, bits, text);
      checked++;
      if (letter > 0) continue;
      snprintf(plain, sizeof plain, "sr:%u", bits);
      check_round(plain, HU_SRA, bits, text);
      checked++;
    }
  }
  print_message("%u words\n", checked);
  assert_int_equal(checked, 8 + 4 * 32);
}

/* The words of a mode against HU_ROUND_TEXTS and hu_mode_round_text. */
static void words_of_modes(void **state) {
  char all[sizeof HU_ROUND_TEXTS + 8] = "", text[8];
  (void)state;
  for (uint32_t round = 0; round < HU_ROUND_COUNT; round++) {
    hu_mode_words words = hu_mode_round_words(round);
    hu_mode mode = {.round = (uint8_t)round, .bits = round >= HU_SRA ? 5 : 0};
    strcat(strcat(all, round ? " " : ""), words.name);
    if (round >= HU_SRA) strcat(all, ":N");
    hu_mode_round_text(text, mode);
    text[strcspn(text, ":")] = 0;
    assert_string_equal(words.name, text);
    assert_true(strlen(words.meaning) > 5 && words.p3109 && words.ieee);
  }
  assert_string_equal(all, HU_ROUND_TEXTS);
  assert_string_equal(hu_mode_round_words(HU_RTN).p3109, "TowardNegative");
  assert_string_equal(hu_mode_round_words(HU_RNA).ieee, "roundTiesToAway");
  assert_string_equal(hu_mode_round_words(HU_RAZ).p3109, "");
  assert_null(hu_mode_round_words(HU_ROUND_COUNT).name);
  assert_null(hu_mode_round_words(UINT32_MAX).ieee);
}

static void wrong_rounding_words(void **state) {
  (void)state;
  static const char *const bad[] = {"",       " ",      "r",      "rn",      "rnee",    "rne ",    " rne",
                                    "RNE",    "rnd",    "rne:1",  "rtz:8",   "even",    "0",       "s",
                                    "sr",     "sra",    "srb",    "sr:",     "sra:",    "sra:0",   "sra:00",
                                    "sra:08", "sra:33", "sra:99", "sra:100", "sra:256", "sra:257", "sra:4294967297",
                                    "sra:-1", "sra:+8", "sra: 8", "sra:8 ",  "sra:8x",  "sra:0x8", "sra8",
                                    "sra::8", "srd:8",  "sr`:8",  "srA:8",   "sraa:8",  "sr8",     "sr:8:8"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    hu_mode mode = pattern(), before = pattern();
    if (hu_mode_round_parse(&mode, bad[i]) != HU_E_TEXT) fail_msg("\"%s\" was not refused", bad[i]);
    assert_memory_equal(&mode, &before, sizeof mode);
  }
  print_message("%zu words refused\n", sizeof bad / sizeof bad[0]);
  hu_mode mode;
  assert_int_equal(hu_mode_round_parse(NULL, "rne"), HU_E_NULL);
  assert_int_equal(hu_mode_round_parse(&mode, NULL), HU_E_NULL);
}

/* Each word of another program leads to the text that is meant, and that text is one which the parser takes. */
static void hints_for_rounding_words(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"sr", "sra:16"},        {"sra", "sra:16"},  {"sr8", "sra:16"}, {"sra:33", "sra:16"}, {"stochastic", "srb:N"},
      {"Stochastic", "src:N"}, {"nearest", "rne"}, {"even", "rne"},   {"RNE", "rne"},       {"half-even", "rne"},
      {"away", "raz"},         {"rmm", "rna"},     {"RZ", "rtz"},     {"trunc", "rtz"},     {"ceil", "rtp"},
      {"floor", "rtn"},        {"down", "rtn"},    {"odd", "rto"}};
  static const char *const others[] = {"",
                                       " ",
                                       "s",
                                       "r",
                                       "e",
                                       "ee",
                                       "nearest even",
                                       "banker",
                                       "rounded",
                                       "vens",
                                       "a word that is longer than any of them"};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *hint = hu_mode_round_hint(rows[i][0]);
    hu_mode mode;
    if (!hint || !strstr(hint, rows[i][1])) fail_msg("%s: %s", rows[i][0], hint ? hint : "no hint");
    if (!strchr(rows[i][1], 'N')) assert_int_equal(hu_mode_round_parse(&mode, rows[i][1]), HU_OK);
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (hu_mode_round_hint(others[i])) fail_msg("'%s': %s", others[i], hu_mode_round_hint(others[i]));
  assert_null(hu_mode_round_hint(NULL));
}

static void text_of_invalid_mode(void **state) {
  (void)state;
  hu_mode bad[4] = {
      {.round = HU_ROUND_COUNT}, {.round = 255}, {.round = HU_SRB, .bits = 0}, {.round = HU_SRC, .bits = 33}};
  for (unsigned i = 0; i < 4; i++) {
    char text[8] = "~~~~~~~";
    assert_string_equal(hu_mode_round_text(text, bad[i]), "?");
  }
}

typedef hu_status (*parse_policy)(hu_mode *mode, const char *text);

/* words[i] sets the field at `offset` to i and nothing else; near misses are refused. */
static void check_policy(parse_policy parse, size_t offset, const char *const *words, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    hu_mode got = pattern(), expected = pattern();
    ((unsigned char *)&expected)[offset] = (unsigned char)i;
    assert_int_equal(parse(&got, words[i]), HU_OK);
    assert_memory_equal(&got, &expected, sizeof got);
    char longer[32], shorter[32];
    snprintf(longer, sizeof longer, "%sx", words[i]);
    snprintf(shorter, sizeof shorter, "%.*s", (int)strlen(words[i]) - 1, words[i]);
    hu_mode before = got;
    assert_int_equal(parse(&got, longer), HU_E_TEXT);
    assert_int_equal(parse(&got, shorter), HU_E_TEXT);
    assert_memory_equal(&got, &before, sizeof got);
  }
  hu_mode mode = pattern(), before = pattern();
  assert_int_equal(parse(&mode, ""), HU_E_TEXT);
  assert_int_equal(parse(&mode, "None"), HU_E_TEXT);
  assert_int_equal(parse(&mode, "rne"), HU_E_TEXT);
  assert_int_equal(parse(NULL, words[0]), HU_E_NULL);
  assert_int_equal(parse(&mode, NULL), HU_E_NULL);
  assert_memory_equal(&mode, &before, sizeof mode);
}

static void policy_words(void **state) {
  (void)state;
  static const char *const saturate[4] = {"default", "none", "finite", "propagate"};
  static const char *const nan[3] = {"max", "zero", "error"};
  check_policy(hu_mode_saturate_parse, offsetof(hu_mode, saturate), saturate, 4);
  check_policy(hu_mode_nan_parse, offsetof(hu_mode, nan), nan, 3);
  static const char *const nan_fma[2] = {"quiet", "invalid"};
  check_policy(hu_mode_nan_fma_parse, offsetof(hu_mode, nan_fma), nan_fma, 2);
}

static void accumulation_words(void **state) {
  (void)state;
  static const char *const words[2] = {"exact", "fp32"};
  static const char *const bad[] = {"",     "fp32 ",  "FP32", "0",
                                    "exac", "exactt", "fp3",  "fp16"}; /* the last four: names */
  for (uint32_t kind = 0; kind < 2; kind++) {
    hu_accum accum, expected;
    char text[8];
    memset(&accum, 0xA5, sizeof accum);
    memset(&expected, 0, sizeof expected);
    expected.kind = kind;
    assert_int_equal(hu_accum_parse(&accum, words[kind], NULL), HU_OK);
    assert_memory_equal(&accum, &expected, sizeof accum);
    assert_int_equal(hu_accum_check(&accum), HU_OK);
    size_t length = strlen(words[kind]);
    for (size_t size = 0; size < sizeof text; size++) {
      memset(text, '~', sizeof text);
      assert_int_equal(hu_accum_text(text, size, &accum), length);
      size_t kept = size == 0 ? 0 : size <= length ? size - 1 : length;
      assert_memory_equal(text, words[kind], kept);
      if (size > 0) assert_int_equal(text[kept], 0);
      for (size_t i = kept + (size > 0); i < sizeof text; i++) assert_int_equal(text[i], '~');
    }
    assert_int_equal(hu_accum_text(NULL, 0, &accum), length);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    hu_accum accum, before;
    memset(&accum, 0xA5, sizeof accum);
    before = accum;
    assert_int_equal(hu_accum_parse(&accum, bad[i], NULL), i < 4 ? HU_E_TEXT : HU_E_NAME);
    assert_memory_equal(&accum, &before, sizeof accum);
  }
  hu_accum accum;
  assert_int_equal(hu_accum_parse(NULL, "exact", NULL), HU_E_NULL);
  assert_int_equal(hu_accum_parse(&accum, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_accum_check(NULL), HU_E_NULL);
  assert_int_equal(hu_accum_text(NULL, 0, NULL), 0);
}

/* Any byte that is not 0 behind `kind` and makes no other model, and a kind without its parameters, is refused. */
static void accumulation_check(void **state) {
  (void)state;
  unsigned refused = 0;
  for (size_t i = 0; i < sizeof(hu_accum); i++) {
    for (uint32_t kind = 0; kind < 2; kind++) {
      hu_accum accum;
      memset(&accum, 0, sizeof accum);
      accum.kind = kind;
      ((unsigned char *)&accum)[i] ^= 2;
      /* These are models: fp64, splitk(S,fp32), and takes(s8,any,any,M) for each of the operands. */
      if (accum.kind == HU_ACCUM_FP64 || (kind == HU_ACCUM_FP32 && accum.slices)) continue;
      if (accum.a.kind == HU_TYPE_INT8 || accum.b.kind == HU_TYPE_INT8 || accum.c.kind == HU_TYPE_INT8) {
        assert_int_equal(hu_accum_check(&accum), HU_OK);
        continue;
      }
      assert_int_equal(hu_accum_check(&accum), HU_E_ACCUM);
      assert_int_equal(hu_accum_text(NULL, 0, &accum), 0);
      refused++;
    }
  }
  print_message("%u records refused\n", refused);
}

static void status_words(void **state) {
  (void)state;
#define ROW(s) \
  { s, #s }
  static const struct {
    hu_status status;
    const char *name;
  } rows[] = {ROW(HU_OK),         ROW(HU_E_FORMAT),  ROW(HU_E_CARRIER), ROW(HU_E_MODE),      ROW(HU_E_NULL),
              ROW(HU_E_SHAPE),    ROW(HU_E_OVERLAP), ROW(HU_E_ALIGN),   ROW(HU_E_GRID),      ROW(HU_E_CODE),
              ROW(HU_E_TEXT),     ROW(HU_E_NAME),    ROW(HU_E_SPACE),   ROW(HU_E_ACCUM),     ROW(HU_E_SCALING),
              ROW(HU_E_NUMBER),   ROW(HU_E_MEMORY),  ROW(HU_E_DEVICE),  ROW(HU_E_CUDA),      ROW(HU_E_MPI),
              ROW(HU_E_TRAIN),    ROW(HU_E_FILE),    ROW(HU_E_DATA),    ROW(HU_E_OPERAND_A), ROW(HU_E_OPERAND_B),
              ROW(HU_E_OPERAND_C)};
#undef ROW
  const size_t n = sizeof rows / sizeof rows[0];
  for (size_t i = 0; i < n; i++) {
    assert_string_equal(hu_status_name(rows[i].status), rows[i].name);
    assert_true(strlen(hu_status_text(rows[i].status)) > 5);
    for (size_t k = 0; k < i; k++) {
      assert_string_not_equal(hu_status_text(rows[i].status), hu_status_text(rows[k].status));
    }
  }
  unsigned known = 0;
  for (int s = -200; s <= 200; s++) {
    assert_non_null(hu_status_name((hu_status)s));
    assert_non_null(hu_status_text((hu_status)s));
    known += strcmp(hu_status_name((hu_status)s), "HU_E_UNKNOWN") != 0;
  }
  print_message("%u statuses have a name\n", known);
  assert_int_equal(known, n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounding_words),       cmocka_unit_test(words_of_modes),
      cmocka_unit_test(wrong_rounding_words), cmocka_unit_test(hints_for_rounding_words),
      cmocka_unit_test(text_of_invalid_mode), cmocka_unit_test(policy_words),
      cmocka_unit_test(accumulation_words),   cmocka_unit_test(accumulation_check),
      cmocka_unit_test(status_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
