/* SPDX-License-Identifier: MIT */
/* tests/walk/walk.h - the walker: one program that walks operation x type x mode x level x place, and compares arrays
 * with the one-value core, and elements with the oracle (MPFR) where it is there and has the operation. Elements of its
 * cases go to the evaluator of the pages, too (tests/spec/draw_walk.c).
 *
 *   call    an operation of operation.h; HU_OP_CONVERT has a call for each pair of what its arrays hold, of formats and
 *           of other number systems
 *   case    a call with its types, mode, stream, length, strides, operands. Case number k of a call depends on the
 *           seed, the call and k alone, so that one case runs again by itself (main.c)
 *   place   where a case is computed: each kernel level of this CPU; or, in the program that is built with the device's
 *           calls, the device (device.c, the only file that knows these)
 *
 * calls.c knows the calls, draw.c, operands.c and aimed.c draw cases, run.c computes and compares them, oracle.c asks
 * the oracle, misuse.c makes the mistakes that every call must refuse, cover.c says what was met. */
#ifndef HALFULP_TESTS_WALK_WALK_H
#define HALFULP_TESTS_WALK_WALK_H

#include "halfulp/number.h"
#include "halfulp/view.h"
#include "tests/support/support.h"

/* The ends of a call: its operands, then the result. */
enum { WALK_Z = HU_OPERANDS_MAX, WALK_ENDS };

/* What an array holds. */
enum { WALK_VALUES32, WALK_VALUES64, WALK_CODES, WALK_INT8 };

/* The type of an end: values or codes of a number system, which may be a format. */
typedef struct walk_type {
  int carrier; /* WALK_ */
  hu_number number;
} walk_type;

typedef struct walk_call {
  const char *name; /* of the operation; of HU_OP_CONVERT that of the function for these carriers */
  int op;           /* HU_OP_ */
  int systems;      /* HU_OP_CONVERT: 1: types are number systems; else formats */
  int operands, rounds;
  int from, to; /* carriers */
} walk_call;

size_t walk_calls(void);
walk_call walk_call_at(size_t i);

typedef struct walk_case {
  walk_call call;
  uint64_t number;
  walk_type type[WALK_ENDS];
  float table[2][HU_TABLE_MAX]; /* of number systems that are tables */
  hu_mode mode;
  hu_stream stream;
  size_t n;
  ptrdiff_t inc[WALK_ENDS];
  size_t skip[WALK_ENDS]; /* elements of room before the array */
  int in_place;           /* the operand whose place the result takes, or -1 */
  int counts;             /* are events counted? */
  int operands;           /* how they are drawn: WALK_DRAWN ... */
  int directed;           /* is it one of walk_directed? */
  uint32_t threads;
  int setting; /* of the caller's floating-point environment; 0: as it is */
} walk_case;

/* Operands: drawn; every code once; every pair of codes; one value, from which the far digit of a stochastic rounding
 * decides; each code's value and the middle between it and the next one, and what lies beside these, of both signs. */
enum { WALK_DRAWN, WALK_ALL, WALK_PAIRS, WALK_FAR, WALK_NEAR };
/* WALK_NEAR: elements for each code. */
enum { WALK_NEAR_EACH = 20 };

/* Arrays with room around them. Those of one index in `data` lie in `room`. */
typedef struct walk_ends {
  uint8_t *room[WALK_ENDS];
  size_t bytes[WALK_ENDS], size[WALK_ENDS]; /* of the room, of an element */
  uint8_t *data[WALK_ENDS];                 /* element 0; the result's is in the room of in_place, if that is not -1 */
  hu_events *events;
} walk_ends;

/* ---- calls.c ---- */

/* Has an end codes, or values of a format or system, rather than any numbers of its carrier? */
static inline int walk_is_typed(const walk_call *call, int end) {
  return (end == WALK_Z ? call->to : call->from) == WALK_CODES || (end == WALK_Z && call->rounds);
}
/* An elementary function? */
static inline int walk_is_function(const walk_call *call) {
  return call->op >= HU_OP_FUNCTION && call->op <= HU_OP_POW;
}
/* A conversion from one carrier to the other? */
static inline int walk_is_conversion(const walk_call *call, int from, int to) {
  return call->op == HU_OP_CONVERT && call->from == from && call->to == to;
}

