/* SPDX-License-Identifier: MIT */
/* A job of one process, which is what there is without MPI. */
#include <stdlib.h>
#include <string.h>

#include "cli/campaign/campaign.h"

static void share(uint64_t count, campaign_done (*work)(void *context, uint64_t i),
                  void (*told)(void *context, const campaign_done *done), void *context) {
  for (uint64_t i = 0; i < count; i++) {
    campaign_done done = work(context, i);
    told(context, &done);
  }
}

static int same(uint64_t x, int *other) {
  (void)x, (void)other;
  return 1;
}

static int largest(int x) { return x; }

static int group(int n) { return n == 1; }

static void spread(void *bytes, size_t size) { (void)bytes, (void)size; }

static void *collect(const void *bytes, size_t size, size_t *all) {
  void *z = malloc(size + 1);
  if (z && size) memcpy(z, bytes, size);
  *all = z ? size : 0;
  return z;
}

static const campaign_ranks alone = {0, 1, share, same, largest, group, spread, collect};
static const campaign_ranks *given = &alone;

const campaign_ranks *campaign_ranks_get(void) { return given; }
void campaign_ranks_set(const campaign_ranks *ranks) { given = ranks; }
