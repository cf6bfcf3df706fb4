/* SPDX-License-Identifier: MIT */
/* The matrices of hu_gemm: stored rows of operands as binary32 or binary64, what lies in them; sums rounded into D. */
#include <string.h>

#include "emu/core/bits.h"
#include "emu/core/stream.h"
#include "emu/gemm/call.h"

enum { PIECE = 256 }; /* elements of a buffered piece */

void hu_gemm_matrix(hu_matrix *x, const hu_operand *from, size_t rows, size_t columns, uint32_t levels,
                    const hu_gemm_kernels *kernels) {
  hu_mode rne = {0};
  memset(x, 0, sizeof *x);
  if (!from) return;
  x->moves = kernels;
  x->data = from->data;
  x->rows = rows;
  x->columns = columns;
  x->ld = from->ld;
  x->format = from->format;
  x->spec = hu_spec_of(from->format, rne);
  x->transposed = from->transposed;
  x->values = from->storage == HU_VALUES;
  x->patterns = x->values || hu_format_equal(from->format, hu_format_ieee(8, 23, 0));
  x->size = x->values ? 4 : hu_format_limits(from->format).storage / 8;
  x->least_normal = (uint32_t)(x->spec.bias > 1023 ? x->spec.bias - 1022 : 1) << x->spec.m;
  x->carried = (uint8_t)hu_format_fits_binary32(from->format);
  if (x->carried && hu_narrow_of(&x->undo, &x->spec)) x->kernels = hu_kernels_for(levels);
}

size_t hu_gemm_stored_rows(const hu_matrix *x) { return x->transposed ? x->columns : x->rows; }
size_t hu_gemm_stored_columns(const hu_matrix *x) { return x->transposed ? x->rows : x->columns; }

static const uint8_t *stored_at(const hu_matrix *x, size_t row, size_t column) {
  return (const uint8_t *)x->data + (row * x->ld + column) * x->size;
}

static hu_num load_code(const hu_matrix *x, uint32_t w) { return x->values ? hu_unpack32(w) : hu_unpack(&x->spec, w); }

static hu_num load(const hu_matrix *x, const uint8_t *p) { return load_code(x, hu_load_code(p, x->size)); }

/* A code with an exponent field above 0, finite, and normal in binary64 too, only has to move to its place there. */
static double decode64(const hu_matrix *x, const uint8_t *p) {
  uint32_t code = hu_load_code(p, x->size), c = code & x->spec.mag_mask;
  if (HU_UNLIKELY(c < x->least_normal || c > x->spec.max_code)) return hu_double_of_bits(hu_pack64(load(x, p)));
  uint64_t sign = (uint64_t)((code & x->spec.sign_mask) != 0) << 63;
  return hu_double_of_bits((((uint64_t)c << (52 - x->spec.m)) + ((uint64_t)(1023 - x->spec.bias) << 52)) | sign);
}

hu_num hu_gemm_element(const hu_matrix *x, size_t i, size_t j) {
  return load(x, x->transposed ? stored_at(x, j, i) : stored_at(x, i, j));
}

const float *hu_gemm_direct32(const hu_matrix *x, size_t row, size_t column) {
  return x->patterns ? (const float *)(const void *)stored_at(x, row, column) : NULL;
}

void hu_gemm_read32(const hu_matrix *x, size_t row, size_t column, size_t n, float *z) {
  const uint8_t *p = stored_at(x, row, column);
  if (x->patterns) {
    x->moves->copy(n, z, (const float *)(const void *)p);
  } else if (!x->kernels) {
    for (size_t i = 0; i < n; i++) z[i] = hu_float_of_bits(hu_pack32(load(x, p + i * x->size)));
  } else {
    x->kernels->decode[hu_by_size(x->size)](&x->undo, n, (uint32_t *)(void *)z, p);
  }
}

void hu_gemm_read64(const hu_matrix *x, size_t row, size_t column, size_t n, double *z) {
  const uint8_t *p = stored_at(x, row, column);
  if (!x->patterns && !x->kernels) {
    for (size_t i = 0; i < n; i++) z[i] = decode64(x, p + i * x->size);
    return;
  }
  if (x->patterns) {
    x->moves->widen(n, z, hu_gemm_direct32(x, row, column));
    return;
  }
  for (size_t done = 0; done < n; done += PIECE) {
    float piece[PIECE];
    size_t some = hu_least(n - done, PIECE);
    hu_gemm_read32(x, row, column + done, some, piece);
    x->moves->widen(some, z + done, piece);
  }
}

