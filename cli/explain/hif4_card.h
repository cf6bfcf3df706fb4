/* SPDX-License-Identifier: MIT */
/* cli/explain/hif4_card.h - the card of a kind of HiFloat4. */
#ifndef HALFULP_CLI_EXPLAIN_HIF4_CARD_H
#define HALFULP_CLI_EXPLAIN_HIF4_CARD_H

/* Prints the card if the text is a kind of HiFloat4. Returns 1, or 0 after printing nothing. */
int cli_hif4_card(const char *text, int json);

#endif
