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

static hu_events *events(t_world *world) {
  hu_events *events = result(world, sizeof *events);
  return events;
}

static hu_accum model(const char *text) {
  hu_accum x;
  if (hu_accum_parse(&x, text, NULL) != HU_OK) memset(&x, 0xFF, sizeof x); /* which no call takes */
  return x;
}

/* ---- dot products ---- */

static hu_view rows(t_world *world, hu_type type, size_t count, size_t n) {
  ptrdiff_t inc = n > 1 ? world->inc : 1;
  size_t step = n * (size_t)(inc < 0 ? -inc : inc);
  int is_signed = type.kind == HU_TYPE_INT4;
  hu_view view = hu_view_of(codes_of_width(world, hu_type_width(type), is_signed, count, n, step, inc), inc, type);
  view.row = (ptrdiff_t)step;
  return view;
}

/* `count` dot products under x: A, B and C of one format, or of a unit with scales, or integers. */
static hu_product product(t_world *world, size_t count, const hu_accum *x) {
  const hu_view none = {0};
  hu_accum_preset preset;
  hu_type a = hu_type_codes(world->format), b = a, d = hu_type_codes(format_named("binary32"));
  int is_unit = x->kind != HU_ACCUM_INT32 && hu_accum_preset_find(&preset, world->text) == HU_OK;
  if (x->kind == HU_ACCUM_INT32) {
    a = hu_type_plain(HU_TYPE_INT4);
    b = hu_type_plain(HU_TYPE_UINT4);
    d = hu_type_plain(HU_TYPE_INT32);
  } else if (is_unit) {
    a = preset.a;
    b = preset.b;
  }
  hu_product in = hu_product_of_dot(K, hu_output_of(NULL, 1, d), none, none, x);
  in.m = count;
  in.d.row = 1;
  in.a = rows(world, a, count, K);
  in.b = rows(world, b, count, K);
  if (is_unit) {
    in.sa = rows(world, hu_type_codes(x->block.scale), count, K / x->block.every);
    in.sb = rows(world, hu_type_codes(x->block.scale), count, K / x->block.every);
  } else if (x->kind != HU_ACCUM_INT32) {
    in.c = rows(world, a, count, 1);
  }
  in.d.data = result(world, 4 * count);
  return in;
}

static hu_accum model_of(const t_world *world) {
  return model(hu_limits_of(world->format).width ? "exact" : world->text);
}

static hu_how how_of(t_world *world) { return hu_how_of(rne, &world->exec, events(world)); }

static hu_status dots(t_world *world) {
  hu_accum x = model_of(world);
  hu_product in = product(world, M, &x);
  hu_how how = how_of(world);
  return hu_dot(&in, &how);
}

static hu_status dots_watched(t_world *world) {
  hu_accum x = model_of(world);
  hu_product in = product(world, M, &x);
  hu_how how = how_of(world);
  in.watch = result(world, sizeof(hu_watch));
  return hu_dot(&in, &how);
}

static hu_status dot(t_world *world) {
  hu_accum x = model_of(world);
  hu_product in = product(world, 1, &x);
  hu_how how = how_of(world);
  return hu_dot(&in, &how);
}

static hu_status dot_words(t_world *world) {
  hu_accum x = model_of(world);
  hu_product in = product(world, 1, &x);
  hu_how how = how_of(world);
  in.watch = result(world, sizeof(hu_watch));
  size_t *roundings = result(world, sizeof *roundings);
  hu_dot_random random = {NULL, 0, 0, *roundings};
  hu_status status = hu_dot_words(&in, &random, &how);
  *roundings = random.roundings;
  return status;
}

static hu_status dot_exceptions(t_world *world) {
  hu_accum x = model("seq(binary32)");
  hu_product in = product(world, 1, &x);
  return hu_dot_exceptions(result(world, 4), &in, rne);
}

static void visit(void *context, const hu_trace_step *step) {
  (void)step;
  ++*(uint8_t *)context;
}

static hu_status dot_trace(t_world *world) {
  hu_accum x = model_of(world);
  hu_product in = product(world, 1, &x);
  hu_how how = how_of(world);
  in.watch = result(world, sizeof(hu_watch));
  return hu_dot_trace(&in, &how, visit, result(world, 1));
}

/* ---- matrices ---- */

static hu_view matrix(t_world *world, hu_format format, size_t rows, size_t cols) {
  uint8_t transposed = (uint8_t)world->transposed;
  size_t ld = (transposed ? rows : cols) + (world->inc == 1 ? 0 : 2);
  hu_view z =
      hu_matrix_codes(codes(world, format, transposed ? cols : rows, transposed ? rows : cols, ld, 1), ld, format);
  if (transposed) z = hu_transposed(z);
  return z;
}

