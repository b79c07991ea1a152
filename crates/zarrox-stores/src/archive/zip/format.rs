//! The records of zip archives, as defined by PKWARE's APPNOTE: conversion between bytes and fields, without I/O.

use std::borrow::Cow;

pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;
/// The flag of encrypted entries.
pub(super) const ENCRYPTED: u16 = 1;

const LOCAL: &[u8; 4] = b"PK\x03\x04";
pub(super) const CENTRAL: &[u8; 4] = b"PK\x01\x02";
pub(super) const END: &[u8; 4] = b"PK\x05\x06";
const END_64: &[u8; 4] = b"PK\x06\x06";
const LOCATOR: &[u8; 4] = b"PK\x06\x07";

/// The lengths of records without their variable-length parts.
pub(super) const LOCAL_LENGTH: u64 = 30;
const CENTRAL_LENGTH: usize = 46;
pub(super) const END_LENGTH: usize = 22;
pub(super) const LOCATOR_LENGTH: usize = 20;
pub(super) const END_64_LENGTH: usize = 56;

/// The values of 32-bit and 16-bit fields whose actual values are in separate 64-bit fields.
const SATURATED: u32 = u32::MAX;
const SATURATED_16: u16 = u16::MAX;
const ZIP64_EXTRA: u16 = 1;
const UNICODE_PATH_EXTRA: u16 = 0x7075;
const UTF8: u16 = 1 << 11;

/// The format version that an entry requires, times ten: 2.0 for directories and deflate, and 4.5 for zip64.
const VERSION: u16 = 20;
const VERSION_64: u16 = 45;
const MADE_ON_UNIX: u16 = 3 << 8;
/// A regular file that is writable by its owner and readable by all users.
const ATTRIBUTES: u32 = 0o100_644 << 16;
/// 1 January 1980, the earliest date that the format supports. All entries have this date, so that equal values result in equal
/// archives.
const DATE: u16 = 1 << 5 | 1;

/// The header fields that describe an entry's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
}

/// One record of the central directory.
pub(super) struct CentralRecord<'a> {
    pub(super) content: Content,
    /// The offset of the local header from the beginning of the archive.
    pub(super) offset: u64,
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) raw_name: &'a [u8],
    /// The length of the whole record.
    pub(super) length: usize,
}

/// Parses the record at the beginning of the bytes. `Err` says what is invalid.
pub(super) fn parse_central(bytes: &[u8]) -> Result<CentralRecord<'_>, &'static str> {
    let cut_off = "the directory is truncated";
    if !bytes.starts_with(CENTRAL) {
        return Err("the directory has unknown bytes between its records");
    }
    let fixed = bytes.get(..CENTRAL_LENGTH).ok_or(cut_off)?;
    let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(fixed, at)));
    let length = CENTRAL_LENGTH + name + extra + comment;
    let rest = bytes.get(CENTRAL_LENGTH..length).ok_or(cut_off)?;
    let (raw_name, extra) = (&rest[..name], &rest[name..name + extra]);
    let flags = u16_at(fixed, 8);
    let [mut compressed, mut size, mut offset] = [20, 24, 42].map(|at| u64::from(u32_at(fixed, at)));
    if let Some(wide) = extra_field(extra, ZIP64_EXTRA) {
        let mut wide = wide.chunks_exact(8);
        for field in [&mut size, &mut compressed, &mut offset] {
            if *field == u64::from(SATURATED) {
                *field = u64_at(wide.next().ok_or("a zip64 field is missing in the directory")?, 0);
            }
        }
    }
    let content = Content { flags, method: u16_at(fixed, 10), crc: u32_at(fixed, 16), compressed, size };
    let name = decode_name(raw_name, flags, extra);
    Ok(CentralRecord { content, offset, name, raw_name, length })
}

/// Appends a new record to a directory.
pub(super) fn write_central(out: &mut Vec<u8>, name: &str, content: &Content, offset: u64) {
    let values = [content.size, content.compressed, offset];
    let wide: Vec<u64> = values.into_iter().filter(|value| *value >= u64::from(SATURATED)).collect();
    out.extend(CENTRAL);
    out.extend((MADE_ON_UNIX | VERSION_64).to_le_bytes());
    write_common(out, name, content, !wide.is_empty());
    write_lengths(out, name, wide.len());
    out.extend([0; 6]); // No comment; on the first disk; binary.
    out.extend(ATTRIBUTES.to_le_bytes());
    out.extend(saturate(offset).to_le_bytes());
    out.extend(name.as_bytes());
    write_zip64(out, &wide);
}

