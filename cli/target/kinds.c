/* SPDX-License-Identifier: MIT */
/* See target.h. */
#include "cli/target/target.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/target/preset_names.h"
#include "files/gguf.h"

/* The first that claims a text reads it; the last claims all. */
static const cli_target_kind *const kinds[] = {&cli_kind_ggml,  &cli_kind_conversion, &cli_kind_scaled, &cli_kind_hif4,
                                               &cli_kind_s2fp8, &cli_kind_number,     &cli_kind_format};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Reads a preset of a scaled tensor as that tensor. */
static int read_scaling(cli_target *target) {
  target->kind = &cli_kind_scaled;
  return target->kind->read(target, target->conversion.scaling);
}

int cli_target_read(cli_target *target, const char *text) {
  int i = 0;
  while (i < KINDS - 1 && !kinds[i]->claims(text)) i++;
  memset(target, 0, sizeof *target);
  target->kind = kinds[i];
  target->given = text;
  if (kinds[i]->read(target, text)) return CLI_BAD;
  return target->has_mode && *target->conversion.scaling ? read_scaling(target) : CLI_OK;
}

int cli_target_weighs(const cli_target *target) {
  if (target->kind == &cli_kind_ggml) return target->ggml != GGUF_Q8_0;
  return target->kind == &cli_kind_scaled && !target->has_mode && !target->by_rows &&
         target->scaling.rule <= HU_SCALE_RCEIL && !target->scaling.amin;
}

int cli_preset_mode(cli_numeric *numeric, const cli_target *target) {
  if (!target->has_mode) return CLI_OK;
  if (cli_preset_alone(target->given, &numeric->mode)) return CLI_BAD;
  numeric->mode = target->conversion.mode;
  return CLI_OK;
}
