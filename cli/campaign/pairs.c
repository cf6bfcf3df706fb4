/* SPDX-License-Identifier: MIT */
/* All pairs, and all triples, of codes of one format or two: lanes against the one-value core, and every 2^16th against
 * the oracle. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/campaign/campaign.h"
#include "cli/verify/verify.h"
#include "halfulp/oracle.h"
#include "halfulp/view.h"

enum { ROW_MAX = 1 << 16, STORED = 4 };

/* A row of results: `many` values of the last operand, the others fixed. Results have the last one's format. */
typedef struct code_row {
  hu_format fixed_format, format;
  hu_mode mode;
  size_t codes, fixed_size; /* of the fixed operands' format: how many, bytes of one */
  size_t many, size;        /* of f */
  uint32_t fixed[2];        /* as stored */
  uint8_t last[ROW_MAX * STORED], z[ROW_MAX * STORED], core[ROW_MAX * STORED];
  int op;
} code_row;

static hu_status compute(const code_row *row, uint8_t *z, uint32_t levels_off, hu_events *events) {
  hu_exec exec = {0, levels_off, {0, 0}, {0}};
  hu_how how = hu_how_of(row->mode, &exec, events);
  hu_view x[HU_OPERANDS_MAX];
  int last = hu_operation_at((size_t)row->op).operands - 1;
  for (int k = 0; k < last; k++) x[k] = hu_codes(&row->fixed[k], 0, row->fixed_format);
  x[last] = hu_codes(row->last, 1, row->format);
  hu_output to = hu_codes_out(z, 1, row->format);
  return hu_apply(row->op, row->many, &to, x, &how);
}

/* Result i is the oracle's, which has the operations' numbers. A stochastic mode's word is that of the element. */
static int check_one(const code_row *row, size_t i, job_result *z) {
#if HU_CLI_ORACLE
  uint32_t expected, events, word = 0;
  hu_oracle_code x[3] = {{row->fixed_format, campaign_code((const uint8_t *)&row->fixed[0], row->fixed_size, 0)},
                         {row->fixed_format, campaign_code((const uint8_t *)&row->fixed[1], row->fixed_size, 0)},
                         {row->format, campaign_code(row->last, row->size, i)}};
  if (hu_operation_at((size_t)row->op).operands == 2) x[1] = x[2];
  if (row->mode.bits) word = hu_stream_word((hu_stream){0, 0}, i) >> (32 - row->mode.bits);
  hu_status status = hu_oracle_arith(&expected, &events, row->op, row->format, row->mode, word, x);
  if (status != HU_OK) return cli_fail_status("oracle", status);
  z->wrong += expected != campaign_code(row->z, row->size, i);
#else
  (void)row, (void)i, (void)z;
#endif
  return CLI_OK;
}

static int check_row(code_row *row, uint64_t number, job_result *z) {
  hu_events lanes = {0}, core = {0};
  hu_status status = compute(row, row->z, 0, &lanes);
  if (status == HU_OK) status = compute(row, row->core, UINT32_MAX, &core);
  if (status != HU_OK) return cli_fail_status("campaign", status);
  for (size_t i = 0; i < row->many && memcmp(row->z, row->core, row->many * row->size) != 0; i++)
    z->wrong += campaign_code(row->z, row->size, i) != campaign_code(row->core, row->size, i);
  z->wrong += memcmp(&lanes, &core, sizeof lanes) != 0;
  z->cases += row->many;
  for (size_t i = 0; i + 8 <= row->many * row->size; i += 8) {
    uint64_t word;
    memcpy(&word, row->z + i, 8);
    z->digest = verify_digest(z->digest, word);
  }
  /* One of a row of 2^16, at a place that changes from row to row. */
  uint64_t every = ROW_MAX / row->many;
  return number % every ? CLI_OK : check_one(row, (number * 40503u) % row->many, z);
}

/* Returns the number of codes of a format with up to 2^16 of them, and the bytes of one; 0 after an error line. */
static size_t codes_of(const campaign_item *item, hu_format *format, const char *text, size_t *size) {
  if (hu_format_parse(format, text, NULL) != HU_OK) abort(); /* checked */
  hu_limits limits = hu_limits_of(*format);
  *size = limits.storage / 8;
  if (limits.width <= 16) return (size_t)1 << limits.width;
  (void)cli_fail(item->name, "%s has more than 2^16 codes", text);
  return 0;
}

static code_row *row_of(const campaign_item *item, int op, const char *fixed, const char *last, const char *mode) {
  code_row *row = calloc(1, sizeof *row);
  if (!row) {
    (void)cli_fail(NULL, "out of memory");
    return NULL;
  }
  if (hu_mode_round_parse(&row->mode, mode) != HU_OK) abort(); /* checked */
  row->op = op;
  row->codes = codes_of(item, &row->fixed_format, fixed, &row->fixed_size);
  if (row->codes) row->many = codes_of(item, &row->format, last, &row->size);
  for (size_t i = 0; i < row->many; i++) campaign_put(row->last, row->size, i, (uint32_t)i);
  if (row->many) return row;
  free(row);
  return NULL;
}

int campaign_pairs(const campaign_item *item, job_result *z) {
  uint64_t shard = 1, shards = 1;
  int op = hu_operation_find(item->argument[0]), status = CLI_OK;
  (void)job_shard(item->argument[3], &shard, &shards);
  code_row *row = row_of(item, op, item->argument[1], item->argument[1], item->argument[2]);
  if (!row) return CLI_BAD;
  z->digest = VERIFY_DIGEST_START;
  for (uint64_t a = (shard - 1) * row->many / shards; a < shard * row->many / shards && status == CLI_OK; a++) {
    campaign_put((uint8_t *)&row->fixed[0], row->fixed_size, 0, (uint32_t)a);
    status = check_row(row, a, z);
  }
  free(row);
  return status;
}

/* Fused multiply-adds: two codes of `fixed`, one of `last`, into the latter. */
static int run_fma(const campaign_item *item, const char *fixed, const char *last, const char *mode, const char *part,
                   job_result *z) {
  uint64_t shard = 1, shards = 1;
  int status = CLI_OK;
  (void)job_shard(part, &shard, &shards);
  code_row *row = row_of(item, HU_OP_FMA, fixed, last, mode);
  if (!row) return CLI_BAD;
  uint64_t rows = (uint64_t)row->codes * row->codes;
  z->digest = VERIFY_DIGEST_START;
  for (uint64_t k = (shard - 1) * rows / shards; k < shard * rows / shards && status == CLI_OK; k++) {
    campaign_put((uint8_t *)&row->fixed[0], row->fixed_size, 0, (uint32_t)(k / row->codes));
    campaign_put((uint8_t *)&row->fixed[1], row->fixed_size, 0, (uint32_t)(k % row->codes));
    status = check_row(row, k, z);
  }
  free(row);
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
