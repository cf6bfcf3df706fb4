/* SPDX-License-Identifier: MIT */
/* hu_device_dot_n and hu_device_gemm against hu_dot_n and hu_gemm under every accumulation model and preset: operands
 * that hurt (tests/accum/draws.h), every element, scales, layouts, random words, events, C in place; the errors. */
#include "tests/cuda_host/twin.h"

#include "gpu/gemm/seq.h"
#include "gpu/gemm/unfused.h"
#include "halfulp/device_scaled.h"
#include "tests/accum/draws.h"

enum { MOST = 40, TERMS = 48 };

static void expect_same(const t_twin *t, const char *what, const t_dot *x) {
  size_t at = twin_differs(t);
  if (at < t->bytes) fail_msg("%s: byte %zu of %zu differs: %s", what, at, t->bytes, dot_text(x));
}

static void expect_events(const t_twin *e, const t_dot *x) {
  if (twin_differs(e) == e->bytes) return;
  for (size_t i = 0; i < e->bytes / 8; i++)
    print_error(" %zu/%zu", (size_t)((uint64_t *)(void *)e->host)[i], (size_t)((uint64_t *)(void *)e->back)[i]);
  fail_msg(" events on the CPU and on the device: %s", dot_text(x));
}

static t_twin events_new(void) {
  t_twin e = twin_new(sizeof(hu_events));
  memset(e.host, 0, e.bytes);
  twin_put(&e);
  return e;
}

/* ---- dot products ---- */

/* `count` vectors of n elements, in a layout of their own; step 0: one vector for all. */
typedef struct t_walk {
  t_twin bytes;
  size_t base, size;
  hu_vector cpu, device;
} t_walk;

static t_walk walk_new(t_random *r, size_t count, size_t n, hu_element e, int may_repeat) {
  static const int strides[] = {1, 1, 2, -1, -3};
  t_walk w;
  memset(&w, 0, sizeof w);
  ptrdiff_t stride = strides[t_below(r, 5)], step = (ptrdiff_t)(n * (size_t)(stride < 0 ? -stride : stride));
  step += (ptrdiff_t)t_below(r, 3);
  if (t_below(r, 3) == 0) step = 1, stride = (ptrdiff_t)count;
  if (t_below(r, 4) == 0) step = -step;
  if (may_repeat && t_below(r, 5) == 0) step = 0;
  ptrdiff_t last_i = (ptrdiff_t)(count ? count - 1 : 0) * step, last_k = (ptrdiff_t)(n ? n - 1 : 0) * stride;
  w.size = hu_element_size(e);
  w.base = (size_t)((last_i < 0 ? -last_i : 0) + (last_k < 0 ? -last_k : 0));
  size_t past = w.base + (size_t)((last_i > 0 ? last_i : 0) + (last_k > 0 ? last_k : 0)) + 1;
  w.bytes = twin_new(past * w.size);
  w.cpu.element = e;
  w.cpu.stride = stride;
  w.cpu.step = step;
  w.device = w.cpu;
  w.cpu.data = w.bytes.host + w.base * w.size;
  w.device.data = w.bytes.device + w.base * w.size;
  return w;
}

static void walk_put(const t_walk *w, size_t i, size_t k, uint64_t x) {
  dot_store(w->bytes.host, (size_t)((ptrdiff_t)w->base + (ptrdiff_t)i * w->cpu.step + (ptrdiff_t)k * w->cpu.stride),
            w->size, x);
}

enum { A, B, C, SA, SB, VECTORS };

static void draw_batch(t_dot *x, t_random *r, size_t count, t_walk w[VECTORS]) {
  for (size_t i = 0; i < count; i++) {
    draw_operands(x, r);
    for (size_t k = 0; k < x->n; k++) {
      walk_put(&w[A], i, k, x->at[k]);
      walk_put(&w[B], i, k, x->bt[k]);
    }
    walk_put(&w[C], i, 0, x->ct);
    for (size_t j = 0; j < x->scales; j++) {
      walk_put(&w[SA], i, j, x->sa[j]);
      walk_put(&w[SB], i, j, x->sb[j]);
    }
  }
  for (int v = 0; v < VECTORS; v++) twin_put(&w[v].bytes);
}

