// SPDX-License-Identifier: MIT
// emu/core/hadamard.h is C++ too (CUDA compiles it as C++).
#include "emu/core/hadamard.h"

extern "C" void hu_test_hadamard_cpp(uint32_t *u, const hu_hadamard *t, uint32_t *words, const hu_stream *s);

extern "C" void hu_test_hadamard_cpp(uint32_t *u, const hu_hadamard *t, uint32_t *words, const hu_stream *s) {
  hu_hadamard_words(words, t->n, t->signs, t->mask, s->key, s->counter);
  for (uint32_t i = 0; i < t->n; i++) u[i] ^= hu_hadamard_sign(words, hu_hadamard_period(t->n, t->whole), i);
  hu_hadamard_block(u, t->n, hu_hadamard_factor(t->n, t->norm, 0));
}
