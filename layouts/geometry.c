/* SPDX-License-Identifier: MIT */
/* Shapes: what a tensor of a layout is as a matrix of codes, and which scale each of them has. See layouts.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scaled.h"
#include "layouts/layouts.h"

typedef struct geometry {
  hu_checkpoint *x;
  hui_tensor *z;
  const char *base;
} geometry;

static size_t parts(size_t n, size_t size) { return n / size + (n % size != 0); }
static size_t side(const st_tensor *tensor, uint32_t from_end) { /* 1: the last; absent ones are 1 */
  return from_end > tensor->dims ? 1 : tensor->shape[tensor->dims - from_end];
}

/* Says that the shapes of a tensor and another one do not go together; 0. */
static int wrong_pair(const geometry *g, const hui_raw *other, const char *what) {
  char name[ST_NAME_MAX], shown[ST_NAME_MAX], shape[ST_SHAPE_MAX], of[ST_SHAPE_MAX];
  const st_tensor *a = g->z->raw->tensor, *b = other->tensor;
  return hui_wrong(g->x, "%s: tensor '%s', %s %s: '%s', %s %s: %s (%s)", g->z->raw->shard->path,
                   st_printable(name, a->name), st_dtype_name(a->dtype), st_shape(of, a->dims, a->shape),
                   st_printable(shown, b->name), st_dtype_name(b->dtype), st_shape(shape, b->dims, b->shape), what,
                   g->z->layout->said.name);
}

static int wrong_codes(const geometry *g, const char *what) {
  char name[ST_NAME_MAX], of[ST_SHAPE_MAX];
  const st_tensor *a = g->z->raw->tensor;
  return hui_wrong(g->x, "%s: tensor '%s', %s %s: %s (%s)", g->z->raw->shard->path, st_printable(name, a->name),
                   st_dtype_name(a->dtype), st_shape(of, a->dims, a->shape), what, g->z->layout->said.name);
}

/* ---- the shape of the values ---- */

static int set_shape(const geometry *g, uint32_t dims, const size_t *shape) {
  hui_tensor *z = g->z;
  z->shape = malloc((dims ? dims : 1) * sizeof *z->shape);
  if (!z->shape) return hui_wrong(g->x, "%s: out of memory", g->x->path);
  if (dims) memcpy(z->shape, shape, dims * sizeof *z->shape);
  z->dims = dims;
  z->count = 1;
  for (uint32_t i = 0; i < dims; i++)
    if (__builtin_mul_overflow(z->count, shape[i], &z->count)) return wrong_codes(g, "does not fit the address space");
  z->rows = dims > 1 ? shape[dims - 2] : 1;
  z->cols = dims ? shape[dims - 1] : 1;
  z->codes.rows = z->rows;
  z->codes.cols = z->cols;
  return 1;
}

/* Sets the file's shape with other sides of the matrix, and `dims` axes. */
static int shape_with(const geometry *g, size_t cols, size_t rows, uint32_t dims) {
  size_t shape[ST_DIMS_MAX];
  const st_tensor *tensor = g->z->raw->tensor;
  memcpy(shape, tensor->shape, dims * sizeof *shape);
  shape[dims - 1] = cols;
  if (dims > 1) shape[dims - 2] = rows;
  return set_shape(g, dims, shape);
}

/* Returns 1 if a scale has the axes of the values except for the last `ends` of them. */
static int same_front(const hui_tensor *z, const st_tensor *s, uint32_t ends) {
  if (s->dims != z->dims) return 0;
  for (uint32_t i = 0; i + ends < z->dims; i++)
    if (s->shape[i] != z->shape[i]) return 0;
  return 1;
}

static int is_blocks(const hui_layout *row) { return strstr(row->codes, "blocks") != NULL; }

