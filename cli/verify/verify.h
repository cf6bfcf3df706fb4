/* SPDX-License-Identifier: MIT */
/* cli/verify/verify.h - the self-test as a list of independent items, which processes can share
 * (cli/job). */
#ifndef HALFULP_CLI_VERIFY_VERIFY_H
#define HALFULP_CLI_VERIFY_VERIFY_H

#include <stdint.h>
#include <stdio.h>

#include "halfulp/format.h"
#include "halfulp/mode.h"

enum { VERIFY_QUICK, VERIFY_FULL, VERIFY_EXHAUSTIVE };
enum { VERIFY_GOLDEN, VERIFY_WORLD, VERIFY_STEPS, VERIFY_DEVICE, VERIFY_KINDS };
enum { VERIFY_NAME_MAX = 192 };
#define VERIFY_MMA_FILE "mma/probes.txt"

typedef struct verify_item {
  int kind;
  char name[VERIFY_NAME_MAX];       /* of the format or the golden file, without blanks */
  char mode[16];                    /* of a step proof, else "-" */
  char title[VERIFY_NAME_MAX + 32]; /* in a ledger: "steps/bfloat16/rne" */
  hu_format format;
  int own;           /* other commands do the others */
  int done, skipped; /* skipped: it needs something that this build or machine lacks */
  uint64_t cases, failures, digest;
} verify_item;

/* How much an item checks, and with what. */
typedef struct verify_setup {
  int level;
  unsigned threads;
  const char *golden; /* directory */
} verify_setup;

const char *verify_kind_name(int kind);

/* FNV-1a, 64 bits, over the eight bytes of a number, low byte first. */
enum { VERIFY_DIGEST_BYTES = 8 };
#define VERIFY_DIGEST_START 0xCBF29CE484222325u
uint64_t verify_digest(uint64_t digest, uint64_t x);
/* Counts a case; 1 if it is wrong and still among the first that are printed in full. */
int verify_case(verify_item *item, int right, uint64_t result);

/* The work: each fills cases, failures and digest. 0, or an exit code where the work could not be done at all. */
int verify_world(verify_item *item, const verify_setup *setup);
int verify_steps(verify_item *item, const verify_setup *setup);
int verify_golden(verify_item *item, const verify_setup *setup);
int verify_mma(verify_item *item, const verify_setup *setup); /* the golden file VERIFY_MMA_FILE */
int verify_device(verify_item *item, const verify_setup *setup);

typedef struct verify_run {
  const char *level, *device;
  unsigned shard, shards;
  size_t count;
  verify_item *items;
} verify_run;
/* Prints the table of kinds, nothing where `out` is NULL; 0, or CLI_DIFFERENT if anything failed. */
int verify_summary(FILE *out, const verify_run *run, int json);

#endif
