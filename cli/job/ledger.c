/* SPDX-License-Identifier: MIT */
/* A ledger: its entries, and which of two of the same item stays; its file and its parts, and who may write them. */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/progress.h"
#include "cli/job/job.h"
#include "cli/job/parts.h"

/* ---- entries ---- */

static int by_item(const void *x, const void *y) {
  return strcmp(((const job_entry *)x)->field[JOB_ITEM], ((const job_entry *)y)->field[JOB_ITEM]);
}

static job_entry *find(const job_ledger *ledger, const char *name) {
  const job_entry key = {.field = {(char *)(uintptr_t)name}};
  job_entry *const *found = tfind(&key, &ledger->tree, by_item);
  return found ? *found : NULL;
}

const job_entry *job_ledger_find(const job_ledger *ledger, const char *name) { return find(ledger, name); }

static int is_state(const job_entry *entry, const char *state) { return !strcmp(entry->field[JOB_STATE], state); }

/* Results of the same sources that differ: one of two machines is wrong, and it is unknown which. */
static int disagree(const job_entry *x, const job_entry *y) {
  const job_entry *both[2] = {x, y};
  for (int i = 0; i < 2; i++)
    if (!is_state(both[i], "done") && !is_state(both[i], "stale")) return 0;
  if (!job_is_hash(x->field[JOB_SOURCES]) || strcmp(x->field[JOB_SOURCES], y->field[JOB_SOURCES])) return 0;
  return strcmp(x->field[JOB_DIGEST], y->field[JOB_DIGEST]) != 0;
}

/* 2: a result; 1: one that is stale, or of other sources; 0: none. */
static int worth(const job_entry *entry) {
  int done = is_state(entry, "done");
  return done && entry->fits ? 2 : done || is_state(entry, "stale");
}

/* The better of the two, and of two that are equally good the later. */
static int takes_the_place(const job_entry *now, const job_entry *old) {
  int ranks[2] = {worth(now), worth(old)};
  if (ranks[0] != ranks[1]) return ranks[0] > ranks[1];
  return strcmp(now->field[JOB_DATE], old->field[JOB_DATE]) >= 0;
}

/* A job writes later lines of an item because the earlier ones do not count. */
static int is_newer(const job_entry *now, const job_entry *old) {
  return now->file == old->file || is_state(now, "again") || is_state(old, "again");
}

/* The better of the two stays, and the other one's line goes. */
static int replace(job_ledger *ledger, job_entry *old, job_entry *entry) {
  int newer = is_newer(entry, old);
  ledger->untidy = 1;
  if (!newer && disagree(entry, old))
    return cli_fail(ledger->file[entry->file], "%s: digest %s, but with the same sources %s in %s",
                    entry->field[JOB_ITEM], entry->field[JOB_DIGEST], old->field[JOB_DIGEST], ledger->file[old->file]);
  if (newer || takes_the_place(entry, old)) {
    job_entry worse = *old;
    *old = *entry;
    *entry = worse;
  }
  return CLI_OK;
}

static int add_new(job_ledger *ledger, job_entry *entry) {
  if (ledger->count == ledger->room) {
    size_t room = ledger->room ? 2 * ledger->room : 256;
    job_entry **more = realloc(ledger->entry, room * sizeof *more);
    if (!more) return cli_fail(NULL, "out of memory");
    ledger->entry = more;
    ledger->room = room;
  }
  if (!tsearch(entry, &ledger->tree, by_item)) return cli_fail(NULL, "out of memory");
  ledger->entry[ledger->count++] = entry;
  return CLI_OK;
}

static void free_entry(job_entry *entry) {
  if (entry) free(entry->line);
  free(entry);
}

/* Makes an entry from the text of a line, which is in this one of the files. */
static int make(const job_ledger *ledger, size_t file, const char *text, unsigned long number, job_entry **entry) {
  char *line = strdup(text);
  *entry = line ? calloc(1, sizeof **entry) : NULL;
  if (!*entry) {
    free(line);
    return cli_fail(NULL, "out of memory");
  }
  const char *wrong = job_entry_read(*entry, line, ledger->fields);
  (*entry)->file = file;
  (*entry)->fits = 1;
  if (wrong) return cli_fail(NULL, "%s:%lu: %s", ledger->file[file], number, wrong);
  return ledger->judge ? ledger->judge(ledger->context, ledger->file[file], *entry, &(*entry)->fits) : CLI_OK;
}

