/* SPDX-License-Identifier: MIT */
/* PyTorch's .pt, .pth, .ckpt and .bin as checkpoints: an archive with a pickle and storages. The pickle becomes a tree
 * (pickle.h); tensors in dicts and lists are the file's tensors, named by their keys with dots between. Numbers, texts
 * and None are passed over; any other object is refused by its name. See layouts.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scaled.h"
#include "layouts/archive.h"
#include "layouts/layouts.h"
#include "layouts/pickle.h"

enum { DEPTH_MAX = 50, VISITS_MAX = 500000, NAME_MAX_LENGTH = HUI_NAME_MAX };

/* A view of a storage, in elements of its dtype. */
typedef struct view {
  int dtype;
  size_t begin, bytes; /* of the storage in the file */
  size_t offset, elements;
  uint32_t dims;
  size_t shape[ST_DIMS_MAX], stride[ST_DIMS_MAX];
} view;

typedef struct reader {
  hu_checkpoint *x;
  hui_shard *shard;
  hui_archive archive;
  hui_pickle pickle;
  const char *prefix; /* "model/" in front of the members' names */
  size_t prefix_length, visits, copied;
} reader;

/* ---- dtypes ---- */

static const struct {
  const char *module, *name;
  int dtype;
} types[] = {{"torch", "FloatStorage", ST_F32},
             {"torch", "DoubleStorage", ST_F64},
             {"torch", "HalfStorage", ST_F16},
             {"torch", "BFloat16Storage", ST_BF16},
             {"torch", "LongStorage", ST_I64},
             {"torch", "IntStorage", ST_I32},
             {"torch", "ShortStorage", ST_I16},
             {"torch", "CharStorage", ST_I8},
             {"torch", "ByteStorage", ST_U8},
             {"torch", "BoolStorage", ST_BOOL},
             {"torch", "ComplexFloatStorage", ST_C64},
             {"torch", "float32", ST_F32},
             {"torch", "float64", ST_F64},
             {"torch", "float16", ST_F16},
             {"torch", "bfloat16", ST_BF16},
             {"torch", "int64", ST_I64},
             {"torch", "int32", ST_I32},
             {"torch", "int16", ST_I16},
             {"torch", "int8", ST_I8},
             {"torch", "uint8", ST_U8},
             {"torch", "uint16", ST_U16},
             {"torch", "uint32", ST_U32},
             {"torch", "uint64", ST_U64},
             {"torch", "bool", ST_BOOL},
             {"torch", "complex64", ST_C64},
             {"torch", "float8_e4m3fn", ST_F8_E4M3},
             {"torch", "float8_e5m2", ST_F8_E5M2},
             {"torch", "float8_e4m3fnuz", ST_F8_E4M3FNUZ},
             {"torch", "float8_e5m2fnuz", ST_F8_E5M2FNUZ},
             {"torch", "float8_e8m0fnu", ST_F8_E8M0},
             {"torch", "float4_e2m1fn_x2", ST_F4}};

/* Returns the dtype of a class of storages, or of a dtype; -1: none that is read. */
static int dtype_of(const hui_value *value) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (hui_is_global(value, types[i].module, types[i].name)) return types[i].dtype;
  return -1;
}

static int visit(reader *r, const hui_value *value, const char *name, int depth);

static const char *global_text(char text[ST_NAME_MAX], const hui_value *value) {
  char whole[2 * ST_NAME_MAX];
  if (!value || value->kind != HUI_GLOBAL) return "an object without a name";
  snprintf(whole, sizeof whole, "%.*s.%.*s", (int)(value->module_length < 90 ? value->module_length : 90),
           value->module, (int)(value->length < 90 ? value->length : 90), value->text);
  return st_printable(text, whole);
}

static int wrong(const reader *r, const char *name, const char *what) {
  char shown[ST_NAME_MAX];
  return hui_wrong(r->x, "%s: data.pkl: '%s': %s", r->shard->path, st_printable(shown, name), what);
}

/* ---- a tensor ---- */

static int read_sizes(size_t *z, uint32_t *dims, const reader *r, const hui_value *value, const char *name) {
  if (!value || value->kind != HUI_TUPLE || value->count > ST_DIMS_MAX)
    return wrong(r, name, "a tensor without a shape");
  for (size_t i = 0; i < value->count; i++) {
    const hui_value *one = hui_item(&r->pickle, value, i);
    if (one->kind != HUI_INT || one->number < 0) return wrong(r, name, "a side or a stride that is no size");
    z[i] = (size_t)one->number;
  }
  *dims = (uint32_t)value->count;
  return 1;
}

