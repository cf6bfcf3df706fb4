/* SPDX-License-Identifier: MIT */
/* Waits for MPI without keeping a processor busy, and not for ever. */
#define _GNU_SOURCE /* clock_gettime */
#include <stdio.h>
#include <time.h>

#include "mpi/allreduce.h"

enum { SPINS = 2000, LEAST = 20000, MOST = 1000000 }; /* tests before the first sleep; nanoseconds of a sleep */
static const double share = 0.125;                    /* of the time waited so far: a sleep is not longer */
static const double usual_timeout = 300;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

hu_status mpi_fail(hu_mpi *where, int rank, const char *what) {
  where->rank = rank;
  snprintf(where->why, sizeof where->why, "%s", what);
  return HU_E_MPI;
}

hu_status mpi_made(hu_mpi *where, int code, const char *what) {
  char text[HU_MPI_WHY_MAX];
  if (code == MPI_SUCCESS) return HU_OK;
  snprintf(text, sizeof text, "%s failed with MPI's error %d", what, code);
  return mpi_fail(where, -1, text);
}

static hu_status too_late(hu_mpi *where, int rank, const char *what, double timeout) {
  char who[32] = "some rank", text[HU_MPI_WHY_MAX];
  if (rank >= 0) snprintf(who, sizeof who, "rank %d", rank);
  snprintf(text, sizeof text, "%s did not %s within %g s", who, what, timeout);
  return mpi_fail(where, rank, text);
}

static void sleep_after(double waited) {
  double ns = 1e9 * share * waited;
  struct timespec pause = {0, ns < LEAST ? LEAST : ns > MOST ? MOST : (long)ns};
  nanosleep(&pause, NULL);
}

hu_status mpi_wait(hu_mpi *where, MPI_Request *request, int rank, const char *what) {
  double timeout = where->timeout > 0 ? where->timeout : usual_timeout, start = now();
  for (unsigned i = 0;; i++) {
    int done = 0;
    hu_status status = mpi_made(where, MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (status != HU_OK || done) return status;
    if (i < SPINS) continue;
    double waited = now() - start;
    if (waited > timeout) return too_late(where, rank, what, timeout);
    sleep_after(waited);
  }
}
