/* SPDX-License-Identifier: MIT */
/* cli/job/job.h - items that processes share, each a check or a run that takes seconds to hours, and the ledger of
 * their results: for every command whose work has parts (docs/cluster.md).
 *
 * A ledger is a text file. Its first line is JOB_LEDGER_HEAD, its second the names of the columns; then comes one line
 * per item, columns separated by tabs. One process at a time writes it, and holds a lock on it: process 0 of a job
 * appends each result when it gets it, so that a killed job loses the items that are not finished, and no more. Part I
 * of N (--shard) has a ledger of its own, LEDGER.I-of-N, so that parts may be at work at the same time on any machines;
 * the next job without --shard takes their entries into LEDGER and removes them. When a part begins, it writes a line
 * of the item `part I/N`, whose sources are a digest of the list that it is a part of: parts of different lists cannot
 * be at work side by side. No other item has a blank in its name, and no entry is made of these lines. */
#ifndef HALFULP_CLI_JOB_JOB_H
#define HALFULP_CLI_JOB_JOB_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/base/cli.h"

/* ---- the ledger ---- */

#define JOB_LEDGER_HEAD "halfulp-ledger 1"
#define JOB_COLUMNS "item\tstate\twrong\tcases\tdigest\tseconds\tsources\tversion\tlevel\tdate\tprocessor"
/* A command whose items have more to say than these adds a column; its text is one line without tabs. */
#define JOB_COLUMNS_MORE JOB_COLUMNS "\tresult"
enum { JOB_FIELDS = 12, JOB_LINE_MAX = 1 << 16, JOB_WHY_MAX = 512, JOB_SOURCES_MAX = 24 };
enum {
  JOB_ITEM,
  JOB_STATE,
  JOB_WRONG,
  JOB_CASES,
  JOB_DIGEST,
  JOB_SECONDS,
  JOB_SOURCES,
  JOB_VERSION,
  JOB_LEVEL,
  JOB_DATE,
  JOB_PROCESSOR,
  JOB_MORE
};

/* A line of a ledger, its columns as texts. The state is one of
 *   done
 *   stale     its sources have changed since
 *   skipped   the machine or the build lacks something that it needs
 *   open      never run
 *   again     --overwrite has begun: what was read before does not count */
typedef struct job_entry {
  char *field[JOB_FIELDS];
  char *line;  /* where they lie */
  size_t file; /* the number of the file that it comes from */
  int fits;    /* 0: of other sources than its item has now */
} job_entry;

typedef struct job_ledger {
  char *path; /* NULL: the results are not kept */
  int fields; /* JOB_FIELDS, or one less where there is no column `result` */
  job_entry **entry;
  size_t count, room;
  void *tree;  /* of the entries, by the names of their items */
  char **file; /* the names of the files that were read */
  size_t files;
  char **part; /* LEDGER.I-of-N, as far as they were read */
  size_t parts;
  int lock; /* open: LEDGER */
  int out;  /* open: what this job appends to, LEDGER or its own part */
  char *out_name;
  uint64_t size; /* of that */
  double synced; /* when it was last brought to the disk */
  int is_new;    /* 1: this job has made what it appends to */
  int untidy;    /* 1: the file has lines that no longer count, or results are in parts */
  /* NULL, or says whether an entry is of what its item depends on now; an exit code after an error line where the
   * entries of this file must not be taken. */
  int (*judge)(void *context, const char *file, const job_entry *entry, int *fits);
  void *context; /* of judge */
} job_ledger;
#define JOB_NO_LEDGER(columns) \
  { .fields = (columns), .lock = -1, .out = -1 }

/* What an item ends with. */
typedef struct job_result {
  uint64_t cases, wrong, digest; /* digest: of the results; 0: the item has none */
  int skipped;
  const char *machine;   /* the last but one column; NULL: this processor */
  char *more;            /* the last column, to be freed */
  char why[JOB_WHY_MAX]; /* of an item that failed, if no error line has said it */
} job_result;

/* Do the sources of an item say what its result depends on? Those of a line of a list, and "-", do not. */
int job_is_hash(const char *sources);
/* Makes an entry from its line, which it takes over; NULL, or what is wrong with it. */
const char *job_entry_read(job_entry *entry, char *line, int fields);
/* Writes the line of a result, without a line end. 1, or 0: it does not fit. */
int job_entry_write(char line[JOB_LINE_MAX], const char *name, const char *sources, const job_result *result,
                    double seconds);

/* Adds the entries of a ledger that another job has written: of an ordinary file, or ("-") of standard input. Of two
 * results of an item one that is done is better than one that is stale or of other sources than its item has now, and
 * that is better than none; of two such the later one stays. Two of the same hash with different digests are an error
 * that names both files. */
int job_ledger_read(job_ledger *ledger, const char *path);
/* Adds those of the ledger and of its parts, and writes nothing: another job may be at work on it. An absent file is an
 * empty ledger. */
