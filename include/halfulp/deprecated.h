/* SPDX-License-Identifier: MIT */
/* halfulp/deprecated.h - names of version 0.1 that have another name now. Programs that use them compile as they are:
 * each is a macro for the new name, and each function's old symbol is still in the library. The headers that hold the
 * new names include this one. It is removed in the next version.
 *
 * Define HU_NO_DEPRECATED before the first include to find what is left to rename: the old names are unknown then. */
#ifndef HALFULP_DEPRECATED_H
#define HALFULP_DEPRECATED_H

#ifndef HU_NO_DEPRECATED

/* Deprecated since 0.2: use hu_accum_preset and its functions (accum.h). "Preset" alone is a conversion of another
 * program (conversion.h). */
#define hu_preset hu_accum_preset
#define hu_preset_count hu_accum_preset_count
#define hu_preset_at hu_accum_preset_at
#define hu_preset_find hu_accum_preset_find

/* Deprecated since 0.2: use hu_limits_of (format.h), as functions that make a record T are called T_of. */
#define hu_format_limits hu_limits_of
/* Deprecated since 0.2: use hu_format_parse_axis (format.h). */
#define hu_format_parse_why hu_format_parse_axis

/* Deprecated since 0.2: use hu_mode_round_parse and so on (mode.h), noun first, as in hu_mode_round_text. */
#define hu_mode_parse_round hu_mode_round_parse
#define hu_mode_parse_saturate hu_mode_saturate_parse
#define hu_mode_parse_nan hu_mode_nan_parse
#define hu_mode_parse_nan_fma hu_mode_nan_fma_parse

/* Deprecated since 0.2: use HU_BLOCK_CUT_TRUNC and so on (hu_block of accum.h). */
#define HU_CUT_TRUNC HU_BLOCK_CUT_TRUNC
#define HU_CUT_FLOOR HU_BLOCK_CUT_FLOOR
#define HU_CUT_NEAREST HU_BLOCK_CUT_NEAREST
#define HU_ORDER_UP HU_BLOCK_ORDER_UP
#define HU_ORDER_DOWN HU_BLOCK_ORDER_DOWN
#define HU_ORDER_MOD4 HU_BLOCK_ORDER_MOD4
#define HU_JOIN_FIRST HU_BLOCK_JOIN_FIRST
#define HU_JOIN_LAST HU_BLOCK_JOIN_LAST
#define HU_DAZ_NONE HU_BLOCK_DAZ_NONE
#define HU_DAZ_SIGN HU_BLOCK_DAZ_SIGN
#define HU_DAZ_PLUS HU_BLOCK_DAZ_PLUS
#define HU_FTZ_NONE HU_BLOCK_FTZ_NONE
#define HU_FTZ_AFTER HU_BLOCK_FTZ_AFTER
#define HU_FTZ_TINY HU_BLOCK_FTZ_TINY
#define HU_FTZ_BEFORE HU_BLOCK_FTZ_BEFORE

/* Deprecated since 0.2: use HU_STORAGE_VALUES and HU_STORAGE_CODES (the field `storage` of hu_operand and hu_result,
 * gemm.h). */
#define HU_VALUES HU_STORAGE_VALUES
#define HU_CODES HU_STORAGE_CODES

/* Deprecated since 0.2: use HU_SCALED_FACTOR_EXACT and so on (hu_scaled_sum of scaled_gemm.h). */
#define HU_FACTOR_EXACT HU_SCALED_FACTOR_EXACT
#define HU_FACTOR_ROUNDED HU_SCALED_FACTOR_ROUNDED
#define HU_FACTOR_TWICE HU_SCALED_FACTOR_TWICE
#define HU_FACTOR_ALPHA HU_SCALED_FACTOR_ALPHA
#define HU_FACTORS HU_SCALED_FACTOR_COUNT

/* Deprecated since 0.2: use HU_HADAMARD_ALONG_ROWS, HU_HADAMARD_SIGNS_NONE and so on (hadamard.h). */
#define HU_ALONG_ROWS HU_HADAMARD_ALONG_ROWS
#define HU_ALONG_COLUMNS HU_HADAMARD_ALONG_COLUMNS
#define HU_SIGNS_NONE HU_HADAMARD_SIGNS_NONE
#define HU_SIGNS_MASK HU_HADAMARD_SIGNS_MASK
#define HU_SIGNS_STREAM HU_HADAMARD_SIGNS_STREAM
#define HU_SIGNS_TRANSFORMER_ENGINE HU_HADAMARD_SIGNS_TRANSFORMER_ENGINE

#endif
#endif
