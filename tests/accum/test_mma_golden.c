/* SPDX-License-Identifier: MIT */
/* The golden files of matrix units (tests/golden/mma), by the library and by the reference.
 * usage: test_mma_golden DIRECTORY [EVERY] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accum/dots.h"
#include "tests/accum/reference.h"
#include "tests/golden/golden_file.h"
#include "tests/support/cmocka.h"

enum { LINE = 8192, FIELD = 2200 };

typedef struct t_reader {
  char *content, *next;
  unsigned long stated, seen;
} t_reader;

static t_reader start(void *directory, const char *name) {
  size_t size;
  t_reader reader = {golden_read(directory, name, &size), NULL, 0, 0};
  reader.next = reader.content;
  return reader;
}

/* The next line that is no comment, or NULL; then the count has been compared. */
static char *next_line(t_reader *reader) {
  while (*reader->next) {
    char *line = reader->next, *end = strchr(line, '\n');
    assert_non_null(end);
    *end = 0;
    reader->next = end + 1;
    if (sscanf(line, "# count: %lu", &reader->stated) == 1 || line[0] == '#') continue;
    reader->seen++;
    return line;
  }
  assert_true(reader->seen > 0);
  assert_int_equal(reader->seen, reader->stated);
  free(reader->content);
  return NULL;
}

/* The model of a line, with its preset's own types where it is one. */
static void use_model(t_dot *x, const char *model) {
  hu_accum_preset preset;
  size_t where = 0;
  if (hu_accum_parse(&x->accum, model, &where) != HU_OK) fail_msg("model %s, from %zu on", model, where);
  if (hu_accum_preset_find(&preset, model) == HU_OK) x->c = preset.c;
  x->scale = x->accum.scaled ? hu_format_ieee(8, 23, 0) : x->accum.block.scale;
}

static int is_nan(hu_type element, uint64_t bits) {
  if (element.kind == HU_TYPE_INT32) return 0;
  hu_limits limits = hu_limits_of(element.format);
  if (element.kind == HU_TYPE_BINARY64) return (bits & 0x7FFFFFFFFFFFFFFFu) > 0x7FF0000000000000u;
  return (bits & ~(uint64_t)limits.sign_mask) > limits.inf_code;
}

static void both(const t_dot *x, uint64_t expected, int expected_nan, const char *what) {
  uint32_t events;
  uint64_t library = dot_library(x, &events), reference = reference_dot(x, &events);
  int same =
      expected_nan ? is_nan(x->c, library) && is_nan(x->c, reference) : library == expected && reference == expected;
  if (!same)
    fail_msg("%s: library %llx, reference %llx, wanted %s%llx: %s", what, (unsigned long long)library,
             (unsigned long long)reference, expected_nan ? "NaN, " : "", (unsigned long long)expected, dot_text(x));
}

static void probes(void **state) {
  static char a[FIELD], b[FIELD];
  static t_dot x;
  char id[16], model[128], fa[32], fb[32], fd[32], c[32], sa[32], sb[32], d[32];
  t_reader reader = start(*state, "mma/probes.txt");
  for (char *line; (line = next_line(&reader)) != NULL;) {
    if (sscanf(line, "%15s %127s %31s %31s %31s %2199s %2199s %31s %31s %31s %31s", id, model, fa, fb, fd, a, b, c, sa,
               sb, d) != 11)
      fail_msg("line: %.80s", line);
    memset(&x, 0, sizeof x);
    x.a = dot_element(fa);
    x.b = dot_element(fb);
    x.c = dot_element(fd);
    use_model(&x, model);
    x.n = dot_read_hex(x.at, DOT_TERMS, a, hu_type_width(x.a));
    assert_int_equal(dot_read_hex(x.bt, DOT_TERMS, b, hu_type_width(x.b)), x.n);
    x.has_c = dot_read_hex(&x.ct, 1, c, hu_type_width(x.c)) == 1;
    if (sa[0] != '-') x.scales = dot_read_hex(x.sa, DOT_SCALES, sa, 8);
    if (sb[0] != '-') assert_int_equal(dot_read_hex(x.sb, DOT_SCALES, sb, 8), x.scales);
    both(&x, strtoull(d, NULL, 16), strcmp(d, "nan") == 0, id);
  }
  print_message("probes: %lu lines\n", reader.seen);
}

/* ---- hashes ---- */

typedef struct t_layout {
  unsigned w, e, m;
  int bias, ieee, fn, fnuz;
} t_layout;

