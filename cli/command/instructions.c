/* SPDX-License-Identifier: MIT */
/* `halfulp verify --only instructions`. See instructions.h. */
#include "cli/command/instructions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/device.h"
#include "cli/base/io.h"
#include "cli/processor/processor.h"
#include "cli/vectors/dot_line.h"
#include "cli/verify/probe.h"
#include "halfulp/scalar.h"

enum { SHOWN_MAX = 5 };

/* Whose instructions: how one is found and run (halfulp/device.h). nan_kinds: 1: its NaN depend on the operands, and
 * any one is as good as the model's. */
typedef struct probe_source {
  const char *what; /* as the output calls it */
  hu_status (*at)(hu_device_mma *mma, size_t i);
  hu_status (*run)(size_t i, size_t tiles, void *d, const void *a, const void *b, const void *c);
  int nan_kinds;
} probe_source;
static const probe_source of_processor = {"processor", processor_mma_at, processor_mma_run, 1};
static const probe_source of_device = {"device", hu_device_mma_at, hu_device_mma_run, 0};

static const probe_source *source_of(const instructions_asked *s) { return s->cuda ? &of_device : &of_processor; }

/* ---- one instruction ---- */

static void print_codes(const uint8_t *x, size_t n, hu_element e) {
  size_t size = hu_element_size(e);
  for (size_t i = 0; i < n; i++) printf("%0*llx", (int)size * 2, (unsigned long long)cli_get_pattern(x, i, size));
}

static void tell(const probe_run *t, const char *what, size_t tile, size_t i, size_t j, const uint8_t *model) {
  const hu_device_mma *x = &t->mma;
  size_t size = hu_element_size(x->a), wide = hu_element_size(x->c), at = (tile * x->m + i) * x->n + j;
  printf("    ");
  print_codes(t->a + (tile * x->m + i) * x->k * size, x->k, x->a);
  putchar(' ');
  print_codes(t->b + (tile * x->n + j) * x->k * size, x->k, x->b);
  putchar(' ');
  print_codes(t->c + at * wide, 1, x->c);
  printf("  %s ", what);
  print_codes(t->d + at * wide, 1, x->c);
  printf(", model ");
  print_codes(model, 1, x->c);
  putchar('\n');
}

/* Returns 1 if the pattern at x, of binary64 or of a format that binary32 holds, is a NaN. */
static int is_nan(const uint8_t *x, hu_element e) {
  const uint64_t pattern = cli_get_pattern(x, 0, hu_element_size(e));
  if (e.kind == HU_ELEMENT_BINARY64) return pattern << 1 > (uint64_t)0x7FF << 53;
  return e.kind == HU_ELEMENT_CODE && isnan(hu_decode(e.format, (uint32_t)pattern));
}

static int agrees(const probe_run *t, const probe_source *source, size_t tile, size_t i, size_t j,
                  const uint8_t *model) {
  if (probe_same(t, tile, i, j, model)) return 1;
  const hu_element e = t->mma.c;
  const uint8_t *d = t->d + ((tile * t->mma.m + i) * t->mma.n + j) * hu_element_size(e);
  return source->nan_kinds && is_nan(d, e) && is_nan(model, e);
}

/* Runs the tiles and compares every element. */
static int run_tiles(probe_run *t, const probe_source *source) {
  hu_status s = source->run(t->number, t->tiles, t->d, t->a, t->b, t->c);
  if (s != HU_OK) return cli_fail_status(t->mma.instruction, s);
  for (size_t tile = 0; tile < t->tiles; tile++) {
    for (size_t i = 0; i < t->mma.m; i++) {
      for (size_t j = 0; j < t->mma.n; j++) {
        uint8_t model[8];
        s = probe_model(t, tile, i, j, model);
        if (s != HU_OK) return cli_fail_status(t->mma.model, s);
        t->compared++;
        if (agrees(t, source, tile, i, j, model)) continue;
        if (t->different++ < SHOWN_MAX && !t->quiet) tell(t, source->what, tile, i, j, model);
      }
    }
  }
  return CLI_OK;
}

/* Draws a pattern of an element that has no format: any integer, every fourth one of 32 bits near the ends of its
 * range; mostly a binary64 number near 1, in magnitude. */
static uint64_t draw_pattern(hu_element e, hu_stream words, uint64_t i) {
  const uint64_t x = (uint64_t)hu_stream_word(words, 2 * i) << 32 | hu_stream_word(words, 2 * i + 1);
  const uint64_t field = 1023 - 32 + (x >> 52 & 63);
  if (e.kind == HU_ELEMENT_BINARY64) return x % 8 ? (x & 0x800FFFFFFFFFFFFFu) | field << 52 : x;
  if (e.kind == HU_ELEMENT_S32 && x >> 62 == 0) return 0x7FFF0000u + (x & 0x1FFFF);
  return x & (UINT64_MAX >> (64 - 8 * hu_element_size(e)));
}

