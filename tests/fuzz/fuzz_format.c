/* SPDX-License-Identifier: MIT */
/* hu_format_parse over any text: an accepted descriptor is valid and its text gives it back; a refused text leaves the
 * output alone and the offset inside the text. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "halfulp/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hu_format format, untouched;
  size_t where = (size_t)-1;
  char *text = malloc(size + 1);
  FUZZ_CHECK(text != NULL);
  if (size) memcpy(text, data, size);
  text[size] = 0;
  memset(&format, 0x5A, sizeof format);
  untouched = format;
  hu_status status = hu_format_parse(&format, text, &where);
  if (status == HU_OK) {
    char canonical[HU_FORMAT_TEXT_MAX];
    hu_format again;
    FUZZ_CHECK(hu_format_check(format, NULL) == HU_OK);
    size_t n = hu_format_text(canonical, sizeof canonical, format);
    FUZZ_CHECK(n > 0 && n < sizeof canonical && strlen(canonical) == n);
    FUZZ_CHECK(hu_format_parse(&again, canonical, NULL) == HU_OK && hu_format_equal(format, again));
  } else {
    FUZZ_CHECK(status == HU_E_TEXT || status == HU_E_NAME || status == HU_E_FORMAT);
    FUZZ_CHECK(memcmp(&format, &untouched, sizeof format) == 0);
    FUZZ_CHECK(where <= strlen(text));
  }
  free(text);
  return 0;
}
