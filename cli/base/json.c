/* SPDX-License-Identifier: MIT */
/* See json.h. */
#include "cli/base/json.h"

#include <math.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"

/* Writes a character beyond ASCII, or U+FFFD for a byte that is not UTF-8, which JSON does not allow. Returns how many
 * bytes of the text it used. */
static size_t put_character(FILE *out, const char *text) {
  size_t n = cli_character(text);
  if (n)
    (void)fwrite(text, 1, n, out);
  else
    fputs("\\ufffd", out);
  return n ? n : 1;
}

void cli_json_string(FILE *out, const char *text) {
  fputc('"', out);
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    if (*at == '"' || *at == '\\')
      fprintf(out, "\\%c", *at);
    else if (*at < 0x20)
      fprintf(out, "\\u%04x", *at);
    else if (*at < 0x80)
      fputc(*at, out);
    else
      at += put_character(out, (const char *)at) - 1;
  }
  fputc('"', out);
}

void cli_json_double(FILE *out, double x) {
  const char *quote = isfinite(x) ? "" : "\"";
  fprintf(out, "%s%s%s%s", quote, DECIMAL(x), x == 0 && signbit(x) ? ".0" : "", quote);
}

void cli_json_known(FILE *out, double x) {
  if (isnan(x))
    fputs("null", out);
  else
    cli_json_double(out, x);
}

/* ---- values ---- */

static void print_text(FILE *out, const cli_value *value) {
  if (value->text)
    cli_json_string(out, value->text);
  else
    fputs("null", out);
}

static void print_code(FILE *out, const cli_value *value) {
  char hex[NUMBER_TEXT_MAX];
  fprintf(out, "\"code\": \"0x%0*llx\", \"value\": ", value->digits, (unsigned long long)value->code);
  cli_json_double(out, value->number);
  fprintf(out, ", \"hex\": \"%s\"", number_hex(hex, value->number));
}

static void print_plain(FILE *out, const cli_value *value) { fputs(value->text, out); }
static void print_number(FILE *out, const cli_value *value) { cli_json_double(out, value->number); }
static void print_known(FILE *out, const cli_value *value) { cli_json_known(out, value->number); }
static void print_integer(FILE *out, const cli_value *value) { fprintf(out, "%lld", value->integer); }
static void print_count(FILE *out, const cli_value *value) { fprintf(out, "%llu", value->count); }
static void print_events(FILE *out, const cli_value *value) { cli_json_events(out, value->events); }
static void print_set(FILE *out, const cli_value *value) { cli_json_event_set(out, (uint32_t)value->code); }

cli_value cli_text(const char *text) { return (cli_value){.print = print_text, .text = text}; }
cli_value cli_number(double x) { return (cli_value){.print = print_number, .number = x}; }
cli_value cli_integer(long long x) { return (cli_value){.print = print_integer, .integer = x}; }
cli_value cli_count(unsigned long long x) { return (cli_value){.print = print_count, .count = x}; }
cli_value cli_event_counts(const hu_events *events) { return (cli_value){.print = print_events, .events = events}; }
cli_value cli_known(double x) { return (cli_value){.print = print_known, .number = x}; }
cli_value cli_event_set(uint32_t events) { return (cli_value){.print = print_set, .code = events}; }
cli_value cli_plain(const char *text) { return (cli_value){.print = print_plain, .text = text}; }
cli_value cli_comma(int first) { return cli_plain(first ? "" : ", "); }
cli_value cli_truth(int holds) { return cli_plain(holds ? "true" : "false"); }

cli_value cli_code(int digits, uint64_t code, double value) {
  return (cli_value){.print = print_code, .number = value, .code = code, .digits = digits};
}

void cli_json_print(FILE *out, const char *layout, const cli_value *values) {
  for (; *layout; layout++) {
    if (*layout == '?') {
      values++;
      values->print(out, values);
    } else {
      fputc(*layout == '\'' ? '"' : *layout, out);
    }
  }
}
