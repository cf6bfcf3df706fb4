/* SPDX-License-Identifier: MIT */
/* files/suggest.h - the word that was meant: nearest of those that are offered. */
#ifndef HALFULP_FILES_SUGGEST_H
#define HALFULP_FILES_SUGGEST_H

#include <stddef.h>

/* A search: start it with the text that is wrong, offer every word that would be right. */
enum { SUGGEST_WORD = 64, SUGGEST_LIKE = 6, SUGGEST_MAX = 512 };
typedef struct suggest {
  const char *text;
  size_t fewest;                           /* changes that lead to `nearest`; more are no likeness */
  char nearest[SUGGEST_WORD];              /* "": none is near */
  char begins[SUGGEST_LIKE][SUGGEST_WORD]; /* words that begin with the text */
  size_t beginners;                        /* their number, also beyond SUGGEST_LIKE */
} suggest;
void suggest_start(suggest *search, const char *text);
void suggest_offer(suggest *search, const char *word);
/* Offers every one of the words with a blank between them. */
void suggest_offer_all(suggest *search, const char *words);
/* Returns "; perhaps float16 is meant", "; perhaps mxfp8_e4m3 or mxfp8_e5m2 is meant", or "; " and `otherwise`. */
const char *suggest_end(char text[SUGGEST_MAX], const suggest *search, const char *otherwise);

#endif
