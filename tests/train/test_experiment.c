/* SPDX-License-Identifier: MIT */
/* Every experiment: its claims hold, and its weights are those of the golden file, bit for bit.
 *
 *   test_experiment DATA GOLDEN     or, to write the golden file:  test_experiment DATA > GOLDEN */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "halfulp/train/data.h"
#include "halfulp/train/experiment.h"

enum { LINES_MAX = 200, LINE_MAX = 160 };
static char lines[LINES_MAX][LINE_MAX];
static size_t count, used;

static int read_lines(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  while (count < LINES_MAX && fgets(lines[count], LINE_MAX, f)) {
    lines[count][strcspn(lines[count], "\n")] = 0;
    if (lines[count][0] != '#') count++;
  }
  fclose(f);
  return count > 0;
}

/* The line of a run is the next one of the file. */
static int same(const char *line) {
  if (used < count && strcmp(lines[used], line) == 0) {
    used++;
    return 1;
  }
  printf("FAIL: got\n  %s\ninstead of\n  %s\n", line, used < count ? lines[used] : "nothing");
  used++;
  return 0;
}

/* A name that nobody has, and a folder without digits. */
static int refusals(void) {
  hu_experiment_report r;
  char why[HU_DATA_WHY_MAX] = "";
  int good = hu_experiment_run(&r, "nothing", ".", NULL, NULL, why) == HU_E_NAME;
  good &= hu_experiment_run(&r, "s2fp8", "/nonexistent", NULL, NULL, why) == HU_E_FILE && strstr(why, "digits_images");
  good &= hu_experiment_run(NULL, "s2fp8", ".", NULL, NULL, why) == HU_E_NULL;
  good &= hu_experiment_at(hu_experiment_count()).name == NULL;
  if (!good) printf("FAIL: refusals\n");
  return good;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int good = refusals(), compare = argc > 2;
  if (compare && !read_lines(argv[2])) {
    printf("FAIL: %s: not there or empty\n", argv[2]);
    return 1;
  }
  if (!compare) printf("# Digests of the weights that each training run ends with: experiment, digest, run.\n");
  for (size_t i = 0; i < hu_experiment_count(); i++) {
    hu_experiment_report r;
    char why[HU_DATA_WHY_MAX] = "", line[LINE_MAX];
    const char *name = hu_experiment_at(i).name;
    hu_status s = hu_experiment_run(&r, name, argv[1], NULL, NULL, why);
    if (s != HU_OK) {
      printf("FAIL: %s: %s %s\n", name, hu_status_name(s), why);
      return 1;
    }
    for (size_t k = 0; k < r.rows; k++) {
      snprintf(line, sizeof line, "%s %016llx %s", name, (unsigned long long)r.row[k].digest, r.row[k].name);
      if (compare) {
        good &= same(line);
      } else {
        printf("%s\n", line);
      }
    }
    for (size_t k = 0; compare && k < r.claims; k++) {
      printf("%s: %s: %s\n", r.claim[k].holds ? "holds" : "FAIL", name, r.claim[k].text);
      good &= r.claim[k].holds;
    }
  }
  if (compare && used != count) {
    printf("FAIL: %zu lines, %zu runs\n", count, used);
    good = 0;
  }
  return good ? 0 : 1;
}
