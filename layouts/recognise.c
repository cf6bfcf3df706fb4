/* SPDX-License-Identifier: MIT */
/* Which layout a tensor has: see layouts.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layouts/layouts.h"

enum { NAME_MAX_LENGTH = HUI_NAME_MAX };
enum { NO, YES, WRONG };

/* Writes base and end into z: "layer" and ".weight", "" and ".weight": "weight". 0: too long. */
static int join(char z[NAME_MAX_LENGTH], const char *base, const char *end) {
  return snprintf(z, NAME_MAX_LENGTH, "%s%s", base, *base ? end : end + (*end == '.')) < NAME_MAX_LENGTH;
}

/* Writes what stands before the end of a name; 0: it has another end. */
static int base_of(char z[NAME_MAX_LENGTH], const char *name, const char *end) {
  size_t n = strlen(name), m = strlen(end);
  int whole = m && end[0] == '.' && !strcmp(name, end + 1);
  if (n >= NAME_MAX_LENGTH || (!whole && (n < m || strcmp(name + n - m, end) != 0))) return 0;
  snprintf(z, NAME_MAX_LENGTH, "%.*s", whole ? 0 : (int)(n - m), name);
  return 1;
}

static hui_raw *companion(const hu_checkpoint *x, const char *base, const char *end) {
  char name[NAME_MAX_LENGTH];
  return end && join(name, base, end) ? (hui_raw *)(uintptr_t)hui_raw_find(x, name) : NULL;
}

/* ---- conditions ---- */

/* The format that ComfyUI gives to a layer, as a value whose text it is; NULL: none. */
static json_t *comfy_format(const hu_checkpoint *x, const hui_raw *raw, const char *tensor) {
  char base[NAME_MAX_LENGTH];
  if (!base_of(base, tensor, ".weight")) snprintf(base, sizeof base, "%s", tensor);
  const hui_raw *mark = companion(x, base, ".comfy_quant");
  json_t *root = mark ? json_loadb((const char *)mark->bytes, mark->tensor->size, 0, NULL) : NULL;
  json_t *layer = mark ? root : json_object_get(json_object_get(raw->shard->comfy, "layers"), base);
  json_t *z = mark && !root ? json_string("no JSON") : json_incref(json_object_get(layer, "format"));
  json_decref(root);
  return z;
}

static int asks_comfy(const hu_checkpoint *x, const hui_layout *row, const hui_raw *raw, const char *base) {
  json_t *format = comfy_format(x, raw, base);
  const char *text = json_string_value(format);
  size_t n = row->word ? strlen(row->word) : 0; /* behind it may stand the elements: "_e4m3fn" */
  int named = text && n && !strncmp(text, row->word, n) && (!text[n] || !strncmp(text + n, "_e", 2));
  int fits = row->asks == HUI_ASKS_COMFY ? named : !format;
  json_decref(format);
  return fits;
}

/* "0._weight_qdata" is of "0.weight". */
static int torchao_name(char z[NAME_MAX_LENGTH], const char *base) {
  const char *dot = strrchr(base, '.'), *last = dot ? dot + 1 : base;
  if (*last != '_') return 0;
  snprintf(z, NAME_MAX_LENGTH, "%.*s%s", (int)(last - base), base, last + 1);
  return 1;
}

static int asks_torchao(hui_tensor *z, const hui_layout *row, const hui_raw *raw, const char *base) {
  char name[NAME_MAX_LENGTH];
  const char *text = torchao_name(name, base) ? hui_metadata(raw, name) : NULL;
  json_t *root = text ? json_loads(text, 0, NULL) : NULL, *data = json_object_get(root, "_data");
  const char *type = json_string_value(json_object_get(root, "_type"));
  json_t *tiles = json_object_get(data, "is_swizzled_scales");
  const char *of = json_string_value(json_object_get(data, "elem_dtype"));
  if (!tiles) tiles = json_object_get(data, "_is_swizzled_scales");
  int fits = type && !strcmp(type, row->word) && !(of && row->element == HUI_E2M1 && !strstr(of, "float4"));
  if (fits && json_is_true(tiles)) z->grid = HUI_TILES;
  json_decref(root);
  return fits;
}

static int asks_v2(const hu_checkpoint *x) {
  const char *format = hui_config_text(x, NULL, "checkpoint_format"),
             *packing = hui_config_text(x, NULL, "packing_format");
  if (!*format) format = hui_config_text(x, NULL, "format");
  return !strcmp(format, "gptq_v2") || strstr(packing, "gptqmodel");
}

