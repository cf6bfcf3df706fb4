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
#include "cli/command/instructions.h"
#include "cli/proof/theorems.h"
#include "cli/verify/verify.h"
#include "cli/job/job.h"
#include "halfulp/status.h"

enum { KEY_DEVICE = CLI_KEY_FREE, KEY_LEVEL, KEY_GOLDEN, KEY_LIST, KEY_ONLY, KEY_THEOREMS, KEY_SAMPLES };
enum { FORMATS_MAX = 256, GOLDEN_MAX = 4096, STEP_WIDTH_MAX = 16, WORLD_WIDTH_MAX = 8 };

/* What is asked for. */
enum { BUILD, INSTRUCTIONS };
static const char *const mode_names[] = {"this build, not --only instructions", "--only instructions"};
enum { OF_BUILD = CLI_FOR(BUILD), OF_INSTRUCTIONS = CLI_FOR(INSTRUCTIONS) };

typedef struct verify_state {
  cli_numeric numeric;
  hu_format formats[FORMATS_MAX];
  int format_count, device, level, list, only, theorems, instructions;
  uint64_t samples;
  const char *golden;
  verify_item *items;
  size_t count, room;
  char device_name[CLI_DEVICE_MAX];
  job_asked asked;
  job_work work;
} verify_state;

static const char *const level_names[] = {"quick", "full", "exhaustive"};

static int set_level(verify_state *state, const char *value) {
  for (state->level = 0; state->level < 3; state->level++)
    if (!strcmp(value, level_names[state->level])) return CLI_OK;
  return cli_fail(NULL, "--level: '%s' is not one of quick, full, exhaustive", value);
}

static int set_only(verify_state *state, const char *value) {
  if (!strcmp(value, "instructions")) return state->instructions = 1, CLI_OK;
  for (int k = 0; k < VERIFY_KINDS; k++)
    if (!strcmp(value, verify_kind_name(k))) state->only |= 1 << k;
  for (int k = 0; k < VERIFY_KINDS; k++)
    if (!strcmp(value, verify_kind_name(k))) return CLI_OK;
  return cli_fail(NULL, "--only: '%s' is not one of golden, world, steps, device, instructions", value);
}

static int set(void *context, int key, const char *value) {
  verify_state *state = context;
  switch (key) {
    case 'f':
      if (state->format_count == FORMATS_MAX) return cli_fail(NULL, "--format: more than %d formats", FORMATS_MAX);
      return cli_read_format(&state->formats[state->format_count++], value);
    case KEY_DEVICE: return cli_device_read(&state->device, value);
    case KEY_LEVEL: return set_level(state, value);
    case KEY_ONLY: return set_only(state, value);
    case KEY_SAMPLES: return cli_read_u64(&state->samples, "--samples", value, 0, (uint64_t)1 << 32);
    case KEY_LIST: state->list = 1; return CLI_OK;
    case KEY_THEOREMS: state->theorems = 1; return CLI_OK;
    case KEY_GOLDEN: state->golden = value; return CLI_OK;
    default: break;
  }
  int status = job_set(&state->asked, key, value);
  if (status >= 0) return status;
  return cli_set_numeric(&state->numeric, key, value) < 0 ? CLI_BAD : CLI_OK;
}

static const cli_option options[] = {
    {'f' | CLI_REPEATS | OF_BUILD, "format", "FORMAT",
     "check this format; default: a choice (quick) or all named ones"},
    {KEY_DEVICE, "device", "DEVICE",
     "cuda: also compare the CUDA kernels with the CPU; instructions: of cuda or cpu; default cpu"},
    {KEY_LEVEL | OF_BUILD, "level", "LEVEL",
     "quick (seconds), full (an hour or so), exhaustive (many hours); default quick"},
    {KEY_ONLY | CLI_REPEATS, "only", "KIND", "golden, world, steps or device items alone; or instructions"},
    {JOB_KEY_LEDGER | OF_BUILD, "ledger", "LEDGER",
     "a file of results, which a later command continues and --merge reads"},
    JOB_OPTIONS_OF(OF_BUILD, "1"),
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
    "[LEDGER... | MODEL...]",
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
    "  halfulp verify --level full --shard 3/16 --ledger full.ledger\n"
    "  halfulp verify --level full --merge full.ledger.*-of-16\n"
    "  halfulp verify --theorems\n"
    "  halfulp verify --only instructions\n"
    "  halfulp verify --only instructions --device cuda --samples 10000000 nv.hopper.e4m3",
    options,
    0,
    1 << 20,
    set};

