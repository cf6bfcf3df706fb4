/* SPDX-License-Identifier: MIT */
/* tests/accum/draws.c - see draws.h. */
#include "tests/accum/draws.h"

#include <string.h>

/* ---- operands ---- */

enum { ANY, CLOSE, WIDE, TINY, HUGE_ONES, POWERS, FEW, SOME, DRAWS = SOME };

typedef struct t_fields {
  unsigned width, m;
  uint64_t sign, max; /* sign bit; largest finite magnitude */
  uint64_t one;       /* magnitude of a number near 1 (in the middle where there is no exponent) */
} t_fields;

static t_fields fields_of(hu_type element) {
  t_fields fields = {64, 52, (uint64_t)1 << 63, UINT64_C(0x7FEFFFFFFFFFFFFF), UINT64_C(0x3FF0000000000000)};
  fields.width = hu_type_width(element);
  if (element.kind == HU_TYPE_BINARY64) return fields;
  if (element.kind != HU_TYPE_CODES) {
    t_fields i = {fields.width, 0, (uint64_t)1 << (fields.width - 1), ((uint64_t)1 << (fields.width - 1)) - 1, 1};
    return i;
  }
  hu_limits limits = hu_limits_of(element.format);
  fields.m = element.format.m;
  fields.sign = limits.sign_mask;
  fields.max = limits.max_code;
  fields.one = limits.max_code / 2;
  if (limits.bias > 0 && (uint64_t)limits.bias << fields.m <= fields.max)
    fields.one = (uint64_t)limits.bias << fields.m;
  return fields;
}

static uint64_t draw_magnitude(t_random *random, const t_fields *fields, unsigned kind, int reach) {
  uint64_t any = t_next64(random) & (fields->width == 64 ? UINT64_MAX : ((uint64_t)1 << fields->width) - 1);
  uint64_t span = (uint64_t)reach << fields->m, low = fields->one > span ? fields->one - span : 0;
  uint64_t near = low + (span ? t_next64(random) % (2 * span) : 0);
  uint64_t small = t_next64(random) % 64;
  if (near > fields->max) near = fields->max;
  switch (kind) {
    case CLOSE: return near;
    case WIDE: return t_next64(random) % (fields->max + 1);
    case TINY:
      return small > fields->max                                                 ? 0
             : small << t_below(random, fields->m ? fields->m : 1) > fields->max ? small
                                                                                 : small << t_below(random, 2);
    case HUGE_ONES: return fields->max - (small > fields->max ? 0 : small);
    case POWERS: return near >> fields->m << fields->m;
    case FEW: return t_below(random, 4) ? 0 : near;
    default: return any;
  }
}

static uint64_t draw_element(t_random *random, const t_fields *fields, unsigned kind, int reach) {
  uint64_t mask = fields->width == 64 ? UINT64_MAX : ((uint64_t)1 << fields->width) - 1;
  uint64_t z = draw_magnitude(random, fields, kind, reach);
  return kind == ANY ? z : (z ^ (t_below(random, 2) ? fields->sign : 0)) & mask;
}

static uint64_t sign_of(hu_type element, const t_fields *fields) {
  return element.kind == HU_TYPE_CODES ? fields->sign : 0;
}

/* Scales near 1, or anything. */
static void draw_scales(t_dot *x, t_random *random) {
  size_t every = x->accum.scaled ? x->accum.promote : x->accum.block.every;
  x->scales = every ? (x->n + every - 1) / every : 0;
  unsigned kind = t_below(random, 4) ? CLOSE : t_below(random, SOME);
  int reach = t_between(random, 1, 12);
  t_fields fields = x->scales ? fields_of(hu_type_codes(x->scale)) : (t_fields){0, 0, 0, 0, 0};
  for (size_t j = 0; j < x->scales; j++) {
    x->sa[j] = draw_element(random, &fields, kind, reach);
    x->sb[j] = draw_element(random, &fields, kind, reach);
  }
}

/* C as the sum without it, negated and perhaps moved by a few codes: what is left are the roundings. */
static void draw_against(t_dot *x, const t_fields *c, t_random *random) {
  uint32_t events;
  x->has_c = 0;
  uint64_t z = dot_library(x, &events);
  x->has_c = 1;
  uint64_t mask = c->width == 64 ? UINT64_MAX : ((uint64_t)1 << c->width) - 1;
  x->ct = ((z ^ sign_of(x->c, c)) + (uint64_t)(int64_t)t_between(random, -2, 2)) & mask;
}

