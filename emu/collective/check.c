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

static hu_status check_wire(const hu_collective_base *base) {
  int format = base->wired == HU_COLLECTIVE_WIRE_FORMAT, scaled = base->wired == HU_COLLECTIVE_WIRE_SCALED;
  if (base->wired > HU_COLLECTIVE_WIRE_SCALED) return HU_E_ACCUM;
  if (!format && !is_zero(&base->wire, sizeof base->wire)) return HU_E_ACCUM;
  if (!scaled && !is_zero(&base->scaling, sizeof base->scaling)) return HU_E_ACCUM;
  if (scaled && !hu_format_fits_binary32(base->sum)) return HU_E_CARRIER;
  return format ? hu_format_check(base->wire, NULL) : scaled ? hu_scaling_check(&base->scaling, NULL) : HU_OK;
}

static hu_status check_base(const hu_collective_base *base) {
  if (base->kind >= HU_COLLECTIVE_COUNT || base->reserved[0] || base->reserved[1]) return HU_E_ACCUM;
  if (base->kind == HU_COLLECTIVE_EXACT) return is_zero(base, sizeof *base) ? HU_OK : HU_E_ACCUM;
  hu_status status = hu_format_check(base->sum, NULL);
  if (status == HU_OK) status = hu_mode_check(base->mode);
  if (status == HU_OK && !is_plain(base->mode)) status = HU_E_ACCUM;
  return status == HU_OK ? check_wire(base) : status;
}

hu_status hu_collective_check(const hu_collective *model) {
  if (!model) return HU_E_NULL;
  hu_status status = check_base(&model->base);
  if (status != HU_OK || model->group == 0)
    return status != HU_OK || is_zero(&model->outer, sizeof model->outer) ? status : HU_E_ACCUM;
  if (model->group > INT32_MAX) return HU_E_ACCUM;
  return check_base(&model->outer);
}
