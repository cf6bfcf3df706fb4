/* SPDX-License-Identifier: MIT */
/* Modes, event counts and random words as calls. */
#include "halfulp/mode.h"

#include "emu/core/stream.h"

hu_status hu_mode_check(hu_mode mode) {
  int stochastic = mode.round >= HU_SRA;
  if (mode.round >= HU_ROUND_COUNT || mode.saturate > HU_SAT_PROPAGATE) return HU_E_MODE;
  if (mode.tiny > HU_TINY_BEFORE || mode.nan > HU_NAN_TO_ERROR) return HU_E_MODE;
  if (mode.nan_fma > HU_NAN_FMA_INVALID || mode.reserved[0] || mode.reserved[1]) return HU_E_MODE;
  if (stochastic ? mode.bits < 1 || mode.bits > 32 : mode.bits != 0) return HU_E_MODE;
  return HU_OK;
}

uint32_t hu_stream_word(hu_stream stream, uint64_t i) { return hui_stream_at(stream.key, stream.counter + i); }

void hu_stream_words_n(size_t n, uint32_t *z, hu_stream stream) {
  for (size_t i = 0; i < n;) {
    uint64_t c = stream.counter + i;
    hu_philox block = hui_stream_block(stream.key, c >> 2);
    for (uint32_t j = c & 3; j < 4 && i < n; j++) z[i++] = block.words[j];
  }
}
