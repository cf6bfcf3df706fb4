/* SPDX-License-Identifier: MIT */
/* hu_dot and hu_gemm on a device against the same on the CPU under every accumulation model and preset: operands
 * that hurt (tests/accum/draws.h), every element, scales, layouts, random words, events, C in place; the errors. */
#include "tests/cuda_host/twin.h"

#include "gpu/gemm/seq.h"
#include "gpu/gemm/unfused.h"
#include "tests/accum/draws.h"

enum { MOST = 40, TERMS = 48 };

static void expect_same(const t_twin *twin, const char *what, const t_dot *x) {
  size_t at = twin_differs(twin);
  if (at < twin->bytes) fail_msg("%s: byte %zu of %zu differs: %s", what, at, twin->bytes, dot_text(x));
}

static void expect_events(const t_twin *twin, const t_dot *x) {
  if (twin_differs(twin) == twin->bytes) return;
  for (size_t i = 0; i < twin->bytes / 8; i++)
    print_error(" %zu/%zu", (size_t)((uint64_t *)(void *)twin->host)[i], (size_t)((uint64_t *)(void *)twin->back)[i]);
  fail_msg(" events on the CPU and on the device: %s", dot_text(x));
}

static t_twin events_new(void) {
  t_twin twin = twin_new(sizeof(hu_events));
  memset(twin.host, 0, twin.bytes);
  twin_put(&twin);
  return twin;
}

/* ---- dot products ---- */

/* `count` vectors of n elements, in a layout of their own; step 0: one vector for all. */
typedef struct t_walk {
  t_twin bytes;
  size_t base, size;
  hu_view cpu, device;
} t_walk;

static t_walk walk_new(t_random *random, size_t count, size_t n, hu_type type, int may_repeat) {
  static const int strides[] = {1, 1, 2, -1, -3};
  t_walk walk;
  memset(&walk, 0, sizeof walk);
  ptrdiff_t stride = strides[t_below(random, 5)], step = (ptrdiff_t)(n * (size_t)(stride < 0 ? -stride : stride));
  step += (ptrdiff_t)t_below(random, 3);
  if (t_below(random, 3) == 0) step = 1, stride = (ptrdiff_t)count;
  if (t_below(random, 4) == 0) step = -step;
  if (may_repeat && t_below(random, 5) == 0) step = 0;
  ptrdiff_t last_i = (ptrdiff_t)(count ? count - 1 : 0) * step, last_k = (ptrdiff_t)(n ? n - 1 : 0) * stride;
  walk.size = hu_type_size(type);
  walk.base = (size_t)((last_i < 0 ? -last_i : 0) + (last_k < 0 ? -last_k : 0));
  size_t past = walk.base + (size_t)((last_i > 0 ? last_i : 0) + (last_k > 0 ? last_k : 0)) + 1;
  walk.bytes = twin_new(past * walk.size);
  walk.cpu.type = type;
  walk.cpu.stride = stride;
  walk.cpu.row = step;
  walk.device = walk.cpu;
  walk.cpu.data = walk.bytes.host + walk.base * walk.size;
  walk.device.data = walk.bytes.device + walk.base * walk.size;
  return walk;
}

static void walk_put(const t_walk *walk, size_t i, size_t k, uint64_t x) {
  dot_store(walk->bytes.host,
            (size_t)((ptrdiff_t)walk->base + (ptrdiff_t)i * walk->cpu.row + (ptrdiff_t)k * walk->cpu.stride),
            walk->size, x);
}

enum { A, B, C, SA, SB, VECTORS };

static void draw_batch(t_dot *x, t_random *random, size_t count, t_walk walk[VECTORS]) {
  for (size_t i = 0; i < count; i++) {
    draw_operands(x, random);
    for (size_t k = 0; k < x->n; k++) {
      walk_put(&walk[A], i, k, x->at[k]);
      walk_put(&walk[B], i, k, x->bt[k]);
    }
    walk_put(&walk[C], i, 0, x->ct);
    for (size_t j = 0; j < x->scales; j++) {
      walk_put(&walk[SA], i, j, x->sa[j]);
      walk_put(&walk[SB], i, j, x->sb[j]);
    }
  }
  for (int v = 0; v < VECTORS; v++) twin_put(&walk[v].bytes);
}

