/* SPDX-License-Identifier: MIT */
/* cli/base/shipped.h - the data files that come with halfulp (data/README.md). */
#ifndef HALFULP_CLI_BASE_SHIPPED_H
#define HALFULP_CLI_BASE_SHIPPED_H

#define CLI_DIGITS "digits_images.npy"
#define CLI_TEXT "xz_file_format.txt"

/* Returns where `file` is: folder, else ./data, else the installed folder; `folder` where it is in none of them. */
const char *cli_shipped(const char *folder, const char *file);

#endif
