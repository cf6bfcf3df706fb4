/* SPDX-License-Identifier: MIT */
/* cli/explain/s2fp8_card.h - the card of a kind of shifted and squeezed tensors. */
#ifndef HALFULP_CLI_EXPLAIN_S2FP8_CARD_H
#define HALFULP_CLI_EXPLAIN_S2FP8_CARD_H

/* Prints the card if the text is s2fp8 or s2fp8(...). Returns 1, or 0 after printing nothing. */
int cli_s2fp8_card(const char *text, int json);

#endif