int job_ledger_look(job_ledger *ledger, const char *path);
/* What a job has to do: part `shard` of `shards` of a list, or (0 of 0) all of it. */
typedef struct job_part {
  unsigned shard, shards;
  uint64_t list;    /* digest of the list */
  const char *what; /* "another LIST", for an error line */
} job_part;
/* Does the same, and locks the ledger for this job: a part shares it with other parts of the same list, the whole has
 * it for itself. `who` names the command: "campaign". */
int job_ledger_open(job_ledger *ledger, const char *path, const job_part *part, const char *who);
/* Adds the line of a result of this job. The line is in the file when it returns, and on the disk where a second has
 * passed since an earlier one was brought there; a file system that reports an append and has not done it is an error,
 * and so is a file that has been removed. After a write that failed the file is as it was before the line. */
int job_ledger_append(job_ledger *ledger, const char *line);
/* Brings all lines to the disk. */
int job_ledger_sync(job_ledger *ledger);
/* Marks an item that is run again. */
int job_ledger_again(job_ledger *ledger, const char *name);
/* Writes LEDGER whole where it has lines that no longer count, and removes the parts that were read into it. */
int job_ledger_tidy(job_ledger *ledger);
/* NULL: it has none. */
const job_entry *job_ledger_find(const job_ledger *ledger, const char *name);
/* Closes the files, so that the lock is that of other processes alone. */
void job_ledger_leave(job_ledger *ledger);
/* Removes the file that this job has made, after an error that came before its first result. */
void job_ledger_discard(const job_ledger *ledger);
void job_ledger_free(job_ledger *ledger);

/* ---- options ---- */

enum { JOB_GLOBS_MAX = 64, JOB_SHARDS_MAX = 65536, JOB_JOBS_MAX = 256 };
/* What the options say. */
typedef struct job_asked {
  const char *ledger, *glob[JOB_GLOBS_MAX];
  int globs, overwrite, status, merge;
  unsigned shard, shards; /* 0 of 0: all items */
  int jobs;               /* -1: not given; 0: one per processor */
} job_asked;
#define JOB_NOTHING_ASKED \
  { .jobs = -1 }

enum {
  JOB_KEY_LEDGER = 380,
  JOB_KEY_SHARD,
  JOB_KEY_JOBS,
  JOB_KEY_INCLUDE,
  JOB_KEY_OVERWRITE,
  JOB_KEY_STATUS,
  JOB_KEY_MERGE
};
/* The options that every command with items has; `modes`: see CLI_FOR. `jobs`: the default of --jobs. */
#define JOB_OPTIONS_OF(modes, jobs)                                                                                  \
  {JOB_KEY_SHARD | (modes), "shard", "I/N", "do part I of N of the items, 1 <= I <= N; it has a ledger of its own"}, \
      {JOB_KEY_JOBS | (modes), "jobs", "N",                                                                          \
       "items at a time, each in a process; 0: one per processor; the results are the same; default " jobs},         \
      {JOB_KEY_INCLUDE | CLI_REPEATS | (modes), "include", "GLOB",                                                   \
       "items of these names alone: * and ? stand for other characters"},                                            \
      {JOB_KEY_OVERWRITE | (modes), "overwrite", NULL, "start again: items that the ledger has are run, too"},       \
      {JOB_KEY_STATUS | (modes), "status", NULL, "run nothing; say what the ledger has and what is left"}, {         \
    JOB_KEY_MERGE | (modes), "merge", NULL, "the other operands are ledgers, which are put together"                 \
  }
/* CLI_OK, or an exit code after an error line; -1: this key is not one of these. */
int job_set(job_asked *asked, int key, const char *value);
/* Does what cli_parse does in all processes of a job: returns -1 where all of them may continue. */
int job_parse(const cli_command *command, void *state, int argc, char **argv, char ***operands, int *count);
/* "I/N" with 1 <= I <= N <= JOB_SHARDS_MAX: 1, or 0. */
int job_shard(const char *text, uint64_t *i, uint64_t *n);

/* ---- processes ---- */

/* How far an item is. */
typedef struct job_steps {
  _Atomic uint64_t done, of; /* of 0: it does not say */
  long parent; /* of a process for this item alone, which ends where its parent has ended; 0: there is none */
} job_steps;

#define JOB_NONE UINT64_MAX
/* What is said of an item when it has ended. */
typedef struct job_done {
  uint64_t item; /* JOB_NONE: none has ended yet */
  double seconds;
  int32_t failed;
  uint32_t size;           /* of the text, with its final 0 */
  char text[JOB_LINE_MAX]; /* the line for the ledger; why it failed, or "" */
} job_done;

/* Items 0 to count - 1, and what becomes of them. */
typedef struct job_deal {
  uint64_t count;
  void (*run)(void *context, uint64_t item, job_done *done, job_steps *steps);
  /* Called in process 0 when an item has ended: CLI_OK, or an exit code after an error line, and no item begins after
   * that. */
  int (*note)(void *context, const job_done *done);
  /* Called there from time to time. parts: how much of the items that are not finished is done, where that is known. */
  void (*show)(void *context, double parts);
  /* Called in a process that runs one item and ends. */
  void (*leave)(void *context);
  /* Writes what an interrupt at this time is to print, with its line end: how much is done, and how to continue. */
  void (*last_words)(void *context, char text[JOB_WHY_MAX]);
  void *context;
} job_deal;

