/* SPDX-License-Identifier: MIT */
/* emu/scaled/call.h - the record of one call that encodes, quantizes or decodes a scaled tensor;
 * hu_scaled_apply fills it. */
#ifndef HALFULP_EMU_SCALED_CALL_H
#define HALFULP_EMU_SCALED_CALL_H

#include "emu/core/scaled.h"

typedef struct hu_scaled_call {
  size_t rows, cols;
  hu_scaling scaling;
  hu_mode mode;
  const uint32_t *x; /* values: binary32 patterns */
  size_t ldx;
  uint32_t *z; /* values to write; NULL: none */
  size_t ldz;
  const hu_scaled *codes; /* codes and scales to write, or to read; NULL: none */
  const float *amax;
  hu_scaled_stats *stats;
  const hu_exec *exec;
  hu_events *events;
} hu_scaled_call;

/* Takes where the ends of a call lie that makes codes and scales, or values: HU_E_FORMAT, HU_E_SHAPE, HU_E_NULL. */
hu_status hui_scaled_ends(hu_scaled_call *call, const hu_output *z, const hu_view *x, const hu_scaled_extra *extra);

/* The ways of hu_scaled_apply: each checks everything, and makes codes and scales, or values where call->codes is NULL;
 * or it decodes. The type says what the scaled format is; call->scaling is still to be set. */
hu_status hui_scaled_make(hu_scaled_call *call, const hu_type *type);
hu_status hui_scaled_decode(hu_scaled_call *call, const hu_type *type);
hu_status hui_scaled_rows_make(hu_scaled_call *call, const hu_type *type);
hu_status hui_scaled_rows_decode(hu_scaled_call *call, const hu_type *type);
hu_status hui_hif4_make(hu_scaled_call *call, const hu_type *type);
hu_status hui_hif4_decode(hu_scaled_call *call, const hu_type *type);

/* hu_scaling_check, which returns the description unfolded, too; the mode's own check is the caller's. */
hu_status hui_scaling_unfold(hu_scaler *scaler, const hu_scaling *scaling, hu_mode mode, const char **why);
/* Arguments have been checked; scaler: the call's scaling and mode unfolded. */
void hui_scaled_run(const hu_scaled_call *call, const hu_scaler *scaler);
void hui_scaled_undo(const hu_scaled_call *call);
/* hu_scaled_decode of codes that have been checked, too. */
void hui_scaled_decode_run(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x,
                           const hu_scaling *scaling, const hu_exec *exec);

/* Codes and values, stored as the scaling says. */
typedef struct hu_scaled_shape {
  size_t rows, cols;             /* of the matrix */
  size_t side_rows, side_cols;   /* of a block, at most the matrix's */
  size_t block_rows, block_cols; /* blocks down and across */
  size_t code_size, scale_size;
} hu_scaled_shape;
hu_scaled_shape hui_scaled_shape_of(size_t rows, size_t cols, const hu_scaling *scaling);

#endif
