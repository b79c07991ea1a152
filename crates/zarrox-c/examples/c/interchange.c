/* Reads results as a DLPack tensor and as Arrow arrays, which own their memory.
 *
 *     cc interchange.c $(pkg-config --cflags --libs zarrox) -o interchange && ./interchange data.zarr
 */
#include <string.h>

#include "check.h"

/* Programs include dlpack.h. These are its members. */
#ifndef DLPACK_VERSION
typedef struct {
  void *data;
  struct {
    int32_t device_type, device_id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;

struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *);
  uint64_t flags;
  DLTensor dl_tensor;
};
#endif

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  zarrox_node root, numbers, flags, names;
  CHECK(zarrox_create_group(argv[1], NULL, &root));
  CHECK(zarrox_create_array_in(root, "numbers", "{\"shape\": [2, 3], \"data_type\": \"int32\"}", &numbers));
  int32_t values[] = {1, 2, 3, 4, 5, 6};
  CHECK(zarrox_write(numbers, NULL, &(zarrox_memory){ZARROX_TYPE_INT32, values, sizeof values, NULL}));

  struct DLManagedTensorVersioned *tensor;
  CHECK(zarrox_read_dlpack(numbers, NULL, &tensor));
  DLTensor *dl = &tensor->dl_tensor;
  REQUIRE(tensor->version.major == 1 && dl->device.device_type == 1 && dl->ndim == 2);
  REQUIRE(dl->dtype.code == 0 && dl->dtype.bits == 32 && dl->dtype.lanes == 1 && dl->byte_offset == 0);
  REQUIRE(dl->shape[0] == 2 && dl->shape[1] == 3 && dl->strides[0] == 3 && dl->strides[1] == 1);
  REQUIRE((uintptr_t)dl->data % 256 == 0 && memcmp(dl->data, values, sizeof values) == 0);
  tensor->deleter(tensor);

  struct ArrowArray array;
  struct ArrowSchema schema;
  CHECK(zarrox_read_arrow(numbers, NULL, &array, &schema));
  REQUIRE(strcmp(schema.format, "i") == 0 && strcmp(schema.name, "numbers") == 0);
  REQUIRE(array.length == 6 && array.null_count == 0 && array.n_buffers == 2 && array.buffers[0] == NULL);
  REQUIRE(memcmp(array.buffers[1], values, sizeof values) == 0);
  array.release(&array);
  schema.release(&schema);
  REQUIRE(array.release == NULL && schema.release == NULL);

  CHECK(zarrox_create_array_in(root, "flags", "{\"shape\": [10], \"data_type\": \"bool\"}", &flags));
  uint8_t bools[] = {1, 0, 0, 1, 0, 0, 0, 1, 0, 1};
  CHECK(zarrox_write(flags, NULL, &(zarrox_memory){ZARROX_TYPE_BOOL, bools, sizeof bools, NULL}));
  CHECK(zarrox_read_arrow(flags, NULL, &array, &schema));
  const uint8_t *bits = array.buffers[1];
  REQUIRE(strcmp(schema.format, "b") == 0 && bits[0] == 0x89 && bits[1] == 0x02);
  array.release(&array);
  schema.release(&schema);

  CHECK(zarrox_create_array_in(root, "names", "{\"shape\": [3], \"data_type\": \"string\"}", &names));
  zarrox_string towns[] = {{"Bern", 4}, {"", 0}, {"Genf", 4}};
  CHECK(zarrox_write_strings(names, NULL, towns, 3));
  CHECK(zarrox_read_arrow(names, NULL, &array, &schema));
  const int64_t *offsets = array.buffers[1];
  REQUIRE(strcmp(schema.format, "U") == 0 && array.length == 3 && array.n_buffers == 3);
  REQUIRE(offsets[0] == 0 && offsets[1] == 4 && offsets[2] == 4 && offsets[3] == 8);
  REQUIRE(memcmp(array.buffers[2], "BernGenf", 8) == 0);
  array.release(&array);
  schema.release(&schema);
  REQUIRE(zarrox_read_dlpack(names, NULL, &tensor) == ZARROX_STATUS_UNSUPPORTED);

  CHECK(zarrox_close(names));
  CHECK(zarrox_close(flags));
  CHECK(zarrox_close(numbers));
  CHECK(zarrox_close(root));
  printf("DLPack and Arrow\n");
  return 0;
}
