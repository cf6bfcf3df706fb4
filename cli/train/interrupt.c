/* SPDX-License-Identifier: MIT */
/* See interrupt.h. */
#include "cli/train/interrupt.h"

#include <string.h>

static const int signals[INTERRUPT_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t came;

static void hear(int which) {
  if (!came) came = which;
}

void interrupt_begin(interrupt *before) {
  struct sigaction ours;
  memset(&ours, 0, sizeof ours);
  ours.sa_handler = hear;
  ours.sa_flags = SA_RESTART;
  sigemptyset(&ours.sa_mask);
  came = 0;
  for (int i = 0; i < INTERRUPT_SIGNALS; i++) {
    sigaction(signals[i], NULL, &before->before[i]);
    if (before->before[i].sa_handler != SIG_IGN) sigaction(signals[i], &ours, NULL);
  }
}

int interrupt_signal(void) { return came; }

void interrupt_end(const interrupt *before) {
  for (int i = 0; i < INTERRUPT_SIGNALS; i++) sigaction(signals[i], &before->before[i], NULL);
}
