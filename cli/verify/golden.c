/* SPDX-License-Identifier: MIT */
/* Golden files (tests/golden/README.md): conversions in every deterministic mode and policy, stochastic lines, sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/tensors/array.h"
#include "cli/verify/verify.h"
#include "halfulp/gemm.h"
#include "halfulp/scalar.h"

enum { CARDS_MAX = 64, NAME_MAX_ = 63, TERMS_MAX = 4096 };

typedef struct card {
  char name[NAME_MAX_ + 1];
  hu_format format;
} card;

typedef struct golden_operand {
  double x;
  int narrow; /* exact in binary32 */
  uint32_t below;
  char where, tiny;
} golden_operand;

typedef struct golden_file {
  verify_item *item;
  cli_lines lines;
  card cards[CARDS_MAX];
  int card_count;
  uint64_t stated, count; /* lines: by the head, found */
  golden_operand *operands;
  size_t room;
} golden_file;

static int pick(uint8_t *axis, const char *word, const char *const *words, uint8_t n) {
  for (uint8_t i = 0; i < n; i++) {
    if (strcmp(word, words[i])) continue;
    *axis = i;
    return 1;
  }
  return 0;
}

static int read_card(card *c, const char *line) {
  static const char *const zeros[] = {"field", "code", "none"}, *const subs[] = {"gradual", "none", "flush"};
  static const char *const infs[] = {"none", "ieee", "top"}, *const overs[] = {"inf", "nan", "max"};
  static const char *const nans[] = {"none", "ieee", "ieee1", "ones", "negzero", "top"};
  static const char *const negs[] = {"nan", "low", "stop"};
  unsigned sign, exponent, digits, negzero;
  int b;
  char zero[16], sub[16], inf[16], nan[16], over[16], neg[16];
  memset(c, 0, sizeof *c);
  if (sscanf(line,
             "format %63s sign=%u e=%u m=%u b=%d zero=%15s sub=%15s inf=%15s nan=%15s negzero=%u ovf=%15s neg=%15s",
             c->name, &sign, &exponent, &digits, &b, zero, sub, inf, nan, &negzero, over, neg) != 12)
    return 0;
  c->format.sign = (uint8_t)sign;
  c->format.e = (uint8_t)exponent;
  c->format.m = (uint8_t)digits;
  c->format.b = (int16_t)b;
  c->format.negzero = (uint8_t)negzero;
  return pick(&c->format.zero, zero, zeros, 3) && pick(&c->format.subnormal, sub, subs, 3) &&
         pick(&c->format.inf, inf, infs, 3) && pick(&c->format.nan, nan, nans, 6) &&
         pick(&c->format.overflow, over, overs, 3) && pick(&c->format.negative, neg, negs, 3) &&
         hu_format_check(c->format, NULL) == HU_OK;
}

/* ---- conversions: the answer from where the operand lies ---- */

typedef struct answer {
  uint32_t code, events;
} answer;

static int policy_of(hu_format format, hu_mode mode) {
  return mode.saturate ? mode.saturate : format.inf ? HU_SAT_NONE : HU_SAT_FINITE;
}

/* Does the mode leave a point inside a step (where: < h >) upward in magnitude? */
static int goes_up(uint8_t round, char where, int odd, int negative) {
  int half = where == 'h', more = where == '>';
  if (where != '<' && !half && !more) return 0;
  switch (round) {
    case HU_RNE: return more || (half && odd);
    case HU_RNA: return more || half;
    case HU_RNZ: return more;
    case HU_RTP: return !negative;
    case HU_RTN: return negative;
    case HU_RAZ: return 1;
    case HU_RTO: return !odd;
    default: return 0;
  }
}

static uint32_t with_sign(const hu_limits *limits, uint32_t code, int negative) {
  return negative ? code | limits->sign_mask : code;
}

static uint32_t nan_of_overflow(hu_format format, const hu_limits *limits, int negative) {
  int both_signs = format.sign && format.nan != HU_NAN_NEGZERO;
  return both_signs ? with_sign(limits, limits->nan_code, negative) : limits->nan_code;
}

