// SPDX-License-Identifier: MIT
// emu/core/hadamard.h is C++ too (CUDA compiles it as C++).
#include "emu/core/hadamard.h"

extern "C" void hu_test_hadamard_cpp(uint32_t *u, const hu_hadamard *t, uint32_t *words, const hu_stream *s);

extern "C" void hu_test_hadamard_cpp(uint32_t *u, const hu_hadamard *t, uint32_t *words, const hu_stream *s) {
  hui_hadamard_words(words, t->n, t->signs, t->mask, s->key, s->counter);
  for (uint32_t i = 0; i < t->n; i++) u[i] ^= hui_hadamard_sign(words, hui_hadamard_period(t->n, t->whole), i);
  hui_hadamard_block(u, t->n, hui_hadamard_factor(t->n, t->norm, 0));
}
