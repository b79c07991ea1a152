!> Zarr arrays from Fortran: the most important functions of zarrox.h, and short forms of these functions.
!>
!> Dimensions are in the order of the metadata: element (i, j) of Fortran is element [i-1, j-1] of Zarr. The library reads
!> and writes elements by strides in Fortran's order, without a transposition.
module zarrox
   use, intrinsic :: iso_c_binding
   implicit none
   private
   public :: zarrox_region, zarrox_memory, zarrox_open, zarrox_create_array, zarrox_close, zarrox_shape
   public :: zarrox_read, zarrox_write, zarrox_memory_of, zarrox_check, zarrox_message

   integer(c_int32_t), parameter, public :: zarrox_bool = 1, zarrox_int8 = 2, zarrox_int16 = 3
   integer(c_int32_t), parameter, public :: zarrox_int32 = 4, zarrox_int64 = 5, zarrox_uint8 = 6
   integer(c_int32_t), parameter, public :: zarrox_uint16 = 7, zarrox_uint32 = 8, zarrox_uint64 = 9
   integer(c_int32_t), parameter, public :: zarrox_float32 = 11, zarrox_float64 = 12
   integer(c_int32_t), parameter, public :: zarrox_complex64 = 13, zarrox_complex128 = 14

   type, bind(c) :: zarrox_region
      integer(c_size_t) :: ndim = 0
      type(c_ptr) :: start = c_null_ptr
      type(c_ptr) :: count = c_null_ptr
      type(c_ptr) :: stride = c_null_ptr
   end type

   type, bind(c) :: zarrox_memory
      integer(c_int32_t) :: type = 0
      type(c_ptr) :: data = c_null_ptr
      integer(c_size_t) :: size = 0
      type(c_ptr) :: strides = c_null_ptr
   end type

   interface
      function c_open(place, options, node) bind(c, name="zarrox_open")
         import
         character(kind=c_char), intent(in) :: place(*), options(*)
         integer(c_int64_t), intent(out) :: node
         integer(c_int32_t) :: c_open
      end function

      function c_create_array(place, array, options, node) bind(c, name="zarrox_create_array")
         import
         character(kind=c_char), intent(in) :: place(*), array(*), options(*)
         integer(c_int64_t), intent(out) :: node
         integer(c_int32_t) :: c_create_array
      end function

      function zarrox_close(node) bind(c)
         import
         integer(c_int64_t), value :: node
         integer(c_int32_t) :: zarrox_close
      end function

      function zarrox_shape(node, ndim, shape) bind(c)
         import
         integer(c_int64_t), value :: node
         integer(c_size_t), value :: ndim
         integer(c_int64_t), intent(out) :: shape(*)
         integer(c_int32_t) :: zarrox_shape
      end function

      !> Reads a region into memory.
      function zarrox_read(node, region, memory) bind(c)
         import
         integer(c_int64_t), value :: node
         type(zarrox_region), intent(in) :: region
         type(zarrox_memory), intent(in) :: memory
         integer(c_int32_t) :: zarrox_read
      end function

      !> Writes a region from memory.
      function zarrox_write(node, region, memory) bind(c)
         import
         integer(c_int64_t), value :: node
         type(zarrox_region), intent(in) :: region
         type(zarrox_memory), intent(in) :: memory
         integer(c_int32_t) :: zarrox_write
      end function

      function c_error_message() bind(c, name="zarrox_error_message")
         import
         type(c_ptr) :: c_error_message
      end function

      function c_strlen(text) bind(c, name="strlen")
         import
         type(c_ptr), value :: text
         integer(c_size_t) :: c_strlen
      end function
   end interface

contains

   !> Opens an array or a group.
   function zarrox_open(place, options, node) result(status)
      character(*), intent(in) :: place, options
      integer(c_int64_t), intent(out) :: node
      integer(c_int32_t) :: status
      status = c_open(trim(place)//c_null_char, trim(options)//c_null_char, node)
   end function

   !> Creates an array with the properties of a JSON object.
   function zarrox_create_array(place, array, options, node) result(status)
      character(*), intent(in) :: place, array, options
      integer(c_int64_t), intent(out) :: node
      integer(c_int32_t) :: status
      status = c_create_array(trim(place)//c_null_char, trim(array)//c_null_char, trim(options)//c_null_char, node)
   end function

   !> Describes a contiguous Fortran array: its first element, the type and the size of an element, and its shape. `strides` must
   !> live as long as the result.
   function zarrox_memory_of(first, type, item, shape, strides) result(memory)
      type(c_ptr), intent(in) :: first
      integer(c_int32_t), intent(in) :: type
      integer(c_size_t), intent(in) :: item
      integer(c_int64_t), intent(in) :: shape(:)
      integer(c_ptrdiff_t), intent(out), target :: strides(:)
      type(zarrox_memory) :: memory
      integer :: dim
      integer(c_ptrdiff_t) :: stride
      stride = int(item, c_ptrdiff_t)
      do dim = 1, size(shape)
         strides(dim) = stride
         stride = stride*int(shape(dim), c_ptrdiff_t)
      end do
      memory%type = type
      memory%data = first
      memory%size = int(stride, c_size_t)
      memory%strides = c_loc(strides)
   end function

   !> Returns the message of the last error of this thread.
   function zarrox_message() result(message)
      character(:), allocatable :: message
      character(kind=c_char), pointer :: text(:)
      type(c_ptr) :: start
      integer :: i
      start = c_error_message()
      call c_f_pointer(start, text, [c_strlen(start)])
      allocate (character(size(text)) :: message)
      do i = 1, size(text)
         message(i:i) = text(i)
      end do
   end function

   !> Ends the program with the message of the error if a call has failed.
   subroutine zarrox_check(status)
      integer(c_int32_t), intent(in) :: status
      if (status /= 0) error stop zarrox_message()
   end subroutine

end module