/* An item that is there already is not added again. */
static int add(verify_state *state, int kind, const char *name, const char *mode, hu_format format) {
  verify_item item = {.kind = kind, .format = format, .digest = VERIFY_DIGEST_START};
  snprintf(item.name, sizeof item.name, "%s", name);
  snprintf(item.mode, sizeof item.mode, "%s", mode);
  snprintf(item.title, sizeof item.title, "%s/%s%s%s", verify_kind_name(kind), name, kind == VERIFY_STEPS ? "/" : "",
           kind == VERIFY_STEPS ? mode : "");
  for (size_t i = 0; i < state->count; i++)
    if (!strcmp(state->items[i].title, item.title)) return CLI_OK;
  if (state->count == state->room) {
    size_t room = state->room ? 2 * state->room : 64;
    verify_item *items = realloc(state->items, room * sizeof *items);
    if (!items) return cli_fail(NULL, "out of memory");
    state->items = items;
    state->room = room;
  }
  state->items[state->count++] = item;
  return CLI_OK;
}

static int add_of_format(verify_state *state, int kind, hu_format format, const char *mode) {
  char name[CLI_NAME_MAX];
  return add(state, kind, cli_format_name(name, format), mode, format);
}

static int add_format(verify_state *state, hu_format format, int chosen) {
  unsigned width = hu_limits_of(format).width;
  if ((width <= WORLD_WIDTH_MAX || chosen || state->level > VERIFY_QUICK) &&
      add_of_format(state, VERIFY_WORLD, format, "-"))
    return CLI_BAD;
  for (uint8_t round = HU_RNE; round < HU_SRA && width <= STEP_WIDTH_MAX; round++) {
    char mode[8];
    hu_mode_round_text(mode, (hu_mode){.round = round});
    if (add_of_format(state, VERIFY_STEPS, format, mode)) return CLI_BAD;
  }
  return state->device ? add_of_format(state, VERIFY_DEVICE, format, "-") : CLI_OK;
}

static int add_formats(verify_state *state) {
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
  for (int i = 0; i < state->format_count; i++)
    if (add_format(state, state->formats[i], 1)) return CLI_BAD;
  if (state->format_count) return CLI_OK;
  if (state->level > VERIFY_QUICK) {
    for (size_t i = 0; i < hu_format_count(); i++)
      if (add_format(state, hu_format_at(i).format, 0)) return CLI_BAD;
    return CLI_OK;
  }
  for (size_t i = 0; i < sizeof quick / sizeof quick[0]; i++) {
    hu_format format;
    if (hu_format_find(&format, quick[i]) == HU_OK && add_format(state, format, 0)) return CLI_BAD;
  }
  for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
    hu_format format;
    if (hu_format_parse(&format, worlds[i], NULL) == HU_OK && add_of_format(state, VERIFY_WORLD, format, "-"))
      return CLI_BAD;
  }
  return CLI_OK;
}

#define NOT_INSTALLED "not-installed"

static const char *golden_folder(const verify_state *state) { return state->golden ? state->golden : HU_CLI_GOLDEN; }

static int is_golden(const struct dirent *entry) {
  size_t n = strlen(entry->d_name);
  if (!strcmp(entry->d_name, "digests.txt")) return 0; /* hu-digest reads that one */
  return n > 4 && !strcmp(entry->d_name + n - 4, ".txt") && entry->d_name[0] != '.' && !strpbrk(entry->d_name, " \t\n");
}

static int has_mma(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, VERIFY_MMA_FILE);
  return access(path, F_OK) == 0;
}

/* The directory's .txt files, by name, and that of matrix units in the folder below, so that all processes have the
 * same list. A halfulp that is not installed has none where no folder is given: skipped then, and shown as that. */
static int add_golden(verify_state *state) {
  struct dirent **entries = NULL;
  const char *folder = golden_folder(state);
  const hu_format none = {0};
  int n = scandir(folder, &entries, is_golden, alphasort), status = CLI_OK;
  if (n < 0 && !state->golden) return add(state, VERIFY_GOLDEN, NOT_INSTALLED, "-", none);
  if (n < 0) return cli_fail(folder, "golden files: %s", strerror(errno));
  if (n == 0 && !has_mma(folder)) status = cli_fail(folder, "there are no golden files");
  for (int i = 0; i < n; i++) {
    if (status == CLI_OK) status = add(state, VERIFY_GOLDEN, entries[i]->d_name, "-", none);
    free(entries[i]);
  }
  free(entries);
  if (status == CLI_OK && has_mma(folder)) status = add(state, VERIFY_GOLDEN, VERIFY_MMA_FILE, "-", none);
  return status;
}

