/* SPDX-License-Identifier: MIT */
/* Prints the values of all codes of formats. A line has a code, a blank, and the value as float.hex() of Python has it.
 *
 * usage: print_tables FORMAT...    a table ends with an empty line; exit code 2: no such format */
#include <math.h>
#include <stdio.h>

#include "halfulp/format.h"
#include "halfulp/scalar.h"

static void print_value(uint32_t code, double value) {
  if (value != value) {
    printf("%u nan\n", code);
  } else if (isinf(value)) {
    printf("%u %sinf\n", code, value < 0 ? "-" : "");
  } else if (value == 0) {
    printf("%u %s0x0.0p+0\n", code, signbit(value) ? "-" : "");
  } else {
    printf("%u %.13a\n", code, value);
  }
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    hu_format format;
    if (hu_format_parse(&format, argv[i], NULL) != HU_OK) {
      fprintf(stderr, "print_tables: no format %s\n", argv[i]);
      return 2;
    }
    for (uint32_t code = 0; code < (uint32_t)1 << hu_limits_of(format).width; code++)
      print_value(code, hu_decode64(format, code));
    printf("\n");
  }
  return 0;
}
