/* SPDX-License-Identifier: MIT */
/* tests/gen/generate.c - writes the golden files that are stored into a folder, with --all the texts with all their
 * lines instead: generate [--all] DIRECTORY. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/gen/golden.h"

static int write_text(const char *directory, size_t i, int all) {
  char path[4096];
  t_text text = {NULL, 0, 0};
  snprintf(path, sizeof path, "%s/%s", directory, golden_name(i));
  golden_make(i, !all, &text);
  FILE *file = fopen(path, "wb");
  int written = file != NULL && fwrite(text.at, 1, text.n, file) == text.n;
  if (file != NULL && fclose(file) != 0) written = 0;
  if (!written) perror(path);
  if (written) printf("%s: %zu bytes\n", path, text.n);
  text_free(&text);
  return written;
}

int main(int argc, char **argv) {
  int all = argc == 3 && strcmp(argv[1], "--all") == 0;
  const char *directory = argv[argc - 1];
  if (argc != 2 + all) {
    fprintf(stderr, "usage: generate [--all] DIRECTORY\n");
    return 2;
  }
  if (all) mkdir(directory, 0777); /* where that fails, no file can be written */
  for (size_t i = 0; i < golden_count(); i++)
    if ((all ? golden_kind(i) != GOLDEN_DIGESTS : golden_stored(i)) && !write_text(directory, i, all)) return 1;
  return 0;
}