/* Finds the bytes of a storage: ('storage', class, key, device, count). */
static int read_storage(view *z, const reader *r, const hui_value *value, const char *name) {
  char key[NAME_MAX_LENGTH], what[2 * ST_NAME_MAX], shown[ST_NAME_MAX];
  const hui_value *id = value && value->kind == HUI_PERSISTENT ? hui_item(&r->pickle, value, 0) : NULL;
  const hui_value *kind = hui_item(&r->pickle, id, 1), *number = hui_item(&r->pickle, id, 2);
  if (!hui_is_text(hui_item(&r->pickle, id, 0), "storage") || !number || number->kind != HUI_TEXT)
    return wrong(r, name, "a tensor without a storage");
  int untyped = hui_is_global(kind, "torch.storage", "UntypedStorage");
  z->dtype = untyped ? -1 : dtype_of(kind);
  if (!untyped && z->dtype < 0) {
    snprintf(what, sizeof what, "storage of the class %s is not read", global_text(shown, kind));
    return wrong(r, name, what);
  }
  int n = snprintf(key, sizeof key, "%.*sdata/%.*s", (int)r->prefix_length, r->prefix,
                   (int)(number->length < 90 ? number->length : 90), number->text);
  const hui_member *member = n < NAME_MAX_LENGTH ? hui_archive_find(&r->archive, key, (size_t)n) : NULL;
  if (!member) return wrong(r, name, "the archive does not have its storage");
  z->begin = member->begin;
  z->bytes = member->size;
  return 1;
}

/* Returns the bytes of what torch counts as an element: two of F4. */
static size_t bytes_of(const view *z) { return z->dtype == ST_F4 ? 1 : st_dtype_bits(z->dtype) / 8; }

/* Checks that a view lies in its storage. */
static int check_view(const view *z, const reader *r, const char *name) {
  size_t last = z->offset, have = z->bytes / bytes_of(z);
  for (uint32_t i = 0; i < z->dims; i++) {
    size_t far;
    if (__builtin_mul_overflow(z->shape[i] - 1, z->stride[i], &far) || __builtin_add_overflow(last, far, &last))
      return wrong(r, name, "reaches beyond its storage");
  }
  return last < have || wrong(r, name, "reaches beyond its storage");
}

static int is_contiguous(const view *z) {
  size_t step = 1;
  for (uint32_t i = z->dims; i-- > 0;) {
    if (z->shape[i] != 1 && z->stride[i] != step) return 0;
    step *= z->shape[i];
  }
  return 1;
}

/* Copies a view whose elements do not lie one after the other. */
static void gather(uint8_t *z, const uint8_t *from, const view *v, size_t bytes) {
  size_t at[ST_DIMS_MAX] = {0}, place = v->offset;
  for (size_t k = 0; k < v->elements; k++) {
    memcpy(z + k * bytes, from + place * bytes, bytes);
    for (uint32_t i = v->dims; i-- > 0;) {
      place += v->stride[i];
      if (++at[i] < v->shape[i]) break;
      place -= at[i] * v->stride[i];
      at[i] = 0;
    }
  }
}

static int copy_view(reader *r, st_tensor *tensor, const view *v, const char *name) {
  size_t bytes = bytes_of(v);
  if (tensor->size > r->shard->bytes.size - r->copied)
    return wrong(r, name, "views that are not contiguous are larger than the file");
  uint8_t *own = malloc(tensor->size ? tensor->size : 1);
  if (!own) return hui_wrong(r->x, "%s: out of memory", r->x->path);
  r->copied += tensor->size;
  if (tensor->size) gather(own, r->shard->bytes.data + v->begin, v, bytes);
  return hui_own(r->x, r->shard, tensor, own);
}

