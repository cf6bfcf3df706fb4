/* SPDX-License-Identifier: MIT */
/* cli/job/parts.h - the ledgers LEDGER.I-of-N of the parts of a job: for ledger.c. */
#ifndef HALFULP_CLI_JOB_PARTS_H
#define HALFULP_CLI_JOB_PARTS_H

#include "cli/job/job.h"

/* Lists those of a ledger in ledger->part, sorted. */
int job_parts_list(job_ledger *ledger, const char *path);
void job_parts_free(job_ledger *ledger);
/* Refuses parts of another number beside it: entries of the two would compete, and an older one could win. */
int job_parts_refuse_others(const job_ledger *ledger, unsigned shards);
/* Refuses the folder in which older programs had them. */
int job_parts_refuse_old(const char *path);

/* 1: this line says of which list a part is. */
int job_part_is_line(const char *line);
/* Returns such a line with its end, to be freed; NULL: out of memory. */
char *job_part_line(const job_part *part, int fields);
/* Reads the digest of the list that a part was begun for last; 0 if the file does not say. */
int job_part_list(const char *path, uint64_t *list);
/* Refuses a part of another list that is at work beside this one, which has written its own line by now: of two that
 * begin at the same time at least one finds the other. */
int job_parts_check(const job_ledger *ledger, const job_part *part);

#endif
