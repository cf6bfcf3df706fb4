/* SPDX-License-Identifier: MIT */
/* tests/fuzz/command.h - kinds of files that the command reads, and the command lines that read one. */
#ifndef HALFULP_TESTS_FUZZ_COMMAND_H
#define HALFULP_TESTS_FUZZ_COMMAND_H

/* The input is the file of this name, in place of one that the folder has or beside what it has, while the command
 * line runs. `then`, where not NULL, is one that must succeed after it, such as a reading of what it has written: files
 * whose names begin with "out". */
typedef struct command_step {
  const char *file, *line, *then;
} command_step;

typedef struct command_text {
  const char *file, *text;
} command_text;

enum { COMMAND_MOST = 12 };

/* A folder is made of the texts, of x.npy (2 x 64 numbers) where `arrays`, and of what the command lines of `made`
 * write; it is the same again before every input. An input's first byte chooses the step. Seeds are the folder's files
 * for every step that replaces one, and the files of the corpus for every step. */
typedef struct command_target {
  const char *name;
  int arrays;
  int unbegun; /* 1: no network is made and trained, whose size the input would choose */
  command_text texts[COMMAND_MOST];
  const char *made[COMMAND_MOST];
  command_step steps[COMMAND_MOST];
} command_target;

extern const command_target command_targets[]; /* ends with one without a name */

#endif
