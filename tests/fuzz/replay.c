/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target without libFuzzer: every file of a corpus directory, then N inputs made from them by a generator
 * with a printed seed. usage: replay CORPUS N [SEED]. Exit 0, or the target aborts. */
#include <dirent.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 4096, FILES_MAX = 1024 };

typedef struct input {
  size_t size;
  uint8_t data[INPUT_MAX];
} input;

static uint64_t next(uint64_t *state) {
  *state += 0x9E3779B97F4A7C15u;
  uint64_t z = *state;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t n) { return n ? (size_t)(next(state) % n) : 0; }

static void insert(input *x, size_t at, const uint8_t *data, size_t n) {
  if (x->size + n > INPUT_MAX) return;
  memmove(x->data + at + n, x->data + at, x->size - at);
  memcpy(x->data + at, data, n);
  x->size += n;
}

static void mutate(input *x, const input *other, uint64_t *state) {
  static const char *const pieces[] = {
      "0",         "9999999999", "-",   ",",   "'",        "(",   ")",  "}", "{", "\xff", ":",
      "e",         "p",          "inf", "nan", "unsigned", "fp(", "0x", ".", " ", "\n",   "18446744073709551616",
      "zero=none", "1e-400"};
  uint8_t byte = (uint8_t)next(state);
  size_t at = below(state, x->size + 1), n;
  const char *piece = pieces[below(state, sizeof pieces / sizeof pieces[0])];
  switch (below(state, 7)) {
    case 0:
      if (at < x->size) x->data[at] = byte;
      break;
    case 1:
      if (at < x->size) x->data[at] ^= (uint8_t)(1u << (byte & 7));
      break;
    case 2: insert(x, at, &byte, 1); break;
    case 3: insert(x, at, (const uint8_t *)piece, strlen(piece)); break;
    case 4: x->size = at; break;
    case 5:
      n = below(state, x->size - at + 1);
      memmove(x->data + at, x->data + at + n, x->size - at - n);
      x->size -= n;
      break;
    default: n = below(state, other->size + 1); insert(x, at, other->data + (other->size - n), n);
  }
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* By name, so that a seed means the same inputs everywhere. */
static size_t load(input *files, const char *folder) {
  struct dirent **entries = NULL;
  int n = scandir(folder, &entries, visible, alphasort);
  size_t count = 0;
  for (int i = 0; i < n; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    FILE *file = count < FILES_MAX ? fopen(path, "rb") : NULL;
    if (file) {
      files[count].size = fread(files[count].data, 1, INPUT_MAX, file);
      count++;
      fclose(file);
    }
    free(entries[i]);
  }
  free(entries);
  return count;
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 20240817, state = seed;
  unsigned long inputs = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  input *files = malloc(FILES_MAX * sizeof *files), *x = malloc(sizeof *x);
  if (argc < 3 || !files || !x) return fprintf(stderr, "usage: %s CORPUS N [SEED]\n", argv[0]), 2;
  size_t count = load(files, argv[1]);
  if (!count) return fprintf(stderr, "%s: no corpus\n", argv[1]), 2;
  printf("%zu files, %lu inputs, seed %llu\n", count, inputs, (unsigned long long)seed);
  fflush(stdout);
  for (size_t i = 0; i < count; i++) LLVMFuzzerTestOneInput(files[i].data, files[i].size);
  for (unsigned long i = 0; i < inputs; i++) {
    *x = files[below(&state, count)];
    for (size_t changes = 1 + below(&state, 4); changes; changes--) mutate(x, &files[below(&state, count)], &state);
    LLVMFuzzerTestOneInput(x->data, x->size);
  }
  free(files);
  free(x);
  return 0;
}
