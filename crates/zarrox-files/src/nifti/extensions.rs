//! Header extensions: strings and bytes that other programs store between the header and the elements.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::Result;
use zarrox::data_type::Endian;
use zarrox::json::{Json, Map};

use super::layout::Header;
use crate::input::{Input, corrupt, unsupported};
use crate::store::LeftOut;

/// The maximum total size in bytes of extensions that become an attribute.
const MOST: u64 = 1 << 20;

/// The size in bytes of an extension header, and the alignment of extensions.
const HEAD: u64 = 8;
const UNIT: usize = 16;

/// The code of extensions that contain CIFTI-2 XML.
pub(super) const CIFTI: i64 = 32;

/// Returns the extensions of a file, as the value of the attribute, and the skipped extensions. `end` is the offset of
/// the elements, or the end of the file.
pub(super) fn read(input: &Input, header: &Header, end: u64) -> Result<(Vec<Json>, Vec<LeftOut>)> {
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    let mut at = header.version.size() as u64;
    let end = end.min(input.length());
    if at + 4 > end || input.read(at, 4)?.first() == Some(&0) {
        return Ok((found, left_out));
    }
    at += 4;
    let mut total = 0_u64;
    while at + HEAD <= end {
        let head = input.read(at, HEAD)?;
        let number = |at: usize| {
            let bytes = head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default();
            match header.endian {
                Endian::Little => i32::from_le_bytes(bytes),
                Endian::Big => i32::from_be_bytes(bytes),
            }
        };
        let (size, code) = (number(0), number(4));
        if size == 0 {
            break;
        }
        let path = format!("/extension {} (code {code})", found.len() + left_out.len() + 1);
        let size = match u64::try_from(size) {
            Ok(size) if size >= HEAD && size <= end - at => size,
            _ => {
                let error = corrupt(format!("its size of {size} bytes extends beyond byte {end}"));
                left_out.push(LeftOut::new(path, &error));
                break;
            }
        };
        total += size;
        if total > MOST {
            let reason =
                format!("it has {size} bytes; the attribute holds at most {MOST} bytes of extensions");
            left_out.push(LeftOut::unsupported(path, reason));
            total -= size;
        } else {
            found.push(described(code, &input.read(at + HEAD, size - HEAD)?));
        }
        at += size;
    }
    Ok((found, left_out))
}

/// Returns an extension as JSON: its code, and its content as a string or, for bytes, in base64.
fn described(code: i32, bytes: &[u8]) -> Json {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let mut extension = Map::default();
    extension.insert("code".to_owned(), i64::from(code).into());
    match std::str::from_utf8(&bytes[..end]) {
        Ok(text) if !text.contains('\0') => extension.insert("text".to_owned(), text.into()),
        _ => extension.insert("base64".to_owned(), STANDARD.encode(bytes).into()),
    };
    Json::Object(extension)
}

/// Encodes extensions that [`read`] returned, preceded by the four-byte extension flag, in native byte order.
pub(super) fn written(extensions: &[Json]) -> Result<Vec<u8>> {
    let mut bytes = vec![u8::from(!extensions.is_empty()), 0, 0, 0];
    for extension in extensions {
        let wrong = || {
            unsupported(format!(
                "the attribute nifti has the extension {extension}, which has no code and text"
            ))
        };
        let code = extension.get("code").and_then(Json::as_i64).and_then(|code| i32::try_from(code).ok());
        let text = extension.get("text").and_then(Json::as_str).map(|text| text.as_bytes().to_vec());
        let base64 = || STANDARD.decode(extension.get("base64")?.as_str()?).ok();
        let (code, content) = code.zip(text.or_else(base64)).ok_or_else(wrong)?;
        let size = (content.len() + 8).next_multiple_of(UNIT);
        bytes.extend(i32::try_from(size).map_err(|_| wrong())?.to_ne_bytes());
        bytes.extend(code.to_ne_bytes());
        bytes.extend(&content);
        bytes.resize(bytes.len() + size - 8 - content.len(), 0);
    }
    Ok(bytes)
}