static void run_batch(t_dot *x, t_random *random, size_t count, size_t n) {
  size_t every = x->accum.scaled ? x->accum.promote : x->accum.block.every, size = hu_type_size(x->c);
  size_t scales = every ? (n + every - 1) / every : 0;
  hu_type scale = hu_type_codes(every ? x->scale : hu_format_ieee(8, 23, 0));
  x->n = n;
  t_walk walk[VECTORS] = {walk_new(random, count, n, x->a, 1), walk_new(random, count, n, x->b, 1),
                          walk_new(random, count, 1, x->c, 1), walk_new(random, count, scales, scale, 1),
                          walk_new(random, count, scales, scale, 1)};
  draw_batch(x, random, count, walk);
  ptrdiff_t incz = t_below(random, 2) ? 1 : -2;
  t_twin z = twin_new((2 * count + 1) * size), twin = events_new();
  twin_put(&z);
  size_t first = incz < 0 ? 2 * count * size : 0;
  hu_product cpu = hu_product_of_dot(n, hu_output_of(z.host + first, 1, x->c), walk[A].cpu, walk[B].cpu, &x->accum);
  cpu.m = count;
  cpu.d.row = incz;
  cpu.c = walk[C].cpu;
  cpu.sa = walk[SA].cpu;
  cpu.sb = walk[SB].cpu;
  if (!scales) cpu.sa.data = cpu.sb.data = NULL;
  if (t_below(random, 6) == 0) cpu.c.data = NULL;
  hu_product device = cpu;
  device.d.data = z.device + first;
  device.a = walk[A].device;
  device.b = walk[B].device;
  if (cpu.c.data) device.c = walk[C].device;
  if (scales) device.sa = walk[SA].device;
  if (scales) device.sb = walk[SB].device;
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.stream.key = x->key;
  exec.stream.counter = x->element;
  hu_how here = hu_how_of(x->mode, &exec, (hu_events *)(void *)twin.host);
  hu_how there = hu_how_of(x->mode, twin_there(&exec), (hu_events *)(void *)twin.device);
  hu_status status[2] = {hu_dot(&cpu, &here), hu_dot(&device, &there)};
  if (status[0] != HU_OK || status[1] != HU_OK)
    fail_msg("%s, %s: %s", hu_status_name(status[0]), hu_status_name(status[1]), dot_text(x));
  expect_same(&z, "dot products", x);
  expect_events(&twin, x);
  for (int v = 0; v < VECTORS; v++) {
    expect_same(&walk[v].bytes, "operand", x);
    twin_free(&walk[v].bytes);
  }
  twin_free(&z);
  twin_free(&twin);
}

/* Models that take their elements: hu_dot says so. */
static int draw_usable(t_dot *x, t_random *random, unsigned i) {
  uint64_t any[4] = {0, 0, 0, 0}, z = 0;
  draw_model(x, random, i % HU_ACCUM_COUNT, (uint8_t)(i / HU_ACCUM_COUNT % HU_BLOCK_RULES));
  hu_how how = hu_how_of(x->mode, NULL, NULL);
  hu_product in =
      hu_product_of_dot(1, hu_output_of(&z, 1, x->c), hu_view_of(any, 1, x->a), hu_view_of(any, 1, x->b), &x->accum);
  in.c = hu_view_of(any, 1, x->c);
  if (hu_accum_is_scaled(&x->accum)) in.sa = in.sb = hu_codes(any, 1, x->scale);
  return hu_dot(&in, &how) == HU_OK;
}

static void dot_models(void **state) {
  static t_dot x;
  t_random random = {t_seed("dot_models", 40)};
  unsigned long done = 0, sums = 0;
  (void)state;
  for (unsigned i = 0; done < t_part(1800); i++) {
    if (!draw_usable(&x, &random, i)) continue;
    size_t count = 1 + t_below(&random, MOST), n = t_below(&random, 8) ? t_below(&random, TERMS) : 0;
    run_batch(&x, &random, count, n);
    sums += count;
    done++;
  }
  print_message("%lu batches under as many models, %lu sums in all\n", done, sums);
}

