//! The calls of compression libraries, with contexts and memory that a thread uses again and again.

use std::ffi::CString;
use std::ptr::NonNull;

use blosc_src::{blosc_compress_ctx, blosc_decompress_ctx};
use libdeflate_sys as deflate;
use zstd::zstd_safe::{self, CCtx, CParameter, DCtx};

use crate::failure::Failure;

/// The steps that the bytes of a leaf go through, in the order of encoding.
#[derive(Default)]
pub(super) struct Steps {
    /// The size of an element.
    pub(super) shuffle: Option<usize>,
    pub(super) compressor: Option<Compressor>,
    pub(super) checksum: bool,
}

pub(super) enum Compressor {
    Zstd { level: i32, checksum: bool },
    Gzip(i32),
    Zlib(i32),
    Blosc(Blosc),
}

pub(super) struct Blosc {
    pub(super) name: String,
    pub(super) level: i32,
    pub(super) shuffle: i32,
    pub(super) type_size: usize,
    pub(super) block: usize,
}

/// A thread's own contexts and memory.
pub(super) struct Workspace {
    pub(super) zstd: DCtx<'static>,
    compressor: CCtx<'static>,
    inflate: NonNull<deflate::libdeflate_decompressor>,
    deflate: Option<(i32, NonNull<deflate::libdeflate_compressor>)>,
    /// Bytes apart from each other, before or after they are shuffled.
    planes: Vec<u8>,
}

impl Workspace {
    pub(super) fn new() -> Self {
        Self {
            zstd: DCtx::create(),
            compressor: CCtx::create(),
            // SAFETY: the call has no preconditions.
            inflate: NonNull::new(unsafe { deflate::libdeflate_alloc_decompressor() }).unwrap(),
            deflate: None,
            planes: Vec::new(),
        }
    }

    fn deflate(&mut self, level: i32) -> *mut deflate::libdeflate_compressor {
        if self.deflate.is_none_or(|(known, _)| known != level) {
            // SAFETY: any level may be asked for. What was there before is kept until the program ends.
            let context = NonNull::new(unsafe { deflate::libdeflate_alloc_compressor(level) }).unwrap();
            self.deflate = Some((level, context));
        }
        self.deflate.map_or(std::ptr::null_mut(), |(_, context)| context.as_ptr())
    }
}

/// A header of Blosc: the sizes of what is decoded, and of its blocks.
pub(super) fn blosc_sizes(encoded: &[u8]) -> (usize, usize) {
    let size = |at: usize| u32::from_le_bytes(encoded[at..at + 4].try_into().unwrap()) as usize;
    (size(4), size(8))
}

impl Steps {
    /// Returns true if bytes are stored as they are.
    pub(super) fn are_none(&self) -> bool {
        self.shuffle.is_none() && self.compressor.is_none() && !self.checksum
    }

    /// Returns true if there is nothing but Zstandard.
    pub(super) fn are_zstd(&self) -> bool {
        let zstd = matches!(self.compressor, Some(Compressor::Zstd { .. }));
        zstd && self.shuffle.is_none() && !self.checksum
    }

    /// Returns the size of Blosc's elements if there is nothing but Blosc.
    pub(super) fn are_blosc(&self) -> Option<usize> {
        match &self.compressor {
            Some(Compressor::Blosc(blosc)) if self.shuffle.is_none() && !self.checksum => {
                Some(blosc.type_size)
            }
            _ => None,
        }
    }

    pub(super) fn decode(
        &self,
        space: &mut Workspace,
        mut encoded: &[u8],
        decoded: &mut [u8],
    ) -> Result<(), Failure> {
        if self.checksum {
            let (bytes, checksum) = encoded.split_at(encoded.len() - 4);
            if crc32c::crc32c(bytes).to_le_bytes() != checksum {
                return Err(Failure::Error("a checksum differs".to_owned()));
            }
            encoded = bytes;
        }
        let Some(size) = self.shuffle.filter(|&size| size > 1) else {
            return self.decompress(space, encoded, decoded);
        };
        let mut planes = std::mem::take(&mut space.planes);
        planes.resize(decoded.len(), 0);
        let done = self.decompress(space, encoded, &mut planes);
        unshuffle(&planes, decoded, size);
        space.planes = planes;
        done
    }

    fn decompress(&self, space: &mut Workspace, encoded: &[u8], decoded: &mut [u8]) -> Result<(), Failure> {
        let inflate = space.inflate.as_ptr();
        let (from, size) = (encoded.as_ptr().cast(), encoded.len());
        let (to, room) = (decoded.as_mut_ptr().cast(), decoded.len());
        let null = std::ptr::null_mut();
        // SAFETY: the libraries read and write only inside of the two slices; Blosc trusts the header, which was written here.
        let good = unsafe {
            match &self.compressor {
                None => {
                    decoded.copy_from_slice(encoded);
                    true
                }
                Some(Compressor::Zstd { .. }) => space.zstd.decompress(decoded, encoded) == Ok(room),
                Some(Compressor::Gzip(_)) => {
                    deflate::libdeflate_gzip_decompress(inflate, from, size, to, room, null) == 0
                }
                Some(Compressor::Zlib(_)) => {
                    deflate::libdeflate_zlib_decompress(inflate, from, size, to, room, null) == 0
                }
                Some(Compressor::Blosc(_)) => {
                    blosc_decompress_ctx(encoded.as_ptr().cast(), decoded.as_mut_ptr().cast(), room, 1) > 0
                }
            }
        };
        if good { Ok(()) } else { Err(Failure::Error("a chunk is damaged".to_owned())) }
    }

