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
  hu_status (*run)(size_t i, size_t tiles, void *result, const void *a, const void *b, const void *c);
  int nan_kinds;
} probe_source;
static const probe_source of_processor = {"processor", processor_mma_at, processor_mma_run, 1};
static const probe_source of_device = {"device", hu_device_mma_at, hu_device_mma_run, 0};

static const probe_source *source_of(const instructions_asked *asked) {
  return asked->cuda ? &of_device : &of_processor;
}

/* ---- one instruction ---- */

static void print_codes(const uint8_t *x, size_t n, hu_type element) {
  size_t size = hu_type_size(element);
  for (size_t i = 0; i < n; i++) printf("%0*llx", (int)size * 2, (unsigned long long)cli_get_pattern(x, i, size));
}

static void print_difference(const probe_run *run, const char *what, size_t tile, size_t i, size_t j,
                             const uint8_t *model) {
  const hu_device_mma *mma = &run->mma;
  size_t size = hu_type_size(mma->a), wide = hu_type_size(mma->c), at = (tile * mma->m + i) * mma->n + j;
  printf("    ");
  print_codes(run->a + (tile * mma->m + i) * mma->k * size, mma->k, mma->a);
  putchar(' ');
  print_codes(run->b + (tile * mma->n + j) * mma->k * size, mma->k, mma->b);
  putchar(' ');
  print_codes(run->c + at * wide, 1, mma->c);
  printf("  %s ", what);
  print_codes(run->d + at * wide, 1, mma->c);
  printf(", model ");
  print_codes(model, 1, mma->c);
  putchar('\n');
}

/* Returns 1 if the pattern at x, of binary64 or of a format that binary32 holds, is a NaN. */
static int is_nan(const uint8_t *x, hu_type element) {
  const uint64_t pattern = cli_get_pattern(x, 0, hu_type_size(element));
  if (element.kind == HU_TYPE_BINARY64) return pattern << 1 > (uint64_t)0x7FF << 53;
  return element.kind == HU_TYPE_CODES && isnan(hu_decode(element.format, (uint32_t)pattern));
}

static int agrees(const probe_run *run, const probe_source *source, size_t tile, size_t i, size_t j,
                  const uint8_t *model) {
  if (probe_same(run, tile, i, j, model)) return 1;
  const hu_type element = run->mma.c;
  const uint8_t *result = run->d + ((tile * run->mma.m + i) * run->mma.n + j) * hu_type_size(element);
  return source->nan_kinds && is_nan(result, element) && is_nan(model, element);
}

/* Runs the tiles and compares every element. */
static int run_tiles(probe_run *run, const probe_source *source) {
  hu_status status = source->run(run->number, run->tiles, run->d, run->a, run->b, run->c);
  if (status != HU_OK) return cli_fail_status(run->mma.instruction, status);
  for (size_t tile = 0; tile < run->tiles; tile++) {
    for (size_t i = 0; i < run->mma.m; i++) {
      for (size_t j = 0; j < run->mma.n; j++) {
        uint8_t model[8];
        status = probe_model(run, tile, i, j, model);
        if (status != HU_OK) return cli_fail_status(run->mma.model, status);
        run->compared++;
        if (agrees(run, source, tile, i, j, model)) continue;
        if (run->different++ < SHOWN_MAX && !run->quiet) print_difference(run, source->what, tile, i, j, model);
      }
    }
  }
  return CLI_OK;
}

/* Draws a pattern of an element that has no format: any integer, every fourth one of 32 bits near the ends of its
 * range; mostly a binary64 number near 1, in magnitude. */
static uint64_t draw_pattern(hu_type element, hu_stream words, uint64_t i) {
  const uint64_t x = (uint64_t)hu_stream_word(words, 2 * i) << 32 | hu_stream_word(words, 2 * i + 1);
  const uint64_t field = 1023 - 32 + (x >> 52 & 63);
  if (element.kind == HU_TYPE_BINARY64) return x % 8 ? (x & 0x800FFFFFFFFFFFFFu) | field << 52 : x;
  if (element.kind == HU_TYPE_INT32 && x >> 62 == 0) return 0x7FFF0000u + (x & 0x1FFFF);
  return x & (UINT64_MAX >> (64 - 8 * hu_type_size(element)));
}

