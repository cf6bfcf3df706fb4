/* SPDX-License-Identifier: MIT */
/* The name that was meant where a rounding, a format or a model has one that there is not. */
#include <stdio.h>
#include <string.h>

#include "files/suggest.h"
#include "halfulp/accum.h"
#include "halfulp/number.h"
#include "halfulp/scaled.h"
#include "train/trainer/keys.h"

static void offer_formats(suggest *s) {
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry e = hu_format_at(i);
    suggest_offer(s, e.id);
    suggest_offer_all(s, e.aliases);
  }
}

static void offer_tensors(suggest *s) {
  suggest_offer_all(s, "keep s2fp8");
  for (size_t i = 0; i < hu_scaling_count(); i++) suggest_offer(s, hu_scaling_at(i).name);
  for (size_t i = 0; i < hu_number_count(); i++) suggest_offer(s, hu_number_at(i).name);
}

static void offer_models(suggest *s) {
  hu_preset p;
  suggest_offer_all(s, "exact fp32 fp64 pairwise strided kahan neumaier promote splitk chunk block");
  for (size_t i = 0; i < hu_preset_count(); i++)
    if (hu_preset_at(&p, i) == HU_OK) suggest_offer(s, p.name);
}

char *hu_name_hint(char text[HU_HINT_MAX], const char *rest, unsigned offered, const char *otherwise) {
  char name[SUGGEST_WORD], small[SUGGEST_WORD], said[SUGGEST_MAX];
  suggest s;
  size_t n = strcspn(rest, ",;:()* ");
  snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), rest);
  for (n = 0; n < sizeof name; n++) small[n] = (char)(name[n] >= 'A' && name[n] <= 'Z' ? name[n] - 'A' + 'a' : name[n]);
  suggest_start(&s, small);
  offer_formats(&s);
  if (offered & HU_HINT_TENSORS) offer_tensors(&s);
  if (offered & HU_HINT_MODELS) offer_models(&s);
  snprintf(text, HU_HINT_MAX, "the name '%s' is unknown%s", name, suggest_end(said, &s, otherwise));
  return text;
}
