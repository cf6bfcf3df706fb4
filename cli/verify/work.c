/* SPDX-License-Identifier: MIT */
/* Small worlds and step proofs against the oracle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/tensors/array.h"
#include "cli/verify/verify.h"
#include "halfulp/scalar.h"
#if HU_CLI_ORACLE
#include "halfulp/oracle.h"
#endif

uint64_t verify_digest(uint64_t digest, uint64_t x) {
  for (int i = 0; i < VERIFY_DIGEST_BYTES; i++) {
    digest ^= x >> (8 * i) & 0xFF;
    digest *= 0x100000001B3u;
  }
  return digest;
}

int verify_case(verify_item *item, int right, uint64_t result) {
  enum { TOLD = 3 };
  item->cases++;
  item->digest = verify_digest(item->digest, result);
  if (right) return 0;
  return item->failures++ < TOLD;
}

#if HU_CLI_ORACLE

static void tell(const verify_item *item, hu_mode mode, uint32_t random, double x, const uint32_t got[2],
                 const uint32_t want[2]) {
  char name[CLI_NAME_MAX], value[NUMBER_TEXT_MAX], ours[CLI_EVENTS_MAX], theirs[CLI_EVENTS_MAX];
  fprintf(stderr, "halfulp: verify: %s %s, R = 0x%x, %s: code 0x%x, events %s; the oracle has 0x%x, %s\n", item->name,
          cli_mode_name(name, mode), random, number_hex(value, x), got[0], cli_event_words(ours, got[1]), want[0],
          cli_event_words(theirs, want[1]));
}

static int check_encode(verify_item *item, hu_mode mode, uint32_t random, double x) {
  uint32_t got[2] = {0, 0}, want[2] = {0, 0};
  got[0] = hu_encode64(item->format, mode, x, random, &got[1]);
  hu_status status = hu_oracle_encode64(&want[0], &want[1], item->format, mode, x, random);
  if (status != HU_OK) return cli_fail_status("oracle", status);
  int right = got[0] == want[0] && got[1] == want[1];
  if (verify_case(item, right, (uint64_t)got[1] << 32 | got[0])) tell(item, mode, random, x, got, want);
  return CLI_OK;
}

/* Every mode a world is tried in. The short list leaves out policies and tininess that quick does not look at. */
static int check_modes(verify_item *item, double x, int level) {
  hu_mode mode = {0};
  int status = CLI_OK, policies = level == VERIFY_QUICK ? 2 : 4, tiny = level == VERIFY_QUICK ? 1 : 2;
  int nans = isnan(x) && item->format.nan == HU_NAN_NONE ? 3 : 1;
  for (mode.round = HU_RNE; mode.round < HU_SRA; mode.round++)
    for (mode.saturate = 0; mode.saturate < policies; mode.saturate++)
      for (mode.tiny = 0; mode.tiny < tiny; mode.tiny++)
        for (mode.nan = 0; mode.nan < nans; mode.nan++)
          if (status == CLI_OK) status = check_encode(item, mode, 0, x);
  mode = (hu_mode){.bits = 2};
  for (mode.round = HU_SRA; mode.round <= HU_SRC; mode.round++)
    for (uint32_t random = 0; random < 4 && status == CLI_OK; random++) status = check_encode(item, mode, random, x);
  return status;
}

static int check_both_signs(verify_item *item, double x, int level) {
  int status = check_modes(item, x, level);
  return status == CLI_OK ? check_modes(item, -x, level) : status;
}

/* The grid point, the quarters of the step above it, and what lies just beside them. */
static int check_step(verify_item *item, double low, double high, int level) {
  int status = CLI_OK;
  for (int quarter = 0; quarter < 4 && status == CLI_OK; quarter++) {
    double x = low + 0.25 * quarter * (high - low);
    status = check_both_signs(item, x, level);
    if (status == CLI_OK && quarter != 1 && quarter != 3) {
      status = check_both_signs(item, nextafter(x, HUGE_VAL), level);
      if (status == CLI_OK && x > 0) status = check_both_signs(item, nextafter(x, 0), level);
    }
  }
  return status;
}

static int check_edges(verify_item *item, hu_limits limits, int level) {
  double ulp = ldexp(1, limits.emax - item->format.m);
  const double edges[] = {
      HUGE_VAL, NAN, 1.7976931348623157e308, 0x1p-1074, 0x1p-1022, 2 * limits.max, limits.max + 2 * ulp};
  int status = check_step(item, limits.max, limits.max + ulp, level);
  if (status == CLI_OK) status = check_step(item, limits.max + ulp, limits.max + 2 * ulp, level);
  for (size_t i = 0; i < sizeof edges / sizeof edges[0] && status == CLI_OK; i++)
    status = check_both_signs(item, edges[i], level);
  return status;
}

