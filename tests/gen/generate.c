/* SPDX-License-Identifier: MIT */
/* tests/gen/generate.c - writes the golden files: generate DIRECTORY. */
#include <stdio.h>

#include "tests/gen/golden.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: generate DIRECTORY\n");
    return 2;
  }
  for (size_t i = 0; i < golden_count(); i++) {
    char path[4096];
    text t = {NULL, 0, 0};
    snprintf(path, sizeof path, "%s/%s", argv[1], golden_name(i));
    golden_make(i, &t);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(t.at, 1, t.n, file) != t.n || fclose(file) != 0) {
      perror(path);
      return 1;
    }
    printf("%s: %zu bytes\n", path, t.n);
    text_free(&t);
  }
  return 0;
}