/* What the call says that D has. */
static size_t rows_of(const t_world *world) { return world->empty == EMPTY_M ? 0 : M; }
static size_t cols_of(const t_world *world) { return world->empty == EMPTY_N ? 0 : N; }

static hu_output values(t_world *world) {
  hu_output d = hu_matrix_floats_out(result(world, M * N * sizeof(float)), N);
  return d;
}

/* A product of what the call says that D has, with a C or without. */
static hu_product product_of(t_world *world, hu_format fa, hu_format fb, const hu_accum *accum, int has_c) {
  hu_product z = {.m = rows_of(world), .n = cols_of(world), .k = K, .accum = accum};
  z.a = matrix(world, fa, M, K);
  z.b = matrix(world, fb, K, N);
  if (has_c) z.c = matrix(world, world->format, M, N);
  z.d = values(world);
  return z;
}

static hu_status run_product(t_world *world, const hu_product *product) {
  hu_how how = {rne, &world->exec, events(world)};
  return hu_multiply(product, &how);
}

static hu_status gemm(t_world *world) {
  hu_accum exact = model("exact");
  hu_product x = product_of(world, world->format, world->format, &exact, 1);
  return run_product(world, &x);
}

static hu_status gemm_scaled(t_world *world) {
  hu_accum accum = model(world->text);
  hu_accum_preset preset;
  if (hu_accum_preset_find(&preset, world->text) != HU_OK) return HU_E_NAME;
  size_t scales = K / accum.block.every;
  hu_product x = product_of(world, preset.a.format, preset.b.format, &accum, 0);
  x.sa = matrix(world, accum.block.scale, M, scales);
  x.sb = matrix(world, accum.block.scale, scales, N);
  return run_product(world, &x);
}

static hu_status gemm_watched(t_world *world) {
  hu_accum seq = model("seq(binary32)");
  hu_watch watch = {0};
  hu_product x = product_of(world, world->format, world->format, &seq, 1);
  x.watch = &watch;
  return run_product(world, &x);
}

/* ---- scaled tensors ---- */

static hu_scaling scaling_of(const char *text) {
  hu_scaling scaling;
  if (hu_scaling_parse(&scaling, text, NULL) != HU_OK) memset(&scaling, 0xFF, sizeof scaling); /* which no call takes */
  return scaling;
}

/* Elements and scales: two operands. */
static hu_scaled tensor(t_world *world, const hu_scaling *scaling, size_t rows, size_t cols) {
  static float t = 1;
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, scaling);
  hu_scaled x = {NULL, cols + 3, NULL, n.block_cols + 1, &t};
  uint32_t width = hu_limits_of(scaling->element).width;
  x.codes = (void *)(uintptr_t)codes_of_width(world, width, scaling->coding == HU_CODING_TWOS, rows, cols, x.ld, 1);
  x.scales = (void *)(uintptr_t)codes(world, scaling->scale, n.block_rows, n.block_cols, x.lds, 1);
  return x;
}

static hu_status scaled_decode(t_world *world) {
  hu_scaling scaling = scaling_of(world->text);
  hu_scaled x = tensor(world, &scaling, M, LONG);
  return hu_scaled_decode(M, LONG, result(world, M * LONG * sizeof(float)), LONG, &x, &scaling, &world->exec);
}

static hu_status scaled_rows_decode(t_world *world) {
  static float t[M] = {1, 1, 1};
  hu_scaling scaling = scaling_of(world->text);
  hu_scaled x = tensor(world, &scaling, M, LONG);
  x.tensor = t;
  hu_output to = hu_matrix_floats_out(result(world, M * LONG * sizeof(float)), LONG);
  hu_view from = hu_view_of(&x, 1, hu_type_scaled(HU_TYPE_SCALED_ROWS, &scaling));
  hu_how how = {.exec = &world->exec};
  return hu_scaled_apply(M, LONG, &to, &from, NULL, &how);
}

static hu_status scaled_pack(t_world *world) {
  hu_scaling scaling = scaling_of(world->text);
  size_t ld = LONG + 2, bytes = hu_scaled_sizes_of(M, LONG, &scaling).packed;
  const uint8_t *x =
      codes_of_width(world, hu_limits_of(scaling.element).width, scaling.coding == HU_CODING_TWOS, M, LONG, ld, 1);
  return hu_scaled_pack(M, LONG, result(world, bytes), x, ld, &scaling, NULL);
}

static hu_status hif4_decode(t_world *world) {
  const uint8_t *x = codes(world, format_named("fp(1,2,0)"), M, LONG, LONG + 2, 1);
  static uint8_t scales[M * 2 * HU_HIF4_SCALE];
  hu_scaled place = {(void *)(uintptr_t)x, LONG + 2, scales, 2, NULL};
  return hu_hif4_decode(M, LONG, result(world, M * LONG * sizeof(float)), LONG, &place);
}

