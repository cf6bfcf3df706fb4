/* SPDX-License-Identifier: MIT */
/* Powers: of every so many pairs of codes one, chosen by a random word, against the oracle; lanes against the core. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/campaign/campaign.h"
#include "cli/verify/verify.h"
#include "halfulp/function_n.h"
#include "halfulp/oracle.h"

enum { DRAWN = 1 << 10, STORED = 4 };

typedef struct powers {
  hu_format f, fy; /* of x and x^y; of y */
  hu_mode mode;
  size_t size, size_y;   /* bytes of a code */
  unsigned width_y;      /* pair number x 2^width_y + y */
  uint64_t every, pairs; /* one of `every` pairs is drawn */
  uint8_t x[DRAWN * STORED], y[DRAWN * STORED], z[DRAWN * STORED], core[DRAWN * STORED];
} powers;

/* Pairs first ... first + n - 1 of those that are drawn: word i of the stream with key 0 says which of its `every`. */
static void draw(powers *p, uint64_t first, size_t n) {
  hu_stream words = {0, 0};
  for (size_t i = 0; i < n; i++) {
    uint64_t number = (first + i) * p->every + hu_stream_word(words, first + i) % p->every;
    campaign_put(p->x, p->size, i, (uint32_t)(number >> p->width_y));
    campaign_put(p->y, p->size_y, i, (uint32_t)(number & ((1u << p->width_y) - 1)));
  }
}

static hu_status compute(const powers *p, size_t n, uint8_t *z, uint32_t levels_off, hu_events *events) {
  hu_exec exec = {1, levels_off, {0, 0}};
  return hu_pow_n(n, z, 1, p->f, p->x, 1, p->f, p->y, 1, p->fy, p->mode, &exec, events);
}

static int check_drawn(powers *p, size_t n, job_result *z) {
  hu_events lanes = {0}, core = {0};
  hu_status s = compute(p, n, p->z, 0, &lanes);
  if (s == HU_OK) s = compute(p, n, p->core, UINT32_MAX, &core);
  z->wrong += s == HU_OK && memcmp(&lanes, &core, sizeof lanes) != 0;
  for (size_t i = 0; i < n && s == HU_OK; i++) {
    uint32_t got = campaign_code(p->z, p->size, i), want = got, events;
#if HU_CLI_ORACLE
    hu_oracle_code x[2] = {{p->f, campaign_code(p->x, p->size, i)}, {p->fy, campaign_code(p->y, p->size_y, i)}};
    s = hu_oracle_function(&want, &events, HU_ORACLE_POW, p->f, p->mode, 0, x);
#else
    (void)events;
#endif
    z->wrong += got != want || got != campaign_code(p->core, p->size, i);
    z->digest = verify_digest(z->digest, got);
    z->cases++;
  }
  return s == HU_OK ? CLI_OK : cli_fail_status("campaign", s);
}

static int read_format(const campaign_item *item, const char *text, hu_format *f, size_t *size, unsigned *width) {
  if (hu_format_parse(f, text, NULL) != HU_OK) abort(); /* checked */
  hu_limits l = hu_limits_of(*f);
  *size = l.storage / 8;
  *width = l.width;
  return l.width <= 16 ? CLI_OK : cli_fail(item->name, "%s has more than 2^16 codes", text);
}

int campaign_powers(const campaign_item *item, job_result *z) {
  uint64_t one, shard = 1, shards = 1;
  unsigned width_x = 0;
  powers *p = calloc(1, sizeof *p);
  if (!p) return cli_fail(NULL, "out of memory");
  if (hu_mode_round_parse(&p->mode, item->argument[2]) != HU_OK) abort(); /* checked */
  (void)job_shard(item->argument[3], &one, &p->every);
  (void)job_shard(item->argument[4], &shard, &shards);
  int status = p->mode.bits ? cli_fail(item->name, "powers takes deterministic modes") : CLI_OK;
  if (status == CLI_OK) status = read_format(item, item->argument[0], &p->f, &p->size, &width_x);
  if (status == CLI_OK) status = read_format(item, item->argument[1], &p->fy, &p->size_y, &p->width_y);
  uint64_t drawn = ((uint64_t)1 << (width_x + p->width_y)) / p->every, end = shard * drawn / shards;
  z->digest = VERIFY_DIGEST_START;
  for (uint64_t i = (shard - 1) * drawn / shards; i < end && status == CLI_OK; i += DRAWN) {
    size_t n = end - i < DRAWN ? (size_t)(end - i) : DRAWN;
    draw(p, i, n);
    status = check_drawn(p, n, z);
  }
  free(p);
  return status;
}
