/* SPDX-License-Identifier: MIT */
/* cli/explain/scaled_card.h - the card of a scaled format. */
#ifndef HALFULP_CLI_EXPLAIN_SCALED_CARD_H
#define HALFULP_CLI_EXPLAIN_SCALED_CARD_H

/* Prints the card if the text is a scaled format. Returns 1, or 0 after printing nothing. */
int cli_scaled_card(const char *text, int json);

#endif
