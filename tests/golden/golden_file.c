/* SPDX-License-Identifier: MIT */
/* tests/golden/golden_file.c - see golden_file.h. */
#include "tests/golden/golden_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"

char *golden_read(const char *directory, const char *name, size_t *n) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("%s is missing", path);
  char *at = NULL;
  size_t buffer = 0, size = 0;
  do {
    buffer += 1 << 16;
    at = realloc(at, buffer + 1);
    assert_non_null(at);
    size += fread(at + size, 1, buffer - size, file);
  } while (size == buffer);
  fclose(file);
  at[size] = '\0';
  if (n != NULL) *n = size;
  return at;
}

static uint8_t word(const char *key, const char *value, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(value, words[i]) == 0) return (uint8_t)i;
  fail_msg("%s=%s", key, value);
  return 0;
}

golden_card golden_card_parse(const char *line) {
  static const char *const zeros[] = {"field", "code", "none"}, *const subs[] = {"gradual", "none", "flush"};
  static const char *const infs[] = {"none", "ieee", "top"}, *const ovfs[] = {"inf", "nan", "max"};
  static const char *const nans[] = {"none", "ieee", "ieee1", "ones", "negzero", "top"};
  static const char *const negs[] = {"nan", "low", "stop"};
  golden_card c;
  unsigned sign, e, m, negzero;
  int b;
  char zero[16], sub[16], inf[16], nan[16], ovf[16], neg[16], inf_code[16], nan_code[16];
  memset(&c, 0, sizeof c);
  int n = sscanf(line,
                 "format %63s sign=%u e=%u m=%u b=%d zero=%15s sub=%15s inf=%15s nan=%15s negzero=%u ovf=%15s neg=%15s "
                 "max=%x infcode=%15s nancode=%15s",
                 c.name, &sign, &e, &m, &b, zero, sub, inf, nan, &negzero, ovf, neg, &c.max_code, inf_code, nan_code);
  if (n != 15) fail_msg("format line: %.200s", line);
  c.f.sign = (uint8_t)sign;
  c.f.e = (uint8_t)e;
  c.f.m = (uint8_t)m;
  c.f.b = (int16_t)b;
  c.f.zero = word("zero", zero, zeros, 3);
  c.f.subnormal = word("sub", sub, subs, 3);
  c.f.inf = word("inf", inf, infs, 3);
  c.f.nan = word("nan", nan, nans, 6);
  c.f.negzero = (uint8_t)negzero;
  c.f.overflow = word("ovf", ovf, ovfs, 3);
  c.f.negative = word("neg", neg, negs, 3);
  c.inf_code = (uint32_t)strtoul(inf_code, NULL, 16);
  c.nan_code = (uint32_t)strtoul(nan_code, NULL, 16);
  return c;
}

void golden_open(golden_lines *lines, const char *name, char *content) {
  memset(lines, 0, sizeof *lines);
  lines->name = name;
  lines->next = content;
}

const char *golden_next(golden_lines *lines) {
  while (*lines->next != '\0') {
    char *line = lines->next, *end = strchr(line, '\n');
    if (end == NULL) fail_msg("%s ends without a newline", lines->name);
    *end = '\0';
    lines->next = end + 1;
    if (sscanf(line, "# count: %lu", &lines->stated) == 1 || line[0] == '#') continue;
    if (strncmp(line, "format ", 7) != 0) {
      lines->count++;
      if (lines->card_count == 0) fail_msg("%s: a line before its format", lines->name);
      return line;
    }
    if (lines->card_count == GOLDEN_CARDS) fail_msg("%s: more than %d formats", lines->name, (int)GOLDEN_CARDS);
    lines->cards[lines->card_count++] = golden_card_parse(line);
  }
  if (lines->count == 0 || lines->count != lines->stated)
    fail_msg("%s: %zu lines, count %lu", lines->name, lines->count, lines->stated);
  return NULL;
}

static golden_operand parse_operand(const char *line) {
  golden_operand operand;
  unsigned long long bits;
  char digits[17];
  int end = 0;
  memset(&operand, 0, sizeof operand);
  if (sscanf(line, "%16[0-9a-f] %x %c %c%n", digits, &operand.below, &operand.where, &operand.tiny, &end) != 4 ||
      line[end] != '\0')
    fail_msg("line: %.60s", line);
  bits = strtoull(digits, NULL, 16);
  operand.wide = strlen(digits) == 16;
  if (!operand.wide && strlen(digits) != 8) fail_msg("operand: %.60s", line);
  operand.x = operand.wide ? t_double(bits) : (double)t_float((uint32_t)bits);
  return operand;
}

