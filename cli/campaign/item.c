/* SPDX-License-Identifier: MIT */
/* Kinds of items: which arguments each requires, and who runs it. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/campaign/campaign.h"
#include "cli/verify/verify.h"
#include "halfulp/operation.h"

/* Worlds and step proofs are those of `halfulp verify`. */
static int run_verify(const campaign_item *item, int kind, job_result *z) {
  verify_setup setup = {VERIFY_EXHAUSTIVE, 1, NULL};
  verify_item *checked = calloc(1, sizeof *checked);
  if (!checked) return cli_fail(NULL, "out of memory");
  checked->kind = kind;
  checked->digest = VERIFY_DIGEST_START;
  snprintf(checked->name, sizeof checked->name, "%s", item->argument[0]);
  snprintf(checked->mode, sizeof checked->mode, "%s", kind == VERIFY_STEPS ? item->argument[1] : "-");
  int status = cli_read_format(&checked->format, item->argument[0]);
  if (status == CLI_OK) status = kind == VERIFY_STEPS ? verify_steps(checked, &setup) : verify_world(checked, &setup);
  if (status == CLI_OK && checked->skipped) status = cli_fail(item->name, "this build has no oracle (MPFR, GMP)");
  z->cases = checked->cases;
  z->wrong = checked->failures;
  z->digest = checked->digest;
  free(checked);
  return status;
}

static int run_world(const campaign_item *item, job_result *z) { return run_verify(item, VERIFY_WORLD, z); }
static int run_steps(const campaign_item *item, job_result *z) { return run_verify(item, VERIFY_STEPS, z); }
static int run_program(const campaign_item *item, job_result *z) { return campaign_program(item, 0, z); }
static int run_fails(const campaign_item *item, job_result *z) { return campaign_program(item, 1, z); }

/* Arguments: a letter each. f: a format, m: a mode, s: I/N, e: 1/N, o: an operation, p: one or more words. */
static const struct kind {
  const char *name, *arguments, *usage;
  int (*run)(const campaign_item *item, job_result *z);
} kinds[] = {{"world", "f", "FORMAT", run_world},
             {"steps", "fm", "FORMAT MODE", run_steps},
             {"pairs", "ofms", "add|sub|mul|div FORMAT MODE I/N", campaign_pairs},
             {"triples", "fms", "FORMAT MODE I/N", campaign_triples},
             {"mixed", "ffms", "FORMAT FORMAT MODE I/N", campaign_mixed},
             {"powers", "ffmes", "FORMAT FORMAT MODE 1/EVERY I/N", campaign_powers},
             {"program", "p", "PATH ARGUMENT...", run_program},
             {"program-fails", "p", "PATH ARGUMENT...", run_fails}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct kind *kind_of(const char *name) {
  for (size_t i = 0; i < KINDS; i++)
    if (!strcmp(kinds[i].name, name)) return &kinds[i];
  return NULL;
}

static int is_argument(char letter, const char *text) {
  hu_format format;
  hu_mode mode = {0};
  uint64_t i, n;
  switch (letter) {
    case 'f': return hu_format_parse(&format, text, NULL) == HU_OK;
    case 'm': return hu_mode_round_parse(&mode, text) == HU_OK;
    case 's': return job_shard(text, &i, &n);
    case 'e': return job_shard(text, &i, &n) && i == 1;
    case 'o': return hu_operation_find(text) >= HU_OP_ADD && hu_operation_find(text) <= HU_OP_DIV;
    default: return 1;
  }
}

int campaign_item_check(const campaign_item *item, const char *file, unsigned long line) {
  const struct kind *k = kind_of(item->kind);
  if (!k) return cli_fail(NULL, "%s:%lu: '%s' is no kind of item", file, line, item->kind);
  int many = k->arguments[0] == 'p', wanted = (int)strlen(k->arguments);
  if (many ? item->arguments < 1 : item->arguments != wanted)
    return cli_fail(NULL, "%s:%lu: %s takes %s", file, line, k->name, k->usage);
  for (int i = 0; !many && i < wanted; i++)
    if (!is_argument(k->arguments[i], item->argument[i]))
      return cli_fail(NULL, "%s:%lu: '%s' cannot stand there: %s takes %s", file, line, item->argument[i], k->name,
                      k->usage);
  return CLI_OK;
}

int campaign_item_run(const campaign_item *item, job_result *z) {
  memset(z, 0, sizeof *z);
  return kind_of(item->kind)->run(item, z);
}
