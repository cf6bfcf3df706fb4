/* SPDX-License-Identifier: MIT */
/* The word that was meant: see suggest.h. */
#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

#include "files/spelling.h"

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void cli_suggest_start(cli_suggest *s, const char *text) {
  size_t n = strlen(text);
  memset(s, 0, sizeof *s);
  s->text = text;
  s->fewest = n < 5 ? 2 : n < 16 ? 3 : 4;
}

void cli_suggest_offer(cli_suggest *s, const char *word) {
  size_t d = spelling_distance(s->text, word), n = strlen(s->text);
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
