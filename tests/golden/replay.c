/* SPDX-License-Identifier: MIT */
/* Replays conversions: every line, every deterministic mode, every saturation policy and tininess rule, by
 * the one-value calls and by the array calls on every kernel level, codes and event counts; and the stochastic lines.
 * The answer is worked out from the line (golden_file.c), so one line serves every mode; the oracle must give the
 * same. */
#include "tests/golden/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "tests/gen/golden.h"
#include "tests/golden/golden_file.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"

enum { ROOM = 4096 };

typedef struct t_replay {
  const golden_file *g;
  hu_mode mode;
  size_t n; /* operands of one width, and where they came from */
  const golden_operand *from[ROOM];
  float narrow[ROOM + 16];
  double wide[ROOM + 16];
  golden_answer expected[ROOM];
  hu_events counts;
  uint64_t answers;
} t_replay;

static void fail_line(const t_replay *replay, const char *who, size_t i, uint32_t code, uint32_t events) {
  char m[T_MODE_TEXT], a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
  fail_msg("%s, %s: %s of %a (below %#x '%c' '%c') gives %#x %s, the line says %#x %s", replay->g->card.name,
           t_mode_text(m, replay->mode), who, replay->from[i]->x, replay->from[i]->below, replay->from[i]->where,
           replay->from[i]->tiny, code, t_events_text(a, events), replay->expected[i].code,
           t_events_text(b, replay->expected[i].events));
}

/* Answers of the lines, confirmed by the oracle and given by the one-value calls. */
static void expect(t_replay *replay) {
  hu_format format = replay->g->card.f;
  memset(&replay->counts, 0, sizeof replay->counts);
  for (size_t i = 0; i < replay->n; i++) {
    uint32_t code = 1, events = 1;
    double x = replay->from[i]->x;
    replay->expected[i] = golden_decide(&replay->g->card, replay->from[i], replay->mode);
    hu_events_count(&replay->counts, replay->expected[i].events);
    assert_int_equal(hu_oracle_encode64(&code, &events, format, replay->mode, x, 0), HU_OK);
    if (code != replay->expected[i].code || events != replay->expected[i].events)
      fail_line(replay, "the oracle", i, code, events);
    code = hu_encode64(format, replay->mode, x, 0, &events);
    if (code != replay->expected[i].code || events != replay->expected[i].events)
      fail_line(replay, "hu_encode64", i, code, events);
    if (!replay->from[i]->wide) {
      code = hu_encode(format, replay->mode, (float)x, 0, &events);
      if (code != replay->expected[i].code || events != replay->expected[i].events)
        fail_line(replay, "hu_encode", i, code, events);
    }
  }
}

static uint32_t stored(const void *z, size_t storage, size_t i) {
  if (storage == 8) return ((const uint8_t *)z)[i];
  if (storage == 16) return ((const uint16_t *)z)[i];
  return ((const uint32_t *)z)[i];
}

/* One array call each of encode and quantize, at an offset so that loads and stores are not aligned to vectors. */
static void run_level(t_replay *replay, uint32_t levels_off, size_t offset) {
  static _Alignas(64) uint8_t codes[(ROOM + 16) * 4];
  static _Alignas(64) double values[ROOM + 16];
  hu_format format = replay->g->card.f;
  size_t storage = hu_limits_of(format).storage, element = storage / 8;
  int wide = replay->from[0]->wide, fits = wide || hu_format_fits_binary32(format);
  hu_exec exec;
  hu_events by_encode, by_quantize;
  memset(&exec, 0, sizeof exec);
  memset(&by_encode, 0, sizeof by_encode);
  memset(&by_quantize, 0, sizeof by_quantize);
  exec.levels_off = levels_off;
  for (size_t i = 0; i < replay->n; i++) {
    replay->wide[offset + i] = replay->from[i]->x;
    replay->narrow[offset + i] = (float)replay->from[i]->x;
  }
  void *z = codes + offset * element;
  float *values32 = (float *)(void *)values + offset;
  double *values64 = values + offset;
  t_fill_pattern(codes, sizeof codes);
  t_fill_pattern(values, sizeof values);
  if (wide) {
    assert_int_equal(hu_encode64_n(replay->n, z, 1, replay->wide + offset, 1, format, replay->mode, &exec, &by_encode),
                     HU_OK);
    assert_int_equal(
        hu_quantize64_n(replay->n, values64, 1, replay->wide + offset, 1, format, replay->mode, &exec, &by_quantize),
        HU_OK);
  } else {
    assert_int_equal(hu_encode_n(replay->n, z, 1, replay->narrow + offset, 1, format, replay->mode, &exec, &by_encode),
                     HU_OK);
    if (fits)
      assert_int_equal(
          hu_quantize_n(replay->n, values32, 1, replay->narrow + offset, 1, format, replay->mode, &exec, &by_quantize),
          HU_OK);
  }
  for (size_t i = 0; i < replay->n; i++) {
    double expected;
    if (stored(z, storage, i) != replay->expected[i].code)
      fail_line(replay, "encode of an array", i, stored(z, storage, i), 0);
    assert_int_equal(hu_oracle_decode64(&expected, format, replay->expected[i].code), HU_OK);
    if (wide ? !t_same64(values64[i], expected)
             : fits && t_bits32(values32[i]) != (isnan(expected) ? 0x7FC00000u : t_bits32((float)expected)))
      fail_line(replay, "quantize of an array", i, wide ? 0 : t_bits32(values32[i]), 0);
  }
  if (!t_same_events(&by_encode, &replay->counts) || (fits && !t_same_events(&by_quantize, &replay->counts)))
    fail_msg("%s: event counts of an array with levels %#x off differ", replay->g->card.name, levels_off);
  replay->answers += 2 * replay->n;
}

