/* SPDX-License-Identifier: MIT */
/* Locks a folder, removes what killed runs left in it, and prints how many files that were. */
#include <stdio.h>
#include <unistd.h>

#include "cli/base/io.h"

int main(int argc, char **argv) {
  int lock;
  if (argc != 2 || cli_folder_lock(&lock, argv[1], "test")) return 1;
  printf("%zu\n", cli_folder_clean(lock));
  close(lock);
  return 0;
}