/* Asks the config for AWQ: without elements, AWQ and GPTQ have the same shapes. */
static int asks_awq(const hu_checkpoint *x, const hui_raw *raw) {
  const char *method = hui_config_method(x);
  return strstr(method, "awq") || (raw->tensor->count && !strstr(method, "gptq"));
}

static int is_gemv(const hu_checkpoint *x) { return !strcasecmp(hui_config_text(x, NULL, "version"), "gemv"); }

static int condition(const hu_checkpoint *x, hui_tensor *z, const hui_layout *row, const hui_raw *raw,
                     const char *base) {
  switch (row->asks) {
    case HUI_ASKS_FILE:
    case HUI_ASKS_NAME: return 0;
    case HUI_ASKS_DTYPE: return !strcmp(hui_config_text(x, base, "dtype"), row->word);
    case HUI_ASKS_AWQ: return asks_awq(x, raw) && !is_gemv(x);
    case HUI_ASKS_GEMV: return is_gemv(x);
    case HUI_ASKS_GPTQ: return !strstr(hui_config_method(x), "awq");
    case HUI_ASKS_TORCHAO: return asks_torchao(z, row, raw, base);
    case HUI_ASKS_V2: return asks_v2(x);
    default: return asks_comfy(x, row, raw, base);
  }
}

/* ---- a row and a tensor ---- */

/* Returns 1, with an error, if a companion lies in a file that is not open. */
static int is_elsewhere(hu_checkpoint *x, const hui_tensor *z, const char *base, const char *end) {
  char name[NAME_MAX_LENGTH], shown[ST_NAME_MAX], other[ST_NAME_MAX];
  if (!end || companion(x, base, end) || !join(name, base, end) || !json_object_get(x->map, name)) return 0;
  hui_wrong(x, "%s: tensor '%s': '%s' of it is in %s; open the folder or its index", z->raw->shard->path,
            st_printable(shown, z->raw->tensor->name), st_printable(other, name),
            json_string_value(json_object_get(x->map, name)));
  return 1;
}

/* Returns 1, with an error, if there are zero points and the row does not read them. */
static int has_other_zeros(hu_checkpoint *x, const hui_tensor *z, const char *base) {
  char name[NAME_MAX_LENGTH], shown[ST_NAME_MAX], other[ST_NAME_MAX];
  int is_integer = z->layout->element == HUI_OFFSET || z->layout->element == HUI_TWOS;
  if (!is_integer || z->layout->zero || !join(name, base, ".weight_zero_point")) return 0;
  if (!companion(x, base, ".weight_zero_point") && !json_object_get(x->map, name)) return 0;
  hui_wrong(x, "%s: tensor '%s': its zero points '%s' are not read in layout %s", z->raw->shard->path,
            st_printable(shown, z->raw->tensor->name), st_printable(other, name), z->layout->said.name);
  return 1;
}

/* Returns 1 if what the row requires is there, with the right dtypes; WRONG if it lies in a file that is not open. */
static int find_companions(hu_checkpoint *x, hui_tensor *z, const char *base) {
  const hui_layout *row = z->layout;
  const char *const others[] = {row->second, row->zero, row->bias,   row->order,
                                row->sizes,  row->map,  row->nested, row->nested_map};
  z->scale = companion(x, base, row->scale);
  if (is_elsewhere(x, z, base, row->scale)) return WRONG;
  if (!z->scale || !(row->scale_dtypes >> z->scale->tensor->dtype & 1)) return NO;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (is_elsewhere(x, z, base, others[i])) return WRONG;
  z->second = companion(x, base, row->second);
  z->zero = companion(x, base, row->zero);
  z->bias = companion(x, base, row->bias);
  z->order = companion(x, base, row->order);
  z->map = companion(x, base, row->map);
  z->nested = companion(x, base, row->nested);
  z->nested_map = companion(x, base, row->nested_map);
  int needs_zero = row->zero && !row->sizes; /* compressed-tensors may have none */
  return (z->second || !row->second) && (z->bias || !row->bias) && (z->map || !row->map) && (z->zero || !needs_zero) &&
                 (!row->state || companion(x, base, row->state))
             ? YES
             : NO;
}

static int set_name(hui_tensor *z, const char *base) {
  char name[NAME_MAX_LENGTH];
  int good = z->layout->asks == HUI_ASKS_TORCHAO && torchao_name(name, base);
  if (!good) good = join(name, base, z->layout->values);
  z->name = good ? strdup(name) : NULL;
  return z->name != NULL;
}