/// Returns the header that precedes an entry's bytes.
pub(super) fn local_header(name: &str, content: &Content) -> Vec<u8> {
    // Both sizes must be present, or neither.
    let is_wide = content.size.max(content.compressed) >= u64::from(SATURATED);
    let wide: &[u64] = if is_wide { &[content.size, content.compressed] } else { &[] };
    let mut out = LOCAL.to_vec();
    write_common(&mut out, name, content, is_wide);
    if is_wide {
        let sizes = out.len() - 8;
        out[sizes..].fill(0xff);
    }
    write_lengths(&mut out, name, wide.len());
    out.extend(name.as_bytes());
    write_zip64(&mut out, wide);
    out
}

/// Writes the fields that central records and local headers have in common: from the required version to the size.
fn write_common(out: &mut Vec<u8>, name: &str, content: &Content, is_wide: bool) {
    let flags = if name.is_ascii() { 0 } else { UTF8 };
    out.extend(if is_wide { VERSION_64 } else { VERSION }.to_le_bytes());
    out.extend(flags.to_le_bytes());
    out.extend(content.method.to_le_bytes());
    out.extend([0; 2]); // Midnight.
    out.extend(DATE.to_le_bytes());
    out.extend(content.crc.to_le_bytes());
    out.extend(saturate(content.compressed).to_le_bytes());
    out.extend(saturate(content.size).to_le_bytes());
}

fn write_lengths(out: &mut Vec<u8>, name: &str, wide: usize) {
    let extra = if wide == 0 { 0 } else { 4 + 8 * wide };
    out.extend(saturate_16(name.len() as u64).to_le_bytes());
    out.extend(saturate_16(extra as u64).to_le_bytes());
}

fn write_zip64(out: &mut Vec<u8>, wide: &[u64]) {
    if wide.is_empty() {
        return;
    }
    out.extend(ZIP64_EXTRA.to_le_bytes());
    out.extend(saturate_16(8 * wide.len() as u64).to_le_bytes());
    out.extend(wide.iter().flat_map(|value| value.to_le_bytes()));
}

/// A local header.
pub(super) struct LocalHeader<'a> {
    pub(super) method: u16,
    pub(super) raw_name: &'a [u8],
    /// The length of the whole header.
    pub(super) length: u64,
}

/// Parses a local header. Its fixed-length part and its name must be present. Returns `None` if the bytes are not a local header.
pub(super) fn parse_local(bytes: &[u8]) -> Option<LocalHeader<'_>> {
    let fixed = bytes.get(..30).filter(|bytes| bytes.starts_with(LOCAL))?;
    let (name, extra) = (u16_at(fixed, 26), u16_at(fixed, 28));
    let raw_name = bytes.get(30..30 + usize::from(name))?;
    let length = LOCAL_LENGTH + u64::from(name) + u64::from(extra);
    Some(LocalHeader { method: u16_at(fixed, 8), raw_name, length })
}

/// The position of the central directory, according to the records at the end of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) records: u64,
    /// The directory's length in bytes.
    pub(super) length: u64,
    /// The offset of the directory from the beginning of the archive.
    pub(super) offset: u64,
    /// True if the archive is split over several disks.
    pub(super) split: bool,
}

/// Parses the end record, without its comment.
pub(super) fn parse_end(bytes: &[u8]) -> Option<(End, usize)> {
    let fixed = bytes.get(..END_LENGTH).filter(|bytes| bytes.starts_with(END))?;
    let disks = [u16_at(fixed, 4), u16_at(fixed, 6)];
    let end = End {
        records: u64::from(u16_at(fixed, 10)),
        length: u64::from(u32_at(fixed, 12)),
        offset: u64::from(u32_at(fixed, 16)),
        split: disks.iter().any(|disk| ![0, SATURATED_16].contains(disk)),
    };
    Some((end, usize::from(u16_at(fixed, 20))))
}

