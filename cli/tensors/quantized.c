/* SPDX-License-Identifier: MIT */
/* See quantized.h. */
#include "cli/tensors/quantized.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/io.h"

/* Where a name of the table stands in the name of a tensor. */
enum where {
  LAST,   /* the last part between dots: layer.weight_scale */
  END,    /* the end of the name: gate_up_proj_scales */
  WITHIN, /* a part, others may follow: weight.quant_state.bitsandbytes__nf4 */
  BESIDE, /* the last part, and a tensor of the same begin may be codes or is a companion: too common a word else */
  CODES   /* the last part, of integers; of floats beside a `zero`, as HQQ stores codes, too: else a weight's name */
};
/* The names of compressed-tensors, ModelOpt, Hugging Face, torchao, bitsandbytes, AWQ, GPTQ, MLX, Quark, ComfyUI,
 * Mistral, Nunchaku, HQQ and llama.cpp: scales, what is subtracted, orders, tables of values, the state of a quantizer,
 * and codes that have a name of their own. */
static const struct {
  const char *name;
  enum where where;
} names[] = {
    {"weight_scale", LAST},
    {"weight_scale_inv", LAST},
    {"weight_scale_2", LAST},
    {"weight_scale_2_inv", LAST},
    {"weight_global_scale", LAST},
    {"weight_zero_point", LAST},
    {"weight_zp", LAST},
    {"weight_g_idx", LAST},
    {"weight_shape", LAST},
    {"input_scale", LAST},
    {"input_global_scale", LAST},
    {"input_scale_ub", LAST},
    {"activation_scale", LAST},
    {"output_scale", LAST},
    {"pre_quant_scale", LAST},
    {"k_scale", LAST},
    {"v_scale", LAST},
    {"q_scale", LAST},
    {"k_bias", BESIDE},
    {"v_bias", BESIDE},
    {"scale", BESIDE},
    {"zero", BESIDE},
    {"_scale", END},
    {"_scales", END},
    {"_scale_inv", END},
    {"_scales_inv", END},
    {"_blocks", END},
    {"scale_weight", LAST},
    {"scale_input", LAST},
    {"scaled_fp8", LAST},
    {"comfy_quant", LAST},
    {"weight_s_rel", LAST},
    {"weight_s_channel", LAST},
    {"weight_codebook", LAST},
    {"weight_zeros", LAST},
    {"weight_packed", CODES},
    {"qweight", CODES},
    {"W_q", CODES},
    {"qzeros", LAST},
    {"scales", LAST},
    {"biases", BESIDE},
    {"g_idx", LAST},
    {"absmax", LAST},
    {"quant_map", LAST},
    {"nested_absmax", LAST},
    {"nested_quant_map", LAST},
    {"quant_state", WITHIN},
    {"SCB", LAST},
    {"weight_format", LAST},
    {"qdata", CODES},
    {"_qdata", END},
    {"per_tensor_scale", LAST},
    {"act_per_tensor_scale", LAST},
    {"zero_point", LAST},
    {"_zero_point", END},
    {"act_pre_scale", LAST},
    {"qscale_weight", LAST},
    {"qscale_act", LAST},
    {"svdquant_lora_a", LAST},
    {"svdquant_lora_b", LAST},
    {"input_rotation", LAST},
    {"_extra_state", LAST},
};
enum { NAMES = sizeof names / sizeof names[0] };

/* Names and the beginnings that they scale, as places of tensors. */
typedef struct reader {
  quantized *z;
  const st_file *file;
  struct json_t *begins;
  int good;
} reader;

int quantized_dtype(int dtype) {
  return dtype == ST_F4 || dtype == ST_F6_E2M3 || dtype == ST_F6_E3M2 || dtype == ST_F8_E5M2 || dtype == ST_F8_E4M3 ||
         dtype == ST_F8_E8M0 || dtype == ST_F8_E4M3FNUZ || dtype == ST_F8_E5M2FNUZ;
}