/* A value of the format rounds to itself. Any NaN will do where the format has NaN; where it has none, NaN becomes a
 * number. */
static int piece_on_grid(const hu_matrix *x, const float *p, size_t n) {
  uint32_t z[PIECE], wrong = 0;
  hu_events ignored;
  if (x->kernels) {
    hu_piece piece = {n, z, (const uint32_t *)(const void *)p, 0, 0, 0};
    memset(&ignored, 0, sizeof ignored);
    x->kernels->quantize(&x->undo, &piece, &ignored);
  } else {
    uint32_t events;
    for (size_t i = 0; i < n; i++) {
      uint32_t code = hu_round(&x->spec, hu_unpack32(hu_bits_of_float(p[i])), 0, &events);
      z[i] = hu_pack32(hu_unpack(&x->spec, code));
    }
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t u = hu_bits_of_float(p[i]), nan = (uint32_t)((u & 0x7FFFFFFFu) > 0x7F800000u);
    wrong |= (uint32_t)(u != z[i]) & ~(nan & (uint32_t)((z[i] & 0x7FFFFFFFu) > 0x7F800000u));
  }
  return !wrong;
}

int hu_gemm_on_grid(const hu_matrix *x, size_t row, size_t rows) {
  size_t columns = hu_gemm_stored_columns(x);
  if (hu_format_equal(x->format, hu_format_ieee(8, 23, 0))) return 1;
  for (size_t i = row; i < row + rows; i++) {
    for (size_t j = 0; j < columns; j += PIECE) {
      const float *p = (const float *)(const void *)stored_at(x, i, j);
      if (!piece_on_grid(x, p, hu_least(columns - j, PIECE))) return 0;
    }
  }
  return 1;
}

/* The least and the largest exponent fields of finite non-zero elements. Binary64 subnormals have field 0: nothing is
 * known of them but the format's lowest place and 2^-1022. */
static void widen_span(const double *p, size_t n, uint64_t *least, uint64_t *most, uint64_t *special) {
  for (size_t i = 0; i < n; i++) {
    uint64_t u = hu_bits_of_double(p[i]) & 0x7FFFFFFFFFFFFFFFu, field = u >> 52;
    *special |= (uint64_t)(field == 0x7FF);
    uint64_t counts = (uint64_t)(u != 0) & (uint64_t)(field != 0x7FF);
    uint64_t low = counts ? field : 0x7FF, high = counts ? field : 0;
    *least = low < *least ? low : *least;
    *most = high > *most ? high : *most;
  }
}

hu_span hu_gemm_span(const hu_matrix *x) {
  hu_span s = {0, 0, 0, 0};
  uint64_t least = 0x7FF, most = 0, special = 0;
  size_t rows = x->data ? hu_gemm_stored_rows(x) : 0, columns = hu_gemm_stored_columns(x);
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < columns; j += PIECE) {
      double piece[PIECE];
      size_t some = hu_least(columns - j, PIECE);
      hu_gemm_read64(x, i, j, some, piece);
      widen_span(piece, some, &least, &most, &special);
    }
  }
  s.special = special != 0;
  if (least == 0x7FF) return s;
  int32_t m = x->spec.m, exponent = (int32_t)least - 1023;
  s.any = 1;
  s.low = exponent < x->spec.emin || least == 0 ? x->spec.emin - m : exponent - m;
  s.high = most == 0 ? -1022 : (int32_t)most - 1022;
  return s;
}

/* ---- the result ---- */

void hu_gemm_set_result(hu_gemm_call *g, const hu_result *d, hu_mode mode, uint32_t levels) {
  g->d = d->data;
  g->ldd = d->ld;
  g->d_values = d->storage == HU_VALUES;
  g->d_size = g->d_values ? 4 : hu_format_limits(d->format).storage / 8;
  g->d_binary32 = hu_format_equal(d->format, hu_format_ieee(8, 23, 0));
  g->spec = hu_spec_of(d->format, mode);
  g->rounding = hu_narrow_of(&g->narrow, &g->spec) ? hu_kernels_for(levels) : NULL;
  g->odd_first = hu_odd_is_enough(&g->spec);
}