static t_layout layout_of(hu_type x) {
  t_layout layout = {64, 11, 52, 1023, 1, 0, 0};
  if (x.kind == HU_TYPE_BINARY64) return layout;
  hu_limits limits = hu_limits_of(x.format);
  layout.w = limits.width;
  layout.e = x.format.e;
  layout.m = x.format.m;
  layout.bias = limits.bias;
  layout.ieee = x.format.inf == HU_INF_IEEE;
  layout.fn = x.format.nan == HU_NAN_ONES;
  layout.fnuz = x.format.nan == HU_NAN_NEGZERO;
  return layout;
}

static uint64_t draw(t_random *random, const t_layout *layout, unsigned mode, int half, int is_c) {
  uint64_t r = t_next64(random), field, z;
  if (mode == 3) return layout->w == 64 ? r : r & (((uint64_t)1 << layout->w) - 1);
  int t = (int)((r >> 40) & 0xFFFF), last = (1 << layout->e) - 1 - layout->ieee, f;
  if (mode == 0)
    f = layout->bias - 2 + t % (is_c ? 9 : 5);
  else if (mode == 2)
    f = !is_c && layout->e == 8 ? 52 + t % 16 : t % 4;
  else
    f = half ? layout->bias - 10 + t % 13 : layout->bias - 12 + t % 25;
  field = (uint64_t)(f < 0 ? 0 : f > last ? last : f);
  z = (r >> 63) << (layout->w - 1) | field << layout->m | (r & (((uint64_t)1 << layout->m) - 1));
  if (layout->fn && (z & 0x7F) == 0x7F) z &= ~(uint64_t)1;
  if (layout->fnuz && z == 0x80) z = 0;
  return z;
}

/* A large pair that cancels. */
static void cancel(t_dot *x, t_random *random, const t_layout *a, const t_layout *b) {
  size_t i = (size_t)((t_next64(random) >> 40) % x->n), j = i ^ 1;
  uint64_t low_a = ((uint64_t)1 << a->m) - 1, low_b = ((uint64_t)1 << b->m) - 1, top;
  int fa = a->bias + 6, fb = b->bias + 5;
  if (fa > (1 << a->e) - 2) fa = (1 << a->e) - 2;
  if (fb > (1 << b->e) - 2) fb = (1 << b->e) - 2;
  top = (uint64_t)1 << (a->w - 1);
  x->at[i] = (x->at[i] & (top | low_a)) | (uint64_t)fa << a->m;
  top = (uint64_t)1 << (b->w - 1);
  x->bt[i] = (x->bt[i] & (top | low_b)) | (uint64_t)fb << b->m;
  x->at[j] = x->at[i];
  x->bt[j] = x->bt[i] ^ top;
}

static uint64_t draw_scale(t_random *random, unsigned mode, int e8m0) {
  static const unsigned base8[5] = {125, 119, 54, 0, 119}, count8[5] = {5, 17, 10, 256, 17};
  static const unsigned base4[5] = {48, 0, 0, 0, 0}, count4[5] = {17, 127, 9, 256, 127};
  uint64_t r = t_next64(random), t = (r >> 40) & 0xFFFF;
  if (mode == 3) return r & 0xFF;
  return e8m0 ? base8[mode] + t % count8[mode] : base4[mode] + t % count4[mode];
}

static void draw_vector(t_dot *x, t_random *random, unsigned number, unsigned i) {
  t_layout a = layout_of(x->a), b = layout_of(x->b), c = layout_of(x->c);
  unsigned mode = i % 5;
  int half = c.w == 16;
  (void)number;
  x->ct = draw(random, &c, mode, half, 1);
  for (size_t k = 0; k < x->n; k++) {
    x->at[k] = draw(random, &a, mode, half, 0);
    x->bt[k] = draw(random, &b, mode, half, 0);
  }
  if (mode == 2 && i / 5 % 2) x->ct = 0;
  if (mode == 4) cancel(x, random, &a, &b);
  for (size_t j = 0; j < x->scales; j++) {
    x->sa[j] = draw_scale(random, mode, x->scale.e == 8);
    x->sb[j] = draw_scale(random, mode, x->scale.e == 8);
  }
}

static uint32_t hash_bytes(uint32_t h, uint64_t d, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) h = (h ^ (uint32_t)(d >> 8 * i & 0xFF)) * 0x01000193u;
  return h;
}

static uint64_t plain_nan(hu_type element, uint64_t d) {
  if (!is_nan(element, d)) return d;
  return element.kind == HU_TYPE_BINARY64 ? 0x7FF8000000000000u : hu_type_width(element) == 32 ? 0x7FC00000 : 0x7E00;
}