int verify_world(verify_item *item, const verify_setup *setup) {
  enum { SAMPLES = 256, WHOLE_WIDTH = 8 };
  hu_limits limits = hu_limits_of(item->format);
  hu_stream stream = {0x68616C66756C70u, 0};
  int whole = limits.width <= WHOLE_WIDTH, status = CLI_OK;
  uint64_t codes = whole ? (uint64_t)limits.max_code + 1 : SAMPLES;
  for (uint64_t i = 0; i < codes && status == CLI_OK; i++) {
    uint32_t code = whole ? (uint32_t)i : (uint32_t)(hu_stream_word(stream, i) % ((uint64_t)limits.max_code + 1));
    double low = hu_decode64(item->format, code);
    uint32_t next = code + 1;
    if (code < limits.min_code) low = 0; /* codes that read as zero: one world of its own */
    if (code >= limits.max_code || (code && code < limits.min_code)) continue;
    if (next < limits.min_code) next = limits.min_code;
    status = check_step(item, low, hu_decode64(item->format, next), setup->level);
  }
  int has_zero = limits.min_code != 0;
  if (!has_zero && status == CLI_OK) status = check_step(item, 0, limits.min, setup->level);
  return status == CLI_OK ? check_edges(item, limits, setup->level) : status;
}

/* ---- step proofs ----
 * A block is 2^20 consecutive binary32 bit patterns of one sign. The library's codes are scanned; where two neighbours
 * differ, and at the ends, the oracle is asked. Within a run of equal codes the oracle's answer lies between its
 * answers at the two ends of the run, since what it is defined as is monotone; they are equal to the run's code, so it
 * is, too. */
enum { BLOCK_BITS = 20, BLOCK = 1 << BLOCK_BITS, BLOCKS = 1 << (32 - BLOCK_BITS) };

static uint32_t code_at(const void *codes, unsigned storage, size_t i) {
  return storage == 8 ? ((const uint8_t *)codes)[i] : ((const uint16_t *)codes)[i];
}

static int check_end(verify_item *item, hu_mode mode, float x, uint32_t code) {
  uint32_t want[2] = {0, 0}, got[2];
  hu_status status = hu_oracle_encode64(&want[0], &want[1], item->format, mode, x, 0);
  if (status != HU_OK) return cli_fail_status("oracle", status);
  got[0] = code;
  got[1] = want[1]; /* events are compared in the small worlds */
  if (verify_case(item, code == want[0], code)) tell(item, mode, 0, x, got, want);
  return CLI_OK;
}

static int scan_block(verify_item *item, hu_mode mode, uint32_t block, float *x, void *codes, const hu_exec *exec) {
  unsigned storage = hu_limits_of(item->format).storage;
  for (uint32_t i = 0; i < BLOCK; i++) {
    uint32_t pattern = (block << BLOCK_BITS) + i;
    memcpy(&x[i], &pattern, sizeof pattern);
  }
  hu_status encoded = hu_encode_n(BLOCK, codes, 1, x, 1, item->format, mode, exec, NULL);
  if (encoded != HU_OK) return cli_fail_status("verify", encoded);
  uint64_t cases = item->cases;
  int status = check_end(item, mode, x[0], code_at(codes, storage, 0));
  for (uint32_t i = 1; i < BLOCK && status == CLI_OK; i++) {
    uint32_t before = code_at(codes, storage, i - 1), now = code_at(codes, storage, i);
    if (before == now) continue;
    status = check_end(item, mode, x[i - 1], before);
    if (status == CLI_OK) status = check_end(item, mode, x[i], now);
  }
  if (status == CLI_OK) status = check_end(item, mode, x[BLOCK - 1], code_at(codes, storage, BLOCK - 1));
  item->cases = cases + BLOCK; /* inputs proved, not questions asked */
  return status;
}

int verify_steps(verify_item *item, const verify_setup *setup) {
  hu_mode mode = {0};
  hu_exec exec = {setup->threads, 0, {0, 0}, {0}};
  if (hu_mode_round_parse(&mode, item->mode) != HU_OK) return cli_fail("verify", "mode '%s'", item->mode);
  /* A stride with no common factor with the blocks meets every exponent. Full looks at all blocks in one mode. */
  uint32_t stride = setup->level == VERIFY_EXHAUSTIVE || (setup->level == VERIFY_FULL && mode.round == HU_RNE) ? 1
                    : setup->level == VERIFY_FULL                                                              ? 17
                                                                                                               : 509;
  float *x = cli_alloc(BLOCK, sizeof *x);
  void *codes = cli_alloc(BLOCK, 2);
  int status = x && codes ? CLI_OK : CLI_BAD;
  for (uint32_t b = 0; b < BLOCKS && status == CLI_OK; b += stride) status = scan_block(item, mode, b, x, codes, &exec);
  free(x);
  free(codes);
  return status;
}

#else

int verify_world(verify_item *item, const verify_setup *setup) {
  (void)setup;
  item->skipped = 1;
  return CLI_OK;
}

int verify_steps(verify_item *item, const verify_setup *setup) { return verify_world(item, setup); }

#endif