static void store(const hu_gemm_call *g, size_t i, size_t j, hu_num sum, hu_events *events) {
  uint32_t set, random = 0;
  if (g->spec.round >= HU_SRA) {
    random = hu_stream_at(g->stream.key, g->stream.counter + (uint64_t)i * g->n + j) >> (32 - g->spec.bits);
  }
  uint32_t code = hu_round(&g->spec, sum, random, &set);
  hu_store_code(g->d + (i * g->ldd + j) * g->d_size, g->d_size,
                g->d_values ? hu_pack32(hu_unpack(&g->spec, code)) : code);
  hu_events_count(events, set);
}

static void finish_kernel(const hu_gemm_call *g, size_t i, size_t j, size_t n, const uint32_t *x, hu_events *events) {
  uint8_t *z = g->d + (i * g->ldd + j) * g->d_size;
  hu_piece piece = {n, z, x, g->stream.key, g->stream.counter + (uint64_t)i * g->n + j, 0};
  if (g->d_values) {
    g->rounding->quantize(&g->narrow, &piece, events);
  } else {
    g->rounding->encode[hu_by_size(g->d_size)](&g->narrow, &piece, events);
  }
}

/* Binary32 sums into binary32 are themselves; 0 if one is special and wants the rules of the mode. */
static int finish_same(const hu_gemm_call *g, size_t i, size_t j, size_t n, const float *x, hu_events *events) {
  uint32_t special = 0, subnormal = 0;
  for (size_t c = 0; c < n; c++) {
    uint32_t u = hu_bits_of_float(x[c]) & 0x7FFFFFFFu;
    special |= (uint32_t)(u >= 0x7F800000u);
    subnormal += (uint32_t)(u - 1 < 0x7FFFFFu);
  }
  if (special) return 0;
  memcpy(g->d + (i * g->ldd + j) * 4, x, n * 4);
  events->subnormal += subnormal;
  return 1;
}

/* An element as the model reads it (hu_source_read of emu/core/accum_plan.h): values stand for their codes. */
static hu_num load_seen(const hu_matrix *x, const uint8_t *p) {
  uint32_t events, w = hu_load_code(p, x->size);
  int is_binary32 = x->spec.m == 23 && x->spec.emin == -126 && x->spec.has_inf;
  if (!x->unseen || !x->values || is_binary32) return load_code(x, w & ~x->unseen);
  return hu_unpack(&x->spec, hu_round(&x->spec, hu_unpack32(w), 0, &events) & ~x->unseen);
}

static int nan_among(const hu_matrix *x, size_t i, size_t j, size_t di, size_t dj, size_t n) {
  for (size_t k = 0; k < n; k++, i += di, j += dj) {
    const uint8_t *p = x->transposed ? stored_at(x, j, i) : stored_at(x, i, j);
    if (load_seen(x, p).kind == HU_KIND_NAN) return 1;
  }
  return 0;
}

/* Is an operand of element (i, j) a NaN? */
static int nan_given(const hu_gemm_call *g, size_t i, size_t j) {
  return (g->c.data && nan_among(&g->c, i, j, 0, 0, 1)) || nan_among(&g->a, i, 0, 0, 1, g->k) ||
         nan_among(&g->b, 0, j, 1, 0, g->k) || nan_among(&g->scale_a, i, 0, 0, 1, g->scale_a.columns) ||
         nan_among(&g->scale_b, 0, j, 1, 0, g->scale_b.rows);
}

/* `made` NaN sums had no NaN operand: invalid, not nan_in. */
static void recount(const hu_gemm_call *g, uint64_t made, hu_events *events) {
  events->nan_in -= made;
  if (g->spec.has_nan || g->spec.nan_to != HU_NAN_TO_ERROR) events->invalid += made;
}

void hu_gemm_finish(const hu_gemm_call *g, size_t i, size_t j, hu_num sum, hu_events *events) {
  int made = sum.kind == HU_KIND_NAN && !nan_given(g, i, j);
  store(g, i, j, sum, events);
  if (made) recount(g, 1, events);
}

uint32_t hu_gemm_zero_sign(const hu_gemm_call *g, size_t i, size_t j) {
  int plus = !g->c.data, minus = 0; /* terms +0, terms -0 */
  if (g->c.data) {
    hu_num c = hu_gemm_element(&g->c, i, j);
    if (c.kind != HU_KIND_ZERO) return g->spec.round == HU_RTN;
    plus = !c.sign;
    minus = c.sign;
  }
  for (size_t k = 0; k < g->k && !(plus && minus); k++) {
    hu_num a = hu_gemm_element(&g->a, i, k), b = hu_gemm_element(&g->b, k, j);
    if (a.kind != HU_KIND_ZERO && b.kind != HU_KIND_ZERO) return g->spec.round == HU_RTN;
    plus |= a.sign == b.sign;
    minus |= a.sign != b.sign;
  }
  return plus && minus ? g->spec.round == HU_RTN : (uint32_t)minus;
}

