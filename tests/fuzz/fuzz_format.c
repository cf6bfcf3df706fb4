/* SPDX-License-Identifier: MIT */
/* hu_format_parse over any text: an accepted descriptor is valid and its text gives it back; a refused text leaves the
 * output alone and the offset inside the text. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "halfulp/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hu_format f, untouched;
  size_t where = (size_t)-1;
  char *text = malloc(size + 1);
  FUZZ_CHECK(text != NULL);
  if (size) memcpy(text, data, size);
  text[size] = 0;
  memset(&f, 0x5A, sizeof f);
  untouched = f;
  hu_status status = hu_format_parse(&f, text, &where);
  if (status == HU_OK) {
    char canonical[HU_FORMAT_TEXT_MAX];
    hu_format again;
    FUZZ_CHECK(hu_format_check(f, NULL) == HU_OK);
    size_t n = hu_format_text(canonical, sizeof canonical, f);
    FUZZ_CHECK(n > 0 && n < sizeof canonical && strlen(canonical) == n);
    FUZZ_CHECK(hu_format_parse(&again, canonical, NULL) == HU_OK && hu_format_equal(f, again));
  } else {
    FUZZ_CHECK(status == HU_E_TEXT || status == HU_E_NAME || status == HU_E_FORMAT);
    FUZZ_CHECK(memcmp(&f, &untouched, sizeof f) == 0);
    FUZZ_CHECK(where <= strlen(text));
  }
  free(text);
  return 0;
}
