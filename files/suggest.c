/* SPDX-License-Identifier: MIT */
/* The word that was meant: see suggest.h. */
#include "files/suggest.h"

#include <stdio.h>
#include <string.h>

#include "files/spelling.h"

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void suggest_start(suggest *search, const char *text) {
  size_t n = strlen(text);
  memset(search, 0, sizeof *search);
  search->text = text;
  search->fewest = n < 5 ? 2 : n < 16 ? 3 : 4;
}

void suggest_offer(suggest *search, const char *word) {
  size_t distance = spelling_distance(search->text, word), n = strlen(search->text);
  if (strlen(word) >= SUGGEST_WORD) return;
  if (distance < search->fewest && distance < n) {
    search->fewest = distance;
    strcpy(search->nearest, word);
  }
  if (n < 2 || strncmp(word, search->text, n) != 0) return;
  if (search->beginners < SUGGEST_LIKE) strcpy(search->begins[search->beginners], word);
  search->beginners++;
}

void suggest_offer_all(suggest *search, const char *words) {
  while (*words) {
    char word[SUGGEST_WORD];
    size_t n = strcspn(words, " ");
    if (n && n < sizeof word) {
      memcpy(word, words, n);
      word[n] = 0;
      suggest_offer(search, word);
    }
    words += n + (words[n] == ' ');
  }
}

const char *suggest_end(char text[SUGGEST_MAX], const suggest *search, const char *otherwise) {
  size_t shown = least(search->beginners, SUGGEST_LIKE), used = 0;
  if (search->nearest[0] && search->beginners < 2) {
    snprintf(text, SUGGEST_MAX, "; perhaps %s is meant", search->nearest);
  } else if (shown) {
    used = (size_t)snprintf(text, SUGGEST_MAX, "; perhaps ");
    for (size_t i = 0; i < shown; i++)
      used += (size_t)snprintf(text + used, SUGGEST_MAX - used, "%s%s",
                               !i                          ? ""
                               : i + 1 < search->beginners ? ", "
                                                           : " or ",
                               search->begins[i]);
    snprintf(text + used, SUGGEST_MAX - used, "%s is meant", search->beginners > shown ? ", ..." : "");
  } else {
    snprintf(text, SUGGEST_MAX, "; %s", otherwise);
  }
  return text;
}