static answer below_range(hu_format format, const hu_limits *limits, hu_mode mode, uint32_t operand_event) {
  int stops = operand_event != HU_EVENT_INF_IN && (mode.round == HU_RTZ || mode.round == HU_RTP);
  int to_nan = format.negative == HU_NEGATIVE_NAN || (format.negative == HU_NEGATIVE_STOP && !stops);
  if (policy_of(format, mode) == HU_SAT_NONE && to_nan && format.nan)
    return (answer){limits->nan_code, HU_EVENT_INVALID | operand_event};
  return (answer){0, HU_EVENT_INVALID | HU_EVENT_SATURATED | operand_event};
}

static answer of_nan(hu_format format, const hu_limits *limits, hu_mode mode) {
  if (format.nan) return (answer){limits->nan_code, HU_EVENT_NAN_IN};
  return (answer){mode.nan == HU_NAN_TO_ZERO ? 0 : limits->max_code,
                  HU_EVENT_NAN_IN | (mode.nan == HU_NAN_TO_ERROR ? HU_EVENT_INVALID : 0)};
}

static answer of_infinity(hu_format format, const hu_limits *limits, hu_mode mode, int negative) {
  int policy = policy_of(format, mode);
  if (negative && !format.sign) return below_range(format, limits, mode, HU_EVENT_INF_IN);
  if (format.inf && policy != HU_SAT_FINITE)
    return (answer){with_sign(limits, limits->inf_code, negative), HU_EVENT_INF_IN};
  if (policy == HU_SAT_NONE && format.overflow == HU_OVERFLOW_NAN)
    return (answer){nan_of_overflow(format, limits, negative), HU_EVENT_INF_IN | HU_EVENT_INVALID};
  return (answer){with_sign(limits, limits->max_code, negative), HU_EVENT_INF_IN | HU_EVENT_SATURATED};
}

static answer of_overflow(hu_format format, const hu_limits *limits, hu_mode mode, int negative) {
  int inward = mode.round == HU_RTZ || mode.round == (negative ? HU_RTP : HU_RTN) ||
               (mode.round == HU_RTO && format.inf == HU_INF_IEEE && (limits->max_code & 1));
  int rule = policy_of(format, mode) == HU_SAT_NONE && !inward ? format.overflow : HU_OVERFLOW_MAX;
  uint32_t events = HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
  if (rule == HU_OVERFLOW_INF) return (answer){with_sign(limits, limits->inf_code, negative), events};
  if (rule == HU_OVERFLOW_NAN) return (answer){nan_of_overflow(format, limits, negative), events};
  return (answer){with_sign(limits, limits->max_code, negative), events | HU_EVENT_SATURATED};
}

/* The mark says where the operand lies between the smallest normal value and the number of precision m + 1 below it. */
static int is_tiny(hu_format format, const golden_operand *operand, hu_mode mode, int negative) {
  if (operand->tiny == '-') return 0;
  if (operand->tiny == 't' || mode.tiny == HU_TINY_BEFORE) return 1;
  int odd = format.zero != HU_ZERO_CODE && (format.m > 0 || format.zero == HU_ZERO_NONE);
  return !goes_up(mode.round, operand->tiny, odd, negative);
}

static answer of_zero(hu_format format, const hu_limits *limits, int negative) {
  return (answer){format.negzero ? with_sign(limits, 0, negative) : 0,
                  format.zero == HU_ZERO_NONE ? HU_EVENT_INEXACT : 0};
}

