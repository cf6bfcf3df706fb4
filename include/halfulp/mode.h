/* SPDX-License-Identifier: MIT */
/* halfulp/mode.h - choose how results are rounded and what happens beyond the range; draw random words; count events.
 *
 *   hu_mode mode = {0};                                                  // ties to even
 *   if (hu_mode_round_parse(&mode, "sra:16") != HU_OK) ...               // stochastic, 16 random bits
 *
 * All of these are values of a call; nothing is global. The all-zero hu_mode is ties to even, the format's default
 * saturation, tininess after rounding, NaN to +max in formats without NaN. Definitions: docs/numerics.md sections 2 to
 * 6. */
#ifndef HALFULP_MODE_H
#define HALFULP_MODE_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rounding (docs/numerics.md section 2; IEEE 754-2019 section 4.3, P3109 "rounding modes"). */
enum {
  HU_RNE = 0,         /* to nearest, ties to even */
  HU_RNA = 1,         /* to nearest, ties away */
  HU_RNZ = 2,         /* to nearest, ties to zero */
  HU_RTZ = 3,         /* toward zero */
  HU_RTP = 4,         /* toward positive */
  HU_RTN = 5,         /* toward negative */
  HU_RAZ = 6,         /* away from zero */
  HU_RTO = 7,         /* to odd */
  HU_SRA = 8,         /* stochastic: add N random bits to the discarded ones, then truncate */
  HU_SRB = 9,         /* stochastic, half a unit of the last random bit added (P3109 StochasticB) */
  HU_SRC = 10,        /* stochastic, the discarded part rounded to N bits first (P3109 StochasticC) */
  HU_ROUND_COUNT = 11 /* (count) */
};
/* Saturation policy (section 3). */
enum {
  HU_SAT_DEFAULT = 0,  /* none for formats with infinities, finite for those without */
  HU_SAT_NONE = 1,     /* the format's own overflow rule */
  HU_SAT_FINITE = 2,   /* finite overflow and infinities give max */
  HU_SAT_PROPAGATE = 3 /* finite overflow gives max, an infinity stays one where there is one */
};
/* When a result counts as tiny (section 5). */
enum {
  HU_TINY_AFTER = 0, /* after rounding, the exponent unbounded */
  HU_TINY_BEFORE = 1 /* before rounding */
};
/* A NaN into a format that has none (section 4). */
enum {
  HU_NAN_TO_MAX = 0,  /* +max, as in CUDA, PTX and ONNX */
  HU_NAN_TO_ZERO = 1, /* code 0 */
  HU_NAN_TO_ERROR = 2 /* +max, and the event invalid */
};

/* The fused multiply-add infinity times zero plus a NaN: is it invalid? IEEE 754-2019 7.2 leaves that open for a quiet
 * NaN (section 10). The result is NaN either way. */
enum {
  HU_NAN_FMA_QUIET = 0,  /* no, as on x86: no event but nan_in and inf_in */
  HU_NAN_FMA_INVALID = 1 /* yes, the event invalid, as on RISC-V and Arm */
};

/* How a result is rounded. All zero: ties to even, the format's default saturation, tininess after rounding, NaN to
 * max, no invalid for infinity times zero plus a NaN. */
typedef struct hu_mode {
  uint8_t round;       /* HU_RNE ... HU_SRC */
  uint8_t saturate;    /* HU_SAT_ */
  uint8_t tiny;        /* HU_TINY_ */
  uint8_t nan;         /* HU_NAN_TO_ */
  uint8_t bits;        /* stochastic modes: random bits N, 1..32; else 0 */
  uint8_t nan_fma;     /* HU_NAN_FMA_; only fused multiply-adds and hu_dot look at it */
  uint8_t reserved[2]; /* 0 */
} hu_mode;

/* HU_OK or HU_E_MODE. */
HU_API HU_MUST_CHECK hu_status hu_mode_check(hu_mode mode);

/* A rounding mode in words. A standard's name is "" where the standard has no such mode. */
typedef struct hu_mode_words {
  const char *name;    /* "rne"; the text of a stochastic mode is this, ':' and N */
  const char *meaning; /* "to nearest, ties to even" */
  const char *p3109;   /* in IEEE P3109: "NearestTiesToEven" */
  const char *ieee;    /* in IEEE 754-2019: "roundTiesToEven" */
} hu_mode_words;
/* The words of HU_RNE ... HU_SRC; all NULL for another number. */
HU_API hu_mode_words hu_mode_round_words(uint32_t round);
/* The texts of all rounding modes, N from 1 to 32; for messages. */
#define HU_ROUND_TEXTS "rne rna rnz rtz rtp rtn raz rto sra:N srb:N src:N"
/* Reads one of HU_ROUND_TEXTS, or sr:N, which is sra:N. Sets round and bits, leaves the rest. HU_E_TEXT otherwise,
 * *mode untouched. */
