/* SPDX-License-Identifier: MIT */
/* The word that was meant: see suggest.h. */
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t cli_distance(const char *x, const char *y) {
  size_t row[3][CLI_SUGGEST_WORD + 1], n = strlen(x), m = strlen(y);
  if (n > CLI_SUGGEST_WORD || m > CLI_SUGGEST_WORD) return n + m;
  for (size_t j = 0; j <= m; j++) row[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *now = row[i % 3], *before = row[(i + 2) % 3];
    now[0] = i;
    for (size_t j = 1; j <= m; j++) {
      now[j] = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (x[i - 1] != y[j - 1]));
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
        now[j] = least(now[j], row[(i + 1) % 3][j - 2] + 1);
    }
  }
  return row[n % 3][m];
}

void cli_suggest_start(cli_suggest *s, const char *text) {
  size_t n = strlen(text);
  memset(s, 0, sizeof *s);
  s->text = text;
  s->fewest = n < 5 ? 2 : n < 16 ? 3 : 4;
}

void cli_suggest_offer(cli_suggest *s, const char *word) {
  size_t d = cli_distance(s->text, word), n = strlen(s->text);
  if (strlen(word) >= CLI_SUGGEST_WORD) return;
  if (d < s->fewest && d < n) {
    s->fewest = d;
    strcpy(s->nearest, word);
  }
  if (n < 2 || strncmp(word, s->text, n) != 0) return;
  if (s->beginners < CLI_SUGGEST_LIKE) strcpy(s->begins[s->beginners], word);
  s->beginners++;
}

void cli_suggest_offer_all(cli_suggest *s, const char *words) {
  while (*words) {
    char word[CLI_SUGGEST_WORD];
    size_t n = strcspn(words, " ");
    if (n && n < sizeof word) {
      memcpy(word, words, n);
      word[n] = 0;
      cli_suggest_offer(s, word);
    }
    words += n + (words[n] == ' ');
  }
}

const char *cli_suggest_end(char text[CLI_SUGGEST_MAX], const cli_suggest *s, const char *otherwise) {
  size_t shown = least(s->beginners, CLI_SUGGEST_LIKE), used = 0;
  if (s->nearest[0] && s->beginners < 2) {
    snprintf(text, CLI_SUGGEST_MAX, "; perhaps %s is meant", s->nearest);
  } else if (shown) {
    used = (size_t)snprintf(text, CLI_SUGGEST_MAX, "; perhaps ");
    for (size_t i = 0; i < shown; i++)
      used += (size_t)snprintf(text + used, CLI_SUGGEST_MAX - used, "%s%s",
                               !i                     ? ""
                               : i + 1 < s->beginners ? ", "
                                                      : " or ",
                               s->begins[i]);
    snprintf(text + used, CLI_SUGGEST_MAX - used, "%s is meant", s->beginners > shown ? ", ..." : "");
  } else {
    snprintf(text, CLI_SUGGEST_MAX, "; %s", otherwise);
  }
  return text;
}
