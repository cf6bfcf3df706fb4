/* SPDX-License-Identifier: MIT */
/* The files of a checkpoint: one, those of an index, or those of a folder: see layouts.h. */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "layouts/layouts.h"

static int ends(const char *name, const char *end) {
  size_t n = strlen(name), m = strlen(end);
  return n > m && !strcmp(name + n - m, end);
}

/* Reads what the header says of layers, once for all of them. */
static int read_comfy(hu_checkpoint *x, hui_shard *shard) {
  const char *text = st_value(&shard->file, "_quantization_metadata");
  json_error_t where;
  shard->comfy = text ? json_loads(text, 0, &where) : NULL;
  return !text || shard->comfy || hui_wrong(x, "%s: header: _quantization_metadata is no JSON", shard->path);
}

static int open_safetensors(hu_checkpoint *x, hui_shard *shard) {
  char error[ST_ERROR_MAX];
  if (st_parse(&shard->file, shard->bytes.data, shard->bytes.size, error)) return read_comfy(x, shard);
  memset(&shard->file, 0, sizeof shard->file);
  return hui_wrong(x, "%s: not a .safetensors file: %s", shard->path, error);
}

/* A part of a distributed checkpoint: the pickle beside it says where tensors lie, in pieces of several parts. */
static int refuse_distcp(hu_checkpoint *x, hui_shard *shard) {
  return hui_wrong(x,
                   "%s: a part of a distributed checkpoint (torch_dist, as Megatron writes it), which is not read; "
                   "torch.distributed.checkpoint.format_utils.dcp_to_torch_save makes a .pt of its folder",
                   shard->path);
}

/* Kinds of files, by the ends of their names. A folder is one of the first kind of which it has a file, named as those
 * of that kind are in folders: other files of PyTorch may be the state of an optimizer. */
typedef struct hui_kind {
  const char *end, *in_folders; /* NULL: not in folders */
  int (*open)(hu_checkpoint *x, hui_shard *shard);
} hui_kind;
static const hui_kind kinds[] = {{".safetensors", "", open_safetensors},
                                 {".gguf", "", hui_gguf_open},
                                 {".npy", NULL, hui_npy_open},
                                 {".onnx", "", hui_onnx_open},
                                 {".bin", "pytorch_model", hui_torch_open},
                                 {".pt", NULL, hui_torch_open},
                                 {".pth", NULL, hui_torch_open},
                                 {".ckpt", NULL, hui_torch_open},
                                 {".distcp", "", refuse_distcp}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const hui_kind *kind_of(const char *name) {
  for (size_t i = 0; i < KINDS; i++)
    if (ends(name, kinds[i].end)) return &kinds[i];
  return NULL;
}

int hui_is_model_name(const char *name) { return kind_of(name) != NULL; }

static int add_shard(hu_checkpoint *x, const char *name) {
  hui_shard *shard = hui_shard_read(x, name);
  const hui_kind *kind = kind_of(name);
  if (!shard) return 0;
  return kind ? kind->open(x, shard) : open_safetensors(x, shard);
}

/* ---- an index ---- */

static int read_index(hu_checkpoint *x, const char *path) {
  hui_bytes bytes;
  json_error_t where;
  if (!hui_shard_check(x, path, NULL) || !x->reader->read(&bytes, path, x->line)) return 0;
  size_t mark = hui_byte_order_mark(bytes.data, bytes.size);
  json_t *root = json_loadb((const char *)bytes.data + mark, bytes.size - mark, JSON_REJECT_DUPLICATES, &where);
  x->reader->free(&bytes);
  x->map = json_incref(json_object_get(root, "weight_map"));
  json_decref(root);
  if (!root) return hui_wrong_json(x, path, &where);
  if (!json_is_object(x->map)) return hui_wrong(x, "%s: holds no object 'weight_map'", path);
  return json_object_size(x->map) || hui_wrong(x, "%s: weight_map names no tensor", path);
}

/* Returns 1 for a name that leads to no other folder. */
static int is_plain_name(const char *name) { return name[0] && name[0] != '.' && !strchr(name, '/'); }

static int open_index(hu_checkpoint *x, const char *path) {
  char shown[ST_NAME_MAX];
  const char *tensor;
  json_t *value, *seen = json_object();
  int good = seen && read_index(x, path);
  x->index = strdup(path);
  if (!x->index) good = hui_wrong(x, "%s: out of memory", path);
  json_object_foreach(good ? x->map : NULL, tensor, value) {
    const char *name = json_string_value(value);
    if (!name || !is_plain_name(name) || !hui_is_model_name(name))
      good = hui_wrong(x, "%s: weight_map: '%s' lies in no .safetensors file of the folder, nor another model", path,
                       st_printable(shown, tensor));
    if (!good) break;
    if (json_object_get(seen, name)) continue;
    if (json_object_set_new(seen, name, json_true())) good = hui_wrong(x, "%s: out of memory", path);
    good = good && add_shard(x, name);
    if (!good) break;
  }
  json_decref(seen);
  return seen ? good : hui_wrong(x, "%s: out of memory", path);
}

/* ---- a folder ---- */

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }
static int is_index(const struct dirent *entry) { return ends(entry->d_name, ".safetensors.index.json"); }
static int is_torch_index(const struct dirent *entry) { return ends(entry->d_name, ".bin.index.json"); }
static int is_model(const struct dirent *entry) {
  const hui_kind *kind = kind_of(entry->d_name);
  return kind && kind->in_folders && strstr(entry->d_name, kind->in_folders) && entry->d_name[0] != '.';
}

