use super::*;

/// The bytes of a header and its content: the data type, the byte order, true for column-major order, and the shape.
type Golden = (&'static [u8], &'static str, Endian, bool, &'static [u64]);

fn written(header: &Header) -> Vec<u8> {
    crate::npy::header(&header.data_type, &header.endian, header.order, &header.shape).unwrap()
}

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
        let is_column_major = header.order == Order::ColumnMajor;
        assert_eq!((is_column_major, header.shape.as_slice()), (*column_major, *shape), "{name}");
        if header.data_type.storage().word() > 1 {
            assert_eq!(header.endian, ByteOrder::One(*endian), "{name}");
        }
        if bytes[6] == 1 {
            assert_eq!(written(&header), *bytes, "{name}");
        }
    }
}

#[test]
fn a_header_too_long_for_the_first_version_is_written_in_the_second() {
    let shape = vec![1; 100_000];
    let endian = ByteOrder::One(Endian::NATIVE);
    let header = Header { data_type: DataType::UInt8, endian, order: Order::RowMajor, shape };
    let bytes = written(&header);
    assert_eq!(bytes[6..8], [2, 0]);
    assert_eq!(bytes.len() % 64, 0);
    assert!(error(&bytes).to_string().contains("claims"));
}

#[test]
fn headers_of_old_pythons_are_read() {
    let text = "{\"shape\": (3L, 4L), 'fortran_order':True,'descr' : '>i2'}\n";
    let header = Header::read(&mut &file([2, 0], text)[..]).unwrap();
    assert_eq!((header.shape.as_slice(), header.order), ([3, 4].as_slice(), Order::ColumnMajor));
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
        "{'descr': '\\q<f4', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [[[[[[', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': __import__('os'), 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': [3]}",
        "{'descr': [('a', '<i4'], 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('a', '<i4', (2,)]), 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('a', '<i4', (-2,))], 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('a', None)], 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('a\\ud800', '<i4')], 'fortran_order': False, 'shape': (3,)}",
        "{'descr': ('<i4', (2,)), 'fortran_order': False, 'shape': (3,)}",
        "{'descr': 4, 'fortran_order': False, 'shape': (3,)}",
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
    for descr in [
        "'|O'",
        "'<g16'",
        "'<M8[eons]'",
        "[('a', '<f4'), ('b]', [('c', '|O', (2,))])]",
        "[]",
        "[('a',)]",
        "[('a', '<f4'), ('a', '<f4')]",
        "[('a', '<f4', 'b')]",
        "[('a', '<f4', (1099511627776, 1099511627776))]",
        "[('', '|V4')]",
        "['<f4']",
    ] {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,)}}");
        let error = error(&file([1, 0], &text));
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(descr), "{error}");
    }
}

#[test]
fn structures_of_too_many_levels_or_fields_take_no_time() {
    let nested = |depth: usize| {
        let descr = format!("{}'|u1'{}", "[('a', ".repeat(depth), ")]".repeat(depth));
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,)}}");
        Header::read(&mut &file([2, 0], &text)[..])
    };
    assert_eq!(nested(10).unwrap().size().unwrap(), 3);
    assert_eq!(nested(1000).unwrap_err().kind(), ErrorKind::Corrupt);
    let fields: Vec<String> = (0..8000).map(|n| format!("('{n}', '<f8')")).collect();
    let descr = format!("[{}]", fields.join(", "));
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,), }}");
    let header = Header::read(&mut &file([2, 0], &text)[..]).unwrap();
    assert_eq!(header.size().unwrap(), 3 * 8 * 8000);
    let bytes = written(&header);
    assert_eq!(Header::read(&mut &bytes[..]).unwrap(), header);
}

#[test]
fn names_are_in_the_encoding_of_the_version() {
    let text = "{'descr': [('n\u{e9}', '<i4')], 'fortran_order': False, 'shape': (1,), }";
    let name = |bytes: &[u8]| {
        let header = Header::read(&mut &bytes[..]).unwrap();
        header.data_type.fields().unwrap().fields()[0].name.clone()
    };
    assert_eq!(name(&file([3, 0], text)), "n\u{e9}");
    assert_eq!(name(&file([1, 0], text)), "n\u{c3}\u{a9}", "two characters of Latin-1");
    let mut not_text = file([3, 0], text);
    let at = not_text.iter().position(|&byte| byte == 0xc3).unwrap();
    not_text[at] = 0xff;
    assert_eq!(error(&not_text).kind(), ErrorKind::Corrupt);
}
