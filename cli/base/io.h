/* SPDX-License-Identifier: MIT */
/* cli/base/io.h - whole files in, complete files out, lines in. "-" is standard input or output. */
#ifndef HALFULP_CLI_BASE_IO_H
#define HALFULP_CLI_BASE_IO_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Allocates n elements, at least one byte; NULL after an error line. */
void *cli_alloc(size_t n, size_t size);

/* The bytes of a file: mapped where it is a plain file, read else. */
typedef struct cli_bytes {
  const uint8_t *data;
  size_t size;
  int mapped;
} cli_bytes;

/* Reads or maps a file. Returns 0, or an exit code after an error line. Where another program cuts the file while it is
 * mapped, the command ends with an error line, and its temporary files go (held.h). */
int cli_bytes_read(cli_bytes *bytes, const char *path);
void cli_bytes_free(cli_bytes *bytes);
/* Opens a file whose name halfulp chose: a ledger's part, what runs and sweeps leave, what lies beside codes. Anyone
 * who may write in its folder can put a pipe there, for which no command waits: what is no ordinary file cannot be
 * opened. Returns the descriptor, or the stream; -1, or NULL, and errno. */
int cli_own_open(const char *path);
FILE *cli_own_stream(const char *path);
/* Returns CLI_OK where such a file, or nothing, has the name; an exit code after an error line. */
int cli_own_check(const char *path);
/* Does what cli_bytes_read does, for such a file. */
int cli_own_read(cli_bytes *bytes, const char *path);
/* Returns CLI_OK, or an exit code after an error line: a file that was read by then was cut or written again meanwhile,
 * and what was made of it is of no use. Called at the end of the command; a file that is written asks before it gets
 * its name. */
int cli_inputs_check(void);

/* A file to write from pieces. It appears under its name complete or not at all: the bytes go to a temporary file in
 * the same directory, which are on the disk before it is renamed at the end; a link stays one, and what it leads to is
 * replaced. While the temporary file exists the signals that end a process and can be blocked (SIGINT, SIGTERM, SIGHUP,
 * SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU), where neither ignored nor handled, are blocked and asked for between
 * chunks, so that an interrupt removes it and then takes its effect; SIGPIPE takes its effect when the file is
 * complete. What a killed command has left of the same name (cli_leftovers_remove) is removed when the file is there.
 * Streams, pipes and devices are written directly, and an interrupt takes its effect at once. 0, or an exit code after
 * an error line. */
typedef struct cli_piece {
  const void *data;
  size_t size;
} cli_piece;
int cli_file_write(const char *path, const cli_piece *pieces, size_t count);
/* Writes the text that `print` prints as such a file. */
int cli_text_write(const char *path, void (*print)(FILE *out, const void *what), const void *what);
/* Do both for a file whose name halfulp chose: what is no ordinary file is an error, and nothing is written. */
int cli_own_write(const char *path, const cli_piece *pieces, size_t count);
int cli_own_text(const char *path, void (*print)(FILE *out, const void *what), const void *what);

/* The same for a file that is written in parts, in any order, while other work is done. Between the calls the signals
 * are blocked, too: long work asks whether to stop, and then closes without keeping. Every open is closed once it has
 * succeeded. Ordinary files only. Several threads may write at a time. */
typedef struct cli_output {
  const char *path;
  char *real, *temporary;
  int fd;
  _Atomic int error;
  sigset_t before;
} cli_output;
int cli_output_open(cli_output *output, const char *path);
/* Writes bytes at an offset. After an error nothing more is written, and close reports it. */
int cli_output_at(cli_output *output, size_t at, const void *data, size_t size);
/* Returns 1 after an interrupt or an error. */
int cli_output_stopped(cli_output *output);
/* Gives the file its name or (keep = 0, or after an error) removes it. Returns 0, or an exit code; a line only if
 * keep. */