static void dot_presets(void **state) {
  static t_dot x;
  t_random random = {t_seed("dot_presets", 41)};
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    assert_int_equal(hu_accum_preset_at(&preset, i), HU_OK);
    draw_preset(&x, &preset);
    run_batch(&x, &random, 64, 2 * preset.k);
    run_batch(&x, &random, 9, 1 + t_below(&random, 2 * preset.k));
  }
  print_message("%zu presets' calls, sums in two batches each\n", hu_accum_preset_count());
}

/* ---- matrix products ---- */

typedef struct t_matrix {
  t_twin bytes;
  size_t size, rows, cols;
  hu_view cpu, device;
} t_matrix;

static int codes_only; /* no binary32 values */

static t_matrix matrix_new(t_random *random, size_t rows, size_t cols, hu_format format, int plain) {
  t_matrix z;
  memset(&z, 0, sizeof z);
  int values = hu_format_fits_binary32(format) && t_below(random, 2) && !codes_only,
      turned = !plain && t_below(random, 2);
  z.rows = rows;
  z.cols = cols;
  z.size = values ? 4 : hu_limits_of(format).storage / 8;
  size_t ld = (turned ? rows : cols) + t_below(random, 4);
  z.bytes = twin_new(((turned ? cols : rows) * ld + 1) * z.size);
  z.cpu = hu_matrix_of(z.bytes.host, ld, hu_type_values(values ? HU_TYPE_VALUES32 : HU_TYPE_CODES, format));
  if (turned) z.cpu = hu_transposed(z.cpu);
  z.device = z.cpu;
  z.device.data = z.bytes.device;
  return z;
}

static void matrix_put(const t_matrix *z, size_t i, size_t j, uint64_t code) {
  size_t at = i * (size_t)z->cpu.row + j * (size_t)z->cpu.stride;
  if (z->cpu.type.kind == HU_TYPE_VALUES32) code = t_bits32(hu_decode(z->cpu.type.format, (uint32_t)code));
  dot_store(z->bytes.host, at, z->size, code);
}

/* The operands of a product; those of models without scales have no columns of sa, no rows of sb. */
typedef struct t_operands {
  t_matrix a, b, c, sa, sb;
} t_operands;

static void draw_matrices(t_dot *x, t_random *random, const t_operands *in) {
  const t_matrix *all[] = {&in->a, &in->b, &in->c, &in->sa, &in->sb};
  x->n = in->a.cols;
  for (size_t i = 0; i < in->a.rows; i++) {
    draw_operands(x, random);
    for (size_t k = 0; k < x->n; k++) matrix_put(&in->a, i, k, x->at[k]);
    for (size_t k = 0; k < in->sa.cols; k++) matrix_put(&in->sa, i, k, x->sa[k]);
  }
  for (size_t j = 0; j < in->b.cols; j++) {
    draw_operands(x, random);
    for (size_t k = 0; k < x->n; k++) matrix_put(&in->b, k, j, x->bt[k]);
    for (size_t k = 0; k < in->sb.rows; k++) matrix_put(&in->sb, k, j, x->sb[k]);
    for (size_t i = 0; i < in->a.rows; i++) matrix_put(&in->c, i, j, i % 3 ? x->ct : x->ct / 2);
  }
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) twin_put(&all[i]->bytes);
}

static hu_status call_product(int on_device, const t_dot *x, const t_operands *in, const hu_output *result, int with_c,
                              const hu_exec *exec, hu_events *events) {
#define SIDE(t) (on_device ? in->t.device : in->t.cpu)
  hu_product product = {.m = in->a.rows, .n = in->b.cols, .k = in->a.cols, .d = *result, .accum = &x->accum};
  hu_how how = {x->mode, on_device ? twin_there(exec) : exec, events};
  product.a = SIDE(a);
  product.b = SIDE(b);
  if (with_c) product.c = SIDE(c);
  if (hu_accum_is_scaled(&x->accum)) product.sa = SIDE(sa), product.sb = SIDE(sb);
#undef SIDE
  return hu_multiply(&product, &how);
}

