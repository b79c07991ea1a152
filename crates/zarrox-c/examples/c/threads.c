/* Several threads write and read one array, and a callback cancels a read.
 *
 *     cc threads.c $(pkg-config --cflags --libs zarrox) -lpthread -o threads && ./threads counts.zarr
 */
#include <pthread.h>

#include "check.h"

static zarrox_node counts;

/* Each thread writes its own rows, which share chunks with rows of other threads. No write is lost. */
static void *write_row(void *argument) {
  int64_t row = *(int64_t *)argument, values[1000];
  for (int j = 0; j < 1000; j++)
    values[j] = row;
  uint64_t start[] = {(uint64_t)row, 0}, count[] = {1, 1000};
  CHECK(zarrox_write(counts, &(zarrox_region){2, start, count, NULL},
                     &(zarrox_memory){ZARROX_TYPE_INT64, values, sizeof values, NULL}));
  return NULL;
}

static int32_t cancel_at_once(void *data) {
  ++*(int *)data;
  return 1;
}

static int32_t go_on(void *data) {
  ++*(int *)data;
  return 0;
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  CHECK(zarrox_create_array(argv[1],
                            "{\"shape\": [8, 1000], \"data_type\": \"int64\", \"chunks\": [3, 400],"
                            " \"compressor\": null}",
                            NULL, &counts));
  pthread_t threads[8];
  int64_t rows[8];
  for (int i = 0; i < 8; i++) {
    rows[i] = i;
    REQUIRE(pthread_create(&threads[i], NULL, write_row, &rows[i]) == 0);
  }
  for (int i = 0; i < 8; i++)
    REQUIRE(pthread_join(threads[i], NULL) == 0);

  static int64_t values[8][1000];
  zarrox_memory memory = {ZARROX_TYPE_INT64, values, sizeof values, NULL};
  int calls = 0;
  CHECK(zarrox_set_cancel(counts, go_on, &calls));
  CHECK(zarrox_read(counts, NULL, &memory));
  REQUIRE(calls > 0);
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 1000; j++)
      REQUIRE(values[i][j] == i);

  calls = 0;
  CHECK(zarrox_set_cancel(counts, cancel_at_once, &calls));
  REQUIRE(zarrox_read(counts, NULL, &memory) == ZARROX_STATUS_INTERRUPTED && calls == 1);
  CHECK(zarrox_set_cancel(counts, NULL, NULL));
  CHECK(zarrox_read(counts, NULL, &memory));
  CHECK(zarrox_close(counts));
  printf("8000 elements\n");
  return 0;
}
