/*
 * zarrox: Zarr arrays and groups from C. The guide is docs/c.md of the repository.
 *
 * RESULTS. Functions return a zarrox_status as int32_t: 0 is success. zarrox_error_message() returns the
 * message of the last error of the calling thread: what was wrong, where, and what to do. Results are stored only on
 * success.
 *
 * NODES. An open array or group is a number. A number that is not an open node is an error.
 *
 * THREADS. Every function may be called by any thread at any time, also with the same node. During a
 * read, no other thread may use its memory; during a write, no other thread may change its memory. Reading and writing
 * use all cores, unless the option "threads" sets another number.
 *
 * TEXT is UTF-8 and ends with NUL. JSON arguments are objects; unknown members are errors.
 *
 * MEMORY that a function returns is freed by one call of zarrox_free(), if the description of the function says so.
 *
 * WHAT IS CHECKED: null pointers, closed nodes, numbers of dimensions, bounds of regions, types of elements, sizes of
 * memory, overlapping elements of results, alignment of pointers to results, UTF-8, JSON.
 *
 * WHAT CANNOT BE CHECKED, and is undefined behaviour as everywhere in C:
 *   - a pointer that is not null and does not point to a value of the expected type, or points to fewer values than the
 *     length or the number of dimensions that is passed with it;
 *   - a 'size' that is larger than the memory, and negative strides that reach before the beginning of the memory;
 *   - memory that another thread changes at the same time;
 *   - memory that is freed twice, or used after zarrox_free(); a tensor or an Arrow structure that is released twice;
 *   - a callback that throws, or jumps out.
 *
 * OPTIONS, all of them optional:
 *   "mode"                "r" read-only, "r+" read and write (the default), "a" create a group if there is no node,
 *                         "w" replace, "w-" create, fail if something exists
 *   "format"              3, 2, 1, "n5", ...: the format of existing and new nodes; by default it is detected
 *   "storage"             an object with options of the store, such as {"endpoint": "http://localhost:9000"}
 *   "threads"             0: one for each core
 *   "memory"              the maximum number of bytes in use at a time, without the caller's memory
 *   "chunk_cache"         the maximum number of bytes of decoded chunks in the cache
 *   "chunk_limit"         the maximum size of a decoded chunk in bytes
 *   "consolidated"        "auto", "never", "require"
 *   "missing_chunks"      "fill", "error"
 *   "store_empty_chunks"  true, false
 *   "verify_checksums"    true, false
 *   "durability"          "process", "disk": a finished write survives the process, or a power failure
 *   "exclusive"           true: there is no other writer
 *   "lock_timeout"        seconds
 *   "strict"              true: deviations from the specifications are errors
 *
 * ARRAYS. The first two members are required:
 *   "shape"               [365, 721, 1440]
 *   "data_type"           "float32", "<f4", "datetime64[ns]", "string", or JSON as in metadata
 *   "chunks", "shards"    lists of lengths; in "chunks", null is a whole dimension
 *   "compressor"          null, or a codec such as {"name": "zstd", "configuration": {"level": 3}}
 *   "filters"             a list of codecs before the compressor
 *   "codecs"              the whole codec pipeline, instead of filters and a compressor
 *   "checksum"            true: a checksum for each chunk
 *   "order", "endian"     "C" or "F", "little" or "big": the order of elements, and of bytes, in chunks
 *   "fill_value"          0, "NaN", ...
 *   "dimension_names"     ["time", "lat", null]
 *   "attributes"          an object
 *   "separator"           "/" or ".": the separator of chunk keys
 *   "overwrite"           true: an existing node is replaced
 */

#ifndef ZARROX_H
#define ZARROX_H

#include <stddef.h>
#include <stdint.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif

/* dlpack.h has its members. */
struct DLManagedTensorVersioned;

