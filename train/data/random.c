/* SPDX-License-Identifier: MIT */
/* Makes random numbers and first weights from the words of streams. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/data/file.h"
#include "train/environment.h"

hu_stream hu_stream_child(hu_stream stream, uint64_t i) {
  uint64_t low = hu_stream_word(stream, 2 * i), high = hu_stream_word(stream, 2 * i + 1);
  hu_stream child = {high << 32 | low, 0};
  return child;
}

hu_stream hu_stream_of_use(uint64_t seed, uint64_t use) {
  hu_stream root = {seed, 0};
  return hu_stream_child(root, use);
}

/* The high half of word n; words whose low half would favour some numbers are passed over (Lemire, Fast random integer
 * generation in an interval, 2019). */
uint32_t hu_stream_below(hu_stream *stream, uint32_t n) {
  uint32_t spare = (0u - n) % n; /* 2^32 mod n */
  for (;;) {
    uint64_t product = (uint64_t)hu_stream_word(*stream, 0) * n;
    stream->counter++;
    if ((uint32_t)product >= spare) return (uint32_t)(product >> 32);
  }
}

void hu_permutation(uint32_t n, uint32_t *z, hu_stream stream) {
  for (uint32_t i = 0; i < n; i++) z[i] = i;
  for (uint32_t i = n; i > 1; i--) {
    uint32_t k = hu_stream_below(&stream, i), last = z[i - 1];
    z[i - 1] = z[k];
    z[k] = last;
  }
}

enum { PIECE = 512 };

static hu_stream behind(hu_stream stream, size_t i) {
  stream.counter += i;
  return stream;
}

/* Returns floor(w / 2^8) / 2^24. */
static float unit(uint32_t w) { return (float)(w >> 8) * 0x1p-24f; }

static HU_NOINLINE void draw_uniform(size_t n, float *z, float low, float high, hu_stream stream) {
  uint32_t words[PIECE];
  const float width = high - low;
  for (size_t at = 0; at < n; at += PIECE) {
    size_t piece = n - at < PIECE ? n - at : PIECE;
    hu_stream_words_n(piece, words, behind(stream, at));
    for (size_t i = 0; i < piece; i++) z[at + i] = low + width * unit(words[i]);
  }
}

void hu_uniform_n(size_t n, float *z, float low, float high, hu_stream stream) {
  HU_ENV_DO(draw_uniform(n, z, low, high, stream));
}

/* The arguments are right, so that no call can fail. */
void hui_apply_n(int op, size_t n, float *x) {
  uint32_t codes[PIECE];
  hu_view view = hu_codes(codes, 1, hu_binary32());
  for (size_t at = 0; at < n; at += PIECE) {
    size_t piece = n - at < PIECE ? n - at : PIECE;
    memcpy(codes, x + at, piece * sizeof *x);
    hu_output to = hu_codes_out(codes, 1, hu_binary32());
    hu_status status = hu_apply(op, piece, &to, &view, NULL);
    (void)status;
    memcpy(x + at, codes, piece * sizeof *x);
  }
}

/* x = k ln 2 + r with |r| <= 0.35, and Horner's scheme for the series of e^r, which 14 terms end below 2^-57. ln 2 is
 * two numbers, of which the first has 32 bits, so that its product with k is exact. */
double hui_exp_of(double x) {
  static const double high = 0x1.62e42fee00000p-1, low = 0x1.a39ef35793c76p-33, per = 0x1.71547652b82fep+0;
  if (isnan(x)) return x;
  if (x > 710) return (double)INFINITY;
  if (x < -745) return 0;
  const double k = floor(x * per + 0.5), r = (x - k * high) - k * low;
  double z = 1;
  for (int i = 14; i >= 1; i--) z = 1 + r * z / i;
  return ldexp(z, (int)k);
}

/* Computes normal numbers 0 ... 2 pairs - 1 of a stream. */
static void normal_pairs(size_t pairs, float *z, hu_stream stream) {
  const float turn = 0x1.921fb6p+2f; /* 2 pi to binary32 */
  uint32_t words[PIECE];
  float r[PIECE / 2], c[PIECE / 2], d[PIECE / 2];
  hu_stream_words_n(2 * pairs, words, stream);
  for (size_t i = 0; i < pairs; i++) {
    r[i] = unit(words[2 * i]) + 0x1p-24f; /* exact; never 0 */
    c[i] = d[i] = turn * unit(words[2 * i + 1]);
  }
  hui_apply_n(HU_OP_LOG, pairs, r);
  hui_apply_n(HU_OP_COS, pairs, c);
  hui_apply_n(HU_OP_SIN, pairs, d);
  for (size_t i = 0; i < pairs; i++) {
    float radius = sqrtf(-2 * r[i]);
    z[2 * i] = radius * c[i];
    z[2 * i + 1] = radius * d[i];
  }
}

static HU_NOINLINE void draw_normal(size_t n, float *z, float deviation, hu_stream stream) {
  float t[PIECE];
  for (size_t at = 0; at < n; at += PIECE) {
    size_t piece = n - at < PIECE ? n - at : PIECE;
    normal_pairs((piece + 1) / 2, t, behind(stream, at));
    for (size_t i = 0; i < piece; i++) z[at + i] = deviation * t[i];
  }
}

void hu_normal_n(size_t n, float *z, float deviation, hu_stream stream) {
  HU_ENV_DO(draw_normal(n, z, deviation, stream));
}

static HU_NOINLINE void init_normal(size_t n, float *z, unsigned gain, size_t fan_in, hu_stream stream) {
  float variance = (float)gain / (float)(fan_in ? fan_in : 1);
  draw_normal(n, z, sqrtf(variance), stream);
}

void hu_init_normal(size_t n, float *z, unsigned gain, size_t fan_in, hu_stream stream) {
  HU_ENV_DO(init_normal(n, z, gain, fan_in, stream));
}

void hui_init_cut(size_t n, float *z, float deviation, hu_stream stream) {
  const size_t further = n + n % 2;
  draw_normal(n, z, 1, stream);
  for (size_t i = 0; i < n; i++) {
    float pair[2];
    for (size_t at = i - i % 2; fabsf(z[i]) > 2; z[i] = pair[i % 2]) {
      at += further;
      normal_pairs(1, pair, behind(stream, at));
    }
    z[i] *= deviation;
  }
}

void hui_init_within(size_t n, float *z, float bound, hu_stream stream) {
  uint32_t words[PIECE];
  for (size_t at = 0; at < n; at += PIECE) {
    size_t piece = n - at < PIECE ? n - at : PIECE;
    hu_stream_words_n(piece, words, behind(stream, at));
    for (size_t i = 0; i < piece; i++) {
      int32_t odd = 2 * (int32_t)(words[i] >> 8) + 1 - (1 << 24); /* the same number of either sign */
      z[at + i] = bound * ((float)odd * 0x1p-24f);
    }
  }
}

void hu_init_uniform(size_t n, float *z, size_t hidden, hu_stream stream) {
  HU_ENV_DO(hui_init_within(n, z, 1 / sqrtf((float)(hidden ? hidden : 1)), stream));
}
