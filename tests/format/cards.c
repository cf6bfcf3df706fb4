/* SPDX-License-Identifier: MIT */
/* formats/README.md from the code: one card per named format, one line per IEEE P3109 format.
 *
 *   format_cards                 writes the page to stdout
 *   format_cards --write FILE    writes it to FILE
 *   format_cards --check FILE    compares FILE with it, byte for byte; exit 1 if it differs */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/halfulp.h"

/* The page, grown as it is written. */
typedef struct page {
  char *text;
  size_t length, size;
} page;

__attribute__((format(printf, 2, 3))) static void put(page *p, const char *form, ...) {
  char line[2048];
  va_list args;
  va_start(args, form);
  int n = vsnprintf(line, sizeof line, form, args);
  va_end(args);
  if (n < 0 || (size_t)n >= sizeof line) {
    fprintf(stderr, "format_cards: a line is too long\n");
    exit(2);
  }
  if (p->length + (size_t)n + 1 > p->size) {
    p->size = 2 * (p->size + sizeof line);
    p->text = realloc(p->text, p->size);
    if (!p->text) {
      fprintf(stderr, "format_cards: out of memory\n");
      exit(2);
    }
  }
  memcpy(p->text + p->length, line, (size_t)n + 1);
  p->length += (size_t)n;
}

static int digits_of(hu_limits l) { return (int)((l.width + 3) / 4); }

static void put_code(page *p, hu_limits l, uint32_t code) { put(p, "0x%0*X", digits_of(l), code); }

/* "0x1.cp+8 = 448 (0x7E)"; the decimal only where it is short and exact. */
static void put_value(page *p, hu_limits l, double x, uint32_t code) {
  char decimal[32];
  snprintf(decimal, sizeof decimal, "%.10g", x);
  put(p, "%a", x);
  if (strlen(decimal) <= 11 && strtod(decimal, NULL) == x) put(p, " = %s", decimal);
  put(p, " (");
  put_code(p, l, code);
  put(p, ")");
}

static void put_range(page *p, hu_limits l, uint32_t first, uint32_t last) {
  put_code(p, l, first);
  if (first == last) return;
  put(p, "-");
  put_code(p, l, last);
}

/* Codes of NaN, the canonical one last. */
static void put_nan(page *p, hu_format f, hu_limits l) {
  if (!l.has_nan) {
    put(p, "none");
    return;
  }
  uint32_t last = l.sign_mask ? l.sign_mask - 1 : UINT32_MAX >> (32 - l.width);
  uint32_t first = last;
  if (f.nan == HU_NAN_NEGZERO) {
    put_code(p, l, l.nan_code);
    put(p, " (the place of -0)");
    return;
  }
  if (f.nan == HU_NAN_IEEE || f.nan == HU_NAN_IEEE_ONES) first = (((1u << f.e) - 1) << f.m) + (f.inf == HU_INF_IEEE);
  put_range(p, l, first, last);
  if (f.sign) {
    put(p, ", ");
    put_range(p, l, first | l.sign_mask, last | l.sign_mask);
  }
  if (l.nan_codes > 1) {
    put(p, "; canonical ");
    put_code(p, l, l.nan_code);
  }
}

static void put_inf(page *p, hu_format f, hu_limits l) {
  if (f.inf == HU_INF_NONE) {
    put(p, "none");
    return;
  }
  put_code(p, l, l.inf_code);
  if (f.sign) {
    put(p, ", ");
    put_code(p, l, l.inf_code | l.sign_mask);
  }
}

static const char *zero_text(hu_format f) {
  if (f.zero == HU_ZERO_NONE) return "none, every code is a normal number";
  if (f.zero == HU_ZERO_CODE) return f.negzero ? "magnitude code 0 alone, +0 and -0" : "code 0 alone";
  return f.negzero ? "+0 and -0" : "one, without sign";
}

static const char *subnormal_text(hu_format f) {
  if (f.subnormal == HU_SUBNORMAL_FLUSH) return "none: what rounds to one becomes zero";
  if (f.subnormal == HU_SUBNORMAL_NONE) return f.zero == HU_ZERO_NONE ? "none" : "none: the grid lacks them";
  return f.m == 0 ? "none (no trailing significand)" : "yes";
}

/* What policy `none` does beyond the range. */
static const char *overflow_text(hu_format f) {
  if (f.overflow == HU_OVERFLOW_NAN) return "NaN";
  if (f.overflow == HU_OVERFLOW_MAX) return "the largest value";
  return "infinity";
}