int cli_output_close(cli_output *output, int keep);
/* Files that belong together, the first of which leads to the others: all are replaced or none. After an error, or an
 * interrupt, the old ones are there as they were. A process that is killed while names change leaves no first file; of
 * two that write at a time one replaces the other's. Ordinary files, each another one. 0, or an exit code after an
 * error line. */
typedef struct cli_member {
  const char *path;
  const cli_piece *pieces;
  size_t count;
} cli_member;
int cli_set_write(const cli_member *files, size_t count);
/* Writes the folder to the disk, so that a file's new name lasts through a power failure: for a file that must. Folders
 * that cannot be opened or have no such thing are let be. */
void cli_folder_sync(const char *path);
/* Checks that a file of this name could be written, before long work, so that it is not done in vain. Returns 0, or an
 * exit code after an error line. */
int cli_file_try(const char *path);
/* Returns 1 if writing one replaces the other, whether they exist yet or not. Streams and special files: 0. */
int cli_same_file(const char *x, const char *y);
/* Returns CLI_OK, or an exit code after an error line: `out` is the file `in` (standard input may be a file, too) by
 * any path or link, and writing it would replace what is read. `remedy` ends the line: "name another file". */
int cli_spare_input(const char *out, const char *in, const char *remedy);
/* Does the same; where `in` is a folder, `out` must not lie in it, nor in one below it. */
int cli_spare_folder(const char *out, const char *in, const char *remedy);

/* Locks a folder for one command at a time: the lock goes with *lock, an open folder, and with the process however that
 * ends. `who` is what another one is called in the error line. File systems without locks have none, which a note says;
 * a folder that is removed before it is locked is made again. Returns 0, or an exit code after an error line; *lock,
 * where not negative, is to be closed in any case. */
int cli_folder_lock(int *lock, const char *folder, const char *who);
/* Does the same for a file whose name halfulp chose, created if it is missing, and open for reading and appending;
 * share: several commands hold it at the same time, and no one holds it alone. */
int cli_file_lock(int *lock, const char *path, const char *who);
int cli_file_share(int *lock, const char *path, const char *who);
/* Removes the temporary files that killed runs left in a folder which the caller has locked. Those that another command
 * is still writing stay: they are locked, too. Returns how many were removed. */
size_t cli_folder_clean(int lock);
/* Removes those of one file, while other commands write others in its folder; once for each name, since a later writer
 * of the same process leaves none. */
void cli_leftovers_remove(const char *path);
/* Returns 1 if the name (without its folder) is one that such a file has. */
int cli_is_temporary(const char *name);

/* Returns "FOLDER/name" in the folder for what is gone when the command ends: TMPDIR's, or /tmp where that is not set
 * or empty. To be freed; NULL: out of memory. */
char *cli_scratch(const char *name);
/* Opens a file there without a name, for reading and writing; NULL and errno. */
FILE *cli_scratch_file(void);

/* Lines of a text file, without the line end and without trailing blanks. */
typedef struct cli_lines {
  int file;
  const char *name;
  char *line;           /* the current one, until the next is asked for; the caller may change it */
  unsigned long number; /* of the current line, from 1 */
  char *data;           /* of what was read, first ... end - 1 are the lines behind the current one */
  size_t capacity, first, end;
  int ended;
} cli_lines;
int cli_lines_open(cli_lines *lines, const char *path);
/* Opens a file whose name halfulp chose. */
int cli_own_lines(cli_lines *lines, const char *path);
/* Returns 1 if a line is there, 0 at the end, an exit code after an error line, negated: -2 for CLI_BAD. Before it
 * reads more, what was printed goes out, so that another program can write a line and read the answer. */
int cli_lines_next(cli_lines *lines);
void cli_lines_close(cli_lines *lines);
/* Prints "halfulp: FILE:LINE: what is wrong"; returns CLI_BAD. */
int cli_lines_fail(const cli_lines *lines, const char *what);

#endif