static void run_product(t_dot *x, t_random *random, size_t m, size_t n, size_t k, hu_format fd) {
  int in_place = t_below(random, 4) == 0, with_c = in_place || t_below(random, 4),
      scaled = hu_accum_is_scaled(&x->accum);
  size_t every = x->accum.scaled ? x->accum.promote : x->accum.block.every,
         scales = scaled ? (k + every - 1) / every : 0;
  hu_format fs = scaled ? x->scale : x->a.format;
  t_operands in;
  in.a = matrix_new(random, m, k, x->a.format, 0);
  in.b = matrix_new(random, k, n, x->b.format, 0);
  in.c = matrix_new(random, m, n, x->c.format, in_place);
  in.sa = matrix_new(random, m, scales, fs, !scaled);
  in.sb = matrix_new(random, scales, n, fs, !scaled);
  t_matrix matrix = matrix_new(random, m, n, fd, 1);
  draw_matrices(x, random, &in);
  twin_put(&matrix.bytes);
  const t_matrix *out = in_place ? &in.c : &matrix;
  t_twin twin = events_new();
  hu_output cpu = hu_matrix_out_of(out->bytes.host, (size_t)out->cpu.row, out->cpu.type), device = cpu;
  device.data = out->bytes.device;
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.stream.key = x->key;
  exec.stream.counter = x->element;
  hu_status status[2] = {call_product(0, x, &in, &cpu, with_c, &exec, (hu_events *)(void *)twin.host),
                         call_product(1, x, &in, &device, with_c, &exec, (hu_events *)(void *)twin.device)};
  if (status[0] != HU_OK || status[1] != HU_OK)
    fail_msg("%s, %s: %s", hu_status_name(status[0]), hu_status_name(status[1]), dot_text(x));
  expect_same(&out->bytes, "product", x);
  expect_events(&twin, x);
  t_twin *all[] = {&in.a.bytes, &in.b.bytes, &in.c.bytes, &in.sa.bytes, &in.sb.bytes, &matrix.bytes, &twin};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) twin_free(all[i]);
}

static void gemm_models(void **state) {
  static t_dot x;
  t_random random = {t_seed("gemm_models", 42)};
  unsigned long done = 0;
  (void)state;
  for (unsigned i = 0; done < t_part(1500); i++) {
    if (!draw_usable(&x, &random, i) || !dot_is_of_codes(&x)) continue;
    hu_format fd = t_below(&random, 2) ? x.c.format : t_random_format(&random, 2, 16);
    run_product(&x, &random, 1 + t_below(&random, 20), 1 + t_below(&random, 20), t_below(&random, TERMS), fd);
    done++;
  }
  print_message("%lu products of matrices under as many models\n", done);
}

static void gemm_presets(void **state) {
  static t_dot x;
  t_random random = {t_seed("gemm_presets", 43)};
  unsigned long done = 0;
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    assert_int_equal(hu_accum_preset_at(&preset, i), HU_OK);
    draw_preset(&x, &preset);
    if (!dot_is_of_codes(&x)) continue;
    const int few = t_part(100) < 10; /* under the interpreter of PTX */
    run_product(&x, &random, few && i % 2 ? 3 : 17, few && i % 2 == 0 ? 3 : 19, 2 * preset.k, preset.c.format);
    if (hu_accum_is_scaled(&preset.accum))
      run_product(&x, &random, 40, 18, 2 * preset.k + preset.k / 2, preset.c.format);
    done++;
  }
  assert_true(done > 100);
  print_message("%lu products of matrices under presets\n", done);
}

/* seq(F), ties to even, where binary32 arithmetic serves (gpu/gemm/seq.h), and beside it; sizes around the tiles'
 * edges. */
static hu_format seq_format(t_random *random) {
  static const char *const usual[] = {"binary16",        "bfloat16",   "float8_e4m3fn", "float8_e5m2",
                                      "fp(8,10,0)",      "dlfloat16",  "fp(6,9,0)",     "fp(5,11,0)",
                                      "float8_e4m3fnuz", "fp(8,11,0)", "float6_e3m2fn", "fp(3,1,90)"};
  hu_format format;
  if (t_below(random, 4) == 0) return t_random_format(random, 3, 13);
  assert_int_equal(hu_format_parse(&format, usual[t_below(random, sizeof usual / sizeof usual[0])], NULL), HU_OK);
  return format;
}

