/* SPDX-License-Identifier: MIT */
/* halfulp mma - dot products as a matrix unit computes them, one a line, patterns in and out. */
#include <stdlib.h>
#include <string.h>

#include "cli/array.h"
#include "cli/models.h"
#include "cli/numbers.h"

enum { KEY_FA = CLI_KEY_FREE, KEY_FB, KEY_FD };

typedef struct mma_state {
  cli_numeric numeric;
  hu_accum accum;
  hu_element a, b, d, scale;
  int has_a, has_b, has_d;
  size_t depth; /* n is a multiple of it */
} mma_state;

static int set(void *state, int key, const char *value) {
  mma_state *s = state;
  int shared = cli_set_numeric(&s->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  if (key == KEY_FA) s->has_a = 1;
  if (key == KEY_FB) s->has_b = 1;
  if (key == KEY_FD) s->has_d = 1;
  return cli_read_element(key == KEY_FA ? &s->a : key == KEY_FB ? &s->b : &s->d, value);
}

static const cli_option options[] = {
    {KEY_FA, "fa", "FORMAT", "elements of A: a format, binary64, s8, u8, s4, u4; default: the named model's"},
    {KEY_FB, "fb", "FORMAT", "elements of B"},
    {KEY_FD, "fd", "FORMAT", "elements of C and D (s32 with integers)"},
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    {0}};
static const cli_command command = {
    "mma",
    "MODEL [FILE]",
    "Dot products under an accumulation model, one a line",
    "A line is A B C [SCALES_A SCALES_B], each the patterns of its elements in hex: a fixed number of digits each,\n"
    "element 0 first, no separators; 4-bit elements one digit; tf32 and xf32 operands as binary32 patterns; C may be\n"
    "- (absent, +0). Any multiple of the instruction's K: blocks are chained, k ascending. D is printed in hex.\n"
    "-r and -s are those of the last rounding into D's format. Stochastic models: line i is element i.\n"
    "FILE is standard input if absent or -.",
    "  echo 3c003c003c003c00 3c003c003c003c00 3f800000 | halfulp mma nv.volta.f16.f32\n"
    "  echo 3c003c00 3c003c00 0000 | halfulp mma 'seq(binary16,rtz)' --fa binary16 --fb binary16 --fd binary16",
    options,
    1,
    2,
    set};

/* ---- lines ---- */

/* Elements of one operand: codes as hu_dot stores them. */
typedef struct elements {
  void *data;
  size_t count;
} elements;

static void store(void *data, size_t i, size_t size, uint64_t x) {
  if (size == 1) ((uint8_t *)data)[i] = (uint8_t)x;
  if (size == 2) ((uint16_t *)data)[i] = (uint16_t)x;
  if (size == 4) ((uint32_t *)data)[i] = (uint32_t)x;
  if (size == 8) ((uint64_t *)data)[i] = x;
}

/* Digits beyond the width are ignored: the sign bit of an unsigned scale. */
static int read_elements(elements *z, const cli_lines *lines, const char *text, hu_element e, const char *what) {
  char piece[17] = "", wrong[160];
  size_t digits = (hu_element_width(e) + 3) / 4, size = hu_element_size(e), length = strlen(text);
  if (length % digits) {
    snprintf(wrong, sizeof wrong, "%s: %zu hex digits, not a multiple of %zu", what, length, digits);
    return cli_lines_fail(lines, wrong);
  }
  z->count = length / digits;
  z->data = cli_room(z->count, size);
  if (!z->data) return CLI_BAD;
  for (size_t i = 0; i < z->count; i++) {
    uint64_t x;
    memcpy(piece, text + i * digits, digits);
    if (!hex_parse(&x, piece, (unsigned)digits)) {
      snprintf(wrong, sizeof wrong, "%s: '%s' is not hex", what, piece);
      return cli_lines_fail(lines, wrong);
    }
    store(z->data, i, size, x);
  }
  return CLI_OK;
}

enum { A, B, C, SA, SB, OPERANDS };
typedef struct row {
  elements x[OPERANDS];
} row;

static hu_element element_of(const mma_state *s, int i) {
  return i == A ? s->a : i == B ? s->b : i == C ? s->d : s->scale;
}

static int check_counts(const mma_state *s, const cli_lines *lines, const row *r) {
  char wrong[160];
  size_t n = r->x[A].count, every = s->accum.scaled ? s->accum.promote : s->accum.block.every;
  size_t scales = every ? (n + every - 1) / every : 0;
  if (r->x[B].count != n) {
    snprintf(wrong, sizeof wrong, "A has %zu elements, B has %zu", n, r->x[B].count);
  } else if (n % s->depth) {
    snprintf(wrong, sizeof wrong, "%zu elements, not a multiple of the instruction's K, %zu", n, s->depth);
  } else if (r->x[C].data && r->x[C].count != 1) {
    snprintf(wrong, sizeof wrong, "C has %zu elements, one is wanted", r->x[C].count);
  } else if (r->x[SA].count != scales || r->x[SB].count != scales) {
    snprintf(wrong, sizeof wrong, "%zu and %zu scales, %zu are wanted of each", r->x[SA].count, r->x[SB].count, scales);
  } else {
    return CLI_OK;
  }
  return cli_lines_fail(lines, wrong);
}

static int print_sum(const mma_state *s, const row *r, uint64_t index) {
  hu_dot_operands in = {0};
  uint64_t z[1] = {0};
  hu_vector *v[OPERANDS] = {&in.a, &in.b, &in.c, &in.sa, &in.sb};
  hu_exec exec = {1, 0, s->numeric.stream};
  exec.stream.counter += index;
  for (int i = 0; i < OPERANDS; i++) *v[i] = (hu_vector){r->x[i].data, 1, 0, element_of(s, i)};
  hu_status status = hu_dot(r->x[A].count, z, s->d, &in, &s->accum, s->numeric.mode, &exec, NULL);
  if (status != HU_OK) return cli_fail_status(NULL, status);
  uint8_t u8;
  uint16_t u16;
  uint32_t u32;
  memcpy(&u8, z, 1);
  memcpy(&u16, z, 2);
  memcpy(&u32, z, 4);
  size_t size = hu_element_size(s->d);
  uint64_t code = size == 1 ? u8 : size == 2 ? u16 : size == 4 ? u32 : z[0];
  printf("%0*llx\n", (int)(hu_element_width(s->d) + 3) / 4, (unsigned long long)code);
  return CLI_OK;
}

static int do_line(const mma_state *s, const cli_lines *lines) {
  static const char *const names[OPERANDS] = {"A", "B", "C", "scales of A", "scales of B"};
  row r = {0};
  int scaled = hu_accum_is_scaled(&s->accum), wanted = scaled ? OPERANDS : SA, found = 0, status = CLI_OK;
  for (char *rest = lines->line, *field; status == CLI_OK && (field = strsep(&rest, " \t")) != NULL;) {
    if (!*field) continue;
    if (found == wanted)
      status = cli_lines_fail(lines, scaled ? "more than five fields" : "more than three fields");
    else if (found != C || strcmp(field, "-"))
      status = read_elements(&r.x[found], lines, field, element_of(s, found), names[found]);
    found++;
  }
  if (status == CLI_OK && found < wanted)
    status = cli_lines_fail(
        lines, scaled ? "five fields are wanted: A B C SCALES_A SCALES_B" : "three fields are wanted: A B C");
  if (status == CLI_OK) status = check_counts(s, lines, &r);
  if (status == CLI_OK) status = print_sum(s, &r, lines->number - 1);
  for (int i = 0; i < OPERANDS; i++) free(r.x[i].data);
  return status;
}

/* ---- the model ---- */

static int choose_model(mma_state *s, const char *text) {
  hu_preset p;
  if (cli_read_model(&s->accum, "model", text)) return CLI_BAD;
  s->depth = 1;
  if (hu_preset_find(&p, text) == HU_OK) {
    s->depth = p.k;
    if (!s->has_a) s->a = p.a;
    if (!s->has_b) s->b = p.b;
    if (!s->has_d) s->d = p.c;
  } else if (!s->has_a || !s->has_b || !s->has_d) {
    return cli_fail(NULL, "mma: '%s' is no named model and leaves the elements open; use --fa, --fb and --fd", text);
  }
  s->scale.format = s->accum.scaled ? hu_format_ieee(8, 23, 0) : s->accum.block.scale;
  return CLI_OK;
}

int cli_mma(int argc, char **argv) {
  mma_state state = {0};
  cli_lines lines;
  char **operands;
  int count, next, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (choose_model(&state, operands[0])) return CLI_BAD;
  if (cli_lines_open(&lines, count > 1 ? operands[1] : "-")) return CLI_BAD;
  status = CLI_OK;
  while (status == CLI_OK && (next = cli_lines_next(&lines)) != 0) status = next < 0 ? -next : do_line(&state, &lines);
  cli_lines_close(&lines);
  return status;
}