static int add_tensor(reader *r, const view *v, const char *name) {
  size_t shape[ST_DIMS_MAX];
  memcpy(shape, v->shape, v->dims * sizeof *shape);
  if (v->dtype == ST_F4) {
    if (!v->dims || shape[v->dims - 1] > SIZE_MAX / 4) return wrong(r, name, "float4_e2m1fn_x2 without an axis");
    shape[v->dims - 1] *= 2;
  }
  if (!st_add(&r->shard->file, name, v->dtype, v->dims, shape)) return wrong(r, name, "is too large, or out of memory");
  st_tensor *tensor = &r->shard->file.tensors[r->shard->file.count - 1];
  tensor->begin = v->begin + v->offset * bytes_of(v);
  return is_contiguous(v) || copy_view(r, tensor, v, name);
}

/* Reads the arguments of _rebuild_tensor_v2 and _v3: storage, offset, size, stride, ... */
static int read_tensor(reader *r, const hui_value *arguments, int has_dtype, const char *name) {
  view v = {0};
  uint32_t strides = 0;
  char what[2 * ST_NAME_MAX], shown[ST_NAME_MAX];
  const hui_value *offset = hui_item(&r->pickle, arguments, 1);
  if (!read_storage(&v, r, hui_item(&r->pickle, arguments, 0), name)) return 0;
  if (has_dtype) {
    v.dtype = dtype_of(hui_item(&r->pickle, arguments, 6));
    snprintf(what, sizeof what, "dtype %s is not read", global_text(shown, hui_item(&r->pickle, arguments, 6)));
    if (v.dtype < 0) return wrong(r, name, what);
  }
  if (v.dtype < 0) return wrong(r, name, "a storage without a dtype");
  if (!offset || offset->kind != HUI_INT || offset->number < 0) return wrong(r, name, "a tensor without an offset");
  v.offset = (size_t)offset->number;
  if (!read_sizes(v.shape, &v.dims, r, hui_item(&r->pickle, arguments, 2), name) ||
      !read_sizes(v.stride, &strides, r, hui_item(&r->pickle, arguments, 3), name))
    return 0;
  if (strides != v.dims) return wrong(r, name, "has another number of strides than of axes");
  v.elements = 1;
  for (uint32_t i = 0; i < v.dims; i++)
    if (__builtin_mul_overflow(v.elements, v.shape[i], &v.elements)) return wrong(r, name, "is too large");
  if (v.elements == 0) v.offset = 0;
  return (v.elements == 0 || check_view(&v, r, name)) && add_tensor(r, &v, name);
}

/* ---- TransformerEngine's tensors ---- */

static int begins(const char *text, size_t length, const char *word) {
  return length >= strlen(word) && !memcmp(text, word, strlen(word));
}

/* Returns 1 for the function that makes tensors of a class of TransformerEngine, or the class method of earlier
 * versions. */
static int makes(const reader *r, const hui_value *callee, const char *function, const char *class) {
  const hui_value *arguments = hui_item(&r->pickle, callee, 1), *kind = hui_item(&r->pickle, arguments, 0);
  if (callee && callee->kind == HUI_GLOBAL)
    return begins(callee->module, callee->module_length, "transformer_engine.") &&
           begins(callee->text, callee->length, function);
  return callee && callee->kind == HUI_REDUCED && kind && kind->kind == HUI_GLOBAL &&
         begins(kind->module, kind->module_length, "transformer_engine.") && begins(kind->text, kind->length, class) &&
         hui_is_text(hui_item(&r->pickle, arguments, 1), "_make_in_reduce_ex");
}

/* Reads a tensor that is an argument; it is the file's last. */
static int read_part(reader *r, const hui_value *value, const char *name, const char *end, int depth) {
  char whole[NAME_MAX_LENGTH];
  size_t before = r->shard->file.count;
  if (snprintf(whole, sizeof whole, "%s%s", name, end) >= NAME_MAX_LENGTH)
    return wrong(r, name, "a name that is too long");
  if (!value || value->kind != HUI_REDUCED) return wrong(r, name, "a tensor of TransformerEngine without its tensors");
  return visit(r, value, whole, depth + 1) &&
         (r->shard->file.count == before + 1 || wrong(r, name, "a tensor of TransformerEngine without its tensors"));
}

