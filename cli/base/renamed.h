/* SPDX-License-Identifier: MIT */
/* cli/base/renamed.h - options that had another name in an earlier version, which is still taken. */
#ifndef HALFULP_CLI_BASE_RENAMED_H
#define HALFULP_CLI_BASE_RENAMED_H

/* was: "-n" or "--out"; now: the option's long name, "--first". */
typedef struct cli_renamed {
  const char *command, *was, *now;
} cli_renamed;

/* Entry i, up to 63; NULL behind the last one. */
const cli_renamed *cli_renamed_at(int i);

#endif
