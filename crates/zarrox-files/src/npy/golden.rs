// Headers in all three versions of the format, as written by NumPy 2.4.
[
    (b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }                                                          \n", "float32", Endian::Little, false, &[3, 4]),
    (b"\x93NUMPY\x01\x00v\x00{'descr': '>f8', 'fortran_order': False, 'shape': (3, 4), }                                                          \n", "float64", Endian::Big, false, &[3, 4]),
    (b"\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4), }                                                        \n", "int16", Endian::Little, true, &[2, 3, 4]),
    (b"\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': False, 'shape': (5,), }                                                            \n", "bool", Endian::Little, false, &[5]),
    (b"\x93NUMPY\x01\x00v\x00{'descr': '<c16', 'fortran_order': False, 'shape': (), }                                                             \n", "complex128", Endian::Little, false, &[]),
    (b"\x93NUMPY\x01\x00v\x00{'descr': '<f2', 'fortran_order': False, 'shape': (0, 7), }                                                          \n", "float16", Endian::Little, false, &[0, 7]),
    (b"\x93NUMPY\x01\x00v\x00{'descr': '|V3', 'fortran_order': False, 'shape': (2,), }                                                            \n", "r24", Endian::Little, false, &[2]),
    (b"\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }                                                          \n", "uint8", Endian::Little, false, &[2]),
    (b"\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }                                                          \n", "uint8", Endian::Little, false, &[2]),
]
