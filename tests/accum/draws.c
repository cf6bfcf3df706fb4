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

static t_fields fields_of(hu_element e) {
  t_fields f = {64, 52, (uint64_t)1 << 63, UINT64_C(0x7FEFFFFFFFFFFFFF), UINT64_C(0x3FF0000000000000)};
  f.width = hu_element_width(e);
  if (e.kind == HU_ELEMENT_BINARY64) return f;
  if (e.kind != HU_ELEMENT_CODE) {
    t_fields i = {f.width, 0, (uint64_t)1 << (f.width - 1), ((uint64_t)1 << (f.width - 1)) - 1, 1};
    return i;
  }
  hu_limits l = hu_limits_of(e.format);
  f.m = e.format.m;
  f.sign = l.sign_mask;
  f.max = l.max_code;
  f.one = l.max_code / 2;
  if (l.bias > 0 && (uint64_t)l.bias << f.m <= f.max) f.one = (uint64_t)l.bias << f.m;
  return f;
}

static uint64_t draw_magnitude(t_random *r, const t_fields *f, unsigned kind, int reach) {
  uint64_t any = t_next64(r) & (f->width == 64 ? UINT64_MAX : ((uint64_t)1 << f->width) - 1);
  uint64_t span = (uint64_t)reach << f->m, low = f->one > span ? f->one - span : 0;
  uint64_t near = low + (span ? t_next64(r) % (2 * span) : 0);
  uint64_t small = t_next64(r) % 64;
  if (near > f->max) near = f->max;
  switch (kind) {
    case CLOSE: return near;
    case WIDE: return t_next64(r) % (f->max + 1);
    case TINY:
      return small > f->max ? 0 : small << t_below(r, f->m ? f->m : 1) > f->max ? small : small << t_below(r, 2);
    case HUGE_ONES: return f->max - (small > f->max ? 0 : small);
    case POWERS: return near >> f->m << f->m;
    case FEW: return t_below(r, 4) ? 0 : near;
    default: return any;
  }
}

static uint64_t draw_element(t_random *r, const t_fields *f, unsigned kind, int reach) {
  uint64_t mask = f->width == 64 ? UINT64_MAX : ((uint64_t)1 << f->width) - 1;
  uint64_t z = draw_magnitude(r, f, kind, reach);
  return kind == ANY ? z : (z ^ (t_below(r, 2) ? f->sign : 0)) & mask;
}

static uint64_t sign_of(hu_element e, const t_fields *f) { return e.kind == HU_ELEMENT_CODE ? f->sign : 0; }

/* Scales near 1, or anything. */
static void draw_scales(t_dot *x, t_random *r) {
  size_t every = x->accum.scaled ? x->accum.promote : x->accum.block.every;
  hu_element e;
  memset(&e, 0, sizeof e);
  e.format = x->scale;
  x->scales = every ? (x->n + every - 1) / every : 0;
  unsigned kind = t_below(r, 4) ? CLOSE : t_below(r, SOME);
  int reach = t_between(r, 1, 12);
  t_fields f = x->scales ? fields_of(e) : (t_fields){0, 0, 0, 0, 0};
  for (size_t j = 0; j < x->scales; j++) {
    x->sa[j] = draw_element(r, &f, kind, reach);
    x->sb[j] = draw_element(r, &f, kind, reach);
  }
}

/* C as the sum without it, negated and perhaps moved by a few codes: what is left are the roundings. */
static void draw_against(t_dot *x, const t_fields *c, t_random *r) {
  uint32_t events;
  x->has_c = 0;
  uint64_t z = dot_library(x, &events);
  x->has_c = 1;
  uint64_t mask = c->width == 64 ? UINT64_MAX : ((uint64_t)1 << c->width) - 1;
  x->ct = ((z ^ sign_of(x->c, c)) + (uint64_t)(int64_t)t_between(r, -2, 2)) & mask;
}

