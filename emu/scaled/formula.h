/* SPDX-License-Identifier: MIT */
/* emu/scaled/formula.h - formulas of scaled tensors (docs/scaled.md section 4.4): their check, and their text. */
#ifndef HALFULP_EMU_SCALED_FORMULA_H
#define HALFULP_EMU_SCALED_FORMULA_H

#include "emu/core/scaled_formula.h"
#include "emu/format/put.h"

/* Returns what is wrong with the formulas of a scaling whose rule is HU_SCALE_FORMULAS, or NULL. */
const char *hui_formulas_wrong(const hu_scaling *scaling);
/* Are values P s t, as products of scaled tensors take them? */
int hui_formulas_keep_values(const hu_scaling *scaling);
/* Appends the formula that text begins with, and its END, to code from *at on; HU_E_TEXT where it is not the grammar or
 * does not fit. *length: the characters that were read, on failure those before the wrong part. */
hu_status hui_formula_read(hu_formulas *formulas, uint32_t *at, const char *text, size_t *length);
/* Writes code[at] ... code[end - 1], one formula, as text. */
void hui_formula_put(hu_writer *writer, const hu_formulas *formulas, uint32_t at, uint32_t end);

#endif