static void keep_only(verify_state *state) {
  size_t kept = 0;
  for (size_t i = 0; i < state->count && state->only; i++)
    if (state->only >> state->items[i].kind & 1) state->items[kept++] = state->items[i];
  if (state->only) state->count = kept;
}

/* ---- the items ---- */

static int do_item(void *context, size_t i, job_result *result, job_steps *steps) {
  const verify_state *state = context;
  const verify_setup setup = {state->level, state->numeric.threads ? state->numeric.threads : 1, golden_folder(state)};
  verify_item *item = &state->items[i];
  int status = CLI_OK;
  (void)steps;
  if (!strcmp(item->name, NOT_INSTALLED))
    item->skipped = 1;
  else if (item->kind == VERIFY_GOLDEN)
    status = strcmp(item->name, VERIFY_MMA_FILE) ? verify_golden(item, &setup) : verify_mma(item, &setup);
  else if (item->kind == VERIFY_WORLD)
    status = verify_world(item, &setup);
  else
    status = item->kind == VERIFY_STEPS ? verify_steps(item, &setup) : verify_device(item, &setup);
  result->cases = item->cases;
  result->wrong = item->failures;
  result->digest = item->digest;
  result->skipped = item->skipped;
  result->machine = item->kind == VERIFY_DEVICE ? state->device_name : NULL;
  return status;
}

static void take_result(verify_item *item, const job_entry *entry) {
  item->done = 1;
  item->skipped = !strcmp(entry->field[JOB_STATE], "skipped");
  item->cases = strtoull(entry->field[JOB_CASES], NULL, 10);
  item->failures = strtoull(entry->field[JOB_WRONG], NULL, 10);
  item->digest = strtoull(entry->field[JOB_DIGEST], NULL, 16);
}

/* What the ledger has of them; how many it has not, or of another version or level. */
static size_t take_results(verify_state *state) {
  size_t missing = 0;
  for (size_t i = 0; i < state->count; i++) {
    verify_item *item = &state->items[i];
    const job_entry *entry = job_ledger_find(&state->work.ledger, item->title);
    int found = job_state(&state->work, i);
    item->own = job_is_own(&state->work, i);
    item->done = item->skipped = 0;
    if (found == JOB_IS_DONE || found == JOB_IS_SKIPPED)
      take_result(item, entry);
    else
      missing++;
    if (item->done && item->kind == VERIFY_DEVICE)
      snprintf(state->device_name, sizeof state->device_name, "%s", entry->field[JOB_PROCESSOR]);
  }
  return missing;
}

static int list(const verify_state *state) {
  const verify_item *items = state->items;
  int json = state->numeric.json;
  for (size_t i = 0; json && i < state->count; i++) {
    printf("%s\n  {\"item\": %zu, \"kind\": \"%s\", \"id\": ", i ? "," : "[", i, verify_kind_name(items[i].kind));
    cli_json_string(stdout, items[i].name);
    printf(", \"mode\": ");
    cli_json_string(stdout, items[i].mode);
    putchar('}');
  }
  if (json) {
    printf("\n]\n");
    return CLI_OK;
  }
  for (size_t i = 0; i < state->count; i++)
    printf("%zu %s %s %s\n", i, verify_kind_name(items[i].kind), items[i].name, items[i].mode);
  return CLI_OK;
}

/* ---- the command ---- */

/* Adds the bytes of an item's golden file to a digest, where a ledger has that. */
static int add_file(const verify_state *state, const verify_item *item, uint64_t *digest) {
  cli_bytes bytes;
  char path[4096];
  int kept = state->asked.ledger || state->asked.merge;
  if (!kept || item->kind != VERIFY_GOLDEN || !strcmp(item->name, NOT_INSTALLED)) return CLI_OK;
  snprintf(path, sizeof path, "%s/%s", golden_folder(state), item->name);
  int status = cli_own_read(&bytes, path);
  if (status != CLI_OK) return status;
  *digest = job_digest_bytes(bytes.data, bytes.size, *digest);
  cli_bytes_free(&bytes);
  return CLI_OK;
}

