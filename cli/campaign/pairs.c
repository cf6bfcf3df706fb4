/* SPDX-License-Identifier: MIT */
/* All pairs, and all triples, of codes of one format or two: lanes against the one-value core, and every 2^16th against
 * the oracle. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/campaign/campaign.h"
#include "cli/verify/verify.h"
#include "halfulp/arith_n.h"
#include "halfulp/oracle.h"

enum { ROW_MAX = 1 << 16, STORED = 4 };

typedef hu_status (*binary_n)(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a, ptrdiff_t inca,
                              hu_format fa, const void *b, ptrdiff_t incb, hu_format fb, hu_mode mode,
                              const hu_exec *exec, hu_events *events);
static const struct operation {
  const char *name;
  binary_n run;
  int oracle;
} operations[] = {{"add", hu_add_n, HU_ORACLE_ADD},
                  {"sub", hu_sub_n, HU_ORACLE_SUB},
                  {"mul", hu_mul_n, HU_ORACLE_MUL},
                  {"div", hu_div_n, HU_ORACLE_DIV}};

/* A row of results: `many` values of the last operand, the others fixed. Results have the last one's format. */
typedef struct row {
  hu_format fixed_format, f;
  hu_mode mode;
  size_t codes, fixed_size; /* of the fixed operands' format: how many, bytes of one */
  size_t many, size;        /* of f */
  uint32_t fixed[2];        /* as stored */
  uint8_t last[ROW_MAX * STORED], z[ROW_MAX * STORED], core[ROW_MAX * STORED];
  int operation; /* -1: fma */
} row;

static hu_status compute(const row *r, uint8_t *z, uint32_t levels_off, hu_events *events) {
  hu_exec exec = {0, levels_off, {0, 0}};
  if (r->operation < 0)
    return hu_fma_n(r->many, z, 1, r->f, &r->fixed[0], 0, r->fixed_format, &r->fixed[1], 0, r->fixed_format, r->last, 1,
                    r->f, r->mode, &exec, events);
  return operations[r->operation].run(r->many, z, 1, r->f, &r->fixed[0], 0, r->fixed_format, r->last, 1, r->f, r->mode,
                                      &exec, events);
}

/* Result i is the oracle's. A stochastic mode's word is that of the element. */
static int check_one(const row *r, size_t i, job_result *z) {
#if HU_CLI_ORACLE
  uint32_t want, events, word = 0;
  hu_oracle_code x[3] = {{r->fixed_format, campaign_code((const uint8_t *)&r->fixed[0], r->fixed_size, 0)},
                         {r->fixed_format, campaign_code((const uint8_t *)&r->fixed[1], r->fixed_size, 0)},
                         {r->f, campaign_code(r->last, r->size, i)}};
  if (r->operation >= 0) x[1] = x[2];
  if (r->mode.bits) word = hu_stream_word((hu_stream){0, 0}, i) >> (32 - r->mode.bits);
  hu_status s = hu_oracle_arith(&want, &events, r->operation < 0 ? HU_ORACLE_FMA : operations[r->operation].oracle,
                                r->f, r->mode, word, x);
  if (s != HU_OK) return cli_fail_status("oracle", s);
  z->wrong += want != campaign_code(r->z, r->size, i);
#else
  (void)r, (void)i, (void)z;
#endif
  return CLI_OK;
}

static int check_row(row *r, uint64_t number, job_result *z) {
  hu_events lanes = {0}, core = {0};
  hu_status s = compute(r, r->z, 0, &lanes);
  if (s == HU_OK) s = compute(r, r->core, UINT32_MAX, &core);
  if (s != HU_OK) return cli_fail_status("campaign", s);
  for (size_t i = 0; i < r->many && memcmp(r->z, r->core, r->many * r->size) != 0; i++)
    z->wrong += campaign_code(r->z, r->size, i) != campaign_code(r->core, r->size, i);
  z->wrong += memcmp(&lanes, &core, sizeof lanes) != 0;
  z->cases += r->many;
  for (size_t i = 0; i + 8 <= r->many * r->size; i += 8) {
    uint64_t word;
    memcpy(&word, r->z + i, 8);
    z->digest = verify_digest(z->digest, word);
  }
  /* One of a row of 2^16, at a place that changes from row to row. */
  uint64_t every = ROW_MAX / r->many;
  return number % every ? CLI_OK : check_one(r, (number * 40503u) % r->many, z);
}

