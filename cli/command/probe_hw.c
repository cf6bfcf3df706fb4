/* SPDX-License-Identifier: MIT */
/* halfulp probe-hw - the device's own matrix instructions against the models of them, bit for bit. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/device.h"
#include "cli/base/io.h"
#include "cli/vectors/dot_line.h"
#include "cli/verify/probe.h"

#ifndef HU_CLI_GOLDEN
#define HU_CLI_GOLDEN ""
#endif

enum { KEY_GOLDEN = CLI_KEY_FREE, KEY_SAMPLES, SHOWN_MAX = 5 };

typedef struct probe_state {
  cli_numeric numeric;
  uint64_t count;
  const char *golden;
} probe_state;

static int set(void *state, int key, const char *value) {
  probe_state *s = state;
  if (key == KEY_SAMPLES) return cli_read_u64(&s->count, "--samples", value, 0, (uint64_t)1 << 32);
  if (key == KEY_GOLDEN) {
    s->golden = value;
    return CLI_OK;
  }
  return cli_set_numeric(&s->numeric, key, value) < 0 ? CLI_BAD : CLI_OK;
}

static const cli_option options[] = {
    {KEY_SAMPLES, "samples", "N", "random dot products per instruction, at least; default 100000"},
    {CLI_KEY_SEED, "seed", "K", "key of the random operands; default 0"},
    {KEY_GOLDEN, "golden", "FOLDER", "where mma/probes.txt is; default: the installed golden files"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "probe-hw",
    "[MODEL...]",
    "Run the device's matrix instructions and compare them with their models",
    "Every mma.sync and wgmma instruction of the CUDA device that a named model describes, or those whose model's\n"
    "name contains a MODEL: the golden vectors of that model in every place of a tile, and random dot products with\n"
    "exponents close, far apart, at both ends of the range, cancelling, and any patterns. Each result is compared\n"
    "bit for bit with the model's. Differences are shown as lines for `halfulp mma`: A B C, then both results.",
    "  halfulp probe-hw\n"
    "  halfulp probe-hw --samples 10000000 nv.hopper.e4m3",
    options,
    0,
    256,
    set};

/* ---- one instruction ---- */

static void print_codes(const uint8_t *x, size_t n, hu_element e) {
  size_t size = hu_element_size(e);
  for (size_t i = 0; i < n; i++) printf("%0*llx", (int)size * 2, (unsigned long long)cli_get_pattern(x, i, size));
}

static void tell(const probe_run *t, size_t tile, size_t i, size_t j, const uint8_t *model) {
  const hu_device_mma *x = &t->mma;
  size_t size = hu_element_size(x->a), wide = hu_element_size(x->c), at = (tile * x->m + i) * x->n + j;
  printf("    ");
  print_codes(t->a + (tile * x->m + i) * x->k * size, x->k, x->a);
  putchar(' ');
  print_codes(t->b + (tile * x->n + j) * x->k * size, x->k, x->b);
  putchar(' ');
  print_codes(t->c + at * wide, 1, x->c);
  printf("  device ");
  print_codes(t->d + at * wide, 1, x->c);
  printf(", model ");
  print_codes(model, 1, x->c);
  putchar('\n');
}

/* Runs the tiles and compares every element. */
static int run_tiles(probe_run *t) {
  hu_status s = hu_device_mma_run(t->number, t->tiles, t->d, t->a, t->b, t->c);
  if (s != HU_OK) return cli_fail_status(t->mma.instruction, s);
  for (size_t tile = 0; tile < t->tiles; tile++) {
    for (size_t i = 0; i < t->mma.m; i++) {
      for (size_t j = 0; j < t->mma.n; j++) {
        uint8_t model[8];
        s = probe_model(t, tile, i, j, model);
        if (s != HU_OK) return cli_fail_status(t->mma.model, s);
        t->compared++;
        if (probe_same(t, tile, i, j, model)) continue;
        if (t->different++ < SHOWN_MAX && !t->quiet) tell(t, tile, i, j, model);
      }
    }
  }
  return CLI_OK;
}