static int has_method(const char *methods, const char *method) {
  const char *at = methods && *method ? strstr(methods, method) : NULL;
  size_t n = strlen(method);
  return at && (at == methods || at[-1] == ' ') && (!at[n] || at[n] == ' ');
}

static void clear(hui_tensor *z) {
  free(z->name);
  free(z->shape);
  memset(z, 0, sizeof *z);
}

/* Tries a row: YES and *z, NO (the line may say why the shapes do not fit), or WRONG and the line. */
static int try_row(hu_checkpoint *x, hui_tensor *z, const hui_layout *row, const hui_raw *raw, int asked) {
  char base[NAME_MAX_LENGTH];
  memset(z, 0, sizeof *z);
  if (row->asks == HUI_ASKS_FILE || !(row->dtypes >> raw->tensor->dtype & 1) ||
      !base_of(base, raw->tensor->name, row->codes))
    return NO;
  z->layout = row;
  z->raw = raw;
  z->grid = row->grid;
  z->element = row->element;
  z->scale_type = row->scale_type;
  int fits = find_companions(x, z, base);
  if (fits != YES || (!condition(x, z, row, raw, base) && !asked)) {
    memset(z, 0, sizeof *z);
    return fits == WRONG ? WRONG : NO;
  }
  if (has_other_zeros(x, z, base)) {
    memset(z, 0, sizeof *z);
    return WRONG;
  }
  if (*row->said.open && !asked && !has_method(row->sure, hui_config_method(x))) z->open = row->said.open;
  if (set_name(z, base) && hui_geometry(x, z, base)) return YES;
  if (!z->name) hui_wrong(x, "%s: out of memory, or a name is too long", x->path);
  clear(z);
  return NO;
}

/* Notes that what belongs to a tensor is not shown by itself. */
static void use_up(hu_checkpoint *x, const hui_tensor *z) {
  char base[NAME_MAX_LENGTH], module[NAME_MAX_LENGTH];
  const hui_layout *row = z->layout;
  const char *const ends[] = {row->scale, row->second, row->zero,   row->bias,       row->order,
                              row->sizes, row->map,    row->nested, row->nested_map, row->state};
  ((hui_raw *)(uintptr_t)z->raw)->used = 1;
  if (row->asks == HUI_ASKS_FILE) return;
  if (!base_of(base, z->raw->tensor->name, row->codes)) return;
  const char *dot = strrchr(base, '.');
  snprintf(module, sizeof module, "%.*s", dot ? (int)(dot - base) + 1 : 0, base);
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    hui_raw *one = companion(x, base, ends[i]);
    if (one) one->used = 1;
  }
  for (size_t i = 0; i < sizeof row->beside / sizeof row->beside[0] && row->beside[i]; i++) {
    int own = row->beside[i][0] == '.' || row->beside[i][0] == '_';
    hui_raw *one = companion(x, own ? base : module, row->beside[i]);
    if (one) one->used = 1;
  }
}

/* ---- what no row has ---- */

/* Writes the module of a tensor with its dot; of "a.weight.absmax" that of a.weight. */
static void module_of(char z[NAME_MAX_LENGTH], const char *name) {
  const char *dot = strrchr(name, '.'), *before = dot;
  if (dot && !strcmp(dot, ".absmax"))
    while (before > name && before[-1] != '.') before--;
  else if (dot)
    before = dot + 1;
  else
    before = name;
  snprintf(z, NAME_MAX_LENGTH, "%.*s", (int)(before - name), name);
}

static int seems_scale(const char *name) {
  static const char *const others[] = {"input_", "output_", "k_", "v_", "q_", "activation", "pre_quant"};
  const char *dot = strrchr(name, '.'), *rest = dot ? dot + 1 : name;
  if (!strstr(rest, "scale") && strcmp(rest, "absmax") != 0) return 0;
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
    if (!strncmp(rest, others[k], strlen(others[k]))) return 0;
  return 1;
}

/* Lists by module the tensors that seem to scale another one and that no layout has taken: the first two of each. */
static json_t *list_strays(const hu_checkpoint *x) {
  char module[NAME_MAX_LENGTH];
  json_t *z = json_object();
  for (size_t i = 0; i < x->raw_count; i++) {
    const char *name = x->raws[i].tensor->name;
    if (x->raws[i].used || !seems_scale(name)) continue;
    module_of(module, name);
    json_t *list = json_object_get(z, module);
    if (!list) json_object_set_new_nocheck(z, module, list = json_array());
    if (json_array_size(list) < 2) json_array_append_new(list, json_integer((json_int_t)i));
  }
  return z;
}

