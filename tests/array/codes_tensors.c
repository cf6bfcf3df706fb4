/* SPDX-License-Identifier: MIT */
/* Calls on products, scaled tensors, blocks and the buffers of an all-reduce. See codes.h. */
#include <string.h>

#include "tests/array/codes.h"

enum { M = 3, N = 5, K = 64, LONG = 97 };
static const hu_mode rne;

static const char *const formats[] = {"float4_e2m1fn", "float6_e3m2fn", "fp(5,6,0)", "fp(8,15,0)", NULL};
static const char *const small[] = {"float4_e2m1fn", "float6_e3m2fn", "fp(5,6,0)", NULL};
static const char *const units[] = {"nv.blackwell.nvfp4.b16.ue4m3", NULL}; /* scales of 7 bits */
static const char *const integers[] = {"int32", NULL};
static const char *const scalings[] = {"mxfp4", "mxfp6_e3m2", "nvfp4", "nvint4", "hbfp12", NULL};
static const char *const packed[] = {"mxfp4", "mxfp6_e3m2", "nvint4", "nvint6", NULL};
static const char *const row_scalings[] = {"nvfp4_te", NULL};
static const char *const p3109[] = {"binary5p2sf", "binary12p5se", NULL};
static const char *const any[] = {"hifloat4", NULL};

static hu_events *events(t_world *w) {
  hu_events *e = result(w, sizeof *e);
  return e;
}

static hu_element element_of(hu_format f) {
  hu_element e;
  memset(&e, 0, sizeof e);
  e.format = f;
  return e;
}

static hu_accum model(const char *text) {
  hu_accum x;
  if (hu_accum_parse(&x, text, NULL) != HU_OK) memset(&x, 0xFF, sizeof x); /* which no call takes */
  return x;
}

/* ---- dot products ---- */

static hu_vector vector(t_world *w, hu_element e, size_t count, size_t n) {
  ptrdiff_t inc = n > 1 ? w->inc : 1;
  size_t step = n * (size_t)(inc < 0 ? -inc : inc);
  hu_vector v = {NULL, inc, (ptrdiff_t)step, e};
  int is_signed = e.kind == HU_ELEMENT_S4;
  v.data = codes_of_width(w, hu_element_width(e), is_signed, count, n, step, inc);
  return v;
}

/* Of `count` dot products: A, B and C of one format, or of a unit with scales, or integers. */
static hu_dot_operands operands(t_world *w, size_t count, const hu_accum *x, hu_element *ez) {
  hu_dot_operands in;
  hu_accum_preset p;
  memset(&in, 0, sizeof in);
  *ez = element_of(format_named("binary32"));
  if (x->kind == HU_ACCUM_INT32) {
    hu_element s4 = {HU_ELEMENT_S4, 0, {0}}, u4 = {HU_ELEMENT_U4, 0, {0}};
    ez->kind = HU_ELEMENT_S32;
    memset(&ez->format, 0, sizeof ez->format);
    in.a = vector(w, s4, count, K);
    in.b = vector(w, u4, count, K);
  } else if (hu_accum_preset_find(&p, w->text) == HU_OK) {
    in.a = vector(w, p.a, count, K);
    in.b = vector(w, p.b, count, K);
    in.sa = vector(w, element_of(x->block.scale), count, K / x->block.every);
    in.sb = vector(w, element_of(x->block.scale), count, K / x->block.every);
  } else {
    in.a = vector(w, element_of(w->format), count, K);
    in.b = vector(w, element_of(w->format), count, K);
    in.c = vector(w, element_of(w->format), count, 1);
  }
  return in;
}

static hu_accum model_of(const t_world *w) { return model(hu_limits_of(w->format).width ? "exact" : w->text); }

static hu_status dot_n(t_world *w) {
  hu_accum x = model_of(w);
  hu_element ez;
  hu_dot_operands in = operands(w, M, &x, &ez);
  return hu_dot_n(M, K, result(w, 4 * M), 1, ez, &in, &x, rne, &w->exec, events(w));
}

