/* SPDX-License-Identifier: MIT */
/* cli/base/json.h - JSON as the command prints it (docs/json.md): layouts, and values that are printed by their
 * type. */
#ifndef HALFULP_CLI_BASE_JSON_H
#define HALFULP_CLI_BASE_JSON_H

#include <stdint.h>
#include <stdio.h>

#include "halfulp/mode.h"

/* A value to be printed, which the functions below make; or a record that another file prints. */
typedef struct cli_value {
  void (*print)(FILE *out, const struct cli_value *value);
  union {
    const char *text;
    double number;
    unsigned long long count;
    long long integer;
    const hu_events *events;
    const void *record;
  };
  uint64_t code;
  int digits;
} cli_value;

/* Prints a layout: JSON with ' in place of ", and a ? for each value: cli_json(out, "{'id': ?}\n", JSON(id)). */
#define cli_json(out, layout, ...) cli_json_print(out, layout, (const cli_value[]){{0}, __VA_ARGS__})
void cli_json_print(FILE *out, const char *layout, const cli_value *values);

/* Makes a value of a text, null if it is NULL; of a number; of an integer; of counts of events, an object. */
#define JSON(x) \
  _Generic((x) + 0, char *: cli_text, const char *: cli_text, double: cli_number, int: cli_integer,          \
           long: cli_integer, long long: cli_integer, unsigned: cli_count, unsigned long: cli_count,         \
           unsigned long long: cli_count, hu_events *: cli_event_counts, const hu_events *: cli_event_counts)(x)
cli_value cli_text(const char *text);
cli_value cli_number(double x);
cli_value cli_integer(long long x);
cli_value cli_count(unsigned long long x);
cli_value cli_event_counts(const hu_events *events);
/* Make true or false; a number, or null if it is a NaN; a set of events as an object of true and false. */
cli_value cli_truth(int holds);
cli_value cli_known(double x);
cli_value cli_event_set(uint32_t events);
/* Makes the fields of a code, to stand within braces: "code": "0x7e", "value": 448, "hex": "0x1.cp+8". */
cli_value cli_code(int digits, uint64_t code, double value);
/* Make text that is printed as it stands; the comma before an element, unless it is the first. */
cli_value cli_plain(const char *text);
cli_value cli_comma(int first);

/* Prints text in double quotes with JSON's escapes; U+FFFD stands for what is not UTF-8. */
void cli_json_string(FILE *out, const char *text);
/* Prints a number in JSON's form: in the fewest digits that read back as the same, whole numbers below 1e16 without a
 * point or an exponent; "inf", "-inf", "nan" as texts; -0.0 for the zero with a sign. */
void cli_json_double(FILE *out, double x);
/* Prints a number, or null if it is a NaN. */
void cli_json_known(FILE *out, double x);
/* Print counts of events, and a set of them, each true or false (text.c). */
void cli_json_events(FILE *out, const hu_events *events);
void cli_json_event_set(FILE *out, uint32_t events);

#endif