    /// Encodes, appending.
    pub(super) fn encode(&self, space: &mut Workspace, decoded: &[u8], encoded: &mut Vec<u8>) {
        let start = encoded.len();
        match self.shuffle.filter(|&size| size > 1) {
            None => self.compress(space, decoded, encoded),
            Some(size) => {
                let mut planes = std::mem::take(&mut space.planes);
                planes.resize(decoded.len(), 0);
                shuffle(decoded, &mut planes, size);
                self.compress(space, &planes, encoded);
                space.planes = planes;
            }
        }
        if self.checksum {
            let checksum = crc32c::crc32c(&encoded[start..]);
            encoded.extend_from_slice(&checksum.to_le_bytes());
        }
    }

    fn compress(&self, space: &mut Workspace, decoded: &[u8], encoded: &mut Vec<u8>) {
        let (from, size, start) = (decoded.as_ptr(), decoded.len(), encoded.len());
        let room = zstd_safe::compress_bound(size) + size / 6 + 1024;
        encoded.reserve(room);
        // SAFETY: there is room for what any of the libraries writes at most, and it tells how much it wrote.
        unsafe {
            let to = encoded.as_mut_ptr().add(start);
            let written = match &self.compressor {
                None => {
                    std::ptr::copy_nonoverlapping(from, to, size);
                    size
                }
                Some(Compressor::Zstd { level, checksum }) => {
                    let context = &mut space.compressor;
                    context.set_parameter(CParameter::CompressionLevel(*level)).unwrap();
                    context.set_parameter(CParameter::ChecksumFlag(*checksum)).unwrap();
                    context.compress2(std::slice::from_raw_parts_mut(to, room), decoded).unwrap()
                }
                Some(Compressor::Gzip(level)) => deflate::libdeflate_gzip_compress(
                    space.deflate(*level),
                    from.cast(),
                    size,
                    to.cast(),
                    room,
                ),
                Some(Compressor::Zlib(level)) => deflate::libdeflate_zlib_compress(
                    space.deflate(*level),
                    from.cast(),
                    size,
                    to.cast(),
                    room,
                ),
                Some(Compressor::Blosc(blosc)) => {
                    let name = CString::new(blosc.name.as_str()).unwrap();
                    let written = blosc_compress_ctx(
                        blosc.level,
                        blosc.shuffle,
                        blosc.type_size,
                        size,
                        from.cast(),
                        to.cast(),
                        room,
                        name.as_ptr(),
                        blosc.block,
                        1,
                    );
                    usize::try_from(written).unwrap()
                }
            };
            assert!(written > 0 || size == 0, "compression failed");
            encoded.set_len(start + written);
        }
    }
}

fn shuffle(elements: &[u8], planes: &mut [u8], size: usize) {
    match size {
        2 => shuffle_of::<2>(elements, planes),
        4 => shuffle_of::<4>(elements, planes),
        8 => shuffle_of::<8>(elements, planes),
        _ => {
            let count = elements.len() / size;
            for (plane, bytes) in planes.chunks_exact_mut(count.max(1)).enumerate() {
                bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = elements[at * size + plane]);
            }
        }
    }
}

fn unshuffle(planes: &[u8], elements: &mut [u8], size: usize) {
    match size {
        2 => unshuffle_of::<2>(planes, elements),
        4 => unshuffle_of::<4>(planes, elements),
        8 => unshuffle_of::<8>(planes, elements),
        _ => {
            let count = elements.len() / size;
            for (plane, bytes) in planes.chunks_exact(count.max(1)).enumerate() {
                bytes.iter().enumerate().for_each(|(at, byte)| elements[at * size + plane] = *byte);
            }
        }
    }
}

fn shuffle_of<const N: usize>(elements: &[u8], planes: &mut [u8]) {
    let (elements, _) = elements.as_chunks::<N>();
    let count = elements.len();
    // Blocks that stay in the cache are gone through once for each plane.
    for start in (0..count).step_by(1024) {
        let block = &elements[start..count.min(start + 1024)];
        for plane in 0..N {
            let bytes = &mut planes[plane * count + start..][..block.len()];
            bytes.iter_mut().zip(block).for_each(|(byte, element)| *byte = element[plane]);
        }
    }
}

fn unshuffle_of<const N: usize>(planes: &[u8], elements: &mut [u8]) {
    let (elements, _) = elements.as_chunks_mut::<N>();
    let count = elements.len();
    let planes: [&[u8]; N] = std::array::from_fn(|plane| &planes[plane * count..][..count]);
    for (at, element) in elements.iter_mut().enumerate() {
        *element = std::array::from_fn(|plane| planes[plane][at]);
    }
}
