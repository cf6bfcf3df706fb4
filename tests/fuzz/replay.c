/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target without libFuzzer: every seed, the files of a corpus directory among them, then N inputs made from
 * them by a generator with a printed seed. usage: replay CORPUS N [SEED]; replay CORPUS --write FOLDER puts the seeds
 * there, for libFuzzer. A corpus that is not there has no files. Exit 0, or the target aborts. */
#include <dirent.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 16384, FILES_MAX = 1024 };

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

/* A seed once for every step, or for the one. Returns how many there are then. */
static size_t add(input *files, size_t count, const uint8_t *data, size_t size, size_t first, size_t end) {
  for (size_t step = first; step < end && count < FILES_MAX; step++) {
    input *x = &files[count];
    x->size = 0;
    if (fuzz_steps) x->data[x->size++] = (uint8_t)step;
    if (size > INPUT_MAX - 1) continue;
    memcpy(x->data + x->size, data, size);
    x->size += size;
    count++;
  }
  return count;
}

/* By name, so that a seed means the same inputs everywhere. */
static size_t load(input *files, const char *folder) {
  struct dirent **entries = NULL;
  int n = scandir(folder, &entries, visible, alphasort);
  size_t count = 0, steps = fuzz_steps ? fuzz_steps() : 1, size;
  for (size_t step = 0; fuzz_steps && step < steps; step++) {
    const uint8_t *seed = fuzz_seed(step, &size);
    if (seed) count = add(files, count, seed, size, step, step + 1);
  }
  for (int i = 0; i < n; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    FILE *file = fopen(path, "rb");
    if (file) {
      static uint8_t data[INPUT_MAX];
      size = fread(data, 1, INPUT_MAX, file);
      count = add(files, count, data, size, 0, steps);
      fclose(file);
    }
    free(entries[i]);
  }
  free(entries);
  return count;
}

static int write_all(const input *files, size_t count, const char *folder) {
  for (size_t i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%zu", folder, i);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(files[i].data, 1, files[i].size, out) != files[i].size || fclose(out)) return perror(path), 2;
  }
  return 0;
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 20240817, state = seed;
  unsigned long inputs = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  input *files = malloc(FILES_MAX * sizeof *files), *x = malloc(sizeof *x);
  if (argc < 3 || !files || !x) return fprintf(stderr, "usage: %s CORPUS N [SEED]\n", argv[0]), 2;
  char *corpus = realpath(argv[1], NULL); /* targets may go to a folder of their own */
  size_t count = load(files, corpus ? corpus : argv[1]);
  free(corpus);
  if (!count) return fprintf(stderr, "%s: no corpus\n", argv[1]), 2;
  if (!strcmp(argv[2], "--write")) return argc == 4 ? write_all(files, count, argv[3]) : 2;
  printf("%zu seeds, %lu inputs, seed %llu\n", count, inputs, (unsigned long long)seed);
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
