/* SPDX-License-Identifier: MIT */
/* The table of layouts: see layouts.h. The first row that fits a tensor is taken, so that those with a mark of their
 * own stand before those without. docs/checkpoints.md has the same rows for readers. */
#include <string.h>

#include "layouts/layouts.h"

enum {
  E4M3 = HUI_DTYPE(F8_E4M3),
  F8 = E4M3 | HUI_DTYPE(F8_E5M2) | HUI_DTYPE(F8_E4M3FNUZ) | HUI_DTYPE(F8_E5M2FNUZ),
  E8M0 = HUI_DTYPE(F8_E8M0),
  U8 = HUI_DTYPE(U8),
  I8 = HUI_DTYPE(I8),
  I32 = HUI_DTYPE(I32),
  U32 = HUI_DTYPE(U32),
  F32 = HUI_DTYPE(F32),
  FLOATS = F32 | HUI_DTYPE(F16) | HUI_DTYPE(BF16)
};

#define OPEN_NIBBLES                                                                                               \
  "nothing but the names says which half of a byte comes first, and whether scales lie in tiles; comfy-nvfp4 has " \
  "both otherwise"
#define OPEN_ZEROS "whether zero points are stored minus 1; gptq-v2 takes them as they are"
#define INPUT "input_scale", "activation_scale"

