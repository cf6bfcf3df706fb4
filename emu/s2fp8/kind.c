/* SPDX-License-Identifier: MIT */
/* Kinds of shifted and squeezed tensors: the calls of the CPU and of CUDA check them, and unfold them, here. */
#include "emu/s2fp8/kind.h"

#include "emu/core/s2fp8.h"

static const hu_mode nearest;

static hu_status refuse(const char **why, hu_status status, const char *sentence) {
  if (why) *why = sentence;
  return status;
}

hu_status hu_s2fp8_check(const hu_s2fp8 *kind, const char **why) {
  if (!kind) return refuse(why, HU_E_NULL, "no kind");
  if (hu_format_check(kind->element, NULL) != HU_OK) return refuse(why, HU_E_FORMAT, "element: not a format");
  hu_spec spec = hui_spec_of(kind->element, nearest);
  const int32_t emax = spec.emax, target = kind->target ? (int32_t)kind->target : emax;
  if (emax < 1) return refuse(why, HU_E_SCALING, "element: the format has no 2^1");
  if (kind->special > HU_S2FP8_ELEMENT) return refuse(why, HU_E_SCALING, "special: unknown");
  if (target > emax) return refuse(why, HU_E_SCALING, "target: beyond the format");
  /* One magnitude of 2^-149 has its mean at -149 - T, within the bounds of a scale. */
  if (target > 874) return refuse(why, HU_E_SCALING, "target: above 874");
  if (target < spec.emin) return refuse(why, HU_E_SCALING, "target: below the format's normal numbers");
  return HU_OK;
}

hu_status hui_s2_check(const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode) {
  hu_status status = hu_s2fp8_check(kind, NULL);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status == HU_OK && scale && !hui_s2_scale_fits(scale->mu, scale->m)) status = HU_E_SCALING;
  return status;
}

void hui_s2_make(hu_s2 *map, const hu_s2fp8 *kind, int64_t mu, int64_t m, hu_mode mode) {
  memset(map, 0, sizeof *map);
  map->mu = mu;
  map->gap = m - mu;
  map->special_is_nan = kind->special == HU_S2FP8_NAN;
  map->spec = hui_spec_of(kind->element, mode);
  map->target = kind->target ? (int32_t)kind->target : map->spec.emax;
}
