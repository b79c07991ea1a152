//! Direct calls of the libraries, with contexts that are reused: the minimal cost of encoding and decoding.

use std::ffi::CStr;

/// Decodes into memory of exactly the decoded size.
type Decode = Box<dyn FnMut(&[u8], &mut [u8])>;

/// Encodes into a vector, which is cleared first.
type Encode = Box<dyn FnMut(&[u8], &mut Vec<u8>)>;

/// Encoding and decoding with a library.
pub(crate) struct Bare {
    pub(crate) decode: Decode,
    pub(crate) encode: Encode,
}

pub(crate) fn zstd() -> Bare {
    let (mut decoder, mut encoder) = (zstd_safe::DCtx::create(), zstd_safe::CCtx::create());
    Bare {
        decode: Box::new(move |encoded, out| {
            assert_eq!(decoder.decompress(out, encoded).unwrap(), out.len());
        }),
        encode: Box::new(move |data, encoded| {
            encoded.clear();
            encoded.reserve(zstd_safe::compress_bound(data.len()));
            encoder.compress(encoded, data, 3).unwrap();
        }),
    }
}

pub(crate) fn lz4() -> Bare {
    use lz4_sys::{LZ4_compress_fast, LZ4_compressBound, LZ4_decompress_safe};
    let int = |n: usize| i32::try_from(n).unwrap();
    Bare {
        decode: Box::new(move |encoded, out| {
            let block = &encoded[4..];
            // SAFETY: the library only reads and writes inside the two slices.
            let written = unsafe {
                let (source, target) = (block.as_ptr().cast(), out.as_mut_ptr().cast());
                LZ4_decompress_safe(source, target, int(block.len()), int(out.len()))
            };
            assert_eq!(written, int(out.len()));
        }),
        encode: Box::new(move |data, encoded| {
            encoded.clear();
            // SAFETY: the call has no preconditions.
            let room = unsafe { LZ4_compressBound(int(data.len())) };
            encoded.reserve(4 + usize::try_from(room).unwrap());
            encoded.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
            // SAFETY: there is room for the worst case, and the library initialises as many bytes as it returns.
            unsafe {
                let target = encoded.spare_capacity_mut().as_mut_ptr().cast();
                let written = LZ4_compress_fast(data.as_ptr().cast(), target, int(data.len()), room, 1);
                encoded.set_len(4 + usize::try_from(written).unwrap());
            }
        }),
    }
}

pub(crate) fn blosc(compressor: &'static CStr) -> Bare {
    use blosc_src::{blosc_compress_ctx, blosc_decompress_ctx};
    Bare {
        decode: Box::new(|encoded, out| {
            // SAFETY: the library wrote the buffer itself.
            let written = unsafe {
                blosc_decompress_ctx(encoded.as_ptr().cast(), out.as_mut_ptr().cast(), out.len(), 1)
            };
            assert_eq!(usize::try_from(written), Ok(out.len()));
        }),
        encode: Box::new(move |data, encoded| {
            encoded.clear();
            let room = data.len() + 16;
            encoded.reserve(room);
            // SAFETY: the library writes at most `room` bytes, and initialises as many as it returns.
            unsafe {
                let target = encoded.spare_capacity_mut().as_mut_ptr().cast();
                let (source, size) = (data.as_ptr().cast(), data.len());
                let written =
                    blosc_compress_ctx(5, 1, 4, size, source, target, room, compressor.as_ptr(), 0, 1);
                encoded.set_len(usize::try_from(written).unwrap());
            }
        }),
    }
}