static void draw_patterns(uint8_t *x, size_t n, hu_type element, hu_stream words) {
  for (size_t i = 0; i < n; i++) cli_put_pattern(x, i, hu_type_size(element), draw_pattern(element, words, i));
}

/* Draws operands of tile `tile`, the same for the same key and `at`. */
static void draw(probe_run *run, size_t tile, uint64_t key, uint64_t at) {
  const hu_device_mma *mma = &run->mma;
  if (mma->a.kind == HU_TYPE_CODES) {
    probe_draw(run, tile, key, at);
    return;
  }
  const size_t of_a = mma->m * mma->k, of_b = mma->n * mma->k, of_c = mma->m * mma->n;
  const hu_stream words[3] = {{key, 3 * at << 16}, {key, (3 * at + 1) << 16}, {key, (3 * at + 2) << 16}};
  draw_patterns(run->a + tile * of_a * hu_type_size(mma->a), of_a, mma->a, words[0]);
  draw_patterns(run->b + tile * of_b * hu_type_size(mma->b), of_b, mma->b, words[1]);
  draw_patterns(run->c + tile * of_c * hu_type_size(mma->c), of_c, mma->c, words[2]);
}

static int run_random(probe_run *run, const instructions_asked *asked) {
  uint64_t left = (asked->samples + run->mma.m * run->mma.n - 1) / (run->mma.m * run->mma.n), done = 0;
  int status = CLI_OK;
  while (left && status == CLI_OK) {
    run->tiles = left < run->room ? (size_t)left : run->room;
    for (size_t tile = 0; tile < run->tiles; tile++) draw(run, tile, asked->seed, done + tile);
    status = run_tiles(run, source_of(asked));
    done += run->tiles;
    left -= run->tiles;
  }
  return status;
}

/* ---- golden vectors: each in all rows and columns of a tile, K after K ---- */

static int run_line(probe_run *run, const probe_source *source, char *const *word) {
  const char *a = word[PROBE_A], *b = word[PROBE_B], *c_text = word[PROBE_C], *d_text = word[PROBE_D];
  size_t digits = hu_type_size(run->mma.a) * 2, wide = hu_type_size(run->mma.c), n = strlen(a) / digits;
  uint64_t c = strcmp(c_text, "-") ? strtoull(c_text, NULL, 16) : 0, want = strtoull(d_text, NULL, 16);
  if (n == 0 || n % run->mma.k) return CLI_OK; /* another instruction's length */
  run->tiles = 1;
  for (size_t i = 0; i < run->mma.m * run->mma.n; i++) cli_put_pattern(run->c, i, wide, c);
  for (size_t k0 = 0; k0 < n; k0 += run->mma.k) {
    probe_fill(run, a + k0 * digits, b + k0 * digits);
    int status = run_tiles(run, source);
    if (status) return status;
    memcpy(run->c, run->d, run->mma.m * run->mma.n * wide);
  }
  for (size_t i = 0; i < run->mma.m * run->mma.n && strcmp(d_text, "nan"); i++) {
    if (cli_get_pattern(run->d, i, wide) == want) continue;
    if (!run->off_golden++ && !run->quiet)
      printf("    golden %s %s %s: %s, device %0*llx\n", a, b, c_text, d_text, (int)wide * 2,
             (unsigned long long)cli_get_pattern(run->d, i, wide));
  }
  run->lines++;
  return CLI_OK;
}

static int run_golden(probe_run *run, const probe_source *source, const char *path) {
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
      else if (!strcmp(word[PROBE_MODEL], run->mma.model) && !strcmp(word[PROBE_SA], "-"))
        status = run_line(run, source, word);
    }
  }
  cli_lines_close(&lines);
  return status;
}

/* ---- all of them ---- */

static int is_named(const char *model, char **names, int count) {
  for (int i = 0; i < count; i++)
    if (strstr(model, names[i])) return 1;
  return count == 0;
}

#define RESULT \
  "{'id': ?, 'instruction': ?, 'agrees': ?, 'golden_vectors': ?, 'golden_places': ?, 'random': ?, 'differing': ?}"