static void draw_patterns(uint8_t *x, size_t n, hu_element e, hu_stream words) {
  for (size_t i = 0; i < n; i++) cli_put_pattern(x, i, hu_element_size(e), draw_pattern(e, words, i));
}

/* Draws operands of tile `tile`, the same for the same key and `at`. */
static void draw(probe_run *t, size_t tile, uint64_t key, uint64_t at) {
  const hu_device_mma *x = &t->mma;
  if (x->a.kind == HU_ELEMENT_CODE) {
    probe_draw(t, tile, key, at);
    return;
  }
  const size_t of_a = x->m * x->k, of_b = x->n * x->k, of_c = x->m * x->n;
  const hu_stream words[3] = {{key, 3 * at << 16}, {key, (3 * at + 1) << 16}, {key, (3 * at + 2) << 16}};
  draw_patterns(t->a + tile * of_a * hu_element_size(x->a), of_a, x->a, words[0]);
  draw_patterns(t->b + tile * of_b * hu_element_size(x->b), of_b, x->b, words[1]);
  draw_patterns(t->c + tile * of_c * hu_element_size(x->c), of_c, x->c, words[2]);
}

static int run_random(probe_run *t, const instructions_asked *s) {
  uint64_t left = (s->samples + t->mma.m * t->mma.n - 1) / (t->mma.m * t->mma.n), done = 0;
  int status = CLI_OK;
  while (left && status == CLI_OK) {
    t->tiles = left < t->room ? (size_t)left : t->room;
    for (size_t tile = 0; tile < t->tiles; tile++) draw(t, tile, s->seed, done + tile);
    status = run_tiles(t, source_of(s));
    done += t->tiles;
    left -= t->tiles;
  }
  return status;
}

/* ---- golden vectors: each in all rows and columns of a tile, K after K ---- */

static int run_line(probe_run *t, const probe_source *source, char *const *word) {
  const char *a = word[PROBE_A], *b = word[PROBE_B], *c_text = word[PROBE_C], *d = word[PROBE_D];
  size_t digits = hu_element_size(t->mma.a) * 2, wide = hu_element_size(t->mma.c), n = strlen(a) / digits;
  uint64_t c = strcmp(c_text, "-") ? strtoull(c_text, NULL, 16) : 0, want = strtoull(d, NULL, 16);
  if (n == 0 || n % t->mma.k) return CLI_OK; /* another instruction's length */
  t->tiles = 1;
  for (size_t e = 0; e < t->mma.m * t->mma.n; e++) cli_put_pattern(t->c, e, wide, c);
  for (size_t k0 = 0; k0 < n; k0 += t->mma.k) {
    probe_fill(t, a + k0 * digits, b + k0 * digits);
    int status = run_tiles(t, source);
    if (status) return status;
    memcpy(t->c, t->d, t->mma.m * t->mma.n * wide);
  }
  for (size_t e = 0; e < t->mma.m * t->mma.n && strcmp(d, "nan"); e++) {
    if (cli_get_pattern(t->d, e, wide) == want) continue;
    if (!t->off_golden++ && !t->quiet)
      printf("    golden %s %s %s: %s, device %0*llx\n", a, b, c_text, d, (int)wide * 2,
             (unsigned long long)cli_get_pattern(t->d, e, wide));
  }
  t->lines++;
  return CLI_OK;
}

static int run_golden(probe_run *t, const probe_source *source, const char *path) {
  cli_lines lines;
  char *word[PROBE_WORDS];
  int next, status = cli_lines_open(&lines, path);
  if (status) return CLI_BAD;
  while (status == CLI_OK && (next = cli_lines_next(&lines)) != 0) {
    if (next < 0) {
      status = -next;
    } else if (lines.line[0] != '#') {
      if (cli_split(lines.line, word, PROBE_WORDS) != PROBE_WORDS)
        status = cli_lines_fail(&lines, "not a line of a golden file");
      else if (!strcmp(word[PROBE_MODEL], t->mma.model) && !strcmp(word[PROBE_SA], "-"))
        status = run_line(t, source, word);
    }
  }
  cli_lines_close(&lines);
  return status;
}

/* ---- all of them ---- */

static int wanted(const char *model, char **names, int count) {
  for (int i = 0; i < count; i++)
    if (strstr(model, names[i])) return 1;
  return count == 0;
}

