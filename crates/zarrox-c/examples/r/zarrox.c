/* Zarr arrays from R: whole arrays of numbers, as matrices and arrays of R.
 *
 *     PKG_CPPFLAGS=$(pkg-config --cflags zarrox) PKG_LIBS=$(pkg-config --libs zarrox) R CMD SHLIB zarrox.c
 *
 * Arrays of R are in Fortran's order: the library writes elements by strides, without a transposition.
 */
#include <R.h>
#include <Rinternals.h>
#include <R_ext/Utils.h>
#include <limits.h>
#include <string.h>
#include <zarrox.h>

/* R's check for Ctrl-C jumps, and the jump must not leave the callback. */
static void check_interrupt(void *data) {
  (void)data;
  R_CheckUserInterrupt();
}

static int32_t is_interrupted(void *data) {
  (void)data;
  return R_ToplevelExec(check_interrupt, NULL) == FALSE;
}

static void check(int32_t status, zarrox_node node) {
  if (status == ZARROX_STATUS_OK)
    return;
  if (node != 0)
    zarrox_close(node);
  /* The message stays valid: closing an open node is not an error. */
  error("zarrox: %s", zarrox_error_message());
}

/* Reads an array in its own type, and converts the elements to doubles. */
static void read_as_double(zarrox_node node, int32_t type, size_t item, R_xlen_t length, const ptrdiff_t *strides,
                           size_t ndim, double *out) {
  char *values = R_alloc((size_t)length, (int)item);
  ptrdiff_t own[16];
  for (size_t dim = 0; dim < ndim; dim++)
    own[dim] = strides[dim] * (ptrdiff_t)item;
  zarrox_memory memory = {type, values, (size_t)length * item, own};
  check(zarrox_read(node, NULL, &memory), node);
  for (R_xlen_t i = 0; i < length; i++) {
    const char *value = values + (size_t)i * item;
#define CONVERT(number, T)                                                                               \
  case number: {                                                                                         \
    T x;                                                                                                 \
    memcpy(&x, value, sizeof x);                                                                         \
    out[i] = (double)x;                                                                                  \
    break;                                                                                               \
  }
    switch (type) {
      CONVERT(ZARROX_TYPE_BOOL, uint8_t)
      CONVERT(ZARROX_TYPE_INT8, int8_t)
      CONVERT(ZARROX_TYPE_INT16, int16_t)
      CONVERT(ZARROX_TYPE_INT32, int32_t)
      CONVERT(ZARROX_TYPE_INT64, int64_t)
      CONVERT(ZARROX_TYPE_UINT8, uint8_t)
      CONVERT(ZARROX_TYPE_UINT16, uint16_t)
      CONVERT(ZARROX_TYPE_UINT32, uint32_t)
      CONVERT(ZARROX_TYPE_UINT64, uint64_t)
      CONVERT(ZARROX_TYPE_FLOAT32, float)
      CONVERT(ZARROX_TYPE_FLOAT64, double)
    }
  }
}

/* .Call("read_array", path): an array of doubles with the shape of the Zarr array. */
SEXP read_array(SEXP path) {
  zarrox_node node = 0;
  size_t ndim, item;
  int32_t type;
  uint64_t shape[16];
  check(zarrox_open(translateCharUTF8(asChar(path)), "{\"mode\": \"r\"}", &node), 0);
  check(zarrox_set_cancel(node, is_interrupted, NULL), node);
  check(zarrox_ndim(node, &ndim), node);
  if (ndim > 16) {
    zarrox_close(node);
    error("the array has more than 16 dimensions");
  }
  check(zarrox_shape(node, ndim, shape), node);
  check(zarrox_data_type(node, &type, &item), node);
  if (type > ZARROX_TYPE_FLOAT64 || type == ZARROX_TYPE_FLOAT16) {
    zarrox_close(node);
    error("the elements are not numbers of R");
  }
  for (size_t dim = 0; dim < ndim; dim++) {
    if (shape[dim] > INT_MAX) {
      zarrox_close(node);
      error("the array is longer than R's arrays can be");
    }
  }
  SEXP dims = PROTECT(allocVector(INTSXP, (R_xlen_t)ndim));
  ptrdiff_t strides[16], stride = 1;
  for (size_t dim = 0; dim < ndim; dim++) {
    INTEGER(dims)[dim] = (int)shape[dim];
    strides[dim] = stride;
    stride *= (ptrdiff_t)shape[dim];
  }
  SEXP result = PROTECT(allocVector(REALSXP, stride));
  read_as_double(node, type, item, stride, strides, ndim, REAL(result));
  if (ndim > 0)
    setAttrib(result, R_DimSymbol, dims);
  zarrox_close(node);
  UNPROTECT(2);
  return result;
}
