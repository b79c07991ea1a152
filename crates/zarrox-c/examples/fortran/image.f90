!> Prints an image of 16-bit integers, row by row, and writes a copy of it.
!>
!>     gfortran zarrox.f90 image.f90 $(pkg-config --libs zarrox) -o image && ./image image.zarr copy.zarr
program image
   use, intrinsic :: iso_c_binding
   use zarrox
   implicit none
   character(4096) :: path, copy
   character(200) :: settings
   integer(c_int64_t) :: original, other
   integer(c_int64_t), target :: shape(2), start(2)
   integer(c_ptrdiff_t), target :: strides(2)
   integer(c_int16_t), allocatable, target :: pixels(:, :)
   type(zarrox_region) :: region
   type(zarrox_memory) :: memory
   integer :: i, j

   call get_command_argument(1, path)
   call get_command_argument(2, copy)
   call zarrox_check(zarrox_open(path, '{"mode": "r"}', original))
   call zarrox_check(zarrox_shape(original, 2_c_size_t, shape))

   ! pixels(i, j) is [i-1, j-1] of the Zarr array. Fortran has no unsigned integers: their bits are the same.
   allocate (pixels(shape(1), shape(2)))
   start = 0
   region = zarrox_region(2, c_loc(start), c_loc(shape), c_null_ptr)
   memory = zarrox_memory_of(c_loc(pixels), zarrox_uint16, 2_c_size_t, shape, strides)
   call zarrox_check(zarrox_read(original, region, memory))
   do i = 1, size(pixels, 1)
      write (*, '(*(i0, :, " "))') (iand(int(pixels(i, j)), 65535), j=1, size(pixels, 2))
   end do

   write (settings, '("{""shape"": [", i0, ", ", i0, "], ""data_type"": ""uint16""}")') shape
   call zarrox_check(zarrox_create_array(copy, settings, '{}', other))
   call zarrox_check(zarrox_write(other, region, memory))
   call zarrox_check(zarrox_close(other))
   call zarrox_check(zarrox_close(original))
end program
