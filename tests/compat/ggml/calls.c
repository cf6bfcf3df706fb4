/* SPDX-License-Identifier: MIT */
/* What ggml-quants.c of ggml takes from its other sources: sizes of types, and the end of a program. */
#include <stdio.h>
#include <stdlib.h>

#include "ggml.h"

size_t ggml_type_size(enum ggml_type type) {
  switch (type) {
    case GGML_TYPE_Q4_0: return 18;
    case GGML_TYPE_Q4_1: return 20;
    case GGML_TYPE_Q5_0: return 22;
    case GGML_TYPE_Q5_1: return 24;
    case GGML_TYPE_Q2_K: return 84;
    case GGML_TYPE_Q3_K: return 110;
    case GGML_TYPE_Q4_K: return 144;
    case GGML_TYPE_Q5_K: return 176;
    case GGML_TYPE_Q6_K: return 210;
    case GGML_TYPE_IQ4_NL: return 18;
    case GGML_TYPE_IQ4_XS: return 136;
    default: return 1;
  }
}

size_t ggml_row_size(enum ggml_type type, int64_t count) {
  int large = (type >= GGML_TYPE_Q2_K && type <= GGML_TYPE_Q6_K) || type == GGML_TYPE_IQ4_XS;
  return ggml_type_size(type) * (size_t)(count / (large ? 256 : 32));
}

const char *ggml_type_name(enum ggml_type type) {
  (void)type;
  return "";
}

void ggml_abort(const char *file, int line, const char *format, ...) {
  fprintf(stderr, "%s:%d: %s\n", file, line, format);
  abort();
}