/* Do zero sums of the exact model want a second look? */
static int zeros_matter(const hu_gemm_call *g) { return g->exact && g->spec.round == HU_RTN && g->spec.negzero; }

/* Before rounding: zero sums of the exact model get the sign of `toward negative`; returns the NaN sums without NaN
 * operand. */
static uint64_t mend32(const hu_gemm_call *g, size_t i, size_t j0, size_t n, float *sum) {
  uint32_t found = (uint32_t)zeros_matter(g);
  uint64_t made = 0;
  for (size_t j = 0; j < n; j++) found |= (uint32_t)((hu_bits_of_float(sum[j]) & 0x7FFFFFFFu) > 0x7F800000u);
  for (size_t j = 0; found && j < n; j++) {
    uint32_t u = hu_bits_of_float(sum[j]);
    if ((u & 0x7FFFFFFFu) > 0x7F800000u) made += !nan_given(g, i, j0 + j);
    if (u == 0 && zeros_matter(g) && hu_gemm_zero_sign(g, i, j0 + j)) sum[j] = hu_float_of_bits(0x80000000u);
  }
  return made;
}

void hu_gemm_finish32(const hu_gemm_call *g, size_t i, size_t j0, size_t n, float *sum, hu_events *events) {
  if (g->d_binary32 && !zeros_matter(g) && finish_same(g, i, j0, n, sum, events)) return;
  uint64_t made = mend32(g, i, j0, n, sum);
  if (g->rounding) {
    finish_kernel(g, i, j0, n, (const uint32_t *)(const void *)sum, events);
  } else {
    for (size_t j = 0; j < n; j++) store(g, i, j0 + j, hu_unpack32(hu_bits_of_float(sum[j])), events);
  }
  if (made) recount(g, made, events);
}

static uint64_t mend64(const hu_gemm_call *g, size_t i, size_t j0, size_t n, double *sum) {
  const uint64_t sign = (uint64_t)1 << 63, inf = 0x7FF0000000000000u;
  uint64_t found = (uint64_t)zeros_matter(g), made = 0;
  for (size_t j = 0; j < n; j++) found |= (uint64_t)((hu_bits_of_double(sum[j]) & ~sign) > inf);
  for (size_t j = 0; found && j < n; j++) {
    uint64_t u = hu_bits_of_double(sum[j]);
    if ((u & ~sign) > inf) made += !nan_given(g, i, j0 + j);
    if (u == 0 && zeros_matter(g) && hu_gemm_zero_sign(g, i, j0 + j)) sum[j] = hu_double_of_bits(sign);
  }
  return made;
}

/* Ties to even into binary32 is the processor's own conversion; 0 if an element is special or near the ends of the
 * range, where events want more care. */
static int finish_near(const hu_gemm_call *g, size_t i, size_t j, size_t n, const double *sum, hu_events *events) {
  float z[PIECE];
  size_t inexact = g->kernels->narrow(n, z, sum);
  if (inexact == SIZE_MAX) return 0;
  memcpy(g->d + (i * g->ldd + j) * 4, z, n * 4);
  events->inexact += inexact;
  return 1;
}

static void finish_piece64(const hu_gemm_call *g, size_t i, size_t j0, size_t n, const double *sum, hu_events *events) {
  uint32_t odd[PIECE];
  if (g->rounding && g->odd_first && !g->rounding->to_odd(n, odd, (const uint64_t *)(const void *)sum)) {
    finish_kernel(g, i, j0, n, odd, events);
    return;
  }
  if (g->d_binary32 && g->spec.round == HU_RNE && finish_near(g, i, j0, n, sum, events)) return;
  for (size_t j = 0; j < n; j++) store(g, i, j0 + j, hu_unpack64(hu_bits_of_double(sum[j])), events);
}

void hu_gemm_finish64(const hu_gemm_call *g, size_t i, size_t j0, size_t n, double *sum, hu_events *events) {
  uint64_t made = mend64(g, i, j0, n, sum);
  for (size_t j = 0; j < n; j += PIECE) finish_piece64(g, i, j0 + j, hu_least(n - j, PIECE), sum + j, events);
  if (made) recount(g, made, events);
}