static hu_status dot_n_watched(t_world *w) {
  hu_accum x = model_of(w);
  hu_element ez;
  hu_dot_operands in = operands(w, M, &x, &ez);
  return hu_dot_n_watched(M, K, result(w, 4 * M), 1, ez, &in, &x, rne, &w->exec, events(w),
                          result(w, sizeof(hu_watch)));
}

static hu_status dot(t_world *w) {
  hu_accum x = model_of(w);
  hu_element ez;
  hu_dot_operands in = operands(w, 1, &x, &ez);
  return hu_dot(K, result(w, 4), ez, &in, &x, rne, &w->exec, events(w));
}

static hu_status dot_words(t_world *w) {
  hu_accum x = model_of(w);
  hu_element ez;
  hu_dot_operands in = operands(w, 1, &x, &ez);
  return hu_dot_words(K, result(w, 4), ez, &in, &x, rne, NULL, 0, 0, result(w, sizeof(size_t)), events(w));
}

static hu_status dot_exceptions(t_world *w) {
  hu_accum x = model("seq(binary32)");
  hu_element ez;
  hu_dot_operands in = operands(w, 1, &x, &ez);
  return hu_dot_exceptions(result(w, 4), K, ez, &in, &x, rne);
}

static void visit(void *context, const hu_trace_step *step) {
  (void)step;
  ++*(uint8_t *)context;
}

static hu_status dot_trace(t_world *w) {
  hu_accum x = model_of(w);
  hu_element ez;
  hu_dot_operands in = operands(w, 1, &x, &ez);
  return hu_dot_trace(K, result(w, 4), ez, &in, &x, rne, &w->exec, events(w), visit, result(w, 1));
}

/* ---- matrices ---- */

static hu_operand matrix(t_world *w, hu_format f, size_t rows, size_t cols) {
  uint8_t transposed = (uint8_t)w->transposed;
  size_t ld = (transposed ? rows : cols) + (w->inc == 1 ? 0 : 2);
  hu_operand z = {codes(w, f, transposed ? cols : rows, transposed ? rows : cols, ld, 1), ld, f, HU_STORAGE_CODES,
                  transposed};
  return z;
}

/* What the call says that D has. */
static size_t rows_of(const t_world *w) { return w->empty == EMPTY_M ? 0 : M; }
static size_t cols_of(const t_world *w) { return w->empty == EMPTY_N ? 0 : N; }

static hu_result values(t_world *w) {
  hu_result d = {result(w, M * N * sizeof(float)), N, format_named("binary32"), HU_STORAGE_VALUES};
  return d;
}

static hu_status gemm(t_world *w) {
  hu_operand a = matrix(w, w->format, M, K), b = matrix(w, w->format, K, N), c = matrix(w, w->format, M, N);
  hu_accum exact = model("exact");
  hu_result d = values(w);
  return hu_gemm(rows_of(w), cols_of(w), K, &d, &a, &b, &c, &exact, rne, &w->exec, events(w));
}

static hu_status gemm_scaled(t_world *w) {
  hu_accum x = model(w->text);
  hu_accum_preset p;
  if (hu_accum_preset_find(&p, w->text) != HU_OK) return HU_E_NAME;
  size_t scales = K / x.block.every;
  hu_operand a = matrix(w, p.a.format, M, K), b = matrix(w, p.b.format, K, N);
  hu_operand sa = matrix(w, x.block.scale, M, scales), sb = matrix(w, x.block.scale, scales, N);
  hu_result d = values(w);
  return hu_gemm_scaled(rows_of(w), cols_of(w), K, &d, &a, &b, NULL, &sa, &sb, &x, rne, &w->exec, events(w));
}

static hu_status gemm_watched(t_world *w) {
  hu_operand a = matrix(w, w->format, M, K), b = matrix(w, w->format, K, N), c = matrix(w, w->format, M, N);
  hu_accum seq = model("seq(binary32)");
  hu_result d = values(w);
  return hu_gemm_watched(rows_of(w), cols_of(w), K, &d, &a, &b, &c, NULL, NULL, &seq, rne, &w->exec, events(w),
                         result(w, sizeof(hu_watch)));
}

/* ---- scaled tensors ---- */

static hu_scaling scaling_of(const char *text) {
  hu_scaling d;
  if (hu_scaling_parse(&d, text, NULL) != HU_OK) memset(&d, 0xFF, sizeof d); /* which no call takes */
  return d;
}

