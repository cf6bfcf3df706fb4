/* SPDX-License-Identifier: MIT */
/* gpu/probe/probe.c - which matrix instructions a device has, the presets that model them, and calls on host arrays. */
#include "gpu/probe/probe.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/codes.h"
#include "gpu/base/memory.h"

typedef struct unit {
  const char *suffix; /* of the preset's name */
  int op;
} unit;

static const unit ampere[] = {
    {"f16.f32", HU_MMA_F16_F32_K16}, {"f16.f32", HU_MMA_F16_F32_K8}, {"f16.f16", HU_MMA_F16_F16_K16},
    {"f16.f16", HU_MMA_F16_F16_K8},  {"bf16.f32", HU_MMA_BF16_K16},  {"bf16.f32", HU_MMA_BF16_K8},
    {"tf32.f32", HU_MMA_TF32_K8},    {"tf32.f32", HU_MMA_TF32_K4},   {NULL, 0}};
static const unit ada8[] = {
    {"e4m3.f32", HU_MMA_FP8_F32},          {"e4m3xe5m2.f32", HU_MMA_FP8_F32 + 1}, {"e5m2xe4m3.f32", HU_MMA_FP8_F32 + 2},
    {"e5m2.f32", HU_MMA_FP8_F32 + 3},      {"e4m3.f16", HU_MMA_FP8_F16},          {"e4m3xe5m2.f16", HU_MMA_FP8_F16 + 1},
    {"e5m2xe4m3.f16", HU_MMA_FP8_F16 + 2}, {"e5m2.f16", HU_MMA_FP8_F16 + 3},      {NULL, 0}};
static const unit hopper[] = {
    {"f16.f32", HU_MMA_F16_F32_K16},       {"f16.f32.k8", HU_MMA_F16_F32_K8}, {"f16.f16.mma", HU_MMA_F16_F16_K16},
    {"f16.f16.mma.k8", HU_MMA_F16_F16_K8}, {"bf16.f32", HU_MMA_BF16_K16},     {"bf16.f32.k8", HU_MMA_BF16_K8},
    {"tf32.f32", HU_MMA_TF32_K8},          {"tf32.f32.k4", HU_MMA_TF32_K4},   {NULL, 0}};
static const unit hopper8[] = {{"e4m3.f32.mma", HU_MMA_FP8_F32},
                               {"e4m3xe5m2.f32.mma", HU_MMA_FP8_F32 + 1},
                               {"e5m2xe4m3.f32.mma", HU_MMA_FP8_F32 + 2},
                               {"e5m2.f32.mma", HU_MMA_FP8_F32 + 3},
                               {"e4m3.f16.mma", HU_MMA_FP8_F16},
                               {"e4m3xe5m2.f16.mma", HU_MMA_FP8_F16 + 1},
                               {"e5m2xe4m3.f16.mma", HU_MMA_FP8_F16 + 2},
                               {"e5m2.f16.mma", HU_MMA_FP8_F16 + 3},
                               {NULL, 0}};
static const unit wgmma[] = {{"f16.f32", HU_WGMMA_F16_F32},
                             {"f16.f16.wgmma", HU_WGMMA_F16_F16},
                             {"bf16.f32", HU_WGMMA_BF16},
                             {"tf32.f32", HU_WGMMA_TF32},
                             {"e4m3.f32.wgmma", HU_WGMMA_FP8_F32},
                             {"e4m3xe5m2.f32.wgmma", HU_WGMMA_FP8_F32 + 1},
                             {"e5m2xe4m3.f32.wgmma", HU_WGMMA_FP8_F32 + 2},
                             {"e5m2.f32.wgmma", HU_WGMMA_FP8_F32 + 3},
                             {"e4m3.f16.wgmma", HU_WGMMA_FP8_F16},
                             {"e4m3xe5m2.f16.wgmma", HU_WGMMA_FP8_F16 + 1},
                             {"e5m2xe4m3.f16.wgmma", HU_WGMMA_FP8_F16 + 2},
                             {"e5m2.f16.wgmma", HU_WGMMA_FP8_F16 + 3},
                             {NULL, 0}};
/* There mma.sync of 8-bit formats is one instruction, which adds C as one of the terms. */
static const unit rtx8[] = {{"e4m3.f32", HU_MMA_FP8_F32},
                            {"e4m3xe5m2.f32", HU_MMA_FP8_F32 + 1},
                            {"e5m2xe4m3.f32", HU_MMA_FP8_F32 + 2},
                            {"e5m2.f32", HU_MMA_FP8_F32 + 3},
                            {"e4m3.f16.mma", HU_MMA_FP8_F16},
                            {"e4m3xe5m2.f16.mma", HU_MMA_FP8_F16 + 1},
                            {"e5m2xe4m3.f16.mma", HU_MMA_FP8_F16 + 2},
                            {"e5m2.f16.mma", HU_MMA_FP8_F16 + 3},
                            {NULL, 0}};

