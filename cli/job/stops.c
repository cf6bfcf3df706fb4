/* SPDX-License-Identifier: MIT */
/* Signals that stop a command, while it has something to do before they take their effect. */
#include <signal.h>
#include <string.h>

#include "cli/job/job.h"

const int job_stop_signals[JOB_STOPS] = {SIGINT, SIGTERM, SIGHUP};

void job_stops_catch(job_stops *stops, void (*handler)(int number)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < JOB_STOPS; i++) sigaddset(&action.sa_mask, job_stop_signals[i]);
  for (int i = 0; i < JOB_STOPS; i++) {
    sigaction(job_stop_signals[i], NULL, &stops->before[i]);
    if (stops->before[i].sa_handler != SIG_IGN) sigaction(job_stop_signals[i], &action, NULL);
  }
}

void job_stops_release(const job_stops *stops) {
  for (int i = 0; i < JOB_STOPS; i++) sigaction(job_stop_signals[i], &stops->before[i], NULL);
}