// The result of a function: success, or the kind of an error. The numbers do not change.
typedef enum {
  // Success.
  ZARROX_STATUS_OK = 0,
  // The node, chunk or file was not found.
  ZARROX_STATUS_NOT_FOUND = 1,
  // Something already exists, and overwriting was not requested.
  ZARROX_STATUS_ALREADY_EXISTS = 2,
  // The storage denies access.
  ZARROX_STATUS_FORBIDDEN = 3,
  // The storage could not be reached, or failed.
  ZARROX_STATUS_UNREACHABLE = 4,
  // The storage did not respond in time.
  ZARROX_STATUS_TIMED_OUT = 5,
  // Another program or thread changed the same object at the same time.
  ZARROX_STATUS_CONFLICT = 6,
  // The callback of `zarrox_set_cancel` cancelled the operation.
  ZARROX_STATUS_INTERRUPTED = 7,
  // The node or the store was opened for reading only.
  ZARROX_STATUS_READ_ONLY = 8,
  // The storage has no space left.
  ZARROX_STATUS_STORAGE_FULL = 9,
  // The stored bytes are damaged: truncated, altered, or inconsistent with the metadata.
  ZARROX_STATUS_CORRUPT = 10,
  // A metadata document violates its specification.
  ZARROX_STATUS_INVALID_METADATA = 11,
  // A valid feature that this library, or the target format, does not support.
  ZARROX_STATUS_UNSUPPORTED = 12,
  // The region is out of bounds, or does not fit the array.
  ZARROX_STATUS_INVALID_SELECTION = 13,
  // Another argument is invalid: a null pointer, a closed node, a wrong length, JSON with unknown members.
  ZARROX_STATUS_INVALID_ARGUMENT = 14,
  // The type of the memory differs from the type of the array.
  ZARROX_STATUS_DATA_TYPE_MISMATCH = 15,
  // The operation would need more memory than the limits allow.
  ZARROX_STATUS_LIMIT_EXCEEDED = 16,
  // Memory could not be allocated. The stored data may be intact.
  ZARROX_STATUS_OUT_OF_MEMORY = 17,
  // An error of a kind that this interface does not name yet.
  ZARROX_STATUS_OTHER = 18,
  // A bug of this library. The operation may be incomplete.
  ZARROX_STATUS_INTERNAL = 19,
} zarrox_status;

// The layout of an element in memory, in the machine's byte order. A data type without its own number has the number of its
// layout: times are INT64, and structures are RAW. `zarrox_data_type_name` distinguishes them.
typedef enum {
  // One byte, 0 or 1.
  ZARROX_TYPE_BOOL = 1,
  // int8_t
  ZARROX_TYPE_INT8 = 2,
  // int16_t
  ZARROX_TYPE_INT16 = 3,
  // int32_t
  ZARROX_TYPE_INT32 = 4,
  // int64_t
  ZARROX_TYPE_INT64 = 5,
  // uint8_t
  ZARROX_TYPE_UINT8 = 6,
  // uint16_t
  ZARROX_TYPE_UINT16 = 7,
  // uint32_t
  ZARROX_TYPE_UINT32 = 8,
  // uint64_t
  ZARROX_TYPE_UINT64 = 9,
  // IEEE 754 half precision, two bytes.
  ZARROX_TYPE_FLOAT16 = 10,
  // float
  ZARROX_TYPE_FLOAT32 = 11,
  // double
  ZARROX_TYPE_FLOAT64 = 12,
  // Two floats.
  ZARROX_TYPE_COMPLEX64 = 13,
  // Two doubles.
  ZARROX_TYPE_COMPLEX128 = 14,
  // Bytes of a fixed number: raw bits, structures, and numbers that C does not have.
  ZARROX_TYPE_RAW = 15,
  // Code points of four bytes each, padded with zeros: NumPy's U.
  ZARROX_TYPE_UTF32 = 16,
  // UTF-8 of variable length: `zarrox_read_strings`.
  ZARROX_TYPE_STRING = 17,
  // Bytes of variable length: `zarrox_read_strings`.
  ZARROX_TYPE_BYTES = 18,
} zarrox_type;

// The kind of a node.
typedef enum {
  // A node that cannot be opened.
  ZARROX_KIND_UNKNOWN = 0,
  // An array.
  ZARROX_KIND_ARRAY = 1,
  // A group.
  ZARROX_KIND_GROUP = 2,
} zarrox_kind;

// An open array or group: a number, like the identifiers of HDF5 and netCDF. 0 is never the number of a node. The number of a
// closed node is not used again, so that its use is an error.
typedef int64_t zarrox_node;

