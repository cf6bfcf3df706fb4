/* SPDX-License-Identifier: MIT */
/* tests/walk/device.c - the place of the walker that is built with the device's calls: the kernels, on a device or
 * compiled for the CPU. The only file of the walker that knows these calls. */
#include "halfulp/device.h"
#include "tests/cuda_host/twin.h"
#include "tests/walk/walk.h"

const int walk_device = 1;
size_t walk_places(void) { return 1; }
const char *walk_place_name(size_t place) {
  (void)place;
  return "device";
}
int walk_place_takes(size_t place, const walk_case *c) {
  (void)place, (void)c;
  return 1;
}
int walk_nowhere(void) { return twin_skip("walk"); }

uint64_t walk_one_there(const walk_case *c, const uint64_t *x, uint32_t random, uint32_t *events) {
  return walk_one(c, x, random, events);
}

/* Takums and HiFloat8 are the CPU's alone. */
hu_status walk_place_expected(const walk_case *c) {
  for (int end = 0; end < WALK_ENDS; end++) {
    if (c->call.systems && walk_has(&c->call, end) && c->type[end].number.kind > HU_NUMBER_TABLE) return HU_E_NUMBER;
  }
  return walk_expected(c);
}

/* The room's copy on the device. */
static uint8_t *put(const walk_case *c, const void *from, size_t bytes) {
  uint8_t *there = hui_memory_new(bytes);
  if (!there || hui_memory_put(there, from, bytes) != HU_OK) walk_fail(c, "no memory on the device");
  return there;
}

static void get(const walk_case *c, void *to, uint8_t *there, size_t bytes) {
  if (hui_memory_get(to, there, bytes) != HU_OK) walk_fail(c, "nothing comes back from the device");
  hui_memory_free(there);
}

hu_status walk_at(size_t place, const walk_case *c, const walk_ends *ends) {
  walk_ends there = *ends;
  hu_exec exec = {0, 0, c->stream, {0}};
  (void)place;
  for (int end = 0; end < WALK_ENDS; end++) {
    if (ends->room[end]) there.room[end] = put(c, ends->room[end], ends->bytes[end]);
  }
  for (int end = 0; end < WALK_ENDS; end++) { /* each array in its own room, or in another end's */
    for (int i = 0; i < WALK_ENDS; i++) {
      if (ends->room[i] && ends->data[end] >= ends->room[i] && ends->data[end] < ends->room[i] + ends->bytes[i])
        there.data[end] = there.room[i] + (ends->data[end] - ends->room[i]);
    }
  }
  if (ends->events) there.events = (hu_events *)(void *)put(c, ends->events, sizeof *ends->events);
  hu_status status = walk_array(c, &there, twin_there(&exec));
  if (hui_memory_wait() != HU_OK) walk_fail(c, "the device stopped");
  for (int end = 0; end < WALK_ENDS; end++) {
    if (ends->room[end]) get(c, ends->room[end], there.room[end], ends->bytes[end]);
  }
  if (ends->events) get(c, ends->events, (uint8_t *)there.events, sizeof *ends->events);
  return status;
}
