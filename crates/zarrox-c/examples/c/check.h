/* Macros of all examples: a failed call ends the program with the library's message. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <zarrox.h>

#define CHECK(call)                                                                                      \
  do {                                                                                                   \
    int32_t status_ = (call);                                                                            \
    if (status_ != ZARROX_STATUS_OK) {                                                                   \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, zarrox_status_name(status_),                \
              zarrox_error_message());                                                                   \
      exit(1);                                                                                           \
    }                                                                                                    \
  } while (0)

#define REQUIRE(condition)                                                                               \
  do {                                                                                                   \
    if (!(condition)) {                                                                                  \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                           \
    }                                                                                                    \
  } while (0)

#endif