/* Returns a tensor of the same module that seems to scale this one and that no layout knows; NULL: none. */
static const hui_raw *stray_scale(const hu_checkpoint *x, const json_t *strays, const hui_raw *raw) {
  char module[NAME_MAX_LENGTH];
  json_t *one;
  size_t i;
  module_of(module, raw->tensor->name);
  json_array_foreach(json_object_get(strays, module), i, one) {
    const hui_raw *other = &x->raws[json_integer_value(one)];
    if (other != raw) return other;
  }
  return NULL;
}

/* Returns 1 for integers that hold codes in several layouts, under names that weights have. */
static int holds_codes(const st_tensor *tensor) {
  static const char *const ends[] = {"weight", "_weight_qdata"};
  size_t n = strlen(tensor->name);
  int packs = tensor->dtype == ST_U8 || tensor->dtype == ST_I8 || tensor->dtype == ST_I32 || tensor->dtype == ST_U32;
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    size_t m = strlen(ends[i]);
    if (packs && n >= m && !strcmp(tensor->name + n - m, ends[i])) return 1;
  }
  return 0;
}

/* Says that codes under a name that only layouts have lack what scales them; 0. 1: it has no such name. */
static int check_alone(hu_checkpoint *x, const hui_raw *raw) {
  char base[NAME_MAX_LENGTH], shown[ST_NAME_MAX];
  for (size_t i = 0; i < hui_layouts_count; i++) {
    const hui_layout *row = &hui_layouts[i];
    int blocks = strstr(row->codes, "blocks") != NULL;
    if (!*row->codes || !strcmp(row->codes, ".weight") || !(row->dtypes >> raw->tensor->dtype & 1)) continue;
    if (!base_of(base, raw->tensor->name, row->codes)) continue;
    if (blocks && (raw->tensor->dims < 3 || raw->tensor->shape[raw->tensor->dims - 1] != 16)) continue;
    return hui_wrong(x, "%s: tensor '%s' (%s) has the name of codes, and what belongs to them is not all there: %s",
                     raw->shard->path, st_printable(shown, raw->tensor->name), st_dtype_name(raw->tensor->dtype),
                     row->said.tensors);
  }
  return 1;
}

static int is_low(int dtype) {
  return dtype == ST_F4 || dtype == ST_F6_E2M3 || dtype == ST_F6_E3M2 || dtype == ST_F8_E5M2 || dtype == ST_F8_E4M3 ||
         dtype == ST_F8_E8M0 || dtype == ST_F8_E4M3FNUZ || dtype == ST_F8_E5M2FNUZ || dtype >= ST_SAFETENSORS;
}

static const char *element_name(int dtype) {
  switch (dtype) {
    case ST_F4: return "float4_e2m1fn";
    case ST_F6_E2M3: return "float6_e2m3fn";
    case ST_F6_E3M2: return "float6_e3m2fn";
    case ST_F8_E5M2: return "float8_e5m2";
    case ST_F8_E8M0: return "float8_e8m0fnu";
    case ST_F8_E4M3FNUZ: return "float8_e4m3fnuz";
    case ST_F8_E5M2FNUZ: return "float8_e5m2fnuz";
    case ST_I4: return "int4";
    case ST_U4: return "uint4";
    case ST_I2: return "int2";
    case ST_U2: return "uint2";
    default: return "float8_e4m3fn";
  }
}

/* Says that the config has a weight quantized, by a program whose codes all have scales, and that nothing scales it; 0.
 * 1: that is not so. */
static int check_scaled(hu_checkpoint *x, const hui_raw *raw) {
  static const char methods[] = "fp8 fbgemm_fp8 modelopt compressed-tensors quark";
  const char *method = hui_config_method(x), *name = raw->tensor->name, *dot = strrchr(name, '.');
  char shown[ST_NAME_MAX];
  if (!has_method(methods, method) || strcmp(dot ? dot + 1 : name, "weight") != 0) return 1;
  const json_t *module = hui_module(x, name);
  if (json_is_null(module) || (!module && !strcmp(method, "compressed-tensors"))) return 1;
  return hui_wrong(x, "%s: tensor '%s' (%s): %s says that it is quantized (%s), and what scales it is not there",
                   raw->shard->path, st_printable(shown, name), st_dtype_name(raw->tensor->dtype), x->says, method);
}

