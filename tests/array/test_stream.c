/* SPDX-License-Identifier: MIT */
/* Random words: Random123's known-answer vectors, Random123 itself, the addressing of words, arrays. */
#include <string.h>

#include "halfulp/mode.h"
#include "tests/support/cmocka.h"

#include "emu/core/stream.h"
#include "tests/support/support.h"

#if HU_HAVE_RANDOM123
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wundef"
#endif
#include <Random123/philox.h>
#endif

/* kat_vectors of Random123, "philox4x32 10": counter, key, result. */
static const uint32_t known[][10] = {
    {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
    {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
     0x6d5451fd},
    {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
     0x24126ea1},
};

static void test_known_answers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    hu_philox c;
    memcpy(c.words, known[i], sizeof c.words);
    c = hui_philox4x32(c, known[i][4], known[i][5]);
    assert_memory_equal(c.words, known[i] + 6, sizeof c.words);
  }
}

#if HU_HAVE_RANDOM123
static void test_random123(void **state) {
  (void)state;
  t_random random = {t_seed("philox", 1)};
  for (int i = 0; i < 100000; i++) {
    hu_stream stream = {t_next64(&random), t_next64(&random)};
    uint64_t n = t_next64(&random), c = stream.counter + n;
    philox4x32_ctr_t counter = {{(uint32_t)(c >> 2), (uint32_t)(c >> 34), 0, 0}};
    philox4x32_key_t key = {{(uint32_t)stream.key, (uint32_t)(stream.key >> 32)}};
    philox4x32_ctr_t expected = philox4x32_R(10, counter, key);
    assert_int_equal(hu_stream_word(stream, n), expected.v[c & 3]);
  }
}
#endif

static void test_words(void **state) {
  (void)state;
  t_random random = {t_seed("words", 2)};
  for (int k = 0; k < 500; k++) {
    uint32_t z[140];
    size_t n = t_below(&random, 100);
    hu_stream stream = {t_next64(&random), k % 2 ? t_next64(&random) : UINT64_MAX - t_below(&random, 60)};
    memset(z, 0xA5, sizeof z);
    hu_stream_words_n(n, z, stream);
    for (size_t i = 0; i < n; i++) assert_int_equal(z[i], hu_stream_word(stream, i));
    for (size_t i = n; i < 140; i++) assert_int_equal(z[i], 0xA5A5A5A5);
    hu_stream later = {stream.key, stream.counter + 17};
    assert_int_equal(hu_stream_word(later, 3), hu_stream_word(stream, 20));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_known_answers),
#if HU_HAVE_RANDOM123
    cmocka_unit_test(test_random123),
#endif
    cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests_name("random words", tests, NULL, NULL);
}
