/* Writes and reads text and bytes of variable length, and text of fixed length.
 *
 *     cc strings.c $(pkg-config --cflags --libs zarrox) -o strings && ./strings names.zarr
 */
#include <string.h>

#include "check.h"

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  zarrox_node root, array;
  CHECK(zarrox_create_group(argv[1], NULL, &root));
  const char *types[] = {"string", "variable_length_bytes", "<U8"};
  for (int t = 0; t < 3; t++) {
    char settings[200], name[] = {(char)('a' + t), 0};
    snprintf(settings, sizeof settings, "{\"shape\": [2, 2], \"chunks\": [1, 2], \"data_type\": \"%s\"}", types[t]);
    CHECK(zarrox_create_array_in(root, name, settings, &array));

    zarrox_string towns[] = {{"Bern", 4}, {"Z\xc3\xbcrich", 7}, {NULL, 0}, {"Genf", 4}};
    CHECK(zarrox_write_strings(array, NULL, towns, 4));

    /* The second column. */
    uint64_t start[] = {0, 1}, count[] = {2, 1};
    zarrox_string *strings;
    size_t n;
    CHECK(zarrox_read_strings(array, &(zarrox_region){2, start, count, NULL}, &strings, &n));
    REQUIRE(n == 2 && strings[0].length == 7 && strcmp(strings[0].data, "Z\xc3\xbcrich") == 0);
    printf("%s %s\n", strings[0].data, strings[1].data);
    zarrox_free(strings);
    CHECK(zarrox_close(array));
  }
  CHECK(zarrox_close(root));
  return 0;
}
