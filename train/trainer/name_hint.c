/* SPDX-License-Identifier: MIT */
/* Finds the name that was likely meant where a rounding, a format or a model has an unknown name. */
#include <stdio.h>
#include <string.h>

#include "files/suggest.h"
#include "halfulp/accum.h"
#include "halfulp/number.h"
#include "halfulp/scaled.h"
#include "train/trainer/keys.h"

typedef struct name_search {
  suggest suggested;
  const char *refused; /* which is not what was meant, though there may be such a name */
} name_search;

static void offer(name_search *search, const char *word) {
  if (strcmp(word, search->refused) != 0) suggest_offer(&search->suggested, word);
}

static void offer_all(name_search *search, const char *const *words) {
  for (; *words; words++) offer(search, *words);
}

static void offer_formats(name_search *search) {
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    offer(search, entry.id);
    suggest_offer_all(&search->suggested, entry.aliases);
  }
}

static void offer_tensors(name_search *search) {
  static const char *const words[] = {"keep", "s2fp8", NULL};
  offer_all(search, words);
  for (size_t i = 0; i < hu_scaling_count(); i++) offer(search, hu_scaling_at(i).name);
  for (size_t i = 0; i < hu_number_count(); i++) offer(search, hu_number_at(i).name);
}

static void offer_models(name_search *search) {
  static const char *const words[] = {"exact", "fp32", "fp64", "pairwise", "strided", "kahan", "neumaier", NULL};
  hu_accum_preset preset;
  offer_all(search, words);
  for (size_t i = 0; i < hu_accum_preset_count(); i++)
    if (hu_accum_preset_at(&preset, i) == HU_OK) offer(search, preset.name);
}

/* "fp8", "e4m3", "bf8": several things go by such words, and the one that is spelt most alike is as likely another. */
static int is_short_number(const char *word) { return strlen(word) < 5 && strpbrk(word, "0123456789") != NULL; }

static int is_format(const char *word) {
  hu_format format;
  return hu_format_parse(&format, word, NULL) == HU_OK;
}

char *hui_name_hint(char text[HU_HINT_MAX], const char *rest, unsigned offered, const char *otherwise) {
  char name[SUGGEST_WORD], small[SUGGEST_WORD], said[SUGGEST_MAX];
  name_search search = {.refused = name};
  size_t n = strcspn(rest, ",;:()* ");
  snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), rest);
  for (n = 0; name[n]; n++) small[n] = (char)(name[n] >= 'A' && name[n] <= 'Z' ? name[n] - 'A' + 'a' : name[n]);
  small[n] = 0;
  suggest_start(&search.suggested, small);
  int known = is_format(name) && !(offered & HU_HINT_FORMATS); /* a format, where none can stand */
  if (!is_short_number(small) && !known) {
    if (offered & HU_HINT_FORMATS) offer_formats(&search);
    if (offered & HU_HINT_TENSORS) offer_tensors(&search);
    if (offered & HU_HINT_MODELS) offer_models(&search);
  }
  snprintf(text, HU_HINT_MAX, known ? "'%s' is a format%s" : "the name '%s' is unknown%s", name,
           suggest_end(said, &search.suggested, otherwise));
  return text;
}
