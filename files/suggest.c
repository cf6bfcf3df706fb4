/* SPDX-License-Identifier: MIT */
/* The word that was meant: see suggest.h. */
#include "files/suggest.h"

#include <stdio.h>
#include <string.h>

#include "files/spelling.h"

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void suggest_start(suggest *s, const char *text) {
  size_t n = strlen(text);
  memset(s, 0, sizeof *s);
  s->text = text;
  s->fewest = n < 5 ? 2 : n < 16 ? 3 : 4;
}

void suggest_offer(suggest *s, const char *word) {
  size_t d = spelling_distance(s->text, word), n = strlen(s->text);
  if (strlen(word) >= SUGGEST_WORD) return;
  if (d < s->fewest && d < n) {
    s->fewest = d;
    strcpy(s->nearest, word);
  }
  if (n < 2 || strncmp(word, s->text, n) != 0) return;
  if (s->beginners < SUGGEST_LIKE) strcpy(s->begins[s->beginners], word);
  s->beginners++;
}

void suggest_offer_all(suggest *s, const char *words) {
  while (*words) {
    char word[SUGGEST_WORD];
    size_t n = strcspn(words, " ");
    if (n && n < sizeof word) {
      memcpy(word, words, n);
      word[n] = 0;
      suggest_offer(s, word);
    }
    words += n + (words[n] == ' ');
  }
}

const char *suggest_end(char text[SUGGEST_MAX], const suggest *s, const char *otherwise) {
  size_t shown = least(s->beginners, SUGGEST_LIKE), used = 0;
  if (s->nearest[0] && s->beginners < 2) {
    snprintf(text, SUGGEST_MAX, "; perhaps %s is meant", s->nearest);
  } else if (shown) {
    used = (size_t)snprintf(text, SUGGEST_MAX, "; perhaps ");
    for (size_t i = 0; i < shown; i++)
      used += (size_t)snprintf(text + used, SUGGEST_MAX - used, "%s%s",
                               !i                     ? ""
                               : i + 1 < s->beginners ? ", "
                                                      : " or ",
                               s->begins[i]);
    snprintf(text + used, SUGGEST_MAX - used, "%s is meant", s->beginners > shown ? ", ..." : "");
  } else {
    snprintf(text, SUGGEST_MAX, "; %s", otherwise);
  }
  return text;
}
