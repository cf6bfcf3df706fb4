/* SPDX-License-Identifier: MIT */
/* The text of precision.off; docs/training/attribute.md is the definition.
 *
 *   off   = entry { "," entry }
 *   entry = ( layer | "*" ) ":" part { "+" part } [ "@" from ".." [ to ] ]     steps from, from + 1, ... to - 1 */
#include <stdlib.h>
#include <string.h>

#include "train/trainer/trainer.h"

static const struct {
  const char *name;
  uint32_t parts;
} words[] = {
    {"x", HU_OFF_X},
    {"w", HU_OFF_W},
    {"z_out", HU_OFF_Z},
    {"value", HU_OFF_VALUE},
    {"parameter", HU_OFF_PARAMETER},
    {"dz", HU_OFF_DZ},
    {"w_back", HU_OFF_W_BACK},
    {"dx_out", HU_OFF_DX},
    {"gradient", HU_OFF_GRADIENT},
    {"x_back", HU_OFF_X_BACK},
    {"dz_w", HU_OFF_DZ_W},
    {"dw_out", HU_OFF_DW},
    {"parameter_gradient", HU_OFF_PARAMETER_GRADIENT},
    {"forward", HU_OFF_FORWARD},
    {"backward", HU_OFF_BACKWARD},
    {"weights", HU_OFF_WEIGHTS},
    {"all", HU_OFF_ALL},
};

static uint32_t parts_of(const char *text, size_t n) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strlen(words[i].name) == n && strncmp(words[i].name, text, n) == 0) return words[i].parts;
  }
  return 0;
}

static int read_step(const char **text, uint64_t *step) {
  char *end;
  if (**text < '0' || **text > '9') return 0;
  *step = strtoull(*text, &end, 10);
  *text = end;
  return *step <= UINT64_C(1) << 40;
}

static int read_steps(const char **text, hu_off_entry *z) {
  z->from = 0;
  z->to = UINT64_MAX;
  if (**text != '@') return 1;
  ++*text;
  if (!read_step(text, &z->from) || strncmp(*text, "..", 2) != 0) return 0;
  *text += 2;
  return !**text || **text == ',' || (read_step(text, &z->to) && z->from < z->to);
}

int hui_off_read(const char **text, hu_off_entry *z) {
  const char *at = *text, *colon = strchr(at, ':');
  if (!colon || colon == at || (size_t)(colon - at) > strcspn(at, ",@+")) return 0;
  *z = (hu_off_entry){.layer = at, .length = (size_t)(colon - at)};
  at = colon;
  do {
    size_t n = strcspn(++at, "+,@");
    uint32_t parts = parts_of(at, n);
    if (!parts) return 0;
    z->parts |= parts;
    at += n;
  } while (*at == '+');
  if (!read_steps(&at, z) || (*at && *at != ',') || (*at && !at[1])) return 0;
  *text = at + (*at == ',');
  return 1;
}

int hui_off_is_text(const char *text) {
  hu_off_entry one;
  while (*text) {
    if (!hui_off_read(&text, &one)) return 0;
  }
  return 1;
}

/* Goes to the next entry that begins before a step; its end is the step at the latest. */
static int next_before(const char **text, uint64_t step, hu_off_entry *z) {
  while (**text && hui_off_read(text, z)) {
    if (z->from >= step) continue;
    if (z->to > step) z->to = step;
    return 1;
  }
  return 0;
}

int hui_off_same_before(const char *x, const char *y, uint64_t step) {
  hu_off_entry a, b;
  for (;;) {
    int more = next_before(&x, step, &a);
    if (more != next_before(&y, step, &b)) return 0;
    if (!more) return 1;
    if (a.length != b.length || strncmp(a.layer, b.layer, a.length) != 0 || a.parts != b.parts || a.from != b.from ||
        a.to != b.to)
      return 0;
  }
}