golden_file golden_conversions_of(const char *name, char *content) {
  golden_lines lines;
  size_t buffer = 0;
  golden_file golden;
  memset(&golden, 0, sizeof golden);
  golden_open(&lines, name, content);
  for (const char *line; (line = golden_next(&lines)) != NULL; golden.n++) {
    if (golden.n == buffer) {
      buffer = 2 * buffer + 1000;
      golden.lines = realloc(golden.lines, buffer * sizeof *golden.lines);
      assert_non_null(golden.lines);
    }
    golden.lines[golden.n] = parse_operand(line);
  }
  if (lines.card_count != 1) fail_msg("%s: %zu formats", name, lines.card_count);
  golden.card = lines.cards[0];
  return golden;
}

static hu_format format_named(const golden_lines *lines, const char *name) {
  for (size_t i = 0; i < lines->card_count; i++)
    if (strcmp(lines->cards[i].name, name) == 0) return lines->cards[i].f;
  fail_msg("%s: format %s is not declared", lines->name, name);
  return lines->cards[0].f;
}

/* "-" for no codes, else n of them with commas. */
static void parse_codes(uint32_t *codes, size_t n, const char *text) {
  if (n > GOLDEN_TERMS || (n == 0 && strcmp(text, "-") != 0)) fail_msg("%zu terms: %.80s", n, text);
  for (size_t i = 0; i < n; i++) {
    char *end;
    codes[i] = (uint32_t)strtoul(text, &end, 16);
    if (end == text || *end != (i + 1 < n ? ',' : '\0')) fail_msg("%zu terms: %.80s", n, text);
    text = end + 1;
  }
}

golden_sum golden_sum_parse(const golden_lines *lines, const char *line) {
  char model[16], round[16], fa[64], fb[64], fc[64], fz[64], a[1024], b[1024], c[16];
  golden_sum sum;
  memset(&sum, 0, sizeof sum);
  if (sscanf(line, "%15s %15s %63s %63s %63s %63s %zu %1023s %1023s %15s %x %x", model, round, fa, fb, fc, fz, &sum.n,
             a, b, c, &sum.code, &sum.events) != 12)
    fail_msg("line: %.80s", line);
  assert_int_equal(hu_accum_parse(&sum.accum, model, NULL), HU_OK);
  assert_int_equal(hu_mode_round_parse(&sum.mode, round), HU_OK);
  sum.has_c = strcmp(fc, "-") != 0;
  sum.fa = format_named(lines, fa);
  sum.fb = format_named(lines, fb);
  sum.fc = sum.has_c ? format_named(lines, fc) : sum.fa;
  sum.fz = format_named(lines, fz);
  sum.c = sum.has_c ? (uint32_t)strtoul(c, NULL, 16) : 0;
  parse_codes(sum.a, sum.n, a);
  parse_codes(sum.b, sum.n, b);
  return sum;
}

/* ---- The answer. */

/* Ups: does a deterministic mode take the upper neighbour? where: '<' 'h' '>' or anything else for "exactly the lower".
 */
static int takes_upper(unsigned round, char where, int odd, int negative) {
  int inside = where == '<' || where == 'h' || where == '>';
  switch (round) {
    case HU_RNE: return where == '>' || (where == 'h' && odd);
    case HU_RNA: return where == '>' || where == 'h';
    case HU_RNZ: return where == '>';
    case HU_RTP: return inside && !negative;
    case HU_RTN: return inside && negative;
    case HU_RAZ: return inside;
    case HU_RTO: return inside && !odd;
    default: return 0;
  }
}

static int saturates_by(const golden_card *c, hu_mode mode) {
  if (mode.saturate != HU_SAT_DEFAULT) return mode.saturate;
  return c->f.inf ? HU_SAT_NONE : HU_SAT_FINITE;
}

static uint32_t signed_code(const golden_card *c, uint32_t code, int negative) {
  return negative && c->f.sign ? code | 1u << (c->f.e + c->f.m) : code;
}

static uint32_t signed_nan(const golden_card *c, int negative) {
  int one = c->f.nan == HU_NAN_NEGZERO || c->f.nan == HU_NAN_TOP;
  return one ? c->nan_code : signed_code(c, c->nan_code, negative);
}

static golden_answer below_range(const golden_card *c, hu_mode mode, uint32_t kind) {
  int stops = c->f.negative == HU_NEGATIVE_STOP && kind == HU_EVENT_INEXACT;
  int low = c->f.negative == HU_NEGATIVE_LOW || (stops && (mode.round == HU_RTZ || mode.round == HU_RTP));
  int nan = saturates_by(c, mode) == HU_SAT_NONE && !low && c->f.nan;
  golden_answer a = {nan ? c->nan_code : 0, HU_EVENT_INVALID | kind | (nan ? 0 : HU_EVENT_SATURATED)};
  return a;
}

