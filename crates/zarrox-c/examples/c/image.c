/* Prints an image of 16-bit integers, row by row.
 *
 *     cc image.c $(pkg-config --cflags --libs zarrox) -o image && ./image image.zarr
 */
#include "check.h"

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  zarrox_node image;
  uint64_t shape[2];
  CHECK(zarrox_open(argv[1], "{\"mode\": \"r\"}", &image));
  CHECK(zarrox_shape(image, 2, shape));
  size_t size = shape[0] * shape[1] * sizeof(uint16_t);
  uint16_t *pixels = malloc(size);
  REQUIRE(pixels != NULL);
  CHECK(zarrox_read(image, NULL, &(zarrox_memory){ZARROX_TYPE_UINT16, pixels, size, NULL}));
  for (uint64_t i = 0; i < shape[0]; i++)
    for (uint64_t j = 0; j < shape[1]; j++)
      printf("%u%c", pixels[i * shape[1] + j], j + 1 < shape[1] ? ' ' : '\n');
  free(pixels);
  CHECK(zarrox_close(image));
  return 0;
}
