/* SPDX-License-Identifier: MIT */
/* Ledgers: read and merged, written whole, and the parts that processes append to. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/campaign/campaign.h"

/* ---- entries ---- */

const campaign_entry *campaign_ledger_find(const campaign_ledger *ledger, const char *name) {
  size_t place = campaign_names_find(&ledger->names, name);
  return place == CAMPAIGN_NOWHERE ? NULL : &ledger->entry[place];
}

static int is_state(const campaign_entry *e, const char *state) { return !strcmp(e->field[CAMPAIGN_STATE], state); }

/* Results of the same sources that differ: one of two machines is wrong, and it is unknown which. */
static int disagree(const campaign_entry *a, const campaign_entry *b) {
  if (is_state(a, "open") || is_state(b, "open")) return 0;
  if (!strcmp(a->field[CAMPAIGN_SOURCES], "-") || strcmp(a->field[CAMPAIGN_SOURCES], b->field[CAMPAIGN_SOURCES]))
    return 0;
  return strcmp(a->field[CAMPAIGN_DIGEST], b->field[CAMPAIGN_DIGEST]) != 0;
}

/* A result is better than a stale one, that better than none; of two results the later. */
static int takes_the_place(const campaign_entry *now, const campaign_entry *old) {
  int ranks[2] = {0, 0};
  const campaign_entry *both[2] = {now, old};
  for (int i = 0; i < 2; i++) ranks[i] = is_state(both[i], "done") ? 2 : is_state(both[i], "stale");
  if (ranks[0] != ranks[1]) return ranks[0] > ranks[1];
  return strcmp(now->field[CAMPAIGN_DATE], old->field[CAMPAIGN_DATE]) >= 0;
}

/* The better of the two stays, and the other one's line goes. */
static int replace(campaign_ledger *ledger, campaign_entry *old, campaign_entry entry) {
  if (disagree(&entry, old)) {
    (void)cli_fail(ledger->file[entry.file].path, "%s: digest %s, but with the same sources %s in %s",
                   entry.field[CAMPAIGN_ITEM], entry.field[CAMPAIGN_DIGEST], old->field[CAMPAIGN_DIGEST],
                   ledger->file[old->file].path);
    free(entry.line);
    return CLI_BAD;
  }
  if (takes_the_place(&entry, old)) {
    campaign_entry worse = *old;
    *old = entry;
    entry = worse;
    /* It is there already, so that no memory is asked for; its text is now the new line's. */
    (void)campaign_names_put(&ledger->names, old->field[CAMPAIGN_ITEM], (size_t)(old - ledger->entry));
  }
  free(entry.line);
  return CLI_OK;
}

static int make_room(campaign_ledger *ledger) {
  if (ledger->count < ledger->room) return 1;
  size_t room = ledger->room ? 2 * ledger->room : 256;
  campaign_entry *more = realloc(ledger->entry, room * sizeof *more);
  if (!more) return 0;
  ledger->entry = more;
  ledger->room = room;
  return 1;
}

/* From the file that was opened last. */
static int add(campaign_ledger *ledger, campaign_entry entry) {
  campaign_entry *old = (campaign_entry *)campaign_ledger_find(ledger, entry.field[CAMPAIGN_ITEM]);
  entry.file = ledger->files - 1;
  if (old) return replace(ledger, old, entry);
  if (!make_room(ledger) || !campaign_names_put(&ledger->names, entry.field[CAMPAIGN_ITEM], ledger->count)) {
    free(entry.line);
    return cli_fail(NULL, "out of memory");
  }
  ledger->entry[ledger->count++] = entry;
  return CLI_OK;
}

static int add_line(campaign_ledger *ledger, const char *text, const char *path, unsigned long number) {
  campaign_entry entry;
  char *own = strdup(text);
  if (!own) return cli_fail(NULL, "out of memory");
  const char *wrong = campaign_entry_read(&entry, own);
  if (!wrong) return add(ledger, entry);
  free(own);
  return cli_fail(NULL, "%s:%lu: %s", path, number, wrong);
}

