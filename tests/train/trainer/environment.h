/* SPDX-License-Identifier: MIT */
/* tests/train/trainer/environment.h - jobs run in eight floating-point environments of the caller's: whatever
 * direction, flushing and traps he has set, every call gives the bits that it gives without, and his settings and
 * flags are as they were. Each job calls one family; it computes with no number itself, it only passes them on and
 * hashes their patterns. */
#ifndef HALFULP_TESTS_TRAIN_ENVIRONMENT_H
#define HALFULP_TESTS_TRAIN_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

/* ---- what a job leaves ---- */

typedef struct t_digest {
  uint64_t h;
} t_digest;
void add_bytes(t_digest *digest, const void *bytes, size_t n);
void add_word(t_digest *digest, uint64_t x);
void add_text(t_digest *digest, const char *text);
#define ADD(d, object) add_bytes(d, &(object), sizeof(object))

/* ---- what goes in: numbers of all magnitudes, made before ---- */

enum { COUNT = 1500 };
extern float normal[COUNT], small[COUNT], wild[COUNT];
void make_numbers(void);

/* ---- environments ---- */

enum { ENVIRONMENTS = 8 };
extern const char *const environment_names[ENVIRONMENTS];
/* The calling thread has it from here on; fesetenv gives back another one. */
void enter_environment(int which);

typedef struct job {
  const char *name;
  void (*run)(t_digest *digest);
  int levels; /* 1: on every kernel level */
} job;
#define JOB(name, levels) \
  { #name, job_##name, levels }
/* Each job in each environment; how many gave other bits, or left other settings or flags: told, a line each. */
int run_jobs(const job *jobs, size_t count);

#endif
