/* SPDX-License-Identifier: MIT */
/* cli/bench - the list of cases, and how one is measured. */
#include "cli/bench/bench.h"
#include "files/timing.h"

const speed_case *speed_case_at(size_t i) {
  const speed_case *const lists[] = {speed_arrays, speed_operations(), speed_products, speed_steps};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    for (const speed_case *bench = lists[k]; bench->name; bench++) {
      if (i-- == 0) return bench;
    }
  }
  return NULL;
}

static void keep(speed_result *result, const speed_case *bench, bench_pair times, int run) {
  const int first = run == 0;
  const double ratio = result->ratios[run] = times.subject / times.reference;
  double figure = bench->unit[0] == 'G' ? bench->count / times.subject
                                        : (bench->unit[0] == 'n' ? 1e9 : 1e6) * times.subject / bench->count;
  int better = bench->unit[0] == 'G' ? figure > result->figure : figure < result->figure;
  if (first || better) result->figure = figure;
  if (first || ratio < result->best) result->best = ratio;
  if (first || ratio > result->worst) result->worst = ratio;
}

hu_status speed_measure(speed_result *result, const speed_case *bench, const speed_memory *memory, unsigned threads,
                        double seconds) {
  speed_job *job = NULL;
  const double end = bench_now() + seconds;
  hu_status status = bench->prepare(&job, bench, memory, threads);
  if (status == HU_OK) { /* once before the clock runs: pages are touched, threads started */
    bench->reference_call(job);
    bench->subject(job);
    status = bench->status(job);
  }
  for (int i = 0; i < SPEED_RUNS && status == HU_OK; i++) {
    keep(result, bench, bench_for(bench->subject, bench->reference_call, job, (end - bench_now()) / (SPEED_RUNS - i)),
         i);
    status = bench->status(job);
  }
  bench->close(job);
  return status;
}
