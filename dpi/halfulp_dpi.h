/* SPDX-License-Identifier: MIT */
/* halfulp_dpi.h - the C side of halfulp_dpi.sv: what the package imports, for DPI-C of any simulator.
 *
 * Descriptions (a format, a mode, a model) are parsed once into a handle, which is never changed afterwards: any number
 * of threads may use it. There is no other state. A handle is released by hu_dpi_free. Calls that return a hu_status
 * (0: no error) always set their outputs, to 0 on an error; a NULL handle or one of another kind is HU_E_NULL. Codes,
 * events and R are those of halfulp/scalar.h, arith.h and accum.h; a code with bits above the width of its format or of
 * an array's element is HU_E_CODE, except signed integers that repeat their sign there.
 *
 * The types are those that IEEE 1800-2017 Annex H has for the arguments: longint unsigned is unsigned long long,
 * chandle void *, string const char *. Compiles as C11 and as C++17. */
#ifndef HALFULP_DPI_H
#define HALFULP_DPI_H

#include <svdpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- descriptions ---- */

/* *where gets the offset of the part of the text that is wrong. */
int hu_dpi_format(const char *text, void **handle, int *where);
/* Takes texts of halfulp/mode.h, and "after" or "before" for tiny; "" is the default of each. nan_fma "invalid":
 * infinity times zero plus a NaN is invalid in hu_dpi_fma and the dot products, as on RISC-V and Arm; the default is
 * "quiet". */
int hu_dpi_mode(const char *round, const char *saturate, const char *nan, const char *tiny, const char *nan_fma,
                void **handle);
/* Makes a model of halfulp/accum.h with the elements of A, B, C and D: a format, or binary64 s8 u8 s4 u4 s32. "": those
 * of the preset NAME where the model is NAME or any(NAME); else HU_E_NAME, or for C those of D. *where belongs to
 * `model` if *part is 0, else to element 1 (a), 2 (b), 3 (c), 4 (d).
 *
 * A model that cannot compute with these elements is refused here, not at its first row: HU_E_OPERAND_A,
 * HU_E_OPERAND_B, HU_E_OPERAND_C with *part 1, 2, 3 (a matrix unit has operands of its own formats and no others;
 * any(MODEL) takes others), HU_E_CARRIER, HU_E_ACCUM. D is free: it is one more rounding. */
int hu_dpi_model(const char *model, const char *a, const char *b, const char *c, const char *d, void **handle,
                 int *where, int *part);
/* Makes a handle whose hu_dpi_name says what the model takes (hu_accum_takes): "A float8_e4m3fn, B float8_e4m3fn, C
 * binary32"; "": anything. */
int hu_dpi_takes(const char *model, void **handle);
/* Count presets, and make the one of a number, 0 to hu_dpi_preset_count() - 1. */
int hu_dpi_preset_count(void);
int hu_dpi_preset(int i, void **handle);
void hu_dpi_free(void *handle);

/* Returns the canonical text, or a preset's name, which lives as long as the handle; "" without a handle. */
const char *hu_dpi_name(void *handle);
/* Return name and sentence of a status. */
const char *hu_dpi_status_name(int status);
const char *hu_dpi_status_text(int status);

/* Ends the process with this exit status; simulators differ in what they return after failed checks. */
void hu_dpi_exit(int status);

/* Returns the bits of a code of a format, or of D of a model; 0 for other handles. */
int hu_dpi_width(void *handle);
/* Returns the products of a model's instruction, of which a row's elements are a multiple (1: any number); 0 for
 * others. */
int hu_dpi_depth(void *model);
/* Makes magnitude codes of a format (hu_limits); all ones: it has no such code. */
int hu_dpi_limits(void *format, unsigned int *max, unsigned int *min_normal, unsigned int *min, unsigned int *inf,
                  unsigned int *nan);

/* ---- one value ---- */

int hu_dpi_encode(void *fz, void *mode, double x, unsigned int random, unsigned int *z, unsigned int *events);
int hu_dpi_decode(void *fx, unsigned int x, double *z);
int hu_dpi_convert(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                   unsigned int *events);
int hu_dpi_add(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random,
               unsigned int *z, unsigned int *events);
int hu_dpi_sub(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random,
               unsigned int *z, unsigned int *events);
int hu_dpi_mul(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random,
               unsigned int *z, unsigned int *events);
int hu_dpi_div(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random,
               unsigned int *z, unsigned int *events);
int hu_dpi_minimum(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random,
                   unsigned int *z, unsigned int *events);
int hu_dpi_maximum(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random,
                   unsigned int *z, unsigned int *events);
int hu_dpi_minimum_number(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random,
                          unsigned int *z, unsigned int *events);
int hu_dpi_maximum_number(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random,
                          unsigned int *z, unsigned int *events);
int hu_dpi_remainder(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, unsigned int random,
                     unsigned int *z, unsigned int *events);
int hu_dpi_sqrt(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                unsigned int *events);
int hu_dpi_fma(void *fz, void *mode, void *fa, unsigned int a, void *fb, unsigned int b, void *fc, unsigned int c,
               unsigned int random, unsigned int *z, unsigned int *events);
