/* SPDX-License-Identifier: MIT */
/* halfulp verify - the self-test that anyone can run. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/device.h"
#include "cli/base/io.h"
#include "cli/base/progress.h"
#include "cli/command/instructions.h"
#include "cli/proof/theorems.h"
#include "cli/verify/verify.h"

enum {
  KEY_DEVICE = CLI_KEY_FREE,
  KEY_LEVEL,
  KEY_SHARD,
  KEY_MERGE,
  KEY_GOLDEN,
  KEY_LIST,
  KEY_ONLY,
  KEY_THEOREMS,
  KEY_SAMPLES
};
enum { FORMATS_MAX = 256, GOLDEN_MAX = 4096, STEP_WIDTH_MAX = 16, WORLD_WIDTH_MAX = 8 };

/* What is asked for. */
enum { BUILD, INSTRUCTIONS };
static const char *const mode_names[] = {"this build, not --only instructions", "--only instructions"};
enum { OF_BUILD = CLI_FOR(BUILD), OF_INSTRUCTIONS = CLI_FOR(INSTRUCTIONS) };

typedef struct verify_state {
  cli_numeric numeric;
  hu_format formats[FORMATS_MAX];
  int format_count, device, level, merge, list, only, theorems, instructions;
  uint64_t samples;
  unsigned shard, shards;
  const char *golden, *report;
} verify_state;

static const char *const level_names[] = {"quick", "full", "exhaustive"};

static int set_shard(verify_state *s, const char *value) {
  unsigned shard = 0, shards = 0;
  int end = 0, plain = value[strspn(value, "0123456789/")] == 0; /* %u would also read blanks and signs */
  if (!plain || sscanf(value, "%9u/%9u%n", &shard, &shards, &end) != 2 || value[end] || shard < 1 || shard > shards)
    return cli_fail(NULL, "--shard: '%s' is not I/N with 1 <= I <= N", value);
  s->shard = shard;
  s->shards = shards;
  return CLI_OK;
}

static int set_level(verify_state *s, const char *value) {
  for (s->level = 0; s->level < 3; s->level++)
    if (!strcmp(value, level_names[s->level])) return CLI_OK;
  return cli_fail(NULL, "--level: '%s' is not one of quick, full, exhaustive", value);
}

static int set_only(verify_state *s, const char *value) {
  if (!strcmp(value, "instructions")) return s->instructions = 1, CLI_OK;
  for (int k = 0; k < VERIFY_KINDS; k++)
    if (!strcmp(value, verify_kind_name(k))) s->only |= 1 << k;
  for (int k = 0; k < VERIFY_KINDS; k++)
    if (!strcmp(value, verify_kind_name(k))) return CLI_OK;
  return cli_fail(NULL, "--only: '%s' is not one of golden, world, steps, device, instructions", value);
}

static int set(void *state, int key, const char *value) {
  verify_state *s = state;
  switch (key) {
    case 'f':
      if (s->format_count == FORMATS_MAX) return cli_fail(NULL, "--format: more than %d formats", FORMATS_MAX);
      return cli_read_format(&s->formats[s->format_count++], value);
    case KEY_DEVICE: return cli_device_read(&s->device, value);
    case KEY_LEVEL: return set_level(s, value);
    case KEY_SHARD: return set_shard(s, value);
    case KEY_ONLY: return set_only(s, value);
    case KEY_SAMPLES: return cli_read_u64(&s->samples, "--samples", value, 0, (uint64_t)1 << 32);
    case KEY_MERGE: s->merge = 1; return CLI_OK;
    case KEY_LIST: s->list = 1; return CLI_OK;
    case KEY_THEOREMS: s->theorems = 1; return CLI_OK;
    case KEY_GOLDEN: s->golden = value; return CLI_OK;
    case 'o': s->report = value; return CLI_OK;
    default: return cli_set_numeric(&s->numeric, key, value) < 0 ? CLI_BAD : CLI_OK;
  }
}

