//! Pages of Parquet columns, decompressed with limits. This is necessary because the decoders in the crate `parquet`
//! trust the size stated in a page.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use zarrox::internals::panics::caught;

use crate::input::Input;

/// The maximum size of a page in bytes.
const MOST: usize = 256 << 20;

/// The maximum expansion ratio of LZ4.
const LZ4_RATIO: usize = 255;

/// The first bytes of an LZ4 frame.
const LZ4_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// A file, in the form in which the crate `parquet` reads it.
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

/// A reader that starts at a position in a file.
#[derive(Debug)]
pub(super) struct Tail {
    source: Source,
    position: u64,
}

impl Read for Tail {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = self.source.0.read_into(out, self.position).map_err(std::io::Error::other)?;
        // A damaged page header can claim a list of billions of values. The crate `parquet` skips values beyond the end of the
        // file without an error, which would take minutes.
        if length == 0 && !out.is_empty() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.position += length as u64;
        Ok(length)
    }
}

/// The pages of a column in a row group.
pub(super) struct Pages {
    stored: SerializedPageReader<Source>,
    compression: Compression,
    /// True if the values are byte arrays of variable length.
    is_bytes: bool,
    has_dictionary: bool,
}

impl Pages {
    pub(super) fn new(source: &Source, column: &ColumnChunkMetaData, rows: usize) -> Result<Self> {
        let compression = column.compression();
        // The pages are returned as stored. Some writers store a dictionary offset of 0 for a column without a
        // dictionary.
        let dictionary = column.dictionary_page_offset().filter(|&offset| offset != 0);
        let stored = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
        let stored = stored.set_dictionary_page_offset(dictionary).build()?;
        check_place(source, &stored)?;
        let stored = SerializedPageReader::new(Arc::new(source.clone()), &stored, rows, None)?;
        let is_bytes = column.column_type() == Physical::BYTE_ARRAY;
        Ok(Self { stored, compression, is_bytes, has_dictionary: false })
    }

    /// Returns a page that cannot make the crate `parquet` panic: a dictionary page must precede its indices, and the
    /// length of a value is never truncated.
    fn checked(&mut self, page: Page) -> Result<Page> {
        let mut page = page;
        let encoding = page.encoding();
        match &mut page {
            Page::DictionaryPage { buf, .. } => {
                self.has_dictionary = true;
                self.end(buf);
            }
            Page::DataPage { .. } | Page::DataPageV2 { .. }
                if matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY) =>
            {
                if !self.has_dictionary {
                    return Err(ParquetError::General("a page precedes its dictionary".to_owned()));
                }
            }
            Page::DataPage { buf, .. } | Page::DataPageV2 { buf, .. } => {
                if encoding == Encoding::PLAIN {
                    self.end(buf);
                }
            }
        }
        Ok(page)
    }

    /// Appends an invalid length to variable-length byte arrays, so that the length of a truncated value can be read.
    fn end(&self, values: &mut Bytes) {
        if self.is_bytes {
            *values = [&**values, &[0xff; 4]].concat().into();
        }
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
                    .ok_or_else(|| ParquetError::General("the levels of a page are truncated".to_owned()))?;
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
        let Some(page) = self.stored.get_next_page()? else { return Ok(None) };
        let page = self.decompressed(page)?;
        self.checked(page).map(Some)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.stored.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.stored.skip_next_page()
    }
}

/// Calls the crate `parquet`, and converts panics to errors. The crate panics on some damaged files.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let damaged = || ParquetError::General("the file is damaged".to_owned());
    caught(work).unwrap_or_else(|| Err(damaged()))
}

/// The maximum size in bytes of the header of a dictionary page, which old writers did not include in the column size.
const DICTIONARY_HEADER: u64 = 100;

/// Returns true for writers that did not include the header of the dictionary page in the column size: parquet-mr before 1.2.9.
pub(super) fn forgets_headers(created_by: Option<&str>) -> bool {
    is_before(created_by, "parquet-mr", [1, 2, 9])
}

/// Returns true for writers whose statistics do not count nulls in dictionary-encoded columns: Arrow before 5.
pub(super) fn miscounts_nulls(created_by: Option<&str>) -> bool {
    is_before(created_by, "parquet-cpp-arrow", [5, 0, 0])
}

/// Returns true if a file was created by a version of a writer that precedes the given version.
fn is_before(created_by: Option<&str>, writer: &str, first: [u32; 3]) -> bool {
    let Some(rest) = created_by.and_then(|text| text.strip_prefix(writer)) else { return false };
    let version = rest.trim_start().strip_prefix("version").unwrap_or(rest).trim_start();
    let number = |part: &str| {
        part.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().parse().unwrap_or(0)
    };
    version.split('.').map(number).take(3).collect::<Vec<u32>>() < first.to_vec()
}

/// Returns column metadata whose size includes the header of the dictionary page, for writers that did not include it.
pub(super) fn with_header(source: &Source, column: &ColumnChunkMetaData) -> Result<ColumnChunkMetaData> {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let end = u64::try_from(start.saturating_add(column.compressed_size())).unwrap_or(u64::MAX);
    let more = source.len().saturating_sub(end).min(DICTIONARY_HEADER);
    let size = column.compressed_size().saturating_add(i64::try_from(more).unwrap_or(0));
    column.clone().into_builder().set_total_compressed_size(size).build()
}

/// Returns an error for a column outside the file. The crate `parquet` would panic if a column began before the file.
fn check_place(source: &Source, column: &ColumnChunkMetaData) -> Result<()> {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let place = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
    let end = place.and_then(|(start, length)| start.checked_add(length));
    if end.is_none_or(|end| end > source.len()) {
        return Err(ParquetError::General("a column lies outside the file".to_owned()));
    }
    Ok(())
}