/* Perhaps one operand of A that is a NaN of IEEE 754's formats only by digits that the model does not look at. */
static void draw_hidden_nan(t_dot *x, const t_fields *fields, t_random *random) {
  const hu_block *b = &x->accum.block;
  if (!b->nan || !x->n || x->a.kind != HU_TYPE_CODES || x->a.format.m <= b->input || t_below(random, 8)) return;
  uint32_t hidden = (uint32_t)1 << (x->a.format.m - b->input);
  if (fields->max + hidden >= fields->sign) return;
  uint64_t code = fields->max + 2 + t_below(random, hidden - 1);
  x->at[t_below(random, (uint32_t)x->n)] = code | (t_below(random, 2) ? fields->sign : 0);
}

/* Perhaps products and C that are all zeros, most often of one sign. */
static void draw_zeros(t_dot *x, const t_fields *fa, const t_fields *fb, const t_fields *fc, t_random *random) {
  uint64_t minus = t_below(random, 2) ? sign_of(x->a, fa) : 0;
  if (t_below(random, 4)) return;
  for (size_t k = 0; k < x->n; k++) {
    x->at[k] = t_below(random, 16) ? minus : minus ^ sign_of(x->a, fa);
    x->bt[k] &= ~sign_of(x->b, fb);
  }
  x->ct = minus ? sign_of(x->c, fc) : 0;
}

void draw_operands(t_dot *x, t_random *random) {
  unsigned kind = t_below(random, SOME), other = t_below(random, 4) ? kind : t_below(random, SOME);
  int reach = t_below(random, 2) ? 2 : t_between(random, 1, 20), cancels = t_below(random, 3) == 0;
  const t_fields fa = fields_of(x->a), fb = fields_of(x->b), fc = fields_of(x->c);
  for (size_t k = 0; k < x->n; k++) {
    unsigned now = t_below(random, 24) ? kind : t_below(random, SOME);
    x->at[k] = draw_element(random, &fa, now, reach);
    x->bt[k] = draw_element(random, &fb, t_below(random, 24) ? other : t_below(random, SOME), reach);
    if (!cancels || !k || t_below(random, 2)) continue;
    size_t from = t_below(random, (uint32_t)k);
    x->at[k] = x->at[from] ^ sign_of(x->a, &fa);
    x->bt[k] = x->bt[from];
  }
  draw_hidden_nan(x, &fa, random);
  draw_scales(x, random);
  x->has_c = t_below(random, 8) != 0;
  x->ct = draw_element(random, &fc, t_below(random, 2) ? kind : t_below(random, SOME),
                       t_below(random, 2) ? reach : 2 * reach);
  if (t_below(random, 4) == 0) draw_against(x, &fc, random);
  if (x->accum.block.zero == HU_BLOCK_ZERO_IEEE || x->accum.block.products || x->accum.block.zeros)
    draw_zeros(x, &fa, &fb, &fc, random);
}

/* ---- models ---- */

void draw_preset(t_dot *x, const hu_accum_preset *preset) {
  memset(x, 0, offsetof(t_dot, at));
  x->accum = preset->accum;
  x->a = preset->a;
  x->b = preset->b;
  x->c = preset->c;
  x->scale = preset->accum.block.scale;
}

static hu_format small_format(t_random *random) {
  static const char *const names[] = {"binary16",     "bfloat16",   "float8_e4m3fn",  "float8_e5m2",
                                      "binary32",     "fp(6,9,0)",  "float4_e2m1fn",  "dlfloat16",
                                      "hfp8_fwd_143", "fp(8,13,0)", "float8_e4m3fnuz"};
  hu_format format;
  if (t_below(random, 3) == 0) return t_random_format(random, 3, 16);
  if (hu_format_parse(&format, names[t_below(random, sizeof names / sizeof names[0])], NULL) != HU_OK)
    memset(&format, 0, sizeof format);
  return format;
}

static hu_mode step_mode(t_random *random) {
  hu_mode m = t_random_mode(random);
  m.tiny = 0;
  m.nan = 0;
  return m;
}

static hu_format parsed(const char *text) {
  hu_format format;
  if (hu_format_parse(&format, text, NULL) != HU_OK) memset(&format, 0, sizeof format);
  return format;
}

static void draw_scale_format(hu_block *b, t_random *random) {
  static const char *const one[] = {"float8_e8m0fnu", "fp(5,0,0):fn,unsigned", "fp(4,0,3):finite,unsigned"};
  static const char *const more[] = {"float8_e8m0fnu", "ue4m3", "ue5m3", "fp(3,2,0):finite,unsigned"};
  b->scale = parsed(b->rule == HU_BLOCK_ALIGN ? one[t_below(random, 3)] : more[t_below(random, 4)]);
  b->every = (uint16_t)(b->rule == HU_BLOCK_ALIGN ? t_between(random, 1, 24) : b->group * t_between(random, 1, 3));
}

