/* SPDX-License-Identifier: MIT */
/* cli/bench - the list of cases, and how one is measured. */
#include "cli/bench/bench.h"
#include "files/timing.h"

const speed_case *speed_case_at(size_t i) {
  static const speed_case *const lists[] = {speed_arrays, speed_products, speed_steps};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    for (const speed_case *c = lists[k]; c->name; c++) {
      if (i-- == 0) return c;
    }
  }
  return NULL;
}

static void keep(speed_result *z, const speed_case *c, bench_pair times, int run) {
  const int first = run == 0;
  const double ratio = z->ratios[run] = times.subject / times.reference;
  double figure =
      c->unit[0] == 'G' ? c->count / times.subject : (c->unit[0] == 'n' ? 1e9 : 1e6) * times.subject / c->count;
  int better = c->unit[0] == 'G' ? figure > z->figure : figure < z->figure;
  if (first || better) z->figure = figure;
  if (first || ratio < z->best) z->best = ratio;
  if (first || ratio > z->worst) z->worst = ratio;
}

hu_status speed_measure(speed_result *z, const speed_case *c, const speed_room *room, unsigned threads,
                        double seconds) {
  speed_job *job = NULL;
  const double end = bench_now() + seconds;
  hu_status status = c->prepare(&job, c, room, threads);
  if (status == HU_OK) { /* once before the clock runs: pages are touched, threads started */
    c->reference_call(job);
    c->subject(job);
    status = c->status(job);
  }
  for (int i = 0; i < SPEED_RUNS && status == HU_OK; i++) {
    keep(z, c, bench_for(c->subject, c->reference_call, job, (end - bench_now()) / (SPEED_RUNS - i)), i);
    status = c->status(job);
  }
  c->close(job);
  return status;
}
