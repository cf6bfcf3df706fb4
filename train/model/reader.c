/* SPDX-License-Identifier: MIT */
/* Reads the words and signs of networks' texts, keeps their variables, and the first error. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "train/model/network.h"

static const hu_item nothing = {HU_ITEM_NONE, -1, 0, NULL, 0, NULL};

hu_item hui_network_wrong(hu_network *network, hu_status status, const char *format, ...) {
  va_list list;
  if (network->status != HU_OK) return nothing;
  network->status = status;
  network->wrong_at = network->at;
  va_start(list, format);
  vsnprintf(network->why, sizeof network->why, format, list);
  va_end(list);
  return nothing;
}

/* ---- words and signs ---- */

void hui_network_skip(hu_network *network) {
  for (;; network->at++) {
    char c = network->text[network->at];
    if (c == '#' && network->within) {
      network->at += strcspn(network->text + network->at, "\n");
      c = network->text[network->at];
    }
    if (c != ' ' && c != '\t' && c != '\r' && !(c == '\n' && network->within)) return;
  }
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

int hui_network_takes(hu_network *network, const char *mark) {
  size_t n = strlen(mark);
  hui_network_skip(network);
  const char *here = network->text + network->at;
  if (strncmp(here, mark, n) != 0) return 0;
  if (is_letter(mark[0]) && is_letter(here[n])) return 0;
  network->at += n;
  return 1;
}

size_t hui_network_name(hu_network *network, const char **name) {
  size_t n = 0;
  hui_network_skip(network);
  *name = network->text + network->at;
  if (**name < 'a' || **name > 'z') return 0;
  while (is_letter((*name)[n])) n++;
  network->at += n;
  return n;
}

hu_item *hui_network_variable(hu_network *network, const char *name, size_t size) {
  for (size_t i = network->variables; i-- > 0;) {
    if (i < network->frame && i >= network->globals) continue; /* of a block that waits */
    if (network->variable[i].size == size && memcmp(network->variable[i].name, name, size) == 0)
      return &network->variable[i].item;
  }
  return NULL;
}

hu_item hui_network_list(hu_network *network, const double *numbers, size_t count) {
  hu_item item = nothing;
  if (count > HU_NETWORK_LISTED - network->lists)
    return hui_network_wrong(network, HU_E_TEXT, "more than %d numbers in lists", HU_NETWORK_LISTED);
  item.kind = HU_ITEM_LIST;
  item.list = network->listed + network->lists;
  item.count = count;
  if (count) memcpy(network->listed + network->lists, numbers, count * sizeof *numbers);
  network->lists += count;
  return item;
}
