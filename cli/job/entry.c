/* SPDX-License-Identifier: MIT */
/* One line of a ledger: read, written, and what this machine is called in it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/cli.h"
#include "cli/job/job.h"
#include "halfulp/status.h"

static int is_number(const char *text, const char *digits) { return *text && strspn(text, digits) == strlen(text); }

/* What is wrong with the columns of a result; NULL: nothing. */
static const char *check_numbers(char *const *field) {
  if (!is_number(field[JOB_WRONG], "0123456789") || !is_number(field[JOB_CASES], "0123456789"))
    return "wrong and cases are numbers";
  if (!is_number(field[JOB_SECONDS], "0123456789.")) return "seconds are a number";
  if (strlen(field[JOB_DIGEST]) != 16 || !is_number(field[JOB_DIGEST], "0123456789abcdef"))
    return "the digest has 16 hexadecimal digits";
  return NULL;
}

int job_is_hash(const char *sources) { return strcmp(sources, "-") != 0 && !strchr(sources, ':'); }

const char *job_entry_read(job_entry *entry, char *line, int fields) {
  static const char *const states[] = {"done", "stale", "skipped", "open", "again"};
  char *at = line;
  size_t state = 0;
  memset(entry, 0, sizeof *entry);
  entry->line = line;
  for (int i = 0; i < fields; i++) {
    if (!at) return "too few columns";
    entry->field[i] = at;
    at = strchr(at, '\t');
    if (at) *at++ = 0;
    if (entry->field[i][0] == 0) return "an empty column";
  }
  if (at) return "too many columns";
  while (state < sizeof states / sizeof *states && strcmp(entry->field[JOB_STATE], states[state])) state++;
  if (state == sizeof states / sizeof *states) return "the state is not one of done, stale, skipped, open, again";
  return state < 3 ? check_numbers(entry->field) : NULL;
}

/* "model name" of the first processor; tabs do not occur in it. */
static void processor(char name[128]) {
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "r");
  strcpy(name, "unknown");
  while (file && fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) || !colon) continue;
    colon += 1 + (colon[1] == ' ');
    if (strcspn(colon, "\n")) snprintf(name, 128, "%.*s", (int)strcspn(colon, "\n"), colon);
    break;
  }
  if (file) fclose(file);
  cli_clean(name);
}

/* Returns the best level of this processor. */
static const char *level(void) {
  const char *name = "core";
  uint32_t levels = hu_levels() & ~(uint32_t)(HU_LEVEL_BF16 | HU_LEVEL_VNNI); /* which serve products alone */
  for (uint32_t bit = 1; bit; bit <<= 1)
    if (levels & bit) name = hu_level_name(bit);
  return name;
}

int job_entry_write(char line[JOB_LINE_MAX], const char *name, const char *sources, const job_result *result,
                    double seconds) {
  char machine[128], date[16];
  time_t now = time(NULL);
  struct tm day;
  if (result->machine)
    snprintf(machine, sizeof machine, "%s", result->machine);
  else
    processor(machine);
  strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &day));
  int n = snprintf(line, JOB_LINE_MAX, "%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%016" PRIx64 "\t%.2f\t%s\t%s\t%s\t%s\t%s%s%s",
                   name, result->skipped ? "skipped" : "done", result->wrong, result->cases, result->digest, seconds,
                   sources, HU_VERSION_STRING, level(), date, machine, result->more ? "\t" : "",
                   result->more ? result->more : "");
  return n < JOB_LINE_MAX;
}