/* Lays out codes that are packed along the row, `codes` of them in `bytes` bytes. */
static int packed_rows(const geometry *g, size_t bytes, size_t codes) {
  const st_tensor *tensor = g->z->raw->tensor;
  size_t line = side(tensor, 1), rows = side(tensor, 2);
  uint32_t dims = tensor->dims;
  if (!dims) return wrong_codes(g, "has no axis along which codes are packed");
  if (is_blocks(g->z->layout)) {
    if (dims < 2 || line != 16) return wrong_codes(g, "its last axis is not the 16 bytes of a block");
    line *= rows;
    rows = side(tensor, 3);
    dims--;
  }
  if (line % bytes) return wrong_codes(g, "its rows are no whole groups of codes");
  if (!shape_with(g, line / bytes * codes, rows, dims)) return 0;
  g->z->codes.line = line;
  g->z->codes.matrix = line * rows;
  return 1;
}

/* ---- 32-bit words ---- */

static int bits_of(const geometry *g, const char *key) {
  long bits = 0;
  if (g->z->layout->bits) return g->z->layout->bits;
  return hui_config_number(g->x, g->base, key, &bits) && bits >= 1 && bits <= 8 ? (int)bits : 0;
}

/* A shape that the file keeps in a tensor of two integers. */
static int read_sizes(const geometry *g, size_t sizes[2]) {
  char name[1024];
  snprintf(name, sizeof name, "%s%s", g->base, g->z->layout->sizes + (*g->base == 0));
  const hui_raw *raw = hui_raw_find(g->x, name);
  if (!raw) return 0;
  size_t bytes = st_dtype_bits(raw->tensor->dtype) / 8;
  if (raw->tensor->count != 2 || (raw->tensor->dtype != ST_I64 && raw->tensor->dtype != ST_I32))
    return wrong_pair(g, raw, "is no shape of two integers");
  for (size_t i = 0; i < 2; i++) {
    sizes[i] = 0;
    for (size_t k = 0; k < bytes; k++) sizes[i] |= (size_t)raw->bytes[i * bytes + k] << 8 * k;
  }
  return 1;
}

#define OPEN_WORDS "as many words hold the codes in a stream and 32 div bits of them a word; ct-int-apart is the latter"

static int words_fit(hui_tensor *z, size_t cols, unsigned bits) {
  size_t words = side(z->raw->tensor, 1);
  int dense = cols <= SIZE_MAX / 8 && words == parts(cols * bits, 32);
  int apart = words == parts(cols, 32 / bits);
  if (z->layout->packing == HUI_WORDS) dense = 0;
  z->codes.packing = dense ? HUI_STREAM : HUI_WORDS;
  z->open = dense && apart && 32 % bits ? OPEN_WORDS : NULL;
  return dense || apart;
}

/* compressed-tensors: the bits are the config's, or the only ones that fit. */
static int ct_words(const geometry *g) {
  hui_tensor *z = g->z;
  size_t sizes[2];
  unsigned bits = (unsigned)bits_of(g, "num_bits"), fitting = 0;
  if (!read_sizes(g, sizes)) return g->x->line[0] ? 0 : wrong_codes(g, "there is no weight_shape");
  if (z->raw->tensor->dims != 2 || sizes[0] != side(z->raw->tensor, 2))
    return wrong_codes(g, "weight_shape has another number of rows");
  for (unsigned b = 2; b <= 8 && !bits; b++)
    if (words_fit(z, sizes[1], b)) fitting = fitting ? 9 : b;
  if (!bits) bits = fitting < 9 ? fitting : 0;
  if (!bits) return wrong_codes(g, "num_bits is not in the config, and the shapes leave it open");
  if (!words_fit(z, sizes[1], bits))
    return wrong_codes(g, "its words are no row of weight_shape at the config's num_bits");
  if (!set_shape(g, 2, sizes)) return 0;
  z->codes.bits = (uint8_t)bits;
  z->codes.line = side(z->raw->tensor, 1);
  return 1;
}

/* Reads the bits of AWQ, under both of its names: 4, or an error. */
static int check_awq(const geometry *g) {
  static const char *const keys[] = {"bits", "w_bit"};
  long bits;
  for (int i = 0; i < 2; i++)
    if (hui_config_number(g->x, g->base, keys[i], &bits) && bits != 4) return wrong_codes(g, "AWQ has 4 bits");
  return 1;
}