/* Perhaps one operand of A that is a NaN of IEEE 754's formats only by digits that the model does not look at. */
static void draw_hidden_nan(t_dot *x, const t_fields *f, t_random *r) {
  const hu_block *b = &x->accum.block;
  if (!b->nan || !x->n || x->a.kind != HU_ELEMENT_CODE || x->a.format.m <= b->input || t_below(r, 8)) return;
  uint32_t hidden = (uint32_t)1 << (x->a.format.m - b->input);
  if (f->max + hidden >= f->sign) return;
  uint64_t code = f->max + 2 + t_below(r, hidden - 1);
  x->at[t_below(r, (uint32_t)x->n)] = code | (t_below(r, 2) ? f->sign : 0);
}

/* Perhaps products and C that are all zeros, most often of one sign. */
static void draw_zeros(t_dot *x, const t_fields *fa, const t_fields *fb, const t_fields *fc, t_random *r) {
  uint64_t minus = t_below(r, 2) ? sign_of(x->a, fa) : 0;
  if (t_below(r, 4)) return;
  for (size_t k = 0; k < x->n; k++) {
    x->at[k] = t_below(r, 16) ? minus : minus ^ sign_of(x->a, fa);
    x->bt[k] &= ~sign_of(x->b, fb);
  }
  x->ct = minus ? sign_of(x->c, fc) : 0;
}

void draw_operands(t_dot *x, t_random *r) {
  unsigned kind = t_below(r, SOME), other = t_below(r, 4) ? kind : t_below(r, SOME);
  int reach = t_below(r, 2) ? 2 : t_between(r, 1, 20), cancels = t_below(r, 3) == 0;
  const t_fields fa = fields_of(x->a), fb = fields_of(x->b), fc = fields_of(x->c);
  for (size_t k = 0; k < x->n; k++) {
    unsigned now = t_below(r, 24) ? kind : t_below(r, SOME);
    x->at[k] = draw_element(r, &fa, now, reach);
    x->bt[k] = draw_element(r, &fb, t_below(r, 24) ? other : t_below(r, SOME), reach);
    if (!cancels || !k || t_below(r, 2)) continue;
    size_t from = t_below(r, (uint32_t)k);
    x->at[k] = x->at[from] ^ sign_of(x->a, &fa);
    x->bt[k] = x->bt[from];
  }
  draw_hidden_nan(x, &fa, r);
  draw_scales(x, r);
  x->has_c = t_below(r, 8) != 0;
  x->ct = draw_element(r, &fc, t_below(r, 2) ? kind : t_below(r, SOME), t_below(r, 2) ? reach : 2 * reach);
  if (t_below(r, 4) == 0) draw_against(x, &fc, r);
  if (x->accum.block.zero == HU_BLOCK_ZERO_IEEE) draw_zeros(x, &fa, &fb, &fc, r);
}

/* ---- models ---- */

void draw_preset(t_dot *x, const hu_accum_preset *p) {
  memset(x, 0, offsetof(t_dot, at));
  x->accum = p->accum;
  x->a = p->a;
  x->b = p->b;
  x->c = p->c;
  x->scale = p->accum.block.scale;
}

static hu_format small_format(t_random *r) {
  static const char *const names[] = {"binary16",     "bfloat16",   "float8_e4m3fn",  "float8_e5m2",
                                      "binary32",     "fp(6,9,0)",  "float4_e2m1fn",  "dlfloat16",
                                      "hfp8_fwd_143", "fp(8,13,0)", "float8_e4m3fnuz"};
  hu_format f;
  if (t_below(r, 3) == 0) return t_random_format(r, 3, 16);
  if (hu_format_parse(&f, names[t_below(r, sizeof names / sizeof names[0])], NULL) != HU_OK) memset(&f, 0, sizeof f);
  return f;
}

static hu_mode step_mode(t_random *r) {
  hu_mode m = t_random_mode(r);
  m.tiny = 0;
  m.nan = 0;
  return m;
}

static hu_element code_element(hu_format f) {
  hu_element e;
  memset(&e, 0, sizeof e);
  e.format = f;
  return e;
}

static hu_format parsed(const char *text) {
  hu_format f;
  if (hu_format_parse(&f, text, NULL) != HU_OK) memset(&f, 0, sizeof f);
  return f;
}

