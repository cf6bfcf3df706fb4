/* SPDX-License-Identifier: MIT */
/* halfulp campaign - a list of checks, shared by many processes, with a ledger of the results. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/campaign/campaign.h"

enum { KEY_SOURCES = CLI_KEY_FREE };

typedef struct campaign_state {
  job_asked asked;
  const char *list_path, *sources;
  int json;
  campaign_list list;
  job_work work;
} campaign_state;

static int set(void *context, int key, const char *value) {
  campaign_state *state = context;
  if (key == KEY_SOURCES) return state->sources = value, CLI_OK;
  if (key == CLI_KEY_JSON) return state->json = 1, CLI_OK;
  return job_set(&state->asked, key, value);
}

static const cli_option options[] = {
    {JOB_KEY_LEDGER, "ledger", "LEDGER", "the file of results; default: LIST's name with .ledger behind it"},
    {KEY_SOURCES, "sources", "FILE", "lines NAME HASH: the digest of the sources that an item depends on"},
    JOB_OPTIONS_OF(0, "1"),
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "campaign",
    "LIST",
    "Run a long list of checks on many processes, and keep a ledger of the results",
    "Each line of LIST is an item: NAME KIND SUBJECTS ARGUMENT..., with blanks or tabs between them.\n\n"
    "  world FORMAT                           rounding, all codes and around them, against the oracle\n"
    "  steps FORMAT MODE                      rounding of all 2^32 binary32 numbers, against the oracle\n"
    "  pairs add|sub|mul|div FORMAT MODE I/N  all pairs of codes, lanes against the core; part I of N\n"
    "  triples FORMAT MODE I/N                the same for fused multiply-adds\n"
    "  mixed FORMAT FORMAT MODE I/N           two codes of the first format, one of the second, into it\n"
    "  powers FORMAT FORMAT MODE 1/K I/N      x^y of one pair in K, drawn at random, against the oracle\n"
    "  program PATH ARGUMENT...               a program; exit status 0 is right\n"
    "  program-fails PATH ARGUMENT...         a program that must fail\n\n"
    "SUBJECTS are the folders whose claims an item checks; they are for --sources. Items that the ledger\n"
    "has are not run again unless their hash, or without --sources their line, has changed: after an interrupt\n"
    "the same command continues. A wrong result is written to the ledger and stops nothing. The exit status is\n"
    "1 if there is one.\n"
    "`mpirun -n N halfulp campaign ...` shares the items among N processes; the entries of the ledger are\n"
    "the same except seconds, machines and dates. docs/cluster.md explains ledgers and large machines.",
    "  printf 'w world codes float4_e2m1fn\\nt triples arith float4_e2m1fn rne 1/1\\n' > /tmp/some.list\n"
    "  halfulp campaign /tmp/some.list\n"
    "  halfulp campaign /tmp/some.list --status --json",
    options,
    1,
    4096,
    set};

static int run_item(void *context, size_t i, job_result *result, job_steps *steps) {
  const campaign_state *state = context;
  (void)steps;
  return campaign_item_run(&state->list.item[i], result);
}

static int prepare(void *context) {
  campaign_state *state = context;
  job_work *work = &state->work;
  if (state->asked.merge) return CLI_OK; /* whose items are those of the ledgers */
  int status = campaign_list_read(&state->list, state->list_path);
  if (status == CLI_OK && state->sources) status = campaign_sources_read(&state->list, state->sources);
  if (status != CLI_OK) return status;
  work->item = calloc(state->list.count, sizeof *work->item);
  if (!work->item) return cli_fail(NULL, "out of memory");
  work->count = state->list.count;
  work->digest = state->list.digest;
  for (size_t i = 0; i < work->count; i++) {
    work->item[i].name = state->list.item[i].name;
    campaign_item_sources(&state->list.item[i], work->item[i].sources);
  }
  return CLI_OK;
}

static int report(const campaign_state *state) {
  char *again;
  if (state->asked.merge) return printf("%s: %zu items\n", state->work.path, state->work.ledger.count), CLI_OK;
  if (asprintf(&again, "halfulp campaign '%s'", state->list_path) < 0) return cli_fail(NULL, "out of memory");
  uint64_t wrong = job_report(stdout, &state->work, again, state->json);
  free(again);
  if (state->work.failed) return cli_fail(NULL, "campaign: %zu items could not be run", state->work.failed);
  return wrong ? CLI_DIFFERENT : CLI_OK;
}

int cli_campaign(int argc, char **argv) {
  campaign_state state = {.asked = JOB_NOTHING_ASKED};
  const job_asked *asked = &state.asked;
  char **operands, *beside = NULL;
  int count, status = job_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (asked->merge && !asked->ledger)
    return cli_fail(NULL, "campaign: --merge requires --ledger, the file of all results");
  if (asked->merge && (state.json || state.sources))
    return cli_fail(NULL, "campaign: --merge and %s do not go together", state.json ? "--json" : "--sources");
  if (!asked->merge && count > 1)
    return cli_fail(NULL, "campaign: '%s' is one operand too many; it takes LIST", operands[1]);
  state.list_path = operands[0];
  if (!asked->ledger && asprintf(&beside, "%s.ledger", operands[0]) < 0) return cli_fail(NULL, "out of memory");
  state.work = (job_work){.who = "campaign",
                          .asked = asked,
                          .path = asked->ledger ? asked->ledger : beside,
                          .list = "another LIST or other --sources",
                          .prepare = prepare,
                          .run = run_item,
                          .context = &state,
                          .ledger = JOB_NO_LEDGER(JOB_FIELDS - 1)};
  status = job_run(&state.work, count, operands);
  if (status == CLI_OK && !job_ranks_get()->rank) status = report(&state);
  status = job_ranks_get()->largest(status);
  job_free(&state.work);
  campaign_list_free(&state.list);
  free(beside);
  return status;
}
