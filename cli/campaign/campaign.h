/* SPDX-License-Identifier: MIT */
/* cli/campaign/campaign.h - a list of items, each a check that takes seconds to hours, and the ledger of their results.
 *
 * A ledger is a text file. Its first line is CAMPAIGN_LEDGER_HEAD, its second the names of the columns; then comes one
 * line per item, columns separated by tabs. Every process appends its results to a file of its own in LEDGER.parts, so
 * that a killed job loses the items under way and no more; the parts go into the ledger at the end, or when the next
 * job starts. */
#ifndef HALFULP_CLI_CAMPAIGN_CAMPAIGN_H
#define HALFULP_CLI_CAMPAIGN_CAMPAIGN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- names ---- */

/* Where the names of a list stand in it. All-zero: no names. The texts are the caller's, and stay as long as they are
 * here. */
typedef struct campaign_name {
  const char *name;
  size_t place;
} campaign_name;
typedef struct campaign_names {
  campaign_name *slot;
  size_t room, count;
} campaign_names;
#define CAMPAIGN_NOWHERE ((size_t)-1)
/* A name that is there gets the new text and place. 1, or 0: out of memory, and nothing has changed. */
int campaign_names_put(campaign_names *names, const char *name, size_t place);
/* CAMPAIGN_NOWHERE where there is none. */
size_t campaign_names_find(const campaign_names *names, const char *name);
void campaign_names_free(campaign_names *names);

/* ---- the list ---- */

/* A line of a list: NAME KIND SUBJECTS ARGUMENT..., separated by tabs, or by blanks where it has no tab; it may be
 * indented. Empty lines and those that begin with # say nothing. SUBJECTS: the folders whose claims the item checks,
 * with commas between them. */
typedef struct campaign_item {
  char *line; /* where the words lie */
  char *name, *kind, *subjects;
  char **argument; /* ends with NULL */
  int arguments;
  double expected; /* seconds, from the ledger; 0: not known */
  char sources[17];
} campaign_item;

typedef struct campaign_list {
  campaign_item *item;
  size_t count;
  uint64_t digest; /* of the file's bytes */
  campaign_names names;
} campaign_list;

/* CLI_OK, or an exit code after an error line that names file and line. */
int campaign_list_read(campaign_list *list, const char *path);
void campaign_list_free(campaign_list *list);
/* Puts the hash of its sources, from lines "NAME HASH" (16 hexadecimal digits), into each item; items without a line
 * keep "-", and names of no item are passed over. */
int campaign_sources_read(campaign_list *list, const char *path);

/* ---- one item ---- */

typedef struct campaign_result {
  uint64_t cases, wrong, digest; /* of the results; 0: the item has none */
} campaign_result;

/* Is it an item that campaign_item_run can run? CLI_OK, or CLI_BAD after an error line that begins with FILE:LINE. */
int campaign_item_check(const campaign_item *item, const char *file, unsigned long line);
/* CLI_OK, or an exit code after an error line: then there is no result. A wrong bit is a result. */
int campaign_item_run(const campaign_item *item, campaign_result *z);
/* Items of a kind: pairs OP FORMAT MODE I/N, triples FORMAT MODE I/N, mixed FORMAT FORMAT MODE I/N, powers FORMAT
 * FORMAT MODE 1/EVERY I/N. */
int campaign_pairs(const campaign_item *item, campaign_result *z);
int campaign_triples(const campaign_item *item, campaign_result *z);
int campaign_mixed(const campaign_item *item, campaign_result *z);
int campaign_powers(const campaign_item *item, campaign_result *z);
/* program PATH ARGUMENT..., and program-fails: the exit status says whether it is right. A last line of its output
 * "campaign: cases=N wrong=N digest=HEX" is taken over, except that nothing is wrong where a program failed that must.
 * There is no result, but an error line, where it could not be run (exit status 126 or 127), was skipped (77), or was
 * ended by SIGKILL, SIGTERM, SIGINT or SIGHUP, which say nothing of what it checks. It is no process of the MPI job
 * that runs it. */
int campaign_program(const campaign_item *item, int fails, campaign_result *z);
/* "I/N" with 1 <= I <= N: 1, or 0. */
int campaign_shard(const char *text, uint64_t *i, uint64_t *n);
/* Code i of an array of codes of 1, 2 or 4 bytes. */
uint32_t campaign_code(const uint8_t *x, size_t size, size_t i);
void campaign_put(uint8_t *x, size_t size, size_t i, uint32_t code);

/* ---- the ledger ---- */