static int run_random(probe_run *t, const probe_state *s) {
  uint64_t left = (s->count + t->mma.m * t->mma.n - 1) / (t->mma.m * t->mma.n), done = 0;
  int status = CLI_OK;
  while (left && status == CLI_OK) {
    t->tiles = left < t->room ? (size_t)left : t->room;
    for (size_t tile = 0; tile < t->tiles; tile++) probe_draw(t, tile, s->numeric.stream.key, done + tile);
    status = run_tiles(t);
    done += t->tiles;
    left -= t->tiles;
  }
  return status;
}

/* ---- golden vectors: each in all rows and columns of a tile, K after K ---- */

static int run_line(probe_run *t, char *const *word) {
  const char *a = word[PROBE_A], *b = word[PROBE_B], *c_text = word[PROBE_C], *d = word[PROBE_D];
  size_t digits = hu_element_size(t->mma.a) * 2, wide = hu_element_size(t->mma.c), n = strlen(a) / digits;
  uint64_t c = strcmp(c_text, "-") ? strtoull(c_text, NULL, 16) : 0, want = strtoull(d, NULL, 16);
  if (n == 0 || n % t->mma.k) return CLI_OK; /* another instruction's length */
  t->tiles = 1;
  for (size_t e = 0; e < t->mma.m * t->mma.n; e++) cli_put_pattern(t->c, e, wide, c);
  for (size_t k0 = 0; k0 < n; k0 += t->mma.k) {
    probe_fill(t, a + k0 * digits, b + k0 * digits);
    int status = run_tiles(t);
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

static int run_golden(probe_run *t, const char *path) {
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
        status = run_line(t, word);
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

static int run_one(probe_run *t, const probe_state *s, const char *path) {
  int status = probe_run_start(t);
  if (status == CLI_OK && path) status = run_golden(t, path);
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

/* What stands before an instruction's object: the head of it all, or a comma. */
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

int cli_probe_hw(int argc, char **argv) {
  probe_state s = {.count = 100000};
  char **names, name[CLI_DEVICE_MAX], versions[128] = "", path[4096];
  int count, shown = 0, differ = 0, status = cli_parse(&command, &s, argc, argv, &names, &count);
  if (status >= 0) return status;
  if (!cli_device_ask(name)) return cli_fail("probe-hw", "%s", name);
  snprintf(path, sizeof path, "%s/mma/probes.txt", s.golden ? s.golden : HU_CLI_GOLDEN);
  FILE *there = fopen(path, "r");
  if (!there && s.golden) return cli_fail(path, "cannot be read");
  if (there) fclose(there);
  setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is stopped keeps its lines */
  status = CLI_OK;
  for (size_t i = 0; status == CLI_OK; i++) {
    probe_run t = {.number = i, .quiet = s.numeric.json};
    hu_status next = hu_device_mma_at(&t.mma, i);
    if (next == HU_E_NAME || (next == HU_E_DEVICE && i == 0)) break;
    if (next != HU_OK) return cli_fail_status("probe-hw", next);
    if (!wanted(t.mma.model, names, count)) continue;
    hu_device_versions(versions, sizeof versions);
    if (s.numeric.json)
      json_next(shown, name, versions, there ? path : NULL);
    else if (!shown)
      printf("device: %s%s%s\ngolden vectors: %s\n", name, *versions ? ", " : "", versions, there ? path : "none");
    shown++;
    status = run_one(&t, &s, there ? path : NULL);
    differ |= t.different || t.off_golden;
  }
  if (shown && s.numeric.json) printf("\n]}\n");
  if (status != CLI_OK) return status;
  if (!shown) return cli_fail("probe-hw", "%s has no matrix instruction of such a model", name);
  return differ ? CLI_DIFFERENT : CLI_OK;
}