static void draw_scale_format(hu_block *b, t_random *r) {
  static const char *const one[] = {"float8_e8m0fnu", "fp(5,0,0):fn,unsigned", "fp(4,0,3):finite,unsigned"};
  static const char *const more[] = {"float8_e8m0fnu", "ue4m3", "ue5m3", "fp(3,2,0):finite,unsigned"};
  b->scale = parsed(b->rule == HU_BLOCK_ALIGN ? one[t_below(r, 3)] : more[t_below(r, 4)]);
  b->every = (uint16_t)(b->rule == HU_BLOCK_ALIGN ? t_between(r, 1, 24) : b->group * t_between(r, 1, 3));
}

static void draw_join(t_random *r, hu_block *b) {
  b->join = (uint8_t)(t_below(r, 4) == 0);
  if (b->join && t_below(r, 2)) b->last = (uint8_t)t_below(r, HU_RTO + 1);
}

/* Scales of the sums of blocks. */
static void draw_sum_scales(t_random *r, hu_block *b) {
  static const char *const formats[] = {"float8_e8m0fnu", "ue4m3", "fp(3,2,0):finite,unsigned",
                                        "fp(5,0,0):fn,unsigned"};
  if (b->order || b->every || t_below(r, 3)) return;
  b->join = HU_BLOCK_JOIN_LAST;
  b->scaling = HU_BLOCK_SCALING_SUM;
  b->scale = parsed(formats[b->rule == HU_BLOCK_ALIGN ? 3 * t_below(r, 2) : t_below(r, 4)]);
  b->every = (uint16_t)(b->length * t_between(r, 1, 3));
}

static void draw_cutting(t_dot *x, t_random *r, hu_block *b) {
  b->kept = (uint16_t)t_between(r, 0, t_below(r, 2) ? 40 : 26);
  x->accum.product = t_below(r, 3) ? hu_format_ieee(8, 23, 0) : small_format(r);
  if (b->rule == HU_BLOCK_LATE) {
    b->kept2 = (uint16_t)t_between(r, b->kept, 40);
    b->lanes = t_below(r, 2) ? 2 : 0;
    b->far = (uint16_t)(t_below(r, 2) ? t_between(r, 1, 64) : 0);
    b->big = (uint16_t)(t_below(r, 2) ? t_between(r, 1, 130) : 0);
    return;
  }
  b->emin = (int16_t)t_between(r, -160, t_below(r, 4) ? -10 : 20);
  b->cut = (uint8_t)t_below(r, 4);
  if (b->rule == HU_BLOCK_GROUPS) {
    b->group = (uint16_t)t_between(r, 1, 8);
    b->length = (uint16_t)(b->group * t_between(r, 1, 4));
    draw_scale_format(b, r);
    return;
  }
  b->order = t_below(r, 4) ? HU_BLOCK_ORDER_UP : HU_BLOCK_ORDER_MOD4;
  b->length = (uint16_t)(b->length + (b->order ? b->length % 2 : 0));
  draw_join(r, b);
  if (t_below(r, 3) == 0) draw_scale_format(b, r);
  draw_sum_scales(r, b);
}

static void draw_stepping(t_random *r, hu_block *b) {
  b->daz = (uint8_t)t_below(r, 3);
  b->ftz = (uint8_t)t_below(r, 4);
  if (b->rule == HU_BLOCK_CHAIN) b->order = (uint8_t)t_below(r, 2);
  if (b->rule == HU_BLOCK_CHAIN) draw_join(r, b);
  if (b->rule == HU_BLOCK_TREE) b->length = (uint16_t)(1 << t_below(r, 5));
  b->products = b->rule == HU_BLOCK_TREE && b->length == 2 && t_below(r, 2);
}

