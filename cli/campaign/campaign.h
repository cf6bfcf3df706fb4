/* SPDX-License-Identifier: MIT */
/* cli/campaign/campaign.h - a list of checks that take seconds to hours each. */
#ifndef HALFULP_CLI_CAMPAIGN_CAMPAIGN_H
#define HALFULP_CLI_CAMPAIGN_CAMPAIGN_H

#include <stddef.h>
#include <stdint.h>

#include "cli/job/job.h"

/* ---- the list ---- */

/* A line of a list: NAME KIND SUBJECTS ARGUMENT..., separated by tabs, or by blanks where it has no tab; it may be
 * indented. Empty lines and those that begin with # say nothing. SUBJECTS: the folders whose claims the item checks,
 * with commas between them. */
typedef struct campaign_item {
  char *line;           /* where the words lie */
  unsigned long number; /* of the line */
  char *name, *kind, *subjects;
  char **argument; /* ends with NULL */
  int arguments;
  char sources[17];
} campaign_item;

typedef struct campaign_list {
  campaign_item *item;
  size_t count;
  uint64_t digest; /* of the file's lines */
  void *tree;      /* of the items, by their names */
} campaign_list;

/* Reads a list: CLI_OK, or an exit code after an error line that names file and line. */
int campaign_list_read(campaign_list *list, const char *path);
void campaign_list_free(campaign_list *list);
/* Puts the hash of its sources, from lines "NAME HASH" (16 hexadecimal digits), into each item; items without a line
 * keep "-", and names of no item are passed over. */
int campaign_sources_read(campaign_list *list, const char *path);
/* Writes what the ledger is to have of an item's sources: their hash, or the digest of the words of its line. */
void campaign_item_sources(const campaign_item *item, char text[JOB_SOURCES_MAX]);

/* ---- one item ---- */

/* Is it an item that campaign_item_run can run? CLI_OK, or CLI_BAD after an error line that begins with FILE:LINE. */
int campaign_item_check(const campaign_item *item, const char *file, unsigned long line);
/* CLI_OK, or an exit code after an error line: then there is no result. A wrong bit is a result. */
int campaign_item_run(const campaign_item *item, job_result *result);
/* Run items of a kind: pairs OP FORMAT MODE I/N, triples FORMAT MODE I/N, mixed FORMAT FORMAT MODE I/N, powers FORMAT
 * FORMAT MODE 1/EVERY I/N. */
int campaign_pairs(const campaign_item *item, job_result *result);
int campaign_triples(const campaign_item *item, job_result *result);
int campaign_mixed(const campaign_item *item, job_result *result);
int campaign_powers(const campaign_item *item, job_result *result);
/* program PATH ARGUMENT..., and program-fails: the exit status says whether it is right. A last line of its output
 * "campaign: cases=N wrong=N digest=HEX" is taken over, except that nothing is wrong where a program failed that must.
 * There is no result, but an error line, where it could not be run (exit status 126 or 127), was skipped (77), or was
 * ended by SIGKILL, SIGTERM, SIGINT or SIGHUP, which say nothing of what it checks. It is no process of the MPI job
 * that runs it. */
int campaign_program(const campaign_item *item, int fails, job_result *result);
/* Returns and sets code i of an array of codes of 1, 2 or 4 bytes. */
uint32_t campaign_code(const uint8_t *codes, size_t size, size_t i);
void campaign_put(uint8_t *codes, size_t size, size_t i, uint32_t code);

#endif
