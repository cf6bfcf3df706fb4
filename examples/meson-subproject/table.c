/* SPDX-License-Identifier: MIT */
/* The values of a small format, as a hardware designer has them on one page: ./table "fp(2,1,0):finite" */
#include <halfulp/halfulp.h>
#include <stdio.h>

int main(int argc, char **argv) {
  hu_format f;
  size_t where = 0;
  const char *text = argc > 1 ? argv[1] : "float4_e2m1fn";
  hu_status s = hu_format_parse(&f, text, &where);
  if (s != HU_OK) {
    fprintf(stderr, "%s: %s (at character %zu)\n", text, hu_status_text(s), where + 1);
    return 1;
  }
  hu_limits limits = hu_limits_of(f);
  if (limits.width > 8) {
    fprintf(stderr, "%s: %u bits are too many for a page\n", text, (unsigned)limits.width);
    return 1;
  }
  for (uint32_t code = 0; code < 1u << limits.width; code++) {
    printf("%02x %-12g%c", (unsigned)code, hu_decode64(f, code), code % 4 == 3 ? '\n' : ' ');
  }
  return 0;
}