static void draw_join(t_random *random, hu_block *b) {
  b->join = (uint8_t)(t_below(random, 4) == 0);
  if (b->join && t_below(random, 2)) b->last = (uint8_t)t_below(random, HU_RTO + 1);
}

/* Scales of the sums of blocks. */
static void draw_sum_scales(t_random *random, hu_block *b) {
  static const char *const formats[] = {"float8_e8m0fnu", "ue4m3", "fp(3,2,0):finite,unsigned",
                                        "fp(5,0,0):fn,unsigned"};
  if (b->order || b->every || t_below(random, 3)) return;
  b->join = HU_BLOCK_JOIN_LAST;
  b->scaling = HU_BLOCK_SCALING_SUM;
  b->scale = parsed(formats[b->rule == HU_BLOCK_ALIGN ? 3 * t_below(random, 2) : t_below(random, 4)]);
  b->every = (uint16_t)(b->length * t_between(random, 1, 3));
}

static void draw_cutting(t_dot *x, t_random *random, hu_block *b) {
  b->kept = (uint16_t)t_between(random, 0, t_below(random, 2) ? 40 : 26);
  x->accum.product = t_below(random, 3) ? hu_format_ieee(8, 23, 0) : small_format(random);
  if (b->rule == HU_BLOCK_LATE) {
    b->kept2 = (uint16_t)t_between(random, b->kept, 40);
    b->lanes = t_below(random, 2) ? 2 : 0;
    b->far = (uint16_t)(t_below(random, 2) ? t_between(random, 1, 64) : 0);
    b->big = (uint16_t)(t_below(random, 2) ? t_between(random, 1, 130) : 0);
    return;
  }
  b->emin = (int16_t)t_between(random, -160, t_below(random, 4) ? -10 : 20);
  b->cut = (uint8_t)t_below(random, 4);
  b->sticky = b->cut <= HU_BLOCK_CUT_FLOOR && t_below(random, 2);
  if (t_below(random, 3) == 0) b->zeros = (uint8_t)(b->sticky ? t_below(random, 4) : HU_BLOCK_ZEROS_EXPONENT);
  if (t_below(random, 3) == 0) {
    b->wide = (uint8_t)t_between(random, 1, t_below(random, 2) ? 20 : 5);
    b->past = (uint8_t)t_below(random, 2);
    b->to = (uint8_t)t_below(random, 2);
  }
  if (b->rule == HU_BLOCK_GROUPS) {
    b->group = (uint16_t)t_between(random, 1, 8);
    b->length = (uint16_t)(b->group * t_between(random, 1, 4));
    b->window = (uint8_t)(t_below(random, 3) ? 0 : t_between(random, 1, 40));
    if (t_below(random, 2)) draw_scale_format(b, random);
    return;
  }
  b->order = t_below(random, 4) ? HU_BLOCK_ORDER_UP : HU_BLOCK_ORDER_MOD4;
  b->length = (uint16_t)(b->length + (b->order ? b->length % 2 : 0));
  draw_join(random, b);
  if (t_below(random, 3) == 0) draw_scale_format(b, random);
  draw_sum_scales(random, b);
}

static void draw_stepping(t_random *random, hu_block *b) {
  if (b->rule == HU_BLOCK_CHAIN) b->order = (uint8_t)t_below(random, 2);
  if (b->rule == HU_BLOCK_CHAIN) draw_join(random, b);
  if (b->rule == HU_BLOCK_TREE) b->length = (uint16_t)(1 << t_below(random, 5));
  b->products = b->rule == HU_BLOCK_TREE && t_below(random, 2);
  if (!b->products || (b->length == 2 && t_below(random, 2))) return;
  b->group = (uint16_t)(t_below(random, 2) ? 2 : t_between(random, 1, 5));
  b->length = (uint16_t)(b->group << t_below(random, 4));
}

