/* SPDX-License-Identifier: MIT */
/* What the translator must read, a function each, so that test_translator.py can compare it with the compiled code. */
#include <stdint.h>
#include <string.h>

static const uint16_t table[11] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};

uint64_t sample_loop(uint64_t a, uint64_t b) {
  uint64_t z = 0;
  for (int i = 0; i < 20; i++) {
    if (a >> i & 1) z += b << i;
    if (z > (uint64_t)1 << 60) break;
  }
  return z;
}

uint64_t sample_nested(uint64_t a, uint64_t b) {
  uint64_t z = a;
  for (int i = 0; i < 5; i++)
    for (int j = i; j < 4; j++) z = z * 31 + (b >> (8 * j) & 0xFF) * (uint64_t)(i + 1);
  return z;
}

uint64_t sample_switch(uint64_t a, uint64_t b) {
  switch (a % 7) {
    case 0: return b + 1;
    case 1:
    case 2: b ^= 0x55;
    case 3: return b * 3;
    case 5: return b >> (a & 31);
    default: return ~b;
  }
}

uint64_t sample_table(uint64_t a, uint64_t b) { return table[a % 11] + table[(b >> 3) % 11] * (uint64_t)100; }

uint64_t sample_memory(uint64_t a, uint64_t b) {
  struct {
    uint8_t one;
    uint32_t two;
    uint16_t three[3];
  } x, y;
  memset(&x, 0x5A, sizeof x);
  x.one = (uint8_t)a;
  x.three[b % 3] = (uint16_t)(a >> 8);
  memcpy(&y, &x, sizeof y);
  y.two = (uint32_t)b;
  uint64_t u;
  memcpy(&u, (uint8_t *)&y + 4, sizeof u);
  return u ^ y.one ^ x.two;
}

uint64_t sample_wide(uint64_t a, uint64_t b) {
  unsigned __int128 p = (unsigned __int128)a * b + (a >> 3);
  __int128 q = (__int128)p >> (b & 63);
  return (uint64_t)(p >> 64) ^ (uint64_t)q ^ (uint64_t)(p % 1000003);
}

uint64_t sample_signed(uint64_t a, uint64_t b) {
  int32_t x = (int32_t)(a & 0xFFFF) - 30000, y = (int32_t)(b & 0xFF) - 127;
  int64_t z = y ? (int64_t)(x / y) * 7 + x % y : x;
  return (uint64_t)(z >> 2) + (uint64_t)(x < y) + (uint64_t)((uint32_t)x > (uint32_t)y) * 16;
}

uint64_t sample_counts(uint64_t a, uint64_t b) {
  uint64_t z = (uint64_t)__builtin_clzll(a | 1) * 65 + (uint64_t)__builtin_ctz((uint32_t)b | 0x80000000u);
  uint32_t r = (uint32_t)a << (b & 31) | (uint32_t)a >> (-b & 31);
  uint32_t least = (uint32_t)a < (uint32_t)b ? (uint32_t)a : (uint32_t)b, over;
  uint32_t carried = __builtin_add_overflow((uint32_t)a, (uint32_t)b, &over);
  return z + ((uint64_t)r << 20) + least + (uint64_t)__builtin_popcount((uint32_t)b) + carried * over +
         __builtin_bswap32(r);
}

uint64_t sample_float(uint64_t a, uint64_t b) {
  float x, y, z;
  uint32_t u = (uint32_t)a, v = (uint32_t)b;
  memcpy(&x, &u, 4);
  memcpy(&y, &v, 4);
  z = x * y + (x - y);
  if (z != z) return 77;
  memcpy(&u, &z, 4);
  return u + ((uint64_t)(x < y) << 32) + ((uint64_t)(z >= 1.5f) << 33) + ((uint64_t)(int32_t)(a & 0xFFFF) << 40);
}