static int stream_words(const geometry *g) {
  hui_tensor *z = g->z;
  size_t words = side(z->raw->tensor, 1), rows = side(z->raw->tensor, 2);
  unsigned bits = (unsigned)bits_of(g, "bits");
  if (z->layout->sizes) return ct_words(g);
  if (z->layout->asks == HUI_ASKS_GEMV && !check_awq(g)) return 0;
  if (!bits) return wrong_codes(g, "config.json has no quantization with its bits");
  if (!z->raw->tensor->dims || words * 32 % bits) return wrong_codes(g, "its rows are no whole codes");
  if (!shape_with(g, words * 32 / bits, rows, z->raw->tensor->dims)) return 0;
  z->codes.bits = (uint8_t)bits;
  z->codes.line = words;
  z->codes.matrix = words * rows * 4;
  return 1;
}

/* GPTQ: the bits are the config's, or the only ones that zero points and order allow. */
static int column_words(const geometry *g) {
  hui_tensor *z = g->z;
  const st_tensor *tensor = z->raw->tensor;
  size_t words = side(tensor, 2), rows = side(tensor, 1);
  unsigned bits = (unsigned)bits_of(g, "bits"), fitting = 0;
  for (unsigned b = 2; b <= 8 && !bits; b++) {
    size_t cols = z->order ? z->order->tensor->count : words * 32 / b;
    if (parts(rows * b, 32) == side(z->zero->tensor, 1) && parts(cols * b, 32) == words) fitting = fitting ? 9 : b;
  }
  if (!bits) bits = fitting < 9 ? fitting : 0;
  if (!bits) return wrong_codes(g, "the config does not say its bits, and the shapes leave them open");
  size_t shape[2] = {rows, z->order ? z->order->tensor->count : words * 32 / bits};
  if (tensor->dims != 2 || parts(shape[1] * bits, 32) != words)
    return wrong_codes(g, "its words are no columns of whole codes");
  if (!set_shape(g, 2, shape)) return 0;
  z->codes.bits = (uint8_t)bits;
  z->codes.line = rows;
  return 1;
}

static int awq_words(const geometry *g) {
  const st_tensor *tensor = g->z->raw->tensor;
  size_t shape[2] = {side(tensor, 1), side(tensor, 2)};
  if (tensor->dims != 2 || shape[0] > SIZE_MAX / 8) return wrong_codes(g, "is no matrix of words");
  g->z->codes.line = shape[0];
  shape[0] *= 8;
  return set_shape(g, 2, shape);
}

/* ---- bitsandbytes ---- */

static int read_state(const geometry *g) {
  hui_tensor *z = g->z;
  char name[1024];
  size_t shape[ST_DIMS_MAX], n = 0;
  snprintf(name, sizeof name, "%s%s", g->base, z->layout->state + (*g->base == 0));
  const hui_raw *raw = hui_raw_find(g->x, name);
  json_t *root = json_loadb((const char *)raw->bytes, raw->tensor->size, 0, NULL),
         *list = json_object_get(root, "shape");
  json_int_t block = json_integer_value(json_object_get(root, "blocksize"));
  json_int_t nested = json_integer_value(json_object_get(root, "nested_blocksize"));
  int centred = json_is_number(json_object_get(root, "nested_offset"));
  z->offset = json_number_value(json_object_get(root, "nested_offset"));
  for (; n < json_array_size(list) && n < ST_DIMS_MAX; n++) {
    json_int_t one = json_integer_value(json_array_get(list, n));
    if (one < 0) break;
    shape[n] = (size_t)one;
  }
  int good = n && n == json_array_size(list) && block > 0 && (!z->nested || (nested > 0 && centred));
  json_decref(root);
  if (!good)
    return wrong_pair(
        g, raw, "is no JSON with shape, blocksize and, for nested statistics, nested_blocksize and nested_offset");
  z->block[0] = 0;
  z->block[1] = (size_t)block;
  z->nested_block = (size_t)nested;
  return set_shape(g, (uint32_t)n, shape);
}

