/* SPDX-License-Identifier: MIT */
/* The matrices of a product: stored rows of operands as binary32 or binary64, and what lies in them. */
#include <string.h>

#include "emu/core/bits.h"
#include "emu/core/stream.h"
#include "emu/gemm/call.h"

enum { PIECE = 256 }; /* elements of a buffered piece */

void hui_gemm_matrix(hu_matrix *x, const hu_view *from, const hu_spec *spec, size_t rows, size_t cols,
                     const hu_level *level, const hu_gemm_kernels *kernels) {
  memset(x, 0, sizeof *x);
  if (hui_matrix_is_absent(from)) return;
  x->moves = kernels;
  x->data = from->data;
  x->rows = rows;
  x->cols = cols;
  x->ld = hui_matrix_ld(from);
  x->format = from->type.format;
  x->spec = *spec;
  x->transposed = (uint8_t)hui_matrix_is_transposed(from);
  x->values = !hui_matrix_is_codes(from);
  x->patterns = x->values || hu_format_equal(x->format, hui_format_binary32());
  x->size = x->values ? 4 : x->spec.code_bytes;
  x->least_normal = (uint32_t)(x->spec.bias > 1023 ? x->spec.bias - 1022 : 1) << x->spec.m;
  x->carried = x->spec.fits_binary32;
  if (x->carried && hui_lane_constants_of(&x->constants, &x->spec)) x->kernels = level->convert;
}

size_t hui_gemm_stored_rows(const hu_matrix *x) { return x->transposed ? x->cols : x->rows; }
size_t hui_gemm_stored_cols(const hu_matrix *x) { return x->transposed ? x->rows : x->cols; }

static const uint8_t *stored_at(const hu_matrix *x, size_t row, size_t column) {
  return (const uint8_t *)x->data + (row * x->ld + column) * x->size;
}

static hu_num load_code(const hu_matrix *x, uint32_t word) {
  return x->values ? hui_unpack32(word) : hui_unpack(&x->spec, word);
}

static hu_num load(const hu_matrix *x, const uint8_t *at) { return load_code(x, hui_load_code(at, x->size)); }

/* A code with an exponent field above 0, finite, and normal in binary64 too, only has to move to its place there. */
static double decode64(const hu_matrix *x, const uint8_t *at) {
  uint32_t code = hui_load_code(at, x->size), c = code & x->spec.mag_mask;
  if (HU_UNLIKELY(c < x->least_normal || c > x->spec.max_code)) return hui_double_of_bits(hui_pack64(load(x, at)));
  uint64_t sign = (uint64_t)((code & x->spec.sign_mask) != 0) << 63;
  return hui_double_of_bits((((uint64_t)c << (52 - x->spec.m)) + ((uint64_t)(1023 - x->spec.bias) << 52)) | sign);
}

hu_num hui_gemm_element(const hu_matrix *x, size_t i, size_t j) {
  return load(x, x->transposed ? stored_at(x, j, i) : stored_at(x, i, j));
}

const float *hui_gemm_direct32(const hu_matrix *x, size_t row, size_t column) {
  return x->patterns ? (const float *)(const void *)stored_at(x, row, column) : NULL;
}

void hui_gemm_read32(const hu_matrix *x, size_t row, size_t column, size_t n, float *z) {
  const uint8_t *at = stored_at(x, row, column);
  if (x->patterns) {
    x->moves->copy(n, z, (const float *)(const void *)at);
  } else if (!x->kernels) {
    for (size_t i = 0; i < n; i++) z[i] = hui_float_of_bits(hui_pack32(load(x, at + i * x->size)));
  } else {
    x->kernels->decode_within[hui_by_size(x->size)](&x->constants, n, (uint32_t *)(void *)z, at);
  }
}

void hui_gemm_read64(const hu_matrix *x, size_t row, size_t column, size_t n, double *z) {
  const uint8_t *at = stored_at(x, row, column);
  if (!x->patterns && !x->kernels) {
    for (size_t i = 0; i < n; i++) z[i] = decode64(x, at + i * x->size);
    return;
  }
  if (x->patterns) {
    x->moves->widen(n, z, hui_gemm_direct32(x, row, column));
    return;
  }
  for (size_t done = 0; done < n; done += PIECE) {
    float piece[PIECE];
    size_t some = hui_least(n - done, PIECE);
    hui_gemm_read32(x, row, column + done, some, piece);
    x->moves->widen(some, z + done, piece);
  }
}

/* A value of the format rounds to itself. Any NaN will do where the format has NaN; where it has none, NaN becomes a
 * number. */
