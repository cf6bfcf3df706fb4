/* SPDX-License-Identifier: MIT */
/* cli/explain/scaled_card.h - the card of a scaled format. */
#ifndef HALFULP_CLI_EXPLAIN_SCALED_CARD_H
#define HALFULP_CLI_EXPLAIN_SCALED_CARD_H

/* 1 if the text is a scaled format, which is printed then; 0 if it is not one, and nothing is printed. */
int cli_scaled_card(const char *text, int json);

#endif