/* The number of codes of a format with up to 2^16 of them, and the bytes of one; 0 after an error line. */
static size_t codes_of(const campaign_item *item, hu_format *f, const char *text, size_t *size) {
  if (hu_format_parse(f, text, NULL) != HU_OK) abort(); /* checked */
  hu_limits l = hu_limits_of(*f);
  *size = l.storage / 8;
  if (l.width <= 16) return (size_t)1 << l.width;
  (void)cli_fail(item->name, "%s has more than 2^16 codes", text);
  return 0;
}

static row *row_of(const campaign_item *item, int operation, const char *fixed, const char *last, const char *mode) {
  row *r = calloc(1, sizeof *r);
  if (!r) {
    (void)cli_fail(NULL, "out of memory");
    return NULL;
  }
  if (hu_mode_round_parse(&r->mode, mode) != HU_OK) abort(); /* checked */
  r->operation = operation;
  r->codes = codes_of(item, &r->fixed_format, fixed, &r->fixed_size);
  if (r->codes) r->many = codes_of(item, &r->f, last, &r->size);
  for (size_t i = 0; i < r->many; i++) campaign_put(r->last, r->size, i, (uint32_t)i);
  if (r->many) return r;
  free(r);
  return NULL;
}

int campaign_pairs(const campaign_item *item, job_result *z) {
  uint64_t shard = 1, shards = 1;
  int operation = 0, status = CLI_OK;
  while (strcmp(operations[operation].name, item->argument[0])) operation++;
  (void)job_shard(item->argument[3], &shard, &shards);
  row *r = row_of(item, operation, item->argument[1], item->argument[1], item->argument[2]);
  if (!r) return CLI_BAD;
  z->digest = VERIFY_DIGEST_START;
  for (uint64_t a = (shard - 1) * r->many / shards; a < shard * r->many / shards && status == CLI_OK; a++) {
    campaign_put((uint8_t *)&r->fixed[0], r->fixed_size, 0, (uint32_t)a);
    status = check_row(r, a, z);
  }
  free(r);
  return status;
}

/* Fused multiply-adds: two codes of `fixed`, one of `last`, into the latter. */
static int run_fma(const campaign_item *item, const char *fixed, const char *last, const char *mode, const char *part,
                   job_result *z) {
  uint64_t shard = 1, shards = 1;
  int status = CLI_OK;
  (void)job_shard(part, &shard, &shards);
  row *r = row_of(item, -1, fixed, last, mode);
  if (!r) return CLI_BAD;
  uint64_t rows = (uint64_t)r->codes * r->codes;
  z->digest = VERIFY_DIGEST_START;
  for (uint64_t k = (shard - 1) * rows / shards; k < shard * rows / shards && status == CLI_OK; k++) {
    campaign_put((uint8_t *)&r->fixed[0], r->fixed_size, 0, (uint32_t)(k / r->codes));
    campaign_put((uint8_t *)&r->fixed[1], r->fixed_size, 0, (uint32_t)(k % r->codes));
    status = check_row(r, k, z);
  }
  free(r);
  return status;
}

int campaign_triples(const campaign_item *item, job_result *z) {
  char *const *x = item->argument;
  return run_fma(item, x[0], x[0], x[1], x[2], z);
}

int campaign_mixed(const campaign_item *item, job_result *z) {
  char *const *x = item->argument;
  return run_fma(item, x[0], x[1], x[2], x[3], z);
}
