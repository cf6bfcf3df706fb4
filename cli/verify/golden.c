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
  hu_format f;
} card;

typedef struct operand {
  double x;
  int narrow; /* exact in binary32 */
  uint32_t below;
  char where, tiny;
} operand;

typedef struct golden {
  verify_item *item;
  cli_lines lines;
  card cards[CARDS_MAX];
  int card_count;
  uint64_t stated, count; /* lines: by the head, found */
  operand *operands;
  size_t room;
} golden;

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
  unsigned sign, e, m, negzero;
  int b;
  char zero[16], sub[16], inf[16], nan[16], over[16], neg[16];
  memset(c, 0, sizeof *c);
  if (sscanf(line,
             "format %63s sign=%u e=%u m=%u b=%d zero=%15s sub=%15s inf=%15s nan=%15s negzero=%u ovf=%15s neg=%15s",
             c->name, &sign, &e, &m, &b, zero, sub, inf, nan, &negzero, over, neg) != 12)
    return 0;
  c->f.sign = (uint8_t)sign;
  c->f.e = (uint8_t)e;
  c->f.m = (uint8_t)m;
  c->f.b = (int16_t)b;
  c->f.negzero = (uint8_t)negzero;
  return pick(&c->f.zero, zero, zeros, 3) && pick(&c->f.subnormal, sub, subs, 3) && pick(&c->f.inf, inf, infs, 3) &&
         pick(&c->f.nan, nan, nans, 6) && pick(&c->f.overflow, over, overs, 3) && pick(&c->f.negative, neg, negs, 3) &&
         hu_format_check(c->f, NULL) == HU_OK;
}

/* ---- conversions: the answer from where the operand lies ---- */

typedef struct answer {
  uint32_t code, events;
} answer;