static int flat_high(const geometry *g) {
  hui_tensor *z = g->z;
  if (!read_state(g)) return 0;
  z->codes.bits = 4;
  if (parts(z->count, 2) != z->raw->tensor->size)
    return wrong_codes(g, "its bytes are not those of the shape in its state");
  if (z->map->tensor->dtype != ST_F32 || z->map->tensor->count != 16)
    return wrong_pair(g, z->map, "is no table of 16 F32");
  if (z->scale->tensor->count != parts(z->count, z->block[1]))
    return wrong_pair(g, z->scale, "has not one for each block");
  if ((z->scale->tensor->dtype == ST_U8) != (z->nested != NULL))
    return wrong_pair(g, z->scale, "U8 goes with nested_absmax, F32 without");
  if (!z->nested) return 1;
  if (!z->nested_map || z->nested_map->tensor->dtype != ST_F32 || z->nested_map->tensor->count != 256)
    return wrong_pair(g, z->nested, "there is no nested_quant_map of 256 F32");
  if (z->nested->tensor->dtype != ST_F32 || z->nested->tensor->count != parts(z->scale->tensor->count, z->nested_block))
    return wrong_pair(g, z->nested, "has not one F32 for each block of statistics");
  return 1;
}

static int lay_codes(const geometry *g) {
  hui_tensor *z = g->z;
  const st_tensor *tensor = z->raw->tensor;
  z->codes.bytes = z->raw->bytes;
  z->codes.packing = z->layout->packing;
  z->codes.bits = z->layout->bits;
  switch (z->layout->packing) {
    case HUI_FLAT: return set_shape(g, tensor->dims, tensor->shape);
    case HUI_LOW:
    case HUI_HIGH: return packed_rows(g, 1, 2);
    case HUI_SIX: return packed_rows(g, 3, 4);
    case HUI_STREAM:
    case HUI_WORDS: return stream_words(g);
    case HUI_COLUMN: return column_words(g);
    case HUI_AWQ: return check_awq(g) && awq_words(g);
    case HUI_FLAT_HIGH: return flat_high(g);
    default:
      if (tensor->dims < 2) return wrong_codes(g, "is no matrix");
      z->codes.line = side(tensor, 1);
      z->codes.matrix = side(tensor, 1) * side(tensor, 2);
      return shape_with(g, side(tensor, 1), side(tensor, 2) * 2, tensor->dims);
  }
}

/* ---- scales ---- */

static void set_grid(hui_tensor *z, size_t rows, size_t cols, size_t down, size_t across, size_t matrix) {
  z->block[0] = rows ? rows : 1;
  z->block[1] = cols ? cols : 1;
  z->down = down;
  z->across = across;
  z->matrix = matrix;
}

static size_t matrices(const hui_tensor *z) {
  size_t n = 1;
  for (uint32_t i = 0; i + 2 < z->dims; i++) n *= z->shape[i];
  return n;
}

/* Takes one scale for all, for a matrix, for a row or a column; 0: they are others. */
static int whole_sides(const geometry *g) {
  hui_tensor *z = g->z;
  const st_tensor *s = z->scale->tensor;
  size_t n = matrices(z);
  int fbgemm = !strcmp(hui_config_method(g->x), "fbgemm_fp8") && z->dims == 3;
  int per_column = s->dims == z->dims && z->dims > 2 && s->count == n * z->cols && side(s, 2) == 1 && z->rows > 1;
  if (s->count == 1) return set_grid(z, z->rows, z->cols, 0, 0, 0), 1;
  if (z->dims > 2 && s->count == n && (s->dims == 1 || (side(s, 1) == 1 && side(s, 2) == 1)))
    return set_grid(z, z->rows, z->cols, 0, 0, 1), 1;
  if (per_column || (fbgemm && s->dims == 3 && s->count == n * z->cols && side(s, 1) == 1))
    return set_grid(z, z->rows, 1, 0, 1, z->cols), 1;
  int rows = s->count == n * z->rows && z->dims > 1;
  if (rows && ((s->dims == z->dims && side(s, 1) == 1 && side(s, 2) == z->rows) ||
               (s->dims + 1 == z->dims && side(s, 1) == z->rows)))
    return set_grid(z, 1, z->cols, 1, 0, z->rows), 1;
  return 0;
}

