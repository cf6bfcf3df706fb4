// SPDX-License-Identifier: MIT
// emu/core/hadamard.h is C++ too (CUDA compiles it as C++).
#include "emu/core/hadamard.h"

extern "C" void hu_test_hadamard_cpp(uint32_t *u, const hu_hadamard *transform, uint32_t *words,
                                     const hu_stream *stream);

extern "C" void hu_test_hadamard_cpp(uint32_t *u, const hu_hadamard *transform, uint32_t *words,
                                     const hu_stream *stream) {
  hui_hadamard_words(words, transform->n, transform->signs, transform->mask, stream->key, stream->counter);
  for (uint32_t i = 0; i < transform->n; i++)
    u[i] ^= hui_hadamard_sign(words, hui_hadamard_period(transform->n, transform->whole), i);
  hui_hadamard_block(u, transform->n, hui_hadamard_factor(transform->n, transform->norm, 0));
}
