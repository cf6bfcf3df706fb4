/* SPDX-License-Identifier: MIT */
/* cli/explain/hif4_card.h - the card of a kind of HiFloat4. */
#ifndef HALFULP_CLI_EXPLAIN_HIF4_CARD_H
#define HALFULP_CLI_EXPLAIN_HIF4_CARD_H

/* 1 if the text is a kind of HiFloat4, whose card is printed then; 0 if it is not one, and nothing is printed. */
int cli_hif4_card(const char *text, int json);

#endif