void campaign_ledger_free(campaign_ledger *ledger) {
  for (size_t i = 0; i < ledger->count; i++) free(ledger->entry[i].line);
  for (size_t i = 0; i < ledger->files; i++) free(ledger->file[i].path);
  free(ledger->entry);
  free(ledger->file);
  campaign_names_free(&ledger->names);
}

/* ---- files ---- */

static int add_file(campaign_ledger *ledger, const char *path, int is_part) {
  campaign_file *more = realloc(ledger->file, (ledger->files + 1) * sizeof *more);
  if (more) ledger->file = more;
  char *own = more ? strdup(path) : NULL;
  if (!own) return cli_fail(NULL, "out of memory");
  ledger->file[ledger->files++] = (campaign_file){own, is_part};
  return CLI_OK;
}

static int read_lines(campaign_ledger *ledger, cli_lines *lines) {
  int status = CLI_OK, more;
  while (status == CLI_OK && (more = cli_lines_next(lines)) != 0) {
    if (more < 0) return -more;
    if (lines->number == 1 && strncmp(lines->line, "halfulp-ledger ", 15)) return cli_lines_fail(lines, "is no ledger");
    if (lines->number == 1 && strcmp(lines->line, CAMPAIGN_LEDGER_HEAD))
      return cli_lines_fail(lines, "a ledger of another version; this program reads " CAMPAIGN_LEDGER_HEAD);
    if (lines->number == 2 && strcmp(lines->line, CAMPAIGN_COLUMNS)) return cli_lines_fail(lines, "other columns");
    if (lines->number > 2) status = add_line(ledger, lines->line, lines->name, lines->number);
  }
  return status == CLI_OK && lines->number < 2 ? cli_fail(lines->name, "is no ledger") : status;
}

int campaign_ledger_read(campaign_ledger *ledger, const char *path, int absent) {
  cli_lines lines;
  if (absent && access(path, F_OK) && errno == ENOENT) return CLI_OK;
  int status = add_file(ledger, path, 0);
  if (status == CLI_OK) status = absent ? cli_own_lines(&lines, path) : cli_lines_open(&lines, path);
  if (status != CLI_OK) return status;
  status = read_lines(ledger, &lines);
  cli_lines_close(&lines);
  return status;
}

static void print_ledger(FILE *out, const void *what) {
  const campaign_ledger *ledger = what;
  fprintf(out, "%s\n%s\n", CAMPAIGN_LEDGER_HEAD, CAMPAIGN_COLUMNS);
  for (size_t i = 0; i < ledger->count; i++)
    for (int k = 0; k < CAMPAIGN_FIELDS; k++)
      fprintf(out, "%s%c", ledger->entry[i].field[k], k + 1 < CAMPAIGN_FIELDS ? '\t' : '\n');
}

/* ---- parts ---- */

static char *parts_folder(const char *path) {
  char *folder = malloc(strlen(path) + 7);
  if (folder) sprintf(folder, "%s.parts", path);
  return folder;
}

static int is_part(const char *name) {
  size_t n = strlen(name);
  return n > 5 && !strcmp(name + n - 5, ".part");
}

/* Calls `each` with the path of every part. */
static int for_parts(const char *path, int (*each)(void *context, const char *part), void *context) {
  char *folder = parts_folder(path);
  DIR *open = folder ? opendir(folder) : NULL;
  int status = folder ? CLI_OK : cli_fail(NULL, "out of memory");
  for (struct dirent *e = open ? readdir(open) : NULL; e && status == CLI_OK; e = readdir(open)) {
    char *part = is_part(e->d_name) ? malloc(strlen(folder) + strlen(e->d_name) + 2) : NULL;
    if (!part) continue;
    sprintf(part, "%s/%s", folder, e->d_name);
    status = each(context, part);
    free(part);
  }
  if (open) closedir(open);
  free(folder);
  return status;
}

