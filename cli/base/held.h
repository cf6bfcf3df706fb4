/* SPDX-License-Identifier: MIT */
/* cli/base/held.h - what a command holds while it works: inputs that are mapped, and temporary files; and what becomes
 * of it where another program changes an input meanwhile. For io.c and output.c; all others ask io.h.
 *
 * Where a mapped file has become shorter (or its disk fails) the access beyond its end is a SIGBUS. Then an error line
 * names the file, the temporary files go, and the command ends with CLI_BAD. No access fails in the rest of the last
 * page, which reads as zeros, and none where the file is written again in its old size: so each file is looked at again
 * before an output takes its name, and at the end of the command. A file that grows, such as the part of a ledger, has
 * kept what was read. */
#ifndef HALFULP_CLI_BASE_HELD_H
#define HALFULP_CLI_BASE_HELD_H

#include <stddef.h>
#include <stdint.h>

/* Maps the first `size` bytes of an open file, which it then closes when they are let go. Returns NULL if that cannot
 * be; then the file stays open and the caller's. */
const uint8_t *held_map(int fd, size_t size, const char *path);
void held_unmap(const uint8_t *data, size_t size);
/* Returns the name of an input, maybe let go since, that was cut or written again while it was read; NULL: none. */
const char *held_changed(void);

/* Notes a file that is removed when the command ends; the text is the caller's and stays until it is forgotten. */
void held_temporary(const char *path);
void held_forget(const char *path);
/* Removes all of them. It may be called from a handler of signals. */
void held_remove(void);

#endif