static const char *saturation_text(hu_format f) {
  if (f.inf == HU_INF_NONE) return "`finite`: without infinities, the largest value is nearest to what lies beyond";
  if (f.overflow == HU_OVERFLOW_MAX) return "`none`: an infinity stays one";
  return "`none`: the format has infinities for what lies beyond";
}

static const char *nan_operand_text(hu_limits l) {
  if (l.has_nan) return "gives the canonical NaN";
  return "gives +max unless the mode has `zero` or `error`: there is no NaN code; CUDA, PTX and ONNX do the same";
}

static void put_range_rules(page *p, hu_format f, hu_limits l) {
  put(p, "| default saturation | %s |\n", saturation_text(f));
  put(p, "| beyond max, policy `none` | %s |\n", overflow_text(f));
  if (!f.sign) {
    static const char *const below[] = {"NaN", "the lowest value",
                                        "NaN; numbers under `rtz` and `rtp`: the lowest value"};
    put(p, "| below the range, policy `none` | %s |\n", below[l.has_nan ? f.negative : HU_NEGATIVE_LOW]);
  }
  put(p, "| NaN operand | %s |\n", nan_operand_text(l));
}

static void put_card(page *p, hu_format_entry entry) {
  hu_format f = entry.format;
  hu_limits l = hu_limits_of(f);
  char text[HU_FORMAT_TEXT_MAX];
  hu_format_text(text, sizeof text, f);
  put(p, "\n### %s\n\n| | |\n|---|---|\n", entry.id);
  put(p, "| descriptor | `%s` |\n", text);
  if (entry.aliases[0]) put(p, "| aliases | %s |\n", entry.aliases);
  if (strcmp(hu_format_id(f), entry.id) != 0) put(p, "| same descriptor as | %s |\n", hu_format_id(f));
  put(p, "| fields | %s, %u exponent, %u trailing significand bits; %u bits in all, stored in %u |\n",
      f.sign ? "1 sign" : "no sign", f.e, f.m, l.width, l.storage);
  put(p, "| bias | %d (additional bias %d) |\n", l.bias, f.b);
  put(p, "| zero | %s |\n| subnormals | %s |\n", zero_text(f), subnormal_text(f));
  put(p, "| infinities | ");
  put_inf(p, f, l);
  put(p, " |\n| NaN | ");
  put_nan(p, f, l);
  put(p, " |\n| max | ");
  put_value(p, l, l.max, l.max_code);
  if (l.min_normal_code != HU_NO_CODE) {
    put(p, " |\n| min normal | ");
    put_value(p, l, l.min_normal, l.min_normal_code);
  }
  put(p, " |\n| min | ");
  put_value(p, l, l.min, l.min_code);
  put(p, " |\n| finite codes | %llu |\n", (unsigned long long)l.finite_codes);
  put_range_rules(p, f, l);
  put(p, "| exact in binary32 | %s |\n", hu_format_fits_binary32(f) ? "yes" : "no");
  put(p, "| source | %s |\n| left open | %s |\n", entry.source, entry.open[0] ? entry.open : "nothing");
}

static void put_p3109_row(page *p, hu_format_entry entry) {
  hu_format f = entry.format;
  hu_limits l = hu_limits_of(f);
  char text[HU_FORMAT_TEXT_MAX];
  hu_format_text(text, sizeof text, f);
  put(p, "| %s | `%s` | %d | %a | ", entry.id, text, l.bias, l.max);
  put_code(p, l, l.max_code);
  put(p, " | %a | ", l.min_normal);
  put(p, "%a | ", l.min);
  put_code(p, l, l.nan_code);
  put(p, " | ");
  put_inf(p, f, l);
  put(p, " | %llu |\n", (unsigned long long)l.finite_codes);
}

static int is_p3109(hu_format_entry entry) { return strncmp(entry.aliases, "p3109_", 6) == 0; }

static void put_head(page *p, size_t cards, size_t family) {
  put(p, "# Formats\n\n");
  put(p, "Every named format has a [card](../docs/glossary.md#card) on this page: its fields, special codes,\n");
  put(p, "limits, source, and what the source leaves open. The page is generated from the code by\n");
  put(p, "`tests/format/cards.c` (`ninja format-cards`); a test checks that they agree.\n\n");
  put(p, "There are %zu named formats, and %zu IEEE P3109 formats of 3 to 8 bits. `hu_format_find` takes every id\n",
      cards, family);
  put(p, "and alias below and P3109 names of up to 16 bits. `hu_format_parse` takes these and `fp(e,m,b):...`\n");
  put(p, "(grammar: `include/halfulp/format.h`). Each header of this directory gives one function per format:\n");
  put(p, "`hu_float8_e4m3fn()`. Names that are used for several formats (fp8, e4m3, e3m4, fp4, e1m2) name no format\n");
  put(p, "here.\n\n");
  put(p, "[Numerics](../docs/numerics.md#1-a-format-is-a-set-of-codes-with-values) defines the fields of the cards\n");
  put(p, "and the policies. Values are C99 hex floats, codes hexadecimal; max and min are those of positive values.\n");
}