static void free_names(struct dirent **names, int count) {
  for (int i = 0; i < count; i++) free(names[i]);
  free(names);
}

/* The one index of the folder, as a path to be freed; NULL: there is none, or several (*count). */
static char *index_of(const hu_checkpoint *x, int *count) {
  struct dirent **names = NULL;
  char *path = NULL;
  const char *folder = x->folder[0] ? x->folder : ".";
  *count = scandir(folder, &names, is_index, by_name);
  if (*count == 0) {
    free_names(names, 0);
    names = NULL;
    *count = scandir(folder, &names, is_torch_index, by_name);
  }
  size_t capacity = *count == 1 ? strlen(x->folder) + strlen(names[0]->d_name) + 1 : 0;
  if (capacity) path = malloc(capacity);
  if (path) snprintf(path, capacity, "%s%s", x->folder, names[0]->d_name);
  if (*count >= 0) free_names(names, *count);
  return path;
}

static int open_all(hu_checkpoint *x) {
  struct dirent **names;
  int count = scandir(x->folder, &names, is_model, by_name), good = count > 0;
  if (count < 0) return hui_wrong(x, "%s: cannot be read as a folder", x->path);
  if (!good) hui_wrong(x, "%s: holds no .safetensors file, nor one of another kind of model", x->path);
  if (count > HUI_SHARDS_MAX) good = hui_wrong(x, "%s: more than %d files of models", x->path, HUI_SHARDS_MAX);
  for (size_t k = 0; k < KINDS && good && !x->shard_count; k++)
    for (int i = 0; i < count && good; i++)
      if (kind_of(names[i]->d_name) == &kinds[k]) good = add_shard(x, names[i]->d_name);
  free_names(names, count);
  return good;
}

static int open_folder(hu_checkpoint *x) {
  int count;
  char *path = index_of(x, &count);
  if (count > 1) return hui_wrong(x, "%s: several indexes (*.index.json); name one of them", x->path);
  int good = path ? open_index(x, path) : open_all(x);
  free(path);
  return good;
}

/* One file: an index that lists it says where its companions lie. */
static int open_one(hu_checkpoint *x) {
  const char *slash = strrchr(x->path, '/'), *tensor;
  int count, good = add_shard(x, slash ? slash + 1 : x->path), listed = 0;
  char *path = good ? index_of(x, &count) : NULL;
  json_t *value;
  if (path) good = read_index(x, path);
  if (path && good) {
    json_object_foreach(x->map, tensor, value) {
      const char *name = json_string_value(value);
      listed |= name && !strcmp(name, slash ? slash + 1 : x->path);
    }
    if (!listed) json_decref(x->map), x->map = NULL;
  }
  free(path);
  return good;
}

static int set_folder(hu_checkpoint *x, int is_folder) {
  const char *slash = strrchr(x->path, '/');
  size_t length = is_folder ? strlen(x->path) : slash ? (size_t)(slash - x->path) + 1 : 0;
  int ended = length && x->path[length - 1] == '/';
  x->folder = malloc(length + 2);
  if (!x->folder) return hui_wrong(x, "%s: out of memory", x->path);
  snprintf(x->folder, length + 2, "%.*s%s", (int)length, x->path, is_folder && !ended ? "/" : "");
  return 1;
}

int hui_files_open(hu_checkpoint *x) {
  struct stat info;
  int is_folder = stat(x->path, &info) == 0 && S_ISDIR(info.st_mode);
  if (!set_folder(x, is_folder)) return 0;
  if (is_folder) return open_folder(x);
  return ends(x->path, ".json") ? open_index(x, x->path) : open_one(x);
}
