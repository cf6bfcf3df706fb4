/* SPDX-License-Identifier: MIT */
/* What ends a search early: a signal, or a time that is over. */
#include <math.h>

#include "cli/base/progress.h"
#include "cli/box/box.h"

static double until; /* of progress_seconds; 0: no end */

void id_stop_begin(interrupt *before, double seconds) {
  until = seconds > 0 ? progress_seconds() + seconds : 0;
  interrupt_begin(before);
}

void id_stop_end(const interrupt *before) {
  interrupt_end(before);
  until = 0;
}

double id_stop_left(void) {
  double left = until - progress_seconds();
  return until == 0 ? HUGE_VAL : left > 0 ? left : 0;
}

int id_stop_due(void) { return interrupt_signal() || id_stop_left() == 0; }
