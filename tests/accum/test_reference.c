/* SPDX-License-Identifier: MIT */
/* hu_dot against the reference, code and events: vectors of every preset, of every other model, of every rule of
 * block(...) with all parameters drawn. usage: test_reference PART/PARTS [VECTORS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accum/draws.h"
#include "tests/accum/reference.h"
#include "tests/support/cmocka.h"

static unsigned part, parts = 1, vectors = 10000;

/* What the vectors of a model met: a test that meets nothing of the kind shows nothing. */
typedef struct met {
  uint64_t vectors, zero, nan, inf, inexact, swamped, overflows;
} met;

static void compare(const t_dot *x, met *m) {
  uint32_t events, expected_events;
  hu_watch watch = {0, 0, 0, 0}, expected_watch;
  uint64_t got = dot_watched(x, &events, &watch), expected = reference_watched(x, &expected_events, &expected_watch);
  char text[T_EVENTS_TEXT], expected_text[T_EVENTS_TEXT], mode[T_MODE_TEXT];
  if (got != expected || events != expected_events)
    fail_msg("%llx (%s), the reference has %llx (%s), %s: %s", (unsigned long long)got, t_events_text(text, events),
             (unsigned long long)expected, t_events_text(expected_text, expected_events), t_mode_text(mode, x->mode),
             dot_text(x));
  if (memcmp(&watch, &expected_watch, sizeof watch) != 0)
    fail_msg("watched %llu additions, %llu swamped, %llu overflows, gap %llu; the reference %llu, %llu, %llu, %llu: %s",
             (unsigned long long)watch.additions, (unsigned long long)watch.swamped,
             (unsigned long long)watch.overflows, (unsigned long long)watch.gap,
             (unsigned long long)expected_watch.additions, (unsigned long long)expected_watch.swamped,
             (unsigned long long)expected_watch.overflows, (unsigned long long)expected_watch.gap, dot_text(x));
  m->swamped += watch.swamped;
  m->overflows += watch.overflows;
  m->vectors++;
  m->zero += (expected << 1 & 0xFFFFFFFF) == 0;
  m->nan += (expected_events & (HU_EVENT_NAN_IN | HU_EVENT_INVALID)) != 0;
  m->inf += (expected_events & HU_EVENT_INF_IN) != 0;
  m->inexact += (expected_events & HU_EVENT_INEXACT) != 0;
}

static void one_preset(const hu_accum_preset *preset, unsigned number, met *m) {
  static t_dot x;
  t_random random = t_random_of(number);
  draw_preset(&x, preset);
  for (unsigned i = 0; i < vectors; i++) {
    memset(&x.mode, 0, sizeof x.mode);
    if (x.c.kind != HU_TYPE_BINARY64 && t_below(&random, 8) == 0) x.mode = t_random_mode(&random);
    x.n = preset->k * (size_t)t_between(&random, 1, preset->k < 8 ? 4 : preset->k < 32 ? 2 : 1);
    if (t_below(&random, 16) == 0) x.n = t_below(&random, 2 * preset->k + 1);
    x.key = i;
    draw_operands(&x, &random);
    compare(&x, m);
  }
}

static void presets(void **state) {
  met m = {0, 0, 0, 0, 0, 0, 0};
  unsigned done = 0;
  (void)state;
  for (unsigned i = part; i < hu_accum_preset_count(); i += parts, done++) {
    hu_accum_preset preset;
    assert_int_equal(hu_accum_preset_at(&preset, i), HU_OK);
    one_preset(&preset, i, &m);
  }
  assert_true(done > 0 && m.zero > 0 && m.nan > 0 && m.inf > 0 && m.swamped > 0 && m.overflows > 0);
  print_message(
      "%u presets, %llu vectors: %llu zeros, %llu NaN, %llu infinities; %llu addends swamped, %llu overflows\n", done,
      (unsigned long long)m.vectors, (unsigned long long)m.zero, (unsigned long long)m.nan, (unsigned long long)m.inf,
      (unsigned long long)m.swamped, (unsigned long long)m.overflows);
}

/* Drawn models that the elements do not go with are drawn again. */
static void one_kind(uint32_t kind, uint8_t rule, met *m) {
  static t_dot x;
  t_random random = {kind * UINT64_C(0xD1342543DE82EF95) + rule + 3};
  unsigned refused = 0;
  for (unsigned i = 0; i < vectors;) {
    uint64_t buffer = 0;
    draw_model(&x, &random, kind, rule);
    hu_how how = {.mode = x.mode};
    hu_product in = hu_product_of_dot(0, hu_output_of(&buffer, 1, x.c), hu_view_of(&buffer, 1, x.a),
                                      hu_view_of(&buffer, 1, x.b), &x.accum);
    in.c = hu_view_of(&buffer, 1, x.c);
    if (x.accum.scaled || x.accum.block.every) in.sa = in.sb = hu_codes(&buffer, 1, x.scale);
    hu_status status = hu_dot(&in, &how);
    if (status != HU_OK && hu_accum_check(&x.accum) != HU_OK)
      fail_msg("drawn model of kind %u, rule %u is not valid", kind, rule);
    if (status == HU_E_ACCUM || status == HU_E_CARRIER) {
      assert_true(++refused < 40 * vectors + 40);
      continue;
    }
    for (unsigned again = 0; again < 4 && i < vectors; again++, i++) {
      x.n = t_below(&random, 12) ? t_below(&random, 40) : t_below(&random, 300);
      if (x.accum.kind >= HU_ACCUM_PAIRWISE && x.accum.kind <= HU_ACCUM_STRIDED && t_below(&random, 2))
        x.n = (size_t)1 << t_below(&random, 7);
      if (x.accum.block.every || x.accum.scaled) x.n %= 40;
      draw_operands(&x, &random);
      compare(&x, m);
    }
  }
}

static void models(void **state) {
  unsigned done = 0;
  (void)state;
  for (uint32_t i = part; i < HU_ACCUM_COUNT + HU_BLOCK_RULES; i += parts) {
    met m = {0, 0, 0, 0, 0, 0, 0};
    if (i == HU_ACCUM_BLOCK) continue;
    if (i < HU_ACCUM_COUNT)
      one_kind(i, 0, &m);
    else
      one_kind(HU_ACCUM_BLOCK, (uint8_t)(i - HU_ACCUM_COUNT), &m);
    assert_true(i == HU_ACCUM_INT32 || (m.nan > 0 && m.inexact > 0));
    print_message("model %u: %llu vectors, %llu inexact, %llu NaN\n", i, (unsigned long long)m.vectors,
                  (unsigned long long)m.inexact, (unsigned long long)m.nan);
    done++;
  }
  assert_true(done > 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(presets), cmocka_unit_test(models)};
  if (argc > 1 && sscanf(argv[1], "%u/%u", &part, &parts) != 2) return 2;
  if (argc > 2) vectors = (unsigned)strtoul(argv[2], NULL, 10);
  return cmocka_run_group_tests_name("accum_reference", tests, NULL, NULL);
}
