//! Calls of compression libraries, with contexts and buffers that a thread reuses.

use std::ptr::NonNull;

use blosc_src::blosc_decompress_ctx;
use libdeflate_sys as deflate;
use serde_json::Value;
use zstd::zstd_safe::DCtx;

use crate::failure::Failure;

/// The codecs of the bytes of a leaf.
#[derive(Default)]
pub(super) struct Codecs {
    /// True if the bytes of four-byte elements are shuffled.
    is_shuffled: bool,
    pub(super) compressor: Compressor,
}

#[derive(Default, PartialEq)]
pub(super) enum Compressor {
    #[default]
    None,
    Zstd,
    Gzip,
    Blosc,
}

/// The contexts and buffers of a thread.
pub(super) struct Workspace {
    pub(super) zstd: DCtx<'static>,
    inflate: NonNull<deflate::libdeflate_decompressor>,
    planes: Vec<u8>,
    pub(super) encoded: Vec<u8>,
}

impl Workspace {
    pub(super) fn new() -> Self {
        // SAFETY: the call has no preconditions.
        let inflate = NonNull::new(unsafe { deflate::libdeflate_alloc_decompressor() }).unwrap();
        Self { zstd: DCtx::create(), inflate, planes: Vec::new(), encoded: Vec::new() }
    }
}

impl Codecs {
    /// Adds a codec with its configuration.
    pub(super) fn add(&mut self, name: &str, configuration: &Value) -> Result<(), Failure> {
        match name.trim_start_matches("numcodecs.") {
            "shuffle" if configuration["elementsize"] == 4 => self.is_shuffled = true,
            "zstd" => self.compressor = Compressor::Zstd,
            "gzip" => self.compressor = Compressor::Gzip,
            "blosc" => self.compressor = Compressor::Blosc,
            _ => return Err(Failure::Unsupported(format!("the codec {name}"))),
        }
        Ok(())
    }

    /// Returns true if a leaf can be decoded incrementally.
    pub(super) fn is_streamed(&self) -> bool {
        !self.is_shuffled && matches!(self.compressor, Compressor::None | Compressor::Zstd)
    }

    /// Decodes a leaf.
    pub(super) fn decode(
        &self,
        work: &mut Workspace,
        encoded: &[u8],
        decoded: &mut [u8],
    ) -> Result<(), Failure> {
        if !self.is_shuffled {
            return self.decompress(work, encoded, decoded);
        }
        let mut planes = std::mem::take(&mut work.planes);
        planes.resize(decoded.len(), 0);
        self.decompress(work, encoded, &mut planes)?;
        let quarters: [&[u8]; 4] = std::array::from_fn(|plane| &planes[plane * planes.len() / 4..]);
        for (at, element) in decoded.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *element = std::array::from_fn(|plane| quarters[plane][at]);
        }
        work.planes = planes;
        Ok(())
    }

    fn decompress(&self, work: &mut Workspace, encoded: &[u8], decoded: &mut [u8]) -> Result<(), Failure> {
        let (from, to, room) = (encoded.as_ptr(), decoded.as_mut_ptr(), decoded.len());
        // SAFETY: the libraries read and write only inside the two slices; Blosc trusts the header, which was written here.
        let good = unsafe {
            match self.compressor {
                Compressor::None => false,
                Compressor::Zstd => work.zstd.decompress(decoded, encoded) == Ok(room),
                Compressor::Gzip => {
                    let (inflate, size, null) = (work.inflate.as_ptr(), encoded.len(), std::ptr::null_mut());
                    deflate::libdeflate_gzip_decompress(inflate, from.cast(), size, to.cast(), room, null)
                        == 0
                }
                Compressor::Blosc => blosc_decompress_ctx(from.cast(), to.cast(), room, 1) > 0,
            }
        };
        if good { Ok(()) } else { Err(damaged()) }
    }
}

pub(super) fn damaged() -> Failure {
    Failure::Error("a chunk is damaged".to_owned())
}
