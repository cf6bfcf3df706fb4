/* SPDX-License-Identifier: MIT */
/* cli/base/path.h - finds what a name of a file leads to, for io.c, output.c and output_set.c. All others ask io.h. */
#ifndef HALFULP_CLI_BASE_PATH_H
#define HALFULP_CLI_BASE_PATH_H

#include <stddef.h>

/* Returns 1 for "-", standard input or output. */
int cli_is_stream(const char *path);
/* Returns 1 for a device, a pipe, a folder: there is nothing to rename over. */
int cli_is_special(const char *path);
/* Prints the error line for a file whose name halfulp chose (io.h); ENXIO: it is no ordinary file. Returns CLI_BAD. */
int cli_own_fail(const char *path, int error);
/* Returns what a link leads to, because that is replaced, not the link; one that leads nowhere stays a link, to the new
 * file. To be freed; NULL: out of memory. */
char *cli_follow_links(const char *path);
/* Returns the path of a file `name` in the folder of another one. To be freed; NULL: out of memory. */
char *cli_beside(const char *path, const char *name);

/* Files that are being written, for mkostemp: short, since the file's own name may be as long as names can be. Before
 * the X stand CLI_MARK characters by which to know the name that the file is to get. The file that two writers of
 * several files lock. */
#define CLI_TEMPORARY ".halfulp-XXXXXXXXX"
#define CLI_LOCK ".halfulp-lock"
enum { CLI_MARK = 3 };
/* Opens a new temporary file beside one, empty, for the owner alone, locked while it is open; *name is to be freed.
 * Returns 0, or errno. */
int cli_temporary_open(int *fd, char **name, const char *path);

#endif
