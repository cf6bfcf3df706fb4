/* SPDX-License-Identifier: MIT */
/* Presets as records: the calls that need the list of texts and the reader of texts, which does not call these. */
#include "emu/accum/presets.h"

/* z, whose model is this text, as the caller's. */
static hu_status give(hu_accum_preset *preset, hu_accum_preset *z, const char *model) {
  if (!model || hui_accum_preset_read(z, model) != HU_OK) return HU_E_NAME;
  *preset = *z;
  return HU_OK;
}

hu_status hu_accum_preset_at(hu_accum_preset *preset, size_t i) {
  hu_accum_preset z;
  return preset ? give(preset, &z, hui_accum_preset_text(&z, i)) : HU_E_NULL;
}

hu_status hu_accum_preset_find(hu_accum_preset *preset, const char *name) {
  hu_accum_preset z;
  return preset && name ? give(preset, &z, hui_accum_preset_text_of(&z, name)) : HU_E_NULL;
}
