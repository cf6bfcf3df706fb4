/* SPDX-License-Identifier: MIT */
/* Where a name stands in a list, found in the same time however long the list is: a table of places, at most half full,
 * in which a name stands at its hash or at the next free place behind it. */
#include <stdlib.h>
#include <string.h>

#include "cli/campaign/campaign.h"

static uint64_t hash_of(const char *name) {
  uint64_t z = 0xCBF29CE484222325u;
  for (; *name; name++) z = (z ^ (uint8_t)*name) * 0x100000001B3u;
  return z ^ z >> 32;
}

/* The slot that has the name, or the free one that it would get. There is a free one. */
static campaign_name *slot_of(const campaign_names *names, const char *name) {
  size_t i = (size_t)hash_of(name) & (names->room - 1);
  while (names->slot[i].name && strcmp(names->slot[i].name, name)) i = (i + 1) & (names->room - 1);
  return &names->slot[i];
}

static int grow(campaign_names *names) {
  campaign_names more = {NULL, names->room ? 2 * names->room : 256, names->count};
  more.slot = calloc(more.room, sizeof *more.slot);
  if (!more.slot) return 0;
  for (size_t i = 0; i < names->room; i++)
    if (names->slot[i].name) *slot_of(&more, names->slot[i].name) = names->slot[i];
  free(names->slot);
  *names = more;
  return 1;
}

size_t campaign_names_find(const campaign_names *names, const char *name) {
  const campaign_name *slot = names->room ? slot_of(names, name) : NULL;
  return slot && slot->name ? slot->place : CAMPAIGN_NOWHERE;
}

int campaign_names_put(campaign_names *names, const char *name, size_t place) {
  int is_new = campaign_names_find(names, name) == CAMPAIGN_NOWHERE;
  if (is_new && 2 * (names->count + 1) > names->room && !grow(names)) return 0;
  campaign_name *slot = slot_of(names, name);
  names->count += (size_t)is_new;
  *slot = (campaign_name){name, place};
  return 1;
}

void campaign_names_free(campaign_names *names) {
  free(names->slot);
  *names = (campaign_names){NULL, 0, 0};
}
