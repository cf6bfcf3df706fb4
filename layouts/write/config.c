/* SPDX-License-Identifier: MIT */
/* What loaders read beside the tensors: config.json, hf_quant_config.json, the index, and the files of the source's
 * folder that are no weights. See write.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layouts/write/write.h"

static char *joined(const char *folder, const char *slash, const char *name) {
  size_t capacity = strlen(folder) + strlen(slash) + strlen(name) + 1;
  char *z = malloc(capacity);
  if (z) snprintf(z, capacity, "%s%s%s", folder, slash, name);
  return z;
}

static hu_status write_file(hui_writing *x, const char *name, const void *bytes, size_t size) {
  char *path = joined(x->folder, "/", name);
  FILE *file = path ? fopen(path, "wbx") : NULL;
  hu_status status = path ? HU_OK : hui_write_no_memory(x);
  int good = file && fwrite(bytes, 1, size, file) == size && !fflush(file);
  if (good) good = !fsync(fileno(file)) || errno == EINVAL;
  if (file && fclose(file)) good = 0;
  if (status == HU_OK && !good) status = hui_write_wrong(x, HU_E_FILE, "%s: cannot write: %s", name, strerror(errno));
  free(path);
  return status;
}

/* Takes the object. */
static hu_status write_json(hui_writing *x, const char *name, json_t *object) {
  char *text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;
  json_decref(object);
  if (!text) return hui_write_no_memory(x);
  size_t length = strlen(text);
  text[length] = '\n'; /* instead of the final 0 */
  hu_status status = write_file(x, name, text, length + 1);
  free(text);
  return status;
}

/* ---- lists of modules ---- */

/* Returns the module of a tensor NAME.weight; NULL: it is no such tensor, or out of memory. */
static char *module_of(const char *name) {
  size_t length = strlen(name), end = strlen(".weight");
  return length > end && !strcmp(name + length - end, ".weight") ? strndup(name, length - end) : NULL;
}

/* Returns 1 for a matrix of a layer that stays as it is. */
static int is_left(const hui_writing *x, size_t i) {
  uint32_t what = x->changes[i].what;
  return x->model->tensors[i].dims == 2 && (what == HU_CHECKPOINT_COPIED || what == HU_CHECKPOINT_VALUES);
}

static json_t *modules_left(const hui_writing *x) {
  json_t *list = json_array();
  for (size_t i = 0; i < x->model->count; i++) {
    char *module = is_left(x, i) ? module_of(x->model->tensors[i].name) : NULL;
    if (module) json_array_append_new(list, json_string(module));
    free(module);
  }
  return list;
}

/* ---- what each reader asks for ---- */

static json_t *ct_weights(const hui_target *target) {
  const char *dtype = target->scale_dtype == ST_U8        ? "torch.uint8"
                      : target->scale_dtype == ST_F8_E4M3 ? "torch.float8_e4m3fn"
                                                          : NULL;
  int grouped = target->block[0] == 1 && target->block[1], block = target->block[0] > 1;
  const char *strategy = target->second     ? "tensor_group"
                         : block            ? "block"
                         : grouped          ? "group"
                         : target->block[0] ? "channel"
                                            : "tensor";
  json_t *group = grouped ? json_integer(target->block[1]) : json_null();
  json_t *structure = block ? json_pack("[i, i]", (int)target->block[0], (int)target->block[1]) : json_null();
  return json_pack("{s:i, s:s, s:b, s:s, s:o, s:o, s:b, s:s?, s:s?}", "num_bits", (int)target->bits, "type",
                   target->codes_are == HUI_CODES ? "float" : "int", "symmetric", 1, "strategy", strategy, "group_size",
                   group, "block_structure", structure, "dynamic", 0, "scale_dtype", dtype, "zp_dtype", dtype);
}

/* FP8 layers round their inputs as they run, or by the scales that are given, as NVFP4 then does; all other targets are
 * of weights alone. */