/* Returns 1 for integers that can be codes; those of 64 bits are places and counts. */
static int may_be_codes(int dtype) {
  return dtype == ST_U8 || dtype == ST_I8 || dtype == ST_U16 || dtype == ST_I16 || dtype == ST_U32 || dtype == ST_I32;
}

static size_t place_of(const reader *scan, const st_tensor *tensor) { return (size_t)(tensor - scan->file->tensors); }

/* Notes that the tensor scales everything whose name begins with the first `length` letters of its own. */
static void add_begin(reader *scan, const st_tensor *tensor, size_t length) {
  char *begin = strndup(tensor->name, length);
  scan->good = scan->good && begin && st_place_set(&scan->begins, begin, place_of(scan, tensor));
  free(begin);
}

/* Returns the letters in front of the table's name, and of the dot between; SIZE_MAX: the tensor has another name. */
static size_t begin_of(const char *tensor, size_t i) {
  size_t all = strlen(tensor), length = strlen(names[i].name);
  if (all < length) return SIZE_MAX;
  if (names[i].where == WITHIN) {
    for (const char *at = strstr(tensor, names[i].name); at; at = strstr(at + 1, names[i].name))
      if ((at == tensor || at[-1] == '.') && (at[length] == '.' || !at[length])) return (size_t)(at - tensor);
    return SIZE_MAX;
  }
  if (strcmp(tensor + all - length, names[i].name) != 0) return SIZE_MAX;
  int whole = all == length || tensor[all - length - 1] == '.';
  return names[i].where == END || whole ? all - length : SIZE_MAX;
}

static void mark(reader *scan, const st_tensor *tensor, size_t begin) {
  scan->z->what[place_of(scan, tensor)] = QUANTIZED_COMPANION;
  scan->z->scales[place_of(scan, tensor)] = 1;
  scan->z->ending[place_of(scan, tensor)] = 0;
  add_begin(scan, tensor, begin && tensor->name[begin - 1] == '.' ? begin - 1 : begin);
}

/* Returns 1 if a tensor with a name of codes holds codes. begin: the letters in front of that name. */
static int has_codes(const reader *scan, const st_tensor *tensor, size_t begin) {
  size_t capacity = begin + sizeof "zero";
  char *zero = may_be_codes(tensor->dtype) || quantized_dtype(tensor->dtype) ? NULL : malloc(capacity);
  if (!zero) return 1;
  snprintf(zero, capacity, "%.*szero", (int)begin, tensor->name);
  int has = st_find(scan->file, zero) != NULL;
  free(zero);
  return has;
}

/* Looks for names that need no company. */
static void read_names(reader *scan) {
  for (size_t i = 0; i < scan->file->count && scan->good; i++) {
    int ends = 0, others = 0;
    for (size_t k = 0; k < NAMES; k++) {
      size_t begin = names[k].where == BESIDE ? SIZE_MAX : begin_of(scan->file->tensors[i].name, k);
      if (begin == SIZE_MAX) continue;
      if (names[k].where == CODES && !has_codes(scan, &scan->file->tensors[i], begin)) continue;
      mark(scan, &scan->file->tensors[i], begin);
      ends += names[k].where == END;
      others += names[k].where != END;
    }
    scan->z->ending[i] = ends && !others;
  }
}

static int is_unsure(const quantized *found, size_t count) {
  int unsure = !found->says;
  for (size_t i = 0; i < count; i++)
    unsure &= !found->what[i] || (found->what[i] == QUANTIZED_COMPANION && found->ending[i]);
  return unsure;
}

/* Finds a companion whose name begins as this tensor's, all of it or what stands before its last dot or line. */
static const st_tensor *companion_of(const reader *scan, const st_tensor *tensor) {
  const char *dot = strrchr(tensor->name, '.');
  const char *const ends[] = {tensor->name + strlen(tensor->name), dot ? dot : tensor->name,
                              strrchr(tensor->name, '_')};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    char *begin = ends[i] ? strndup(tensor->name, (size_t)(ends[i] - tensor->name)) : NULL;
    size_t place = begin ? st_place(scan->begins, begin) : SIZE_MAX;
    free(begin);
    if (place != SIZE_MAX && place != place_of(scan, tensor)) return &scan->file->tensors[place];
  }
  return NULL;
}

