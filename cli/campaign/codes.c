/* SPDX-License-Identifier: MIT */
/* Arrays of codes, which kinds of items share. */
#include <string.h>

#include "cli/campaign/campaign.h"

uint32_t campaign_code(const uint8_t *codes, size_t size, size_t i) {
  const void *all = codes;
  return size == 1 ? codes[i] : size == 2 ? ((const uint16_t *)all)[i] : ((const uint32_t *)all)[i];
}

void campaign_put(uint8_t *codes, size_t size, size_t i, uint32_t code) {
  uint8_t low = (uint8_t)code;
  uint16_t half = (uint16_t)code;
  if (size == 1) memcpy(codes + i, &low, 1);
  if (size == 2) memcpy(codes + 2 * i, &half, 2);
  if (size == 4) memcpy(codes + 4 * i, &code, 4);
}