static void run_batch(t_dot *x, t_random *r, size_t count, size_t n) {
  size_t every = x->accum.scaled ? x->accum.promote : x->accum.block.every, size = hu_element_size(x->c);
  size_t scales = every ? (n + every - 1) / every : 0;
  hu_element scale;
  memset(&scale, 0, sizeof scale);
  scale.format = every ? x->scale : hu_format_ieee(8, 23, 0);
  x->n = n;
  t_walk w[VECTORS] = {walk_new(r, count, n, x->a, 1), walk_new(r, count, n, x->b, 1), walk_new(r, count, 1, x->c, 1),
                       walk_new(r, count, scales, scale, 1), walk_new(r, count, scales, scale, 1)};
  draw_batch(x, r, count, w);
  ptrdiff_t incz = t_below(r, 2) ? 1 : -2;
  t_twin z = twin_new((2 * count + 1) * size), e = events_new();
  twin_put(&z);
  size_t first = incz < 0 ? 2 * count * size : 0;
  hu_dot_operands cpu = {w[A].cpu, w[B].cpu, w[C].cpu, w[SA].cpu, w[SB].cpu};
  hu_dot_operands device = {w[A].device, w[B].device, w[C].device, w[SA].device, w[SB].device};
  if (!scales) cpu.sa.data = cpu.sb.data = device.sa.data = device.sb.data = NULL;
  if (t_below(r, 6) == 0) cpu.c.data = device.c.data = NULL;
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.stream.key = x->key;
  exec.stream.counter = x->element;
  hu_status s[2] = {
      hu_dot_n(count, n, z.host + first, incz, x->c, &cpu, &x->accum, x->mode, &exec, (hu_events *)(void *)e.host),
      hu_device_dot_n(count, n, z.device + first, incz, x->c, &device, &x->accum, x->mode, &exec,
                      (hu_events *)(void *)e.device, twin_stream())};
  if (s[0] != HU_OK || s[1] != HU_OK) fail_msg("%s, %s: %s", hu_status_name(s[0]), hu_status_name(s[1]), dot_text(x));
  expect_same(&z, "dot products", x);
  expect_events(&e, x);
  for (int v = 0; v < VECTORS; v++) {
    expect_same(&w[v].bytes, "operand", x);
    twin_free(&w[v].bytes);
  }
  twin_free(&z);
  twin_free(&e);
}

/* Models that take their elements: hu_dot says so. */
static int draw_usable(t_dot *x, t_random *r, unsigned i) {
  uint64_t any[4] = {0, 0, 0, 0}, z = 0;
  hu_element scale;
  memset(&scale, 0, sizeof scale);
  draw_model(x, r, i % HU_ACCUM_COUNT, (uint8_t)(i / HU_ACCUM_COUNT % HU_BLOCK_RULES));
  scale.format = x->scale;
  hu_vector a = {any, 1, 0, x->a}, b = {any, 1, 0, x->b}, c = {any, 1, 0, x->c}, s = {any, 1, 0, scale};
  hu_dot_operands in = {a, b, c, s, s};
  if (!hu_accum_is_scaled(&x->accum)) in.sa.data = in.sb.data = NULL;
  return hu_dot(1, &z, x->c, &in, &x->accum, x->mode, NULL, NULL) == HU_OK;
}

static void dot_models(void **state) {
  static t_dot x;
  t_random r = {t_seed("dot_models", 40)};
  unsigned long done = 0, sums = 0;
  (void)state;
  for (unsigned i = 0; done < t_part(1800); i++) {
    if (!draw_usable(&x, &r, i)) continue;
    size_t count = 1 + t_below(&r, MOST), n = t_below(&r, 8) ? t_below(&r, TERMS) : 0;
    run_batch(&x, &r, count, n);
    sums += count;
    done++;
  }
  print_message("%lu batches under as many models, %lu sums in all\n", done, sums);
}