static inline int walk_has(const walk_call *call, int end) { return end == WALK_Z || end < call->operands; }
size_t walk_size(const walk_type *type);
uint64_t walk_get(const void *x, size_t size, ptrdiff_t i);
void walk_put(void *z, size_t size, ptrdiff_t i, uint64_t bits);
static inline hu_format walk_format(const walk_case *c, int end) { return c->type[end].number.format; }
/* One element by the core: bits of the result. */
uint64_t walk_one(const walk_case *c, const uint64_t *x, uint32_t random, uint32_t *events);
/* The array call of the CPU. */
hu_status walk_array(const walk_case *c, const walk_ends *ends, const hu_exec *exec);
/* What both kinds of calls on formats answer where binary32 does not hold the format's values; else HU_OK. */
hu_status walk_expected(const walk_case *c);

/* ---- device.c, or places without a device ---- */

/* The places of this program: kernel levels, or the device. */
size_t walk_places(void);
const char *walk_place_name(size_t place);
/* Is a case computed there? Where many places would take the core's time for each element, by turns. */
int walk_place_takes(size_t place, const walk_case *c);
/* Computes a case there. Rooms are read, and come back as the call left them. */
hu_status walk_at(size_t place, const walk_case *c, const walk_ends *ends);
/* One element by the core, in the caller's environment that the case sets. */
uint64_t walk_one_there(const walk_case *c, const uint64_t *x, uint32_t random, uint32_t *events);
/* 0, or the exit status of a program that has nowhere to run. */
int walk_nowhere(void);
/* What the device refuses in place of the CPU's results. */
hu_status walk_place_expected(const walk_case *c);
/* Is this the device's program? */
extern const int walk_device;

/* ---- draw.c, operands.c, aimed.c ---- */

/* Does the core take a microsecond or more for an element? */
int walk_is_slow(const walk_case *c);
/* Case number k of a call. */
void walk_draw(walk_case *c, const walk_call *call, uint64_t seed, uint64_t k);
/* Case number k of those that enumerate or are long; 0 behind the last. `all`: none is left to another run. */
int walk_directed(walk_case *c, const walk_call *call, uint64_t seed, uint64_t k, int all);
/* Operands of a case into rooms. */
void walk_fill(const walk_case *c, const walk_ends *ends, uint64_t seed);
/* A finite or special number that the roundings of `to` find hard; kind: below WALK_KINDS. */
enum { WALK_KINDS = 10 };
double walk_value(t_random *random, hu_number to, hu_mode mode, unsigned kind);
uint32_t walk_near_code(t_random *random, hu_format format, double v);
/* Codes for an operation whose result lies on a value of fz, on a midpoint, or beside one; or where its own argument
 * matters. */
void walk_aim(t_random *random, const walk_case *c, uint32_t *x);

/* ---- oracle.c ---- */

/* What the oracle says of one element: 1 and its answer; 0: it does not have the call. */
int walk_oracle(const walk_case *c, const uint64_t *x, uint32_t random, uint64_t *z, uint32_t *events);

/* ---- run.c ---- */

/* Computes a case at every place, compares, counts it. Ends the program at the first difference. */
void walk_run(const walk_case *c, uint64_t seed);
void walk_make(const walk_case *c, walk_ends *ends);
void walk_free(walk_ends *ends);
const char *walk_text(const walk_case *c);
_Noreturn void walk_fail(const walk_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- misuse.c ---- */

/* Makes every mistake in a call of this kind; returns how many. */
size_t walk_misuse(const walk_call *call);

/* ---- cover.c ---- */

void walk_count(const walk_case *c, size_t places, size_t asked);
/* Prints the table; returns what must have been met and was not: 0 if nothing. */
int walk_report(int complete);

#endif