static int policy_of(hu_format f, hu_mode mode) {
  return mode.saturate ? mode.saturate : f.inf ? HU_SAT_NONE : HU_SAT_FINITE;
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

static uint32_t with_sign(const hu_limits *l, uint32_t code, int negative) {
  return negative ? code | l->sign_mask : code;
}

static uint32_t nan_of_overflow(hu_format f, const hu_limits *l, int negative) {
  int both_signs = f.sign && f.nan != HU_NAN_NEGZERO;
  return both_signs ? with_sign(l, l->nan_code, negative) : l->nan_code;
}

static answer below_range(hu_format f, const hu_limits *l, hu_mode mode, uint32_t operand_event) {
  int stops = operand_event != HU_EVENT_INF_IN && (mode.round == HU_RTZ || mode.round == HU_RTP);
  int to_nan = f.negative == HU_NEGATIVE_NAN || (f.negative == HU_NEGATIVE_STOP && !stops);
  if (policy_of(f, mode) == HU_SAT_NONE && to_nan && f.nan)
    return (answer){l->nan_code, HU_EVENT_INVALID | operand_event};
  return (answer){0, HU_EVENT_INVALID | HU_EVENT_SATURATED | operand_event};
}

static answer of_nan(hu_format f, const hu_limits *l, hu_mode mode) {
  if (f.nan) return (answer){l->nan_code, HU_EVENT_NAN_IN};
  return (answer){mode.nan == HU_NAN_TO_ZERO ? 0 : l->max_code,
                  HU_EVENT_NAN_IN | (mode.nan == HU_NAN_TO_ERROR ? HU_EVENT_INVALID : 0)};
}

static answer of_infinity(hu_format f, const hu_limits *l, hu_mode mode, int negative) {
  int policy = policy_of(f, mode);
  if (negative && !f.sign) return below_range(f, l, mode, HU_EVENT_INF_IN);
  if (f.inf && policy != HU_SAT_FINITE) return (answer){with_sign(l, l->inf_code, negative), HU_EVENT_INF_IN};
  if (policy == HU_SAT_NONE && f.overflow == HU_OVERFLOW_NAN)
    return (answer){nan_of_overflow(f, l, negative), HU_EVENT_INF_IN | HU_EVENT_INVALID};
  return (answer){with_sign(l, l->max_code, negative), HU_EVENT_INF_IN | HU_EVENT_SATURATED};
}

static answer of_overflow(hu_format f, const hu_limits *l, hu_mode mode, int negative) {
  int inward =
      mode.round == HU_RTZ || mode.round == (negative ? HU_RTP : HU_RTN) || (mode.round == HU_RTO && (l->max_code & 1));
  int rule = policy_of(f, mode) == HU_SAT_NONE && !inward ? f.overflow : HU_OVERFLOW_MAX;
  uint32_t events = HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
  if (rule == HU_OVERFLOW_INF) return (answer){with_sign(l, l->inf_code, negative), events};
  if (rule == HU_OVERFLOW_NAN) return (answer){nan_of_overflow(f, l, negative), events};
  return (answer){with_sign(l, l->max_code, negative), events | HU_EVENT_SATURATED};
}

/* The mark says where the operand lies between the smallest normal value and the number of precision m + 1 below it. */
static int is_tiny(hu_format f, const operand *o, hu_mode mode, int negative) {
  if (o->tiny == '-') return 0;
  if (o->tiny == 't' || mode.tiny == HU_TINY_BEFORE) return 1;
  int odd = f.zero != HU_ZERO_CODE && (f.m > 0 || f.zero == HU_ZERO_NONE);
  return !goes_up(mode.round, o->tiny, odd, negative);
}

static answer of_zero(hu_format f, const hu_limits *l, int negative) {
  return (answer){f.negzero ? with_sign(l, 0, negative) : 0, f.zero == HU_ZERO_NONE ? HU_EVENT_INEXACT : 0};
}

static answer decide(hu_format f, const hu_limits *l, const operand *o, hu_mode mode) {
  int negative = signbit(o->x) != 0, field = f.zero == HU_ZERO_FIELD;
  uint32_t normal = (uint32_t)1 << f.m, code = o->below;
  if (isnan(o->x)) return of_nan(f, l, mode);
  if (isinf(o->x)) return of_infinity(f, l, mode, negative);
  if (o->x == 0) return of_zero(f, l, negative);
  int up = goes_up(mode.round, o->where, (int)(code & 1), negative),
      beyond = o->where == 'o' || (up && code == l->max_code);
  if (up) code = code == 0 && field && f.subnormal == HU_SUBNORMAL_NONE ? normal : code + 1;
  if (field && f.subnormal == HU_SUBNORMAL_FLUSH && code < normal) code = 0;
  int zero = !beyond && code == 0 && f.zero != HU_ZERO_NONE;
  if (negative && !f.sign && !zero) return below_range(f, l, mode, HU_EVENT_INEXACT);
  if (beyond) return of_overflow(f, l, mode, negative);
  answer a = {zero && !f.negzero ? 0 : with_sign(l, code, negative), 0};
  if (o->where != '=' || zero) a.events = HU_EVENT_INEXACT | (is_tiny(f, o, mode, negative) ? HU_EVENT_UNDERFLOW : 0);
  if (zero)
    a.events |= HU_EVENT_TO_ZERO;
  else if (field && code < normal)
    a.events |= HU_EVENT_SUBNORMAL;
  return a;
}

static void tell(const golden *g, const char *what, uint32_t code, uint32_t events, answer want) {
  char ours[CLI_EVENTS_MAX], theirs[CLI_EVENTS_MAX];
  fprintf(stderr, "halfulp: verify: %s: %s: code 0x%x, events %s; the file has 0x%x, %s\n", g->item->name, what, code,
          cli_event_words(ours, events), want.code, cli_event_words(theirs, want.events));
}

static void check_operand(golden *g, hu_format f, const hu_limits *l, const operand *o, hu_mode mode) {
  char what[CLI_NAME_MAX + NUMBER_TEXT_MAX + 8], value[NUMBER_TEXT_MAX], name[CLI_NAME_MAX];
  uint32_t events, unit = 0;
  answer want = decide(f, l, o, mode);
  uint32_t code = hu_encode64(f, mode, o->x, 0, &events);
  float x = (float)o->x;
  /* The array call, too, for a binary32 operand: one element reaches its kernels' tails. */
  uint32_t stored = 0;
  int array_right = 1;
  if (o->narrow) {
    array_right = hu_encode_n(1, &stored, 1, &x, 1, f, mode, NULL, NULL) == HU_OK;
    uint8_t u8;
    uint16_t u16;
    memcpy(&u8, &stored, 1);
    memcpy(&u16, &stored, 2);
    unit = l->storage == 8 ? u8 : l->storage == 16 ? u16 : stored;
    array_right = array_right && unit == want.code;
  }
  int right = code == want.code && events == want.events && array_right;
  if (!verify_case(g->item, right, (uint64_t)events << 32 | code)) return;
  snprintf(what, sizeof what, "%s, %s", cli_mode_name(name, mode), number_hex(value, o->x));
  tell(g, what, array_right ? code : unit, events, want);
}

static void check_operands(golden *g) {
  hu_format f = g->cards[0].f;
  hu_limits l = hu_limits_of(f);
  hu_mode mode = {0};
  for (mode.round = HU_RNE; mode.round < HU_SRA; mode.round++)
    for (mode.saturate = 0; mode.saturate <= HU_SAT_PROPAGATE; mode.saturate++)
      for (mode.tiny = 0; mode.tiny <= HU_TINY_BEFORE; mode.tiny++)
        for (mode.nan = 0; mode.nan <= (f.nan ? 0 : HU_NAN_TO_ERROR); mode.nan++)
          for (uint64_t i = 0; i < g->count; i++) check_operand(g, f, &l, &g->operands[i], mode);
}

static int read_operand(golden *g, const char *line) {
  operand o;
  uint64_t bits;
  char digits[17];
  int end = 0;
  if (sscanf(line, "%16[0-9a-f] %x %c %c%n", digits, &o.below, &o.where, &o.tiny, &end) != 4 || line[end]) return 0;
  o.narrow = strlen(digits) == 8;
  if (!hex_parse(&bits, digits, o.narrow ? 8 : 16) || !g->card_count) return 0;
  uint32_t u32 = (uint32_t)bits;
  float x;
  memcpy(&x, &u32, sizeof x);
  memcpy(&o.x, &bits, sizeof o.x);
  if (o.narrow) o.x = x;
  if (g->count == g->room) {
    g->room = g->room ? 2 * g->room : 1024;
    operand *more = realloc(g->operands, g->room * sizeof *more);
    if (!more) return 0;
    g->operands = more;
  }
  g->operands[g->count++] = o;
  return 1;
}

/* ---- stochastic lines: MODE:N R OPERAND CODE EVENTS ---- */

static int check_stochastic(golden *g, const char *line) {
  char round[16];
  unsigned r;
  unsigned long long bits;
  answer want;
  hu_mode mode = {0};
  double x;
  uint32_t events;
  int end = 0;
  if (sscanf(line, "%15s %x %16llx %x %x%n", round, &r, &bits, &want.code, &want.events, &end) != 5 || line[end])
    return 0;
  if (hu_mode_round_parse(&mode, round) != HU_OK || !g->card_count) return 0;
  uint64_t u = bits;
  memcpy(&x, &u, sizeof x);
  uint32_t code = hu_encode64(g->cards[g->card_count - 1].f, mode, x, r, &events);
  g->count++;
  if (verify_case(g->item, code == want.code && events == want.events, (uint64_t)events << 32 | code))
    tell(g, line, code, events, want);
  return 1;
}

/* ---- sums: MODEL MODE FA FB FC FZ N A,... B,... C CODE EVENTS ---- */

static const hu_format *find(const golden *g, const char *name) {
  for (int i = 0; i < g->card_count; i++)
    if (!strcmp(g->cards[i].name, name)) return &g->cards[i].f;
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

/* "-" for no codes, else n of them with commas. */
static int read_codes(uint32_t *z, hu_format f, const char *text, size_t n) {
  unsigned storage = hu_limits_of(f).storage;
  if (n == 0) return !strcmp(text, "-");
  for (size_t i = 0; i < n; i++) {
    char *end;
    store(z, storage, i, (uint32_t)strtoul(text, &end, 16));
    if (end == text || *end != (i + 1 < n ? ',' : 0)) return 0;
    text = end + 1;
  }
  return 1;
}

typedef struct sum {
  char *fields[12];
  uint32_t a[TERMS_MAX], b[TERMS_MAX], c, d;
} sum;
enum { MODEL, MODE, FA, FB, FC, FZ, COUNT, A, B, C, CODE, EVENTS, FIELDS };

static int split(sum *s, char *line) {
  int n = 0;
  for (char *rest = line, *field; (field = strsep(&rest, " ")) != NULL;) {
    if (n == FIELDS) return 0;
    s->fields[n++] = field;
  }
  return n == FIELDS;
}

static int check_sum(golden *g, sum *s, char *line) {
  hu_accum accum;
  hu_mode mode = {0};
  hu_events events = {0}, want_events = {0};
  uint64_t n, want_bits;
  answer want;
  if (!split(s, line)) return 0;
  const hu_format *fa = find(g, s->fields[FA]), *fb = find(g, s->fields[FB]), *fz = find(g, s->fields[FZ]);
  const hu_format *fc = strcmp(s->fields[FC], "-") ? find(g, s->fields[FC]) : fz;
  int has_c = strcmp(s->fields[FC], "-") != 0;
  n = strtoull(s->fields[COUNT], NULL, 10);
  if (!fa || !fb || !fz || !fc || n > TERMS_MAX || hu_accum_parse(&accum, s->fields[MODEL], NULL) != HU_OK) return 0;
  if (hu_mode_round_parse(&mode, s->fields[MODE]) != HU_OK || !read_codes(s->a, *fa, s->fields[A], n)) return 0;
  if (!read_codes(s->b, *fb, s->fields[B], n) || (has_c && !read_codes(&s->c, *fc, s->fields[C], 1))) return 0;
  if (!hex_parse_any(&want_bits, s->fields[CODE], UINT32_MAX)) return 0;
  want.code = (uint32_t)want_bits;
  if (!hex_parse_any(&want_bits, s->fields[EVENTS], UINT32_MAX)) return 0;
  want.events = (uint32_t)want_bits;
  hu_operand a = {s->a, n ? n : 1, *fa, HU_STORAGE_CODES, 0}, b = {s->b, 1, *fb, HU_STORAGE_CODES, 0},
             c = {&s->c, 1, *fc, HU_STORAGE_CODES, 0};
  hu_result d = {&s->d, 1, *fz, HU_STORAGE_CODES};
  s->d = 0;
  hu_status status = hu_gemm(1, 1, n, &d, &a, &b, has_c ? &c : NULL, &accum, mode, NULL, &events);
  uint32_t stored = 0;
  uint8_t u8;
  uint16_t u16;
  memcpy(&u8, &s->d, 1);
  memcpy(&u16, &s->d, 2);
  unsigned storage = hu_limits_of(*fz).storage;
  stored = storage == 8 ? u8 : storage == 16 ? u16 : s->d;
  hu_events_count(&want_events, want.events);
  int right = status == HU_OK && stored == want.code && !memcmp(&events, &want_events, sizeof events);
  g->count++;
  if (verify_case(g->item, right, stored))
    tell(g, s->fields[MODEL], stored, status == HU_OK ? 0 : HU_EVENT_INVALID, want);
  return 1;
}

/* ---- files ---- */

enum { CONVERSIONS, STOCHASTIC, SUMS };

static int read_line(golden *g, int kind, sum *s) {
  char *line = g->lines.line;
  unsigned long long stated;
  if (sscanf(line, "# count: %llu", &stated) == 1) g->stated = stated;
  if (line[0] == '#') return 1;
  if (!strncmp(line, "format ", 7)) {
    if (g->card_count == CARDS_MAX || (kind == CONVERSIONS && g->card_count)) return 0;
    return read_card(&g->cards[g->card_count++], line);
  }
  if (kind == CONVERSIONS) return read_operand(g, line);
  return kind == STOCHASTIC ? check_stochastic(g, line) : check_sum(g, s, line);
}

static int read_file(golden *g, int kind) {
  int next, status = CLI_OK;
  sum *s = cli_alloc(1, sizeof *s);
  if (!s) return CLI_BAD;
  while (status == CLI_OK && (next = cli_lines_next(&g->lines)) != 0) {
    if (next < 0)
      status = CLI_BAD;
    else if (!read_line(g, kind, s))
      status = cli_lines_fail(&g->lines, "not a line of a golden file");
  }
  free(s);
  if (status == CLI_OK && (g->count == 0 || g->count != g->stated))
    status = cli_fail(g->lines.name, "%llu lines, the head says %llu", (unsigned long long)g->count,
                      (unsigned long long)g->stated);
  return status;
}

int verify_golden(verify_item *item, const verify_setup *setup) {
  char path[4096];
  golden *g = cli_alloc(1, sizeof *g);
  if (!g) return CLI_BAD;
  memset(g, 0, sizeof *g);
  g->item = item;
  int kind = !strncmp(item->name, "sums", 4) ? SUMS : !strncmp(item->name, "stochastic", 10) ? STOCHASTIC : CONVERSIONS;
  snprintf(path, sizeof path, "%s/%s", setup->golden, item->name);
  int status = cli_lines_open(&g->lines, path);
  if (status == CLI_OK) {
    status = read_file(g, kind);
    cli_lines_close(&g->lines);
  }
  if (status == CLI_OK && kind == CONVERSIONS) check_operands(g);
  free(g->operands);
  free(g);
  return status;
}
