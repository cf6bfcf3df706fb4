/* SPDX-License-Identifier: MIT */
/* cli/base/output.h - the steps by which a file is written, for output.c and output_set.c. All others write by io.h. */
#ifndef HALFULP_CLI_BASE_OUTPUT_H
#define HALFULP_CLI_BASE_OUTPUT_H

#include "cli/base/io.h"

/* A file that is being written: its bytes go to a temporary file in the same folder, locked while it is open. */
typedef struct output_draft {
  char *real, *temporary;
  int fd; /* -1: none */
} output_draft;

/* All return 0, or errno; of an input that has changed meanwhile EFAULT, with which writing its bytes fails, too. After
 * an error of draft_open there is nothing to free. */
int draft_open(output_draft *draft, const char *path);
int draft_write(output_draft *draft, const cli_piece *pieces, size_t count);
/* Sets the file's permissions, and puts its bytes on the disk; asks once more whether an input has changed. */
int draft_flush(const output_draft *draft);
/* Gives the file its name. */
int draft_publish(const output_draft *draft);
/* Closes and frees; discard: the temporary file goes, too. Sets errno to nothing in particular. */
void draft_end(output_draft *draft, int discard);

/* Holds the signals that end the command from here to output_release, where a pending one takes effect. */
void output_hold(sigset_t *before);
void output_release(const sigset_t *before);
/* Returns 1 if one that is held has come: the work is to be given up. */
int output_interrupted(void);
/* The error line of a write, unless OUTPUT_SAID; returns CLI_BAD. */
enum { OUTPUT_SAID = -1 };
int output_fail(const char *path, int error);

#endif