static json_t *ct_inputs(const hui_writing *x) {
  const hui_target *target = x->target;
  if (x->order->activations && target->second)
    return json_pack("{s:i, s:s, s:b, s:s, s:i, s:s, s:s}", "num_bits", 4, "type", "float", "symmetric", 1, "strategy",
                     "tensor_group", "group_size", (int)target->block[1], "dynamic", "local", "scale_dtype",
                     "torch.float8_e4m3fn");
  if (x->order->activations)
    return json_pack("{s:i, s:s, s:b, s:s, s:n, s:b}", "num_bits", 8, "type", "float", "symmetric", 1, "strategy",
                     "tensor", "group_size", "dynamic", 0);
  if (strcmp(target->format, "float-quantized") != 0) return json_null();
  int block = target->block[0] > 1;
  return json_pack("{s:i, s:s, s:b, s:s, s:o, s:b}", "num_bits", 8, "type", "float", "symmetric", 1, "strategy",
                   block ? "group" : "token", "group_size", block ? json_integer(128) : json_null(), "dynamic", 1);
}

static json_t *ct_config(const hui_writing *x) {
  const char *format = x->target->format;
  json_t *group = json_pack("{s:[s], s:o, s:o, s:n, s:s}", "targets", "Linear", "weights", ct_weights(x->target),
                            "input_activations", ct_inputs(x), "output_activations", "format", format);
  return json_pack("{s:s, s:s, s:s, s:{s:o}, s:o, s:n}", "quant_method", "compressed-tensors", "format", format,
                   "quantization_status", "compressed", "config_groups", "group_0", group, "ignore", modules_left(x),
                   "kv_cache_scheme");
}

/* Without scales of activations NVFP4 is of weights alone. */
static const char *modelopt_algorithm(const hui_writing *x) {
  return x->order->activations && x->target->second ? "NVFP4" : x->target->format;
}

static json_t *modelopt_config(const hui_writing *x) {
  int groups = x->target->block[1] != 0;
  return json_pack("{s:s, s:s, s:n, s:o, s:o, s:{s:s}}", "quant_method", "modelopt", "quant_algo",
                   modelopt_algorithm(x), "kv_cache_quant_algo", "group_size",
                   groups ? json_integer(x->target->block[1]) : json_null(), "ignore", modules_left(x), "producer",
                   "name", "halfulp");
}

static json_t *hf_config(const hui_writing *x) {
  return json_pack("{s:s, s:s, s:s, s:[i, i], s:o}", "quant_method", "fp8", "fmt", "e4m3", "activation_scheme",
                   "dynamic", "weight_block_size", (int)x->target->block[0], (int)x->target->block[1],
                   "modules_to_not_convert", modules_left(x));
}

static json_t *mlx_config(const hui_writing *x) {
  json_t *z = json_pack("{s:i, s:i, s:s}", "group_size", (int)x->target->block[1], "bits", (int)x->target->bits, "mode",
                        x->target->format),
         *left = modules_left(x), *module;
  size_t i;
  json_array_foreach(left, i, module) json_object_set_new(z, json_string_value(module), json_false());
  json_decref(left);
  return z;
}

static json_t *quantization(const hui_writing *x) {
  switch (x->target->reader) {
    case HUI_FOR_CT: return ct_config(x);
    case HUI_FOR_MODELOPT: return modelopt_config(x);
    case HUI_FOR_HF: return hf_config(x);
    case HUI_FOR_MLX: return mlx_config(x);
    case HUI_FOR_GPT_OSS:
      return json_pack("{s:s, s:o}", "quant_method", "mxfp4", "modules_to_not_convert", modules_left(x));
    default: return NULL;
  }
}

/* ---- config.json ---- */

/* Loads a file of JSON, behind the byte order mark that it may have. */
static json_t *load(const char *path, json_error_t *where) {
  char mark[3] = "";
  FILE *file = fopen(path, "rb");
  if (!file) return json_load_file(path, 0, where); /* which says why */
  if (!hui_byte_order_mark(mark, fread(mark, 1, 3, file))) rewind(file);
  json_t *z = json_loadf(file, 0, where);
  fclose(file);
  return z;
}