static void seq_formats(void **state) {
  static t_dot x;
  t_random random = {t_seed("seq_formats", 44)};
  unsigned long done = 0, served = 0, products = 0;
  (void)state;
  for (; done < t_part(360); done++) {
    do draw_model(&x, &random, HU_ACCUM_SEQ, 0);
    while (hu_accum_is_scaled(&x.accum));
    x.accum.promote = x.accum.slices = 0;
    memset(&x.accum.promoted, 0, sizeof x.accum.promoted);
    x.accum.sum = seq_format(&random);
    x.accum.mode.round = HU_RNE;
    x.accum.mode.bits = 0;
    if (hu_mode_check(x.accum.mode) != HU_OK) memset(&x.accum.mode, 0, sizeof x.accum.mode);
    if (t_below(&random, 2)) x.a.format = x.b.format = x.c.format = x.accum.sum;
    hu_seq_args args;
    served += (unsigned long)hui_seq_plan(&args, x.a.format, x.b.format, &x.c.format, &x.accum);
    size_t large = done % 30 == 0 ? 150 : 24, m = 1 + t_below(&random, (uint32_t)large),
           n = 1 + t_below(&random, (uint32_t)large);
    size_t k = t_below(&random, done % 30 ? DOT_TERMS / 8 : 40);
    run_product(&x, &random, m, n, k, t_below(&random, 2) ? x.accum.sum : hu_format_ieee(8, 23, 0));
    products += m * n * k;
  }
  assert_true(served > done / 2);
  print_message("%lu products of matrices under seq(F), %lu served by binary32 arithmetic, %lu multiplications\n", done,
                served, products);
}

/* seq(binary16) and seq(bfloat16) of their own codes: the device's fused multiply-adds of pairs. */
static void half_pairs(void **state) {
  static t_dot x;
  t_random random = {t_seed("half_pairs", 46)};
  (void)state;
  for (unsigned i = 0; i < t_part(120); i++) {
    do draw_model(&x, &random, HU_ACCUM_SEQ, 0);
    while (hu_accum_is_scaled(&x.accum));
    x.accum.promote = x.accum.slices = 0;
    memset(&x.accum.promoted, 0, sizeof x.accum.promoted);
    memset(&x.accum.mode, 0, sizeof x.accum.mode);
    x.accum.sum = i % 2 ? hu_format_ieee(5, 10, 0) : hu_format_ieee(8, 7, 0);
    x.a.format = x.b.format = x.c.format = x.accum.sum;
    codes_only = i % 8 != 0;
    size_t most = i % 20 == 0 ? 140 : 20;
    run_product(&x, &random, 1 + t_below(&random, (uint32_t)most), 1 + t_below(&random, (uint32_t)most),
                t_below(&random, 50), t_below(&random, 2) ? x.accum.sum : hu_format_ieee(8, 23, 0));
  }
  codes_only = 0;
  print_message("120 products of matrices under seq(binary16) and seq(bfloat16)\n");
}

/* Models that round each product before they add it, where binary64 or the device's binary32 serve
 * (gpu/gemm/unfused.h), and beside it; parts and trees of any length, among them more than one slab. */
static hu_format unfused_format(t_random *random) {
  static const char *const usual[] = {"binary32",      "binary16",    "bfloat16",   "float8_e4m3fn",   "float8_e5m2",
                                      "dlfloat16",     "fp(6,9,0)",   "fp(5,15,0)", "float8_e4m3fnuz", "fp(8,20,0)",
                                      "float6_e3m2fn", "float8_e3m4", "fp(3,1,90)", "fp(8,23,-8)",     "fp(4,1,-60)"};
  hu_format format;
  if (t_below(random, 3) == 0 ||
      hu_format_parse(&format, usual[t_below(random, sizeof usual / sizeof usual[0])], NULL) != HU_OK)
    return t_below(random, 2) ? hu_format_ieee(8, 23, 0) : t_random_format(random, 3, 16);
  return format;
}

