/* SPDX-License-Identifier: MIT */
/* One line of a ledger: read, written, and what this machine is called in it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/cli.h"
#include "cli/campaign/campaign.h"
#include "halfulp/version.h"

static int is_number(const char *text, const char *digits) { return *text && strspn(text, digits) == strlen(text); }

const char *campaign_entry_read(campaign_entry *z, char *line) {
  char *at = line;
  z->line = line;
  for (int i = 0; i < CAMPAIGN_FIELDS; i++) {
    if (!at) return "too few columns";
    z->field[i] = at;
    at = strchr(at, '\t');
    if (at) *at++ = 0;
    if (z->field[i][0] == 0) return "an empty column";
  }
  if (at) return "too many columns";
  const char *state = z->field[CAMPAIGN_STATE];
  if (strcmp(state, "done") && strcmp(state, "stale") && strcmp(state, "open"))
    return "the state is not one of done, stale, open";
  if (!strcmp(state, "open")) return NULL;
  if (!is_number(z->field[CAMPAIGN_WRONG], "0123456789") || !is_number(z->field[CAMPAIGN_CASES], "0123456789"))
    return "wrong and cases are numbers";
  if (!is_number(z->field[CAMPAIGN_SECONDS], "0123456789.")) return "seconds are a number";
  if (strlen(z->field[CAMPAIGN_DIGEST]) != 16 || !is_number(z->field[CAMPAIGN_DIGEST], "0123456789abcdef"))
    return "the digest has 16 hexadecimal digits";
  return NULL;
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

/* The best level of this processor. */
static const char *level(void) {
  const char *name = "core";
  uint32_t levels = hu_levels() & ~(uint32_t)(HU_LEVEL_BF16 | HU_LEVEL_VNNI); /* which serve products alone */
  for (uint32_t bit = 1; bit; bit <<= 1)
    if (levels & bit) name = hu_level_name(bit);
  return name;
}

int campaign_entry_write(char line[CAMPAIGN_LINE_MAX], const campaign_item *item, const campaign_result *z,
                         double seconds) {
  char name[128], date[16];
  time_t now = time(NULL);
  struct tm day;
  processor(name);
  strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &day));
  return snprintf(line, CAMPAIGN_LINE_MAX,
                  "%s\tdone\t%" PRIu64 "\t%" PRIu64 "\t%016" PRIx64 "\t%.2f\t%s\t%s\t%s\t%s\t%s\n", item->name,
                  z->wrong, z->cases, z->digest, seconds, item->sources, HU_VERSION_STRING, level(), date, name);
}