/* Reads codes, U8, as those of DType(7) or DType(8). */
static int read_codes(reader *r, const hui_value *data, const hui_value *type, const char *name, int depth) {
  if (type && type->kind == HUI_REDUCED) type = hui_item(&r->pickle, hui_item(&r->pickle, type, 1), 0);
  long number = type && type->kind == HUI_INT ? (long)type->number : 0;
  if (number != 7 && number != 8) return wrong(r, name, "a tensor of TransformerEngine that is neither E4M3 nor E5M2");
  if (!read_part(r, data, name, "", depth)) return 0;
  st_tensor *codes = &r->shard->file.tensors[r->shard->file.count - 1];
  if (codes->dtype != ST_U8) return wrong(r, name, "a tensor of TransformerEngine whose codes are no bytes");
  codes->dtype = number == 7 ? ST_F8_E4M3 : ST_F8_E5M2;
  return 1;
}

/* Reads the arguments data (U8), DType(n), scale_inv, ...: NAME, of its dtype, and NAME_scale. */
static int read_float8(reader *r, const hui_value *arguments, const char *name, int depth) {
  return read_codes(r, hui_item(&r->pickle, arguments, 0), hui_item(&r->pickle, arguments, 1), name, depth) &&
         read_part(r, hui_item(&r->pickle, arguments, 2), name, "_scale", depth);
}

/* Cuts scales that are filled up, the file's last tensor, to rows x cols; tiles: they lie in tiles of 128 x 4. */
static int fit_scales(reader *r, size_t rows, size_t cols, int tiles, const char *name) {
  size_t place = r->shard->file.count - 1;
  st_tensor *tensor = &r->shard->file.tensors[place];
  size_t bytes = st_dtype_bits(tensor->dtype) / 8;
  int fits = tensor->dims == 2 && tensor->shape[0] >= rows && tensor->shape[1] >= cols && (!tiles || bytes == 1);
  if (!fits || (tiles && tensor->size != hu_scaled_tiles_size(rows, cols)))
    return wrong(r, name, "scales of another shape than its codes ask for");
  uint8_t *made = malloc(rows * cols * bytes + 1), *before = place < r->shard->own_count ? r->shard->own[place] : NULL;
  const uint8_t *from = before ? before : r->shard->bytes.data + tensor->begin;
  if (!made) return hui_wrong(r->x, "%s: out of memory", r->x->path);
  if (tiles && hu_scaled_untile(rows, cols, made, cols, from) != HU_OK) {
    free(made);
    return wrong(r, name, "scales of another shape than its codes ask for");
  }
  for (size_t i = 0; i < rows && !tiles; i++)
    memcpy(made + i * cols * bytes, from + i * tensor->shape[1] * bytes, cols * bytes);
  tensor->shape[0] = rows;
  tensor->shape[1] = cols;
  tensor->count = rows * cols;
  tensor->size = rows * cols * bytes;
  if (before) r->shard->own[place] = NULL;
  free(before);
  return hui_own(r->x, r->shard, tensor, made);
}

/* Reads codes with scales of blocks of rows x cols, which are filled up. */
static int read_blocks(reader *r, const hui_value *const parts[3], const char *name, const char *end, int tiles,
                       const size_t block[2], int depth) {
  if (parts[0] && parts[0]->kind != HUI_REDUCED)
    return wrong(r, name, "has no codes along rows, but perhaps along columns, which have other values");
  if (!read_codes(r, parts[0], parts[2], name, depth)) return 0;
  st_tensor *codes = &r->shard->file.tensors[r->shard->file.count - 1];
  if (codes->dims != 2 || !codes->count) return wrong(r, name, "a tensor of TransformerEngine that is no matrix");
  size_t rows = (codes->shape[0] - 1) / block[0] + 1, cols = (codes->shape[1] - 1) / block[1] + 1;
  return read_part(r, parts[1], name, end, depth) && fit_scales(r, rows, cols, tiles, name);
}

/* Reads the arguments rowwise data and scales, columnwise ones, DType, dtype, shape, quantizer, tiles?: NAME and
 * NAME_scale. */
static int read_mxfp8(reader *r, const hui_value *arguments, const char *name, int depth) {
  static const size_t block[2] = {1, 32};
  const hui_value *parts[3] = {hui_item(&r->pickle, arguments, 0), hui_item(&r->pickle, arguments, 1),
                               hui_item(&r->pickle, arguments, 4)},
                  *tiles = hui_item(&r->pickle, arguments, 8);
  return read_blocks(r, parts, name, "_scale", tiles && tiles->kind == HUI_INT && tiles->number, block, depth);
}