/// Returns the offset of the zip64 end record from the beginning of the archive, if there is one.
pub(super) fn parse_locator(bytes: &[u8]) -> Option<u64> {
    let fixed = bytes.get(..LOCATOR_LENGTH).filter(|bytes| bytes.starts_with(LOCATOR))?;
    Some(u64_at(fixed, 8))
}

/// Parses the zip64 end record.
pub(super) fn parse_end_64(bytes: &[u8]) -> Option<End> {
    let fixed = bytes.get(..END_64_LENGTH).filter(|bytes| bytes.starts_with(END_64))?;
    let split = u32_at(fixed, 16) != 0 || u32_at(fixed, 20) != 0;
    Some(End { records: u64_at(fixed, 32), length: u64_at(fixed, 40), offset: u64_at(fixed, 48), split })
}

/// Appends the records that follow a directory.
pub(super) fn write_end(out: &mut Vec<u8>, end: &End, comment: &[u8]) {
    let is_wide = end.records >= u64::from(SATURATED_16)
        || end.length >= u64::from(SATURATED)
        || end.offset >= u64::from(SATURATED);
    if is_wide {
        write_end_64(out, end);
    }
    out.extend(END);
    out.extend([0; 4]);
    let records = saturate_16(end.records).to_le_bytes();
    out.extend([records, records].as_flattened());
    out.extend(saturate(end.length).to_le_bytes());
    out.extend(saturate(end.offset).to_le_bytes());
    out.extend(saturate_16(comment.len() as u64).to_le_bytes());
    out.extend(comment);
}

fn write_end_64(out: &mut Vec<u8>, end: &End) {
    out.extend(END_64);
    out.extend((END_64_LENGTH as u64 - 12).to_le_bytes());
    out.extend((MADE_ON_UNIX | VERSION_64).to_le_bytes());
    out.extend(VERSION_64.to_le_bytes());
    out.extend([0; 8]);
    for value in [end.records, end.records, end.length, end.offset] {
        out.extend(value.to_le_bytes());
    }
    out.extend(LOCATOR);
    out.extend([0; 4]);
    out.extend((end.offset + end.length).to_le_bytes());
    out.extend(1_u32.to_le_bytes());
}

/// Returns the name of a compression method for messages.
pub(super) fn method_name(method: u16) -> &'static str {
    match method {
        1 => "shrink",
        6 => "implode",
        9 => "deflate64",
        12 => "bzip2",
        14 => "lzma",
        93 => "zstd",
        95 => "xz",
        98 => "ppmd",
        99 => "AES encryption",
        _ => "unknown",
    }
}

/// Decodes a name. According to the specification, a name without the UTF-8 flag is in code page 437. But many programs write
/// UTF-8 without the flag, so valid UTF-8 is always decoded as UTF-8.
fn decode_name<'a>(raw: &'a [u8], flags: u16, extra: &'a [u8]) -> Option<Cow<'a, str>> {
    let plain = str::from_utf8(raw).ok();
    if plain.is_some_and(str::is_ascii) || flags & UTF8 != 0 {
        return plain.map(Cow::Borrowed);
    }
    if let Some(field) = extra_field(extra, UNICODE_PATH_EXTRA).filter(|field| field.len() > 5) {
        // The field is out of date if a program that does not know the field has changed the name.
        if field[0] == 1 && u32_at(field, 1) == crc32fast::hash(raw) {
            return str::from_utf8(&field[5..]).ok().map(Cow::Borrowed);
        }
    }
    plain.map(Cow::Borrowed).or_else(|| Some(raw.iter().map(|&byte| code_page_437(byte)).collect()))
}

fn code_page_437(byte: u8) -> char {
    const UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
    let upper = byte.checked_sub(128).and_then(|index| UPPER.chars().nth(index.into()));
    upper.unwrap_or(char::from(byte))
}

/// Returns the content of the extra field with this identifier.
fn extra_field(mut extra: &[u8], wanted: u16) -> Option<&[u8]> {
    while extra.len() >= 4 {
        let end = 4 + usize::from(u16_at(extra, 2));
        let content = extra.get(4..end)?;
        if u16_at(extra, 0) == wanted {
            return Some(content);
        }
        extra = &extra[end..];
    }
    None
}