static int piece_on_grid(const hu_matrix *x, const float *numbers, size_t n) {
  uint32_t z[PIECE], wrong = 0;
  hu_events ignored;
  if (x->kernels) {
    hu_piece piece = {n, z, (const uint32_t *)(const void *)numbers, 0, 0, 0};
    memset(&ignored, 0, sizeof ignored);
    x->kernels->quantize_within(&x->constants, &piece, &ignored);
  } else {
    uint32_t events;
    for (size_t i = 0; i < n; i++) {
      uint32_t code = hui_round(&x->spec, hui_unpack32(hui_bits_of_float(numbers[i])), 0, &events);
      z[i] = hui_pack32(hui_unpack(&x->spec, code));
    }
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t bits = hui_bits_of_float(numbers[i]), nan = (uint32_t)((bits & 0x7FFFFFFFu) > 0x7F800000u);
    wrong |= (uint32_t)(bits != z[i]) & ~(nan & (uint32_t)((z[i] & 0x7FFFFFFFu) > 0x7F800000u));
  }
  return !wrong;
}

int hui_gemm_on_grid(const hu_matrix *x, size_t row, size_t rows) {
  size_t cols = hui_gemm_stored_cols(x);
  if (hu_format_equal(x->format, hui_format_binary32())) return 1;
  for (size_t i = row; i < row + rows; i++) {
    for (size_t j = 0; j < cols; j += PIECE) {
      const float *numbers = (const float *)(const void *)stored_at(x, i, j);
      if (!piece_on_grid(x, numbers, hui_least(cols - j, PIECE))) return 0;
    }
  }
  return 1;
}

/* The least and the largest exponent fields of finite non-zero elements. Binary64 subnormals have field 0: nothing is
 * known of them but the format's lowest place and 2^-1022. */
static void widen_span(const double *x, size_t n, uint64_t *least, uint64_t *most, uint64_t *special) {
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = hui_bits_of_double(x[i]) & 0x7FFFFFFFFFFFFFFFu, field = bits >> 52;
    *special |= (uint64_t)(field == 0x7FF);
    uint64_t counts = (uint64_t)(bits != 0) & (uint64_t)(field != 0x7FF);
    uint64_t low = counts ? field : 0x7FF, high = counts ? field : 0;
    *least = low < *least ? low : *least;
    *most = high > *most ? high : *most;
  }
}

static hu_span span_of(const hu_matrix *x) {
  hu_span span = {0, 0, 0, 0};
  uint64_t least = 0x7FF, most = 0, special = 0;
  size_t rows = x->data ? hui_gemm_stored_rows(x) : 0, cols = hui_gemm_stored_cols(x);
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j += PIECE) {
      double piece[PIECE];
      size_t some = hui_least(cols - j, PIECE);
      hui_gemm_read64(x, i, j, some, piece);
      widen_span(piece, some, &least, &most, &special);
    }
  }
  span.special = special != 0;
  if (least == 0x7FF) return span;
  int32_t m = x->spec.m, exponent = (int32_t)least - 1023;
  span.any = 1;
  span.low = exponent < x->spec.emin || least == 0 ? x->spec.emin - m : exponent - m;
  span.high = most == 0 ? -1022 : (int32_t)most - 1022;
  return span;
}

/* Reads an element as the model does (hui_source_read of emu/core/accum_plan.h): values stand for their codes. */
static hu_num load_seen(const hu_matrix *x, const uint8_t *at) {
  uint32_t events, word = hui_load_code(at, x->size);
  int is_binary32 = x->spec.m == 23 && x->spec.emin == -126 && x->spec.has_inf;
  if (x->nan_kept && load_code(x, word).kind == HU_KIND_NAN) return load_code(x, word);
  if (!x->unseen || !x->values || is_binary32) return load_code(x, word & ~x->unseen);
  return hui_unpack(&x->spec, hui_round(&x->spec, hui_unpack32(word), 0, &events) & ~x->unseen);
}

int hui_gemm_nan_among(const hu_matrix *x, size_t i, size_t j, size_t di, size_t dj, size_t n) {
  for (size_t k = 0; k < n; k++, i += di, j += dj) {
    const uint8_t *at = x->transposed ? stored_at(x, j, i) : stored_at(x, i, j);
    if (load_seen(x, at).kind == HU_KIND_NAN) return 1;
  }
  return 0;
}

void hui_gemm_look(hu_gemm_call *call) {
  if (call->looked) return;
  call->sa = span_of(&call->a);
  call->sb = span_of(&call->b);
  call->sc = span_of(&call->c);
  call->looked = 1;
}