static void draw_block(t_dot *x, t_random *random, uint8_t rule) {
  hu_block *b = &x->accum.block;
  b->rule = rule;
  b->length = (uint16_t)t_between(random, 1, 20);
  b->input = (uint8_t)(rule == HU_BLOCK_GROUPS || t_below(random, 3) ? 0 : t_between(random, 1, 12));
  if (rule != HU_BLOCK_GROUPS && t_below(random, 4) == 0)
    b->as = t_below(random, 2) ? hu_format_ieee(8, 23, 0) : hu_format_ieee(5, 10, 0);
  if (rule <= HU_BLOCK_LATE) draw_cutting(x, random, b);
  b->nan = b->input && t_below(random, 2);
  if (rule == HU_BLOCK_EXACT) {
    draw_join(random, b);
    draw_sum_scales(random, b);
  }
  if (rule >= HU_BLOCK_TREE) draw_stepping(random, b);
  if (rule >= HU_BLOCK_TREE || t_below(random, 3) == 0) {
    b->daz = (uint8_t)t_below(random, 3);
    b->ftz = (uint8_t)t_below(random, 4);
  }
  if (rule <= HU_BLOCK_EXACT && t_below(random, 4) == 0) b->via = small_format(random);
  b->over = x->accum.sum.inf != HU_INF_NONE && t_below(random, 2);
  b->zero = rule <= HU_BLOCK_GROUPS && t_below(random, 2);
  if (rule == HU_BLOCK_EXACT && t_below(random, 2)) b->zero = HU_BLOCK_ZERO_IEEE;
}

static void draw_outer(t_dot *x, t_random *random) {
  hu_accum *m = &x->accum;
  if (t_below(random, 3) == 0) {
    m->promote = (uint32_t)t_between(random, 1, 20);
    m->promoted = small_format(random);
    m->scaled = !m->block.every && t_below(random, 3) == 0;
  }
  if (t_below(random, 3) == 0) m->slices = (uint32_t)t_between(random, 1, 9);
}

static void draw_elements(t_dot *x, t_random *random) {
  int groups = x->accum.kind == HU_ACCUM_BLOCK && x->accum.block.rule == HU_BLOCK_GROUPS && x->accum.block.every;
  int cutting = x->accum.kind == HU_ACCUM_BLOCK && x->accum.block.rule <= HU_BLOCK_LATE;
  static const char *const few[] = {"float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "fp(2,1,3):ieee"};
  x->a = hu_type_codes(groups ? parsed(few[t_below(random, 4)]) : small_format(random));
  x->b = hu_type_codes(groups ? parsed(few[t_below(random, 4)]) : small_format(random));
  x->c = hu_type_codes(cutting ? x->accum.product : small_format(random));
  x->scale = x->accum.scaled ? small_format(random) : x->accum.block.scale;
}

static void draw_whole(t_dot *x, t_random *random, uint32_t kind) {
  const hu_type wide = hu_type_plain(HU_TYPE_BINARY64);
  if (kind == HU_ACCUM_INT32) {
    x->accum.length = t_below(random, 2) ? (uint32_t)t_between(random, 1, 20) : 0;
    x->a = hu_type_plain((uint16_t)t_between(random, HU_TYPE_INT8, HU_TYPE_UINT4));
    x->b = hu_type_plain((uint16_t)t_between(random, HU_TYPE_INT8, HU_TYPE_UINT4));
    x->c = hu_type_plain(HU_TYPE_INT32);
    return;
  }
  draw_elements(x, random);
  if (t_below(random, 2)) x->a = wide;
  if (t_below(random, 2)) x->b = wide;
  if (t_below(random, 2)) x->c = wide;
}

void draw_model(t_dot *x, t_random *random, uint32_t kind, uint8_t rule) {
  hu_accum *m = &x->accum;
  memset(x, 0, offsetof(t_dot, at));
  m->kind = kind;
  if (kind == HU_ACCUM_EXACT || kind == HU_ACCUM_FP64 || kind == HU_ACCUM_INT32) {
    draw_whole(x, random, kind);
  } else {
    if (kind != HU_ACCUM_FP32) {
      m->sum = small_format(random);
      m->mode = step_mode(random);
    }
    if (kind == HU_ACCUM_SEQ2 || kind == HU_ACCUM_CHUNK)
      m->product = t_below(random, 2) ? m->sum : small_format(random);
    if (kind == HU_ACCUM_CHUNK) m->length = (uint32_t)t_between(random, 1, 20);
    if (kind == HU_ACCUM_BLOCK) draw_block(x, random, rule);
    draw_outer(x, random);
    draw_elements(x, random);
  }
  x->mode = t_random_mode(random);
  if (x->c.kind == HU_TYPE_BINARY64) memset(&x->mode, 0, sizeof x->mode);
  x->key = t_next64(random);
  x->element = t_below(random, 8) ? t_below(random, 1000) : t_next64(random);
}