/* Lines of a part; the last one is left out where it has no end: its process was killed while it wrote. */
static int read_part(void *context, const char *part) {
  cli_bytes bytes;
  unsigned long number = 0;
  if (access(part, F_OK) && errno == ENOENT) return CLI_OK; /* it went into the ledger, which is read again */
  int status = add_file(context, part, 1);
  if (status == CLI_OK) status = cli_own_read(&bytes, part);
  if (status != CLI_OK) return status;
  for (size_t i = 0, n; i < bytes.size && status == CLI_OK; i += n + 1) {
    const uint8_t *end = memchr(bytes.data + i, '\n', bytes.size - i);
    n = end ? (size_t)(end - bytes.data) - i : bytes.size - i;
    number++;
    char *line = end ? strndup((const char *)bytes.data + i, n) : NULL;
    if (line) status = add_line(context, line, part, number);
    if (end && !line) status = cli_fail(part, "out of memory");
    free(line);
  }
  cli_bytes_free(&bytes);
  return status;
}

int campaign_parts_read(campaign_ledger *ledger, const char *path) { return for_parts(path, read_part, ledger); }

/* What tells two versions of a file apart; each has a new one, since ledgers are replaced whole. */
static struct stat version_of(const char *path) {
  struct stat info;
  if (stat(path, &info)) memset(&info, 0, sizeof info);
  return info;
}

static int is_same(struct stat a, struct stat b) {
  return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/* A job writes the ledger and then removes parts, so that a result is missed only where the ledger has changed. */
int campaign_ledger_look(campaign_ledger *ledger, const char *path) {
  for (int attempt = 0; attempt < 10; attempt++) {
    struct stat before = version_of(path);
    int status = campaign_ledger_read(ledger, path, 1);
    if (status == CLI_OK) status = campaign_parts_read(ledger, path);
    if (status != CLI_OK || is_same(before, version_of(path))) return status;
    campaign_ledger_free(ledger);
    memset(ledger, 0, sizeof *ledger);
  }
  return cli_fail(path, "changes again and again");
}

int campaign_ledger_write(campaign_ledger *ledger, const char *path) {
  int status = cli_text_write(path, print_ledger, ledger);
  for (size_t i = 0; i < ledger->files && status == CLI_OK; i++) {
    campaign_file *file = &ledger->file[i];
    if (file->is_part && unlink(file->path)) status = cli_fail(file->path, "cannot be removed: %s", strerror(errno));
    file->is_part = 0;
  }
  return status;
}

int campaign_part_open(campaign_part *part, const char *path, int rank) {
  char *folder = parts_folder(path);
  part->fd = -1;
  part->size = 0;
  part->name = folder ? malloc(strlen(folder) + 80) : NULL;
  if (!part->name) {
    free(folder);
    return cli_fail(NULL, "out of memory");
  }
  if (mkdir(folder, 0777) && errno != EEXIST) {
    int status = cli_fail(folder, "cannot be made: %s", strerror(errno));
    free(folder);
    return status;
  }
  sprintf(part->name, "%s/%d.%ld.part", folder, rank, (long)getpid());
  free(folder);
  part->fd = open(part->name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  return part->fd < 0 ? cli_fail(part->name, "cannot be written: %s", strerror(errno)) : CLI_OK;
}

/* 0, or an error number: that of the call that wrote nothing, where less was written before. */
static int write_line(int fd, const char *line, size_t length) {
  for (size_t i = 0; i < length;) {
    ssize_t n = write(fd, line + i, length - i);
    if (n == 0 || (n < 0 && errno != EINTR)) return n ? errno : EIO;
    i += n > 0 ? (size_t)n : 0;
  }
  return fsync(fd) ? errno : 0;
}

int campaign_part_append(campaign_part *part, const char *line, size_t length) {
  struct stat now;
  int error = write_line(part->fd, line, length);
  if (!error && fstat(part->fd, &now)) error = errno;
  if (error) { /* the next line must not be joined to a part of this one */
    if (ftruncate(part->fd, (off_t)part->size)) (void)cli_fail(part->name, "cannot be cut: %s", strerror(errno));
    return cli_fail(part->name, "cannot be written: %s", strerror(error));
  }
  part->size += length;
  if (now.st_nlink == 0)
    return cli_fail(part->name, "was removed while this job ran; did another one, on this or another machine?");
  if ((uint64_t)now.st_size == part->size) return CLI_OK;
  return cli_fail(part->name, "%llu bytes after %llu were appended: this file system does not append",
                  (unsigned long long)now.st_size, (unsigned long long)part->size);
}

void campaign_part_close(campaign_part *part) {
  if (part->fd >= 0) close(part->fd);
  free(part->name);
}
