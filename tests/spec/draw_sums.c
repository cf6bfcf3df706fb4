/* SPDX-License-Identifier: MIT */
/* tests/spec/draw_sums.c - sections 8 and 11 of docs/numerics.md: one element of a product under every model, what its
 * additions did, and its exceptions. */
#include <stdio.h>

#include "tests/accum/draws.h"
#include "tests/accum/reference.h"
#include "tests/spec/lines.h"

static hu_view stored(uint64_t *buffer, const uint64_t *x, size_t n, hu_type type) {
  for (size_t i = 0; i < n; i++) dot_store((uint8_t *)buffer, i, hu_type_size(type), x[i]);
  return hu_view_of(buffer, 1, type);
}

static hu_product product_of(const t_dot *x, uint64_t *z) {
  static uint64_t a[DOT_TERMS], b[DOT_TERMS], c, sa[DOT_SCALES], sb[DOT_SCALES];
  hu_product made = hu_product_of_dot(x->n, hu_output_of(z, 1, x->c), stored(a, x->at, x->n, x->a),
                                      stored(b, x->bt, x->n, x->b), &x->accum);
  if (x->has_c) made.c = stored(&c, &x->ct, 1, x->c);
  if (x->accum.scaled || x->accum.block.every) {
    made.sa = stored(sa, x->sa, x->scales, hu_type_codes(x->scale));
    made.sb = stored(sb, x->sb, x->scales, hu_type_codes(x->scale));
  }
  return made;
}

/* Does the library take the model with these elements? */
static int is_taken(t_dot *x) {
  uint64_t z;
  x->n = x->scales = 0;
  x->has_c = 1;
  hu_product product = product_of(x, &z);
  hu_how how = {.mode = x->mode};
  return hu_dot(&product, &how) == HU_OK;
}

/* Kinds and rules in turn, and every eighth time a preset on any mode. */
static void draw_case(t_dot *x, t_random *random, unsigned long number) {
  unsigned kind = (unsigned)(number % (HU_ACCUM_COUNT + HU_BLOCK_RULES)), more = kind - HU_ACCUM_COUNT;
  hu_accum_preset preset;
  if (t_below(random, 8) == 0 &&
      hu_accum_preset_at(&preset, t_below(random, (uint32_t)hu_accum_preset_count())) == HU_OK) {
    draw_preset(x, &preset);
    x->key = t_next64(random);
    x->element = t_next64(random);
    if (x->c.kind != HU_TYPE_BINARY64) x->mode = t_random_mode(random);
    x->n = t_below(random, 4) ? preset.k * (size_t)t_between(random, 0, preset.k < 16 ? 2 : 1)
                              : t_below(random, preset.k + 1);
    if (x->n > 64) x->n = t_below(random, 64);
    return;
  }
  do {
    if (kind == HU_ACCUM_BLOCK || kind >= HU_ACCUM_COUNT)
      draw_model(x, random, HU_ACCUM_BLOCK, (uint8_t)(kind == HU_ACCUM_BLOCK ? t_below(random, HU_BLOCK_RULES) : more));
    else
      draw_model(x, random, kind, 0);
  } while (!is_taken(x));
  x->n = t_below(random, 20) ? t_below(random, 14) : t_below(random, 40);
}

static void line_case(const char *operation, const t_dot *x) {
  char text[HU_ACCUM_TEXT_MAX];
  (void)hu_accum_text(text, sizeof text, &x->accum);
  line_begin(operation);
  line_text("model", text);
  line_formats_of(&x->accum);
  line_element("fa", x->a);
  line_element("fb", x->b);
  line_element("fc", x->c);
  line_element("fd", x->c);
  line_mode(x->mode);
  line_hex("key", x->key);
  line_hex("counter", x->element);
  line_hex("element", 0);
  line_patterns("a", x->at, x->n, 0);
  line_patterns("b", x->bt, x->n, 0);
  line_patterns("c", &x->ct, (size_t)x->has_c, 0);
  if (!x->scales) return;
  line_element("fs", hu_type_codes(x->scale));
  line_patterns("sa", x->sa, x->scales, 0);
  line_patterns("sb", x->sb, x->scales, 0);
}

static void line_watch(const hu_watch *watch) {
  line_decimal(">additions", (int64_t)watch->additions);
  line_decimal(">swamped", (int64_t)watch->swamped);
  line_decimal(">overflows", (int64_t)watch->overflows);
  line_decimal(">gap", (int64_t)watch->gap);
}

/* Of an instruction: 11.8. 0: the model has no such exceptions. */
static int draw_exceptions(const t_dot *x) {
  uint32_t exceptions;
  hu_product product = product_of(x, NULL);
  if (hu_dot_exceptions(&exceptions, &product, x->mode) != HU_OK) return 0;
  line_case("exceptions", x);
  line_set_of(">exceptions", exceptions);
  line_end();
  return 1;
}

void draw_sums(t_random *random, unsigned long count) {
  static t_dot x;
  for (unsigned long i = 0; i < count; i++) {
    uint32_t events, expected_events;
    hu_watch watch = {0}, expected_watch = {0};
    draw_case(&x, random, i);
    draw_operands(&x, random);
    if (t_below(random, 6) == 0 && draw_exceptions(&x)) continue;
    int watched = t_below(random, 6) == 0;
    line_case(watched ? "watch" : "dot", &x);
    uint64_t z = dot_watched(&x, &events, watched ? &watch : NULL);
    line_hex(">code", z);
    line_events(events);
    if (watched) line_watch(&watch);
    line_same("code", z,
              watched ? reference_watched(&x, &expected_events, &expected_watch) : reference_dot(&x, &expected_events));
    line_same("events", events, expected_events);
    line_same("additions", watch.additions, expected_watch.additions);
    line_same("swamped", watch.swamped, expected_watch.swamped);
    line_same("overflows", watch.overflows, expected_watch.overflows);
    line_same("gap", watch.gap, expected_watch.gap);
    line_end();
  }
}