static answer decide(hu_format format, const hu_limits *limits, const golden_operand *operand, hu_mode mode) {
  int negative = signbit(operand->x) != 0, field = format.zero == HU_ZERO_FIELD;
  uint32_t normal = (uint32_t)1 << format.m, code = operand->below;
  if (isnan(operand->x)) return of_nan(format, limits, mode);
  if (isinf(operand->x)) return of_infinity(format, limits, mode, negative);
  if (operand->x == 0) return of_zero(format, limits, negative);
  int up = goes_up(mode.round, operand->where, (int)(code & 1), negative),
      beyond = operand->where == 'o' || (up && code == limits->max_code);
  if (up) code = code == 0 && field && format.subnormal == HU_SUBNORMAL_NONE ? normal : code + 1;
  if (field && format.subnormal == HU_SUBNORMAL_FLUSH && code < normal) code = 0;
  int zero = !beyond && code == 0 && format.zero != HU_ZERO_NONE;
  if (negative && !format.sign && !zero) return below_range(format, limits, mode, HU_EVENT_INEXACT);
  if (beyond) return of_overflow(format, limits, mode, negative);
  answer a = {zero && !format.negzero ? 0 : with_sign(limits, code, negative), 0};
  if (operand->where != '=' || zero)
    a.events = HU_EVENT_INEXACT | (is_tiny(format, operand, mode, negative) ? HU_EVENT_UNDERFLOW : 0);
  if (zero)
    a.events |= HU_EVENT_TO_ZERO;
  else if (field && code < normal)
    a.events |= HU_EVENT_SUBNORMAL;
  return a;
}

static void tell(const golden_file *golden, const char *what, uint32_t code, uint32_t events, answer want) {
  char ours[CLI_EVENTS_MAX], theirs[CLI_EVENTS_MAX];
  fprintf(stderr, "halfulp: verify: %s: %s: code 0x%x, events %s; the file has 0x%x, %s\n", golden->item->name, what,
          code, cli_event_words(ours, events), want.code, cli_event_words(theirs, want.events));
}

static void check_operand(golden_file *golden, hu_format format, const hu_limits *limits, const golden_operand *operand,
                          hu_mode mode) {
  char what[CLI_NAME_MAX + NUMBER_TEXT_MAX + 8], value[NUMBER_TEXT_MAX], name[CLI_NAME_MAX];
  uint32_t events, unit = 0;
  answer want = decide(format, limits, operand, mode);
  uint32_t code = hu_encode64(format, mode, operand->x, 0, &events);
  float x = (float)operand->x;
  /* The array call, too, for a binary32 operand: one element reaches its kernels' tails. */
  uint32_t stored = 0;
  int array_right = 1;
  if (operand->narrow) {
    array_right = hu_encode_n(1, &stored, 1, &x, 1, format, mode, NULL, NULL) == HU_OK;
    uint8_t u8;
    uint16_t u16;
    memcpy(&u8, &stored, 1);
    memcpy(&u16, &stored, 2);
    unit = limits->storage == 8 ? u8 : limits->storage == 16 ? u16 : stored;
    array_right = array_right && unit == want.code;
  }
  int right = code == want.code && events == want.events && array_right;
  if (!verify_case(golden->item, right, (uint64_t)events << 32 | code)) return;
  snprintf(what, sizeof what, "%s, %s", cli_mode_name(name, mode), number_hex(value, operand->x));
  tell(golden, what, array_right ? code : unit, events, want);
}

static void check_operands(golden_file *golden) {
  hu_format format = golden->cards[0].format;
  hu_limits limits = hu_limits_of(format);
  hu_mode mode = {0};
  for (mode.round = HU_RNE; mode.round < HU_SRA; mode.round++)
    for (mode.saturate = 0; mode.saturate <= HU_SAT_PROPAGATE; mode.saturate++)
      for (mode.tiny = 0; mode.tiny <= HU_TINY_BEFORE; mode.tiny++)
        for (mode.nan = 0; mode.nan <= (format.nan ? 0 : HU_NAN_TO_ERROR); mode.nan++)
          for (uint64_t i = 0; i < golden->count; i++)
            check_operand(golden, format, &limits, &golden->operands[i], mode);
}

static int read_operand(golden_file *golden, const char *line) {
  golden_operand operand;
  uint64_t bits;
  char digits[17];
  int end = 0;
  if (sscanf(line, "%16[0-9a-f] %x %c %c%n", digits, &operand.below, &operand.where, &operand.tiny, &end) != 4 ||
      line[end])
    return 0;
  operand.narrow = strlen(digits) == 8;
  if (!hex_parse(&bits, digits, operand.narrow ? 8 : 16) || !golden->card_count) return 0;
  uint32_t u32 = (uint32_t)bits;
  float x;
  memcpy(&x, &u32, sizeof x);
  memcpy(&operand.x, &bits, sizeof operand.x);
  if (operand.narrow) operand.x = x;
  if (golden->count == golden->room) {
    golden->room = golden->room ? 2 * golden->room : 1024;
    golden_operand *more = realloc(golden->operands, golden->room * sizeof *more);
    if (!more) return 0;
    golden->operands = more;
  }
  golden->operands[golden->count++] = operand;
  return 1;
}

