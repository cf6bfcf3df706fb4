/* SPDX-License-Identifier: MIT */
/* Computes SHA-256. */
#include "train/data/sha256.h"

#include <string.h>

enum { BLOCK = 64, ROUNDS = 64, WORDS = 8 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, unsigned by) { return x >> by | x << (32 - by); }

static void spread(uint32_t w[ROUNDS], const uint8_t *x) {
  for (size_t i = 0; i < 16; i++, x += 4)
    w[i] = (uint32_t)x[0] << 24 | (uint32_t)x[1] << 16 | (uint32_t)x[2] << 8 | (uint32_t)x[3];
  for (size_t i = 16; i < ROUNDS; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
  }
}

/* A block of 64 bytes goes into the state. */
static void take(uint32_t h[WORDS], const uint8_t *x) {
  uint32_t w[ROUNDS], s[WORDS];
  spread(w, x);
  memcpy(s, h, sizeof s);
  for (size_t i = 0; i < ROUNDS; i++) {
    uint32_t a = s[0], e = s[4], choice = (e & s[5]) ^ (~e & s[6]), most = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
    uint32_t t = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + constants[i] + w[i];
    memmove(s + 1, s, (WORDS - 1) * sizeof *s);
    s[4] += t;
    s[0] = t + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + most;
  }
  for (size_t i = 0; i < WORDS; i++) h[i] += s[i];
}

/* What is left of the bytes, a bit 1, zeros, the number of bits. */
static void take_end(uint32_t h[WORDS], const uint8_t *x, size_t left, uint64_t bits) {
  uint8_t end[2 * BLOCK] = {0};
  size_t size = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;
  if (left) memcpy(end, x, left);
  end[left] = 0x80;
  for (size_t i = 0; i < 8; i++) end[size - 1 - i] = (uint8_t)(bits >> 8 * i);
  for (size_t i = 0; i < size; i += BLOCK) take(h, end + i);
}

char *hui_sha256_text(char text[HU_SHA256_TEXT + 1], size_t n, const void *x) {
  static const char digits[] = "0123456789abcdef";
  uint32_t h[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint8_t *at = x;
  size_t left = n;
  for (; left >= BLOCK; left -= BLOCK, at += BLOCK) take(h, at);
  take_end(h, at, left, (uint64_t)n * 8);
  for (size_t i = 0; i < HU_SHA256_TEXT; i++) text[i] = digits[h[i / 8] >> (28 - 4 * (i % 8)) & 15];
  text[HU_SHA256_TEXT] = 0;
  return text;
}