static void put_contents(page *p) {
  put(p, "\n| id | descriptor | bits | max | min normal | min |\n|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    if (is_p3109(entry)) continue;
    hu_limits l = hu_limits_of(entry.format);
    char text[HU_FORMAT_TEXT_MAX];
    hu_format_text(text, sizeof text, entry.format);
    put(p, "| [%s](#%s) | `%s` | %u | ", entry.id, entry.id, text, l.width);
    put(p, "%.10g | ", l.max);
    if (l.min_normal_code == HU_NO_CODE)
      put(p, "none | %a |\n", l.min);
    else
      put(p, "%a | %a |\n", l.min_normal, l.min);
  }
}

static void put_family(page *p) {
  put(p, "\n## IEEE P3109\n\n");
  put(p, "These formats are those of draft v4.0 (June 2026). In binary{K}p{P}{s|u}{e|f}, K is the number of bits\n");
  put(p, "and P the precision; s is signed, u unsigned, e extended and f finite. Aliases are\n");
  put(p, "p3109_k{K}p{P}{s|u}{e|f}. Each format has one NaN, one zero without sign, and\n");
  put(p, "[subnormals](../docs/glossary.md#subnormal) if P > 1. K = 9\n");
  put(p, "to 16 follow the same rules and are found by name. The draft requires binary8p4se, binary8p3se and\n");
  put(p, "binary4p2sf, and binary8p1uf for scales.\n\n");
  put(p, "The default saturation is `none` for extended formats (infinities stand for what lies beyond the range)\n");
  put(p, "and `finite` for finite ones. Policy `none` gives infinity in extended formats and the largest value in\n");
  put(p, "finite ones. In unsigned formats it gives NaN for what lies below zero, except that the modes `rtz` and\n");
  put(p, "`rtp` give 0 for numbers. A NaN operand gives NaN.\n\n");
  put(p, "| id | descriptor | bias | max | its code | min normal | min | NaN | infinities | finite codes |\n");
  put(p, "|---|---|---|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < hu_format_count(); i++) {
    if (is_p3109(hu_format_at(i))) put_p3109_row(p, hu_format_at(i));
  }
}

static void put_page(page *p) {
  size_t family = 0;
  for (size_t i = 0; i < hu_format_count(); i++) family += is_p3109(hu_format_at(i));
  put_head(p, hu_format_count() - family, family);
  put_contents(p);
  put(p, "\n## Cards\n");
  for (size_t i = 0; i < hu_format_count(); i++) {
    if (!is_p3109(hu_format_at(i))) put_card(p, hu_format_at(i));
  }
  put_family(p);
}

static int write_page(const page *p, FILE *out) {
  if (!out) return 2;
  int bad = fwrite(p->text, 1, p->length, out) != p->length;
  if (fclose(out) != 0) bad = 1;
  return bad ? 2 : 0;
}

/* 0 if the file is the page, 1 if it differs, 2 if it cannot be read. */
static int check_page(const page *p, const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in) {
    fprintf(stderr, "format_cards: %s cannot be opened\n", path);
    return 2;
  }
  size_t line = 1, i = 0;
  int c;
  while ((c = getc(in)) != EOF && i < p->length && (char)c == p->text[i]) {
    line += c == '\n';
    i++;
  }
  fclose(in);
  if (c == EOF && i == p->length) {
    printf("%s: %zu bytes, %zu lines as generated\n", path, p->length, line - 1);
    return 0;
  }
  fprintf(stderr, "format_cards: %s differs from the code at line %zu; run `ninja format-cards`\n", path, line);
  return 1;
}

int main(int argc, char **argv) {
  page p = {NULL, 0, 0};
  int result = 2;
  put_page(&p);
  if (argc == 1)
    result = write_page(&p, stdout);
  else if (argc == 3 && strcmp(argv[1], "--write") == 0)
    result = write_page(&p, fopen(argv[2], "wb"));
  else if (argc == 3 && strcmp(argv[1], "--check") == 0)
    result = check_page(&p, argv[2]);
  else
    fprintf(stderr, "usage: format_cards [--write FILE | --check FILE]\n");
  free(p.text);
  return result;
}