static void dot_presets(void **state) {
  static t_dot x;
  t_random r = {t_seed("dot_presets", 41)};
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset p;
    assert_int_equal(hu_accum_preset_at(&p, i), HU_OK);
    draw_preset(&x, &p);
    run_batch(&x, &r, 64, 2 * p.k);
    run_batch(&x, &r, 9, 1 + t_below(&r, 2 * p.k));
  }
  print_message("%zu presets' calls, sums in two batches each\n", hu_accum_preset_count());
}

/* ---- matrix products ---- */

typedef struct t_matrix {
  t_twin bytes;
  size_t size, rows, cols;
  hu_operand cpu, device;
} t_matrix;

static int codes_only; /* no binary32 values */

static t_matrix matrix_new(t_random *r, size_t rows, size_t cols, hu_format f, int plain) {
  t_matrix z;
  memset(&z, 0, sizeof z);
  int values = hu_format_fits_binary32(f) && t_below(r, 2) && !codes_only, turned = !plain && t_below(r, 2);
  z.rows = rows;
  z.cols = cols;
  z.size = values ? 4 : hu_limits_of(f).storage / 8;
  size_t ld = (turned ? rows : cols) + t_below(r, 4);
  z.bytes = twin_new(((turned ? cols : rows) * ld + 1) * z.size);
  hu_operand x = {z.bytes.host, ld, f, values ? HU_STORAGE_VALUES : HU_STORAGE_CODES, (uint8_t)turned};
  z.cpu = z.device = x;
  z.device.data = z.bytes.device;
  return z;
}

static void matrix_put(const t_matrix *z, size_t i, size_t j, uint64_t code) {
  size_t at = z->cpu.transposed ? j * z->cpu.ld + i : i * z->cpu.ld + j;
  if (z->cpu.storage == HU_STORAGE_VALUES) code = t_bits32(hu_decode(z->cpu.format, (uint32_t)code));
  dot_store(z->bytes.host, at, z->size, code);
}

/* The operands of a product; those of models without scales have no columns of sa, no rows of sb. */
typedef struct t_operands {
  t_matrix a, b, c, sa, sb;
} t_operands;

static void draw_matrices(t_dot *x, t_random *r, const t_operands *in) {
  const t_matrix *all[] = {&in->a, &in->b, &in->c, &in->sa, &in->sb};
  x->n = in->a.cols;
  for (size_t i = 0; i < in->a.rows; i++) {
    draw_operands(x, r);
    for (size_t k = 0; k < x->n; k++) matrix_put(&in->a, i, k, x->at[k]);
    for (size_t k = 0; k < in->sa.cols; k++) matrix_put(&in->sa, i, k, x->sa[k]);
  }
  for (size_t j = 0; j < in->b.cols; j++) {
    draw_operands(x, r);
    for (size_t k = 0; k < x->n; k++) matrix_put(&in->b, k, j, x->bt[k]);
    for (size_t k = 0; k < in->sb.rows; k++) matrix_put(&in->sb, k, j, x->sb[k]);
    for (size_t i = 0; i < in->a.rows; i++) matrix_put(&in->c, i, j, i % 3 ? x->ct : x->ct / 2);
  }
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) twin_put(&all[i]->bytes);
}

static hu_status call_product(int on_device, const t_dot *x, const t_operands *in, const hu_result *d, int with_c,
                              const hu_exec *exec, hu_events *events) {
#define SIDE(t) (on_device ? &in->t.device : &in->t.cpu)
  const hu_operand *a = SIDE(a), *b = SIDE(b), *c = with_c ? SIDE(c) : NULL, *sa = SIDE(sa), *sb = SIDE(sb);
#undef SIDE
  size_t m = in->a.rows, n = in->b.cols, k = in->a.cols;
  if (!hu_accum_is_scaled(&x->accum)) {
    return on_device ? hu_device_gemm(m, n, k, d, a, b, c, &x->accum, x->mode, exec, events, twin_stream())
                     : hu_gemm(m, n, k, d, a, b, c, &x->accum, x->mode, exec, events);
  }
  return on_device ? hu_device_gemm_scaled(m, n, k, d, a, b, c, sa, sb, &x->accum, x->mode, exec, events, twin_stream())
                   : hu_gemm_scaled(m, n, k, d, a, b, c, sa, sb, &x->accum, x->mode, exec, events);
}