/// Returns the calls for gzip or zlib.
pub(crate) fn deflate(gzip: bool) -> Bare {
    use libdeflate_sys::{
        libdeflate_alloc_compressor, libdeflate_alloc_decompressor, libdeflate_gzip_compress,
        libdeflate_gzip_compress_bound, libdeflate_gzip_decompress, libdeflate_zlib_compress,
        libdeflate_zlib_compress_bound, libdeflate_zlib_decompress,
    };
    // SAFETY: the calls have no preconditions. The handles that they return live as long as the program.
    let (decoder, encoder) = unsafe { (libdeflate_alloc_decompressor(), libdeflate_alloc_compressor(1)) };
    Bare {
        decode: Box::new(move |encoded, out| {
            let run = if gzip { libdeflate_gzip_decompress } else { libdeflate_zlib_decompress };
            let (source, target) = (encoded.as_ptr().cast(), out.as_mut_ptr().cast());
            // SAFETY: the library only reads and writes inside the two slices.
            let result =
                unsafe { run(decoder, source, encoded.len(), target, out.len(), std::ptr::null_mut()) };
            assert_eq!(result, 0);
        }),
        encode: Box::new(move |data, encoded| {
            encoded.clear();
            let (bound, run): (unsafe extern "C" fn(_, _) -> _, unsafe extern "C" fn(_, _, _, _, _) -> _) =
                if gzip {
                    (libdeflate_gzip_compress_bound, libdeflate_gzip_compress)
                } else {
                    (libdeflate_zlib_compress_bound, libdeflate_zlib_compress)
                };
            // SAFETY: there is room for the worst case, and the library initialises as many bytes as it returns.
            unsafe {
                let room: usize = bound(encoder, data.len());
                encoded.reserve(room);
                let target = encoded.spare_capacity_mut().as_mut_ptr().cast();
                let written = run(encoder, data.as_ptr().cast(), data.len(), target, room);
                encoded.set_len(written);
            }
        }),
    }
}

pub(crate) fn bz2() -> Bare {
    use bzip2::{Action, Compress, Compression, Decompress, Status};
    Bare {
        decode: Box::new(|encoded, out| {
            let mut decoder = Decompress::new(false);
            assert_eq!(decoder.decompress(encoded, out).unwrap(), Status::StreamEnd);
        }),
        encode: Box::new(|data, encoded| {
            encoded.clear();
            encoded.reserve(data.len() + data.len() / 100 + 600);
            let mut encoder = Compress::new(Compression::new(1), 0);
            let status = encoder.compress_vec(data, encoded, Action::Finish).unwrap();
            assert_eq!(status, Status::StreamEnd);
        }),
    }
}

pub(crate) fn crc32c() -> Bare {
    Bare {
        decode: Box::new(|encoded, out| {
            let (data, checksum) = encoded.split_last_chunk::<4>().unwrap();
            assert_eq!(crc32c::crc32c(data), u32::from_le_bytes(*checksum));
            out.copy_from_slice(data);
        }),
        encode: Box::new(|data, encoded| {
            encoded.clear();
            encoded.extend_from_slice(data);
            encoded.extend(crc32c::crc32c(data).to_le_bytes());
        }),
    }
}

pub(crate) fn pcodec() -> Bare {
    let parameters = pco::ChunkConfig::default();
    Bare {
        decode: Box::new(|encoded, out| {
            let numbers: &mut [f32] = bytemuck::cast_slice_mut(out);
            let progress = pco::standalone::simple_decompress_into(encoded, numbers).unwrap();
            assert_eq!(progress.n_processed, numbers.len());
        }),
        encode: Box::new(move |data, encoded| {
            let numbers: &[f32] = bytemuck::cast_slice(data);
            *encoded = pco::standalone::simple_compress(numbers, &parameters).unwrap();
        }),
    }
}

/// Returns the calls for zfp in one dimension.
pub(crate) fn zfp(parameters: zfp_rs::ZfpConfig) -> Bare {
    use zfp_rs::{ZfpBitStream, ZfpBitStreamRef, ZfpField, ZfpFieldMut, ZfpScalarType};
    Bare {
        decode: Box::new(move |encoded, out| {
            let numbers: &mut [f32] = bytemuck::cast_slice_mut(out);
            let count = numbers.len();
            let mut field = ZfpFieldMut::new(numbers, count).unwrap();
            ZfpBitStreamRef::from_bytes(encoded).unwrap().decompress(&parameters, &mut field).unwrap();
        }),
        encode: Box::new(move |data, encoded| {
            encoded.clear();
            let numbers: &[f32] = bytemuck::cast_slice(data);
            let room = parameters.maximum_size(ZfpScalarType::F32, numbers.len()).unwrap();
            let mut stream = ZfpBitStream::new(room).unwrap();
            stream.compress(&parameters, &ZfpField::new(numbers, numbers.len()).unwrap()).unwrap();
            encoded.extend_from_slice(stream.as_bytes());
        }),
    }
}
