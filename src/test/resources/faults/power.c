// Takes the power from the ext4 (or XFS) file system that the argument lies on: from this moment nothing is
// written to its device any more, not even what its journal has begun. What was not synchronized before is gone
// when it is mounted again.
#include <fcntl.h>
#include <linux/ioctl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define SHUTDOWN _IOR('X', 125, uint32_t)
#define WITHOUT_THE_JOURNAL 2

int main(int argc, char **argv) {
  uint32_t how = WITHOUT_THE_JOURNAL;
  int directory = argc == 2 ? open(argv[1], O_RDONLY) : -1;
  if (directory < 0 || ioctl(directory, SHUTDOWN, &how) != 0) {
    perror(argc == 2 ? argv[1] : "power: one directory");
    return 1;
  }
  return 0;
}
