/* SPDX-License-Identifier: MIT */
/* Draws cases, computes them by the library and by its second models, and prints them for evaluate.py (lines.h).
 *
 *   draw_cases PART COUNT NUMBER     PART: numbers, sums or systems; NUMBER: of the draw
 *
 * Ends with 1 where the library and a second model differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/spec/lines.h"

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*draw)(t_random *random, unsigned long count);
  } parts[] = {{"numbers", draw_numbers}, {"sums", draw_sums}, {"systems", draw_systems}};
  for (size_t i = 0; argc == 4 && i < sizeof parts / sizeof *parts; i++) {
    if (strcmp(argv[1], parts[i].name) != 0) continue;
    t_random random = t_random_of(sizeof parts / sizeof *parts * strtoull(argv[3], NULL, 0) + i);
    parts[i].draw(&random, strtoul(argv[2], NULL, 10));
    return fflush(stdout) != 0;
  }
  fprintf(stderr, "usage: draw_cases numbers|sums|systems COUNT NUMBER\n");
  return 2;
}