/* Reads it again: what the reader took for null, NaN and Infinity, would be lost. */
static hu_status read_config(hui_writing *x, json_t **z) {
  char *path = joined(x->model->folder, "", "config.json");
  struct stat info;
  json_error_t where;
  hu_status status = path ? HU_OK : hui_write_no_memory(x);
  int there = path && stat(path, &info) == 0;
  *z = there ? load(path, &where) : json_object();
  if (status == HU_OK && there && !json_is_object(*z))
    status = hui_write_wrong(x, HU_E_DATA, "%.400s: %.200s (line %d)", path, *z ? "no JSON object" : where.text,
                             *z ? 1 : where.line);
  free(path);
  if (status == HU_OK && *z) return HU_OK;
  json_decref(*z);
  return status == HU_OK ? hui_write_no_memory(x) : status;
}

static void forget(json_t *config) {
  static const char *const keys[] = {"quantization_config", "compression_config", "quantization"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    json_object_del(config, keys[i]);
    json_object_del(json_object_get(config, "text_config"), keys[i]);
  }
}

/* ModelOpt's own file has the same in its own words. */
static hu_status write_modelopt(hui_writing *x) {
  int groups = x->target->block[1] != 0;
  return write_json(
      x, "hf_quant_config.json",
      json_pack("{s:{s:s}, s:{s:s, s:n, s:o, s:o}}", "producer", "name", "halfulp", "quantization", "quant_algo",
                modelopt_algorithm(x), "kv_cache_quant_algo", "group_size",
                groups ? json_integer(x->target->block[1]) : json_null(), "exclude_modules", modules_left(x)));
}

hu_status hui_write_config(hui_writing *x) {
  json_t *config, *made = quantization(x);
  hu_status status = read_config(x, &config);
  if (status != HU_OK) {
    json_decref(made);
    return status;
  }
  forget(config);
  if (x->target->reader == HUI_FOR_MLX) json_object_set(config, "quantization", made);
  if (made) json_object_set_new(config, "quantization_config", made);
  status = write_json(x, "config.json", config);
  return status == HU_OK && x->target->reader == HUI_FOR_MODELOPT ? write_modelopt(x) : status;
}

/* ---- the index ---- */

hu_status hui_write_index(hui_writing *x) {
  json_t *map = json_object();
  uint64_t total = 0;
  for (size_t p = 0; p < x->part_count; p++)
    for (size_t i = 0; i < x->parts[p].file.count; i++) {
      const st_tensor *tensor = &x->parts[p].file.tensors[i];
      json_object_set_new(map, tensor->name, json_string(x->parts[p].name));
      total += tensor->size;
    }
  return write_json(x, "model.safetensors.index.json",
                    json_pack("{s:{s:I}, s:o}", "metadata", "total_size", (json_int_t)total, "weight_map", map));
}

/* ---- the rest ---- */

/* Returns 1 for what is no weights, and not written here: tokenizers, templates, settings, licences. */
static int is_rest(const char *name) {
  static const char *const weights[] = {
      ".safetensors", ".safetensors.index.json", ".bin", ".pt", ".pth", ".gguf", ".onnx", ".h5", ".msgpack", ".ckpt",
      ".npy",         ".bin.index.json"};
  static const char *const own[] = {"config.json", "hf_quant_config.json"};
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
    size_t n = strlen(weights[i]);
    if (length >= n && !strcmp(name + length - n, weights[i])) return 0;
  }
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (!strcmp(name, own[i])) return 0;
  return name[0] != '.';
}

static hu_status copy_file(hui_writing *x, const char *name) {
  char *path = joined(x->model->folder, "", name);
  struct stat info;
  hui_bytes bytes;
  hu_status status = path ? HU_OK : hui_write_no_memory(x);
  if (path && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    if (!x->model->reader->read(&bytes, path, x->line)) {
      status = HU_E_FILE;
    } else {
      status = write_file(x, name, bytes.data, bytes.size);
      x->model->reader->free(&bytes);
    }
  }
  free(path);
  return status;
}

hu_status hui_write_rest(hui_writing *x) {
  struct stat info;
  int is_folder = stat(x->model->path, &info) == 0 && S_ISDIR(info.st_mode);
  DIR *folder = is_folder ? opendir(x->model->path) : NULL;
  hu_status status = HU_OK;
  for (struct dirent *entry = folder ? readdir(folder) : NULL; entry && status == HU_OK; entry = readdir(folder))
    if (is_rest(entry->d_name)) status = copy_file(x, entry->d_name);
  if (folder) closedir(folder);
  return status;
}