static int as_stored(hu_checkpoint *x, hui_tensor *z, const hui_raw *raw, const json_t *strays) {
  char shown[ST_NAME_MAX], other[ST_NAME_MAX];
  const st_tensor *tensor = raw->tensor;
  memset(z, 0, sizeof *z);
  z->raw = raw;
  z->plain = is_low(tensor->dtype) || x->format_text;
  const hui_raw *stray = z->plain || holds_codes(tensor) ? stray_scale(x, strays, raw) : NULL;
  if (stray)
    return hui_wrong(x, "%s: tensor '%s' (%s): '%s' seems to scale it, in no layout that is known", raw->shard->path,
                     st_printable(shown, tensor->name), st_dtype_name(tensor->dtype),
                     st_printable(other, stray->tensor->name));
  if (!check_alone(x, raw) || ((z->plain || holds_codes(tensor)) && !check_scaled(x, raw))) return 0;
  z->name = strdup(tensor->name);
  z->shape = malloc((tensor->dims ? tensor->dims : 1) * sizeof *z->shape);
  if (!z->name || !z->shape) return hui_wrong(x, "%s: out of memory", x->path);
  if (tensor->dims) memcpy(z->shape, tensor->shape, tensor->dims * sizeof *z->shape);
  z->dims = tensor->dims;
  z->count = tensor->count;
  z->rows = 1;
  z->cols = tensor->count;
  if (!z->plain) return 1;
  z->codes = (hui_codes){raw->bytes, 1, z->cols, 0, 0, HUI_FLAT, (uint8_t)st_dtype_bits(tensor->dtype)};
  z->element = tensor->dtype == ST_I4 || tensor->dtype == ST_I2   ? HUI_TWOS
               : tensor->dtype == ST_U4 || tensor->dtype == ST_U2 ? HUI_UNSIGNED
                                                                  : HUI_OF_DTYPE;
  snprintf(z->elements, sizeof z->elements, "%s", x->format_text ? x->format_text : element_name(tensor->dtype));
  return 1;
}

/* ---- all tensors ---- */

/* Returns 1 if a tensor is that of a layout that is not read: by its name, its dtype, and what stands beside it. */
static int is_refused(const hu_checkpoint *x, const hui_raw *raw, const hui_refused *row) {
  char base[NAME_MAX_LENGTH];
  return row->end && row->dtypes >> raw->tensor->dtype & 1 && base_of(base, raw->tensor->name, row->end) &&
         (!row->beside || companion(x, base, row->beside));
}

/* Refuses Quark's first layout of MX, known by its config alone: each block has its scale in front of its codes. */
static int check_quark(hu_checkpoint *x, const hui_raw *raw) {
  char shown[ST_NAME_MAX];
  if (raw->tensor->dtype != ST_U8 || strcmp(hui_config_text(x, raw->tensor->name, "dtype"), "mx") != 0) return 1;
  return hui_wrong(x,
                   "%s: tensor '%s': Quark's dtype 'mx', scales and codes in one tensor, is not read; later versions "
                   "of Quark write fp4, fp6_e2m3 and fp6_e3m2",
                   raw->shard->path, st_printable(shown, raw->tensor->name));
}

static int check_refusals(hu_checkpoint *x) {
  char shown[ST_NAME_MAX];
  const char *method = hui_config_method(x), *format = hui_config_text(x, NULL, "checkpoint_format");
  if (!strcasecmp(hui_config_text(x, NULL, "version"), "gemv_fast") && strstr(method, "awq"))
    return hui_wrong(x, "%s%s: AWQ of version gemv_fast is not read", x->folder, x->says);
  if (!strcmp(format, "gptq_p"))
    return hui_wrong(x, "%s%s: checkpoint_format gptq_p (bit planes) is not read", x->folder, x->says);
  for (size_t i = 0; i < hui_refusals_count; i++)
    if (hui_refusals[i].method && !strcmp(method, hui_refusals[i].method))
      return hui_wrong(x, "%s%s: quant_method '%s': %s is not read", x->folder, x->says, method, hui_refusals[i].name);
  for (size_t k = 0; k < x->raw_count && strstr(method, "quark"); k++)
    if (!check_quark(x, &x->raws[k])) return 0;
  for (size_t k = 0; k < x->raw_count; k++)
    for (size_t i = 0; i < hui_refusals_count; i++)
      if (is_refused(x, &x->raws[k], &hui_refusals[i]))
        return hui_wrong(x, "%s: tensor '%s': %s is not read", x->raws[k].shard->path,
                         st_printable(shown, x->raws[k].tensor->name), hui_refusals[i].name);
  return 1;
}