#define CAMPAIGN_LEDGER_HEAD "halfulp-ledger 1"
#define CAMPAIGN_COLUMNS "item\tstate\twrong\tcases\tdigest\tseconds\tsources\tversion\tlevel\tdate\tprocessor"
enum { CAMPAIGN_FIELDS = 11, CAMPAIGN_LINE_MAX = 1024 };
enum {
  CAMPAIGN_ITEM,
  CAMPAIGN_STATE,
  CAMPAIGN_WRONG,
  CAMPAIGN_CASES,
  CAMPAIGN_DIGEST,
  CAMPAIGN_SECONDS,
  CAMPAIGN_SOURCES,
  CAMPAIGN_VERSION,
  CAMPAIGN_LEVEL,
  CAMPAIGN_DATE,
  CAMPAIGN_PROCESSOR
};

/* A line of a ledger, its columns as texts. State: done; stale: sources have changed since; open: never run. */
typedef struct campaign_entry {
  char *field[CAMPAIGN_FIELDS];
  char *line;  /* where they lie */
  size_t file; /* the number of the ledger's file that it comes from */
} campaign_entry;

/* A file that was read. */
typedef struct campaign_file {
  char *path;
  int is_part;
} campaign_file;

typedef struct campaign_ledger {
  campaign_entry *entry;
  campaign_file *file;
  size_t count, room, files;
  campaign_names names;
} campaign_ledger;

/* An entry from its line, which it takes over; 0, or what is wrong with it. */
const char *campaign_entry_read(campaign_entry *z, char *line);
/* The line of a result, with a line end: its length. */
int campaign_entry_write(char line[CAMPAIGN_LINE_MAX], const campaign_item *item, const campaign_result *z,
                         double seconds);

/* Adds a file's entries; a newer one of an item takes the place of an older. Where `absent`, as of the ledger that a
 * job writes, an absent file is an empty ledger, and what is no ordinary file is an error. Two entries of one item with
 * the same sources and different digests are an error that names both files. */
int campaign_ledger_read(campaign_ledger *ledger, const char *path, int absent);
/* Adds what an earlier job left in PATH.parts, whose last line may be cut. */
int campaign_parts_read(campaign_ledger *ledger, const char *path);
/* Both without a job's lock, and nothing is written: those of a ledger that another job may be at work on. An absent
 * file is an empty ledger. */
int campaign_ledger_look(campaign_ledger *ledger, const char *path);
/* Writes the whole ledger; then removes the parts that were read into it, and no other files. */
int campaign_ledger_write(campaign_ledger *ledger, const char *path);
const campaign_entry *campaign_ledger_find(const campaign_ledger *ledger, const char *name);
void campaign_ledger_free(campaign_ledger *ledger);

/* A part, in PATH.parts. Each line is written at once and is on the disk when append returns; a file system that says
 * it has appended and has not is an error, and so is a part that has been removed. After a write that failed the part
 * is as it was before the line. CLI_OK, or an exit code after an error line. */
typedef struct campaign_part {
  int fd;
  char *name;
  uint64_t size;
} campaign_part;
int campaign_part_open(campaign_part *part, const char *path, int rank);
int campaign_part_append(campaign_part *part, const char *line, size_t length);
void campaign_part_close(campaign_part *part);

/* ---- processes ---- */

/* What is told of an item when it is done. */
typedef struct campaign_done {
  double item, seconds, wrong, failed; /* numbers of items are exact in binary64 */
} campaign_done;

/* The processes of a job. Those of one process are in ranks.c, those of MPI in mpi/ranks.c. */
typedef struct campaign_ranks {
  int rank, size;
  /* Runs work(context, i) for i from 0 to count - 1, each in one of the processes (after `group`: in all processes of
   * one group), in this order as they become free; what it returns (in the first process of the group) is passed to
   * told(context, ...) in process 0. Returns when all have been run. */
  void (*share)(uint64_t count, campaign_done (*work)(void *context, uint64_t i),
                void (*told)(void *context, const campaign_done *done), void *context);
  /* 1 if all processes gave the same number; else 0 and the lowest one that gave another than process 0. */
  int (*same)(uint64_t x, int *other);
  /* The largest of the numbers that the processes gave. */
  int (*largest)(int x);
  /* From now on consecutive processes, n at a time, share an item, and train_ranks_get() (cli/train/ranks.h) has those
   * of this process's group. n divides the number of processes. 0: the MPI library cannot do it; 1 else. */
  int (*group)(int n);
  /* The bytes of process 0 become those of all processes. */
  void (*spread)(void *bytes, size_t size);
  /* In process 0: the bytes of all processes, one after another, *all of them; to be freed. NULL in the others, and
   * where there is no memory. */
  void *(*collect)(const void *bytes, size_t size, size_t *all);
} campaign_ranks;
/* One process, or those of campaign_ranks_set. */
const campaign_ranks *campaign_ranks_get(void);
void campaign_ranks_set(const campaign_ranks *ranks);

/* ---- reports ---- */

/* Items done, stale and open, cases, hours, wrong results with a line to repeat each. Returns how many are wrong. */
uint64_t campaign_report(FILE *out, const campaign_list *list, const campaign_ledger *ledger, const char *list_path,
                         int json);

#endif
