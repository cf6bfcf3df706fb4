/* SPDX-License-Identifier: MIT */
/* Which scale each code of an ONNX model has, after the nodes that read it: DequantizeLinear and MatMulNBits. See
 * layouts.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layouts/layouts.h"

static const hui_raw *named(const hu_checkpoint *x, const json_t *link, const char *key) {
  const char *name = json_string_value(json_object_get(link, key));
  return name ? hui_raw_find(x, name) : NULL;
}

static int wrong(hu_checkpoint *x, const hui_raw *raw, const char *what) {
  char shown[ST_NAME_MAX], shape[ST_SHAPE_MAX];
  return hui_wrong(x, "%s: tensor '%s', %s %s: %s", raw->shard->path, st_printable(shown, raw->tensor->name),
                   st_dtype_name(raw->tensor->dtype), st_shape(shape, raw->tensor->dims, raw->tensor->shape), what);
}

static int element_of(int dtype) {
  if (dtype == ST_I8 || dtype == ST_I4 || dtype == ST_I2) return HUI_TWOS;
  if (dtype == ST_U8 || dtype == ST_U4 || dtype == ST_U2) return HUI_UNSIGNED;
  int codes = dtype == ST_F4 || dtype == ST_F8_E4M3 || dtype == ST_F8_E5M2 || dtype == ST_F8_E4M3FNUZ ||
              dtype == ST_F8_E5M2FNUZ;
  return codes ? HUI_OF_DTYPE : -1;
}

static int is_scale(int dtype, int second) {
  return dtype == ST_F32 || dtype == ST_F16 || dtype == ST_BF16 || dtype == ST_F8_E8M0 ||
         (second && dtype == ST_F8_E4M3);
}

int hui_onnx_has_link(const hu_checkpoint *x, const hui_raw *raw) {
  const json_t *link = json_object_get(x->links, raw->tensor->name);
  return link && named(x, link, "scale") && element_of(raw->tensor->dtype) >= 0;
}

static size_t parts(size_t n, size_t size) { return n / size + (n % size != 0); }

static void set_grid(hui_tensor *z, size_t rows, size_t cols, size_t down, size_t across, size_t matrix) {
  z->block[0] = rows ? rows : 1;
  z->block[1] = cols ? cols : 1;
  z->down = down;
  z->across = across;
  z->matrix = matrix;
}

static int set_shape(hu_checkpoint *x, hui_tensor *z, uint32_t dims, const size_t *shape) {
  z->name = strdup(z->raw->tensor->name);
  z->shape = malloc((dims ? dims : 1) * sizeof *shape);
  if (!z->name || !z->shape) return hui_wrong(x, "%s: out of memory", x->path);
  if (dims) memcpy(z->shape, shape, dims * sizeof *shape);
  z->dims = dims;
  z->count = 1;
  for (uint32_t i = 0; i < dims; i++)
    if (__builtin_mul_overflow(z->count, shape[i], &z->count)) return wrong(x, z->raw, "is too large");
  return 1;
}

/* ---- DequantizeLinear ---- */

/* Takes a scale for each place of an axis, or for each block of it. The tensor is a matrix of the axis and what stands
 * behind it; where nothing does, of what stands before it and the axis. */
static int lay_axis(hu_checkpoint *x, hui_tensor *z, size_t axis, size_t block) {
  const st_tensor *s = z->scale->tensor;
  size_t side = z->shape[axis], inner = 1, blocks = block ? parts(side, block) : side;
  for (uint32_t i = (uint32_t)axis + 1; i < z->dims; i++) inner *= z->shape[i];
  int fits = block ? s->dims == z->dims : s->dims == 1 && s->count == side;
  for (uint32_t i = 0; i < z->dims && block && fits; i++) fits = s->shape[i] == (i == axis ? blocks : z->shape[i]);
  if (!fits)
    return wrong(x, z->raw,
                 block ? "has not a scale for each block of DequantizeLinear"
                       : "has not a scale for each place of the axis of DequantizeLinear");
  z->rows = inner == 1 ? (side ? z->count / side : 0) : side;
  z->cols = inner == 1 ? side : inner;
  if (inner == 1 && block) return set_grid(z, 1, block, blocks, 1, 0), 1;
  if (inner == 1) return set_grid(z, z->rows, 1, 0, 1, 0), 1;
  if (block) return set_grid(z, block, 1, inner, 1, blocks * inner), 1;
  return set_grid(z, 1, inner, 1, 0, 0), 1;
}

static int lay_zero(hu_checkpoint *x, hui_tensor *z) {
  if (!z->zero) return 1;
  const st_tensor *zero = z->zero->tensor, *s = z->scale->tensor;
  if (zero->dtype != z->raw->tensor->dtype || zero->count != s->count)
    return wrong(x, z->zero, "is no zero point for each scale");
  if (z->element == HUI_OF_DTYPE) {
    for (size_t i = 0; i < zero->size; i++)
      if (z->zero->bytes[i]) return wrong(x, z->zero, "is a zero point of a float that is not 0");
    z->zero = NULL;
    return 1;
  }
  z->zeros = (hui_codes){z->zero->bytes, 1, zero->count, 0, 0, HUI_FLAT, (uint8_t)st_dtype_bits(zero->dtype)};
  z->zero_twos = z->element == HUI_TWOS;
  z->zero_flat = 1;
  return 1;
}

