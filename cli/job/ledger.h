/* SPDX-License-Identifier: MIT */
/* cli/job/ledger.h - what the two sources of ledgers share: entries (ledger.c) and files (ledger_file.c). */
#ifndef HALFULP_CLI_JOB_LEDGER_H
#define HALFULP_CLI_JOB_LEDGER_H

#include "cli/job/job.h"

/* Adds an entry from the text of a line; its file is `file` of those that ledger_add_file has numbered. */
int ledger_add(job_ledger *ledger, size_t file, const char *text, unsigned long number);
int ledger_add_file(job_ledger *ledger, const char *path, size_t *file);
/* Adds the entries of a stream. *whole: the bytes of its whole lines; a last one without an end is left out. */
int ledger_read_stream(job_ledger *ledger, size_t file, FILE *in, uint64_t *whole);

#endif