static void draw_unfused(t_dot *x, t_random *random, uint32_t kind) {
  hu_accum *m = &x->accum;
  do draw_model(x, random, kind, 0);
  while (hu_accum_is_scaled(m));
  m->slices = 0;
  m->sum = m->product = unfused_format(random);
  if (kind != HU_ACCUM_SEQ2 && kind != HU_ACCUM_CHUNK) memset(&m->product, 0, sizeof m->product);
  if (m->product.m && t_below(random, 3) == 0) m->product = unfused_format(random);
  if (m->promote && t_below(random, 3)) m->promoted = hu_format_ieee(8, 23, 0);
  if (m->promote || m->length) {
    uint32_t length = (uint32_t)t_between(random, 1, t_below(random, 3) ? 20 : 70);
    if (m->promote) m->promote = length;
    if (m->length) m->length = length;
  }
  memset(&m->mode, 0, sizeof m->mode);
  if (t_below(random, 4) == 0) m->mode.saturate = (uint8_t)t_below(random, HU_SAT_PROPAGATE + 1);
  if (t_below(random, 16) == 0) m->mode.round = HU_RTZ;
  if (t_below(random, 8)) x->c.format = m->promote ? m->promoted : m->sum;
  if (t_below(random, 2)) x->a.format = x->b.format = m->sum;
}

static void unfused_models(void **state) {
  static const uint32_t kinds[] = {HU_ACCUM_SEQ2,    HU_ACCUM_CHUNK, HU_ACCUM_PAIRWISE,
                                   HU_ACCUM_STRIDED, HU_ACCUM_KAHAN, HU_ACCUM_NEUMAIER};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  static t_dot x;
  t_random random = {t_seed("unfused_models", 47)};
  unsigned long done = 0, served = 0, single = 0;
  (void)state;
  for (unsigned i = 0; done < t_part(600); i++) {
    draw_unfused(&x, &random, kinds[i % KINDS]);
    if (hu_accum_check(&x.accum) != HU_OK) continue;
    hu_unfused_args args;
    size_t most = done % 30 == 0 ? 40 : 12, k = t_below(&random, done % 5 ? 40 : 150);
    if (hui_unfused_plan(&args, k, x.a.format, x.b.format, &x.c.format, &x.accum)) {
      served++;
      single += args.single;
    }
    run_product(&x, &random, 1 + t_below(&random, (uint32_t)most), 1 + t_below(&random, (uint32_t)most), k,
                t_below(&random, 2) ? x.c.format : hu_format_ieee(8, 23, 0));
    done++;
  }
  print_message("%lu products of matrices under unfused models, %lu of them served, %lu in binary32\n", done, served,
                single);
  assert_true(3 * served > done && 40 * single > done);
}

/* block(align,cut=trunc), where products in binary32 serve, and beside it. */
static void align_blocks(void **state) {
  static t_dot x;
  t_random random = {t_seed("align_blocks", 45)};
  unsigned long done = 0, presets = 0;
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    assert_int_equal(hu_accum_preset_at(&preset, i), HU_OK);
    if (preset.accum.kind != HU_ACCUM_BLOCK || preset.accum.block.rule != HU_BLOCK_ALIGN || preset.accum.block.every)
      continue;
    const uint32_t few = t_part(100) < 10, most = few ? 18 : 40; /* few: under the interpreter of PTX */
    for (uint32_t again = 2 * few; again < 3; again++) {
      draw_preset(&x, &preset);
      run_product(&x, &random, 1 + t_below(&random, most), 1 + t_below(&random, most), 1 + t_below(&random, 100),
                  preset.c.format);
    }
    presets++;
  }
  while (done < t_part(400)) {
    draw_model(&x, &random, HU_ACCUM_BLOCK, HU_BLOCK_ALIGN);
    hu_block *b = &x.accum.block;
    x.accum.promote = x.accum.slices = x.accum.scaled = 0;
    memset(&x.accum.promoted, 0, sizeof x.accum.promoted);
    memset(&b->scale, 0, sizeof b->scale);
    b->every = 0;
    b->scaling = HU_BLOCK_SCALING_TERMS;
    b->cut = HU_BLOCK_CUT_TRUNC;
    b->length = (uint16_t)(1 << t_between(&random, b->order ? 1 : 0, 5));
    if (t_below(&random, 4)) b->kept = (uint16_t)t_between(&random, 8, 29);
    hu_view a = hu_matrix_codes(&x, 100, x.a.format), c = hu_matrix_codes(&x, 100, x.c.format);
    a.data = c.data = x.at;
    hu_view ob = hu_matrix_codes(x.at, 100, x.b.format);
    hu_output result = hu_matrix_codes_out(x.bt, 100, x.c.format);
    if (hu_gemm(0, 1, 1, &result, &a, &ob, &c, &x.accum, &(hu_how){x.mode, NULL, NULL}) != HU_OK) continue;
    run_product(&x, &random, 1 + t_below(&random, 30), 1 + t_below(&random, 30), t_below(&random, 90), x.c.format);
    done++;
  }
  assert_true(presets > 50);
  print_message("%lu presets and %lu drawn products of matrices of aligned blocks\n", presets, done);
}