static void read_codes(reader *scan, const gguf_file *gguf) {
  for (size_t i = 0; i < scan->file->count && scan->good; i++) {
    const st_tensor *tensor = &scan->file->tensors[i];
    const st_tensor *by = companion_of(scan, tensor);
    int block = gguf && gguf->tensors[i].type->dtype < 0;
    scan->z->with[i] = by;
    if (block || quantized_dtype(tensor->dtype) || (may_be_codes(tensor->dtype) && (by || scan->z->what[i])))
      scan->z->what[i] = QUANTIZED_CODES;
  }
}

/* Looks for common words, which are companions beside what may be codes, or beside others of the table. */
static void read_beside(reader *scan) {
  struct json_t *known = NULL;
  for (size_t i = 0; i < scan->file->count && scan->good; i++) {
    const st_tensor *tensor = &scan->file->tensors[i];
    const char *dot = strrchr(tensor->name, '.');
    char *begin = strndup(tensor->name, dot ? (size_t)(dot - tensor->name) : 0);
    int sure = scan->z->what[i] || quantized_dtype(tensor->dtype) || tensor->dtype == ST_I8;
    int near = sure || dot || !strcmp(tensor->name, "weight"); /* names without a dot are no neighbours */
    scan->good = begin && ((!sure && !may_be_codes(tensor->dtype)) ||
                           ((!near || st_place_set(&known, begin, i)) && st_place_set(&known, tensor->name, i)));
    free(begin);
  }
  for (size_t i = 0; i < scan->file->count && scan->good; i++)
    for (size_t k = 0; k < NAMES; k++) {
      const st_tensor *tensor = &scan->file->tensors[i];
      size_t length = names[k].where == BESIDE ? begin_of(tensor->name, k) : SIZE_MAX;
      if (length == SIZE_MAX || scan->z->what[i]) continue;
      char *begin = strndup(tensor->name, length ? length - 1 : 0);
      if (begin && st_place(known, begin) != SIZE_MAX) mark(scan, tensor, length);
      scan->good = begin != NULL;
      free(begin);
    }
  st_places_free(&known);
}

/* Looks for blocks of GGUF and the scales beside them: NAME.scale of a tensor NAME.weight. */
static void read_gguf_scales(reader *scan) {
  for (size_t i = 0; i < scan->file->count && scan->good; i++) {
    const st_tensor *tensor = &scan->file->tensors[i];
    size_t length = strlen(tensor->name);
    if (length > 6 && !strcmp(tensor->name + length - 6, ".scale")) mark(scan, tensor, length - 6);
  }
}

/* ---- what the metadata say ---- */

/* Marks what torchao names: "layer.weight": {"_tensor_data_names": ["qdata", "scale"]} names layer._weight_qdata and
 * layer._weight_scale, and in older files layer.weight:qdata. */
static void mark_named(reader *scan, const char *tensor, const char *part) {
  const char *dot = strrchr(tensor, '.'), *last = dot ? dot + 1 : tensor;
  size_t capacity = strlen(tensor) + strlen(part) + 4;
  char *name = malloc(capacity);
  scan->good = scan->good && name;
  for (int older = 0; older < 2 && name; older++) {
    if (older)
      snprintf(name, capacity, "%s:%s", tensor, part);
    else
      snprintf(name, capacity, "%.*s_%s_%s", (int)(last - tensor), tensor, last, part);
    const st_tensor *named = st_find(scan->file, name);
    if (named) mark(scan, named, strlen(name) - strlen(part) - 1);
  }
  free(name);
}