/* A layer to which ComfyUI gives a format that no row has. */
static int check_comfy(hu_checkpoint *x, const hui_raw *raw) {
  char base[NAME_MAX_LENGTH], shown[ST_NAME_MAX], name[ST_NAME_MAX];
  if (!base_of(base, raw->tensor->name, ".weight")) return 1;
  json_t *format = comfy_format(x, raw, base);
  const char *text = json_string_value(format);
  if (text)
    hui_wrong(x, "%s: tensor '%s': ComfyUI's format '%s' is not read", raw->shard->path,
              st_printable(shown, raw->tensor->name), st_printable(name, text));
  json_decref(format);
  return !text;
}

/* Finds the layout of one tensor: YES and *z, NO, or WRONG. */
static int find_layout(hu_checkpoint *x, hui_tensor *z, const hui_raw *raw, const hui_layout *asked) {
  char why[HU_CHECKPOINT_LINE] = "";
  if (hui_onnx_has_link(x, raw)) return hui_onnx_tensor(x, z, raw) ? YES : WRONG;
  if (hui_gguf_is_blocks(raw)) return hui_gguf_blocks(x, z, raw) ? YES : WRONG;
  int fits = asked ? try_row(x, z, asked, raw, 1) : NO;
  if (fits == NO && x->line[0]) return WRONG;
  for (size_t i = 0; i < hui_layouts_count && fits == NO; i++) {
    x->line[0] = 0;
    fits = try_row(x, z, &hui_layouts[i], raw, 0);
    if (fits == NO && x->line[0]) memcpy(why, x->line, sizeof why);
  }
  if (fits == YES) x->line[0] = 0;
  if (fits == NO && why[0]) {
    memcpy(x->line, why, sizeof why);
    return WRONG;
  }
  return fits == NO && !check_comfy(x, raw) ? WRONG : fits;
}

static int find_all(hu_checkpoint *x, const hui_layout *asked, int *found) {
  for (size_t i = 0; i < x->raw_count; i++) {
    int fits = find_layout(x, &x->tensors[x->count], &x->raws[i], asked);
    if (fits == WRONG) clear(&x->tensors[x->count]);
    if (fits == WRONG) return 0;
    if (fits != YES) continue;
    *found |= x->tensors[x->count].layout == asked;
    use_up(x, &x->tensors[x->count]);
    x->count++;
  }
  return 1;
}

static int by_name(const void *x, const void *y) {
  const hui_tensor *a = x, *b = y;
  return strcmp(a->name, b->name);
}

static int name_all(hu_checkpoint *x) {
  char shown[ST_NAME_MAX];
  qsort(x->tensors, x->count, sizeof *x->tensors, by_name);
  for (size_t i = 0; i < x->count; i++) {
    if (i && !strcmp(x->tensors[i].name, x->tensors[i - 1].name))
      return hui_wrong(x, "%s: two tensors would be named '%s'", x->path, st_printable(shown, x->tensors[i].name));
    if (!st_place_set(&x->names, x->tensors[i].name, i)) return hui_wrong(x, "%s: out of memory", x->path);
  }
  return 1;
}

/* Takes all that is in no layout as it is stored. */
static int take_others(hu_checkpoint *x) {
  json_t *strays = list_strays(x);
  int good = strays != NULL || hui_wrong(x, "%s: out of memory", x->path);
  for (size_t i = 0; i < x->raw_count && good; i++) {
    const char *name = x->raws[i].tensor->name, *dot = strrchr(name, '.');
    if (x->raws[i].used || !strcmp(dot ? dot + 1 : name, "scaled_fp8")) continue;
    good = as_stored(x, &x->tensors[x->count++], &x->raws[i], strays);
  }
  json_decref(strays);
  return good;
}

int hui_recognise(hu_checkpoint *x, const hui_layout *asked, int *found) {
  x->tensors = calloc(x->raw_count + 1, sizeof *x->tensors);
  if (!x->tensors) return hui_wrong(x, "%s: out of memory", x->path);
  return check_refusals(x) && find_all(x, asked, found) && take_others(x) && name_all(x);
}