/* ---- errors: those of hu_dot ---- */

static void both_refuse(hu_status expected, hu_product x, hu_mode mode) {
  hu_events events;
  memset(&events, 0, sizeof events);
  hu_how here = hu_how_of(mode, NULL, &events), there = hu_how_of(mode, twin_there(NULL), NULL);
  assert_int_equal(hu_dot(&x, &here), expected);
  assert_int_equal(hu_dot(&x, &there), expected);
}

static void dot_errors(void **state) {
  static t_dot x;
  static uint64_t buffer[8], sums[8];
  hu_accum_preset preset;
  (void)state;
  assert_int_equal(hu_accum_preset_find(&preset, "nv.ampere.f16.f32"), HU_OK);
  draw_preset(&x, &preset);
  hu_product in = hu_product_of_dot(2, hu_output_of(sums, 1, preset.c), hu_view_of(buffer, 1, preset.a),
                                    hu_view_of(buffer, 1, preset.b), &x.accum);
  in.m = 2;
  in.d.row = in.a.row = in.b.row = 1;
  hu_product bad = in;
  bad.a.data = NULL;
  both_refuse(HU_E_NULL, bad, x.mode);
  bad = in;
  bad.a.data = (uint8_t *)buffer + 1;
  both_refuse(HU_E_ALIGN, bad, x.mode);
  bad = in;
  bad.sa = bad.sb = in.a;
  both_refuse(HU_E_ACCUM, bad, x.mode);
  bad = in;
  bad.a.type.kind = HU_TYPE_INT8;
  both_refuse(HU_E_OPERAND_A, bad, x.mode);
  bad = in;
  bad.a.type.kind = HU_TYPE_NONE;
  both_refuse(HU_E_FORMAT, bad, x.mode);
  bad = in;
  bad.d.data = NULL;
  both_refuse(HU_E_NULL, bad, x.mode);
  bad.d.data = buffer;
  both_refuse(HU_E_OVERLAP, bad, x.mode);
  bad = in;
  bad.k = SIZE_MAX / 2;
  both_refuse(HU_E_SHAPE, bad, x.mode);
  x.accum.block.length = 0;
  both_refuse(HU_E_ACCUM, in, x.mode);
  draw_preset(&x, &preset);
  x.mode.round = HU_ROUND_COUNT;
  both_refuse(HU_E_MODE, in, x.mode);
  x.mode.round = HU_RNE;
  hu_how there = hu_how_of(x.mode, twin_there(NULL), (hu_events *)(void *)((char *)buffer + 1));
  assert_int_equal(hu_dot(&in, &there), HU_E_ALIGN);
  there.events = NULL;
  hu_watch watch = {0, 0, 0, 0};
  bad = in;
  bad.watch = &watch;
  assert_int_equal(hu_dot(&bad, &there), HU_E_DEVICE);
  in.m = 0;
  in.d.data = NULL;
  assert_int_equal(hu_dot(&in, &there), HU_OK);
  print_message("13 refusals\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dot_models),   cmocka_unit_test(dot_presets),    cmocka_unit_test(gemm_models),
      cmocka_unit_test(gemm_presets), cmocka_unit_test(seq_formats),    cmocka_unit_test(half_pairs),
      cmocka_unit_test(align_blocks), cmocka_unit_test(unfused_models), cmocka_unit_test(dot_errors),
  };
  int skip = twin_skip("device models");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