static void run_product(t_dot *x, t_random *r, size_t m, size_t n, size_t k, hu_format fd) {
  int in_place = t_below(r, 4) == 0, with_c = in_place || t_below(r, 4), scaled = hu_accum_is_scaled(&x->accum);
  size_t every = x->accum.scaled ? x->accum.promote : x->accum.block.every,
         scales = scaled ? (k + every - 1) / every : 0;
  hu_format fs = scaled ? x->scale : x->a.format;
  t_operands in;
  in.a = matrix_new(r, m, k, x->a.format, 0);
  in.b = matrix_new(r, k, n, x->b.format, 0);
  in.c = matrix_new(r, m, n, x->c.format, in_place);
  in.sa = matrix_new(r, m, scales, fs, !scaled);
  in.sb = matrix_new(r, scales, n, fs, !scaled);
  t_matrix d = matrix_new(r, m, n, fd, 1);
  draw_matrices(x, r, &in);
  twin_put(&d.bytes);
  const t_matrix *out = in_place ? &in.c : &d;
  t_twin e = events_new();
  hu_result cpu = {out->bytes.host, out->cpu.ld, out->cpu.format, out->cpu.storage}, device = cpu;
  device.data = out->bytes.device;
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.stream.key = x->key;
  exec.stream.counter = x->element;
  hu_status s[2] = {call_product(0, x, &in, &cpu, with_c, &exec, (hu_events *)(void *)e.host),
                    call_product(1, x, &in, &device, with_c, &exec, (hu_events *)(void *)e.device)};
  if (s[0] != HU_OK || s[1] != HU_OK) fail_msg("%s, %s: %s", hu_status_name(s[0]), hu_status_name(s[1]), dot_text(x));
  expect_same(&out->bytes, "product", x);
  expect_events(&e, x);
  t_twin *all[] = {&in.a.bytes, &in.b.bytes, &in.c.bytes, &in.sa.bytes, &in.sb.bytes, &d.bytes, &e};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) twin_free(all[i]);
}

static void gemm_models(void **state) {
  static t_dot x;
  t_random r = {t_seed("gemm_models", 42)};
  unsigned long done = 0;
  (void)state;
  for (unsigned i = 0; done < t_part(1500); i++) {
    if (!draw_usable(&x, &r, i) || x.a.kind || x.b.kind || x.c.kind) continue;
    hu_format fd = t_below(&r, 2) ? x.c.format : t_random_format(&r, 2, 16);
    run_product(&x, &r, 1 + t_below(&r, 20), 1 + t_below(&r, 20), t_below(&r, TERMS), fd);
    done++;
  }
  print_message("%lu products of matrices under as many models\n", done);
}

static void gemm_presets(void **state) {
  static t_dot x;
  t_random r = {t_seed("gemm_presets", 43)};
  unsigned long done = 0;
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset p;
    assert_int_equal(hu_accum_preset_at(&p, i), HU_OK);
    draw_preset(&x, &p);
    if (p.a.kind || p.c.kind) continue;
    const int few = t_part(100) < 10; /* under the interpreter of PTX */
    run_product(&x, &r, few && i % 2 ? 3 : 17, few && i % 2 == 0 ? 3 : 19, 2 * p.k, p.c.format);
    if (hu_accum_is_scaled(&p.accum)) run_product(&x, &r, 40, 18, 2 * p.k + p.k / 2, p.c.format);
    done++;
  }
  assert_true(done > 100);
  print_message("%lu products of matrices under presets\n", done);
}

/* seq(F), ties to even, where binary32 arithmetic serves (gpu/gemm/seq.h), and beside it; sizes around the tiles'
 * edges. */
