/* SPDX-License-Identifier: MIT */
/* Codes, scales and values of a tensor: see layouts.h.
 *
 * Products of a code (at most 24 digits) and a scale (24) are exact in binary64, and one rounding brings them into
 * binary32; quotients and sums are the library's own, so that no result depends on the CPU's rounding direction. */
#include <string.h>

#include "halfulp/arith.h"
#include "halfulp/array.h"
#include "halfulp/formats/fnuz.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "halfulp/scalar.h"
#include "halfulp/scaled.h"
#include "layouts/layouts.h"

enum { BLOCK = 1024 };

static const hu_mode nearest = {0};

/* Bits at a place; a code of up to 8 bits lies in two bytes at most. */
static unsigned bits_at(const uint8_t *bytes, size_t at, unsigned bits) {
  unsigned shift = at & 7, word = bytes[at >> 3];
  if (shift + bits > 8) word |= (unsigned)bytes[(at >> 3) + 1] << 8;
  return word >> shift & ((1u << bits) - 1);
}

/* A code in a stream of words that runs down a column: its bits may lie in two words, one line apart. */
static unsigned down_column(const hui_codes *z, const uint8_t *bytes, size_t column, size_t place) {
  size_t bit = place * z->bits, word = bit / 32, first = bit % 32;
  size_t at = (word * z->line + column) * 32 + first, below = ((word + 1) * z->line + column) * 32;
  if (first + z->bits <= 32) return bits_at(bytes, at, z->bits);
  unsigned low = (unsigned)(32 - first);
  return bits_at(bytes, at, low) | bits_at(bytes, below, z->bits - low) << low;
}

unsigned hui_code(const hui_codes *z, size_t m, size_t r, size_t c) {
  static const uint8_t awq[] = {0, 4, 1, 5, 2, 6, 3, 7};
  const uint8_t *bytes = z->bytes + m * z->matrix;
  unsigned per = 32u / z->bits;
  switch (z->packing) {
    case HUI_FLAT: return bits_at(z->bytes, ((m * z->rows + r) * z->cols + c) * z->bits, z->bits);
    case HUI_FLAT_HIGH: return bits_at(z->bytes, ((m * z->rows + r) * z->cols + c) * 4 ^ 4, 4);
    case HUI_LOW: return bits_at(bytes, r * z->line * 8 + c * 4, 4);
    case HUI_HIGH: return bits_at(bytes, r * z->line * 8 + (c ^ 1) * 4, 4);
    case HUI_SIX: return bits_at(bytes, r * z->line * 8 + c * 6, 6);
    case HUI_STREAM: return bits_at(bytes, r * z->line * 32 + c * z->bits, z->bits);
    case HUI_WORDS: return bits_at(bytes, (r * z->line + c / per) * 32 + c % per * z->bits, z->bits);
    case HUI_COLUMN: return down_column(z, bytes, r, c);
    case HUI_AWQ: return bits_at(bytes, (c * z->line + r / 8) * 32 + awq[r % 8] * 4u, 4);
    default: return bits_at(bytes, (r / 2 * z->line + c) * 8 + (r & 1) * 4, 4);
  }
}

/* ---- scales ---- */

static hu_format format_of(int dtype, uint8_t type) {
  if (dtype == ST_U8 && type == HUI_SCALE_E5M3) return hu_ue5m3();
  if (dtype == ST_U8 && type == HUI_SCALE_E4M3) return hu_float8_e4m3fn();
  if (dtype == ST_U8 || dtype == ST_F8_E8M0) return hu_float8_e8m0fnu();
  switch (dtype) {
    case ST_F4: return hu_float4_e2m1fn();
    case ST_F6_E2M3: return hu_float6_e2m3fn();
    case ST_F6_E3M2: return hu_float6_e3m2fn();
    case ST_F8_E4M3: return hu_float8_e4m3fn();
    case ST_F8_E5M2: return hu_float8_e5m2();
    case ST_F8_E4M3FNUZ: return hu_float8_e4m3fnuz();
    case ST_F8_E5M2FNUZ: return hu_float8_e5m2fnuz();
    case ST_F16: return hu_binary16();
    case ST_BF16: return hu_bfloat16();
    default: return hu_binary32();
  }
}