static hu_status scaled_product(t_world *world, const hu_scaling *scaling, hu_scaled_sum sum, int plain_c) {
  static uint64_t space[1 << 19];
  hu_scaled a = tensor(world, scaling, M, K), b = tensor(world, scaling, N, K);
  hu_product x = {.m = rows_of(world), .n = cols_of(world), .k = K, .sum = &sum, .bytes = sizeof space - 64};
  x.a = hu_scaled_matrix(&a, scaling);
  x.b = hu_transposed(hu_scaled_matrix(&b, scaling));
  if (plain_c) x.c = matrix(world, world->format, M, N);
  x.d = values(world);
  x.space = (void *)(((uintptr_t)space + 63) / 64 * 64);
  return run_product(world, &x);
}

static hu_status scaled_gemm_parts(t_world *world) {
  hu_scaling scaling = scaling_of(world->text);
  return scaled_product(world, &scaling, hu_scaled_sum_parts(model("fp32"), model("fp32"), HU_SCALED_FACTOR_EXACT), 0);
}

static hu_status scaled_gemm_decoded(t_world *world) {
  hu_scaling scaling = scaling_of(world->text);
  return scaled_product(world, &scaling, hu_scaled_sum_decoded(model("fp32")), 0);
}

static hu_status scaled_gemm_unit(t_world *world) {
  hu_scaling scaling = scaling_of("scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio)");
  return scaled_product(world, &scaling, hu_scaled_sum_unit(model(world->text)), 0);
}

static hu_status scaled_gemm_plain(t_world *world) {
  hu_scaling scaling = scaling_of("mxfp6_e3m2");
  return scaled_product(world, &scaling, hu_scaled_sum_parts(model("fp32"), model("fp32"), HU_SCALED_FACTOR_EXACT), 1);
}

/* ---- S2FP8 ---- */

static hu_s2fp8_scale s2fp8_scale(const hu_s2fp8 *kind) {
  hu_s2fp8_scale z;
  if (hu_s2fp8_scale_from(&z, 0, (int64_t)1 << 40, kind) != HU_OK) memset(&z, 0, sizeof z);
  return z;
}

static hu_status s2fp8_decode(t_world *world) {
  hu_s2fp8 kind = hu_s2fp8_of(world->format);
  hu_s2fp8_scale scale = s2fp8_scale(&kind);
  const void *x = codes(world, world->format, 1, LONG, 0, world->inc);
  return hu_s2fp8_decode_n(LONG, result(world, LONG * sizeof(float)), 1, x, world->inc, &kind, &scale, &world->exec);
}

static hu_scaled codes_of(const hu_view *x, hu_s2fp8_scale *scale) {
  hu_scaled z = {(void *)(uintptr_t)x->data, (size_t)(x->stride == 1 ? x->row : x->stride), scale, 0, NULL};
  return z;
}

static hu_status s2fp8_gemm(t_world *world) {
  hu_s2fp8 kind = hu_s2fp8_of(world->format);
  hu_s2fp8_scale scale = s2fp8_scale(&kind);
  hu_accum fp32 = model("fp32");
  hu_product x = product_of(world, world->format, world->format, &fp32, 0);
  hu_scaled a = codes_of(&x.a, &scale), b = codes_of(&x.b, &scale);
  x.a = world->transposed ? hu_transposed(hu_s2fp8_matrix(&a, &kind)) : hu_s2fp8_matrix(&a, &kind);
  x.b = world->transposed ? hu_transposed(hu_s2fp8_matrix(&b, &kind)) : hu_s2fp8_matrix(&b, &kind);
  return run_product(world, &x);
}

/* ---- P3109 ---- */

static const hu_p3109_projection to_nearest;
static const hu_stream stream;

static hu_p3109_array p3109_array(t_world *world) {
  hu_p3109_array z = {codes(world, world->format, 1, LONG, 0, world->inc), world->inc, world->format};
  return z;
}

/* Scale and elements: two operands. */
static hu_p3109_block block(t_world *world) {
  hu_p3109_block z = {world->format, world->format, code_by_value(world, world->format),
                      codes(world, world->format, 1, LONG, 0, 1)};
  return z;
}

static hu_status p3109_compute(t_world *world) {
  hu_p3109_array in[HU_P3109_OPERANDS_MAX] = {p3109_array(world), p3109_array(world), p3109_array(world)};
  return hu_p3109_compute_n(HU_P3109_CLAMP, LONG, result(world, 2 * LONG), world->format, to_nearest, in, &world->exec);
}

static hu_status p3109_neighbour(t_world *world) {
  hu_p3109_array in = p3109_array(world);
  return hu_p3109_compute_n(HU_P3109_NEXT_LESS_THAN, LONG, result(world, 2 * LONG), world->format, to_nearest, &in,
                            &world->exec);
}

