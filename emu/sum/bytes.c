/* SPDX-License-Identifier: MIT */
/* Sums as bytes, which are the same on every machine, in whatever order the sum was made. */
#include <string.h>

#include "halfulp/sum.h"

enum { HEAD = 12, WORD = 8 };
static const uint8_t magic[4] = {'H', 'U', 'S', '1'};

static void put(uint8_t *z, uint64_t x, int bytes) {
  for (int i = 0; i < bytes; i++) z[i] = (uint8_t)(x >> 8 * i);
}

static uint64_t get(const uint8_t *x, int bytes) {
  uint64_t z = 0;
  for (int i = 0; i < bytes; i++) z |= (uint64_t)x[i] << 8 * i;
  return z;
}

/* Finds the words to write: below them are zeros, above them copies of the sign. */
static void words_of(const hu_sum *sum, size_t *first, size_t *count) {
  size_t low = 0, past = HU_SUM_WORDS;
  while (low < past && sum->word[low] == 0) low++;
  *first = low < past ? low : 0;
  uint64_t sign = 0 - (sum->word[HU_SUM_WORDS - 1] >> 63);
  while (past > low && sum->word[past - 1] == sign) past--;
  /* The sign is read from the last word that is kept. */
  if (low < HU_SUM_WORDS && (past == low || sum->word[past - 1] >> 63 != sign >> 63)) past++;
  *count = past - low;
}

size_t hu_sum_write(uint8_t *bytes, size_t size, const hu_sum *sum) {
  size_t first, count;
  words_of(sum, &first, &count);
  size_t length = HEAD + WORD * count;
  if (!bytes || size < length) return length;
  memcpy(bytes, magic, sizeof magic);
  put(bytes + 4, sum->terms, 4);
  put(bytes + 8, first, 2);
  put(bytes + 10, count, 2);
  for (size_t i = 0; i < count; i++) put(bytes + HEAD + WORD * i, sum->word[first + i], WORD);
  return length;
}

static int is_canonical(const hu_sum *sum, size_t first, size_t count) {
  size_t low, words;
  words_of(sum, &low, &words);
  return low == first && words == count;
}

hu_status hu_sum_read(hu_sum *sum, const uint8_t *bytes, size_t size) {
  hu_sum z;
  memset(&z, 0, sizeof z);
  if (!sum || !bytes) return HU_E_NULL;
  if (size < HEAD || memcmp(bytes, magic, sizeof magic) != 0) return HU_E_DATA;
  size_t first = (size_t)get(bytes + 8, 2), count = (size_t)get(bytes + 10, 2);
  z.terms = (uint32_t)get(bytes + 4, 4);
  if (z.terms >= 2 * HU_SUM_NUMBER || first + count > HU_SUM_WORDS || size != HEAD + WORD * count) return HU_E_DATA;
  if (count && !(z.terms & HU_SUM_NUMBER)) return HU_E_DATA;
  for (size_t i = 0; i < count; i++) z.word[first + i] = get(bytes + HEAD + WORD * i, WORD);
  uint64_t sign = count ? 0 - (z.word[first + count - 1] >> 63) : 0;
  for (size_t i = first + count; i < HU_SUM_WORDS; i++) z.word[i] = sign;
  if (!is_canonical(&z, first, count)) return HU_E_DATA;
  *sum = z;
  return HU_OK;
}