/* ---- stochastic lines: MODE:N R OPERAND CODE EVENTS ---- */

static int check_stochastic(golden_file *golden, const char *line) {
  char round[16];
  unsigned random;
  unsigned long long bits;
  answer want;
  hu_mode mode = {0};
  double x;
  uint32_t events;
  int end = 0;
  if (sscanf(line, "%15s %x %16llx %x %x%n", round, &random, &bits, &want.code, &want.events, &end) != 5 || line[end])
    return 0;
  if (hu_mode_round_parse(&mode, round) != HU_OK || !golden->card_count) return 0;
  uint64_t pattern = bits;
  memcpy(&x, &pattern, sizeof x);
  uint32_t code = hu_encode64(golden->cards[golden->card_count - 1].format, mode, x, random, &events);
  golden->count++;
  if (verify_case(golden->item, code == want.code && events == want.events, (uint64_t)events << 32 | code))
    tell(golden, line, code, events, want);
  return 1;
}

/* ---- sums: MODEL MODE FA FB FC FZ N A,... B,... C CODE EVENTS ---- */

static const hu_format *find(const golden_file *golden, const char *name) {
  for (int i = 0; i < golden->card_count; i++)
    if (!strcmp(golden->cards[i].name, name)) return &golden->cards[i].format;
  return NULL;
}

static void store(void *z, unsigned storage, size_t i, uint32_t code) {
  if (storage == 8)
    ((uint8_t *)z)[i] = (uint8_t)code;
  else if (storage == 16)
    ((uint16_t *)z)[i] = (uint16_t)code;
  else
    ((uint32_t *)z)[i] = code;
}

/* Reads "-" for no codes, else n of them with commas. */
static int read_codes(uint32_t *z, hu_format format, const char *text, size_t n) {
  unsigned storage = hu_limits_of(format).storage;
  if (n == 0) return !strcmp(text, "-");
  for (size_t i = 0; i < n; i++) {
    char *end;
    store(z, storage, i, (uint32_t)strtoul(text, &end, 16));
    if (end == text || *end != (i + 1 < n ? ',' : 0)) return 0;
    text = end + 1;
  }
  return 1;
}

typedef struct golden_sum {
  char *fields[12];
  uint32_t a[TERMS_MAX], b[TERMS_MAX], c, z;
} golden_sum;
enum { MODEL, MODE, FA, FB, FC, FZ, COUNT, CODES_A, CODES_B, CODE_C, CODE, EVENTS, FIELDS };

static int split(golden_sum *sum, char *line) {
  int n = 0;
  for (char *rest = line, *field; (field = strsep(&rest, " ")) != NULL;) {
    if (n == FIELDS) return 0;
    sum->fields[n++] = field;
  }
  return n == FIELDS;
}

