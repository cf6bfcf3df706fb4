/* SPDX-License-Identifier: MIT */
/* A file of a checkpoint: its bytes, whatever its kind, and whether it is still as long as it was. See layouts.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "layouts/layouts.h"

int hui_shard_check(hu_checkpoint *x, const char *path, hui_shard *shard) {
  struct stat info;
  if (stat(path, &info)) return hui_wrong(x, "%s: %s", path, strerror(errno));
  if (shard) shard->device = (uint64_t)info.st_dev, shard->inode = (uint64_t)info.st_ino;
  return S_ISREG(info.st_mode) ||
         hui_wrong(x, "%s: %s", path, S_ISDIR(info.st_mode) ? "is a folder and no file" : "is not an ordinary file");
}

hui_shard *hui_shard_read(hu_checkpoint *x, const char *name) {
  size_t capacity = strlen(x->folder) + strlen(name) + 1;
  hui_shard *more = x->shard_count < HUI_SHARDS_MAX ? realloc(x->shards, (x->shard_count + 1) * sizeof *more) : NULL;
  if (more) x->shards = more;
  hui_shard *shard = more ? &x->shards[x->shard_count] : NULL;
  if (shard) memset(shard, 0, sizeof *shard);
  if (shard) shard->path = malloc(capacity);
  if (!shard || !shard->path) {
    hui_wrong(x, "%s: more than %d files, or out of memory", x->path, HUI_SHARDS_MAX);
    return NULL;
  }
  snprintf(shard->path, capacity, "%s%s", x->folder, name);
  if (!hui_shard_check(x, shard->path, shard) || !x->reader->read(&shard->bytes, shard->path, x->line)) {
    free(shard->path);
    return NULL;
  }
  x->shard_count++;
  return shard;
}

int hui_shard_beside(hu_checkpoint *x, const char *name, size_t *place) {
  size_t folder = strlen(x->folder);
  for (*place = 0; *place < x->shard_count; ++*place)
    if (!strncmp(x->shards[*place].path, x->folder, folder) && !strcmp(x->shards[*place].path + folder, name)) return 1;
  return hui_shard_read(x, name) != NULL;
}

static int is_whole(const hui_raw *raw) {
  struct stat info;
  const hui_shard *shard = raw ? raw->shard : NULL;
  if (!shard || !shard->bytes.mapped || stat(shard->path, &info)) return 1;
  if ((uint64_t)info.st_dev != shard->device || (uint64_t)info.st_ino != shard->inode)
    return 1; /* the map has the old one */
  return (uint64_t)info.st_size >= shard->bytes.size;
}

int hui_is_whole(const hui_tensor *z) {
  const hui_raw *const raws[] = {z->raw,   z->scale, z->second, z->zero,      z->bias,
                                 z->order, z->map,   z->nested, z->nested_map};
  for (size_t i = 0; i < sizeof raws / sizeof raws[0]; i++)
    if (!is_whole(raws[i])) return 0;
  return 1;
}