HU_API HU_MUST_CHECK hu_status hu_mode_round_parse(hu_mode *mode, const char *text);
/* For messages about a text that hu_mode_round_parse refuses: which of HU_ROUND_TEXTS stand for a word that papers and
 * other programs have ("sr", "stochastic", "nearest", "even", "floor", in capitals, too); NULL for other words. */
HU_API const char *hu_mode_round_hint(const char *text);
/* Saturation text: default none finite propagate. NaN text: max zero error. Text of nan_fma: quiet invalid. Each sets
 * its field and leaves the rest. */
HU_API HU_MUST_CHECK hu_status hu_mode_saturate_parse(hu_mode *mode, const char *text); /* sets mode->saturate */
HU_API HU_MUST_CHECK hu_status hu_mode_nan_parse(hu_mode *mode, const char *text);      /* sets mode->nan */
HU_API HU_MUST_CHECK hu_status hu_mode_nan_fma_parse(hu_mode *mode, const char *text);  /* sets mode->nan_fma */
/* The rounding's text into a buffer of at least 8 bytes; returns it. */
HU_API char *hu_mode_round_text(char text[8], hu_mode mode);

/* A stream of random words: word i is a pure function of (key, counter + i), Philox4x32-10 (section 6). */
typedef struct hu_stream {
  uint64_t key;
  uint64_t counter;
} hu_stream;
/* Word i of a stream; and words 0 ... n - 1 into z. */
HU_API uint32_t hu_stream_word(hu_stream stream, uint64_t i);           /* word i */
HU_API void hu_stream_words_n(size_t n, uint32_t *z, hu_stream stream); /* words 0 to n - 1 */

/* Events of one operation: a set of bits (section 5). */
enum {
  HU_EVENT_OVERFLOW = 1u << 0,      /* rounded magnitude above max */
  HU_EVENT_SATURATED = 1u << 1,     /* beyond the range, and the result is finite */
  HU_EVENT_UNDERFLOW = 1u << 2,     /* tiny and inexact (IEEE 754 section 7.5) */
  HU_EVENT_TO_ZERO = 1u << 3,       /* not zero, and the result is */
  HU_EVENT_SUBNORMAL = 1u << 4,     /* the result is subnormal */
  HU_EVENT_INEXACT = 1u << 5,       /* finite, and the result is not equal to it */
  HU_EVENT_INVALID = 1u << 6,       /* no value: NaN from numbers, below an unsigned range */
  HU_EVENT_NAN_IN = 1u << 7,        /* an operand is a NaN */
  HU_EVENT_INF_IN = 1u << 8,        /* an operand is an infinity */
  HU_EVENT_DIVIDE_BY_ZERO = 1u << 9 /* arith.h only (sections 10, 12) */
};
/* Counts of them. An array call ADDS to the counts it is given; IEEE flags are "count > 0". */
typedef struct hu_events {
  uint64_t overflow, saturated, underflow, to_zero, subnormal, inexact, invalid, nan_in, inf_in, divide_by_zero;
} hu_events;
/* Adds the counts of `part`. */
static inline void hu_events_add(hu_events *sum, const hu_events *part) {
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
/* Adds 1 for each bit of `events`, one operation's set. */
static inline void hu_events_count(hu_events *sum, uint32_t events) {
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

/* The five exceptions of IEEE 754 section 7 as bits, in the order of RISC-V's fflags, of Berkeley SoftFloat and
 * TestFloat, and of `halfulp vectors`. */
enum {
  HU_FLAG_INEXACT = 1u << 0,        /* NX, 01 */
  HU_FLAG_UNDERFLOW = 1u << 1,      /* UF, 02 */
  HU_FLAG_OVERFLOW = 1u << 2,       /* OF, 04 */
  HU_FLAG_DIVIDE_BY_ZERO = 1u << 3, /* DZ, 08 */
  HU_FLAG_INVALID = 1u << 4         /* NV, 10 */
};
/* The flags of a set of events: those five of its bits, in their places. The other events have no flag. */
static inline uint32_t hu_events_flags(uint32_t events) {
  uint32_t flags = 0;
  if (events & HU_EVENT_INEXACT) flags |= HU_FLAG_INEXACT;
  if (events & HU_EVENT_UNDERFLOW) flags |= HU_FLAG_UNDERFLOW;
  if (events & HU_EVENT_OVERFLOW) flags |= HU_FLAG_OVERFLOW;
  if (events & HU_EVENT_DIVIDE_BY_ZERO) flags |= HU_FLAG_DIVIDE_BY_ZERO;
  if (events & HU_EVENT_INVALID) flags |= HU_FLAG_INVALID;
  return flags;
}

#ifdef __cplusplus
}
#endif
#endif
