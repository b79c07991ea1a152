/* Creates a group with an array, writes and reads regions, and shows attributes, metadata and children.
 *
 *     cc quickstart.c $(pkg-config --cflags --libs zarrox) -o quickstart && ./quickstart weather.zarr
 */
#include "check.h"

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  zarrox_node root, t2m;
  CHECK(zarrox_create_group(argv[1], NULL, &root));
  CHECK(zarrox_create_array_in(root, "climate/t2m",
                               "{\"shape\": [4, 6], \"data_type\": \"float32\", \"chunks\": [2, 3],"
                               " \"compressor\": {\"name\": \"zstd\", \"configuration\": {\"level\": 3}},"
                               " \"attributes\": {\"units\": \"K\"}}",
                               &t2m));

  /* All elements, in C's order. */
  float values[4][6];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++)
      values[i][j] = (float)(10 * i + j);
  CHECK(zarrox_write(t2m, NULL, &(zarrox_memory){ZARROX_TYPE_FLOAT32, values, sizeof values, NULL}));

  /* Every second column of rows 1 and 2. */
  uint64_t start[] = {1, 0}, count[] = {2, 3};
  int64_t stride[] = {1, 2};
  float part[2][3];
  zarrox_region region = {2, start, count, stride};
  CHECK(zarrox_read(t2m, &region, &(zarrox_memory){ZARROX_TYPE_FLOAT32, part, sizeof part, NULL}));
  for (int i = 0; i < 2; i++)
    printf("%g %g %g\n", part[i][0], part[i][1], part[i][2]);

  /* The same region in Fortran's order: the first dimension is the fastest. */
  float columns[3][2];
  ptrdiff_t strides[] = {sizeof(float), 2 * sizeof(float)};
  CHECK(zarrox_read(t2m, &region, &(zarrox_memory){ZARROX_TYPE_FLOAT32, columns, sizeof columns, strides}));
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      REQUIRE(columns[j][i] == part[i][j]);

  /* One value for a whole row: a stride of 0 repeats the value. */
  float missing = -1;
  uint64_t row_start[] = {3, 0}, row_count[] = {1, 6};
  ptrdiff_t repeat[] = {0, 0};
  CHECK(zarrox_write(t2m, &(zarrox_region){2, row_start, row_count, NULL},
                     &(zarrox_memory){ZARROX_TYPE_FLOAT32, &missing, sizeof missing, repeat}));
  CHECK(zarrox_read(t2m, NULL, &(zarrox_memory){ZARROX_TYPE_FLOAT32, values, sizeof values, NULL}));
  REQUIRE(values[2][5] == 25 && values[3][0] == -1 && values[3][5] == -1);

  /* The properties of an array. */
  size_t ndim, size;
  int32_t type, kind;
  uint64_t shape[2], chunks[2];
  char *text;
  CHECK(zarrox_node_kind(t2m, &kind));
  CHECK(zarrox_ndim(t2m, &ndim));
  CHECK(zarrox_shape(t2m, 2, shape));
  CHECK(zarrox_chunk_shape(t2m, 2, chunks));
  CHECK(zarrox_data_type(t2m, &type, &size));
  REQUIRE(kind == ZARROX_KIND_ARRAY && ndim == 2 && shape[0] == 4 && chunks[1] == 3);
  REQUIRE(type == ZARROX_TYPE_FLOAT32 && size == sizeof(float));
  CHECK(zarrox_data_type_name(t2m, &text));
  printf("%s\n", text);
  zarrox_free(text);
  CHECK(zarrox_update_attributes(t2m, "{\"standard_name\": \"air_temperature\"}"));
  CHECK(zarrox_attributes(t2m, &text));
  printf("%s\n", text);
  zarrox_free(text);
  CHECK(zarrox_metadata(t2m, &text));
  REQUIRE(text[0] == '{');
  zarrox_free(text);

  /* The array becomes larger. */
  shape[0] = 5;
  CHECK(zarrox_resize(t2m, 2, shape));

  /* The children of a group. */
  zarrox_node climate, again;
  zarrox_child *children;
  CHECK(zarrox_open_in(root, "climate", &climate));
  CHECK(zarrox_children(climate, &children, &size));
  for (size_t i = 0; i < size; i++)
    printf("%s %d\n", children[i].name, (int)children[i].kind);
  zarrox_free(children);
  CHECK(zarrox_open_in(climate, "t2m", &again));
  CHECK(zarrox_shape(again, 2, shape));
  REQUIRE(shape[0] == 5 && shape[1] == 6);

  /* An error has a kind, and a message that says what was wrong. */
  zarrox_node none;
  int32_t status = zarrox_open_in(climate, "rain", &none);
  REQUIRE(status == ZARROX_STATUS_NOT_FOUND);
  printf("%s\n", zarrox_status_name(status));

  CHECK(zarrox_close(again));
  CHECK(zarrox_close(climate));
  CHECK(zarrox_close(t2m));
  CHECK(zarrox_close(root));
  return 0;
}