static const cli_option options[] = {
    {'f' | CLI_REPEATS | OF_BUILD, "format", "FORMAT",
     "check this format; default: a choice (quick) or all named ones"},
    {KEY_DEVICE, "device", "DEVICE",
     "cuda: also compare the CUDA kernels with the CPU; instructions: of cuda or cpu; default cpu"},
    {KEY_LEVEL | OF_BUILD, "level", "LEVEL",
     "quick (seconds), full (an hour or so), exhaustive (many hours); default quick"},
    {KEY_ONLY | CLI_REPEATS, "only", "KIND", "golden, world, steps or device items alone; or instructions"},
    {KEY_SHARD | OF_BUILD, "shard", "I/N", "do part I of N of the work, 1 <= I <= N"},
    {'o' | OF_BUILD, "output", "OUT", "a file for the report that --merge reads"},
    {KEY_MERGE | OF_BUILD, "merge", NULL, "put the reports of all shards together"},
    {KEY_GOLDEN, "golden", "FOLDER", "where the golden files are; default: the installed ones"},
    {KEY_LIST | OF_BUILD, "list", NULL, "print the work items and do nothing"},
    {KEY_THEOREMS | OF_BUILD, "theorems", NULL,
     "print what is proved, for which sources, and what this program was built from"},
    {KEY_SAMPLES | OF_INSTRUCTIONS, "samples", "N",
     "instructions: random dot products of each, at least; default 100000"},
    {CLI_KEY_SEED | OF_INSTRUCTIONS, "seed", "K", "instructions: key of the random operands; default 0"},
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "verify",
    "[REPORT... | MODEL...]",
    "Check this build on this machine, or this machine's matrix instructions",
    "golden: recorded results. world: every value of a format of up to 8 bits (256 of a wider one), the steps between\n"
    "and their quarters, in every mode against the oracle. steps: codes of binary32 numbers in order; the oracle "
    "decides\n"
    "on both sides of each step, which proves the run between (all 2^32 inputs: exhaustive, and rne in full). device:\n"
    "codes, values, matrix products and events of the CUDA kernels against the CPU's. What cannot run here is listed "
    "as\n"
    "skipped, never as passed. --theorems: what solvers have proved for every case, the hash of the sources that they\n"
    "proved it for, and the hash of the sources that this program was built from; where the hashes differ, the "
    "theorem\n"
    "says so.\n\n"
    "--only instructions: every instruction of the CPU that adds up products, or with --device cuda every mma.sync "
    "and\n"
    "wgmma instruction of the device, that a named model describes; or those whose model's name contains a MODEL.\n"
    "Operands are the golden vectors of that model in every place of a tile, and random dot products with exponents\n"
    "close, far apart, at both ends of the range, cancelling, and any patterns. Each result is compared bit for bit\n"
    "with the model's; of a CPU any NaN counts as equal. Differences are shown as lines for `halfulp mma`: A B C, "
    "then\n"
    "both results. Of a CPU its conversions of binary16 follow, under the names binary16.values (all codes),\n"
    "binary16.rne and other modes, of Arm's 8-bit formats (float8_e4m3fn.values and .rne, float8_e5m2), and sums of\n"
    "two products of 16 bits, s16.pairs.",
    "  halfulp verify -f float4_e2m1fn\n"
    "  halfulp verify --level full --shard 3/16 -o shard3.txt\n"
    "  halfulp verify --merge shard*.txt\n"
    "  halfulp verify --theorems\n"
    "  halfulp verify --only instructions\n"
    "  halfulp verify --only instructions --device cuda --samples 10000000 nv.hopper.e4m3",
    options,
    0,
    1 << 20,
    set};

typedef struct work {
  verify_item *items;
  size_t count, room;
} work;

static verify_item *add(work *w, int kind, const char *name, const char *mode) {
  if (w->count == w->room) {
    size_t room = w->room ? 2 * w->room : 64;
    verify_item *items = realloc(w->items, room * sizeof *items);
    if (!items) return NULL;
    w->items = items;
    w->room = room;
  }
  verify_item *item = &w->items[w->count++];
  memset(item, 0, sizeof *item);
  item->kind = kind;
  item->digest = VERIFY_DIGEST_START;
  snprintf(item->name, sizeof item->name, "%s", name);
  snprintf(item->mode, sizeof item->mode, "%s", mode);
  return item;
}

static int add_of_format(work *w, int kind, hu_format f, const char *mode) {
  char name[CLI_NAME_MAX];
  cli_format_name(name, f);
  verify_item *item = add(w, kind, name, mode);
  if (!item) return CLI_BAD;
  item->format = f;
  return CLI_OK;
}

