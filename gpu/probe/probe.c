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
/* mma.sync of 8-bit formats is one instruction there, with C among the terms. */
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

/* Unit number i of a device. */
static const unit *unit_at(int capability, size_t i, const char **prefix) {
  for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
    if (capability < families[f].from || capability > families[f].to) continue;
    *prefix = families[f].prefix;
    for (int g = 0; g < 3 && families[f].units[g]; g++) {
      for (const unit *u = families[f].units[g]; u->suffix; u++) {
        if (i-- == 0) return u;
      }
    }
  }
  return NULL;
}

hu_status hui_mma_of_capability(hu_device_mma *mma, int *op, int capability, size_t i) {
  const char *prefix = "";
  const unit *u = unit_at(capability, i, &prefix);
  hu_accum_preset p;
  if (!u) return HU_E_NAME;
  memset(mma, 0, sizeof *mma);
  hu_mma_shape s = hui_mma_shape_of(u->op);
  snprintf(mma->model, sizeof mma->model, "%s%s", prefix, u->suffix);
  if (hu_accum_preset_find(&p, mma->model) != HU_OK) return HU_E_NAME;
  snprintf(mma->instruction, sizeof mma->instruction, "%s.m%un%uk%u", s.wgmma ? "wgmma" : "mma.sync", s.m, s.n, s.k);
  mma->m = s.m;
  mma->n = s.n;
  mma->k = s.k;
  mma->a = p.a;
  mma->b = p.b;
  mma->c = p.c;
  *op = u->op;
  return HU_OK;
}

hu_status hu_device_mma_at(hu_device_mma *mma, size_t i) {
  int op, capability = hui_device_capability();
  if (!mma) return HU_E_NULL;
  return capability ? hui_mma_of_capability(mma, &op, capability, i) : HU_E_DEVICE;
}

/* ---- host arrays ---- */

static void *copied(const void *x, size_t bytes, hu_status *s) {
  void *p = hui_memory_new(bytes);
  if (!p) *s = HU_E_MEMORY;
  if (p && x && *s == HU_OK) *s = hui_memory_put(p, x, bytes);
  return p;
}

static hu_status codes_check(const hu_element *e, const void *x, size_t n) {
  hu_code_area all = {x, 1, n, 0, 1, hu_element_size(*e), hu_element_width(*e), e->kind == HU_ELEMENT_S4};
  return hui_code_area_check(&all, 1);
}

hu_status hu_device_mma_run(size_t i, size_t tiles, void *d, const void *a, const void *b, const void *c) {
  hu_device_mma t;
  int op = 0, capability = hui_device_capability();
  if (!capability) return HU_E_DEVICE;
  hu_status s = hui_mma_of_capability(&t, &op, capability, i);
  if (s != HU_OK || tiles == 0) return s;
  if (!d || !a || !b || !c) return HU_E_NULL;
  s = codes_check(&t.a, a, t.m * t.k * tiles);
  if (s == HU_OK) s = codes_check(&t.b, b, t.n * t.k * tiles);
  if (s == HU_OK) s = codes_check(&t.c, c, t.m * t.n * tiles);
  if (s != HU_OK) return s;
  size_t size = hu_element_size(t.a), result = hu_element_size(t.c) * t.m * t.n * tiles;
  void *da = copied(a, size * t.m * t.k * tiles, &s), *db = copied(b, size * t.n * t.k * tiles, &s);
  void *dc = copied(c, result, &s), *dd = copied(NULL, result, &s);
  if (s == HU_OK)
    s = op < HU_WGMMA_F16_F32 ? hui_probe_mma(op, tiles, dd, da, db, dc) : hui_probe_wgmma(op, tiles, dd, da, db, dc);
  if (s == HU_OK) s = hui_memory_wait();
  if (s == HU_OK) s = hui_memory_get(d, dd, result);
  hui_memory_free(da);
  hui_memory_free(db);
  hui_memory_free(dc);
  hui_memory_free(dd);
  return s;
}