static int check_sum(golden_file *golden, golden_sum *sum, char *line) {
  hu_accum accum;
  hu_mode mode = {0};
  hu_events events = {0}, want_events = {0};
  uint64_t n, want_bits;
  answer want;
  if (!split(sum, line)) return 0;
  const hu_format *fa = find(golden, sum->fields[FA]), *fb = find(golden, sum->fields[FB]),
                  *fz = find(golden, sum->fields[FZ]);
  const hu_format *fc = strcmp(sum->fields[FC], "-") ? find(golden, sum->fields[FC]) : fz;
  int has_c = strcmp(sum->fields[FC], "-") != 0;
  n = strtoull(sum->fields[COUNT], NULL, 10);
  if (!fa || !fb || !fz || !fc || n > TERMS_MAX || hu_accum_parse(&accum, sum->fields[MODEL], NULL) != HU_OK) return 0;
  if (hu_mode_round_parse(&mode, sum->fields[MODE]) != HU_OK || !read_codes(sum->a, *fa, sum->fields[CODES_A], n))
    return 0;
  if (!read_codes(sum->b, *fb, sum->fields[CODES_B], n) || (has_c && !read_codes(&sum->c, *fc, sum->fields[CODE_C], 1)))
    return 0;
  if (!hex_parse_any(&want_bits, sum->fields[CODE], UINT32_MAX)) return 0;
  want.code = (uint32_t)want_bits;
  if (!hex_parse_any(&want_bits, sum->fields[EVENTS], UINT32_MAX)) return 0;
  want.events = (uint32_t)want_bits;
  hu_view a = hu_matrix_codes(sum->a, n ? n : 1, *fa), b = hu_matrix_codes(sum->b, 1, *fb),
          c = hu_matrix_codes(&sum->c, 1, *fc);
  hu_output z = hu_matrix_codes_out(&sum->z, 1, *fz);
  sum->z = 0;
  hu_status status = hu_gemm(1, 1, n, &z, &a, &b, has_c ? &c : NULL, &accum, &(hu_how){mode, NULL, &events});
  uint32_t stored = 0;
  uint8_t u8;
  uint16_t u16;
  memcpy(&u8, &sum->z, 1);
  memcpy(&u16, &sum->z, 2);
  unsigned storage = hu_limits_of(*fz).storage;
  stored = storage == 8 ? u8 : storage == 16 ? u16 : sum->z;
  hu_events_count(&want_events, want.events);
  int right = status == HU_OK && stored == want.code && !memcmp(&events, &want_events, sizeof events);
  golden->count++;
  if (verify_case(golden->item, right, stored))
    tell(golden, sum->fields[MODEL], stored, status == HU_OK ? 0 : HU_EVENT_INVALID, want);
  return 1;
}

/* ---- files ---- */

enum { CONVERSIONS, STOCHASTIC, SUMS };

static int read_line(golden_file *golden, int kind, golden_sum *sum) {
  char *line = golden->lines.line;
  unsigned long long stated;
  if (sscanf(line, "# count: %llu", &stated) == 1) golden->stated = stated;
  if (line[0] == '#') return 1;
  if (!strncmp(line, "format ", 7)) {
    if (golden->card_count == CARDS_MAX || (kind == CONVERSIONS && golden->card_count)) return 0;
    return read_card(&golden->cards[golden->card_count++], line);
  }
  if (kind == CONVERSIONS) return read_operand(golden, line);
  return kind == STOCHASTIC ? check_stochastic(golden, line) : check_sum(golden, sum, line);
}

static int read_file(golden_file *golden, int kind) {
  int next, status = CLI_OK;
  golden_sum *sum = cli_alloc(1, sizeof *sum);
  if (!sum) return CLI_BAD;
  while (status == CLI_OK && (next = cli_lines_next(&golden->lines)) != 0) {
    if (next < 0)
      status = CLI_BAD;
    else if (!read_line(golden, kind, sum))
      status = cli_lines_fail(&golden->lines, "not a line of a golden file");
  }
  free(sum);
  if (status == CLI_OK && (golden->count == 0 || golden->count != golden->stated))
    status = cli_fail(golden->lines.name, "%llu lines, the head says %llu", (unsigned long long)golden->count,
                      (unsigned long long)golden->stated);
  return status;
}

int verify_golden(verify_item *item, const verify_setup *setup) {
  char path[4096];
  golden_file *golden = cli_alloc(1, sizeof *golden);
  if (!golden) return CLI_BAD;
  memset(golden, 0, sizeof *golden);
  golden->item = item;
  int kind = !strncmp(item->name, "sums", 4) ? SUMS : !strncmp(item->name, "stochastic", 10) ? STOCHASTIC : CONVERSIONS;
  snprintf(path, sizeof path, "%s/%s", setup->golden, item->name);
  int status = cli_own_lines(&golden->lines, path);
  if (status == CLI_OK) {
    status = read_file(golden, kind);
    cli_lines_close(&golden->lines);
  }
  if (status == CLI_OK && kind == CONVERSIONS) check_operands(golden);
  free(golden->operands);
  free(golden);
  return status;
}