static int blocks_fit(const geometry *g, const size_t block[2]) {
  hui_tensor *z = g->z;
  const st_tensor *s = z->scale->tensor;
  size_t down = parts(z->rows, block[0]), across = parts(z->cols, block[1]);
  int older = s->dims == 4 && z->dims == 2 && s->shape[0] == down && s->shape[2] == across; /* [down, 1, across, 1] */
  int same = s->dims == z->dims && side(s, 1) == across && (z->dims < 2 || side(s, 2) == down);
  if ((!same && !older) || s->count != matrices(z) * down * across) return 0;
  set_grid(z, block[0], block[1], across, 1, down * across);
  return 1;
}

static int by_shape(const geometry *g) {
  static const size_t common[][2] = {{128, 128}, {32, 32}};
  hui_tensor *z = g->z;
  const st_tensor *s = z->scale->tensor;
  size_t block[2], groups = side(s, 1);
  long size = 0;
  char what[96];
  if (whole_sides(g)) return 1;
  if (hui_config_block(g->x, g->base, block)) {
    if (blocks_fit(g, block)) return 1;
    snprintf(what, sizeof what, "are no blocks of %zu x %zu, which the config gives", block[0], block[1]);
    return wrong_pair(g, z->scale, what);
  }
  for (size_t i = 0; i < 1 + (size_t)(s->dtype == ST_F8_E8M0); i++)
    if (blocks_fit(g, common[i])) return 1;
  if (!hui_config_number(g->x, g->base, "group_size", &size) || size < 1)
    size = groups && z->cols % groups == 0 ? (long)(z->cols / groups) : 0;
  block[0] = 1;
  block[1] = (size_t)size;
  if (size > 0 && blocks_fit(g, block)) return 1;
  return wrong_pair(g, z->scale,
                    "is one scale neither for the tensor, nor for each row, nor for blocks of 128 x 128; config.json "
                    "beside the file would say the size of blocks");
}

static int along(const geometry *g) {
  hui_tensor *z = g->z;
  const st_tensor *s = z->scale->tensor;
  size_t blocks = parts(z->cols, z->layout->block);
  if (side(s, 1) != blocks || !same_front(z, s, 1))
    return wrong_pair(g, z->scale,
                      z->layout->block == 16 ? "has not one for 16 elements" : "has not one for 32 elements");
  set_grid(z, 1, z->layout->block, blocks, 1, z->rows * blocks);
  return 1;
}

/* Sets blocks down the columns: [.., ceil(rows / block), cols]. */
static int down(const geometry *g) {
  hui_tensor *z = g->z;
  const st_tensor *s = z->scale->tensor;
  size_t blocks = parts(z->rows, z->layout->block);
  if (side(s, 1) != z->cols || side(s, 2) != blocks || !same_front(z, s, 2))
    return wrong_pair(
        g, z->scale,
        z->layout->block == 16 ? "has not one for 16 elements of a column" : "has not one for 32 elements of a column");
  set_grid(z, z->layout->block, 1, z->cols, 1, z->cols * blocks);
  return 1;
}

static int tiles(const geometry *g) {
  hui_tensor *z = g->z;
  size_t blocks = parts(z->cols, z->layout->block), size = hu_scaled_tiles_size(z->rows, blocks);
  if ((!size && z->count) || z->scale->tensor->count != matrices(z) * size)
    return wrong_pair(g, z->scale, "is not filled up to tiles of 128 x 4");
  set_grid(z, 1, z->layout->block, 0, blocks, size);
  return 1;
}

/* Finds the size of groups: the config's, or what divides the row; 0: neither. Returns 0, with the line, if the config
 * has a size that is not that of so many groups. */
static int group_size(const geometry *g, size_t groups, size_t *z) {
  char what[96];
  long size = 0;
  size_t cols = g->z->cols;
  int said =
      hui_config_number(g->x, g->base, "group_size", &size) || hui_config_number(g->x, g->base, "q_group_size", &size);
  *z = groups && cols % groups == 0 ? cols / groups : 0;
  if (!said || size < 1) return 1;
  *z = (size_t)size;
  if (parts(cols, *z) == groups) return 1;
  snprintf(what, sizeof what, "has %zu groups for a row of %zu, and the config says that a group has %ld", groups, cols,
           size);
  return wrong_pair(g, g->z->scale, what);
}