// A function that returns a number other than 0 to cancel an operation. It must not unwind or jump out of the call.
typedef int32_t (*zarrox_cancel_callback)(void *data);

// A node directly below a group.
typedef struct {
  // The name of the node.
  const char *name;
  // The kind of the node, a `zarrox_kind`.
  int32_t kind;
  // The reason why the node cannot be opened; null if it can be opened.
  const char *error;
} zarrox_child;

// A region: `count` elements along each dimension, from `start` on, `stride` apart. A null pointer to a region means the whole
// array.
typedef struct {
  // The number of dimensions, which must be the number of dimensions of the array.
  size_t ndim;
  // The index of the first element along each dimension; null for zeros.
  const uint64_t *start;
  // The number of elements along each dimension; null for all elements from `start` on.
  const uint64_t *count;
  // The distance between elements along each dimension; null for ones. A negative stride selects elements backwards from
  // `start`; 0 is an error.
  const int64_t *stride;
} zarrox_region;

// Memory of the caller for the elements of a region.
typedef struct {
  // The type of the elements, a `zarrox_type`. It must be the type of the array.
  int32_t type;
  // The first element, of any alignment.
  void *data;
  // The number of bytes from the first element on.
  size_t size;
  // The distance in bytes from an element to the next element along each dimension, which may be negative; null for row-major
  // order. In Fortran's order, the first stride is the size of an element.
  const ptrdiff_t *strides;
} zarrox_memory;

// Text or bytes of any length. In a string that this library returns, a NUL follows the bytes, which `length` does not count.
typedef struct {
  // The bytes; text is UTF-8. It may be null if the length is 0.
  const char *data;
  // The number of bytes.
  size_t length;
} zarrox_string;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the message of the last error of this thread: what was wrong, where, and what to do. The message is empty if there was
// no error, is valid until the next error of this thread, and must not be freed.
const char *zarrox_error_message(void);

// Returns the name of a status, such as "not found". The name is always valid, and must not be freed.
const char *zarrox_status_name(int32_t status);

// Returns the version of the library, such as "0.1.0". The text is always valid, and must not be freed.
const char *zarrox_version(void);

// Frees memory that a function of this library has returned. Null is allowed.
void zarrox_free(void *pointer);

// Sets the function that decides whether reading or writing of this node is cancelled. It is called before each operation and
// about every 10 ms during the operation, always by the thread that called the operation, so that the function can check for
// Ctrl-C in R and Python. A cancelled operation ends with ZARROX_STATUS_INTERRUPTED when the chunks in progress are finished;
// each chunk then has either its old or its new elements. Null removes the function. Nodes that are opened or created in this
// node later inherit the function.
int32_t zarrox_set_cancel(zarrox_node node,
                          zarrox_cancel_callback callback,
                          void *data);

// Opens the array or group at a path or URL. `options` is a JSON object or null.
int32_t zarrox_open(const char *place, const char *options, zarrox_node *node);

// Opens the array or group at a path below a group, with the options of the group.
int32_t zarrox_open_in(zarrox_node group, const char *path, zarrox_node *node);

// Creates a group at a path or URL. An existing node is an error, unless the option "mode" is "w". `options` is a JSON object or
// null.
int32_t zarrox_create_group(const char *place,
                            const char *options,
                            zarrox_node *node);

// Creates a group at a path below a group, with the missing groups between them.
int32_t zarrox_create_group_in(zarrox_node group, const char *path, zarrox_node *node);

// Creates an array at a path or URL. `array` is a JSON object with at least "shape" and "data_type", and `options` a JSON object
// or null.
int32_t zarrox_create_array(const char *place,
                            const char *array,
                            const char *options,
                            zarrox_node *node);

// Creates an array at a path below a group. `array` is a JSON object with at least "shape" and "data_type".
int32_t zarrox_create_array_in(zarrox_node group,
                               const char *path,
                               const char *array,
                               zarrox_node *node);

// Closes a node. Operations of other threads that use the node continue to their end.
int32_t zarrox_close(zarrox_node node);

// Lists the nodes directly below a group, sorted by name. `children` becomes a table of `count` entries, which the caller frees by a
// single `zarrox_free`. A damaged node does not hide the others: its entry has the reason.
int32_t zarrox_children(zarrox_node group,
                        zarrox_child **children,
                        size_t *count);

