/* SPDX-License-Identifier: MIT */
/* cli/base/progress.h - a progress bar on stderr, drawn only if stderr is a terminal and the work is long, and not
 * after --quiet. */
#ifndef HALFULP_CLI_BASE_PROGRESS_H
#define HALFULP_CLI_BASE_PROGRESS_H

#include <stdint.h>

typedef struct progress {
  const char *what;
  uint64_t total;
  double start, drawn; /* seconds */
  int terminal, shown;
  /* NULL, or what stands behind the bar: parts with two blanks between them, the most important one first; those that
   * do not fit the terminal are left out. Set after the start. */
  const char *note;
  uint64_t first; /* how much had been done at the start; set after it */
} progress;

void progress_start(progress *bar, const char *what, uint64_t total);
void progress_at(progress *bar, uint64_t done);
void progress_end(progress *bar);
/* Returns 1 once every ten seconds, for a line of cli_note on work of unknown length, and never in the first ten.
 * *last: the time of the last one, 0 at the start. */
int progress_due(double *last);
/* Returns seconds of a clock that does not jump, from some moment on. */
double progress_seconds(void);
/* Returns the seconds that processors have worked for this process, all threads together. */
double progress_processor_seconds(void);

#endif