static void run_mode(t_replay *replay, hu_mode mode) {
  replay->mode = mode;
  expect(replay);
  for (size_t i = 0; i < t_levels(); i++) run_level(replay, t_levels_off(i), (mode.round + i) % 5);
}

/* All modes and policies for the operands of one width. */
static void run_width(t_replay *replay, int wide) {
  replay->n = 0;
  for (size_t i = 0; i < replay->g->n; i++)
    if (replay->g->lines[i].wide == wide) {
      assert_true(replay->n < ROOM);
      replay->from[replay->n++] = &replay->g->lines[i];
    }
  if (replay->n == 0) return;
  for (unsigned round = 0; round < T_DETERMINISTIC; round++)
    for (unsigned policy = 0; policy < 8; policy++)
      run_mode(replay, t_policy(t_mode(round), policy % 4, policy / 4, 0));
  if (replay->g->card.f.nan == HU_NAN_NONE)
    for (unsigned nan = 1; nan < 3; nan++)
      run_mode(replay, t_policy(t_mode(HU_RNE), HU_SAT_DEFAULT, HU_TINY_AFTER, nan));
}

void replay_conversions(void **state) {
  static t_replay replay;
  size_t lines = 0, files = 0;
  (void)state;
  replay.answers = 0;
  for (size_t i = 0; i < golden_count(); i++) {
    if (golden_kind(i) != GOLDEN_CONVERSIONS) continue;
    char *content = replay_text(i);
    golden_file golden = golden_conversions_of(golden_name(i), content);
    replay.g = &golden;
    run_width(&replay, 0);
    run_width(&replay, 1);
    lines += golden.n;
    files++;
    free(golden.lines);
    free(content);
  }
  assert_true(files > 20);
  print_message("%zu lines of %zu texts: %llu answers of array calls on %zu sets of levels\n", lines, files,
                (unsigned long long)replay.answers, t_levels());
}

void replay_stochastic(void **state) {
  size_t count = 0;
  (void)state;
  for (size_t i = 0; i < golden_count(); i++) {
    golden_lines lines;
    if (golden_kind(i) != GOLDEN_STOCHASTIC) continue;
    char *content = replay_text(i);
    golden_open(&lines, golden_name(i), content);
    for (const char *line; (line = golden_next(&lines)) != NULL; count++) {
      const golden_card *card = &lines.cards[lines.card_count - 1];
      unsigned long long bits;
      uint32_t r, expected, expected_events, events = 99;
      char name[16];
      if (sscanf(line, "%15s %x %16llx %x %x", name, &r, &bits, &expected, &expected_events) != 5)
        fail_msg("line: %.60s", line);
      hu_mode mode = t_mode(0);
      assert_int_equal(hu_mode_round_parse(&mode, name), HU_OK);
      uint32_t got = hu_encode64(card->f, mode, t_double(bits), r, &events);
      if (got != expected || events != expected_events)
        fail_msg("%s %s R %#x: %#x events %#x, the line says %#x events %#x", card->name, name, r, got, events,
                 expected, expected_events);
    }
    free(content);
  }
  assert_true(count > 3000);
  print_message("%zu stochastic lines\n", count);
}
