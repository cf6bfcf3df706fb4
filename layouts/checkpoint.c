/* SPDX-License-Identifier: MIT */
/* Opening a checkpoint, and what it has: see halfulp/checkpoint.h. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layouts/layouts.h"

/* ---- files as this library maps them ---- */

static int map_file(hui_bytes *z, const char *path, char line[HU_CHECKPOINT_LINE]) {
  struct stat info;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int good = fd >= 0 && fstat(fd, &info) == 0;
  *z = (hui_bytes){(const uint8_t *)"", 0, 0};
  if (!good) snprintf(line, HU_CHECKPOINT_LINE, "%s: %s", path, strerror(errno));
  if (good && !S_ISREG(info.st_mode)) {
    snprintf(line, HU_CHECKPOINT_LINE, "%s: not an ordinary file", path);
    good = 0;
  }
  if (good && info.st_size > 0) {
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    good = bytes != MAP_FAILED;
    if (good) *z = (hui_bytes){bytes, (size_t)info.st_size, 1};
    if (!good) snprintf(line, HU_CHECKPOINT_LINE, "%s: %s", path, strerror(errno));
  }
  if (fd >= 0) close(fd);
  return good;
}

static void unmap_file(hui_bytes *z) {
  if (z->mapped) munmap((void *)(uintptr_t)z->data, z->size);
}

/* ---- the tensors of all files ---- */

static int by_name(const void *x, const void *y) {
  const hui_raw *a = x, *b = y;
  return strcmp(a->tensor->name, b->tensor->name);
}

/* Returns 1 if the index has the tensor in another file than this. */
static int lies_elsewhere(const hu_checkpoint *x, const hui_raw *raw) {
  const char *file = json_string_value(json_object_get(x->map, raw->tensor->name));
  const char *slash = strrchr(raw->shard->path, '/');
  return file && x->index && strcmp(file, slash ? slash + 1 : raw->shard->path) != 0;
}

static int check_index(hu_checkpoint *x) {
  char shown[ST_NAME_MAX];
  const char *name;
  json_t *value;
  if (!x->index) return 1;
  json_object_foreach(x->map, name, value) {
    if (hui_raw_find(x, name)) continue;
    return hui_wrong(x, "%s: weight_map: tensor '%s' is not in %s", x->index, st_printable(shown, name),
                     json_string_value(value));
  }
  return 1;
}

static int merge(hu_checkpoint *x) {
  char shown[ST_NAME_MAX];
  size_t all = 0;
  for (size_t i = 0; i < x->shard_count; i++) all += x->shards[i].file.count;
  x->raws = calloc(all + 1, sizeof *x->raws);
  if (!x->raws) return hui_wrong(x, "%s: out of memory", x->path);
  for (size_t i = 0; i < x->shard_count; i++)
    for (size_t k = 0; k < x->shards[i].file.count; k++) {
      const hui_shard *shard = &x->shards[i];
      const st_tensor *tensor = &shard->file.tensors[k];
      const uint8_t *own = k < shard->own_count ? shard->own[k] : NULL;
      hui_raw raw = {tensor, own ? own : shard->bytes.data + shard->file.data + tensor->begin, shard, 0};
      if (!lies_elsewhere(x, &raw)) x->raws[x->raw_count++] = raw;
    }
  qsort(x->raws, x->raw_count, sizeof *x->raws, by_name);
  for (size_t i = 0; i < x->raw_count; i++) {
    const char *name = x->raws[i].tensor->name;
    if (i && !strcmp(name, x->raws[i - 1].tensor->name))
      return hui_wrong(x, "%s: tensor '%s' is in %s, too", x->raws[i].shard->path, st_printable(shown, name),
                       x->raws[i - 1].shard->path);
    if (!st_place_set(&x->raw_names, name, i)) return hui_wrong(x, "%s: out of memory", x->path);
  }
  return check_index(x);
}

/* ---- open and close ---- */