/* Returns a scale as it is stored. */
static uint32_t stored(const hui_raw *raw, size_t i) {
  unsigned bytes = st_dtype_bits(raw->tensor->dtype) / 8;
  uint32_t code = 0;
  for (unsigned k = 0; k < bytes && k < 4; k++) code |= (uint32_t)raw->bytes[i * bytes + k] << 8 * k;
  return code;
}

uint32_t hui_scale_bits(const hui_raw *raw, uint8_t type, size_t i) {
  uint32_t code = stored(raw, i);
  hu_format format = format_of(raw->tensor->dtype, type);
  return st_dtype_bits(raw->tensor->dtype) > 16 ? code : hu_convert(hu_binary32(), nearest, format, code, 0, NULL);
}

static uint32_t product(uint32_t a, uint32_t b) {
  hu_format f = hu_binary32();
  return hu_mul(f, nearest, f, a, f, b, 0, NULL);
}

/* Returns a statistic of bitsandbytes: itself, or what a code of a nested one stands for. */
static uint32_t run_scale(const hui_tensor *z, size_t i) {
  hu_format f = hu_binary32();
  if (!z->nested) return hui_scale_bits(z->scale, HUI_SCALE_DTYPE, i);
  uint32_t map = hui_scale_bits(z->nested_map, HUI_SCALE_DTYPE, z->scale->bytes[i]);
  uint32_t by = hui_scale_bits(z->nested, HUI_SCALE_DTYPE, i / z->nested_block);
  uint32_t offset = hu_encode64(f, nearest, z->offset, 0, NULL);
  return hu_add(f, nearest, f, product(map, by), f, offset, 0, NULL);
}

