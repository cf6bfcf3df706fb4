/* SPDX-License-Identifier: MIT */
/* tests/walk/bench.c - times the calls that the walker compares: ns for an element, beside a memcpy of the result. The
 * rows are those of bench/table.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/table.h"
#include "files/timing.h"
#include "tests/walk/bench.h"

typedef struct job {
  const walk_case *c;
  const walk_ends *ends;
  size_t place;
  void *to;
  hu_status status;
} job;

static void subject(void *context) {
  job *work = context;
  work->status = walk_at(work->place, work->c, work->ends);
}

static void reference(void *context) {
  job *work = context;
  memcpy(work->to, work->ends->data[WALK_Z], work->c->n * walk_size(&work->c->type[WALK_Z]));
}

void walk_bench_begin(int csv) {
  if (csv) {
    bench_table_head();
  } else {
    printf("%-52s %-8s %10s %10s\n", "call, mode, type", "level", "ns", "/ memcpy");
  }
}

static void row(const walk_case *c, const walk_ends *ends, const char *type, int csv) {
  char name[160];
  hu_events counts;
  walk_ends mine = *ends;
  job work = {c, &mine, 0, malloc(c->n * 8), HU_OK};
  snprintf(name, sizeof name, "%s, rne, %s", c->call.name, type);
  memset(&counts, 0, sizeof counts);
  mine.events = &counts;
  for (size_t place = 0; work.to && place < walk_places(); place++) {
    work.place = place;
    bench_pair times = bench_for(subject, reference, &work, 0.05);
    double ns = 1e9 * times.subject / (double)c->n, ratio = times.subject / times.reference;
    if (work.status != HU_OK) walk_fail(c, "%s", hu_status_name(work.status));
    if (csv) {
      bench_table_line(name, walk_place_name(place), 1, "ns", ns);
      bench_table_line(name, walk_place_name(place), 1, "/ memcpy", ratio);
    } else {
      printf("%-52s %-8s %10.3f %10.2f\n", name, walk_place_name(place), ns, ratio);
    }
  }
  fflush(stdout);
  free(work.to);
}

void walk_bench(const walk_call *call, int log2, int csv) {
  static const char *const types[2][4] = {{"float8_e4m3fn", "binary16", "bfloat16", "binary32"},
                                          {"posit8", "nf4", "q7", "posit16"}};
  for (int i = 0; i < 4; i++) {
    static walk_case c;
    walk_ends ends;
    const char *type = types[call->systems][i];
    memset(&c, 0, sizeof c);
    c.call = *call;
    c.n = (size_t)1 << log2;
    c.in_place = -1;
    for (int end = 0; end < WALK_ENDS; end++) {
      c.type[end].carrier = end == WALK_Z ? call->to : call->from;
      if (hu_number_find(&c.type[end].number, type) != HU_OK) abort();
      c.inc[end] = 1;
    }
    walk_make(&c, &ends);
    walk_fill(&c, &ends, 1);
    row(&c, &ends, type, csv);
    walk_free(&ends);
  }
}