static int add_format(work *w, const verify_state *s, hu_format f, int chosen) {
  unsigned width = hu_limits_of(f).width;
  if ((width <= WORLD_WIDTH_MAX || chosen || s->level > VERIFY_QUICK) && add_of_format(w, VERIFY_WORLD, f, "-"))
    return CLI_BAD;
  for (uint8_t round = HU_RNE; round < HU_SRA && width <= STEP_WIDTH_MAX; round++) {
    char mode[8];
    hu_mode_round_text(mode, (hu_mode){.round = round});
    if (add_of_format(w, VERIFY_STEPS, f, mode)) return CLI_BAD;
  }
  return s->device ? add_of_format(w, VERIFY_DEVICE, f, "-") : CLI_OK;
}

static int add_formats(work *w, const verify_state *s) {
  static const char *const quick[] = {"float8_e4m3fn", "float8_e5m2",    "float8_e4m3fnuz", "float4_e2m1fn",
                                      "float6_e3m2fn", "float8_e8m0fnu", "binary8p4se",     "hfp8_fwd_143",
                                      "binary16",      "bfloat16"};
  /* Formats with rarer axes, of which no golden file is installed: their worlds. */
  static const char *const worlds[] = {"binary8p1uf",
                                       "fp(5,3,0):fn,unsigned",
                                       "fp(5,6,0):unsigned,neg=low",
                                       "binary32",
                                       "dlfloat16",
                                       "fp(5,2,0):finite",
                                       "fp(6,9,0):finite",
                                       "fp(4,3,0):finite,sub=flush",
                                       "fp(4,3,0):finite,sub=none",
                                       "fp(0,7,1):finite"};
  for (int i = 0; i < s->format_count; i++)
    if (add_format(w, s, s->formats[i], 1)) return CLI_BAD;
  if (s->format_count) return CLI_OK;
  if (s->level > VERIFY_QUICK) {
    for (size_t i = 0; i < hu_format_count(); i++)
      if (add_format(w, s, hu_format_at(i).format, 0)) return CLI_BAD;
    return CLI_OK;
  }
  for (size_t i = 0; i < sizeof quick / sizeof quick[0]; i++) {
    hu_format f;
    if (hu_format_find(&f, quick[i]) == HU_OK && add_format(w, s, f, 0)) return CLI_BAD;
  }
  for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
    hu_format f;
    if (hu_format_parse(&f, worlds[i], NULL) == HU_OK && add_of_format(w, VERIFY_WORLD, f, "-")) return CLI_BAD;
  }
  return CLI_OK;
}

static int is_golden(const struct dirent *entry) {
  size_t n = strlen(entry->d_name);
  if (!strcmp(entry->d_name, "digests.txt")) return 0;  /* hu-digest reads that one */
  if (!strcmp(entry->d_name, "campaign.txt")) return 0; /* a ledger (docs/cluster.md) */
  return n > 4 && !strcmp(entry->d_name + n - 4, ".txt") && entry->d_name[0] != '.' && !strpbrk(entry->d_name, " \t\n");
}

static int has_mma(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, VERIFY_MMA_FILE);
  return access(path, F_OK) == 0;
}

/* The directory's .txt files, by name, and that of matrix units in the folder below, so that every shard has the
 * same list. A halfulp that is not installed has none unless told where: skipped then, and shown as that. */
static int add_golden(work *w, const verify_state *s) {
  struct dirent **entries = NULL;
  const char *folder = s->golden ? s->golden : HU_CLI_GOLDEN;
  int n = scandir(folder, &entries, is_golden, alphasort), status = CLI_OK;
  if (n < 0 && !s->golden) {
    verify_item *item = add(w, VERIFY_GOLDEN, "not-installed", "-");
    if (item) item->skipped = 1;
    return item ? CLI_OK : cli_fail(NULL, "out of memory");
  }
  if (n < 0) return cli_fail(folder, "golden files: %s", strerror(errno));
  if (n == 0 && !has_mma(folder)) status = cli_fail(folder, "there are no golden files");
  for (int i = 0; i < n; i++) {
    if (status == CLI_OK && !add(w, VERIFY_GOLDEN, entries[i]->d_name, "-")) status = cli_fail(NULL, "out of memory");
    free(entries[i]);
  }
  free(entries);
  if (status == CLI_OK && has_mma(folder) && !add(w, VERIFY_GOLDEN, VERIFY_MMA_FILE, "-"))
    status = cli_fail(NULL, "out of memory");
  return status;
}

static void keep_only(work *w, int only) {
  size_t kept = 0;
  for (size_t i = 0; i < w->count && only; i++)
    if (only >> w->items[i].kind & 1) w->items[kept++] = w->items[i];
  if (only) w->count = kept;
}