/* The group of a column: its own where the file has an order. */
static size_t group_of(const hui_tensor *z, size_t c) {
  if (!z->order) return c / z->block[1];
  const uint8_t *at = z->order->bytes + 4 * c;
  return at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

size_t hui_scale_place(const hui_tensor *z, size_t m, size_t r, size_t c) {
  if (z->grid == HUI_RUNS) return (r * z->cols + c) / z->block[1];
  if (z->grid == HUI_TILES) return m * z->matrix + hu_scaled_tile_place(r, c / z->block[1], z->across);
  return m * z->matrix + r / z->block[0] * z->down + group_of(z, c) * z->across;
}

/* Returns the factor of a block, a binary32 pattern. */
static uint32_t factor(const hui_tensor *z, size_t m, size_t place) {
  hu_format f = hu_binary32();
  if (z->grid == HUI_RUNS) return run_scale(z, place);
  uint32_t s = hui_scale_bits(z->scale, z->scale_type, place);
  if (!z->second) return s;
  uint32_t t = hui_scale_bits(z->second, HUI_SCALE_DTYPE, m * z->second_step);
  return z->layout->divide ? hu_div(f, nearest, f, s, f, t, 0, NULL) : product(s, t);
}

static double of_bits(uint32_t bits) { return hu_decode64(hu_binary32(), bits); }

/* ---- values ---- */

static double integer_of(unsigned code, unsigned bits, int twos) {
  int z = (int)code;
  return twos && code >> (bits - 1) ? z - (1 << bits) : z;
}

/* Numbers of all codes of a tensor. */
static void fill_numbers(double numbers[256], const hui_tensor *z) {
  hu_format format = z->element == HUI_E2M1   ? hu_float4_e2m1fn()
                     : z->element == HUI_E4M3 ? hu_float8_e4m3fn()
                     : z->element == HUI_E2M3 ? hu_float6_e2m3fn()
                     : z->element == HUI_E3M2 ? hu_float6_e3m2fn()
                                              : format_of(z->raw->tensor->dtype, HUI_SCALE_DTYPE);
  unsigned bits = z->codes.bits;
  for (unsigned code = 0; code < 1u << bits; code++) switch (z->element) {
      case HUI_OFFSET: numbers[code] = (double)code - (z->zero ? 0 : 1 << (bits - 1)); break;
      case HUI_TWOS: numbers[code] = integer_of(code, bits, 1); break;
      case HUI_UNSIGNED: numbers[code] = code; break;
      case HUI_TABLE: numbers[code] = of_bits(hui_scale_bits(z->map, HUI_SCALE_DTYPE, code)); break;
      default: numbers[code] = hu_decode64(format, code);
    }
}

static double zero_of(const hui_tensor *z, size_t m, size_t r, size_t group, size_t place) {
  if (!z->zero) return 0;
  int turned =
      !z->zero_by_row && (z->zeros.packing == HUI_STREAM || z->zeros.packing == HUI_COLUMN); /* rows are groups */
  unsigned code =
      z->zero_flat ? hui_code(&z->zeros, 0, 0, place) : hui_code(&z->zeros, m, turned ? group : r, turned ? r : group);
  return integer_of(code, z->zeros.bits, z->zero_twos) + z->layout->zero_plus;
}

/* What is the same for a block: its place, factor, zero point and bias. */
typedef struct block_of {
  size_t matrix, place;
  uint32_t factor, bias;
  double number, zero;
} block_of;

static void enter(block_of *b, const hui_tensor *z, size_t m, size_t r, size_t c, size_t place) {
  b->matrix = m;
  b->place = place;
  b->factor = factor(z, m, place);
  b->number = of_bits(b->factor);
  b->zero = z->zero ? zero_of(z, m, r, group_of(z, c), place) : 0;
  if (z->bias) b->bias = hui_scale_bits(z->bias, HUI_SCALE_DTYPE, place);
}

static double affine(double q, const block_of *b) {
  hu_format f = hu_binary32();
  uint32_t code = hu_encode64(f, nearest, q, 0, NULL);
  return of_bits(hu_fma(f, nearest, f, code, f, b->factor, f, b->bias, 0, NULL));
}

/* Computes elements first .. first + n - 1, before the rounding into binary32. */
static void fill(double *out, const hui_tensor *z, const double numbers[256], size_t first, size_t n) {
  block_of now = {SIZE_MAX, SIZE_MAX, 0, 0, 1, 0};
  size_t each = z->rows * z->cols;
  for (size_t i = 0; i < n; i++) {
    size_t m = (first + i) / each, r = (first + i) % each / z->cols, c = (first + i) % z->cols;
    double q = numbers[hui_code(&z->codes, m, r, c)];
    if (z->scale) {
      size_t place = hui_scale_place(z, m, r, c);
      if (place != now.place || m != now.matrix) enter(&now, z, m, r, c, place);
    }
    if (z->zero) q = q == now.zero ? 0 : q - now.zero; /* a difference of 0 is +0 in every rounding direction */
    out[i] = z->bias ? affine(q, &now) : q * now.number;
  }
}

/* Ordinary numbers: integers and floats as they are. */
static double ordinary(const hui_raw *raw, size_t i) {
  int dtype = raw->tensor->dtype;
  unsigned bytes = st_dtype_bits(dtype) / 8;
  uint64_t bits = 0;
  for (unsigned k = 0; k < bytes; k++) bits |= (uint64_t)raw->bytes[i * bytes + k] << 8 * k;
  int sign = dtype == ST_I8 || dtype == ST_I16 || dtype == ST_I32;
  double z;
  memcpy(&z, &bits, sizeof z);
  if (dtype == ST_F64) return z;
  if (dtype == ST_F32 || dtype == ST_F16 || dtype == ST_BF16) return hu_decode64(format_of(dtype, 0), (uint32_t)bits);
  if (sign && bits >> (8 * bytes - 1)) return (double)bits - (double)((uint64_t)1 << 8 * bytes);
  return (double)bits;
}

/* A rounding of 64-bit integers to binary64 first could fall on a tie of binary32: the sticky bit avoids it. */
static double wide_integer(const hui_raw *raw, size_t i) {
  uint64_t bits = 0;
  for (unsigned k = 0; k < 8; k++) bits |= (uint64_t)raw->bytes[i * 8 + k] << 8 * k;
  int negative = raw->tensor->dtype == ST_I64 && bits >> 63;
  uint64_t size = negative ? 0 - bits : bits;
  unsigned cut = 0;
  for (; size >> 53; cut++) size = size >> 1 | (size & 1);
  double z = (double)size * (double)((uint64_t)1 << cut);
  return negative ? -z : z;
}

static hu_status round_block(float *z, const double *x, size_t n) {
  return hu_encode64_n(n, z, 1, x, 1, hu_binary32(), nearest, NULL, NULL);
}

/* Floats of an ordinary dtype, through a copy that is aligned. */
static int ordinary_floats(double *z, const hui_raw *raw, size_t first, size_t n) {
  uint32_t copy[BLOCK];
  int dtype = raw->tensor->dtype;
  const uint16_t one = 1;
  if ((dtype != ST_F32 && dtype != ST_F16 && dtype != ST_BF16) || !*(const uint8_t *)&one) return 0;
  size_t bytes = st_dtype_bits(dtype) / 8;
  float values[BLOCK];
  memcpy(copy, raw->bytes + first * bytes, n * bytes);
  if (!hui_is_ieee()) return hu_decode64_n(n, z, 1, copy, 1, format_of(dtype, 0), NULL) == HU_OK;
  int good = hu_decode_n(n, values, 1, copy, 1, format_of(dtype, 0), NULL) == HU_OK;
  for (size_t i = 0; i < n && good; i++) z[i] = (double)values[i];
  return good;
}

/* Multiplies values of GGUF with the second scales of their matrices. */
static void times_second(float *z, const hui_tensor *x, size_t first, size_t n) {
  uint32_t a;
  for (size_t i = 0; i < n; i++) {
    memcpy(&a, &z[i], sizeof a);
    a = product(a, hui_scale_bits(x->second, HUI_SCALE_DTYPE, (first + i) / (x->rows * x->cols) * x->second_step));
    memcpy(&z[i], &a, sizeof a);
  }
}

/* Computes at most BLOCK elements, before the rounding into binary32. */
static void exact_block(double *z, const hu_checkpoint *x, const hui_tensor *tensor, const double numbers[256],
                        size_t first, size_t n) {
  int dtype = tensor->raw->tensor->dtype;
  if (x->format_text) {
    hui_npy_read(x, tensor, first, n, z);
  } else if (hui_gguf_is_blocks(tensor->raw)) {
    float part[BLOCK];
    hui_gguf_read(part, tensor, first, n);
    if (tensor->second) times_second(part, tensor, first, n);
    for (size_t i = 0; i < n; i++) z[i] = (double)part[i];
  } else if (tensor->layout || tensor->plain) {
    fill(z, tensor, numbers, first, n);
  } else if (!ordinary_floats(z, tensor->raw, first, n)) {
    for (size_t i = 0; i < n; i++)
      z[i] =
          dtype == ST_I64 || dtype == ST_U64 ? wide_integer(tensor->raw, first + i) : ordinary(tensor->raw, first + i);
  }
}

static hu_status check_part(const hu_checkpoint *x, size_t i, size_t first, size_t n, const void *z) {
  if (!x || (!z && n)) return HU_E_NULL;
  if (i >= x->count || first > x->tensors[i].count || n > x->tensors[i].count - first) return HU_E_SHAPE;
  const hui_tensor *tensor = &x->tensors[i];
  if (!hui_is_whole(tensor)) return HU_E_FILE;
  return tensor->raw->tensor->dtype == ST_C64 && !tensor->layout && !tensor->plain ? HU_E_FORMAT : HU_OK;
}

/* Fills the numbers of its codes where its values are made of them. */
static void prepare(double numbers[256], const hui_tensor *tensor) {
  int wide = tensor->codes.bits > 8; /* codes of an .npy file */
  if ((tensor->layout || tensor->plain) && !wide && !hui_gguf_is_blocks(tensor->raw)) fill_numbers(numbers, tensor);
}

hu_status hui_exact(const hu_checkpoint *x, size_t i, size_t first, size_t n, double *z) {
  hu_status status = check_part(x, i, first, n, z);
  double numbers[256];
  if (status == HU_OK && n) prepare(numbers, &x->tensors[i]);
  for (size_t k = 0; k < n && status == HU_OK; k += BLOCK)
    exact_block(z + k, x, &x->tensors[i], numbers, first + k, n - k < BLOCK ? n - k : BLOCK);
  return status;
}

hu_status hu_checkpoint_read(const hu_checkpoint *x, size_t i, size_t first, size_t n, float *z) {
  hu_status status = check_part(x, i, first, n, z);
  double block[BLOCK], numbers[256];
  if (status == HU_OK && n) prepare(numbers, &x->tensors[i]);
  for (size_t k = 0; k < n && status == HU_OK; k += BLOCK) {
    size_t some = n - k < BLOCK ? n - k : BLOCK;
    exact_block(block, x, &x->tensors[i], numbers, first + k, some);
    status = round_block(z + k, block, some);
  }
  return status;
}

hu_status hu_checkpoint_codes(const hu_checkpoint *x, size_t i, size_t first, size_t n, uint8_t *z) {
  if (!x || (!z && n)) return HU_E_NULL;
  if (i >= x->count || first > x->tensors[i].count || n > x->tensors[i].count - first) return HU_E_SHAPE;
  const hui_tensor *tensor = &x->tensors[i];
  if ((!tensor->layout && !tensor->plain) || hui_gguf_is_blocks(tensor->raw)) return HU_E_FORMAT;
  if (!hui_is_whole(tensor)) return HU_E_FILE;
  if (x->format_text && tensor->raw->tensor->dtype != ST_U8) return HU_E_FORMAT;
  size_t each = tensor->rows * tensor->cols;
  for (size_t k = 0; k < n; k++) {
    size_t at = first + k;
    z[k] = (uint8_t)hui_code(&tensor->codes, at / each, at % each / tensor->cols, at % tensor->cols);
  }
  return HU_OK;
}

static size_t parts(size_t n, size_t size) { return n / size + (n % size != 0); }

hu_status hu_checkpoint_scales(const hu_checkpoint *x, size_t i, size_t first, size_t n, uint32_t *z) {
  if (!x || (!z && n)) return HU_E_NULL;
  if (i >= x->count) return HU_E_SHAPE;
  const hui_tensor *tensor = &x->tensors[i];
  if (!tensor->scale || tensor->zero || tensor->bias || tensor->order || tensor->grid == HUI_RUNS) return HU_E_FORMAT;
  if (!hui_is_whole(tensor)) return HU_E_FILE;
  size_t across = parts(tensor->cols, tensor->block[1]), each = parts(tensor->rows, tensor->block[0]) * across;
  size_t all = tensor->count ? tensor->count / tensor->rows / tensor->cols * each : 0;
  if (first > all || n > all - first) return HU_E_SHAPE;
  for (size_t k = 0; k < n; k++) {
    size_t m = (first + k) / each, r = (first + k) % each / across, c = (first + k) % across;
    z[k] = stored(tensor->scale, hui_scale_place(tensor, m, r * tensor->block[0], c * tensor->block[1]));
  }
  return HU_OK;
}

float hu_checkpoint_second(const hu_checkpoint *x, size_t i, size_t m) {
  const hui_tensor *tensor = x && i < x->count ? &x->tensors[i] : NULL;
  if (!tensor || !tensor->second || !hui_is_whole(tensor) || m * tensor->second_step >= tensor->second->tensor->count)
    return 1;
  float z = hu_decode(hu_binary32(), hui_scale_bits(tensor->second, HUI_SCALE_DTYPE, m * tensor->second_step));
  return tensor->layout->divide ? 1 / z : z;
}