/* Results of another version or level, or of other golden files, are not those of this command's items. */
static int name_items(verify_state *state) {
  char text[64];
  int status = CLI_OK;
  snprintf(text, sizeof text, "%s %s", HU_VERSION_STRING, level_names[state->level]);
  state->work.item = calloc(state->count, sizeof *state->work.item);
  if (!state->work.item) return cli_fail(NULL, "out of memory");
  state->work.count = state->count;
  for (size_t i = 0; i < state->count && status == CLI_OK; i++) {
    uint64_t digest = job_digest(text, JOB_DIGEST_START);
    job_item *item = &state->work.item[i];
    item->name = state->items[i].title;
    status = add_file(state, &state->items[i], &digest);
    snprintf(item->sources, sizeof item->sources, "%016llx", (unsigned long long)digest);
  }
  return status;
}

static int prepare(void *context) {
  verify_state *state = context;
  int reads = state->list || state->asked.merge || state->asked.status;
  if (state->device && !reads && cli_device_find(state->device_name)) return CLI_BAD;
  for (char *at = state->device_name; *at; at++)
    if (*at == ' ') *at = '_';
  if (state->device && state->asked.jobs > 1) return cli_fail(NULL, "verify: --jobs: a device is asked by one process");
  if ((!state->only || state->only >> VERIFY_GOLDEN & 1) && add_golden(state)) return CLI_BAD;
  if (add_formats(state)) return CLI_BAD;
  keep_only(state);
  if (!state->count) return cli_fail(NULL, "verify: no work items are left by these options");
  return name_items(state);
}

static int summary(verify_state *state) {
  const job_asked *asked = &state->asked;
  size_t missing = take_results(state);
  if (asked->merge && missing)
    return cli_fail(
        NULL,
        "verify --merge: %zu of %zu items are in none of the ledgers, or of another version, --level or golden "
        "file",
        missing, state->count);
  const verify_run run = {level_names[state->level],         state->device_name, asked->shards ? asked->shard : 1,
                          asked->shards ? asked->shards : 1, state->count,       state->items};
  int status = verify_summary(stdout, &run, state->numeric.json);
  if (!state->numeric.json) proof_summary(stdout);
  return state->work.failed ? CLI_BAD : status;
}

static int run(verify_state *state, char **operands, int count) {
  state->work = (job_work){.who = "verify",
                           .asked = &state->asked,
                           .path = state->asked.ledger,
                           .list = "another list of items",
                           .prepare = prepare,
                           .run = do_item,
                           .context = state,
                           .ledger = JOB_NO_LEDGER(JOB_FIELDS - 1)};
  if (state->asked.status && !state->asked.ledger) return cli_fail(NULL, "verify: --status requires --ledger");
  if (state->list) {
    int status = prepare(state);
    return status == CLI_OK && !job_ranks_get()->rank ? list(state) : status;
  }
  int status = job_run(&state->work, count, operands);
  return status == CLI_OK && !job_ranks_get()->rank ? summary(state) : status;
}

int cli_verify(int argc, char **argv) {
  verify_state *state = calloc(1, sizeof *state);
  char **operands;
  int count;
  if (!state) return cli_fail(NULL, "out of memory");
  state->samples = 100000;
  state->asked = (job_asked)JOB_NOTHING_ASKED;
  strcpy(state->device_name, "none");
  int status = job_parse(&command, state, argc, argv, &operands, &count);
  if (status < 0 && cli_mode_check(&command, state->instructions ? INSTRUCTIONS : BUILD, mode_names)) status = CLI_BAD;
  if (status < 0 && state->instructions) {
    const instructions_asked asked = {state->device, state->numeric.json, state->samples, state->numeric.stream.key,
                                      state->golden};
    status = state->only ? cli_fail(NULL, "verify: --only instructions goes with no other --only")
                         : cli_verify_instructions(&asked, operands, count);
  }
  if (status < 0 && state->asked.merge && !count) status = cli_fail(NULL, "verify --merge: no ledgers given");
  if (status < 0 && count && !state->asked.merge)
    status = cli_fail(NULL, "verify: '%s': ledgers are read with --merge only", operands[0]);
  if (status < 0 && state->theorems) {
    proof_list(stdout, state->numeric.json);
    status = CLI_OK;
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is stopped keeps its lines */
  if (status < 0) status = run(state, operands, count);
  job_free(&state->work);
  free(state->items);
  free(state);
  return status;
}