int hu_dpi_round_to_integral(void *f, void *mode, unsigned int x, unsigned int random, unsigned int *z,
                             unsigned int *events);
/* Rounds x to an integer (hu_to_integer) of `width` digits, 1 to 64, in two's complement (of 64 digits in *z) if
 * is_signed. `invalid` is the HU_INTEGER_ of halfulp/arith.h that an invalid conversion gives; exact 1 reports inexact.
 * HU_E_SHAPE: one of these is out of range. */
int hu_dpi_to_integer(void *mode, int width, int is_signed, int invalid, int exact, void *fx, unsigned int x,
                      unsigned int random, unsigned long long *z, unsigned int *events);
/* Make the code of an integer. */
int hu_dpi_from_signed(void *fz, void *mode, long long x, unsigned int random, unsigned int *z, unsigned int *events);
int hu_dpi_from_unsigned(void *fz, void *mode, unsigned long long x, unsigned int random, unsigned int *z,
                         unsigned int *events);
/* Compute elementary functions of halfulp/arith.h, correctly rounded. */
int hu_dpi_exp(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
               unsigned int *events);
int hu_dpi_exp2(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                unsigned int *events);
int hu_dpi_expm1(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                 unsigned int *events);
int hu_dpi_log(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
               unsigned int *events);
int hu_dpi_log2(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                unsigned int *events);
int hu_dpi_log1p(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                 unsigned int *events);
int hu_dpi_tanh(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                unsigned int *events);
int hu_dpi_sigmoid(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                   unsigned int *events);
int hu_dpi_erf(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
               unsigned int *events);
int hu_dpi_gelu(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                unsigned int *events);
int hu_dpi_rsqrt(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                 unsigned int *events);
int hu_dpi_reciprocal(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
                      unsigned int *events);
int hu_dpi_sin(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
               unsigned int *events);
int hu_dpi_cos(void *fz, void *mode, void *fx, unsigned int x, unsigned int random, unsigned int *z,
               unsigned int *events);
int hu_dpi_pow(void *fz, void *mode, void *fx, unsigned int x, void *fy, unsigned int y, unsigned int random,
               unsigned int *z, unsigned int *events);
/* Returns the exception flags of a set of events (hu_events_flags): 01 inexact (NX of RISC-V), 02 underflow (UF), 04
 * overflow (OF), 08 division by zero (DZ), 10 invalid (NV). */
unsigned int hu_dpi_flags(unsigned int events);
/* *order = -1 less, 0 equal, 1 greater, 2 unordered. */
int hu_dpi_compare(void *fa, unsigned int a, void *fb, unsigned int b, int *order);
/* *class_of_x = HU_CLASS_ of halfulp/arith.h. */
int hu_dpi_class(void *fx, unsigned int x, int *class_of_x);
/* *signalling = 1 if x is a signalling NaN. The operations treat it as a quiet NaN and do not report `invalid`. */
int hu_dpi_is_signalling(void *fx, unsigned int x, int *signalling);
int hu_dpi_next_up(void *fx, unsigned int x, unsigned int *z);
int hu_dpi_next_down(void *fx, unsigned int x, unsigned int *z);

/* Returns word `counter` of the library's stream (numerics.md section 6); R is its high N bits. */
unsigned int hu_dpi_word(unsigned long long key, unsigned long long counter);

/* ---- dot products ---- */

/* D = C + sum of a[k] b[k], k = 0 ... n-1, under the model, the last rounding by `mode` (hu_dot_words). Buses hold
 * element k in bits k w + w - 1 ... k w, w its width; words are 32 bits each, word r for rounding r inside the model; R
 * of the last rounding is `random`. Only models with scales read sa and sb. HU_E_SHAPE: n elements do not fit. */
#define HU_DPI_BUS 2048
int hu_dpi_dot(void *model, void *mode, int n, const svBitVecVal *a, const svBitVecVal *b, unsigned long long c,
               const svBitVecVal *sa, const svBitVecVal *sb, const svBitVecVal *words, unsigned int random,
               unsigned long long *d, unsigned int *events);
/* Does so with the library's stream: this dot product is element 0 of (key, counter). */
int hu_dpi_dot_stream(void *model, void *mode, int n, const svBitVecVal *a, const svBitVecVal *b, unsigned long long c,
                      const svBitVecVal *sa, const svBitVecVal *sb, unsigned long long key, unsigned long long counter,
                      unsigned long long *d, unsigned int *events);
/* Takes rows of any length: unpacked arrays of longint unsigned, words of int unsigned, from their lowest index up. */
int hu_dpi_dot_array(void *model, void *mode, int n, const svOpenArrayHandle a, const svOpenArrayHandle b,
                     unsigned long long c, const svOpenArrayHandle sa, const svOpenArrayHandle sb,
                     const svOpenArrayHandle words, unsigned int random, unsigned long long *d, unsigned int *events);
/* *roundings = the words that n elements take: the roundings inside the model. */
int hu_dpi_roundings(void *model, int n, int *roundings);

#ifdef __cplusplus
}
#endif
#endif