// Deletes the node at a path or URL with everything below it. `options` is a JSON object or null; the mode "r" is an error.
int32_t zarrox_delete(const char *place,
                      const char *options);

// Returns the kind of a node, a `zarrox_kind`.
int32_t zarrox_node_kind(zarrox_node node, int32_t *kind);

// Returns the metadata document of a node as JSON, in the form of its format: `zarr.json`, `.zarray`. The caller frees it.
int32_t zarrox_metadata(zarrox_node node,
                        char **json);

// Returns the attributes of a node as a JSON object. The caller frees it.
int32_t zarrox_attributes(zarrox_node node, char **json);

// Replaces all attributes of a node by the members of a JSON object.
int32_t zarrox_set_attributes(zarrox_node node, const char *json);

// Sets the attributes of a node that are members of a JSON object, and keeps all other attributes.
int32_t zarrox_update_attributes(zarrox_node node, const char *json);

// Returns the number of dimensions of an array.
int32_t zarrox_ndim(zarrox_node node, size_t *ndim);

// Returns the shape of an array. `ndim` must be its number of dimensions.
int32_t zarrox_shape(zarrox_node node, size_t ndim, uint64_t *shape);

// Returns the shape of the chunks of an array; if it has shards, the shape of the inner chunks. Reading regions of whole chunks
// is fastest. `ndim` must be the number of dimensions.
int32_t zarrox_chunk_shape(zarrox_node node,
                           size_t ndim,
                           uint64_t *shape);

// Returns the type of the elements of an array, a `zarrox_type`, and their size in bytes, which is 0 if they have variable
// length. Either pointer may be null.
int32_t zarrox_data_type(zarrox_node node,
                         int32_t *type,
                         size_t *size);

// Returns the name of the data type of an array, such as `float32` or `datetime64[ns]`. The caller frees it.
int32_t zarrox_data_type_name(zarrox_node node,
                              char **name);

// Changes the shape of an array. Elements outside of the new shape are deleted; new elements have the fill value. `ndim` must be
// the number of dimensions.
int32_t zarrox_resize(zarrox_node node,
                      size_t ndim,
                      const uint64_t *shape);

// Reads a region into memory. With strides, chunks are decoded directly into this memory, without another copy. On an error, the
// memory may be partly written.
int32_t zarrox_read(zarrox_node node,
                    const zarrox_region *region,
                    const zarrox_memory *memory);

// Writes a region from memory. A stride of 0 repeats elements. When the function returns, the elements are stored; nothing needs to be
// flushed. On an error, each chunk has either its old or its new elements.
int32_t zarrox_write(zarrox_node node,
                     const zarrox_region *region,
                     const zarrox_memory *memory);

// Reads text or bytes of a region, in row-major order: elements of variable length, and text of fixed length without its
// padding. `strings` becomes a table of `count` entries, followed by the bytes of the entries. The caller frees all of
// it by a single `zarrox_free`.
int32_t zarrox_read_strings(zarrox_node node,
                            const zarrox_region *region,
                            zarrox_string **strings,
                            size_t *count);

// Writes text or bytes to a region, in row-major order. `count` must be the number of elements of the region.
int32_t zarrox_write_strings(zarrox_node node,
                             const zarrox_region *region,
                             const zarrox_string *strings,
                             size_t count);

// Reads a region into a DLPack tensor in row-major order. The tensor owns its memory: its consumer calls its `deleter` once,
// from any thread. The header of DLPack defines the structure from version 1.0 on.
int32_t zarrox_read_dlpack(zarrox_node node,
                           const zarrox_region *region,
                           struct DLManagedTensorVersioned **tensor);

// Reads a region into an Arrow array of one dimension, in row-major order. Booleans, integers, floats, raw bytes, text and bytes
// of variable length have Arrow's types; other types are an error. The caller provides memory for both structures, which need
// not be initialised, and calls the `release` of each structure once, from any thread.
int32_t zarrox_read_arrow(zarrox_node node,
                          const zarrox_region *region,
                          struct ArrowArray *array,
                          struct ArrowSchema *schema);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ZARROX_H */