static void read_metadata(reader *scan) {
  static const char *const keys[] = {"quantization_config", "_quantization_metadata", "tensor_names"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (!scan->z->says && st_value(scan->file, keys[i])) {
      scan->z->says = "its metadata";
      scan->z->key = keys[i];
    }
  for (size_t i = 0; i < scan->file->entries; i++) {
    const st_entry *entry = &scan->file->metadata[i];
    json_t *value = strstr(entry->value, "_tensor_data_names") ? json_loads(entry->value, 0, NULL) : NULL;
    json_t *parts = json_object_get(value, "_tensor_data_names"), *part;
    size_t k;
    json_array_foreach(parts, k, part) if (json_is_string(part)) mark_named(scan, entry->key, json_string_value(part));
    json_decref(value);
  }
}

/* ---- what stands beside the file ---- */

/* Opens a file in the same folder, behind the byte order mark that some editors write; NULL if it cannot be opened. */
static FILE *open_beside(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  int folder = slash ? (int)(slash - path) + 1 : 0;
  size_t capacity = (size_t)folder + strlen(name) + 1;
  char *file = malloc(capacity), mark[3] = "";
  if (!file) return NULL;
  snprintf(file, capacity, "%.*s%s", folder, path, name);
  FILE *z = cli_own_stream(file);
  free(file);
  if (z && (fread(mark, 1, 3, z) < 3 || memcmp(mark, "\xEF\xBB\xBF", 3))) rewind(z);
  return z;
}

/* Returns 1 if the word is in the file, in quotes. None begins again within itself, since it has no other quotes. */
static int has_quoted(FILE *file, const char *word) {
  size_t length = strlen(word), n = 0; /* how many characters of "word" have just been read */
  rewind(file);
  for (int c; n < length + 2 && (c = getc(file)) != EOF;)
    n = c == (n == 0 || n == length + 1 ? '"' : word[n - 1]) ? n + 1 : c == '"';
  return n == length + 2;
}

/* Returns 1 if the file has an object of this name, at its top or in text_config. Python writes NaN and Infinity, which
 * are no JSON: a file that cannot be parsed counts by its text. */
static int has_object(const char *path, const char *name, const char *key) {
  FILE *file = open_beside(path, name);
  if (!file) return 0;
  json_t *all = json_loadf(file, 0, NULL), *text = json_object_get(all, "text_config");
  int has = all ? json_is_object(json_object_get(all, key)) || json_is_object(json_object_get(text, key))
                : has_quoted(file, key);
  json_decref(all);
  fclose(file);
  return has;
}

static void read_beside_file(quantized *found, const char *path) {
  if (has_object(path, "config.json", "quantization_config")) {
    found->says = "config.json beside it";
    found->key = "quantization_config";
  } else if (has_object(path, "hf_quant_config.json", "quantization")) {
    found->says = "hf_quant_config.json beside it";
    found->key = "quantization";
  }
}

int quantized_read(quantized *found, const st_file *file, const gguf_file *gguf, int values, const char *path) {
  memset(found, 0, sizeof *found);
  found->what = calloc(file->count + 1, sizeof *found->what);
  found->scales = calloc(file->count + 1, sizeof *found->scales);
  found->ending = calloc(file->count + 1, sizeof *found->ending);
  found->with = calloc(file->count + 1, sizeof *found->with);
  reader scan = {found, file, NULL, found->what && found->scales && found->ending && found->with};
  if (scan.good) read_names(&scan);
  if (scan.good) read_metadata(&scan);
  if (scan.good && gguf) read_gguf_scales(&scan);
  if (scan.good) read_beside(&scan);
  if (scan.good) read_codes(&scan, values ? NULL : gguf);
  if (scan.good && !found->says && path && !gguf) read_beside_file(found, path);
  found->unsure = scan.good && is_unsure(found, file->count);
  st_places_free(&scan.begins);
  return scan.good;
}

void quantized_free(quantized *found) {
  free(found->what);
  free(found->with);
  free(found->scales);
  free(found->ending);
  found->what = NULL;
  found->ending = NULL;
  found->scales = NULL;
  found->with = NULL;
}
