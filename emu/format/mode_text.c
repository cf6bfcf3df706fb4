/* SPDX-License-Identifier: MIT */
/* Text forms of rounding modes and policies. */
#include <string.h>

#include "emu/core/modes.h"
#include "halfulp/mode.h"

#define HU_WORDS_OF(mode, name, first, words, p3109, ieee) {#name, words, p3109, ieee},
static const hu_mode_words round_words[HU_ROUND_COUNT] = {HU_EACH_MODE(HU_WORDS_OF)};
#undef HU_WORDS_OF

hu_mode_words hu_mode_round_words(uint32_t round) {
  const hu_mode_words none = {NULL, NULL, NULL, NULL};
  return round < HU_ROUND_COUNT ? round_words[round] : none;
}

/* Reads N of "N", 1 to 32, no sign, no leading zero, nothing behind; 0 for any other text. */
static uint8_t parse_bits(const char *text) {
  if (text[0] < '1' || text[0] > '9') return 0;
  unsigned n = (unsigned)(text[0] - '0');
  if (text[1] == 0) return (uint8_t)n;
  if (text[1] < '0' || text[1] > '9' || text[2] != 0) return 0;
  n = n * 10 + (unsigned)(text[1] - '0');
  return (uint8_t)(n <= 32 ? n : 0);
}

static hu_status parse_stochastic(hu_mode *mode, const char *text) {
  uint8_t round = HU_SRA;
  const char *rest = text + 2;
  if (*rest >= 'a' && *rest <= 'c') round = (uint8_t)(HU_SRA + (*rest++ - 'a'));
  if (*rest != ':') return HU_E_TEXT;
  uint8_t bits = parse_bits(rest + 1);
  if (!bits) return HU_E_TEXT;
  mode->round = round;
  mode->bits = bits;
  return HU_OK;
}

hu_status hu_mode_round_parse(hu_mode *mode, const char *text) {
  if (!mode || !text) return HU_E_NULL;
  if (text[0] == 's' && text[1] == 'r') return parse_stochastic(mode, text);
  for (unsigned i = 0; i < HU_SRA; i++) {
    if (strcmp(text, round_words[i].name) != 0) continue;
    mode->round = (uint8_t)i;
    mode->bits = 0;
    return HU_OK;
  }
  return HU_E_TEXT;
}

/* Words of papers and other programs, a blank before and behind each, and what to write for them. */
static const char *const hints[][2] = {
    {" stochastic stoch random ",
     "stochastic rounding is sra:N, srb:N or src:N with N random bits, 1 to 32, as in sra:16"},
    {" nearest even round rn ne rte rtne near_even nearest_even half_even half_to_even ties_even ties_to_even rne ",
     "to nearest is rne with ties to even, rna with ties away from zero, rnz with ties to zero"},
    {" away near_maxmag nearest_away half_away half_up ties_away ties_to_away rmm rna raz ",
     "to nearest with ties away from zero is rna, always away from zero raz"},
    {" zero trunc truncate truncation chop rz toward_zero tozero minmag rtz ", "toward zero is rtz"},
    {" up ceil ceiling ru rp rup positive toward_positive rtp ", "toward positive is rtp"},
    {" down floor rd rm rdn negative toward_negative rtn ", "toward negative is rtn"},
    {" odd rodd jam jamming to_odd rto ", "to odd is rto"}};

/* Returns 1 if the words have this one, which has blanks around it. */
static int have_word(const char *words, const char *word) {
  size_t n = strlen(word);
  while (words[0] && strncmp(words, word, n) != 0) words++;
  return words[0] != 0;
}

const char *hu_mode_round_hint(const char *text) {
  enum { WORD_MAX = 18 };
  char word[WORD_MAX + 3] = " ";
  size_t n = text ? strlen(text) : 0;
  if (n < 2 || n > WORD_MAX || strchr(text, ' ')) return NULL;
  for (size_t i = 0; i < n; i++) {
    char letter = text[i] == '-' ? '_' : text[i];
    word[i + 1] = (char)(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
  }
  if (word[1] == 's' && word[2] == 'r') return hints[0][1]; /* "sr", "sra", "sr8": N is missing, or not one */
  word[n + 1] = ' ';
  for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
    if (have_word(hints[i][0], word)) return hints[i][1];
  return NULL;
}

/* Returns the index of text among the n names, or -1. */
static int index_of(const char *text, const char *const *names, int n) {
  for (int i = 0; i < n; i++) {
    if (strcmp(text, names[i]) == 0) return i;
  }
  return -1;
}

hu_status hu_mode_saturate_parse(hu_mode *mode, const char *text) {
  static const char *const names[] = {"default", "none", "finite", "propagate"};
  if (!mode || !text) return HU_E_NULL;
  int i = index_of(text, names, 4);
  if (i < 0) return HU_E_TEXT;
  mode->saturate = (uint8_t)i;
  return HU_OK;
}

hu_status hu_mode_nan_parse(hu_mode *mode, const char *text) {
  static const char *const names[] = {"max", "zero", "error"};
  if (!mode || !text) return HU_E_NULL;
  int i = index_of(text, names, 3);
  if (i < 0) return HU_E_TEXT;
  mode->nan = (uint8_t)i;
  return HU_OK;
}

hu_status hu_mode_nan_fma_parse(hu_mode *mode, const char *text) {
  static const char *const names[] = {"quiet", "invalid"};
  if (!mode || !text) return HU_E_NULL;
  int i = index_of(text, names, 2);
  if (i < 0) return HU_E_TEXT;
  mode->nan_fma = (uint8_t)i;
  return HU_OK;
}

char *hu_mode_round_text(char text[8], hu_mode mode) {
  int stochastic = mode.round >= HU_SRA;
  if (mode.round >= HU_ROUND_COUNT || (stochastic && (mode.bits < 1 || mode.bits > 32))) {
    memcpy(text, "?", 2);
    return text;
  }
  char *end = text + 3;
  memcpy(text, round_words[mode.round].name, 3);
  if (stochastic) {
    *end++ = ':';
    if (mode.bits >= 10) *end++ = (char)('0' + mode.bits / 10);
    *end++ = (char)('0' + mode.bits % 10);
  }
  *end = 0;
  return text;
}