fn saturate(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(SATURATED)
}

fn saturate_16(value: u64) -> u16 {
    u16::try_from(value).unwrap_or(SATURATED_16)
}

/// Reads a field of a record whose length was checked. Returns 0 if the field is out of bounds.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: Content = Content { flags: 0, method: STORED, crc: 7, compressed: 5, size: 5 };

    #[test]
    fn central_records_come_back() {
        let wide = u64::from(u32::MAX);
        let sizes = [0, 5, wide - 1, wide, wide + 1, 1 << 40];
        for (size, offset) in sizes.iter().flat_map(|size| sizes.map(|offset| (*size, offset))) {
            let content = Content { size, compressed: size / 2, ..CONTENT };
            let mut bytes = Vec::new();
            write_central(&mut bytes, "a/ñ", &content, offset);
            bytes.extend(b"rest");
            let record = parse_central(&bytes).unwrap_or_else(|error| panic!("{error}: {size} {offset}"));
            assert_eq!((record.content.size, record.content.compressed), (size, size / 2));
            assert_eq!((record.offset, record.name.as_deref()), (offset, Some("a/ñ")));
            assert_eq!(record.length, bytes.len() - 4);
        }
    }

    #[test]
    fn local_headers_come_back() {
        for size in [0, 5, u64::from(u32::MAX), 1 << 40] {
            let header = local_header("a/b", &Content { size, ..CONTENT });
            let parsed = parse_local(&header).unwrap();
            assert_eq!((parsed.length, parsed.raw_name), (header.len() as u64, &b"a/b"[..]));
        }
        assert!(parse_local(b"PK\x03\x04").is_none());
        assert!(parse_local(&[0; 100]).is_none());
    }

    #[test]
    fn ends_come_back() {
        for records in [0, 65_534, 65_535, 100_000] {
            for offset in [0, u64::from(u32::MAX), 1 << 40] {
                let end = End { records, length: 46 * records, offset, split: false };
                let mut bytes = Vec::new();
                write_end(&mut bytes, &end, b"note");
                let last = bytes.len() - END_LENGTH - 4;
                let (narrow, comment) = parse_end(&bytes[last..]).unwrap();
                assert_eq!(comment, 4);
                if last == 0 {
                    assert_eq!(narrow, end);
                    continue;
                }
                assert_eq!(parse_locator(&bytes[END_64_LENGTH..]), Some(offset + end.length));
                assert_eq!(parse_end_64(&bytes), Some(end));
            }
        }
    }

    #[test]
    fn records_that_are_cut_off() {
        let mut bytes = Vec::new();
        write_central(&mut bytes, "name", &Content { size: 1 << 40, ..CONTENT }, 1 << 40);
        for length in 0..bytes.len() {
            assert!(parse_central(&bytes[..length]).is_err(), "{length}");
        }
        // The extra field is too short, so that its fields are missing.
        let extra = bytes.len() - 18;
        bytes[extra] = 8;
        assert_eq!(parse_central(&bytes).map(drop).unwrap_err(), "a zip64 field is missing in the directory");
    }

    #[test]
    fn names_of_old_and_careless_programs() {
        assert_eq!(decode_name(b"caf\x82", 0, &[]).unwrap(), "café");
        assert_eq!(decode_name("café".as_bytes(), 0, &[]).unwrap(), "café");
        assert_eq!(decode_name(b"caf\x82", UTF8, &[]), None);
        assert_eq!(code_page_437(0xff), '\u{a0}');
        assert_eq!(code_page_437(0x80), 'Ç');
        let mut extra = vec![0x75, 0x70, 9, 0, 1];
        extra.extend(crc32fast::hash(b"\xff?").to_le_bytes());
        extra.extend("дa".as_bytes().iter().take(4));
        extra[2] = u8::try_from(extra.len() - 4).unwrap();
        assert_eq!(decode_name(b"\xff?", 0, &extra).unwrap(), "дa");
        assert_eq!(decode_name(b"\xfe?", 0, &extra).unwrap(), "■?");
    }
}
