/* SPDX-License-Identifier: MIT */
/* precision.system: what the papers' systems round where, as values of keys. Sources: Micikevicius et al. 2018 (fp16),
 * Zamirai et al. 2021 (bfloat16), Micikevicius et al. 2022 (fp8, without its scales), Cambier et al. 2020 (fp8_e5m2,
 * s2fp8), Transformer Engine's current scaling (fp8_tensor) and delayed scaling (fp8_delayed), OCP Microscaling 2023
 * (mx*), NVIDIA 2025 (nvfp4), DeepSeek-V3 2024 (dsv3), Sun et al. 2019 (hfp8), Wang et al. 2018 (wang2018),
 * Chen et al. 2025 (tetrajet; Q-EMA is another key), Chmiel et al. 2025 (fp4_all_the_way), Castro et al. 2025
 * (quartet: version 4 of 2026, whose backward pass rounds to nearest). */
#include <stddef.h>
#include <string.h>

#include "train/trainer/trainer.h"

#define OPERANDS(r)                                                                                    \
  "precision.x", r, "precision.w", r, "precision.dz", r, "precision.w_back", r, "precision.x_back", r, \
      "precision.dz_w", r
#define RESULTS(r) "precision.z_out", r, "precision.dx_out", r, "precision.dw_out", r
#define STORED(r) \
  "precision.values", r, "precision.gradients", r, "precision.parameters", r, "precision.parameter_gradients", r
#define REST(accum) REST_OF(accum, "yes")
#define REST_OF(accum, attention) \
  SUMS(accum), "precision.hadamard", "0", "precision.signs", "0", "precision.attention", attention
#define SUMS(accum) ONCE_SUMS(accum), "precision.twice", "no"
#define ONCE_SUMS(accum) OWN_SUMS(accum), OWN_SCALES, "precision.quartet", "none", "precision.w_average", "0"
#define OWN_SCALES "precision.history", "0", "precision.history_takes", "max", "precision.history_margin", "0"
#define OWN_SUMS(accum)                                                                                  \
  "precision.accum", accum, "precision.z_accum", "", "precision.dx_accum", "", "precision.dw_accum", "", \
      "precision.convolution", "tensors", "precision.until", "0", "precision.after", "both"
/* Takes one format for X and W, another for dZ. */
#define FORWARD_BACKWARD(f, b)                                                                         \
  "precision.x", f, "precision.w", f, "precision.dz", b, "precision.w_back", f, "precision.x_back", f, \
      "precision.dz_w", b
/* Takes scaled operands: blocks along the reduction. */
#define BLOCKS(r)                                                                                             \
  "precision.x", r, "precision.w", r ",turned", "precision.dz", r, "precision.w_back", r, "precision.x_back", \
      r ",turned", "precision.dz_w", r ",turned"
#define LOOKED_UP(r) "precision.embeddings", r
#define PLAIN STORED("keep"), RESULTS("keep"), LOOKED_UP("keep")
#define E5M2_TENSOR "scaled(float8_e5m2;scale=binary32;block=*x*;rule=ratio;steps=encode;special=element;zero=one)"
#define NVFP4_TILES "scaled(float4_e2m1fn;scale=ue4m3;block=16x16;rule=ratio;steps=multiply;tensor;zero=zero)"

static const char *const binary32_pairs[] = {PLAIN, OPERANDS("keep"), REST("fp32"), NULL};
static const char *const fp16_pairs[] = {STORED("binary16"), RESULTS("keep"), LOOKED_UP("keep"),
                                         OPERANDS("keep"),   REST("fp32"),    NULL};
static const char *const bfloat16_pairs[] = {STORED("bfloat16"), RESULTS("keep"), LOOKED_UP("keep"),
                                             OPERANDS("keep"),   REST("fp32"),    NULL};
/* The formats alone: E4M3 saturates, E5M2 overflows to infinities, which a loss scale sees. */
static const char *const fp8_pairs[] = {PLAIN, FORWARD_BACKWARD("float8_e4m3fn", "float8_e5m2"), REST("fp32"), NULL};
static const char *const fp8_e5m2_pairs[] = {STORED("keep"),        RESULTS("fp(5,2,0)"), LOOKED_UP("fp(5,2,0)"),
                                             OPERANDS("fp(5,2,0)"), REST("fp32"),         NULL};
static const char *const s2fp8_pairs[] = {STORED("keep"),    RESULTS("s2fp8"), LOOKED_UP("s2fp8"),
                                          OPERANDS("s2fp8"), REST("fp32"),     NULL};
static const char *const mxfp8_pairs[] = {PLAIN, BLOCKS("mxfp8_e4m3"), REST("fp32"), NULL};
static const char *const mxfp6_pairs[] = {PLAIN, BLOCKS("mxfp6_e3m2"), REST("fp32"), NULL};
static const char *const mxfp4_pairs[] = {PLAIN, BLOCKS("mxfp4"), REST("fp32"), NULL};
/* Whole-tensor scales: one of the tensor's largest number. */
static const char *const tensor_pairs[] = {PLAIN, FORWARD_BACKWARD("fp8_tensor", E5M2_TENSOR), REST("fp32"), NULL};
/* The same, of the largest numbers of earlier steps: DelayedScaling with what it has where nothing is said. */
static const char *const delayed_pairs[] = {PLAIN,
                                            FORWARD_BACKWARD("fp8_tensor", E5M2_TENSOR),
                                            OWN_SUMS("fp32"),
                                            "precision.history",
                                            "1024",
                                            "precision.history_takes",
                                            "max",
                                            "precision.history_margin",
                                            "0",
                                            "precision.quartet",
                                            "none",
                                            "precision.w_average",
                                            "0",
                                            "precision.twice",
                                            "no",
                                            "precision.hadamard",
                                            "0",
                                            "precision.signs",
                                            "0",
                                            "precision.attention",
                                            "no",
                                            NULL};