/* Reads the arguments shape, rowwise data and scales, columnwise ones, DType, dtype, quantizer, squares?: NAME and
 * NAME_scale_inv. */
static int read_blockwise(reader *r, const hui_value *arguments, const char *name, int depth) {
  static const size_t block[2] = {128, 128};
  const hui_value *parts[3] = {hui_item(&r->pickle, arguments, 1), hui_item(&r->pickle, arguments, 2),
                               hui_item(&r->pickle, arguments, 5)},
                  *squares = hui_item(&r->pickle, arguments, 8);
  if (!squares || squares->kind != HUI_INT || !squares->number)
    return wrong(r, name, "a Float8BlockwiseQTensor with blocks of 1 x 128, which are of activations, is not read");
  return read_blocks(r, parts, name, "_scale_inv", 0, block, depth);
}

static int refuse_nvfp4(reader *r, const hui_value *arguments, const char *name, int depth) {
  (void)arguments, (void)depth;
  return wrong(r, name,
               "an NVFP4Tensor of TransformerEngine is not read: its values are products with an amax, which "
               "no layout has; dequantize() makes a tensor that is read");
}

static int refuse_hybrid(reader *r, const hui_value *arguments, const char *name, int depth) {
  (void)arguments, (void)depth;
  return wrong(r, name, "a tensor of TransformerEngine with two formats at a time is not read");
}

/* What TransformerEngine's classes are read by. */
static const struct {
  const char *function, *class;
  int (*read)(reader *r, const hui_value *arguments, const char *name, int depth);
} engine[] = {{"_make_float8_tensor_in_reduce_ex", "Float8Tensor", read_float8},
              {"_make_mxfp8_tensor_in_reduce_ex", "MXFP8Tensor", read_mxfp8},
              {"_make_float8_blockwise_tensor_in_reduce_ex", "Float8BlockwiseQTensor", read_blockwise},
              {"_make_nvfp4_tensor_in_reduce_ex", "NVFP4Tensor", refuse_nvfp4},
              {"_make_hybrid_quantized_tensor_in_reduce_ex", "HybridQuantizedTensor", refuse_hybrid}};

/* ---- the tree ---- */
static int visit_reduced(reader *r, const hui_value *value, const char *name, int depth) {
  /* Objects that hold no numbers of a model. */
  static const char *const ignored[][2] = {{"torch", "device"},
                                           {"_io", "BytesIO"},
                                           {"torch", "Size"},
                                           {"torch._C", "Generator"},
                                           {"collections", "Counter"}};
  char what[2 * ST_NAME_MAX + 64], shown[ST_NAME_MAX];
  const hui_value *callee = hui_item(&r->pickle, value, 0), *arguments = hui_item(&r->pickle, value, 1);
  if (hui_is_global(callee, "torch._utils", "_rebuild_tensor_v2")) return read_tensor(r, arguments, 0, name);
  if (hui_is_global(callee, "torch._utils", "_rebuild_tensor_v3")) return read_tensor(r, arguments, 1, name);
  if (hui_is_global(callee, "torch._utils", "_rebuild_parameter") ||
      hui_is_global(callee, "torch._utils", "_rebuild_parameter_with_state"))
    return visit(r, hui_item(&r->pickle, arguments, 0), name, depth + 1);
  for (size_t i = 0; i < sizeof engine / sizeof engine[0]; i++)
    if (makes(r, callee, engine[i].function, engine[i].class)) return engine[i].read(r, arguments, name, depth);
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
    if (hui_is_global(callee, ignored[i][0], ignored[i][1])) return 1;
  snprintf(what, sizeof what, "%s is no tensor that is read, and nothing is executed", global_text(shown, callee));
  return wrong(r, name, what);
}

static int join(char z[NAME_MAX_LENGTH], const char *name, const hui_value *key, size_t i) {
  int n;
  const char *dot = *name ? "." : "";
  if (key && key->kind == HUI_TEXT)
    n = snprintf(z, NAME_MAX_LENGTH, "%s%s%.*s", name, dot,
                 (int)(key->length < NAME_MAX_LENGTH ? key->length : NAME_MAX_LENGTH), key->text);
  else
    n = snprintf(z, NAME_MAX_LENGTH, "%s%s%lld", name, dot,
                 key && key->kind == HUI_INT ? (long long)key->number : (long long)i);
  return n < NAME_MAX_LENGTH;
}

