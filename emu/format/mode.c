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

void hu_events_add(hu_events *sum, const hu_events *part) {
  sum->overflow += part->overflow;
  sum->saturated += part->saturated;
  sum->underflow += part->underflow;
  sum->to_zero += part->to_zero;
  sum->subnormal += part->subnormal;
  sum->inexact += part->inexact;
  sum->invalid += part->invalid;
  sum->nan_in += part->nan_in;
  sum->inf_in += part->inf_in;
  sum->divide_by_zero += part->divide_by_zero;
}

void hu_events_count(hu_events *sum, uint32_t events) {
  sum->overflow += (events & HU_EVENT_OVERFLOW) != 0;
  sum->saturated += (events & HU_EVENT_SATURATED) != 0;
  sum->underflow += (events & HU_EVENT_UNDERFLOW) != 0;
  sum->to_zero += (events & HU_EVENT_TO_ZERO) != 0;
  sum->subnormal += (events & HU_EVENT_SUBNORMAL) != 0;
  sum->inexact += (events & HU_EVENT_INEXACT) != 0;
  sum->invalid += (events & HU_EVENT_INVALID) != 0;
  sum->nan_in += (events & HU_EVENT_NAN_IN) != 0;
  sum->inf_in += (events & HU_EVENT_INF_IN) != 0;
  sum->divide_by_zero += (events & HU_EVENT_DIVIDE_BY_ZERO) != 0;
}

uint32_t hu_events_flags(uint32_t events) {
  uint32_t flags = 0;
  if (events & HU_EVENT_INEXACT) flags |= HU_FLAG_INEXACT;
  if (events & HU_EVENT_UNDERFLOW) flags |= HU_FLAG_UNDERFLOW;
  if (events & HU_EVENT_OVERFLOW) flags |= HU_FLAG_OVERFLOW;
  if (events & HU_EVENT_DIVIDE_BY_ZERO) flags |= HU_FLAG_DIVIDE_BY_ZERO;
  if (events & HU_EVENT_INVALID) flags |= HU_FLAG_INVALID;
  return flags;
}