static golden_answer special(const golden_card *c, int infinite, int negative, hu_mode mode) {
  golden_answer a = {0, HU_EVENT_NAN_IN};
  int policy = saturates_by(c, mode);
  if (!infinite) {
    if (c->f.nan)
      a.code = c->nan_code;
    else if (mode.nan != HU_NAN_TO_ZERO)
      a.code = c->max_code;
    if (!c->f.nan && mode.nan == HU_NAN_TO_ERROR) a.events |= HU_EVENT_INVALID;
    return a;
  }
  if (negative && !c->f.sign) return below_range(c, mode, HU_EVENT_INF_IN);
  a.events = HU_EVENT_INF_IN;
  if (c->f.inf && policy != HU_SAT_FINITE)
    a.code = signed_code(c, c->inf_code, negative);
  else if (policy == HU_SAT_NONE && c->f.overflow == HU_OVERFLOW_NAN) {
    a.code = signed_nan(c, negative);
    a.events |= HU_EVENT_INVALID;
  } else {
    a.code = signed_code(c, c->max_code, negative);
    a.events |= HU_EVENT_SATURATED;
  }
  return a;
}

static golden_answer overflow(const golden_card *c, int negative, hu_mode mode) {
  golden_answer a = {0, HU_EVENT_OVERFLOW | HU_EVENT_INEXACT};
  int stops = mode.round == HU_RTZ || (mode.round == HU_RTP && negative) || (mode.round == HU_RTN && !negative) ||
              (mode.round == HU_RTO && c->f.inf == HU_INF_IEEE && c->max_code % 2);
  int rule = saturates_by(c, mode) == HU_SAT_NONE && !stops ? c->f.overflow : HU_OVERFLOW_MAX;
  if (rule == HU_OVERFLOW_INF)
    a.code = signed_code(c, c->inf_code, negative);
  else if (rule == HU_OVERFLOW_NAN)
    a.code = signed_nan(c, negative);
  else {
    a.code = signed_code(c, c->max_code, negative);
    a.events |= HU_EVENT_SATURATED;
  }
  return a;
}

/* Tiny? The mark says where |x| lies between the smallest normal number and its neighbour below; that neighbour is odd
 * unless it starts a binade and its exponent is even. */
static int is_tiny(const golden_card *c, const golden_operand *operand, hu_mode mode, int negative) {
  if (operand->tiny == '-') return 0;
  if (operand->tiny == 't' || mode.tiny == HU_TINY_BEFORE) return 1;
  int odd = c->f.zero == HU_ZERO_CODE ? 0 : c->f.m > 0 || c->f.zero == HU_ZERO_NONE;
  return !takes_upper(mode.round, operand->tiny, odd, negative);
}

golden_answer golden_decide(const golden_card *c, const golden_operand *operand, hu_mode mode) {
  int negative = signbit(operand->x) != 0;
  if (operand->where == 'i' || operand->where == 'n') return special(c, operand->where == 'i', negative, mode);
  golden_answer a = {0, 0};
  uint32_t normal = 1u << c->f.m, code = operand->below;
  int up = takes_upper(mode.round, operand->where, (int)(operand->below & 1), negative);
  int beyond = operand->where == 'o' || (up && code == c->max_code);
  if (up) code = code == 0 && c->f.zero == HU_ZERO_FIELD && c->f.subnormal == HU_SUBNORMAL_NONE ? normal : code + 1;
  if (c->f.zero == HU_ZERO_FIELD && c->f.subnormal == HU_SUBNORMAL_FLUSH && code < normal) code = 0;
  int zero = code == 0 && !beyond && c->f.zero != HU_ZERO_NONE;
  if (operand->x == 0) {
    a.code = c->f.negzero ? signed_code(c, 0, negative) : 0;
    a.events = c->f.zero == HU_ZERO_NONE ? HU_EVENT_INEXACT : 0;
    return a;
  }
  if (negative && !c->f.sign && !zero) return below_range(c, mode, HU_EVENT_INEXACT);
  if (beyond) return overflow(c, negative, mode);
  a.code = zero && !c->f.negzero ? 0 : signed_code(c, code, negative);
  if (operand->where != '=' || zero) a.events |= HU_EVENT_INEXACT;
  if (a.events && is_tiny(c, operand, mode, negative)) a.events |= HU_EVENT_UNDERFLOW;
  if (zero) a.events |= HU_EVENT_TO_ZERO;
  if (!zero && c->f.zero == HU_ZERO_FIELD && code < normal) a.events |= HU_EVENT_SUBNORMAL;
  return a;
}
