/* SPDX-License-Identifier: MIT */
/* Where a name stands in a list, found in the same time however long the list is: a table of places, at most half full,
 * in which a name stands at its hash or at the next free place behind it. */
#include <stdlib.h>
#include <string.h>

#include "cli/job/job.h"

static uint64_t hash_of(const char *name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 0x100000001B3u;
  return hash ^ hash >> 32;
}

/* The slot that has the name, or the free one that it would get. There is a free one. */
static job_name *slot_of(const job_names *names, const char *name) {
  size_t i = (size_t)hash_of(name) & (names->room - 1);
  while (names->slot[i].name && strcmp(names->slot[i].name, name)) i = (i + 1) & (names->room - 1);
  return &names->slot[i];
}

static int grow(job_names *names) {
  job_names more = {NULL, names->room ? 2 * names->room : 256, names->count};
  more.slot = calloc(more.room, sizeof *more.slot);
  if (!more.slot) return 0;
  for (size_t i = 0; i < names->room; i++)
    if (names->slot[i].name) *slot_of(&more, names->slot[i].name) = names->slot[i];
  free(names->slot);
  *names = more;
  return 1;
}

size_t job_names_find(const job_names *names, const char *name) {
  const job_name *slot = names->room ? slot_of(names, name) : NULL;
  return slot && slot->name ? slot->place : JOB_NOWHERE;
}

int job_names_put(job_names *names, const char *name, size_t place) {
  int is_new = job_names_find(names, name) == JOB_NOWHERE;
  if (is_new && 2 * (names->count + 1) > names->room && !grow(names)) return 0;
  job_name *slot = slot_of(names, name);
  names->count += (size_t)is_new;
  *slot = (job_name){name, place};
  return 1;
}

void job_names_free(job_names *names) {
  free(names->slot);
  *names = (job_names){NULL, 0, 0};
}
