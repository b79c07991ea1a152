use super::*;

/// The bytes of a header, and what it says: data type, byte order, whether column-major, shape.
type Golden = (&'static [u8], &'static str, Endian, bool, &'static [u64]);

const GOLDEN: &[Golden] = &include!("golden.rs");

fn file(version: [u8; 2], header: &str) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(version);
    let length = u32::try_from(header.len()).unwrap().to_le_bytes();
    bytes.extend(&length[..if version[0] == 1 { 2 } else { 4 }]);
    bytes.extend(header.as_bytes());
    bytes
}

fn error(bytes: &[u8]) -> Error {
    Header::read(&mut &bytes[..]).unwrap_err()
}

#[test]
fn headers_of_numpy_are_read_and_written_the_same() {
    for (bytes, name, endian, column_major, shape) in GOLDEN {
        let mut rest = *bytes;
        let header = Header::read(&mut rest).unwrap();
        assert!(rest.is_empty(), "{name}");
        assert_eq!(header.data_type.to_string(), *name);
        assert_eq!((header.column_major, header.shape.as_slice()), (*column_major, *shape), "{name}");
        if header.data_type.storage().word() > 1 {
            assert_eq!(header.endian, *endian, "{name}");
        }
        if bytes[6] == 1 {
            assert_eq!(header.to_bytes().unwrap(), *bytes, "{name}");
        }
    }
}

#[test]
fn a_header_too_long_for_the_first_version_is_written_in_the_second() {
    let shape = vec![1; 30_000];
    let header = Header { data_type: DataType::UInt8, endian: Endian::NATIVE, column_major: false, shape };
    let bytes = header.to_bytes().unwrap();
    assert_eq!(bytes[6..8], [2, 0]);
    assert_eq!(bytes.len() % 64, 0);
    assert!(error(&bytes).to_string().contains("claims"));
}

#[test]
fn headers_of_old_pythons_are_read() {
    let text = "{\"shape\": (3L, 4L), 'fortran_order':True,'descr' : '>i2'}\n";
    let header = Header::read(&mut &file([2, 0], text)[..]).unwrap();
    assert_eq!((header.shape.as_slice(), header.column_major), ([3, 4].as_slice(), true));
    assert_eq!(header.size().unwrap(), 24);
}

#[test]
fn malformed_headers_are_errors() {
    let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n";
    assert!(Header::read(&mut &file([1, 0], good)[..]).is_ok());
    let whole = file([1, 0], good);
    for length in 0..whole.len() {
        assert_eq!(error(&whole[..length]).kind(), ErrorKind::Corrupt, "{length} bytes");
    }
    for text in [
        "",
        "{",
        "{}",
        "[]",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': 1, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3.5,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': True}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} + {}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [[[[[[', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': __import__('os'), 'fortran_order': False, 'shape': (3,)}",
    ] {
        assert_eq!(error(&file([1, 0], text)).kind(), ErrorKind::Corrupt, "{text}");
    }
    assert_eq!(error(&file([4, 0], good)).kind(), ErrorKind::Unsupported);
    let mut long = file([3, 0], good);
    long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(error(&long).to_string().contains("4294967295"));
}

#[test]
fn sizes_beyond_all_measure_are_errors() {
    let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 4)}";
    assert!(Header::read(&mut &file([1, 0], text)[..]).unwrap().size().is_err());
    let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 4, 0)}";
    assert_eq!(Header::read(&mut &file([1, 0], text)[..]).unwrap().size().unwrap(), 0);
}

#[test]
fn data_types_that_zarr_does_not_have_are_named() {
    for descr in ["'|O'", "'<g16'", "'<M8[eons]'", "[('a', '<f4'), ('b]', [('c', '|u1', (2,))])]"] {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,)}}");
        let error = error(&file([1, 0], &text));
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let shown = descr.escape_debug().to_string();
        assert!(error.to_string().contains(&shown), "{error}");
    }
}
