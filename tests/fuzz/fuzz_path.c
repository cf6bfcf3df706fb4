/* SPDX-License-Identifier: MIT */
/* The texts of halfulp/path.h, and chains of roundings: an accepted one is computed, a refused one leaves the output
 * alone and the offset inside the text. The first letter says which of the three it is. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "halfulp/path.h"

static void refused(hu_status status, const void *now, const void *before, size_t size, size_t where,
                    const char *text) {
  FUZZ_CHECK(status == HU_E_TEXT || status == HU_E_NAME || status == HU_E_FORMAT || status == HU_E_CARRIER ||
             status == HU_E_MODE);
  FUZZ_CHECK(memcmp(now, before, size) == 0);
  FUZZ_CHECK(where <= strlen(text));
}

static void try_path(const char *text) {
  hu_path path, untouched;
  hu_path_rule rule;
  size_t where = (size_t)-1;
  const char *why = NULL;
  uint32_t code[HU_PATH_OPERANDS] = {0}, z = 0;
  hu_view x[HU_PATH_OPERANDS];
  memset(&path, 0x5A, sizeof path);
  untouched = path;
  hu_status status = hu_path_parse(&path, text, &where, &why);
  FUZZ_CHECK(why != NULL);
  if (status != HU_OK) {
    refused(status, &path, &untouched, sizeof path, where, text);
    return;
  }
  FUZZ_CHECK(hu_path_rule_parse(&rule, "fma", NULL) == HU_OK);
  for (int i = 0; i < HU_PATH_OPERANDS; i++) x[i] = hu_codes(&code[i], 1, path.format);
  hu_output to = hu_codes_out(&z, 1, path.result.format);
  FUZZ_CHECK(hu_path_apply(1, &to, x, &path, &rule, NULL) == HU_OK);
}

static void try_rule(const char *text) {
  char canonical[HU_PATH_RULE_TEXT_MAX];
  hu_path_rule rule, again;
  size_t where = (size_t)-1;
  memset(&rule, 0x5A, sizeof rule);
  again = rule;
  hu_status status = hu_path_rule_parse(&rule, text, &where);
  if (status != HU_OK) {
    refused(status, &rule, &again, sizeof rule, where, text);
    return;
  }
  size_t n = hu_path_rule_text(canonical, sizeof canonical, &rule);
  FUZZ_CHECK(n > 0 && n < sizeof canonical && strlen(canonical) == n);
  FUZZ_CHECK(hu_path_rule_parse(&again, canonical, NULL) == HU_OK && memcmp(&rule, &again, sizeof rule) == 0);
}

static void try_chain(const char *text) {
  hu_conversion chain, untouched;
  size_t where = (size_t)-1;
  memset(&chain, 0x5A, sizeof chain);
  untouched = chain;
  hu_status status = hu_conversion_parse(&chain, text, &where);
  if (status != HU_OK)
    refused(status, &chain, &untouched, sizeof chain, where, text);
  else
    FUZZ_CHECK(hu_conversion_check(&chain) == HU_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  FUZZ_CHECK(text != NULL);
  if (size) memcpy(text, data, size);
  text[size] = 0;
  if (*text == 'r')
    try_rule(text + 1);
  else if (*text == 'c')
    try_chain(text + 1);
  else
    try_path(text);
  free(text);
  return 0;
}
