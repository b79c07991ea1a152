# Prints an image of integers, row by row: Rscript image.R image.zarr, in the directory with the zarrox.so of zarrox.c.
dyn.load("zarrox.so")
image <- .Call("read_array", commandArgs(trailingOnly = TRUE)[1])
write(t(image), stdout(), ncolumns = ncol(image))