static hu_status p3109_block_compute(t_world *world) {
  hu_p3109_block in[2] = {block(world), block(world)};
  uint32_t scale = code_by_value(world, world->format);
  return hu_p3109_block_compute(hu_p3109_find("Add"), LONG, result(world, 2 * LONG), world->format, scale,
                                world->format, to_nearest, in, stream);
}

static hu_status p3109_to_block(t_world *world) {
  const void *x = codes(world, world->format, 1, LONG, 0, 1);
  uint32_t scale = code_by_value(world, world->format);
  return hu_p3109_to_block(LONG, result(world, 2 * LONG), world->format, scale, world->format, to_nearest, x,
                           world->format, stream);
}

static hu_status p3109_to_block_max(t_world *world) {
  const void *x = codes(world, world->format, 1, LONG, 0, 1);
  uint32_t *code = result(world, sizeof *code);
  hu_p3109_scale scale = {world->format, to_nearest, *code};
  hu_status status =
      hu_p3109_to_block_max(LONG, result(world, 2 * LONG), &scale, world->format, to_nearest, x, world->format, stream);
  *code = scale.code;
  return status;
}

static hu_status p3109_from_block(t_world *world) {
  hu_p3109_block in = block(world);
  return hu_p3109_from_block(LONG, result(world, 2 * LONG), world->format, to_nearest, &in, stream);
}

static hu_status p3109_block_add(t_world *world) {
  hu_p3109_block in = block(world);
  return hu_p3109_block_add(LONG, result(world, 4), world->format, to_nearest, &in, 0);
}

static hu_status p3109_block_multiply(t_world *world) {
  hu_p3109_block in = block(world);
  return hu_p3109_block_multiply(LONG, result(world, 4), world->format, to_nearest, &in, 0);
}

static hu_status p3109_block_dot(t_world *world) {
  hu_p3109_block in[2] = {block(world), block(world)};
  return hu_p3109_block_dot(LONG, result(world, 4), world->format, to_nearest, in, 0);
}

/* ---- all-reduce ---- */

static hu_status reduce(t_world *world, int part) {
  enum { BUFFER = HU_COLLECTIVE_PIECE + LONG };
  hu_collective ring;
  hu_status status = hu_collective_parse(&ring, "ring(binary32)", NULL);
  const void *x[M];
  size_t n = part ? LONG : BUFFER;
  for (int r = 0; r < M; r++) x[r] = codes(world, world->format, 1, n, 0, 1);
  void *z = result(world, 4 * n);
  if (status != HU_OK) return status;
  if (!part) return hu_collective_reduce(M, n, z, world->format, x, &ring, &(hu_how){rne, &world->exec, events(world)});
  return hu_collective_reduce_part(M, BUFFER, HU_COLLECTIVE_PIECE, n, z, world->format, x, &ring,
                                   &(hu_how){rne, &world->exec, events(world)});
}

static hu_status reduce_all(t_world *world) { return reduce(world, 0); }
static hu_status reduce_part(t_world *world) { return reduce(world, 1); }

/* ---- the table ---- */

const world_call tensor_calls[] = {{"hu_dot of rows", dots, formats, 3},
                                   {"hu_dot of a unit", dots, units, 4},
                                   {"hu_dot of integers", dots, integers, 2},
                                   {"hu_dot, watched", dots_watched, formats, 3},
                                   {"hu_dot", dot, formats, 3},
                                   {"hu_dot_words", dot_words, formats, 3},
                                   {"hu_dot_exceptions", dot_exceptions, formats, 3},
                                   {"hu_dot_trace", dot_trace, formats, 3},
                                   {"hu_dot_trace of integers", dot_trace, integers, 2},
                                   {"hu_gemm", gemm, formats, 3},
                                   {"hu_multiply, with scales", gemm_scaled, units, 4},
                                   {"hu_multiply, watched", gemm_watched, formats, 3},
                                   {"hu_scaled_decode", scaled_decode, scalings, 2},
                                   {"hu_scaled_apply of rows", scaled_rows_decode, row_scalings, 2},
                                   {"hu_scaled_pack", scaled_pack, packed, 1},
                                   {"hu_hif4_decode", hif4_decode, any, 1},
                                   {"scaled tensors, parts", scaled_gemm_parts, scalings, 4},
                                   {"scaled tensors, decoded", scaled_gemm_decoded, scalings, 4},
                                   {"scaled tensors, unit", scaled_gemm_unit, units, 4},
                                   {"scaled tensors, a plain C", scaled_gemm_plain, small, 5},
                                   {"hu_s2fp8_decode_n", s2fp8_decode, small, 1},
                                   {"products of S2FP8 codes", s2fp8_gemm, small, 2},
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
