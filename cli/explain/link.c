/* SPDX-License-Identifier: MIT */
/* See link.h. */
#include "cli/explain/link.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* Finds the page beside this program: 1 and its path, or 0. */
static int page_beside(char path[PATH_SIZE]) {
  static const char *const places[] = {"/../docs/html/playground.html", "/../share/doc/halfulp/html/playground.html",
                                       "/../share/doc/halfulp-doc/html/playground.html"};
  char program[PATH_SIZE / 2];
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  char *slash = n > 0 ? (program[n] = 0, strrchr(program, '/')) : NULL;
  if (!slash) return 0;
  *slash = 0;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    char *real = NULL;
    snprintf(path, PATH_SIZE, "%s%s", program, places[i]);
    if (access(path, R_OK) == 0) real = realpath(path, NULL);
    if (!real) continue;
    snprintf(path, PATH_SIZE, "%s", real);
    free(real);
    return 1;
  }
  return 0;
}

/* Writes letters, digits and what a path or a value may hold as they are; returns 0 where the buffer is too small. */
static size_t encode(char *z, size_t size, const char *text, const char *plain) {
  size_t at = 0;
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    int keep = isalnum(c) || strchr(plain, c) != NULL;
    if (at + 4 > size) return 0;
    at += (size_t)snprintf(z + at, size - at, keep ? "%c" : "%%%02X", c);
  }
  return at;
}

void link_begin(char link[LINK_MAX], const char *tab, int *found) {
  const char *given = getenv("HALFULP_PLAYGROUND");
  char path[PATH_SIZE];
  *found = 1;
  if (given && *given) {
    snprintf(link, LINK_MAX, "%s", given);
  } else if (page_beside(path)) {
    size_t n = (size_t)snprintf(link, LINK_MAX, "file://");
    if (!encode(link + n, LINK_MAX / 2, path, "/-_.~+")) *found = 0;
  } else {
    *found = 0;
  }
  if (!*found) snprintf(link, LINK_MAX, "playground.html");
  size_t n = strlen(link);
  snprintf(link + n, LINK_MAX - n, "#tab=%s", tab);
}

void link_add(char link[LINK_MAX], const char *key, const char *value) {
  size_t n = strlen(link), k = strlen(key) + 2;
  if (!value || n + k + 1 >= LINK_MAX) return;
  snprintf(link + n, LINK_MAX - n, "&%s=", key);
  if (*value && !encode(link + n + k, LINK_MAX - n - k, value, "-_.~")) link[n] = 0;
}