static void draw_block(t_dot *x, t_random *r, uint8_t rule) {
  hu_block *b = &x->accum.block;
  b->rule = rule;
  b->length = (uint16_t)t_between(r, 1, 20);
  b->input = (uint8_t)(rule == HU_BLOCK_GROUPS || t_below(r, 3) ? 0 : t_between(r, 1, 12));
  if (rule != HU_BLOCK_GROUPS && t_below(r, 4) == 0)
    b->as = t_below(r, 2) ? hu_format_ieee(8, 23, 0) : hu_format_ieee(5, 10, 0);
  if (rule <= HU_BLOCK_LATE) draw_cutting(x, r, b);
  b->nan = b->input && t_below(r, 2);
  if (rule == HU_BLOCK_EXACT) {
    draw_join(r, b);
    draw_sum_scales(r, b);
  }
  if (rule >= HU_BLOCK_TREE) draw_stepping(r, b);
  b->over = x->accum.sum.inf != HU_INF_NONE && t_below(r, 2);
  b->zero = rule <= HU_BLOCK_GROUPS && t_below(r, 2);
  if (rule == HU_BLOCK_EXACT && t_below(r, 2)) b->zero = HU_BLOCK_ZERO_IEEE;
}

static void draw_outer(t_dot *x, t_random *r) {
  hu_accum *m = &x->accum;
  if (t_below(r, 3) == 0) {
    m->promote = (uint32_t)t_between(r, 1, 20);
    m->promoted = small_format(r);
    m->scaled = !m->block.every && t_below(r, 3) == 0;
  }
  if (t_below(r, 3) == 0) m->slices = (uint32_t)t_between(r, 1, 9);
}

static void draw_elements(t_dot *x, t_random *r) {
  int groups = x->accum.kind == HU_ACCUM_BLOCK && x->accum.block.rule == HU_BLOCK_GROUPS;
  int cutting = x->accum.kind == HU_ACCUM_BLOCK && x->accum.block.rule <= HU_BLOCK_LATE;
  static const char *const few[] = {"float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "fp(2,1,3):ieee"};
  x->a = code_element(groups ? parsed(few[t_below(r, 4)]) : small_format(r));
  x->b = code_element(groups ? parsed(few[t_below(r, 4)]) : small_format(r));
  x->c = code_element(cutting ? x->accum.product : small_format(r));
  x->scale = x->accum.scaled ? small_format(r) : x->accum.block.scale;
}

static void draw_whole(t_dot *x, t_random *r, uint32_t kind) {
  hu_element wide;
  memset(&wide, 0, sizeof wide);
  if (kind == HU_ACCUM_INT32) {
    x->accum.length = t_below(r, 2) ? (uint32_t)t_between(r, 1, 20) : 0;
    x->a.kind = (uint8_t)t_between(r, HU_ELEMENT_S8, HU_ELEMENT_U4);
    x->b.kind = (uint8_t)t_between(r, HU_ELEMENT_S8, HU_ELEMENT_U4);
    x->c.kind = HU_ELEMENT_S32;
    return;
  }
  wide.kind = HU_ELEMENT_BINARY64;
  draw_elements(x, r);
  if (t_below(r, 2)) x->a = wide;
  if (t_below(r, 2)) x->b = wide;
  if (t_below(r, 2)) x->c = wide;
}

void draw_model(t_dot *x, t_random *r, uint32_t kind, uint8_t rule) {
  hu_accum *m = &x->accum;
  memset(x, 0, offsetof(t_dot, at));
  m->kind = kind;
  if (kind == HU_ACCUM_EXACT || kind == HU_ACCUM_FP64 || kind == HU_ACCUM_INT32) {
    draw_whole(x, r, kind);
  } else {
    if (kind != HU_ACCUM_FP32) {
      m->sum = small_format(r);
      m->mode = step_mode(r);
    }
    if (kind == HU_ACCUM_SEQ2 || kind == HU_ACCUM_CHUNK) m->product = t_below(r, 2) ? m->sum : small_format(r);
    if (kind == HU_ACCUM_CHUNK) m->length = (uint32_t)t_between(r, 1, 20);
    if (kind == HU_ACCUM_BLOCK) draw_block(x, r, rule);
    draw_outer(x, r);
    draw_elements(x, r);
  }
  x->mode = t_random_mode(r);
  if (x->c.kind == HU_ELEMENT_BINARY64) memset(&x->mode, 0, sizeof x->mode);
  x->key = t_next64(r);
  x->element = t_below(r, 8) ? t_below(r, 1000) : t_next64(r);
}