void hu_checkpoint_close(hu_checkpoint *x) {
  if (!x) return;
  for (size_t i = 0; i < x->count; i++) {
    free(x->tensors[i].name);
    free(x->tensors[i].shape);
  }
  for (size_t i = 0; i < x->shard_count; i++) {
    st_free(&x->shards[i].file);
    json_decref(x->shards[i].comfy);
    hui_gguf_close(&x->shards[i]);
    for (size_t k = 0; k < x->shards[i].own_count; k++) free(x->shards[i].own[k]);
    free(x->shards[i].own);
    x->reader->free(&x->shards[i].bytes);
    free(x->shards[i].path);
  }
  st_places_free(&x->raw_names);
  st_places_free(&x->names);
  hui_modules_close(x);
  json_decref(x->map);
  json_decref(x->links);
  free(x->format_text);
  json_decref(x->config);
  json_decref(x->quantization);
  free(x->tensors);
  free(x->raws);
  free(x->shards);
  free(x->path);
  free(x->index);
  free(x->folder);
  free(x);
}

hu_status hui_checkpoint_open(hu_checkpoint **z, const char *path, const char *layout, const hui_reader *reader,
                              char line[HU_CHECKPOINT_LINE]) {
  size_t length = strlen(path);
  int array = length > 4 && !strcmp(path + length - 4, ".npy"), found = 0;
  const hui_layout *asked = layout && !array ? hui_layout_find(layout) : NULL;
  line[0] = 0;
  if (layout && !asked && !array) {
    snprintf(line, HU_CHECKPOINT_LINE, "'%.80s' is not a layout; docs/checkpoints.md has their names", layout);
    return HU_E_NAME;
  }
  hu_checkpoint *x = calloc(1, sizeof *x);
  if (!x) return HU_E_MEMORY;
  x->reader = reader;
  x->line = line;
  x->path = strdup(path);
  hu_status status = x->path ? HU_OK : HU_E_MEMORY;
  if (status == HU_OK && array && !hui_npy_format(x, layout)) status = HU_E_NAME;
  if (status == HU_OK && !hui_files_open(x)) status = x->shard_count ? HU_E_DATA : HU_E_FILE;
  if (status == HU_OK && !(hui_config_open(x) && merge(x) && hui_recognise(x, asked, &found))) status = HU_E_DATA;
  if (status == HU_OK && asked && !found) {
    hui_wrong(x, "%s: no tensor can have the layout %s (%s)", path, layout, asked->said.tensors);
    status = HU_E_NAME;
  }
  x->line = NULL;
  if (status != HU_OK) hu_checkpoint_close(x);
  if (status == HU_OK) *z = x;
  return status;
}

hu_status hu_checkpoint_open(hu_checkpoint **z, const char *path, const char *layout, char line[HU_CHECKPOINT_LINE]) {
  static const hui_reader reader = {map_file, unmap_file};
  char own[HU_CHECKPOINT_LINE];
  if (!z || !path) return HU_E_NULL;
  return hui_checkpoint_open(z, path, layout, &reader, line ? line : own);
}

/* ---- what it has ---- */

size_t hu_checkpoint_count(const hu_checkpoint *x) { return x ? x->count : 0; }
size_t hu_checkpoint_find(const hu_checkpoint *x, const char *name) { return x ? st_place(x->names, name) : SIZE_MAX; }

hu_checkpoint_tensor hu_checkpoint_at(const hu_checkpoint *x, size_t i) {
  hu_checkpoint_tensor z = {
      .name = "", .file = "", .layout = "", .dtype = "", .elements = "", .scales = "", .open = ""};
  z.place = SIZE_MAX;
  if (!x || i >= x->count) return z;
  const hui_tensor *tensor = &x->tensors[i];
  z.name = tensor->name;
  z.file = tensor->raw->shard->path;
  z.layout = tensor->layout ? tensor->layout->said.name : tensor->plain ? "plain" : "";
  z.dtype = st_dtype_name(tensor->raw->tensor->dtype);
  z.elements = tensor->elements;
  z.scales = tensor->scales;
  z.open = tensor->open ? tensor->open : "";
  z.shape = tensor->shape;
  z.dims = tensor->dims;
  z.count = tensor->count;
  z.place = i;
  memcpy(z.block, tensor->block, sizeof z.block);
  if (tensor->grid == HUI_RUNS) z.block[0] = 1;
  return z;
}

const void *hu_checkpoint_bytes(const hu_checkpoint *x, size_t i, size_t *size) {
  int there = x && i < x->count && hui_is_whole(&x->tensors[i]);
  if (size) *size = there ? x->tensors[i].raw->tensor->size : 0;
  return there ? x->tensors[i].raw->bytes : NULL;
}