static int add(job_ledger *ledger, size_t file, const char *text, unsigned long number) {
  job_entry *entry, *old = NULL;
  if (job_part_is_line(text)) {
    ledger->untidy = 1;
    return CLI_OK;
  }
  int status = make(ledger, file, text, number, &entry);
  if (status == CLI_OK) old = find(ledger, entry->field[JOB_ITEM]);
  if (status == CLI_OK) status = old ? replace(ledger, old, entry) : add_new(ledger, entry);
  if (old || status != CLI_OK) free_entry(entry);
  return status;
}

/* ---- reading ---- */

/* Numbers a file whose entries are read. */
static int add_file(job_ledger *ledger, const char *path, size_t *file) {
  *file = 0;
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

static const char *columns_of(const job_ledger *ledger) {
  return ledger->fields == JOB_FIELDS ? JOB_COLUMNS_MORE : JOB_COLUMNS;
}

static int read_line(job_ledger *ledger, size_t file, const char *line, unsigned long number) {
  const char *path = ledger->file[file];
  if (number == 1) return strcmp(line, JOB_LEDGER_HEAD) ? wrong_head(path, line) : CLI_OK;
  if (number > 2) return add(ledger, file, line, number);
  return strcmp(line, columns_of(ledger)) ? cli_fail(NULL, "%s:2: other columns than those of this command", path)
                                          : CLI_OK;
}

/* Adds the entries of a stream. *whole: the bytes of its whole lines; a last one without an end is left out. */
static int read_stream(job_ledger *ledger, size_t file, FILE *in, uint64_t *whole) {
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
  size_t file;
  int status = add_file(ledger, path, &file);
  if (status != CLI_OK) return status;
  FILE *in = strcmp(path, "-") ? cli_own_stream(path) : stdin;
  if (!in && errno == ENXIO)
    return cli_fail(path, "is no ordinary file; of what a program prints, a ledger is read from standard input: -");
  if (!in) return cli_fail(path, "%s", strerror(errno));
  status = read_stream(ledger, file, in, &whole);
  if (status == CLI_OK && whole == 0) status = cli_fail(path, "is no ledger");
  if (in != stdin) fclose(in);
  ledger->untidy = 1;
  return status;
}

/* ---- what the files have ---- */

/* A person has named it, and may have named a device or a folder, which are not to be removed. */
static int check_name(const char *path) {
  struct stat info;
  if (stat(path, &info) || S_ISREG(info.st_mode)) return CLI_OK;
  return cli_fail(path, "is no ordinary file, as a ledger is; name another one");
}

/* *in is NULL where there is no file. */
static int open_stream(FILE **in, const char *path) {
  int status = cli_own_check(path);
  *in = status == CLI_OK ? cli_own_stream(path) : NULL;
  return status != CLI_OK || *in || errno == ENOENT ? status : cli_fail(path, "%s", strerror(errno));
}

static int read_own(job_ledger *ledger, const char *path, FILE *in) {
  uint64_t whole;
  size_t file;
  struct stat info;
  if (!in) return CLI_OK;
  int status = add_file(ledger, path, &file);
  if (status == CLI_OK) status = read_stream(ledger, file, in, &whole);
  int cut = status == CLI_OK && fstat(fileno(in), &info) == 0 && (uint64_t)info.st_size != whole;
  /* What this job appends to must end with a whole line. */
  if (cut && ledger->out >= 0 && !strcmp(path, ledger->out_name) && ftruncate(ledger->out, (off_t)whole))
    status = cli_fail(path, "cannot be cut: %s", strerror(errno));
  return status;
}

/* Parts are opened before LEDGER is read: those that another job takes into it meanwhile are read here or there. */
int job_ledger_look(job_ledger *ledger, const char *path) {
  FILE *own = NULL, **part = NULL;
  int status = check_name(path);
  if (status == CLI_OK) status = job_parts_refuse_old(path);
  if (status == CLI_OK) status = job_parts_list(ledger, path);
  if (status == CLI_OK && !(part = calloc(ledger->parts + 1, sizeof *part))) status = cli_fail(NULL, "out of memory");
  for (size_t i = 0; i < ledger->parts && status == CLI_OK; i++) status = open_stream(&part[i], ledger->part[i]);
  if (status == CLI_OK) status = open_stream(&own, path);
  if (status == CLI_OK) status = read_own(ledger, path, own);
  for (size_t i = 0; i < ledger->parts && status == CLI_OK; i++) status = read_own(ledger, ledger->part[i], part[i]);
  for (size_t i = 0; part && i < ledger->parts; i++)
    if (part[i]) fclose(part[i]);
  if (own) fclose(own);
  free(part);
  return status;
}

/* ---- writing ---- */

static void print_ledger(FILE *out, const void *what) {
  const job_ledger *ledger = what;
  fprintf(out, "%s\n%s\n", JOB_LEDGER_HEAD, columns_of(ledger));
  for (size_t i = 0; i < ledger->count; i++) {
    if (!strcmp(ledger->entry[i]->field[JOB_STATE], "again")) continue;
    for (int k = 0; k < ledger->fields; k++)
      fprintf(out, "%s%c", ledger->entry[i]->field[k], k + 1 < ledger->fields ? '\t' : '\n');
  }
}

int job_ledger_sync(job_ledger *ledger) {
  if (ledger->out < 0) return CLI_OK;
  ledger->synced = progress_seconds();
  return fsync(ledger->out) ? cli_fail(ledger->out_name, "cannot be written: %s", strerror(errno)) : CLI_OK;
}

/* 0, or an error number: that of the call that wrote nothing, where less was written before. */
static int write_text(int file, const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    ssize_t n = write(file, text + i, length - i);
    if (n == 0 || (n < 0 && errno != EINTR)) return n ? errno : EIO;
    i += n > 0 ? (size_t)n : 0;
  }
  return 0;
}