static int visit_items(reader *r, const hui_value *value, const char *name, int depth) {
  char inner[NAME_MAX_LENGTH];
  size_t step = value->kind == HUI_DICT ? 2 : 1;
  for (size_t i = 0; i + step <= value->count; i += step) {
    const hui_value *key = step == 2 ? hui_item(&r->pickle, value, i) : NULL;
    if (!join(inner, name, key, i / step)) return wrong(r, name, "a name that is too long");
    if (key && key->kind == HUI_TEXT && memchr(key->text, 0, key->length))
      return wrong(r, name, "a key with a zero byte in it");
    if (!visit(r, hui_item(&r->pickle, value, i + step - 1), inner, depth + 1)) return 0;
  }
  return 1;
}

static int visit(reader *r, const hui_value *value, const char *name, int depth) {
  if (!value) return wrong(r, name, "lacks an argument");
  if (depth > DEPTH_MAX || ++r->visits > VISITS_MAX) return wrong(r, name, "dicts in dicts without an end");
  switch (value->kind) {
    case HUI_DICT:
    case HUI_TUPLE: return visit_items(r, value, name, depth);
    case HUI_REDUCED: return visit_reduced(r, value, name, depth);
    case HUI_PERSISTENT: return wrong(r, name, "a storage that is no tensor is not read");
    default: return 1; /* numbers, texts, names of classes */
  }
}

/* ---- the file ---- */

/* Returns the pickle; NULL and the line: it is missing, or a program lies beside it. */
static const hui_member *find_pickle(reader *r) {
  const hui_member *found = NULL;
  for (size_t i = 0; i < r->archive.count; i++) {
    const hui_member *one = &r->archive.list[i];
    size_t m = strlen("/data.pkl");
    if (one->length > m && !memcmp(one->name + one->length - m, "/data.pkl", m) &&
        !memchr(one->name, '/', one->length - m))
      found = one;
    m = strlen("/constants.pkl");
    if (one->length <= m || memcmp(one->name + one->length - m, "/constants.pkl", m) != 0) continue;
    hui_wrong(r->x, "%s: a TorchScript file, which holds a program, is not read", r->shard->path);
    return NULL;
  }
  if (!found) hui_wrong(r->x, "%s: an archive without a data.pkl, which torch.save writes", r->shard->path);
  return found;
}

static int check_order(const reader *r) {
  char name[NAME_MAX_LENGTH];
  int n = snprintf(name, sizeof name, "%.*sbyteorder", (int)r->prefix_length, r->prefix);
  const hui_member *order = n < NAME_MAX_LENGTH ? hui_archive_find(&r->archive, name, (size_t)n) : NULL;
  if (!order || (order->size == 6 && !memcmp(r->shard->bytes.data + order->begin, "little", 6))) return 1;
  return hui_wrong(r->x, "%s: its numbers are big-endian, which is not read", r->shard->path);
}

static int read_all(reader *r) {
  const hui_member *data = find_pickle(r);
  char error[HUI_PICKLE_ERROR];
  if (!data) return 0;
  r->prefix = data->name;
  r->prefix_length = data->length - strlen("data.pkl");
  if (!check_order(r)) return 0;
  if (!hui_pickle_read(&r->pickle, r->shard->bytes.data + data->begin, data->size, error))
    return hui_wrong(r->x, "%s: data.pkl: %s", r->shard->path, error);
  int good = visit(r, &r->pickle.values[r->pickle.root], "", 0);
  hui_pickle_free(&r->pickle);
  return good;
}

int hui_torch_open(hu_checkpoint *x, hui_shard *shard) {
  static const uint8_t before[] = {0x80, 2, 0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19};
  reader r = {.x = x, .shard = shard};
  char error[HUI_ARCHIVE_ERROR];
  if (shard->bytes.size >= sizeof before && !memcmp(shard->bytes.data, before, sizeof before))
    return hui_wrong(
        x, "%s: a file of PyTorch before 1.6, which is not read; torch.load and torch.save bring it up to date",
        shard->path);
  if (!hui_archive_open(&r.archive, shard->bytes.data, shard->bytes.size, error))
    return hui_wrong(x, "%s: not a PyTorch file: %s", shard->path, error);
  int good = read_all(&r);
  hui_archive_free(&r.archive);
  return good;
}
