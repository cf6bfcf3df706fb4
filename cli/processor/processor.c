/* SPDX-License-Identifier: MIT */
/* cli/processor/processor.c - see processor.h. */
#include "cli/processor/processor.h"

#include <stdio.h>
#include <string.h>

#include "halfulp/accum.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

static void name_of(char name[PROCESSOR_NAME_MAX]) {
  unsigned word[12] = {0}, a = 0, b, c, edx;
  char brand[sizeof word + 1] = "";
  for (unsigned i = 0; i < 3; i++) {
    unsigned *z = word + 4 * i;
    if (!__get_cpuid(0x80000002u + i, z, z + 1, z + 2, z + 3)) return;
  }
  memcpy(brand, word, sizeof word);
  (void)__get_cpuid(1, &a, &b, &c, &edx);
  unsigned base = a >> 8 & 15, family = base + (base == 15 ? a >> 20 & 255 : 0);
  unsigned model = (a >> 4 & 15) | (base == 6 || base == 15 ? a >> 12 & 0xF0 : 0);
  snprintf(name, PROCESSOR_NAME_MAX, "%s, family %u, model %u, stepping %u", brand, family, model, a & 15);
}
#else
static void name_of(char name[PROCESSOR_NAME_MAX]) { snprintf(name, PROCESSOR_NAME_MAX, "processor"); }
#endif

void processor_name(char name[PROCESSOR_NAME_MAX]) {
  snprintf(name, PROCESSOR_NAME_MAX, "processor");
  name_of(name);
}

/* Returns number i of those that are here. */
static const processor_unit *unit_at(size_t i) {
  const processor_unit *const lists[] = {processor_units_x86, processor_units_arm, processor_units_arm_fp8};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    for (const processor_unit *unit = lists[k]; unit->instruction; unit++) {
      if (unit->has() && i-- == 0) return unit;
    }
  }
  return NULL;
}

hu_status processor_mma_at(hu_device_mma *mma, size_t i) {
  const processor_unit *unit = unit_at(i);
  hu_accum_preset preset;
  if (!mma) return HU_E_NULL;
  if (!unit || hu_accum_preset_find(&preset, unit->model) != HU_OK) return HU_E_NAME;
  memset(mma, 0, sizeof *mma);
  snprintf(mma->model, sizeof mma->model, "%s", unit->model);
  snprintf(mma->instruction, sizeof mma->instruction, "%s", unit->instruction);
  mma->m = unit->m;
  mma->n = unit->n;
  mma->k = unit->k;
  mma->a = preset.accum.a;
  mma->b = preset.accum.b;
  mma->c = preset.accum.c;
  return HU_OK;
}

hu_status processor_mma_run(size_t i, size_t tiles, void *result, const void *a, const void *b, const void *c) {
  const processor_unit *unit = unit_at(i);
  hu_device_mma mma;
  hu_status status = processor_mma_at(&mma, i);
  if (status != HU_OK) return status;
  if (!result || !a || !b || !c) return HU_E_NULL;
  const size_t of_a = unit->m * unit->k * hu_type_size(mma.a), of_b = unit->n * unit->k * hu_type_size(mma.b);
  const size_t of_c = unit->m * unit->n * hu_type_size(mma.c);
  for (size_t tile = 0; tile < tiles; tile++) {
    unit->run((char *)result + tile * of_c, (const char *)a + tile * of_a, (const char *)b + tile * of_b,
              (const char *)c + tile * of_c);
  }
  return HU_OK;
}

const processor_check *processor_check_at(size_t i) {
  const processor_check *const lists[] = {processor_checks_x86, processor_checks_arm, processor_checks_arm_fp8};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    for (const processor_check *check = lists[k]; check->instruction; check++) {
      if (check->has() && i-- == 0) return check;
    }
  }
  return NULL;
}