static hu_format seq_format(t_random *r) {
  static const char *const usual[] = {"binary16",        "bfloat16",   "float8_e4m3fn", "float8_e5m2",
                                      "fp(8,10,0)",      "dlfloat16",  "fp(6,9,0)",     "fp(5,11,0)",
                                      "float8_e4m3fnuz", "fp(8,11,0)", "float6_e3m2fn", "fp(3,1,90)"};
  hu_format f;
  if (t_below(r, 4) == 0) return t_random_format(r, 3, 13);
  assert_int_equal(hu_format_parse(&f, usual[t_below(r, sizeof usual / sizeof usual[0])], NULL), HU_OK);
  return f;
}

static void seq_formats(void **state) {
  static t_dot x;
  t_random r = {t_seed("seq_formats", 44)};
  unsigned long done = 0, served = 0, products = 0;
  (void)state;
  for (; done < t_part(360); done++) {
    do draw_model(&x, &r, HU_ACCUM_SEQ, 0);
    while (hu_accum_is_scaled(&x.accum));
    x.accum.promote = x.accum.slices = 0;
    memset(&x.accum.promoted, 0, sizeof x.accum.promoted);
    x.accum.sum = seq_format(&r);
    x.accum.mode.round = HU_RNE;
    x.accum.mode.bits = 0;
    if (hu_mode_check(x.accum.mode) != HU_OK) memset(&x.accum.mode, 0, sizeof x.accum.mode);
    if (t_below(&r, 2)) x.a.format = x.b.format = x.c.format = x.accum.sum;
    hu_seq_args q;
    served += (unsigned long)hui_seq_plan(&q, x.a.format, x.b.format, &x.c.format, &x.accum);
    size_t large = done % 30 == 0 ? 150 : 24, m = 1 + t_below(&r, (uint32_t)large),
           n = 1 + t_below(&r, (uint32_t)large);
    size_t k = t_below(&r, done % 30 ? DOT_TERMS / 8 : 40);
    run_product(&x, &r, m, n, k, t_below(&r, 2) ? x.accum.sum : hu_format_ieee(8, 23, 0));
    products += m * n * k;
  }
  assert_true(served > done / 2);
  print_message("%lu products of matrices under seq(F), %lu served by binary32 arithmetic, %lu multiplications\n", done,
                served, products);
}

/* seq(binary16) and seq(bfloat16) of their own codes: the device's fused multiply-adds of pairs. */
static void half_pairs(void **state) {
  static t_dot x;
  t_random r = {t_seed("half_pairs", 46)};
  (void)state;
  for (unsigned i = 0; i < t_part(120); i++) {
    do draw_model(&x, &r, HU_ACCUM_SEQ, 0);
    while (hu_accum_is_scaled(&x.accum));
    x.accum.promote = x.accum.slices = 0;
    memset(&x.accum.promoted, 0, sizeof x.accum.promoted);
    memset(&x.accum.mode, 0, sizeof x.accum.mode);
    x.accum.sum = i % 2 ? hu_format_ieee(5, 10, 0) : hu_format_ieee(8, 7, 0);
    x.a.format = x.b.format = x.c.format = x.accum.sum;
    codes_only = i % 8 != 0;
    size_t most = i % 20 == 0 ? 140 : 20;
    run_product(&x, &r, 1 + t_below(&r, (uint32_t)most), 1 + t_below(&r, (uint32_t)most), t_below(&r, 50),
                t_below(&r, 2) ? x.accum.sum : hu_format_ieee(8, 23, 0));
  }
  codes_only = 0;
  print_message("120 products of matrices under seq(binary16) and seq(bfloat16)\n");
}

/* Models that round each product before they add it, where binary64 or the device's binary32 serve
 * (gpu/gemm/unfused.h), and beside it; parts and trees of any length, among them more than one slab. */
static hu_format unfused_format(t_random *r) {
  static const char *const usual[] = {"binary32",      "binary16",    "bfloat16",   "float8_e4m3fn",   "float8_e5m2",
                                      "dlfloat16",     "fp(6,9,0)",   "fp(5,15,0)", "float8_e4m3fnuz", "fp(8,20,0)",
                                      "float6_e3m2fn", "float8_e3m4", "fp(3,1,90)", "fp(8,23,-8)",     "fp(4,1,-60)"};
  hu_format f;
  if (t_below(r, 3) == 0 || hu_format_parse(&f, usual[t_below(r, sizeof usual / sizeof usual[0])], NULL) != HU_OK)
    return t_below(r, 2) ? hu_format_ieee(8, 23, 0) : t_random_format(r, 3, 16);
  return f;
}