static int lay_linear(hu_checkpoint *x, hui_tensor *z, const json_t *link) {
  const st_tensor *tensor = z->raw->tensor;
  json_int_t axis = json_integer_value(json_object_get(link, "axis")),
             block = json_integer_value(json_object_get(link, "block"));
  z->element = (uint8_t)element_of(tensor->dtype);
  if (!set_shape(x, z, tensor->dims, tensor->shape)) return 0;
  z->codes = (hui_codes){z->raw->bytes, 0, 0, 0, 0, HUI_FLAT, (uint8_t)st_dtype_bits(tensor->dtype)};
  z->rows = 1;
  z->cols = z->count;
  int whole = z->scale->tensor->count == 1 && !block;
  if (axis < 0) axis += tensor->dims;
  if (whole) {
    z->cols = z->dims ? z->shape[z->dims - 1] : 1;
    z->rows = z->cols ? z->count / z->cols : 0;
    set_grid(z, z->rows, z->cols, 0, 0, 0);
  }
  if (!whole && (axis < 0 || axis >= (json_int_t)tensor->dims || block < 0))
    return wrong(x, z->raw, "its DequantizeLinear has an axis that it does not have");
  if (!whole && !lay_axis(x, z, (size_t)axis, (size_t)block)) return 0;
  z->codes.rows = z->rows;
  z->codes.cols = z->cols;
  return lay_zero(x, z);
}

/* ---- MatMulNBits ---- */

/* Sets codes [N, blocks, bytes of a block], the last one filled up; N x blocks scales; zero points of whole bytes per
 * row. */
static int lay_bits(hu_checkpoint *x, hui_tensor *z, const json_t *link) {
  json_int_t n = json_integer_value(json_object_get(link, "n")), k = json_integer_value(json_object_get(link, "k"));
  json_int_t block = json_integer_value(json_object_get(link, "block")),
             bits = json_integer_value(json_object_get(link, "bits"));
  if (z->raw->tensor->dtype != ST_U8 || n < 1 || k < 1 || block < 16 || block > 1 << 20 || (bits != 4 && bits != 8) ||
      n > INT32_MAX || k > INT32_MAX)
    return wrong(x, z->raw, "its MatMulNBits has other attributes than are read (N, K, block_size, bits 4 or 8)");
  size_t shape[2] = {(size_t)n, (size_t)k}, blocks = parts((size_t)k, (size_t)block),
         line = blocks * (size_t)(block * bits) / 8;
  if (!set_shape(x, z, 2, shape)) return 0;
  if (z->raw->tensor->size != line * shape[0] || z->scale->tensor->count != blocks * shape[0])
    return wrong(x, z->raw, "its bytes or scales are not those of N, K and block_size of MatMulNBits");
  z->rows = shape[0];
  z->cols = shape[1];
  z->element = z->zero ? HUI_UNSIGNED : HUI_OFFSET;
  z->codes = (hui_codes){z->raw->bytes, z->rows, bits == 8 ? line : z->cols, line, 0, bits == 4 ? HUI_LOW : HUI_FLAT,
                         (uint8_t)bits};
  set_grid(z, 1, (size_t)block, blocks, 1, 0);
  if (!z->zero) return 1;
  size_t zeros = (blocks * (size_t)bits + 7) / 8;
  if (z->zero->tensor->dtype != ST_U8 || z->zero->tensor->size != zeros * z->rows)
    return wrong(x, z->zero, "are not the zero points of the blocks of MatMulNBits");
  z->zeros = (hui_codes){z->zero->bytes, z->rows, bits == 8 ? zeros : blocks, zeros, 0, bits == 4 ? HUI_LOW : HUI_FLAT,
                         (uint8_t)bits};
  z->zero_by_row = 1;
  return 1;
}

/* ---- all ---- */

static void use(const hui_raw *raw) {
  if (raw) ((hui_raw *)(uintptr_t)raw)->used = 1;
}

int hui_onnx_tensor(hu_checkpoint *x, hui_tensor *z, const hui_raw *raw) {
  const json_t *link = json_object_get(x->links, raw->tensor->name);
  int nbits = json_object_get(link, "n") != NULL;
  memset(z, 0, sizeof *z);
  z->raw = raw;
  z->layout = hui_layout_find(nbits ? "onnx-matmulnbits" : "onnx");
  z->scale = named(x, link, "scale");
  z->second = named(x, link, "second");
  z->zero = named(x, link, "zero");
  if (json_object_get(link, "other")) return wrong(x, raw, "two nodes read it with other scales");
  if (!z->zero && json_object_get(link, "zero")) return wrong(x, raw, "its zero points are computed by the graph");
  if (!is_scale(z->scale->tensor->dtype, z->second != NULL))
    return wrong(x, z->scale, "is a scale of a dtype that is not read");
  if (z->second && (z->second->tensor->count != 1 || z->second->tensor->dtype != ST_F32))
    return wrong(x, z->second, "is not one F32 for all scales");
  if (!(nbits ? lay_bits(x, z, link) : lay_linear(x, z, link))) return 0;
  use(z->scale);
  use(z->second);
  use(named(x, link, "zero"));
  hui_set_texts(z);
  return 1;
}