/* An order has a group for each column; compressed-tensors writes -1 where it has none. */
static int check_order(const geometry *g, size_t groups) {
  hui_tensor *z = g->z;
  if (!z->order) return 1;
  if (z->order->tensor->dtype != ST_I32 || z->order->tensor->count != z->cols)
    return wrong_pair(g, z->order, "is not one I32 for each column");
  size_t unset = 0;
  for (size_t i = 0; i < z->cols; i++) {
    const uint8_t *at = z->order->bytes + 4 * i;
    uint32_t group = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    unset += group == UINT32_MAX;
    if (group != UINT32_MAX && group >= groups) return wrong_pair(g, z->order, "has a group beyond the scales");
  }
  if (unset && unset != z->cols) return wrong_pair(g, z->order, "has -1 beside groups");
  if (unset) z->order = NULL;
  return 1;
}

/* Sets the zero points of AWQ gemv: words along the groups of a row, with space behind the last. */
static int gemv_zeros(const geometry *g) {
  hui_tensor *z = g->z;
  const st_tensor *tensor = z->zero->tensor, *s = z->scale->tensor;
  size_t words = side(s, 1) / 8;
  if (tensor->dtype != ST_I32 || tensor->dims != 2 || side(tensor, 2) != z->rows || side(tensor, 1) != words ||
      side(s, 1) % 8)
    return wrong_pair(g, z->zero, "are not the zero points of its groups");
  z->zeros = (hui_codes){z->zero->bytes, z->rows, side(s, 1), words, 0, HUI_STREAM, 4};
  z->zero_by_row = 1;
  return 1;
}

/* AWQ gemv: scales have space behind the groups, whose size is the config's. */
static int gemv_groups(const geometry *g) {
  hui_tensor *z = g->z;
  const st_tensor *s = z->scale->tensor;
  long size = 0;
  if (!hui_config_number(g->x, g->base, "group_size", &size)) hui_config_number(g->x, g->base, "q_group_size", &size);
  if (size < 1) return wrong_pair(g, z->scale, "config.json does not say the size of its groups");
  if (s->dims != 2 || side(s, 2) != z->rows || side(s, 1) < parts(z->cols, (size_t)size))
    return wrong_pair(g, z->scale, "has not the groups of the tensor");
  set_grid(z, 1, (size_t)size, side(s, 1), 1, 0);
  return gemv_zeros(g);
}

/* Zero points of groups, packed as each program does it. */
static int lay_zeros(const geometry *g, size_t groups) {
  hui_tensor *z = g->z;
  if (!z->zero) return 1;
  if (z->codes.packing == HUI_WORDS && z->layout->packing == HUI_STREAM && 32 % z->codes.bits)
    return wrong_pair(g, z->zero, "are zero points beside words of 32 div bits codes, which are not read");
  const st_tensor *tensor = z->zero->tensor;
  unsigned bits = z->codes.bits;
  size_t words = parts(z->rows * bits, 32);
  int ct = z->layout->packing == HUI_STREAM, awq = z->layout->packing == HUI_AWQ;
  size_t down = ct ? words : groups, across = ct ? groups : awq ? z->rows / 8 : words;
  if (tensor->dtype != ST_I32 || tensor->dims != 2 || side(tensor, 2) != down || side(tensor, 1) != across)
    return wrong_pair(g, z->zero, "are not the zero points of its groups");
  z->zeros = (hui_codes){z->zero->bytes, z->rows, groups, across, 0, ct ? HUI_COLUMN : awq ? HUI_AWQ : HUI_STREAM,
                         (uint8_t)bits};
  return 1;
}

static int is_short_float(const st_tensor *t) {
  return t->dtype == ST_F32 || t->dtype == ST_F16 || t->dtype == ST_BF16;
}

