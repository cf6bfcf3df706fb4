/* SPDX-License-Identifier: MIT */
/* cli/verify/probe.c - see probe.h. */
#include "cli/verify/probe.h"

#include <stdlib.h>
#include <string.h>

#include "cli/tensors/array.h"
#include "cli/vectors/dot_line.h"
#include "cli/base/numbers.h"
#include "cli/accum/text.h"

enum { ROOM = 512 };

int probe_run_start(probe_run *t) {
  hu_accum_preset p;
  const hu_device_mma *x = &t->mma;
  if (hu_accum_preset_find(&p, x->model) != HU_OK) return cli_fail(NULL, "no model is named '%s'", x->model);
  t->accum = p.accum;
  t->room = ROOM;
  t->a = cli_alloc(t->room * x->m * x->k, hu_element_size(x->a));
  t->b = cli_alloc(t->room * x->n * x->k, hu_element_size(x->b));
  t->c = cli_alloc(t->room * x->m * x->n, hu_element_size(x->c));
  t->d = cli_alloc(t->room * x->m * x->n, hu_element_size(x->c));
  return t->a && t->b && t->c && t->d ? CLI_OK : CLI_BAD;
}

void probe_run_end(probe_run *t) {
  free(t->a);
  free(t->b);
  free(t->c);
  free(t->d);
}

/* ---- operands ---- */

static uint64_t draw(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

enum { CLOSE, WIDE, WIDER, TINY, HUGE_ONES, ANY, KINDS };

/* A code: its exponent field by kind, its trailing significand with few digits at either end, or any. */
static uint64_t draw_code(uint64_t *state, hu_format f, unsigned kind) {
  hu_limits l = hu_limits_of(f);
  uint64_t r = draw(state), ones = ((uint64_t)1 << f.m) - 1, t = r >> 8 & 0xFFFF;
  const uint64_t some[8] = {0, 1, ones, ones - 1, (ones + 1) / 2, ones / 2, r >> 32, r >> 32};
  const int64_t low[KINDS] = {l.bias - 2, l.bias - 12, l.bias - 30, 0, (int64_t)((uint64_t)1 << f.e) - 5, 0};
  const uint64_t span[KINDS] = {5, 25, 61, 4, 5, 1};
  if (kind == ANY) return r >> 20 & (l.sign_mask * 2ull - 1);
  int64_t field = low[kind] + (int64_t)(t % span[kind]), top = (int64_t)(l.max_code >> f.m);
  field = field < 0 ? 0 : field > top ? top : field;
  uint64_t code = (uint64_t)field << f.m | (some[r & 7] & ones);
  if (code > l.max_code) code = l.max_code;
  return code | (r >> 7 & 1 ? l.sign_mask : 0);
}

/* n codes of one kind, with exceptions. cancels: some pairs of neighbours are equal, but for the sign if `sign`. */
static void draw_vector(uint64_t *state, uint8_t *x, size_t n, hu_element e, unsigned kind, int cancels, int sign) {
  size_t size = hu_element_size(e);
  for (size_t k = 0; k < n; k++) {
    unsigned now = draw(state) % 24 ? kind : (unsigned)(draw(state) % KINDS);
    uint64_t code = draw_code(state, e.format, now);
    if (cancels && (k & 1) && k % 4 == 1)
      code = cli_get_pattern(x, k - 1, size) ^ (sign ? (uint64_t)hu_limits_of(e.format).sign_mask : 0);
    cli_put_pattern(x, k, size, code);
  }
}

void probe_draw(probe_run *t, size_t tile, uint64_t key, uint64_t at) {
  const hu_device_mma *x = &t->mma;
  uint64_t state = key * 0xD1342543DE82EF95u + at * 0x2545F4914F6CDD1Du + t->number;
  size_t size = hu_element_size(x->a), wide = hu_element_size(x->c);
  unsigned kind = (unsigned)(draw(&state) % KINDS), other = draw(&state) % 4 ? kind : (unsigned)(draw(&state) % KINDS);
  int cancels = draw(&state) % 3 == 0;
  for (size_t i = 0; i < x->m; i++)
    draw_vector(&state, t->a + (tile * x->m + i) * x->k * size, x->k, x->a, kind, cancels, 1);
  for (size_t j = 0; j < x->n; j++)
    draw_vector(&state, t->b + (tile * x->n + j) * x->k * size, x->k, x->b, other, cancels, 0);
  for (size_t e = 0; e < x->m * x->n; e++) {
    unsigned now = draw(&state) % 2 ? kind : (unsigned)(draw(&state) % KINDS);
    uint64_t code = draw(&state) % 8 ? draw_code(&state, x->c.format, now) : 0;
    cli_put_pattern(t->c, tile * x->m * x->n + e, wide, code);
  }
}

static void fill(uint8_t *x, size_t lines, size_t k, size_t size, const char *hex) {
  char piece[17] = "";
  for (size_t i = 0; i < k; i++) {
    uint64_t code = 0;
    memcpy(piece, hex + i * 2 * size, 2 * size);
    (void)hex_parse(&code, piece, (unsigned)(2 * size));
    for (size_t l = 0; l < lines; l++) cli_put_pattern(x, l * k + i, size, code);
  }
}

void probe_fill(probe_run *t, const char *a, const char *b) {
  fill(t->a, t->mma.m, t->mma.k, hu_element_size(t->mma.a), a);
  fill(t->b, t->mma.n, t->mma.k, hu_element_size(t->mma.b), b);
}

/* ---- the model ---- */

hu_status probe_model(const probe_run *t, size_t tile, size_t i, size_t j, uint8_t *z) {
  const hu_device_mma *x = &t->mma;
  size_t size = hu_element_size(x->a), wide = hu_element_size(x->c);
  hu_dot_operands in = {0};
  in.a = (hu_vector){t->a + (tile * x->m + i) * x->k * size, 1, 0, x->a};
  in.b = (hu_vector){t->b + (tile * x->n + j) * x->k * size, 1, 0, x->b};
  in.c = (hu_vector){t->c + ((tile * x->m + i) * x->n + j) * wide, 1, 0, x->c};
  uint64_t room[1]; /* aligned */
  hu_status s = hu_dot(x->k, room, x->c, &in, &t->accum, (hu_mode){0}, NULL, NULL);
  memcpy(z, room, wide);
  return s;
}

int probe_same(const probe_run *t, size_t tile, size_t i, size_t j, const uint8_t *z) {
  size_t wide = hu_element_size(t->mma.c);
  return !memcmp(t->d + ((tile * t->mma.m + i) * t->mma.n + j) * wide, z, wide);
}