/* Elements and scales: two operands. */
static hu_scaled tensor(t_world *w, const hu_scaling *d, size_t rows, size_t cols) {
  static float t = 1;
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, d);
  hu_scaled x = {NULL, cols + 3, NULL, n.block_cols + 1, &t};
  uint32_t width = hu_limits_of(d->element).width;
  x.codes = (void *)(uintptr_t)codes_of_width(w, width, d->coding == HU_CODING_TWOS, rows, cols, x.ld, 1);
  x.scales = (void *)(uintptr_t)codes(w, d->scale, n.block_rows, n.block_cols, x.lds, 1);
  return x;
}

static hu_status scaled_decode(t_world *w) {
  hu_scaling d = scaling_of(w->text);
  hu_scaled x = tensor(w, &d, M, LONG);
  return hu_scaled_decode(M, LONG, result(w, M * LONG * sizeof(float)), LONG, &x, &d, &w->exec);
}

static hu_status scaled_rows_decode(t_world *w) {
  static const float t[M] = {1, 1, 1};
  hu_scaling d = scaling_of(w->text);
  hu_scaled x = tensor(w, &d, M, LONG);
  return hu_scaled_rows_decode(M, LONG, result(w, M * LONG * sizeof(float)), LONG, &x, t, &d, &w->exec);
}

static hu_status scaled_pack(t_world *w) {
  hu_scaling d = scaling_of(w->text);
  size_t ld = LONG + 2, bytes = hu_scaled_sizes_of(M, LONG, &d).packed;
  const uint8_t *x = codes_of_width(w, hu_limits_of(d.element).width, d.coding == HU_CODING_TWOS, M, LONG, ld, 1);
  return hu_scaled_pack(M, LONG, result(w, bytes), x, ld, &d);
}

static hu_status hif4_decode(t_world *w) {
  const uint8_t *x = codes(w, format_named("fp(1,2,0)"), M, LONG, LONG + 2, 1);
  static uint8_t scales[M * 2 * HU_HIF4_SCALE];
  return hu_hif4_decode(M, LONG, result(w, M * LONG * sizeof(float)), LONG, x, LONG + 2, scales, 2);
}

static hu_scaled_operand scaled_operand(t_world *w, const hu_scaling *d, size_t rows, size_t cols, int transposed) {
  hu_scaled_operand z;
  memset(&z, 0, sizeof z);
  z.scaling = d;
  z.transposed = (uint8_t)transposed;
  z.scaled = tensor(w, d, transposed ? cols : rows, transposed ? rows : cols);
  return z;
}

static hu_status scaled_product(t_world *w, const hu_scaling *d, hu_scaled_sum sum, int plain_c) {
  static uint64_t space[1 << 19];
  void *at = (void *)(((uintptr_t)space + 63) / 64 * 64);
  hu_scaled_operand a = scaled_operand(w, d, M, K, 0), b = scaled_operand(w, d, K, N, 1), c;
  hu_scaled_result y;
  memset(&c, 0, sizeof c);
  memset(&y, 0, sizeof y);
  if (plain_c) c.plain = matrix(w, w->format, M, N);
  y.plain = values(w);
  return hu_scaled_gemm(rows_of(w), cols_of(w), K, &y, &a, &b, plain_c ? &c : NULL, &sum, rne, at, sizeof space - 64,
                        &w->exec, events(w));
}

static hu_status scaled_gemm_parts(t_world *w) {
  hu_scaling d = scaling_of(w->text);
  return scaled_product(w, &d, hu_scaled_sum_parts(model("fp32"), model("fp32"), HU_SCALED_FACTOR_EXACT), 0);
}

static hu_status scaled_gemm_decoded(t_world *w) {
  hu_scaling d = scaling_of(w->text);
  return scaled_product(w, &d, hu_scaled_sum_decoded(model("fp32")), 0);
}

static hu_status scaled_gemm_unit(t_world *w) {
  hu_scaling d = scaling_of("scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio)");
  return scaled_product(w, &d, hu_scaled_sum_unit(model(w->text)), 0);
}