/* clang-format off: a row is what is said of it, and how it is read. */
const hui_layout hui_layouts[] = {
    /* ---- ComfyUI ---- */
    {.said = {"comfy-nvfp4", "ComfyUI, comfy-kitchen: NVFP4",
              "NAME.weight, NAME.weight_scale, NAME.weight_scale_2, NAME.comfy_quant", "F32(q F32(s s2))", ""},
     .codes = ".weight", .values = ".weight", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_HIGH,
     .scale = ".weight_scale", .scale_dtypes = E4M3 | U8, .scale_type = HUI_SCALE_E4M3, .grid = HUI_TILES, .block = 16,
     .second = ".weight_scale_2", .asks = HUI_ASKS_COMFY, .word = "nvfp4",
     .beside = {".comfy_quant", ".input_scale", ".pre_quant_scale"}},
    {.said = {"comfy-mxfp8", "ComfyUI, comfy-kitchen: MXFP8", "NAME.weight, NAME.weight_scale, NAME.comfy_quant",
              "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = E4M3, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = ".weight_scale", .scale_dtypes = E8M0 | U8, .scale_type = HUI_SCALE_E8M0, .grid = HUI_TILES, .block = 32,
     .asks = HUI_ASKS_COMFY, .word = "mxfp8", .beside = {".comfy_quant", ".input_scale"}},
    {.said = {"comfy-fp8", "ComfyUI, comfy-kitchen: FP8", "NAME.weight, NAME.weight_scale, NAME.comfy_quant",
              "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = F8, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = ".weight_scale", .scale_dtypes = FLOATS, .grid = HUI_BY_SHAPE, .asks = HUI_ASKS_COMFY, .word = "float8",
     .beside = {".comfy_quant", ".input_scale"}},
    {.said = {"comfy-scaled-fp8", "ComfyUI until 2025: scaled FP8", "NAME.weight, NAME.scale_weight, scaled_fp8",
              "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = F8, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = ".scale_weight", .scale_dtypes = FLOATS, .grid = HUI_BY_SHAPE, .beside = {".scale_input"}},
    /* ---- FP8 and MXFP8 with names in weight_scale_inv ---- */
    {.said = {"hf-fp8", "Hugging Face fp8 (DeepSeek-V3, Qwen3, GLM, Devstral)", "NAME, NAME_scale_inv", "F32(q s)", ""},
     .codes = "", .values = "", .dtypes = F8, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = "_scale_inv", .scale_dtypes = FLOATS | E8M0, .grid = HUI_BY_SHAPE,
     .beside = {INPUT, "_activation_scale"}},
    {.said = {"hf-fp8-experts", "Hugging Face fp8, fused experts of earlier versions", "NAME, NAME_scales_inv",
              "F32(q s)", ""},
     .codes = "", .values = "", .dtypes = F8, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = "_scales_inv", .scale_dtypes = FLOATS | E8M0, .grid = HUI_BY_SHAPE},
    {.said = {"hf-mxfp8", "MiniMax-M3: MXFP8", "NAME, NAME_scale_inv (U8)", "F32(q s)", ""},
     .codes = "", .values = "", .dtypes = E4M3, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = "_scale_inv", .scale_dtypes = U8, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32},
    /* ---- DeepSeek-V4 ---- */
    {.said = {"deepseek-v4-fp8", "DeepSeek-V4: FP8", "NAME.weight, NAME.scale (F8_E8M0)", "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = E4M3, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = ".scale", .scale_dtypes = E8M0, .grid = HUI_BY_SHAPE},
    {.said = {"deepseek-v4-fp4", "DeepSeek-V4: experts in FP4", "NAME.weight (I8), NAME.scale (F8_E8M0)", "F32(q s)",
              ""},
     .codes = ".weight", .values = ".weight", .dtypes = I8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = ".scale", .scale_dtypes = E8M0, .grid = HUI_ALONG, .block = 32},
    /* ---- compressed-tensors ---- */
    {.said = {"ct-nvfp4", "compressed-tensors, AutoRound: NVFP4",
              "NAME.weight_packed, NAME.weight_scale, NAME.weight_global_scale", "F32(q F32(s / g))", ""},
     .codes = ".weight_packed", .values = ".weight", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = ".weight_scale", .scale_dtypes = E4M3, .grid = HUI_ALONG, .block = 16, .second = ".weight_global_scale",
     .divide = 1, .beside = {".input_global_scale", ".weight_shape"}},
    {.said = {"ct-mxfp4", "compressed-tensors, AutoRound: MXFP4", "NAME.weight_packed, NAME.weight_scale (U8)",
              "F32(q s)", ""},
     .codes = ".weight_packed", .values = ".weight", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = ".weight_scale", .scale_dtypes = U8, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32,
     .beside = {".weight_global_scale", ".input_global_scale", ".weight_shape"}},
    {.said = {"autoround-nvfp4-e5m3", "AutoRound: nvfp4_v2, scales in E5M3",
              "NAME.weight_packed, NAME.weight_scale (U8)", "F32(q s)", ""},
     .codes = ".weight_packed", .values = ".weight", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = ".weight_scale", .scale_dtypes = U8, .scale_type = HUI_SCALE_E5M3, .grid = HUI_ALONG, .block = 16,
     .beside = {".input_global_scale"}},
    {.said = {"ct-int", "compressed-tensors: pack-quantized integers (Kimi-K2)",
              "NAME.weight_packed (I32), NAME.weight_scale, NAME.weight_shape, NAME.weight_zero_point, .weight_g_idx",
              "F32((q - z) s)", ""},
     .codes = ".weight_packed", .values = ".weight", .dtypes = I32, .element = HUI_OFFSET, .packing = HUI_STREAM,
     .scale = ".weight_scale", .scale_dtypes = FLOATS, .grid = HUI_GROUPS, .zero = ".weight_zero_point",
     .order = ".weight_g_idx", .sizes = ".weight_shape", .beside = {".input_scale"}},
    {.said = {"ct-int-apart", "compressed-tensors until May 2026: integers of 3, 5, 6 or 7 bits, 32 div bits in a word",
              "NAME.weight_packed (I32), NAME.weight_scale, NAME.weight_shape", "F32(q s)", ""},
     .codes = ".weight_packed", .values = ".weight", .dtypes = I32, .element = HUI_OFFSET, .packing = HUI_WORDS,
     .scale = ".weight_scale", .scale_dtypes = FLOATS, .grid = HUI_GROUPS, .order = ".weight_g_idx",
     .sizes = ".weight_shape", .asks = HUI_ASKS_NAME, .beside = {".input_scale"}},
    {.said = {"ct-int8", "compressed-tensors: int-quantized", "NAME.weight (I8), NAME.weight_scale", "F32((q - z) s)",
              ""},
     .codes = ".weight", .values = ".weight", .dtypes = I8, .element = HUI_TWOS, .bits = 8, .packing = HUI_FLAT,
     .scale = ".weight_scale", .scale_dtypes = FLOATS, .grid = HUI_BY_SHAPE, .beside = {".input_scale"}},
    /* ---- ModelOpt, Quark, torchao: names in weight_scale ---- */
    {.said = {"modelopt-nvfp4", "ModelOpt: NVFP4", "NAME.weight (U8), NAME.weight_scale, NAME.weight_scale_2",
              "F32(q F32(s s2))", OPEN_NIBBLES},
     .codes = ".weight", .values = ".weight", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = ".weight_scale", .scale_dtypes = E4M3, .grid = HUI_ALONG, .block = 16, .second = ".weight_scale_2",
     .sure = "modelopt quark fp8",
     .beside = {".input_scale", ".pre_quant_scale", ".svdquant_lora_a", ".svdquant_lora_b"}},
    {.said = {"mxfp4", "Quark, ModelOpt: MXFP4", "NAME.weight (U8), NAME.weight_scale (U8)", "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = ".weight_scale", .scale_dtypes = U8 | E8M0, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32,
     .beside = {".input_scale"}},
    {.said = {"mxfp6-e2m3", "Quark: MXFP6 of E2M3", "NAME.weight (U8), NAME.weight_scale (U8)", "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = U8, .element = HUI_E2M3, .bits = 6, .packing = HUI_SIX,
     .scale = ".weight_scale", .scale_dtypes = U8 | E8M0, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32,
     .asks = HUI_ASKS_DTYPE, .word = "fp6_e2m3", .beside = {".input_scale"}},
    {.said = {"mxfp6-e3m2", "Quark: MXFP6 of E3M2", "NAME.weight (U8), NAME.weight_scale (U8)", "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = U8, .element = HUI_E3M2, .bits = 6, .packing = HUI_SIX,
     .scale = ".weight_scale", .scale_dtypes = U8 | E8M0, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32,
     .asks = HUI_ASKS_DTYPE, .word = "fp6_e3m2", .beside = {".input_scale"}},
    {.said = {"modelopt-int4", "ModelOpt: INT4-AWQ", "NAME.weight (U8, half the rows), NAME.weight_scale", "F32(q s)",
              ""},
     .codes = ".weight", .values = ".weight", .dtypes = U8, .element = HUI_TWOS, .bits = 4, .packing = HUI_ROW_PAIRS,
     .scale = ".weight_scale", .scale_dtypes = FLOATS, .grid = HUI_GROUPS,
     .beside = {".input_scale", ".pre_quant_scale"}},
    {.said = {"mxfp8", "compressed-tensors, ModelOpt, AutoRound: MXFP8", "NAME, NAME_scale (U8)", "F32(q s)", ""},
     .codes = "", .values = "", .dtypes = F8, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = "_scale", .scale_dtypes = U8 | E8M0, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32,
     .beside = {INPUT}},
    {.said = {"fp8-scale",
              "compressed-tensors, ModelOpt, Quark, FBGEMM, vLLM: FP8 with a scale per tensor, channel or block",
              "NAME, NAME_scale", "F32(q s)", ""},
     .codes = "", .values = "", .dtypes = F8, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = "_scale", .scale_dtypes = FLOATS, .grid = HUI_BY_SHAPE, .beside = {INPUT, "input_scale_ub"}},
    {.said = {"mistral-fp8", "Mistral: FP8", "NAME.weight, NAME.qscale_weight", "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = F8, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = ".qscale_weight", .scale_dtypes = FLOATS, .grid = HUI_BY_SHAPE, .beside = {".qscale_act"}},
    /* ---- gpt-oss ---- */
    {.said = {"gpt-oss-mxfp4", "gpt-oss: MXFP4", "NAME_blocks, NAME_scales", "F32(q s)", ""},
     .codes = "_blocks", .values = "", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = "_scales", .scale_dtypes = U8, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32},
    {.said = {"gpt-oss-mxfp4-original", "gpt-oss: MXFP4 under OpenAI's own names", "NAME.blocks, NAME.scales",
              "F32(q s)", ""},
     .codes = ".blocks", .values = "", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = ".scales", .scale_dtypes = U8, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32},
    /* ---- bitsandbytes ---- */
    {.said = {"bnb-nf4", "bitsandbytes: NF4", "NAME.weight, NAME.weight.absmax, NAME.weight.quant_map, ...",
              "F32(map[q] a); nested: a = F32(F32(map2[u] n) + offset)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = U8 | FLOATS, .element = HUI_TABLE, .bits = 4,
     .packing = HUI_FLAT_HIGH, .scale = ".weight.absmax", .scale_dtypes = F32 | U8, .grid = HUI_RUNS,
     .map = ".weight.quant_map", .nested = ".weight.nested_absmax", .nested_map = ".weight.nested_quant_map",
     .state = ".weight.quant_state.bitsandbytes__nf4"},
    {.said = {"bnb-fp4", "bitsandbytes: FP4, which is not E2M1",
              "NAME.weight, NAME.weight.absmax, NAME.weight.quant_map, ...",
              "F32(map[q] a); nested: a = F32(F32(map2[u] n) + offset)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = U8 | FLOATS, .element = HUI_TABLE, .bits = 4,
     .packing = HUI_FLAT_HIGH, .scale = ".weight.absmax", .scale_dtypes = F32 | U8, .grid = HUI_RUNS,
     .map = ".weight.quant_map", .nested = ".weight.nested_absmax", .nested_map = ".weight.nested_quant_map",
     .state = ".weight.quant_state.bitsandbytes__fp4"},
    /* ---- MLX ---- */
    {.said = {"mlx-affine", "MLX: affine, 2 to 8 bits", "NAME.weight (U32), NAME.scales, NAME.biases", "F32(q s + b)",
              ""},
     .codes = ".weight", .values = ".weight", .dtypes = U32, .element = HUI_UNSIGNED, .packing = HUI_STREAM,
     .scale = ".scales", .scale_dtypes = FLOATS, .grid = HUI_GROUPS, .bias = ".biases"},
    {.said = {"mlx-mxfp4", "MLX: mxfp4", "NAME.weight (U32), NAME.scales (U8)", "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = U32, .element = HUI_E2M1, .bits = 4, .packing = HUI_STREAM,
     .scale = ".scales", .scale_dtypes = U8, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32},
    {.said = {"mlx-mxfp8", "MLX: mxfp8", "NAME.weight (U32), NAME.scales (U8)", "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = U32, .element = HUI_E4M3, .bits = 8, .packing = HUI_STREAM,
     .scale = ".scales", .scale_dtypes = U8, .scale_type = HUI_SCALE_E8M0, .grid = HUI_ALONG, .block = 32},
    {.said = {"mlx-nvfp4", "MLX: nvfp4", "NAME.weight (U32), NAME.scales (U8)", "F32(q s)", ""},
     .codes = ".weight", .values = ".weight", .dtypes = U32, .element = HUI_E2M1, .bits = 4, .packing = HUI_STREAM,
     .scale = ".scales", .scale_dtypes = U8, .scale_type = HUI_SCALE_E4M3, .grid = HUI_ALONG, .block = 16},
    /* ---- AWQ, GPTQ, AutoRound ---- */
    {.said = {"awq", "AWQ gemm, AutoRound", "NAME.qweight [in, out/8], NAME.qzeros, NAME.scales", "F32((q - z) s)", ""},
     .codes = ".qweight", .values = ".weight", .dtypes = I32, .element = HUI_UNSIGNED, .bits = 4, .packing = HUI_AWQ,
     .scale = ".scales", .scale_dtypes = FLOATS, .grid = HUI_GROUPS_T, .zero = ".qzeros"},
    {.said = {"gptq-v2", "GPTQ with checkpoint_format gptq_v2, AutoRound auto_round:gptqmodel",
              "NAME.qweight [in/8, out], NAME.qzeros, NAME.scales, NAME.g_idx", "F32((q - z) s)", ""},
     .codes = ".qweight", .values = ".weight", .dtypes = I32, .element = HUI_UNSIGNED, .packing = HUI_COLUMN,
     .scale = ".scales", .scale_dtypes = FLOATS, .grid = HUI_GROUPS_T, .zero = ".qzeros", .order = ".g_idx",
     .asks = HUI_ASKS_V2},
    {.said = {"gptq", "GPTQ, AutoRound auto_round:auto_gptq",
              "NAME.qweight [in/8, out], NAME.qzeros, NAME.scales, NAME.g_idx", "F32((q - (z + 1)) s)", OPEN_ZEROS},
     .codes = ".qweight", .values = ".weight", .dtypes = I32, .element = HUI_UNSIGNED, .packing = HUI_COLUMN,
     .scale = ".scales", .scale_dtypes = FLOATS, .grid = HUI_GROUPS_T, .zero = ".qzeros", .zero_plus = 1,
     .order = ".g_idx", .sure = "gptq auto-round"},
    /* ---- torchao ---- */
    {.said = {"torchao-fp8", "torchao: Float8Tensor", "MODULE._weight_qdata, MODULE._weight_scale", "F32(q s)", ""},
     .codes = "_qdata", .values = "", .dtypes = F8, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = "_scale", .scale_dtypes = FLOATS, .grid = HUI_BY_SHAPE, .asks = HUI_ASKS_TORCHAO, .word = "Float8Tensor"},
    {.said = {"torchao-nvfp4", "torchao: NVFP4Tensor",
              "MODULE._weight_qdata, MODULE._weight_scale, MODULE._weight_per_tensor_scale", "F32(q F32(s s2))", ""},
     .codes = "_qdata", .values = "", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = "_scale", .scale_dtypes = E4M3, .grid = HUI_ALONG, .block = 16, .second = "_per_tensor_scale",
     .asks = HUI_ASKS_TORCHAO, .word = "NVFP4Tensor", .beside = {"_act_per_tensor_scale"}},
    {.said = {"torchao-nvfp4-one", "torchao: NVFP4Tensor of one level", "MODULE._weight_qdata, MODULE._weight_scale",
              "F32(q s)", ""},
     .codes = "_qdata", .values = "", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = "_scale", .scale_dtypes = E4M3, .grid = HUI_ALONG, .block = 16, .asks = HUI_ASKS_TORCHAO,
     .word = "NVFP4Tensor"},
    {.said = {"torchao-mxfp8", "torchao: MXTensor of FP8", "MODULE._weight_qdata, MODULE._weight_scale", "F32(q s)",
              ""},
     .codes = "_qdata", .values = "", .dtypes = F8, .element = HUI_OF_DTYPE, .bits = 8, .packing = HUI_FLAT,
     .scale = "_scale", .scale_dtypes = E8M0, .grid = HUI_ALONG, .block = 32, .asks = HUI_ASKS_TORCHAO,
     .word = "MXTensor"},
    {.said = {"torchao-mxfp4", "torchao: MXTensor of FP4", "MODULE._weight_qdata, MODULE._weight_scale", "F32(q s)",
              ""},
     .codes = "_qdata", .values = "", .dtypes = U8, .element = HUI_E2M1, .bits = 4, .packing = HUI_LOW,
     .scale = "_scale", .scale_dtypes = E8M0, .grid = HUI_ALONG, .block = 32, .asks = HUI_ASKS_TORCHAO,
     .word = "MXTensor"},
};
/* clang-format on */
const size_t hui_layouts_count = sizeof hui_layouts / sizeof hui_layouts[0];

const hui_refused hui_refusals[] = {
    {".SCB", NULL, "bitsandbytes int8"},
    {".weight.SCB", NULL, "bitsandbytes int8"},
    {".W_q", "hqq", "HQQ"},
    {".codebooks", "aqlm", "AQLM"},
    {".centroids.weight", "vptq", "VPTQ"},
    {".Qidxs", "quip", "QuIP#"},
    {".q_weight", "exl2", "EXL2"},
    {".trellis", "exl3", "EXL3"},
    {".wscales", "svdquant", "SVDQuant (nunchaku)"},
    {".weight_codebook", NULL, "a layout with codebooks"},
    {NULL, "spqr", "SpQR"},
    {NULL, "eetq", "EETQ"},
    {NULL, "bitnet", "BitNet"},
};
const size_t hui_refusals_count = sizeof hui_refusals / sizeof hui_refusals[0];

size_t hu_layout_count(void) { return hui_layouts_count; }

hu_layout hu_layout_at(size_t i) {
  static const hu_layout none = {"", "", "", "", ""};
  return i < hui_layouts_count ? hui_layouts[i].said : none;
}

const hui_layout *hui_layout_find(const char *name) {
  for (size_t i = 0; i < hui_layouts_count; i++)
    if (!strcmp(hui_layouts[i].said.name, name)) return &hui_layouts[i];
  return NULL;
}