static void draw_unfused(t_dot *x, t_random *r, uint32_t kind) {
  hu_accum *m = &x->accum;
  do draw_model(x, r, kind, 0);
  while (hu_accum_is_scaled(m));
  m->slices = 0;
  m->sum = m->product = unfused_format(r);
  if (kind != HU_ACCUM_SEQ2 && kind != HU_ACCUM_CHUNK) memset(&m->product, 0, sizeof m->product);
  if (m->product.m && t_below(r, 3) == 0) m->product = unfused_format(r);
  if (m->promote && t_below(r, 3)) m->promoted = hu_format_ieee(8, 23, 0);
  if (m->promote || m->length) {
    uint32_t length = (uint32_t)t_between(r, 1, t_below(r, 3) ? 20 : 70);
    if (m->promote) m->promote = length;
    if (m->length) m->length = length;
  }
  memset(&m->mode, 0, sizeof m->mode);
  if (t_below(r, 4) == 0) m->mode.saturate = (uint8_t)t_below(r, HU_SAT_PROPAGATE + 1);
  if (t_below(r, 16) == 0) m->mode.round = HU_RTZ;
  if (t_below(r, 8)) x->c.format = m->promote ? m->promoted : m->sum;
  if (t_below(r, 2)) x->a.format = x->b.format = m->sum;
}

static void unfused_models(void **state) {
  static const uint32_t kinds[] = {HU_ACCUM_SEQ2,    HU_ACCUM_CHUNK, HU_ACCUM_PAIRWISE,
                                   HU_ACCUM_STRIDED, HU_ACCUM_KAHAN, HU_ACCUM_NEUMAIER};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  static t_dot x;
  t_random r = {t_seed("unfused_models", 47)};
  unsigned long done = 0, served = 0, single = 0;
  (void)state;
  for (unsigned i = 0; done < t_part(600); i++) {
    draw_unfused(&x, &r, kinds[i % KINDS]);
    if (hu_accum_check(&x.accum) != HU_OK) continue;
    hu_unfused_args q;
    size_t most = done % 30 == 0 ? 40 : 12, k = t_below(&r, done % 5 ? 40 : 150);
    if (hui_unfused_plan(&q, k, x.a.format, x.b.format, &x.c.format, &x.accum)) {
      served++;
      single += q.single;
    }
    run_product(&x, &r, 1 + t_below(&r, (uint32_t)most), 1 + t_below(&r, (uint32_t)most), k,
                t_below(&r, 2) ? x.c.format : hu_format_ieee(8, 23, 0));
    done++;
  }
  print_message("%lu products of matrices under unfused models, %lu of them served, %lu in binary32\n", done, served,
                single);
  assert_true(3 * served > done && 40 * single > done);
}