static int append(job_ledger *ledger, const char *text) {
  struct stat now;
  size_t length = strlen(text);
  int error = write_text(ledger->out, text, length);
  if (!error && fstat(ledger->out, &now)) error = errno;
  if (error) { /* the next line must not be joined to a part of this one */
    if (ftruncate(ledger->out, (off_t)ledger->size))
      (void)cli_fail(ledger->out_name, "cannot be cut: %s", strerror(errno));
    return cli_fail(ledger->out_name, "cannot be written: %s", strerror(error));
  }
  ledger->size += length;
  if (now.st_nlink == 0)
    return cli_fail(ledger->out_name, "was removed while this job ran; did another one, on this or another machine?");
  if ((uint64_t)now.st_size == ledger->size)
    return progress_seconds() - ledger->synced < 1 ? CLI_OK : job_ledger_sync(ledger);
  return cli_fail(ledger->out_name, "%llu bytes after %llu were appended: this file system does not append",
                  (unsigned long long)now.st_size, (unsigned long long)ledger->size);
}

int job_ledger_append(job_ledger *ledger, const char *line) {
  const char *name = ledger->out_name ? ledger->out_name : "this job";
  char *whole;
  size_t file = 0;
  int status = CLI_OK;
  if (asprintf(&whole, "%s\n", line) < 0) return cli_fail(NULL, "out of memory");
  if (ledger->out >= 0) status = append(ledger, whole);
  free(whole);
  while (file < ledger->files && strcmp(ledger->file[file], name)) file++;
  if (status == CLI_OK && file == ledger->files) status = add_file(ledger, name, &file);
  return status == CLI_OK ? add(ledger, file, line, 0) : status;
}

int job_ledger_again(job_ledger *ledger, const char *name) {
  char *line;
  const char *more = ledger->fields == JOB_FIELDS ? "\t-" : "";
  if (!job_ledger_find(ledger, name)) return CLI_OK;
  if (asprintf(&line, "%s\tagain\t-\t-\t-\t-\t-\t-\t-\t-\t-%s", name, more) < 0) return cli_fail(NULL, "out of memory");
  int status = job_ledger_append(ledger, line);
  free(line);
  return status;
}

int job_ledger_tidy(job_ledger *ledger) {
  if (!ledger->path || !ledger->untidy || ledger->lock != ledger->out) return CLI_OK;
  int status = cli_own_text(ledger->path, print_ledger, ledger);
  for (size_t i = 0; i < ledger->parts && status == CLI_OK; i++)
    if (unlink(ledger->part[i])) status = cli_fail(ledger->part[i], "cannot be removed: %s", strerror(errno));
  ledger->untidy = 0;
  return status;
}

/* ---- locks ---- */

