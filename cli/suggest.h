/* SPDX-License-Identifier: MIT */
/* cli/suggest.h - the word that was meant: nearest of those that are offered. */
#ifndef HALFULP_CLI_SUGGEST_H
#define HALFULP_CLI_SUGGEST_H

#include <stddef.h>

/* A search: start it with the text that is wrong, offer every word that would be right. */
enum { CLI_SUGGEST_WORD = 64, CLI_SUGGEST_LIKE = 6, CLI_SUGGEST_MAX = 512 };
typedef struct cli_suggest {
  const char *text;
  size_t fewest;                                   /* changes that lead to `nearest`; more are no likeness */
  char nearest[CLI_SUGGEST_WORD];                  /* "": none is near */
  char begins[CLI_SUGGEST_LIKE][CLI_SUGGEST_WORD]; /* words that begin with the text */
  size_t beginners;                                /* how many there are, also beyond CLI_SUGGEST_LIKE */
} cli_suggest;
void cli_suggest_start(cli_suggest *s, const char *text);
void cli_suggest_offer(cli_suggest *s, const char *word);
/* Every one of the words with a blank between them. */
void cli_suggest_offer_all(cli_suggest *s, const char *words);
/* "; perhaps float16 is meant", "; perhaps mxfp8_e4m3 or mxfp8_e5m2 is meant"; else "; " and `otherwise`. */
const char *cli_suggest_end(char text[CLI_SUGGEST_MAX], const cli_suggest *s, const char *otherwise);

#endif