typedef struct family {
  int from, to; /* compute capability */
  const char *prefix;
  const unit *units[3];
} family;

static const family families[] = {{80, 88, "nv.ampere.", {ampere, NULL, NULL}},
                                  {89, 89, "nv.ada.", {ampere, ada8, NULL}},
                                  {90, 90, "nv.hopper.", {hopper, hopper8, wgmma}},
                                  {100, 109, "nv.blackwell.", {hopper, hopper8, NULL}},
                                  {120, 129, "nv.rtxblackwell.", {hopper, rtx8, NULL}}};

/* Returns unit number i of a device. */
static const unit *unit_at(int capability, size_t i, const char **prefix) {
  for (size_t k = 0; k < sizeof families / sizeof families[0]; k++) {
    if (capability < families[k].from || capability > families[k].to) continue;
    *prefix = families[k].prefix;
    for (int list = 0; list < 3 && families[k].units[list]; list++) {
      for (const unit *one = families[k].units[list]; one->suffix; one++) {
        if (i-- == 0) return one;
      }
    }
  }
  return NULL;
}

hu_status hui_mma_of_capability(hu_device_mma *mma, int *op, int capability, size_t i) {
  const char *prefix = "";
  const unit *one = unit_at(capability, i, &prefix);
  hu_accum_preset preset;
  if (!one) return HU_E_NAME;
  memset(mma, 0, sizeof *mma);
  hu_mma_shape shape = hui_mma_shape_of(one->op);
  snprintf(mma->model, sizeof mma->model, "%s%s", prefix, one->suffix);
  if (hu_accum_preset_find(&preset, mma->model) != HU_OK) return HU_E_NAME;
  snprintf(mma->instruction, sizeof mma->instruction, "%s.m%un%uk%u", shape.wgmma ? "wgmma" : "mma.sync", shape.m,
           shape.n, shape.k);
  mma->m = shape.m;
  mma->n = shape.n;
  mma->k = shape.k;
  mma->a = preset.a;
  mma->b = preset.b;
  mma->c = preset.c;
  *op = one->op;
  return HU_OK;
}

hu_status hu_device_mma_at(hu_device_mma *mma, size_t i) {
  int op, capability = hui_device_capability();
  if (!mma) return HU_E_NULL;
  return capability ? hui_mma_of_capability(mma, &op, capability, i) : HU_E_DEVICE;
}

/* ---- host arrays ---- */

static void *copied(const void *x, size_t bytes, hu_status *status) {
  void *memory = hui_memory_new(bytes);
  if (!memory) *status = HU_E_MEMORY;
  if (memory && x && *status == HU_OK) *status = hui_memory_put(memory, x, bytes);
  return memory;
}

static hu_status codes_check(const hu_type *element, const void *x, size_t n) {
  hu_code_area all = {.data = x,
                      .rows = 1,
                      .cols = n,
                      .step = 1,
                      .size = hu_type_size(*element),
                      .width = hu_type_width(*element),
                      .is_signed = element->kind == HU_TYPE_INT4};
  return hui_code_area_check(&all, 1);
}

hu_status hu_device_mma_run(size_t i, size_t tiles, void *out, const void *a, const void *b, const void *c) {
  hu_device_mma mma;
  int op = 0, capability = hui_device_capability();
  if (!capability) return HU_E_DEVICE;
  hu_status status = hui_mma_of_capability(&mma, &op, capability, i);
  if (status != HU_OK || tiles == 0) return status;
  if (!out || !a || !b || !c) return HU_E_NULL;
  status = codes_check(&mma.a, a, mma.m * mma.k * tiles);
  if (status == HU_OK) status = codes_check(&mma.b, b, mma.n * mma.k * tiles);
  if (status == HU_OK) status = codes_check(&mma.c, c, mma.m * mma.n * tiles);
  if (status != HU_OK) return status;
  size_t size = hu_type_size(mma.a), result = hu_type_size(mma.c) * mma.m * mma.n * tiles;
  void *da = copied(a, size * mma.m * mma.k * tiles, &status), *db = copied(b, size * mma.n * mma.k * tiles, &status);
  void *dc = copied(c, result, &status), *dd = copied(NULL, result, &status);
  if (status == HU_OK)
    status =
        op < HU_WGMMA_F16_F32 ? hui_probe_mma(op, tiles, dd, da, db, dc) : hui_probe_wgmma(op, tiles, dd, da, db, dc);
  if (status == HU_OK) status = hui_memory_wait();
  if (status == HU_OK) status = hui_memory_get(out, dd, result);
  hui_memory_free(da);
  hui_memory_free(db);
  hui_memory_free(dc);
  hui_memory_free(dd);
  return status;
}