static int do_item(verify_item *item, const verify_setup *setup) {
  item->done = 1;
  if (item->skipped) return CLI_OK;
  switch (item->kind) {
    case VERIFY_GOLDEN:
      return strcmp(item->name, VERIFY_MMA_FILE) ? verify_golden(item, setup) : verify_mma(item, setup);
    case VERIFY_WORLD: return verify_world(item, setup);
    case VERIFY_STEPS: return verify_steps(item, setup);
    default: return verify_device(item, setup);
  }
}

static int do_work(work *w, const verify_state *s) {
  verify_setup setup = {s->level, s->numeric.threads ? s->numeric.threads : 1, s->golden ? s->golden : HU_CLI_GOLDEN};
  progress p;
  int status = CLI_OK;
  progress_start(&p, "verify", w->count);
  for (size_t i = 0; i < w->count && status == CLI_OK; i++) {
    if (i % s->shards == s->shard - 1) status = do_item(&w->items[i], &setup);
    progress_at(&p, i + 1);
  }
  progress_end(&p);
  return status;
}

static int list(const work *w, int json) {
  for (size_t i = 0; json && i < w->count; i++) {
    printf("%s\n  {\"item\": %zu, \"kind\": \"%s\", \"id\": ", i ? "," : "[", i, verify_kind_name(w->items[i].kind));
    cli_json_string(stdout, w->items[i].name);
    printf(", \"mode\": ");
    cli_json_string(stdout, w->items[i].mode);
    putchar('}');
  }
  if (json) {
    printf("\n]\n");
    return CLI_OK;
  }
  for (size_t i = 0; i < w->count; i++)
    printf("%zu %s %s %s\n", i, verify_kind_name(w->items[i].kind), w->items[i].name, w->items[i].mode);
  return CLI_OK;
}

static int run(work *w, const verify_state *s) {
  char device[CLI_DEVICE_MAX] = "none";
  int wants_golden = !s->only || (s->only >> VERIFY_GOLDEN & 1);
  if (s->device && cli_device_find(device)) return CLI_BAD;
  for (char *p = device; *p; p++)
    if (*p == ' ') *p = '_';
  if (wants_golden && add_golden(w, s)) return CLI_BAD;
  if (add_formats(w, s)) return cli_fail(NULL, "out of memory");
  keep_only(w, s->only);
  if (!w->count) return cli_fail(NULL, "verify: no work items are left by these options");
  if (s->list) return list(w, s->numeric.json);
  if (s->report && cli_file_try(s->report)) return CLI_BAD;
  if (do_work(w, s)) return CLI_BAD;
  verify_run result = {level_names[s->level], device, s->shard, s->shards, w->count, w->items};
  if (s->report && verify_report_write(s->report, &result)) return CLI_BAD;
  FILE *out = s->report ? cli_report_file(s->report, s->numeric.json) : stdout;
  int status = verify_summary(out, &result, s->numeric.json);
  if (out && !s->numeric.json) proof_summary(out);
  return status;
}

int cli_verify(int argc, char **argv) {
  verify_state *s = calloc(1, sizeof *s);
  work w = {NULL, 0, 0};
  char **operands;
  int count;
  if (!s) return cli_fail(NULL, "out of memory");
  s->shard = s->shards = 1;
  s->samples = 100000;
  int status = cli_parse(&command, s, argc, argv, &operands, &count);
  if (status < 0 && cli_mode_check(&command, s->instructions ? INSTRUCTIONS : BUILD, mode_names)) status = CLI_BAD;
  if (status < 0 && s->instructions) {
    const instructions_asked asked = {s->device, s->numeric.json, s->samples, s->numeric.stream.key, s->golden};
    status = s->only ? cli_fail(NULL, "verify: --only instructions goes with no other --only")
                     : cli_verify_instructions(&asked, operands, count);
  }
  if (status < 0 && s->merge)
    status = count ? verify_report_merge(count, operands, s->numeric.json)
                   : cli_fail(NULL, "verify --merge: no reports given");
  if (status < 0 && count) status = cli_fail(NULL, "verify: '%s': reports are read with --merge only", operands[0]);
  if (status < 0 && s->theorems) {
    proof_list(stdout, s->numeric.json);
    status = CLI_OK;
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is stopped keeps its lines */
  if (status < 0) status = run(&w, s);
  free(w.items);
  free(s);
  return status;
}
