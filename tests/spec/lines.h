/* SPDX-License-Identifier: MIT */
/* tests/spec/lines.h - cases as lines of text for the evaluator of the pages (evaluate.py): the operation, then fields
 * NAME=VALUE, separated by tabs. Fields of results begin with '>'. Integers are hexadecimal.
 *
 *   format   s=1 e=4 m=3 b=0 zero=field sub=gradual inf=none nan=ones nz=1 over=nan neg=nan
 *   mode     rne sat=default tiny=after nan=max fma=quiet
 *   events   names of docs/numerics.md section 5, or "-"; of arrays "inexact:3,overflow:1" */
#ifndef HALFULP_TESTS_SPEC_LINES_H
#define HALFULP_TESTS_SPEC_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/accum.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"
#include "tests/support/support.h"

void line_begin(const char *operation);
void line_end(void);
void line_text(const char *name, const char *value);
void line_hex(const char *name, uint64_t value);
void line_decimal(const char *name, int64_t value);
/* `digits` hexadecimal digits: a pattern. */
void line_pattern(const char *name, uint64_t bits, int digits);
/* "-" for none. `digits` of each; 0: as many as it takes. */
void line_patterns(const char *name, const uint64_t *bits, size_t n, int digits);
void line_format(const char *name, hu_format format);
/* A format, or the word of another kind of element. */
void line_element(const char *name, hu_type element);
void line_mode(hu_mode mode);
void line_events(uint32_t events);
void line_set_of(const char *name, uint32_t events);
void line_counts(const hu_events *counts);
/* The events whose count is not 0. */
uint32_t line_set(const hu_events *counts);
/* formats=TEXT~AXES|TEXT~AXES: what the format texts inside a model's text stand for. */
void line_formats_of(const hu_accum *accum);

/* Ends the program where the library and the second model differ: "what" and the line as far as it was written. */
void line_same(const char *what, uint64_t library, uint64_t model);

/* Prints a case of an element of the walker's: an operation or a conversion of formats, or of number systems. */
void draw_walked(t_random *random, int systems);
/* Prints `count` cases each. */
void draw_numbers(t_random *random, unsigned long count);
void draw_sums(t_random *random, unsigned long count);
void draw_systems(t_random *random, unsigned long count);

#endif
