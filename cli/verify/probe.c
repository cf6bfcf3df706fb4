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

int probe_run_start(probe_run *run) {
  hu_accum_preset preset;
  const hu_device_mma *x = &run->mma;
  if (hu_accum_preset_find(&preset, x->model) != HU_OK) return cli_fail(NULL, "no model is named '%s'", x->model);
  run->accum = preset.accum;
  run->room = ROOM;
  run->a = cli_alloc(run->room * x->m * x->k, hu_type_size(x->a));
  run->b = cli_alloc(run->room * x->n * x->k, hu_type_size(x->b));
  run->c = cli_alloc(run->room * x->m * x->n, hu_type_size(x->c));
  run->d = cli_alloc(run->room * x->m * x->n, hu_type_size(x->c));
  return run->a && run->b && run->c && run->d ? CLI_OK : CLI_BAD;
}

void probe_run_end(probe_run *run) {
  free(run->a);
  free(run->b);
  free(run->c);
  free(run->d);
}

/* ---- operands ---- */

static uint64_t draw(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

enum { CLOSE, WIDE, WIDER, TINY, HUGE_ONES, ANY, KINDS };

/* Draws a code: its exponent field by kind, its trailing significand with few digits at either end, or any. */
static uint64_t draw_code(uint64_t *state, hu_format format, unsigned kind) {
  hu_limits limits = hu_limits_of(format);
  uint64_t random = draw(state), ones = ((uint64_t)1 << format.m) - 1, spread = random >> 8 & 0xFFFF;
  const uint64_t some[8] = {0, 1, ones, ones - 1, (ones + 1) / 2, ones / 2, random >> 32, random >> 32};
  const int64_t low[KINDS] = {
      limits.bias - 2, limits.bias - 12, limits.bias - 30, 0, (int64_t)((uint64_t)1 << format.e) - 5, 0};
  const uint64_t span[KINDS] = {5, 25, 61, 4, 5, 1};
  if (kind == ANY) return random >> 20 & (limits.sign_mask * 2ull - 1);
  int64_t field = low[kind] + (int64_t)(spread % span[kind]), top = (int64_t)(limits.max_code >> format.m);
  field = field < 0 ? 0 : field > top ? top : field;
  uint64_t code = (uint64_t)field << format.m | (some[random & 7] & ones);
  if (code > limits.max_code) code = limits.max_code;
  return code | (random >> 7 & 1 ? limits.sign_mask : 0);
}

/* Draws n codes of one kind, with exceptions. cancels: some pairs of neighbours are equal, except for the sign if
 * `sign`. */
static void draw_vector(uint64_t *state, uint8_t *x, size_t n, hu_type element, unsigned kind, int cancels, int sign) {
  size_t size = hu_type_size(element);
  for (size_t k = 0; k < n; k++) {
    unsigned now = draw(state) % 24 ? kind : (unsigned)(draw(state) % KINDS);
    uint64_t code = draw_code(state, element.format, now);
    if (cancels && (k & 1) && k % 4 == 1)
      code = cli_get_pattern(x, k - 1, size) ^ (sign ? (uint64_t)hu_limits_of(element.format).sign_mask : 0);
    cli_put_pattern(x, k, size, code);
  }
}

void probe_draw(probe_run *run, size_t tile, uint64_t key, uint64_t at) {
  const hu_device_mma *x = &run->mma;
  uint64_t state = key * 0xD1342543DE82EF95u + at * 0x2545F4914F6CDD1Du + run->number;
  size_t size = hu_type_size(x->a), wide = hu_type_size(x->c);
  unsigned kind = (unsigned)(draw(&state) % KINDS), other = draw(&state) % 4 ? kind : (unsigned)(draw(&state) % KINDS);
  int cancels = draw(&state) % 3 == 0;
  for (size_t i = 0; i < x->m; i++)
    draw_vector(&state, run->a + (tile * x->m + i) * x->k * size, x->k, x->a, kind, cancels, 1);
  for (size_t j = 0; j < x->n; j++)
    draw_vector(&state, run->b + (tile * x->n + j) * x->k * size, x->k, x->b, other, cancels, 0);
  for (size_t k = 0; k < x->m * x->n; k++) {
    unsigned now = draw(&state) % 2 ? kind : (unsigned)(draw(&state) % KINDS);
    uint64_t code = draw(&state) % 8 ? draw_code(&state, x->c.format, now) : 0;
    cli_put_pattern(run->c, tile * x->m * x->n + k, wide, code);
  }
}

static void fill(uint8_t *x, size_t lines, size_t k, size_t size, const char *hex) {
  char piece[17] = "";
  for (size_t i = 0; i < k; i++) {
    uint64_t code = 0;
    memcpy(piece, hex + i * 2 * size, 2 * size);
    (void)hex_parse(&code, piece, (unsigned)(2 * size));
    for (size_t j = 0; j < lines; j++) cli_put_pattern(x, j * k + i, size, code);
  }
}

void probe_fill(probe_run *run, const char *a, const char *b) {
  fill(run->a, run->mma.m, run->mma.k, hu_type_size(run->mma.a), a);
  fill(run->b, run->mma.n, run->mma.k, hu_type_size(run->mma.b), b);
}

/* ---- the model ---- */

hu_status probe_model(const probe_run *run, size_t tile, size_t i, size_t j, uint8_t *z) {
  const hu_device_mma *x = &run->mma;
  size_t size = hu_type_size(x->a), wide = hu_type_size(x->c);
  uint64_t room[1]; /* aligned */
  hu_product in = hu_product_of_dot(x->k, hu_output_of(room, 1, x->c),
                                    hu_view_of(run->a + (tile * x->m + i) * x->k * size, 1, x->a),
                                    hu_view_of(run->b + (tile * x->n + j) * x->k * size, 1, x->b), &run->accum);
  in.c = hu_view_of(run->c + ((tile * x->m + i) * x->n + j) * wide, 1, x->c);
  hu_status status = hu_dot(&in, NULL);
  memcpy(z, room, wide);
  return status;
}

int probe_same(const probe_run *run, size_t tile, size_t i, size_t j, const uint8_t *z) {
  size_t wide = hu_type_size(run->mma.c);
  return !memcmp(run->d + ((tile * run->mma.m + i) * run->mma.n + j) * wide, z, wide);
}