static int run_one(probe_run *t, const instructions_asked *s, const char *path) {
  int status = probe_run_start(t);
  if (status == CLI_OK && path) status = run_golden(t, source_of(s), path);
  uint64_t golden = t->compared;
  if (status == CLI_OK) status = run_random(t, s);
  if (status == CLI_OK && t->quiet) {
    printf("{\"id\": \"%s\", \"instruction\": \"%s\", \"agrees\": %s, ", t->mma.model, t->mma.instruction,
           t->different || t->off_golden ? "false" : "true");
    printf("\"golden_vectors\": %llu, \"golden_places\": %llu, \"random\": %llu, \"differing\": %llu}",
           (unsigned long long)t->lines, (unsigned long long)golden, (unsigned long long)(t->compared - golden),
           (unsigned long long)(t->different + t->off_golden));
  } else if (status == CLI_OK) {
    printf("%-30s %-20s %s: golden %llu vectors in %llu places, random %llu dot products, %llu differ\n", t->mma.model,
           t->mma.instruction, t->different || t->off_golden ? "DIFFERS" : "agrees", (unsigned long long)t->lines,
           (unsigned long long)golden, (unsigned long long)(t->compared - golden),
           (unsigned long long)(t->different + t->off_golden));
  }
  probe_run_end(t);
  return status;
}

/* Runs an instruction that no preset models. */
static void run_check(const processor_check *x, processor_tally *t) {
  x->run(t);
  if (t->quiet) {
    printf("{\"id\": \"%s\", \"instruction\": \"%s\", \"agrees\": %s, \"golden_vectors\": 0, ", x->id, x->instruction,
           t->different ? "false" : "true");
    printf("\"golden_places\": 0, \"random\": %llu, \"differing\": %llu}", (unsigned long long)t->compared,
           (unsigned long long)t->different);
  } else {
    printf("%-30s %-20s %s: %llu results, %llu differ\n", x->id, x->instruction, t->different ? "DIFFERS" : "agrees",
           (unsigned long long)t->compared, (unsigned long long)t->different);
  }
}

/* Prints what stands before an instruction's object: the head of it all, or a comma. */
static void json_next(int shown, const char *device, const char *versions, const char *path) {
  if (shown) {
    printf(",\n ");
    return;
  }
  printf("{\"device\": ");
  cli_json_string(stdout, device);
  printf(", \"versions\": ");
  cli_json_string(stdout, versions);
  printf(", \"golden\": ");
  if (path)
    cli_json_string(stdout, path);
  else
    printf("null");
  printf(", \"instructions\": [\n ");
}

/* Before each line, or object: what the whole output begins with. */
static void begin(int shown, const instructions_asked *s, const char *name, const char *versions, const char *path) {
  if (s->json) {
    json_next(shown, name, versions, path);
  } else if (!shown) {
    printf("%s: %s%s%s\ngolden vectors: %s\n", source_of(s)->what, name, *versions ? ", " : "", versions,
           path ? path : "none");
  }
}

int cli_verify_instructions(const instructions_asked *s, char **names, int count) {
  char name[CLI_DEVICE_MAX], versions[128] = "", path[4096];
  int shown = 0, differ = 0, status = CLI_OK;
  if (!s->cuda) {
    processor_name(name);
  } else if (!cli_device_ask(name)) {
    return cli_fail("verify", "%s", name);
  }
  snprintf(path, sizeof path, "%s/mma/probes.txt", s->golden ? s->golden : HU_CLI_GOLDEN);
  FILE *there = fopen(path, "r");
  if (!there && s->golden) return cli_fail(path, "cannot be read");
  if (there) fclose(there);
  setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is stopped keeps its lines */
  for (size_t i = 0; status == CLI_OK; i++) {
    probe_run t = {.number = i, .quiet = s->json};
    hu_status next = source_of(s)->at(&t.mma, i);
    if (next == HU_E_NAME || (next == HU_E_DEVICE && i == 0)) break;
    if (next != HU_OK) return cli_fail_status("verify", next);
    if (!wanted(t.mma.model, names, count)) continue;
    if (s->cuda) hu_device_versions(versions, sizeof versions);
    begin(shown++, s, name, versions, there ? path : NULL);
    status = run_one(&t, s, there ? path : NULL);
    differ |= t.different || t.off_golden;
  }
  const processor_check *check;
  for (size_t i = 0; status == CLI_OK && !s->cuda && (check = processor_check_at(i)); i++) {
    processor_tally t = {.count = s->samples, .key = s->seed, .quiet = s->json};
    if (!wanted(check->id, names, count)) continue;
    begin(shown++, s, name, versions, there ? path : NULL);
    run_check(check, &t);
    differ |= t.different > 0;
  }
  if (shown && s->json) printf("\n]}\n");
  if (status != CLI_OK) return status;
  if (!shown) return cli_fail("verify", "%s has no instruction of such a model", name);
  return differ ? CLI_DIFFERENT : CLI_OK;
}