static int run_one(probe_run *run, const instructions_asked *asked, const char *path) {
  int status = probe_run_start(run);
  if (status == CLI_OK && path) status = run_golden(run, source_of(asked), path);
  uint64_t golden = run->compared;
  if (status == CLI_OK) status = run_random(run, asked);
  if (status == CLI_OK && run->quiet) {
    cli_json(stdout, RESULT, JSON(run->mma.model), JSON(run->mma.instruction),
             cli_truth(!run->different && !run->off_golden), JSON(run->lines), JSON(golden),
             JSON(run->compared - golden), JSON(run->different + run->off_golden));
  } else if (status == CLI_OK) {
    printf("%-30s %-20s %s: golden %llu vectors in %llu places, random %llu dot products, %llu differ\n",
           run->mma.model, run->mma.instruction, run->different || run->off_golden ? "DIFFERS" : "agrees",
           (unsigned long long)run->lines, (unsigned long long)golden, (unsigned long long)(run->compared - golden),
           (unsigned long long)(run->different + run->off_golden));
  }
  probe_run_end(run);
  return status;
}

/* Runs an instruction that no preset models. */
static void run_check(const processor_check *check, processor_tally *tally) {
  check->run(tally);
  if (tally->quiet) {
    cli_json(stdout, RESULT, JSON(check->id), JSON(check->instruction), cli_truth(!tally->different), JSON(0), JSON(0),
             JSON(tally->compared), JSON(tally->different));
  } else {
    printf("%-30s %-20s %s: %llu results, %llu differ\n", check->id, check->instruction,
           tally->different ? "DIFFERS" : "agrees", (unsigned long long)tally->compared,
           (unsigned long long)tally->different);
  }
}

/* Prints what stands before an instruction's object: the head of it all, or a comma. */
static void json_next(int shown, const char *device, const char *versions, const char *path) {
  if (shown)
    printf(",\n ");
  else
    cli_json(stdout, "{'device': ?, 'versions': ?, 'golden': ?, 'instructions': [\n ", JSON(device), JSON(versions),
             JSON(path));
}

/* Before each line, or object: what the whole output begins with. */
static void begin(int shown, const instructions_asked *asked, const char *name, const char *versions,
                  const char *path) {
  if (asked->json) {
    json_next(shown, name, versions, path);
  } else if (!shown) {
    printf("%s: %s%s%s\ngolden vectors: %s\n", source_of(asked)->what, name, *versions ? ", " : "", versions,
           path ? path : "none");
  }
}

int cli_verify_instructions(const instructions_asked *asked, char **names, int count) {
  char name[CLI_DEVICE_MAX], versions[128] = "", path[4096];
  int shown = 0, differ = 0, status = CLI_OK;
  if (!asked->cuda) {
    processor_name(name);
  } else if (!cli_device_ask(name)) {
    return cli_fail("verify", "%s", name);
  }
  snprintf(path, sizeof path, "%s/mma/probes.txt", asked->golden ? asked->golden : HU_CLI_GOLDEN);
  FILE *there = fopen(path, "r");
  if (!there && asked->golden) return cli_fail(path, "cannot be read");
  if (there) fclose(there);
  setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is stopped keeps its lines */
  for (size_t i = 0; status == CLI_OK; i++) {
    probe_run run = {.number = i, .quiet = asked->json};
    hu_status next = source_of(asked)->at(&run.mma, i);
    if (next == HU_E_NAME || (next == HU_E_DEVICE && i == 0)) break;
    if (next != HU_OK) return cli_fail_status("verify", next);
    if (!is_named(run.mma.model, names, count)) continue;
    if (asked->cuda) hu_device_versions(versions, sizeof versions);
    begin(shown++, asked, name, versions, there ? path : NULL);
    status = run_one(&run, asked, there ? path : NULL);
    differ |= run.different || run.off_golden;
  }
  const processor_check *check;
  for (size_t i = 0; status == CLI_OK && !asked->cuda && (check = processor_check_at(i)); i++) {
    processor_tally tally = {.count = asked->samples, .key = asked->seed, .quiet = asked->json};
    if (!is_named(check->id, names, count)) continue;
    begin(shown++, asked, name, versions, there ? path : NULL);
    run_check(check, &tally);
    differ |= tally.different > 0;
  }
  if (shown && asked->json) printf("\n]}\n");
  if (status != CLI_OK) return status;
  if (!shown) return cli_fail("verify", "%s has no instruction of such a model", name);
  return differ ? CLI_DIFFERENT : CLI_OK;
}
