/* SPDX-License-Identifier: MIT */
/* Powers: of every so many pairs of codes one, chosen by a random word, against the oracle; lanes against the core. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/campaign/campaign.h"
#include "cli/verify/verify.h"
#include "halfulp/oracle.h"
#include "halfulp/view.h"

enum { DRAWN = 1 << 10, STORED = 4 };

typedef struct power_pairs {
  hu_format format, fy; /* of x and x^y; of y */
  hu_mode mode;
  size_t size, size_y;   /* bytes of a code */
  unsigned width_y;      /* pair number x 2^width_y + y */
  uint64_t every, pairs; /* one of `every` pairs is powers */
  uint8_t x[DRAWN * STORED], y[DRAWN * STORED], z[DRAWN * STORED], core[DRAWN * STORED];
} power_pairs;

/* Pairs first ... first + n - 1 of those that are powers: word i of the stream with key 0 says which of its `every`. */
static void draw(power_pairs *powers, uint64_t first, size_t n) {
  hu_stream words = {0, 0};
  for (size_t i = 0; i < n; i++) {
    uint64_t number = (first + i) * powers->every + hu_stream_word(words, first + i) % powers->every;
    campaign_put(powers->x, powers->size, i, (uint32_t)(number >> powers->width_y));
    campaign_put(powers->y, powers->size_y, i, (uint32_t)(number & ((1u << powers->width_y) - 1)));
  }
}

static hu_status compute(const power_pairs *powers, size_t n, uint8_t *z, uint32_t levels_off, hu_events *events) {
  hu_exec exec = {1, levels_off, {0, 0}, {0}};
  hu_how how = hu_how_of(powers->mode, &exec, events);
  hu_view x[2] = {hu_codes(powers->x, 1, powers->format), hu_codes(powers->y, 1, powers->fy)};
  hu_output to = hu_codes_out(z, 1, powers->format);
  return hu_apply(HU_OP_POW, n, &to, x, &how);
}

static int check_drawn(power_pairs *powers, size_t n, job_result *z) {
  hu_events lanes = {0}, core = {0};
  hu_status status = compute(powers, n, powers->z, 0, &lanes);
  if (status == HU_OK) status = compute(powers, n, powers->core, UINT32_MAX, &core);
  z->wrong += status == HU_OK && memcmp(&lanes, &core, sizeof lanes) != 0;
  for (size_t i = 0; i < n && status == HU_OK; i++) {
    uint32_t got = campaign_code(powers->z, powers->size, i), expected = got, events;
#if HU_CLI_ORACLE
    hu_oracle_code x[2] = {{powers->format, campaign_code(powers->x, powers->size, i)},
                           {powers->fy, campaign_code(powers->y, powers->size_y, i)}};
    status = hu_oracle_function(&expected, &events, HU_ORACLE_POW, powers->format, powers->mode, 0, x);
#else
    (void)events;
#endif
    z->wrong += got != expected || got != campaign_code(powers->core, powers->size, i);
    z->digest = verify_digest(z->digest, got);
    z->cases++;
  }
  return status == HU_OK ? CLI_OK : cli_fail_status("campaign", status);
}

static int read_format(const campaign_item *item, const char *text, hu_format *format, size_t *size, unsigned *width) {
  if (hu_format_parse(format, text, NULL) != HU_OK) abort(); /* checked */
  hu_limits limits = hu_limits_of(*format);
  *size = limits.storage / 8;
  *width = limits.width;
  return limits.width <= 16 ? CLI_OK : cli_fail(item->name, "%s has more than 2^16 codes", text);
}

int campaign_powers(const campaign_item *item, job_result *z) {
  uint64_t one, shard = 1, shards = 1;
  unsigned width_x = 0;
  power_pairs *powers = calloc(1, sizeof *powers);
  if (!powers) return cli_fail(NULL, "out of memory");
  if (hu_mode_round_parse(&powers->mode, item->argument[2]) != HU_OK) abort(); /* checked */
  (void)job_shard(item->argument[3], &one, &powers->every);
  (void)job_shard(item->argument[4], &shard, &shards);
  int status = powers->mode.bits ? cli_fail(item->name, "powers takes deterministic modes") : CLI_OK;
  if (status == CLI_OK) status = read_format(item, item->argument[0], &powers->format, &powers->size, &width_x);
  if (status == CLI_OK) status = read_format(item, item->argument[1], &powers->fy, &powers->size_y, &powers->width_y);
  uint64_t count = ((uint64_t)1 << (width_x + powers->width_y)) / powers->every, end = shard * count / shards;
  z->digest = VERIFY_DIGEST_START;
  for (uint64_t i = (shard - 1) * count / shards; i < end && status == CLI_OK; i += DRAWN) {
    size_t n = end - i < DRAWN ? (size_t)(end - i) : DRAWN;
    draw(powers, i, n);
    status = check_drawn(powers, n, z);
  }
  free(powers);
  return status;
}
