//! Pages of columns of Parquet, decompressed with limits: the decoders of the crate `parquet` write as much as a page says.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::input::Input;

/// The most bytes of a page.
const MOST: usize = 256 << 20;

/// The most bytes that LZ4 makes of one.
const LZ4_RATIO: usize = 255;

/// A file, as the crate `parquet` reads it.
#[derive(Debug, Clone)]
pub(super) struct Source(pub(super) Arc<Input>);

impl Length for Source {
    fn len(&self) -> u64 {
        self.0.length()
    }
}

impl ChunkReader for Source {
    type T = Tail;

    fn get_read(&self, start: u64) -> Result<Tail> {
        Ok(Tail { source: self.clone(), position: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.0.read(start, length as u64);
        bytes.map(Bytes::from).map_err(|error| ParquetError::External(Box::new(error)))
    }
}

/// A file from a position on.
#[derive(Debug)]
pub(super) struct Tail {
    source: Source,
    position: u64,
}

impl Read for Tail {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = self.source.0.length().saturating_sub(self.position).min(out.len() as u64);
        let bytes = self.source.0.read(self.position, length).map_err(std::io::Error::other)?;
        out[..bytes.len()].copy_from_slice(&bytes);
        self.position += length;
        Ok(bytes.len())
    }
}

/// The pages of a column in a group of rows.
pub(super) struct Pages {
    stored: SerializedPageReader<Source>,
    compression: Compression,
}

impl Pages {
    pub(super) fn new(source: &Source, column: &ColumnChunkMetaData, rows: usize) -> Result<Self> {
        let compression = column.compression();
        // The pages come as they are stored.
        let stored = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let stored = SerializedPageReader::new(Arc::new(source.clone()), &stored, rows, None)?;
        Ok(Self { stored, compression })
    }

    fn decompressed(&self, page: Page) -> Result<Page> {
        if self.compression == Compression::UNCOMPRESSED {
            return Ok(page);
        }
        let mut page = page;
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = decompressed(self.compression, buf)?.into();
            }
            Page::DataPageV2 {
                buf, is_compressed: true, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                // The levels before the values are never compressed.
                let levels =
                    usize::try_from(u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len));
                let (levels, values) = levels
                    .ok()
                    .and_then(|levels| buf.split_at_checked(levels))
                    .ok_or_else(|| ParquetError::General("the levels of a page are cut off".to_owned()))?;
                let values =
                    if values.is_empty() { Vec::new() } else { decompressed(self.compression, values)? };
                *buf = [levels, &values].concat().into();
            }
            Page::DataPageV2 { .. } => {}
        }
        Ok(page)
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.stored.get_next_page()?.map(|page| self.decompressed(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.stored.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.stored.skip_next_page()
    }
}

/// The bytes that were compressed, if they are not too many.
fn decompressed(compression: Compression, bytes: &[u8]) -> Result<Vec<u8>> {
    let failed = |error: &dyn std::fmt::Display| ParquetError::General(format!("a page is damaged: {error}"));
    match compression {
        Compression::SNAPPY => {
            let length = snap::raw::decompress_len(bytes).map_err(|error| failed(&error))?;
            if length > MOST {
                return Err(too_large());
            }
            snap::raw::Decoder::new().decompress_vec(bytes).map_err(|error| failed(&error))
        }
        Compression::GZIP(_) => limited(flate2::read::MultiGzDecoder::new(bytes)),
        Compression::ZSTD(_) => limited(zstd::Decoder::with_buffer(bytes).map_err(|error| failed(&error))?),
        Compression::LZ4_RAW => {
            let mut out = vec![0; bytes.len().saturating_mul(LZ4_RATIO).min(MOST)];
            let length = lz4_flex::block::decompress_into(bytes, &mut out).map_err(|error| failed(&error))?;
            out.truncate(length);
            Ok(out)
        }
        other => Err(ParquetError::NYI(format!("the compression {other} is not supported"))),
    }
}

fn limited(decoder: impl Read) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let read = decoder.take(MOST as u64 + 1).read_to_end(&mut out);
    read.map_err(|error| ParquetError::General(format!("a page is damaged: {error}")))?;
    if out.len() > MOST { Err(too_large()) } else { Ok(out) }
}

fn too_large() -> ParquetError {
    ParquetError::General(format!("a page has more than {MOST} bytes"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use parquet::basic::{GzipLevel, ZstdLevel};

    use super::*;

    #[test]
    fn pages_of_too_many_bytes_are_refused() {
        let zeros = vec![0; MOST + 1];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&zeros).unwrap();
        let zstandard = zstd::encode_all(zeros.as_slice(), 1).unwrap();
        let snappy = snap::raw::Encoder::new().compress_vec(&zeros).unwrap();
        for (compression, bytes) in [
            (Compression::GZIP(GzipLevel::default()), gzip.finish().unwrap()),
            (Compression::ZSTD(ZstdLevel::default()), zstandard),
            (Compression::SNAPPY, snappy),
        ] {
            let error = decompressed(compression, &bytes).unwrap_err();
            assert!(error.to_string().contains("more than"), "{error}");
        }
        let few = zstd::encode_all(&zeros[..100], 1).unwrap();
        assert_eq!(decompressed(Compression::ZSTD(ZstdLevel::default()), &few).unwrap(), zeros[..100]);
    }
}
