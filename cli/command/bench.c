/* SPDX-License-Identifier: MIT */
/* halfulp bench - what this machine does with the library, in some twenty seconds. */
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/bench/bench.h"
#include "cli/processor/processor.h"
#include "files/timing.h"

enum { KEY_SECONDS = CLI_KEY_FREE, CASES_MAX = 96, SECONDS = 20, SECONDS_MAX = 3600 };

typedef struct asked {
  cli_numeric numeric;
  uint64_t seconds;
  unsigned counts[2]; /* numbers of threads */
  int kinds;
} asked;

static int set(void *context, int key, const char *value) {
  asked *given = context;
  if (key == KEY_SECONDS) return cli_read_u64(&given->seconds, "--seconds", value, 1, SECONDS_MAX);
  return cli_set_numeric(&given->numeric, key, value) < 0 ? CLI_BAD : CLI_OK;
}

static const cli_option options[] = {
    {KEY_SECONDS, "seconds", "S", "how long to measure in all, 1 to 3600; default 20"}, CLI_OPTION_JSON, {0}};
static const cli_command command = {
    "bench",
    "",
    "Measure what this machine does with the library",
    "Arrays of 2^24 numbers into formats and back, each operation on 2^18 codes, products of 512 x 512 matrices\n"
    "under accumulation models, and a step of training, each with one thread and with one for every CPU. Each call is\n"
    "measured in turn with a plain one: memcpy of the same array by one thread, or the library's own binary32 product\n"
    "or step with as many threads. The table has the time of an element (ns) or of a step (us), or the speed of a\n"
    "product (GFlop/s), and the time divided by that of the plain call, in the best and in the worst of three runs.\n"
    "Other work on the machine makes them differ. bench/README.md in the sources has more rows, and their goals.",
    "  halfulp bench --seconds 5\n"
    "  halfulp bench --seconds 5 --json",
    options,
    0,
    0,
    set};

/* ---- the machine ---- */

/* Writes the best level in use, and those that add to it. */
static void level_names(char *text, size_t size) {
  *text = '\0';
  for (uint32_t bit = (uint32_t)1 << 31; bit; bit >>= 1) {
    if (!(hu_levels() & bit)) continue;
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? " " : "", hu_level_name(bit));
  }
}

/* ---- results ---- */

typedef struct measured {
  const speed_case *of;
  speed_result at[2]; /* for each number of threads */
} measured;

static int measure_all(measured *figures, size_t *count, const speed_memory *memory, const asked *given, double end) {
  size_t cases = 0;
  while (speed_case_at(cases)) cases++;
  size_t left = cases * (size_t)given->kinds;
  for (*count = 0; *count < cases && *count < CASES_MAX; ++*count) {
    figures[*count].of = speed_case_at(*count);
    for (int k = 0; k < given->kinds; k++, left--) {
      hu_status status = speed_measure(&figures[*count].at[k], figures[*count].of, memory, given->counts[k],
                                       (end - bench_now()) / (double)left);
      if (status != HU_OK) return cli_fail("bench", "%s: %s", figures[*count].of->name, hu_status_text(status));
    }
  }
  return CLI_OK;
}

static void print_table(const asked *given, const measured *figures, size_t count, const char *machine,
                        const char *levels) {
  printf("processor: %s\nlevels: %s\n\n%-41s", machine, levels, "");
  for (int k = 0; k < given->kinds; k++) {
    char title[40];
    snprintf(title, sizeof title, "%u threads", given->counts[k]);
    printf(k + 1 < given->kinds ? "  %-30s" : "  %s", given->counts[k] == 1 ? "one thread" : title);
  }
  puts("");
  for (size_t i = 0; i < count; i++) {
    const speed_case *bench = figures[i].of;
    if (i == 0 || strcmp(bench->reference, figures[i - 1].of->reference) != 0)
      printf("time over %s's:\n", bench->reference);
    printf("  %-39s", bench->name);
    for (int k = 0; k < given->kinds; k++) {
      const speed_result *result = &figures[i].at[k];
      const int digits = result->figure < 10 ? 2 : result->figure < 100 ? 1 : 0;
      printf("  %7.*f %-7s %5.2f to %5.2f%s", digits, result->figure, bench->unit, result->best, result->worst,
             k + 1 < given->kinds ? "    " : "\n");
    }
  }
}

static void print_json(const asked *given, const measured *figures, size_t count, const char *machine,
                       const char *levels) {
  cli_json(stdout, "{'processor': ?, 'levels': ?, 'seconds': ?, 'elements': ?, 'codes': ?, 'side': ?, 'rows': [",
           JSON(machine), JSON(levels), JSON((unsigned)given->seconds), JSON(SPEED_ELEMENTS), JSON(SPEED_CODES),
           JSON(SPEED_SIDE));
  for (size_t i = 0; i < count; i++) {
    for (int k = 0; k < given->kinds; k++) {
      const speed_result *result = &figures[i].at[k];
      cli_json(stdout, "?{'name': ?, 'threads': ?, 'unit': ?, 'figure': ?, ", cli_comma(!(i || k)),
               JSON(figures[i].of->name), JSON(given->counts[k]), JSON(figures[i].of->unit), JSON(result->figure));
      cli_json(stdout, "'reference': ?, 'best': ?, 'worst': ?, 'ratios': [", JSON(figures[i].of->reference),
               JSON(result->best), JSON(result->worst));
      for (int run = 0; run < SPEED_RUNS; run++) cli_json(stdout, "??", cli_comma(run == 0), JSON(result->ratios[run]));
      printf("]}");
    }
  }
  puts("]}");
}

int cli_bench(int argc, char **argv) {
  asked given = {0};
  measured figures[CASES_MAX] = {0};
  char **operands, machine[PROCESSOR_NAME_MAX], levels[128];
  size_t cases = 0;
  int count, status;
  given.seconds = SECONDS;
  status = cli_parse(&command, &given, argc, argv, &operands, &count);
  if (status >= 0) return status;
  unsigned all = cli_processors(256);
  given.counts[given.kinds++] = 1;
  if (all > 1) given.counts[given.kinds++] = all;
  processor_name(machine);
  level_names(levels, sizeof levels);
  const double end = bench_now() + (double)given.seconds;
  speed_memory memory = {0};
  status = speed_memory_make(&memory) == HU_OK
               ? measure_all(figures, &cases, &memory, &given, end)
               : cli_fail("bench", "no memory for arrays of %d numbers", SPEED_ELEMENTS);
  speed_memory_free(&memory);
  if (status) return CLI_BAD;
  (given.numeric.json ? print_json : print_table)(&given, figures, cases, machine, levels);
  return CLI_OK;
}
