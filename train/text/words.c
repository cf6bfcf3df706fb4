/* SPDX-License-Identifier: MIT */
/* Reads words and numbers in texts. */
#define _GNU_SOURCE /* strtod_l, uselocale */
#include "train/text/words.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

int hui_same_word(const char *text, size_t n, const char *name) {
  if (strlen(name) != n) return 0;
  for (size_t i = 0; i < n; i++) {
    if (lower(text[i]) != name[i]) return 0;
  }
  return 1;
}

/* strtod in the C locale; 0 where there is no memory for one. */
static int read_decimal(const char *word, double *x) {
  locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  char *end;
  if (!locale) return 0;
  *x = strtod_l(word, &end, locale);
  freelocale(locale);
  return *end == 0 && end != word;
}

static HU_NOINLINE int read_number(const char *text, size_t n, double *x) {
  char word[64];
  if (n == 0 || n >= sizeof word) return 0;
  memcpy(word, text, n);
  word[n] = 0;
  int power = strncmp(word, "2^", 2) == 0;
  const char *digits = power ? word + 2 : word;
  if (strspn(digits, power ? "+-0123456789" : "+-.eE0123456789") != strlen(digits)) return 0;
  if (!read_decimal(digits, x)) return 0;
  if (power) *x = fabs(*x) <= 2000 ? ldexp(1, (int)*x) : INFINITY;
  return isfinite(*x) != 0;
}

int hui_read_number(const char *text, size_t n, double *x) {
  fenv_t saved = hui_text_env_enter();
  int is = read_number(text, n, x);
  hui_text_env_leave(saved);
  return is;
}

static HU_NOINLINE void write_shortest(char text[HU_DECIMAL_TEXT_MAX], double x, int single) {
  double back;
  locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0), old = locale ? uselocale(locale) : (locale_t)0;
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, HU_DECIMAL_TEXT_MAX, "%.*g", digits, x);
    if (read_decimal(text, &back) && (single ? (float)back == (float)x : back == x)) break;
  }
  if (locale) {
    uselocale(old);
    freelocale(locale);
  }
}

char *hui_write_number(char text[HU_DECIMAL_TEXT_MAX], double x) {
  fenv_t saved = hui_text_env_enter();
  write_shortest(text, x, 0);
  hui_text_env_leave(saved);
  return text;
}

char *hui_write_single(char text[HU_DECIMAL_TEXT_MAX], float x) {
  fenv_t saved = hui_text_env_enter();
  write_shortest(text, (double)x, 1);
  hui_text_env_leave(saved);
  return text;
}
