/* SPDX-License-Identifier: MIT */
/* The table of layouts that are known and not read, and what is asked of the table of the others: see layouts.h. */
#include <string.h>

#include "layouts/layouts.h"

enum {
  U8 = HUI_DTYPE(U8),
  I8 = HUI_DTYPE(I8),
  I16 = HUI_DTYPE(I16),
  I32 = HUI_DTYPE(I32),
  FLOATS = HUI_DTYPE(F32) | HUI_DTYPE(F16) | HUI_DTYPE(BF16)
};

const hui_refused hui_refusals[] = {
    {".SCB", FLOATS, ".weight", NULL, "bitsandbytes int8"},
    {".weight.SCB", FLOATS, NULL, NULL, "bitsandbytes int8"},
    {".W_q", U8 | I8 | I32, ".scale", "hqq", "HQQ"},
    {".W_q", FLOATS, ".zero", NULL, "HQQ"},
    {".codebooks", FLOATS, ".codes", "aqlm", "AQLM"},
    {".centroids.weight", FLOATS, ".indices", "vptq", "VPTQ"},
    {".Qidxs", ~0u, NULL, "quip", "QuIP#"},
    {".q_weight", I32, ".q_scale", "exl2", "EXL2"},
    {".trellis", I16, ".suh", "exl3", "EXL3"},
    {".wscales", FLOATS, ".qweight", "svdquant", "SVDQuant (nunchaku)"},
    {".weight_codebook", ~0u, NULL, NULL, "a layout with codebooks"},
    {":qdata", ~0u, ":scale", NULL, "torchao until November 2025, with names as 0.weight:qdata,"},
    {NULL, 0, NULL, "spqr", "SpQR"},
    {NULL, 0, NULL, "eetq", "EETQ"},
    {NULL, 0, NULL, "bitnet", "BitNet"},
};
const size_t hui_refusals_count = sizeof hui_refusals / sizeof hui_refusals[0];

size_t hu_checkpoint_layout_count(void) { return hui_layouts_count; }

hu_checkpoint_layout hu_checkpoint_layout_at(size_t i) {
  static const hu_checkpoint_layout none = {"", "", "", "", ""};
  return i < hui_layouts_count ? hui_layouts[i].said : none;
}

const hui_layout *hui_layout_find(const char *name) {
  for (size_t i = 0; i < hui_layouts_count; i++)
    if (!strcmp(hui_layouts[i].said.name, name)) return &hui_layouts[i];
  return NULL;
}