/* Weights in tiles, the same numbers forward and backward; gradients stochastically; dW behind a transform. */
static const char *const nvfp4_pairs[] = {PLAIN,
                                          "precision.x",
                                          "nvfp4",
                                          "precision.w",
                                          NVFP4_TILES,
                                          "precision.dz",
                                          "nvfp4,sra:16",
                                          "precision.w_back",
                                          NVFP4_TILES,
                                          "precision.x_back",
                                          "nvfp4,turned",
                                          "precision.dz_w",
                                          "nvfp4,sra:16,turned",
                                          SUMS("fp32"),
                                          "precision.hadamard",
                                          "16",
                                          "precision.signs",
                                          "3622361064", /* HU_HADAMARD_SIGNS_TRANSFORMER_ENGINE, twice */
                                          "precision.attention",
                                          "no",
                                          NULL};
static const char *const dsv3_pairs[] = {PLAIN,
                                         "precision.x",
                                         "dsv3_1x128",
                                         "precision.w",
                                         "dsv3_128x128",
                                         "precision.dz",
                                         "dsv3_1x128",
                                         "precision.w_back",
                                         "dsv3_128x128",
                                         "precision.x_back",
                                         "dsv3_1x128,turned",
                                         "precision.dz_w",
                                         "dsv3_1x128,turned",
                                         REST_OF("fp32", "no"),
                                         NULL};
static const char *const hfp8_pairs[] = {PLAIN, FORWARD_BACKWARD("fp(4,3,4):finite", "fp(5,2,0)"), REST("fp32"), NULL};
static const char *const wang_pairs[] = {PLAIN, OPERANDS("fp(5,2,0)"), REST("chunk(64,fp(6,9,0),fp(6,9,0))"), NULL};

/* Forward to nearest, backward stochastically; W of dX and X of dW from what the forward pass has left. */
#define TETRAJET "scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=rceil)"
static const char *const tetrajet_pairs[] = {PLAIN,
                                             "precision.x",
                                             TETRAJET,
                                             "precision.w",
                                             TETRAJET ",turned",
                                             "precision.dz",
                                             TETRAJET ",sra:16",
                                             "precision.w_back",
                                             TETRAJET ",sra:16",
                                             "precision.x_back",
                                             TETRAJET ",sra:16,turned",
                                             "precision.dz_w",
                                             TETRAJET ",sra:16,turned",
                                             ONCE_SUMS("fp32"),
                                             "precision.twice",
                                             "yes",
                                             "precision.hadamard",
                                             "0",
                                             "precision.signs",
                                             "0",
                                             "precision.attention",
                                             "no",
                                             NULL};

/* NVFP4 without a scale of the tensor. Weights to nearest in both passes; dZ in both products, and X of dW,
 * stochastically. */
#define ONE_LEVEL "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio;zero=zero)"
static const char *const chmiel_pairs[] = {PLAIN,
                                           "precision.x",
                                           ONE_LEVEL,
                                           "precision.w",
                                           ONE_LEVEL ",turned",
                                           "precision.dz",
                                           ONE_LEVEL ",sra:16",
                                           "precision.w_back",
                                           ONE_LEVEL,
                                           "precision.x_back",
                                           ONE_LEVEL ",sra:16,turned",
                                           "precision.dz_w",
                                           ONE_LEVEL ",sra:16,turned",
                                           REST_OF("fp32", "no"),
                                           NULL};

/* Linear layers alone, all three products of them. */
static const char *const quartet_pairs[] = {PLAIN,
                                            OPERANDS("keep"),
                                            OWN_SUMS("fp32"),
                                            OWN_SCALES,
                                            "precision.quartet",
                                            "nearest",
                                            "precision.w_average",
                                            "0",
                                            "precision.twice",
                                            "no",
                                            "precision.hadamard",
                                            "0",
                                            "precision.signs",
                                            "0",
                                            "precision.attention",
                                            "no",
                                            NULL};

/* In the order of the names. */
static const char *const *const systems[] = {binary32_pairs, fp16_pairs,   bfloat16_pairs, fp8_pairs,   fp8_e5m2_pairs,
                                             s2fp8_pairs,    tensor_pairs, delayed_pairs,  mxfp8_pairs, mxfp6_pairs,
                                             mxfp4_pairs,    nvfp4_pairs,  dsv3_pairs,     hfp8_pairs,  wang_pairs,
                                             tetrajet_pairs, chmiel_pairs, quartet_pairs};
enum { SYSTEMS = sizeof systems / sizeof *systems };
static const char *const names[SYSTEMS + 1] = {
    "binary32", "fp16",  "bfloat16", "fp8",  "fp8_e5m2", "s2fp8",    "fp8_tensor",      "fp8_delayed", "mxfp8", "mxfp6",
    "mxfp4",    "nvfp4", "dsv3",     "hfp8", "wang2018", "tetrajet", "fp4_all_the_way", "quartet",     NULL};

const char *const *hui_system_names(void) { return names; }

const char *const *hui_system_pairs(const char *name) {
  for (size_t i = 0; i < SYSTEMS; i++) {
    if (strcmp(names[i], name) == 0) return systems[i];
  }
  return NULL;
}
