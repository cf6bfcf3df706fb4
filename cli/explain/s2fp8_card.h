/* SPDX-License-Identifier: MIT */
/* cli/explain/s2fp8_card.h - the card of a kind of shifted and squeezed tensors. */
#ifndef HALFULP_CLI_EXPLAIN_S2FP8_CARD_H
#define HALFULP_CLI_EXPLAIN_S2FP8_CARD_H

/* 1 if the text is s2fp8 or s2fp8(...), whose card is printed then; 0 if it is not one, and nothing is printed. */
int cli_s2fp8_card(const char *text, int json);

#endif