/* block(align,cut=trunc), where products in binary32 serve, and beside it. */
static void align_blocks(void **state) {
  static t_dot x;
  t_random r = {t_seed("align_blocks", 45)};
  unsigned long done = 0, presets = 0;
  (void)state;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset p;
    assert_int_equal(hu_accum_preset_at(&p, i), HU_OK);
    if (p.accum.kind != HU_ACCUM_BLOCK || p.accum.block.rule != HU_BLOCK_ALIGN || p.accum.block.every) continue;
    const uint32_t few = t_part(100) < 10, most = few ? 18 : 40; /* few: under the interpreter of PTX */
    for (uint32_t again = 2 * few; again < 3; again++) {
      draw_preset(&x, &p);
      run_product(&x, &r, 1 + t_below(&r, most), 1 + t_below(&r, most), 1 + t_below(&r, 100), p.c.format);
    }
    presets++;
  }
  while (done < t_part(400)) {
    draw_model(&x, &r, HU_ACCUM_BLOCK, HU_BLOCK_ALIGN);
    hu_block *b = &x.accum.block;
    x.accum.promote = x.accum.slices = x.accum.scaled = 0;
    memset(&x.accum.promoted, 0, sizeof x.accum.promoted);
    memset(&b->scale, 0, sizeof b->scale);
    b->every = 0;
    b->scaling = HU_BLOCK_SCALING_TERMS;
    b->cut = HU_BLOCK_CUT_TRUNC;
    b->length = (uint16_t)(1 << t_between(&r, b->order ? 1 : 0, 5));
    if (t_below(&r, 4)) b->kept = (uint16_t)t_between(&r, 8, 29);
    hu_operand a = {&x, 100, x.a.format, HU_STORAGE_CODES, 0}, c = {&x, 100, x.c.format, HU_STORAGE_CODES, 0};
    a.data = c.data = x.at;
    hu_operand ob = {x.at, 100, x.b.format, HU_STORAGE_CODES, 0};
    hu_result d = {x.bt, 100, x.c.format, HU_STORAGE_CODES};
    if (hu_gemm(0, 1, 1, &d, &a, &ob, &c, &x.accum, x.mode, NULL, NULL) != HU_OK) continue;
    run_product(&x, &r, 1 + t_below(&r, 30), 1 + t_below(&r, 30), t_below(&r, 90), x.c.format);
    done++;
  }
  assert_true(presets > 50);
  print_message("%lu presets and %lu drawn products of matrices of aligned blocks\n", presets, done);
}

/* ---- errors: those of hu_dot_n ---- */

static void both_refuse(hu_status want, size_t n, const t_dot *x, const hu_dot_operands *in, hu_element ez, void *z) {
  hu_events e;
  memset(&e, 0, sizeof e);
  assert_int_equal(hu_dot_n(2, n, z, 1, ez, in, &x->accum, x->mode, NULL, &e), want);
  assert_int_equal(hu_device_dot_n(2, n, z, 1, ez, in, &x->accum, x->mode, NULL, NULL, twin_stream()), want);
}

static void dot_errors(void **state) {
  static t_dot x;
  static uint64_t room[8], sums[8];
  hu_accum_preset p;
  (void)state;
  assert_int_equal(hu_accum_preset_find(&p, "nv.ampere.f16.f32"), HU_OK);
  draw_preset(&x, &p);
  hu_vector a = {room, 1, 1, p.a}, b = {room, 1, 1, p.b}, none = {NULL, 0, 0, p.c};
  hu_dot_operands in = {a, b, none, none, none}, bad = in;
  bad.a.data = NULL;
  both_refuse(HU_E_NULL, 2, &x, &bad, p.c, sums);
  bad = in;
  bad.a.data = (uint8_t *)room + 1;
  both_refuse(HU_E_ALIGN, 2, &x, &bad, p.c, sums);
  bad = in;
  bad.sa = bad.sb = a;
  both_refuse(HU_E_ACCUM, 2, &x, &bad, p.c, sums);
  bad = in;
  bad.a.element.kind = HU_ELEMENT_S8;
  both_refuse(HU_E_ACCUM, 2, &x, &bad, p.c, sums);
  both_refuse(HU_E_NULL, 2, &x, &in, p.c, NULL);
  both_refuse(HU_E_OVERLAP, 2, &x, &in, p.c, room);
  both_refuse(HU_E_SHAPE, SIZE_MAX / 2, &x, &in, p.c, sums);
  x.accum.block.length = 0;
  both_refuse(HU_E_ACCUM, 2, &x, &in, p.c, sums);
  draw_preset(&x, &p);
  x.mode.round = HU_ROUND_COUNT;
  both_refuse(HU_E_MODE, 2, &x, &in, p.c, sums);
  x.mode.round = HU_RNE;
  assert_int_equal(hu_device_dot_n(2, 2, sums, 1, p.c, &in, &x.accum, x.mode, NULL,
                                   (hu_events *)(void *)((char *)room + 1), twin_stream()),
                   HU_E_ALIGN);
  assert_int_equal(hu_device_dot_n(0, 2, NULL, 1, p.c, &in, &x.accum, x.mode, NULL, NULL, twin_stream()), HU_OK);
  print_message("11 refusals\n");
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