/* Runs them in processes of their own, `count` at a time. An interrupt ends these, prints its last words and takes
 * its effect. CLI_OK, or an exit code after an error line. */
int job_in_processes(const job_deal *deal, unsigned count);

/* The signals that stop a command; those that are ignored (nohup) stay so. */
enum { JOB_STOPS = 3 };
typedef struct job_stops {
  struct sigaction before[JOB_STOPS]; /* what they did */
} job_stops;
void job_stops_catch(job_stops *stops, void (*handler)(int number));
/* May be called from a handler of signals, as raise() may after it. */
void job_stops_release(const job_stops *stops);
extern const int job_stop_signals[JOB_STOPS];

/* The processes of a job. Those of one process are in ranks.c, those of MPI in mpi/ranks.c. */
typedef struct job_ranks {
  int rank, size;
  /* Runs all items, each in one of the processes (after `group`: in all processes of one group, of which the first
   * says how it ended), in this order as they become free. CLI_OK, or an exit code after an error line. */
  int (*share)(const job_deal *deal);
  /* 1 if all processes gave the same number; else 0 and the lowest one that gave another than process 0. */
  int (*same)(uint64_t x, int *other);
  /* The largest of the numbers that the processes gave. */
  int (*largest)(int x);
  /* From now on consecutive processes, n at a time, share an item, and train_ranks_get() (cli/train/ranks.h) has those
   * of this process's group. n divides the number of processes. 0: the MPI library cannot do it; 1 else. */
  int (*group)(int n);
  /* The bytes of process 0 become those of all processes. */
  void (*spread)(void *bytes, size_t size);
} job_ranks;
/* Returns one process, or those of job_ranks_set. */
const job_ranks *job_ranks_get(void);
void job_ranks_set(const job_ranks *ranks);

/* CLI_OK, or an exit code after an error line of process 0: "sweep: rank 2 has WHAT than rank 0". All call it. */
int job_same(const char *who, uint64_t x, const char *what);
/* FNV-1a of a text, its final 0 included. digest: JOB_DIGEST_START, or that of what comes before. */
#define JOB_DIGEST_START UINT64_C(0xCBF29CE484222325)
uint64_t job_digest(const char *text, uint64_t digest);
uint64_t job_digest_bytes(const void *bytes, size_t size, uint64_t digest);

/* ---- the work ---- */

typedef struct job_item {
  const char *name;
  /* 16 hexadecimal digits: the hash of what it depends on; "line:" and 16 digits: the digest of its line in a list,
   * which says what it is, not what it depends on; "-": nothing is known. */
  char sources[JOB_SOURCES_MAX];
  double expected;   /* seconds, from the ledger; 0: not known */
  const char *title; /* in error lines; NULL: the name */
  char *why;         /* it has failed in this job: why */
} job_item;

enum { JOB_IS_OPEN, JOB_IS_STALE, JOB_IS_SKIPPED, JOB_IS_DONE };

typedef struct job_work {
  const char *who; /* the command's name */
  const job_asked *asked;
  const char *path; /* of the ledger; NULL: none is kept */
  const char *list; /* what the items follow from, for an error line: "another LIST or other --sources" */
  uint64_t digest;  /* of that, besides names and sources */
  uint64_t options; /* digest of the command's own options */
  job_item *item;
  size_t count;
  /* Lists the items. CLI_OK, or an exit code after an error line. */
  int (*prepare)(void *context);
  /* NULL, or makes what the ledger lies in, in process 0; the same codes. */
  int (*begin)(void *context);
  /* Runs an item: CLI_OK and its result, or an exit code. A wrong bit is a result. */
  int (*run)(void *context, size_t i, job_result *result, job_steps *steps);
  /* NULL, or refuses an entry of other sources in this file: an exit code after an error line. Without it the item is
   * run again. */
  int (*refuse)(void *context, size_t i, const job_entry *entry, const char *file);
  void *context;
  unsigned jobs;     /* where --jobs does not say; 0: in this process */
  unsigned group;    /* processes of an MPI job that share an item; 0 or 1: none do */
  job_ledger ledger; /* in process 0 */
  size_t failed;
  const job_item **by_name; /* in the order of their names; NULL: not yet sorted */
} job_work;

/* Runs what is to be done; with --status it runs nothing, and with --merge it puts the entries of other ledgers into
 * work->path, where there is one. Afterwards process 0 has all results in work->ledger. CLI_OK, or an exit code after
 * an error line, the same in all processes. All of them call it. */
int job_run(job_work *work, int count, char **ledgers);
/* JOB_IS_OPEN, ... */
int job_state(const job_work *work, size_t i);
/* Does the part --shard, or --include, have this item? */
int job_is_own(const job_work *work, size_t i);
/* 1: the options leave items to other commands. */
int job_is_part(const job_asked *asked);
/* Prints items done, stale and open, cases, hours, wrong results with a line to repeat each: `again` in its shell
 * form. Returns how many are wrong. */
uint64_t job_report(FILE *out, const job_work *work, const char *again, int json);
void job_free(job_work *work);

#endif
