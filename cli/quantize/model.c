/* SPDX-License-Identifier: MIT */
/* Models that hold tensors in layouts of other programs, as tensors of values: see tensors.h. The layouts are those of
 * libhalfulp-layouts; here its files are read as the command reads files. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/quantize/tensors.h"
#include "cli/tensors/quantized.h"
#include "layouts/layouts.h"

enum { PIECE = 1 << 16 };

/* ---- files as the command reads them ---- */

static int read_file(hui_bytes *z, const char *path, char line[HU_CHECKPOINT_LINE]) {
  cli_bytes bytes;
  line[0] = 0; /* cli_own_read says what is wrong */
  if (cli_own_read(&bytes, path)) return 0;
  *z = (hui_bytes){bytes.data, bytes.size, bytes.mapped};
  return 1;
}

static void free_file(hui_bytes *z) {
  cli_bytes bytes = {z->data, z->size, z->mapped};
  cli_bytes_free(&bytes);
}

/* ---- the tensors ---- */

static int is_values(const hu_checkpoint_tensor *tensor) { return tensor->layout[0] != 0; }

static int dtype_of(const hu_checkpoint_tensor *tensor) {
  return is_values(tensor) ? ST_F32 : st_dtype_find(tensor->dtype);
}

/* Returns 1 if metadata stay: what they say of quantization is no longer so. */
static int stays(const hu_checkpoint *model, const st_entry *entry) {
  static const char *const keys[] = {"quantization_config", "_quantization_metadata", "tensor_names"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (!strcmp(entry->key, keys[i])) return 0;
  return hu_checkpoint_find(model, entry->key) == SIZE_MAX; /* torchao has one for each tensor */
}

static int as_file(st_file *file, const hu_checkpoint *model) {
  int good = 1;
  memset(file, 0, sizeof *file);
  for (size_t i = 0; i < hu_checkpoint_count(model) && good; i++) {
    hu_checkpoint_tensor tensor = hu_checkpoint_at(model, i);
    good = st_add(file, tensor.name, dtype_of(&tensor), tensor.dims, tensor.shape);
  }
  for (size_t i = 0; i < model->shard_count; i++)
    for (size_t k = 0; k < model->shards[i].file.entries && good; k++) {
      const st_entry *entry = &model->shards[i].file.metadata[k];
      good = !stays(model, entry) || st_set(file, entry->key, entry->value);
    }
  return good && !st_layout(file);
}

/* Says what was open, once for each layout. */
static void print_open(const tensors_input *in) {
  char shown[ST_NAME_MAX];
  const char *last = "";
  for (size_t i = 0; i < hu_checkpoint_count(in->model); i++) {
    hu_checkpoint_tensor tensor = hu_checkpoint_at(in->model, i);
    if (!tensor.open[0] || tensor.open == last) continue;
    last = tensor.open;
    cli_note("%s: tensor '%s' is read as %s: %s; --layout decides", in->name, st_printable(shown, tensor.name),
             tensor.layout, tensor.open);
  }
}

static int has_values(const hu_checkpoint *model) {
  for (size_t i = 0; i < hu_checkpoint_count(model); i++) {
    hu_checkpoint_tensor tensor = hu_checkpoint_at(model, i);
    if (is_values(&tensor)) return 1;
  }
  return 0;
}

static int take(tensors_input *in, hu_checkpoint *model) {
  st_file file;
  if (!as_file(&file, model)) {
    st_free(&file);
    hu_checkpoint_close(model);
    return cli_fail(in->name, "out of memory");
  }
  st_free(&in->file);
  in->file = file;
  in->model = model;
  print_open(in);
  return CLI_OK;
}

/* Returns 1 if a file has codes of another program, so that layouts are looked for. */
static int is_foreign(const tensors_input *in) {
  quantized found;
  int foreign = 0;
  for (size_t i = 0; i < in->file.entries; i++)
    if (tensors_is_note(&in->file.metadata[i])) return 0;
  if (quantized_read(&found, &in->file, NULL, 0, NULL))
    for (size_t i = 0; i < in->file.count; i++) foreign |= found.what[i] == QUANTIZED_CODES;
  quantized_free(&found);
  return foreign;
}

int tensors_open_model(tensors_input *in, const char *layout, int must) {
  static const hui_reader reader = {read_file, free_file};
  char line[HU_CHECKPOINT_LINE];
  hu_checkpoint *model = NULL;
  int named = layout && strcmp(layout, TENSORS_AUTO) != 0;
  if (!must && (!layout || (!named && !is_foreign(in)))) return CLI_OK;
  if (!must && !in->bytes.mapped) return cli_fail(in->name, "layouts are looked for in ordinary files alone");
  hu_status status = hui_checkpoint_open(&model, in->path, named ? layout : NULL, &reader, line);
  if (status == HU_E_MEMORY) return cli_fail(in->name, "out of memory");
  if (status != HU_OK && !line[0]) return CLI_BAD; /* a file that cannot be read: said already */
  if (status != HU_OK && (must || named)) return cli_fail(NULL, "%s", line);
  if (status != HU_OK) {
    in->why = strdup(line);
    return CLI_OK;
  }
  if (must || has_values(model)) return take(in, model);
  hu_checkpoint_close(model);
  return CLI_OK;
}

void tensors_close_model(tensors_input *in) {
  hu_checkpoint_close(in->model);
  free(in->why);
  in->model = NULL;
  in->why = NULL;
}

/* Returns 1 if a file would be one of the folder of a model, which has no index: a later reading would take it in. */
static int joins(const hu_checkpoint *model, const char *out) {
  struct stat folder, place;
  const char *slash = strrchr(out, '/');
  char *parent = slash ? strndup(out, (size_t)(slash - out) + 1) : strdup(".");
  int is_folder = model && stat(model->path, &folder) == 0 && S_ISDIR(folder.st_mode);
  int same = is_folder && !model->index && parent && stat(parent, &place) == 0 && place.st_dev == folder.st_dev &&
             place.st_ino == folder.st_ino;
  free(parent);
  return same && cli_ends(out, ".safetensors");
}

static int spare_shards(const tensors_input *in, const char *out, const char *remedy) {
  for (size_t i = 0; in->model && i < in->model->shard_count; i++)
    if (cli_spare_input(out, in->model->shards[i].path, remedy)) return CLI_BAD;
  return CLI_OK;
}

int tensors_spare_model(const tensors_input *in, const char *out, int in_place) {
  if (joins(in->model, out))
    return cli_fail(out, "lies in the folder of the model, and would be a part of it; name another folder");
  return in_place && in->model && in->model->shard_count == 1 ? CLI_OK : spare_shards(in, out, "name another file");
}

/* Checks the files in the folder of a model that say what it is: config.json and its like, the index. */
static int spare_folder(const char *report, char *folder) {
  DIR *list = folder ? opendir(*folder ? folder : ".") : NULL;
  int code = folder ? CLI_OK : cli_fail(report, "out of memory");
  for (const struct dirent *entry; list && code == CLI_OK && (entry = readdir(list)) != NULL;) {
    char *path = NULL;
    if (!cli_ends(entry->d_name, ".json")) continue;
    code = asprintf(&path, "%s%s", folder, entry->d_name) < 0 ? cli_fail(report, "out of memory")
                                                              : cli_spare_input(report, path, TENSORS_OTHER_REPORT);
    free(path);
  }
  if (list) closedir(list);
  free(folder);
  return code;
}

int tensors_spare_operand(const char *report, const char *path) {
  struct stat info;
  char *folder = NULL;
  const char *slash = strrchr(path, '/');
  if (cli_spare_folder(report, path, TENSORS_OTHER_REPORT)) return CLI_BAD;
  if (!cli_is_model(path)) return CLI_OK;
  if (stat(path, &info) || !S_ISDIR(info.st_mode))
    return spare_folder(report, strndup(path, slash ? (size_t)(slash - path) + 1 : 0));
  return spare_folder(report, asprintf(&folder, "%s/", path) < 0 ? NULL : folder);
}

int tensors_spare_read(const tensors_input *in, const char *report) {
  return report ? spare_shards(in, report, TENSORS_OTHER_REPORT) : CLI_OK;
}

/* ---- bytes and values ---- */

const uint8_t *tensors_bytes(const tensors_input *in, const st_tensor *tensor) {
  if (!in->model) return in->data + tensor->begin;
  size_t place = hu_checkpoint_find(in->model, tensor->name);
  hu_checkpoint_tensor found = hu_checkpoint_at(in->model, place);
  return is_values(&found) ? NULL : hu_checkpoint_bytes(in->model, place, NULL);
}

int tensors_read_values(float *z, const tensors_input *in, const st_tensor *tensor, size_t first, size_t n) {
  size_t place = hu_checkpoint_find(in->model, tensor->name);
  hu_status status = hu_checkpoint_read(in->model, place, first, n, z);
  return status == HU_OK ? CLI_OK : cli_fail_status(in->name, status);
}

static int copy_values(cli_output *output, size_t at, const tensors_input *in, const st_tensor *tensor) {
  float *piece = cli_alloc(PIECE, sizeof *piece);
  int code = piece ? CLI_OK : CLI_BAD;
  for (size_t i = 0; i < tensor->count && code == CLI_OK && !cli_output_stopped(output); i += PIECE) {
    size_t n = tensor->count - i < PIECE ? tensor->count - i : PIECE;
    code = tensors_read_values(piece, in, tensor, i, n);
    if (CLI_HOST_BIG) cli_copy_swapped((uint8_t *)piece, (const uint8_t *)piece, n, 4);
    if (code == CLI_OK) code = cli_output_at(output, at + 4 * i, piece, 4 * n);
  }
  free(piece);
  return code;
}

int tensors_copy(cli_output *output, size_t at, const tensors_input *in, const st_tensor *tensor) {
  const uint8_t *bytes = tensors_bytes(in, tensor);
  return bytes ? cli_output_at(output, at, bytes, tensor->size) : copy_values(output, at, in, tensor);
}