static hu_status scaled_gemm_plain(t_world *w) {
  hu_scaling d = scaling_of("mxfp6_e3m2");
  return scaled_product(w, &d, hu_scaled_sum_parts(model("fp32"), model("fp32"), HU_SCALED_FACTOR_EXACT), 1);
}

/* ---- S2FP8 ---- */

static hu_s2fp8_scale s2fp8_scale(const hu_s2fp8 *kind) {
  hu_s2fp8_scale z;
  if (hu_s2fp8_scale_from(&z, 0, (int64_t)1 << 40, kind) != HU_OK) memset(&z, 0, sizeof z);
  return z;
}

static hu_status s2fp8_decode(t_world *w) {
  hu_s2fp8 kind = hu_s2fp8_of(w->format);
  hu_s2fp8_scale scale = s2fp8_scale(&kind);
  const void *x = codes(w, w->format, 1, LONG, 0, w->inc);
  return hu_s2fp8_decode_n(LONG, result(w, LONG * sizeof(float)), 1, x, w->inc, &kind, &scale, &w->exec);
}

static hu_status s2fp8_gemm(t_world *w) {
  hu_s2fp8 kind = hu_s2fp8_of(w->format);
  hu_s2fp8_scale scale = s2fp8_scale(&kind);
  hu_operand a = matrix(w, w->format, M, K), b = matrix(w, w->format, K, N);
  hu_s2fp8_operand x = {a.data, a.ld, &kind, &scale, a.transposed}, y = {b.data, b.ld, &kind, &scale, b.transposed};
  return hu_s2fp8_gemm(rows_of(w), cols_of(w), K, result(w, M * N * sizeof(float)), N, &x, &y, NULL, 0, &w->exec);
}

/* ---- P3109 ---- */

static const hu_p3109_projection to_nearest;
static const hu_stream stream;

static hu_p3109_array p3109_array(t_world *w) {
  hu_p3109_array z = {codes(w, w->format, 1, LONG, 0, w->inc), w->inc, w->format};
  return z;
}

/* Scale and elements: two operands. */
static hu_p3109_block block(t_world *w) {
  hu_p3109_block z = {w->format, w->format, code_by_value(w, w->format), codes(w, w->format, 1, LONG, 0, 1)};
  return z;
}

static hu_status p3109_compute(t_world *w) {
  hu_p3109_array in[HU_P3109_OPERANDS_MAX] = {p3109_array(w), p3109_array(w), p3109_array(w)};
  return hu_p3109_compute_n(HU_P3109_CLAMP, LONG, result(w, 2 * LONG), w->format, to_nearest, in, &w->exec);
}

static hu_status p3109_neighbour(t_world *w) {
  hu_p3109_array in = p3109_array(w);
  return hu_p3109_compute_n(HU_P3109_NEXT_LESS_THAN, LONG, result(w, 2 * LONG), w->format, to_nearest, &in, &w->exec);
}

static hu_status p3109_block_compute(t_world *w) {
  hu_p3109_block in[2] = {block(w), block(w)};
  uint32_t scale = code_by_value(w, w->format);
  return hu_p3109_block_compute(hu_p3109_find("Add"), LONG, result(w, 2 * LONG), w->format, scale, w->format,
                                to_nearest, in, stream);
}

static hu_status p3109_to_block(t_world *w) {
  const void *x = codes(w, w->format, 1, LONG, 0, 1);
  uint32_t scale = code_by_value(w, w->format);
  return hu_p3109_to_block(LONG, result(w, 2 * LONG), w->format, scale, w->format, to_nearest, x, w->format, stream);
}

static hu_status p3109_to_block_max(t_world *w) {
  const void *x = codes(w, w->format, 1, LONG, 0, 1);
  return hu_p3109_to_block_max(LONG, result(w, 2 * LONG), result(w, 4), w->format, to_nearest, w->format, to_nearest, x,
                               w->format, stream);
}

static hu_status p3109_from_block(t_world *w) {
  hu_p3109_block in = block(w);
  return hu_p3109_from_block(LONG, result(w, 2 * LONG), w->format, to_nearest, &in, stream);
}

static hu_status p3109_block_add(t_world *w) {
  hu_p3109_block in = block(w);
  return hu_p3109_block_add(LONG, result(w, 4), w->format, to_nearest, &in, 0);
}