/// Decompresses bytes, up to the size limit.
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
        Compression::LZ4_RAW => lz4_block(bytes),
        // Programs interpret this compression differently: as Hadoop frames, as LZ4 frames, or as a single block.
        Compression::LZ4 if bytes.starts_with(&LZ4_MAGIC) => {
            limited(lz4_flex::frame::FrameDecoder::new(bytes))
        }
        Compression::LZ4 => hadoop_blocks(bytes).map_or_else(|| lz4_block(bytes), Ok),
        other => Err(not_read(other)),
    }
}

/// Returns an error for an unsupported compression, before any page is read.
pub(super) fn check_compression(compression: Compression) -> Result<()> {
    match compression {
        Compression::BROTLI(_) | Compression::LZO => Err(not_read(compression)),
        _ => Ok(()),
    }
}

fn not_read(compression: Compression) -> ParquetError {
    ParquetError::NYI(format!("the compression {compression} is not supported"))
}

fn lz4_block(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = vec![0; bytes.len().saturating_mul(LZ4_RATIO).min(MOST)];
    let length = lz4_flex::block::decompress_into(bytes, &mut out)
        .map_err(|error| ParquetError::General(format!("a page is damaged: {error}")))?;
    out.truncate(length);
    Ok(out)
}

/// Decodes Hadoop blocks. Each block is preceded by its decoded and encoded lengths, as big-endian integers. Returns
/// `None` if the bytes do not have this format.
fn hadoop_blocks(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut bytes) = (Vec::new(), bytes);
    let length = |bytes: &[u8; 4]| usize::try_from(u32::from_be_bytes(*bytes)).ok();
    while let Some((decoded, rest)) = bytes.split_first_chunk::<4>() {
        let (encoded, rest) = rest.split_first_chunk::<4>()?;
        let (decoded, encoded) = (length(decoded)?, length(encoded)?);
        let (block, rest) = rest.split_at_checked(encoded)?;
        let start = out.len();
        let end = start.checked_add(decoded).filter(|&end| end <= MOST)?;
        if decoded > encoded.saturating_mul(LZ4_RATIO) {
            return None;
        }
        out.resize(end, 0);
        if lz4_flex::block::decompress_into(block, out.get_mut(start..)?).ok()? != decoded {
            return None;
        }
        bytes = rest;
    }
    bytes.is_empty().then_some(out)
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
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;

    #[test]
    fn null_counts_of_old_writers_are_not_trusted() {
        let found = [
            "parquet-cpp-arrow version 4.0.1",
            "parquet-cpp-arrow version 5.0.0",
            "parquet-mr version 1.2.8",
        ];
        assert_eq!(found.map(|writer| miscounts_nulls(Some(writer))), [true, false, false]);
        assert_eq!(found.map(|writer| forgets_headers(Some(writer))), [false, false, true]);
    }

    #[test]
    fn columns_outside_of_the_file_are_refused() {
        let schema = parse_message_type("message m { required double y; }").unwrap();
        let column = SchemaDescriptor::new(Arc::new(schema)).column(0);
        let place = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(place.path(), [0; 20]).unwrap();
        let source = Source(Arc::new(Input::open(place.path()).unwrap()));
        let pages = |start: i64, dictionary: Option<i64>, size: i64| {
            let column = ColumnChunkMetaData::builder(Arc::clone(&column)).set_data_page_offset(start);
            let column = column.set_dictionary_page_offset(dictionary).set_total_compressed_size(size);
            Pages::new(&source, &column.build().unwrap(), 1).map(drop)
        };
        assert!(pages(4, None, 16).is_ok() && pages(-1, Some(4), 16).is_ok());
        assert!(pages(4, Some(0), 16).is_ok());
        assert!(pages(5, Some(0), 16).unwrap_err().to_string().contains("outside"));
        for (start, dictionary, size) in
            [(-1, None, 4), (4, Some(-5), 4), (4, None, -1), (4, None, 17), (i64::MAX, None, i64::MAX)]
        {
            let error = pages(start, dictionary, size).unwrap_err();
            assert!(error.to_string().contains("lies outside"), "{error}");
        }
    }

    #[test]
    fn old_writers_forgot_the_headers_of_dictionaries() {
        let forgets = |text: &str| forgets_headers(Some(text));
        assert!(
            forgets("parquet-mr")
                && forgets("parquet-mr version 1.2.8 (build 1)")
                && forgets("parquet-mr version 1.0")
        );
        assert!(!forgets("parquet-mr version 1.2.9") && !forgets("parquet-mr version 1.12.0-2018 (build 1)"));
        assert!(!forgets("parquet-cpp version 1.0.0") && !forgets_headers(None));
    }

    #[test]
    fn old_lz4_is_decoded_in_each_form() {
        let text = b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabcdefabcdefabcdef".repeat(20);
        let block = |text: &[u8]| {
            let encoded = lz4_flex::block::compress(text);
            let lengths =
                [text.len(), encoded.len()].map(|n| u32::try_from(n).unwrap().to_be_bytes()).concat();
            [lengths, encoded].concat()
        };
        let hadoop = [block(&text[..100]), block(&text[100..])].concat();
        let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
        frame.write_all(&text).unwrap();
        for encoded in [hadoop.clone(), lz4_flex::block::compress(&text), frame.finish().unwrap()] {
            assert_eq!(decompressed(Compression::LZ4, &encoded).unwrap(), text);
        }
        for damaged in [&hadoop[..hadoop.len() - 1], &hadoop[..20], &[0, 0, 0, 9, 0, 0, 0, 1, 5]] {
            assert!(
                decompressed(Compression::LZ4, damaged)
                    .unwrap_err()
                    .to_string()
                    .contains("a page is damaged")
            );
        }
    }

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
