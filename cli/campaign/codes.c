/* SPDX-License-Identifier: MIT */
/* What kinds of items share: parts "I/N", and arrays of codes. */
#include <stdlib.h>
#include <string.h>

#include "cli/campaign/campaign.h"

int campaign_shard(const char *text, uint64_t *i, uint64_t *n) {
  char *end;
  if (strspn(text, "0123456789/") != strlen(text)) return 0;
  *i = strtoull(text, &end, 10);
  if (*end != '/' || end == text) return 0;
  *n = strtoull(end + 1, &end, 10);
  return *end == 0 && *i >= 1 && *i <= *n && *n <= 65536;
}

uint32_t campaign_code(const uint8_t *x, size_t size, size_t i) {
  return size == 1 ? x[i] : size == 2 ? ((const uint16_t *)(const void *)x)[i] : ((const uint32_t *)(const void *)x)[i];
}

void campaign_put(uint8_t *x, size_t size, size_t i, uint32_t code) {
  uint8_t low = (uint8_t)code;
  uint16_t half = (uint16_t)code;
  if (size == 1) memcpy(x + i, &low, 1);
  if (size == 2) memcpy(x + 2 * i, &half, 2);
  if (size == 4) memcpy(x + 4 * i, &code, 4);
}