/* Makes it what this job appends to; a new file gets its first lines. */
static int begin(job_ledger *ledger, const char *path, int file) {
  struct stat info;
  char *head;
  ledger->out = file;
  ledger->out_name = strdup(path);
  if (!ledger->out_name) return cli_fail(NULL, "out of memory");
  if (fstat(file, &info)) return cli_fail(path, "%s", strerror(errno));
  ledger->is_new = info.st_size == 0;
  if (!ledger->is_new) return CLI_OK;
  if (asprintf(&head, "%s\n%s\n", JOB_LEDGER_HEAD, columns_of(ledger)) < 0) return cli_fail(NULL, "out of memory");
  int status = append(ledger, head);
  free(head);
  return status;
}

/* LEDGER may be empty where parts alone have been at work: several of them could not agree on who begins it. */
static int begin_part(job_ledger *ledger, const job_part *part, const char *who) {
  char *path;
  int file = -1;
  if (asprintf(&path, "%s.%u-of-%u", ledger->path, part->shard, part->shards) < 0)
    return cli_fail(NULL, "out of memory");
  int status = cli_file_lock(&file, path, who);
  if (status == CLI_OK)
    status = begin(ledger, path, file);
  else if (file >= 0)
    close(file);
  free(path);
  return status;
}

/* Says of which list this part is, and sees that the others at work are of the same one. */
static int name_list(job_ledger *ledger, const job_part *part) {
  uint64_t list;
  int status = CLI_OK;
  if (!job_part_list(ledger->out_name, &list) || list != part->list) {
    char *line = job_part_line(part, ledger->fields);
    status = line ? append(ledger, line) : cli_fail(NULL, "out of memory");
    free(line);
  }
  return status == CLI_OK ? job_parts_check(ledger, part) : status;
}

static int open_files(job_ledger *ledger, const char *path, const job_part *part, const char *who) {
  struct stat info;
  ledger->path = strdup(path);
  if (!ledger->path) return cli_fail(NULL, "out of memory");
  int status = check_name(path);
  if (status == CLI_OK) status = job_parts_refuse_old(path);
  if (status == CLI_OK && part->shards) status = job_parts_refuse_others(ledger, part->shards);
  if (status != CLI_OK) return status;
  status = part->shards ? cli_file_share(&ledger->lock, path, who) : cli_file_lock(&ledger->lock, path, who);
  if (status == CLI_OK) status = part->shards ? begin_part(ledger, part, who) : begin(ledger, path, ledger->lock);
  if (status == CLI_OK) status = job_ledger_look(ledger, path);
  if (status == CLI_OK && fstat(ledger->out, &info)) status = cli_fail(ledger->out_name, "%s", strerror(errno));
  if (status == CLI_OK) ledger->size = (uint64_t)info.st_size;
  return status == CLI_OK && part->shards ? name_list(ledger, part) : status;
}

int job_ledger_open(job_ledger *ledger, const char *path, const job_part *part, const char *who) {
  int status = open_files(ledger, path, part, who);
  if (status != CLI_OK || part->shards || !ledger->parts) return status;
  /* The entries of parts go into LEDGER, whose new file is locked then. */
  ledger->untidy = 1;
  status = job_ledger_tidy(ledger);
  job_ledger_free(ledger);
  return status == CLI_OK ? open_files(ledger, path, part, who) : status;
}

void job_ledger_discard(const job_ledger *ledger) {
  if (ledger->is_new) (void)unlink(ledger->out_name);
}

void job_ledger_leave(job_ledger *ledger) {
  if (ledger->out >= 0 && ledger->out != ledger->lock) close(ledger->out);
  if (ledger->lock >= 0) close(ledger->lock);
  ledger->lock = ledger->out = -1;
}

void job_ledger_free(job_ledger *ledger) {
  job_ledger_leave(ledger);
  for (size_t i = 0; i < ledger->count; i++) {
    (void)tdelete(ledger->entry[i], &ledger->tree, by_item);
    free_entry(ledger->entry[i]);
  }
  for (size_t i = 0; i < ledger->files; i++) free(ledger->file[i]);
  job_parts_free(ledger);
  free(ledger->entry);
  free(ledger->file);
  free(ledger->path);
  free(ledger->out_name);
  *ledger =
      (job_ledger){.fields = ledger->fields, .lock = -1, .out = -1, .judge = ledger->judge, .context = ledger->context};
}