static int groups(const geometry *g) {
  hui_tensor *z = g->z;
  const st_tensor *s = z->scale->tensor;
  int turned = z->grid == HUI_GROUPS_T;
  size_t count = side(s, turned ? 2 : 1), rows = side(s, turned ? 1 : 2), size;
  if (z->layout->asks == HUI_ASKS_GEMV) return gemv_groups(g);
  if (rows != z->rows || !same_front(z, s, 2)) return wrong_pair(g, z->scale, "has not the rows of the tensor");
  if (!check_order(g, count) || !group_size(g, count, &size)) return 0;
  if (!size && !z->order && z->count)
    return wrong_pair(g, z->scale, "its groups do not divide a row; the config would say their size");
  if (z->bias && (z->bias->tensor->count != s->count || z->bias->tensor->dims != s->dims))
    return wrong_pair(g, z->bias, "has another shape than the scales");
  if (z->bias && !is_short_float(z->bias->tensor)) return wrong_pair(g, z->bias, "is not F32, F16 or BF16");
  set_grid(z, 1, size, turned ? 1 : count, turned ? rows : 1, turned ? 0 : rows * count);
  return lay_zeros(g, count);
}

static int lay_second(const geometry *g) {
  hui_tensor *z = g->z;
  if (!z->second) return 1;
  const st_tensor *t = z->second->tensor;
  if (!is_short_float(t)) return wrong_pair(g, z->second, "is no float");
  if (t->count != 1 && t->count != matrices(z))
    return wrong_pair(g, z->second, "is not one for the tensor or each matrix");
  z->second_step = t->count > 1;
  return 1;
}

static int lay_scales(const geometry *g) {
  hui_tensor *z = g->z;
  switch (z->grid) {
    case HUI_BY_SHAPE: return by_shape(g);
    case HUI_ALONG: return along(g);
    case HUI_TILES: return tiles(g);
    case HUI_DOWN: return down(g);
    case HUI_RUNS: return 1;
    default: return groups(g);
  }
}

/* ---- names of what it has ---- */

static const char *scale_name(const hui_tensor *z, const hui_raw *raw) {
  int dtype = raw->tensor->dtype;
  if (z->grid == HUI_RUNS) return z->nested ? "binary32, nested" : "binary32";
  if (dtype == ST_U8 && z->scale_type == HUI_SCALE_E5M3) return "ue5m3";
  if (dtype == ST_F8_E4M3 || (dtype == ST_U8 && z->scale_type == HUI_SCALE_E4M3)) return "float8_e4m3fn";
  if (dtype == ST_U8 || dtype == ST_F8_E8M0) return "float8_e8m0fnu";
  return dtype == ST_F32 ? "binary32" : dtype == ST_F16 ? "binary16" : "bfloat16";
}

void hui_set_texts(hui_tensor *z) {
  static const char *const floats[] = {"", "float4_e2m1fn", "float8_e4m3fn", "float6_e2m3fn", "float6_e3m2fn"};
  static const char *const f8[] = {"float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu", "float8_e4m3fnuz",
                                   "float8_e5m2fnuz"};
  const char *second = z->second ? z->layout->divide ? " / " : " x " : "";
  if (z->element == HUI_OF_DTYPE && z->raw->tensor->dtype == ST_F4)
    snprintf(z->elements, sizeof z->elements, "float4_e2m1fn");
  else if (z->element == HUI_OF_DTYPE)
    snprintf(z->elements, sizeof z->elements, "%s", f8[z->raw->tensor->dtype - ST_F8_E5M2]);
  else if (z->element == HUI_TABLE)
    snprintf(z->elements, sizeof z->elements, "%s", strstr(z->layout->said.name, "nf4") ? "nf4" : "fp4 of a table");
  else if (z->element == HUI_OFFSET || z->element == HUI_TWOS || z->element == HUI_UNSIGNED)
    snprintf(z->elements, sizeof z->elements, "%sint%u", z->element == HUI_UNSIGNED ? "u" : "", z->codes.bits);
  else
    snprintf(z->elements, sizeof z->elements, "%s", floats[z->element]);
  snprintf(z->scales, sizeof z->scales, "%s%s%s", scale_name(z, z->scale), second,
           z->second ? scale_name(z, z->second) : "");
}

int hui_geometry(hu_checkpoint *x, hui_tensor *z, const char *base) {
  geometry g = {x, z, base};
  if (!lay_codes(&g)) return 0;
  if (!lay_second(&g) || !lay_scales(&g)) return 0;
  hui_set_texts(z);
  return 1;
}