static hu_status p3109_block_multiply(t_world *w) {
  hu_p3109_block in = block(w);
  return hu_p3109_block_multiply(LONG, result(w, 4), w->format, to_nearest, &in, 0);
}

static hu_status p3109_block_dot(t_world *w) {
  hu_p3109_block in[2] = {block(w), block(w)};
  return hu_p3109_block_dot(LONG, result(w, 4), w->format, to_nearest, in, 0);
}

/* ---- all-reduce ---- */

static hu_status reduce(t_world *w, int part) {
  enum { BUFFER = HU_COLLECTIVE_PIECE + LONG };
  hu_collective ring;
  hu_status s = hu_collective_parse(&ring, "ring(binary32)", NULL);
  const void *x[M];
  size_t n = part ? LONG : BUFFER;
  for (int r = 0; r < M; r++) x[r] = codes(w, w->format, 1, n, 0, 1);
  void *z = result(w, 4 * n);
  if (s != HU_OK) return s;
  if (!part) return hu_collective_reduce(M, n, z, w->format, x, &ring, rne, &w->exec, events(w));
  return hu_collective_reduce_part(M, BUFFER, HU_COLLECTIVE_PIECE, n, z, w->format, x, &ring, rne, &w->exec, events(w));
}

static hu_status reduce_all(t_world *w) { return reduce(w, 0); }
static hu_status reduce_part(t_world *w) { return reduce(w, 1); }

/* ---- the table ---- */

const world_call tensor_calls[] = {{"hu_dot_n", dot_n, formats, 3},
                                   {"hu_dot_n of a unit", dot_n, units, 4},
                                   {"hu_dot_n of integers", dot_n, integers, 2},
                                   {"hu_dot_n_watched", dot_n_watched, formats, 3},
                                   {"hu_dot", dot, formats, 3},
                                   {"hu_dot_words", dot_words, formats, 3},
                                   {"hu_dot_exceptions", dot_exceptions, formats, 3},
                                   {"hu_dot_trace", dot_trace, formats, 3},
                                   {"hu_dot_trace of integers", dot_trace, integers, 2},
                                   {"hu_gemm", gemm, formats, 3},
                                   {"hu_gemm_scaled", gemm_scaled, units, 4},
                                   {"hu_gemm_watched", gemm_watched, formats, 3},
                                   {"hu_scaled_decode", scaled_decode, scalings, 2},
                                   {"hu_scaled_rows_decode", scaled_rows_decode, row_scalings, 2},
                                   {"hu_scaled_pack", scaled_pack, packed, 1},
                                   {"hu_hif4_decode", hif4_decode, any, 1},
                                   {"hu_scaled_gemm, parts", scaled_gemm_parts, scalings, 4},
                                   {"hu_scaled_gemm, decoded", scaled_gemm_decoded, scalings, 4},
                                   {"hu_scaled_gemm, unit", scaled_gemm_unit, units, 4},
                                   {"hu_scaled_gemm, a plain C", scaled_gemm_plain, small, 5},
                                   {"hu_s2fp8_decode_n", s2fp8_decode, small, 1},
                                   {"hu_s2fp8_gemm", s2fp8_gemm, small, 2},
                                   {"hu_p3109_compute_n", p3109_compute, p3109, 3},
                                   {"hu_p3109_compute_n, neighbours", p3109_neighbour, p3109, 1},
                                   {"hu_p3109_block_compute", p3109_block_compute, p3109, 5},
                                   {"hu_p3109_to_block", p3109_to_block, p3109, 2},
                                   {"hu_p3109_to_block_max", p3109_to_block_max, p3109, 1},
                                   {"hu_p3109_from_block", p3109_from_block, p3109, 2},
                                   {"hu_p3109_block_add", p3109_block_add, p3109, 2},
                                   {"hu_p3109_block_multiply", p3109_block_multiply, p3109, 2},
                                   {"hu_p3109_block_dot", p3109_block_dot, p3109, 4},
                                   {"hu_collective_reduce", reduce_all, formats, 3},
                                   {"hu_collective_reduce_part", reduce_part, formats, 3},
                                   {NULL, NULL, NULL, 0}};
