/* SPDX-License-Identifier: MIT */
/* cli/train/interrupt.h - SIGINT, SIGTERM and SIGHUP during long work: noted instead of ending the program, so that
 * what is done can be kept. One work at a time. */
#ifndef HALFULP_CLI_TRAIN_INTERRUPT_H
#define HALFULP_CLI_TRAIN_INTERRUPT_H

#include <signal.h>

enum { INTERRUPT_SIGNALS = 3 };
/* What the signals did before. */
typedef struct interrupt {
  struct sigaction before[INTERRUPT_SIGNALS];
} interrupt;

/* Notes signals from here on; ignored ones stay ignored. */
void interrupt_begin(interrupt *before);
/* Returns the signal that came first since then; 0: none. */
int interrupt_signal(void);
void interrupt_end(const interrupt *before);

#endif