static void check_hashes(const char *line) {
  static t_dot x;
  unsigned number, k, hash[5], got[5];
  unsigned long long first[5];
  char model[64];
  hu_accum_preset preset;
  if (sscanf(line, "%u %63s %u %x %x %x %x %x %llx %llx %llx %llx %llx", &number, model, &k, &hash[0], &hash[1],
             &hash[2], &hash[3], &hash[4], &first[0], &first[1], &first[2], &first[3], &first[4]) != 13)
    fail_msg("line: %.80s", line);
  assert_int_equal(hu_accum_preset_find(&preset, model), HU_OK);
  memset(&x, 0, sizeof x);
  x.a = preset.a;
  x.b = preset.b;
  x.c = preset.c;
  x.accum = preset.accum;
  x.scale = preset.accum.block.scale;
  x.has_c = 1;
  x.n = preset.accum.block.rule == HU_BLOCK_ALIGN && preset.accum.block.every ? 32 : 2 * k;
  if (preset.accum.block.every) x.scales = x.n / preset.accum.block.every;
  t_random random = {number};
  for (unsigned i = 0; i < 5; i++) got[i] = 0x811C9DC5u;
  for (unsigned i = 0; i < 2500; i++) {
    uint32_t events;
    draw_vector(&x, &random, number, i);
    uint64_t d = dot_library(&x, &events), other = reference_dot(&x, &events);
    if (d != other)
      fail_msg("%s, vector %u: library %llx, reference %llx: %s", model, i, (unsigned long long)d,
               (unsigned long long)other, dot_text(&x));
    d = plain_nan(x.c, d);
    if (i < 5 && d != first[i])
      fail_msg("%s, vector %u: %llx, the line says %llx: %s", model, i, (unsigned long long)d, first[i], dot_text(&x));
    got[i % 5] = hash_bytes(got[i % 5], d, hu_type_size(x.c));
  }
  for (unsigned i = 0; i < 5; i++)
    if (got[i] != hash[i]) fail_msg("%s, mode %u: hash %08x, the line says %08x", model, i, got[i], hash[i]);
}

static unsigned long every = 1; /* of the hashes only every so manyth model: where a dot product takes long */

static void hashes(void **state) {
  t_reader reader = start(*state, "mma/hashes.txt");
  for (char *line; (line = next_line(&reader)) != NULL;)
    if (reader.seen % every == 0) check_hashes(line);
  print_message("hashes: %lu models, 2500 dot products each\n", reader.seen / every);
}

/* ---- the two long vectors ---- */

static void long_vector(t_dot *x, int second) {
  x->n = second ? 1024 : 256;
  for (uint32_t k = 0; k < x->n; k++) {
    uint32_t h = (40503 * (second ? k : k + 1) + (second ? 77 : 0)) & 0xFFFF;
    uint32_t g = (25717 * (second ? k : k + 1) + 4321) & 0xFFFF;
    if (second) {
      x->at[k] = (h >> 8 & 0x7F) - ((h >> 8 & 0x7F) == 0x7F);
      x->bt[k] = (g >> 8 & 0x7F) - ((g >> 8 & 0x7F) == 0x7F);
    } else {
      x->at[k] = (h & 0x8000) | (13 + (h >> 10 & 3)) << 10 | (h & 0x3FF);
      x->bt[k] = (g & 0x8000) | (13 + (g >> 10 & 3)) << 10 | (g & 0x3FF);
    }
  }
  for (uint32_t j = 0; j < (x->accum.scaled ? 8u : 0u); j++, x->scales++) {
    x->sa[j] = 0x3F800000 + 0x12345 * (j + 1);
    x->sb[j] = 0x3F000000 + 0x23456 * (j + 1);
  }
}

static void vectors(void **state) {
  static t_dot x;
  t_reader reader = start(*state, "mma/vectors.txt");
  for (char *line; (line = next_line(&reader)) != NULL;) {
    char vector[8], model[128], fd[32];
    unsigned d;
    if (sscanf(line, "%7s %127s %31s %x", vector, model, fd, &d) != 4) fail_msg("line: %.80s", line);
    int second = strcmp(vector, "V2") == 0;
    memset(&x, 0, sizeof x);
    x.c = dot_element(fd);
    use_model(&x, model);
    x.a = x.b = dot_element(second ? "float8_e4m3fn" : "binary16");
    long_vector(&x, second);
    both(&x, d, 0, vector);
  }
  print_message("vectors: %lu lines\n", reader.seen);
}

int main(int argc, char **argv) {
  if (dot_unavailable()) return 77;
  void *directory = argc > 1 ? argv[1] : (char *)".";
  if (argc > 2) every = strtoul(argv[2], NULL, 10);
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(probes, directory),
                                     cmocka_unit_test_prestate(hashes, directory),
                                     cmocka_unit_test_prestate(vectors, directory)};
  return cmocka_run_group_tests_name("mma_golden", tests, NULL, NULL);
}
