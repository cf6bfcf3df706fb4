/* SPDX-License-Identifier: MIT */
/* The entries of a ledger, and which of two of the same item stays. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/job/ledger.h"

const job_entry *job_ledger_find(const job_ledger *ledger, const char *name) {
  size_t place = job_names_find(&ledger->names, name);
  return place == JOB_NOWHERE ? NULL : &ledger->entry[place];
}

static int is_state(const job_entry *entry, const char *state) { return !strcmp(entry->field[JOB_STATE], state); }

/* Results of the same sources that differ: one of two machines is wrong, and it is unknown which. */
static int disagree(const job_entry *x, const job_entry *y) {
  const job_entry *both[2] = {x, y};
  for (int i = 0; i < 2; i++)
    if (!is_state(both[i], "done") && !is_state(both[i], "stale")) return 0;
  if (!strcmp(x->field[JOB_SOURCES], "-") || strcmp(x->field[JOB_SOURCES], y->field[JOB_SOURCES])) return 0;
  return strcmp(x->field[JOB_DIGEST], y->field[JOB_DIGEST]) != 0;
}

/* A result is better than a stale one, that better than none; of two results the later. */
static int takes_the_place(const job_entry *now, const job_entry *old) {
  int ranks[2] = {0, 0};
  const job_entry *both[2] = {now, old};
  for (int i = 0; i < 2; i++) ranks[i] = is_state(both[i], "done") ? 2 : is_state(both[i], "stale");
  if (ranks[0] != ranks[1]) return ranks[0] > ranks[1];
  return strcmp(now->field[JOB_DATE], old->field[JOB_DATE]) >= 0;
}

/* A job writes later lines of an item because the earlier ones do not count. */
static int is_newer(const job_entry *now, const job_entry *old) {
  return now->file == old->file || is_state(now, "again") || is_state(old, "again");
}

/* The better of the two stays, and the other one's line goes. */
static int replace(job_ledger *ledger, job_entry *old, job_entry entry) {
  int newer = is_newer(&entry, old);
  ledger->untidy = 1;
  if (!newer && disagree(&entry, old)) {
    (void)cli_fail(ledger->file[entry.file], "%s: digest %s, but with the same sources %s in %s", entry.field[JOB_ITEM],
                   entry.field[JOB_DIGEST], old->field[JOB_DIGEST], ledger->file[old->file]);
    free(entry.line);
    return CLI_BAD;
  }
  if (newer || takes_the_place(&entry, old)) {
    job_entry worse = *old;
    *old = entry;
    entry = worse;
    /* The name is there already, so that no memory is asked for; its text is now the new line's. */
    (void)job_names_put(&ledger->names, old->field[JOB_ITEM], (size_t)(old - ledger->entry));
  }
  free(entry.line);
  return CLI_OK;
}

static int grow(job_ledger *ledger) {
  if (ledger->count < ledger->room) return 1;
  size_t room = ledger->room ? 2 * ledger->room : 256;
  job_entry *more = realloc(ledger->entry, room * sizeof *more);
  if (!more) return 0;
  ledger->entry = more;
  ledger->room = room;
  return 1;
}

static int add(job_ledger *ledger, job_entry entry) {
  job_entry *old = (job_entry *)job_ledger_find(ledger, entry.field[JOB_ITEM]);
  if (old) return replace(ledger, old, entry);
  if (!grow(ledger) || !job_names_put(&ledger->names, entry.field[JOB_ITEM], ledger->count)) {
    free(entry.line);
    return cli_fail(NULL, "out of memory");
  }
  ledger->entry[ledger->count++] = entry;
  return CLI_OK;
}

int ledger_add(job_ledger *ledger, size_t file, const char *text, unsigned long number) {
  job_entry entry;
  char *own = strdup(text);
  if (!own) return cli_fail(NULL, "out of memory");
  const char *wrong = job_entry_read(&entry, own, ledger->fields);
  entry.file = file;
  if (!wrong) return add(ledger, entry);
  free(own);
  return cli_fail(NULL, "%s:%lu: %s", ledger->file[file], number, wrong);
}

/* ---- reading ---- */

int ledger_add_file(job_ledger *ledger, const char *path, size_t *file) {
  char **more = realloc(ledger->file, (ledger->files + 1) * sizeof *more);
  if (more) ledger->file = more;
  char *own = more ? strdup(path) : NULL;
  if (!own) return cli_fail(NULL, "out of memory");
  *file = ledger->files;
  ledger->file[ledger->files++] = own;
  return CLI_OK;
}

static int wrong_head(const char *path, const char *line) {
  if (!strncmp(line, "halfulp-verify ", 15))
    return cli_fail(path, "is a report of an older halfulp verify; run the check again with --ledger");
  if (strncmp(line, "halfulp-ledger ", 15)) return cli_fail(NULL, "%s:1: is no ledger", path);
  return cli_fail(NULL, "%s:1: a ledger of another version; this program reads " JOB_LEDGER_HEAD, path);
}

static int read_line(job_ledger *ledger, size_t file, const char *line, unsigned long number) {
  const char *path = ledger->file[file];
  const char *columns = ledger->fields == JOB_FIELDS ? JOB_COLUMNS_MORE : JOB_COLUMNS;
  if (number == 1) return strcmp(line, JOB_LEDGER_HEAD) ? wrong_head(path, line) : CLI_OK;
  if (number > 2) return ledger_add(ledger, file, line, number);
  return strcmp(line, columns) ? cli_fail(NULL, "%s:2: other columns than those of this command", path) : CLI_OK;
}

int ledger_read_stream(job_ledger *ledger, size_t file, FILE *in, uint64_t *whole) {
  char *line = NULL;
  size_t room = 0;
  int status = CLI_OK;
  unsigned long number = 0;
  ssize_t n;
  *whole = 0;
  while (status == CLI_OK && (n = getline(&line, &room, in)) > 0) {
    if (line[n - 1] != '\n' && number >= 2) break; /* its writer was killed */
    *whole += (uint64_t)n;
    number++;
    if (strlen(line) != (size_t)n)
      status = cli_fail(NULL, "%s:%lu: holds a zero byte", ledger->file[file], number);
    else
      status = read_line(ledger, file, (line[strcspn(line, "\r\n")] = 0, line), number);
  }
  if (status == CLI_OK && ferror(in)) status = cli_fail(ledger->file[file], "cannot read: %s", strerror(errno));
  if (status == CLI_OK && number == 1) status = cli_fail(ledger->file[file], "is no ledger");
  free(line);
  return status;
}

int job_ledger_read(job_ledger *ledger, const char *path) {
  uint64_t whole;
  size_t file = 0;
  int status = ledger_add_file(ledger, path, &file);
  if (status != CLI_OK) return status;
  FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
  if (!in) return cli_fail(path, "%s", strerror(errno));
  status = ledger_read_stream(ledger, file, in, &whole);
  if (status == CLI_OK && whole == 0) status = cli_fail(path, "is no ledger");
  if (in != stdin) fclose(in);
  ledger->untidy = 1;
  return status;
}

void job_ledger_free(job_ledger *ledger) {
  job_ledger_leave(ledger);
  for (size_t i = 0; i < ledger->count; i++) free(ledger->entry[i].line);
  for (size_t i = 0; i < ledger->files; i++) free(ledger->file[i]);
  for (size_t i = 0; i < ledger->parts; i++) free(ledger->part[i]);
  free(ledger->entry);
  free(ledger->file);
  free(ledger->part);
  free(ledger->path);
  free(ledger->out_name);
  job_names_free(&ledger->names);
  *ledger = (job_ledger)JOB_NO_LEDGER(ledger->fields);
}
