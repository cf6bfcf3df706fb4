/* SPDX-License-Identifier: MIT */
/* hu_collective_check: is every field of a model in its range, and 0 where it means nothing? */
#include <string.h>

#include "halfulp/collective.h"

static int is_zero(const void *record, size_t size) {
  const uint8_t *at = record;
  for (size_t i = 0; i < size; i++)
    if (at[i]) return 0;
  return 1;
}

/* What a text can say: rounding, random bits, saturation. */
static int is_plain(hu_mode mode) {
  hu_mode z;
  memset(&z, 0, sizeof z);
  z.round = mode.round;
  z.bits = mode.bits;
  z.saturate = mode.saturate;
  return memcmp(&z, &mode, sizeof z) == 0;
}

static hu_status check_wire(const hu_collective_base *b) {
  int format = b->wired == HU_COLLECTIVE_WIRE_FORMAT, scaled = b->wired == HU_COLLECTIVE_WIRE_SCALED;
  if (b->wired > HU_COLLECTIVE_WIRE_SCALED) return HU_E_ACCUM;
  if (!format && !is_zero(&b->wire, sizeof b->wire)) return HU_E_ACCUM;
  if (!scaled && !is_zero(&b->scaling, sizeof b->scaling)) return HU_E_ACCUM;
  if (scaled && !hu_format_fits_binary32(b->sum)) return HU_E_CARRIER;
  return format ? hu_format_check(b->wire, NULL) : scaled ? hu_scaling_check(&b->scaling, NULL) : HU_OK;
}

static hu_status check_base(const hu_collective_base *b) {
  if (b->kind >= HU_COLLECTIVE_COUNT || b->reserved[0] || b->reserved[1]) return HU_E_ACCUM;
  if (b->kind == HU_COLLECTIVE_EXACT) return is_zero(b, sizeof *b) ? HU_OK : HU_E_ACCUM;
  hu_status s = hu_format_check(b->sum, NULL);
  if (s == HU_OK) s = hu_mode_check(b->mode);
  if (s == HU_OK && !is_plain(b->mode)) s = HU_E_ACCUM;
  return s == HU_OK ? check_wire(b) : s;
}

hu_status hu_collective_check(const hu_collective *model) {
  if (!model) return HU_E_NULL;
  hu_status s = check_base(&model->base);
  if (s != HU_OK || model->group == 0)
    return s != HU_OK || is_zero(&model->outer, sizeof model->outer) ? s : HU_E_ACCUM;
  if (model->group > INT32_MAX) return HU_E_ACCUM;
  return check_base(&model->outer);
}
