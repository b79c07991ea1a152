//! Bad arguments are errors, with their kind if it can be known, and never crash.

use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

use tempfile::TempDir;
use zarrox_c::*;

/// Returns the message of the last error.
fn message() -> String {
    // SAFETY: the function returns text.
    unsafe { CStr::from_ptr(zarrox_error_message()) }.to_str().unwrap().to_owned()
}

fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// A group with the array `a` of int32 and the strings `s`, both of shape (4, 6).
struct Nodes {
    directory: TempDir,
    group: zarrox_node,
    array: zarrox_node,
    strings: zarrox_node,
}

impl Nodes {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (mut group, mut array, mut strings) = (0, 0, 0);
        let place = text(directory.path().join("a.zarr").to_str().unwrap());
        let settings = |data_type| {
            text(&format!(r#"{{"shape": [4, 6], "chunks": [2, 3], "data_type": "{data_type}"}}"#))
        };
        // SAFETY: all pointers are of texts and numbers.
        unsafe {
            assert_eq!(zarrox_create_group(place.as_ptr(), null(), &raw mut group), 0, "{}", message());
            let (name, json) = (text("a"), settings("int32"));
            assert_eq!(
                zarrox_create_array_in(group, name.as_ptr(), json.as_ptr(), &raw mut array),
                0,
                "{}",
                message()
            );
            let (name, json) = (text("s"), settings("string"));
            assert_eq!(
                zarrox_create_array_in(group, name.as_ptr(), json.as_ptr(), &raw mut strings),
                0,
                "{}",
                message()
            );
        }
        Self { directory, group, array, strings }
    }
}

#[track_caller]
fn assert_status(status: i32, expected: Status, part: &str) {
    assert_eq!(status, expected as i32, "{}", message());
    assert!(message().contains(part), "{}", message());
}

#[test]
fn null_pointers_are_errors() {
    let nodes = Nodes::new();
    let (mut node, mut json, mut size, mut number) = (0, null_mut(), 0, 0);
    let name = text("x");
    let invalid = |status: i32, name: &str| {
        assert_status(status, Status::InvalidArgument, &format!("'{name}' must not be NULL"));
    };
    // SAFETY: pointers are null, or of texts and numbers.
    unsafe {
        invalid(zarrox_open(null(), null(), &raw mut node), "place");
        invalid(zarrox_open(name.as_ptr(), null(), null_mut()), "node");
        invalid(zarrox_open_in(nodes.group, null(), &raw mut node), "path");
        invalid(zarrox_create_group(null(), null(), &raw mut node), "place");
        invalid(zarrox_create_group_in(nodes.group, null(), &raw mut node), "path");
        invalid(zarrox_create_array(null(), null(), null(), &raw mut node), "place");
        invalid(zarrox_delete(null(), null()), "place");
        invalid(zarrox_children(nodes.group, null_mut(), &raw mut size), "children");
        invalid(zarrox_node_kind(nodes.array, null_mut()), "kind");
        invalid(zarrox_metadata(nodes.array, null_mut()), "json");
        invalid(zarrox_attributes(nodes.array, null_mut()), "json");
        invalid(zarrox_set_attributes(nodes.array, null()), "json");
        invalid(zarrox_ndim(nodes.array, null_mut()), "ndim");
        invalid(zarrox_shape(nodes.array, 2, null_mut()), "shape");
        invalid(zarrox_chunk_shape(nodes.array, 2, null_mut()), "shape");
        invalid(zarrox_resize(nodes.array, 2, null()), "shape");
        invalid(zarrox_data_type_name(nodes.array, null_mut()), "name");
        invalid(zarrox_read(nodes.array, null(), null()), "memory");
        invalid(zarrox_write(nodes.array, null(), null()), "memory");
        let memory =
            zarrox_memory { r#type: ElementType::Int32 as i32, data: null_mut(), size: 96, strides: null() };
        invalid(zarrox_read(nodes.array, null(), &raw const memory), "data");
        invalid(zarrox_write_strings(nodes.strings, null(), null(), 24), "strings");
        let strings = [zarrox_string { data: null(), length: 1 }; 24];
        invalid(zarrox_write_strings(nodes.strings, null(), strings.as_ptr(), 24), "data");
        invalid(zarrox_read_strings(nodes.strings, null(), null_mut(), &raw mut size), "strings");
        invalid(zarrox_read_dlpack(nodes.array, null(), null_mut()), "tensor");
        invalid(zarrox_read_arrow(nodes.array, null(), null_mut(), null_mut()), "array");
        // Both pointers to a data type may be null, and nothing needs to be freed.
        assert_eq!(zarrox_data_type(nodes.array, null_mut(), null_mut()), 0);
        assert_eq!(zarrox_data_type(nodes.array, &raw mut number, null_mut()), 0);
        zarrox_free(null_mut());
        assert_eq!(zarrox_attributes(nodes.array, &raw mut json), 0);
        zarrox_free(json.cast());
    }
}

#[test]
fn closed_nodes_and_other_numbers_are_errors() {
    let nodes = Nodes::new();
    assert_eq!(zarrox_close(nodes.array), 0);
    let memory = zarrox_memory { r#type: 4, data: null_mut(), size: 0, strides: null() };
    for node in [nodes.array, 0, -1, i64::MAX, i64::MIN] {
        assert_status(zarrox_close(node), Status::InvalidArgument, "is not an open node");
        let mut size = 0;
        // SAFETY: all pointers are of texts and numbers.
        unsafe {
            assert_status(zarrox_ndim(node, &raw mut size), Status::InvalidArgument, "is not an open node");
            assert_status(
                zarrox_read(node, null(), &raw const memory),
                Status::InvalidArgument,
                "is not an open node",
            );
            assert_status(
                zarrox_set_cancel(node, None, null_mut()),
                Status::InvalidArgument,
                "is not an open node",
            );
        }
    }
    let mut size = 0;
    // SAFETY: the pointer points to a number.
    assert_status(
        unsafe { zarrox_ndim(nodes.group, &raw mut size) },
        Status::InvalidArgument,
        "is not an array",
    );
    assert_eq!(size, 0);
}

#[test]
fn regions_must_fit_the_array() {
    let nodes = Nodes::new();
    let mut values = [0_i32; 24];
    let memory = zarrox_memory {
        r#type: ElementType::Int32 as i32,
        data: values.as_mut_ptr().cast(),
        size: size_of_val(&values),
        strides: null(),
    };
    let read = |ndim, start: &[u64], count: &[u64], stride: &[i64]| {
        let pointer = |list: &[u64]| if list.is_empty() { null() } else { list.as_ptr() };
        let stride = if stride.is_empty() { null() } else { stride.as_ptr() };
        let region = zarrox_region { ndim, start: pointer(start), count: pointer(count), stride };
        // SAFETY: the lists have the length of the region, or the region has another number of dimensions, which is an error.
        unsafe { zarrox_read(nodes.array, &raw const region, &raw const memory) }
    };
    assert_eq!(read(2, &[1, 1], &[2, 2], &[2, -1]), 0, "{}", message());
    assert_status(read(3, &[], &[], &[]), Status::InvalidSelection, "3 dimensions");
    assert_status(read(0, &[], &[], &[]), Status::InvalidSelection, "0 dimensions");
    assert_status(read(usize::MAX, &[], &[], &[]), Status::InvalidSelection, "dimensions");
    assert_status(read(2, &[0, 5], &[1, 2], &[]), Status::InvalidSelection, "dimension 1");
    assert_status(read(2, &[], &[], &[0, 1]), Status::InvalidSelection, "the stride is 0");
    assert_status(
        read(2, &[u64::MAX; 2], &[u64::MAX; 2], &[i64::MIN; 2]),
        Status::InvalidSelection,
        "dimension 0",
    );
    assert_status(read(2, &[], &[u64::MAX; 2], &[]), Status::InvalidSelection, "exceed");
}

#[test]
fn memory_must_have_the_type_and_the_size_of_the_region() {
    let nodes = Nodes::new();
    let mut values = [0_u8; 97];
    let node = nodes.array;
    let mut both = |r#type: i32, offset: usize, size: usize, strides: &[isize]| {
        let strides = if strides.is_empty() { null() } else { strides.as_ptr() };
        let memory = zarrox_memory { r#type, data: values[offset..].as_mut_ptr().cast(), size, strides };
        // SAFETY: the memory has this size, and there are two strides or none.
        unsafe {
            (zarrox_read(node, null(), &raw const memory), zarrox_write(node, null(), &raw const memory))
        }
    };
    let int32 = ElementType::Int32 as i32;
    assert_eq!(both(int32, 0, 96, &[]), (0, 0), "{}", message());
    // The memory is not aligned.
    assert_eq!(both(int32, 1, 96, &[]), (0, 0), "{}", message());
    for other in
        [0, -1, i32::MAX, ElementType::Uint32 as i32, ElementType::Float64 as i32, ElementType::String as i32]
    {
        assert_eq!(
            both(other, 0, 96, &[]),
            (Status::DataTypeMismatch as i32, Status::DataTypeMismatch as i32)
        );
    }
    let invalid = Status::InvalidArgument as i32;
    for (size, strides) in [
        (95, [24, 4]),
        (0, [24, 4]),
        (96, [28, 4]),
        (96, [4, 20]),
        (96, [isize::MAX, isize::MAX]),
        (usize::MAX, [isize::MAX, isize::MAX]),
        (96, [isize::MIN, isize::MIN]),
    ] {
        assert_eq!(both(int32, 0, size, &strides), (invalid, invalid), "{size} {strides:?}");
    }
    // Values may share memory, but results must not.
    assert_eq!(both(int32, 0, 96, &[0, 0]), (invalid, 0), "{}", message());
    assert_eq!(both(int32, 0, 96, &[8, 4]), (invalid, 0), "{}", message());
    // SAFETY: the memory is null, and strings are rejected before memory is used.
    let status = unsafe {
        let memory =
            zarrox_memory { r#type: ElementType::String as i32, data: null_mut(), size: 0, strides: null() };
        zarrox_read(nodes.strings, null(), &raw const memory)
    };
    assert_status(status, Status::DataTypeMismatch, "zarrox_read_strings");
}

#[test]
fn lengths_must_be_those_of_the_array() {
    let nodes = Nodes::new();
    let mut shape = [0_u64; 2];
    // SAFETY: nothing is written for other numbers of dimensions, and no other string is read.
    unsafe {
        for ndim in [0, 1, 3, usize::MAX] {
            assert_status(
                zarrox_shape(nodes.array, ndim, shape.as_mut_ptr()),
                Status::InvalidArgument,
                "'ndim'",
            );
            assert_status(
                zarrox_resize(nodes.array, ndim, shape.as_ptr()),
                Status::InvalidArgument,
                "'ndim'",
            );
        }
        let string = zarrox_string { data: c"x".as_ptr(), length: 1 };
        for count in [0, 1, 25, usize::MAX] {
            let status = zarrox_write_strings(nodes.strings, null(), &raw const string, count);
            assert_status(status, Status::InvalidArgument, "the region has 24 elements");
        }
        let strings = [zarrox_string { data: c"x".as_ptr(), length: usize::MAX }; 24];
        let status = zarrox_write_strings(nodes.strings, null(), strings.as_ptr(), 24);
        assert_status(status, Status::InvalidArgument, "do not fit into memory");
        let strings = [zarrox_string { data: c"\xff".as_ptr(), length: 1 }; 24];
        let status = zarrox_write_strings(nodes.strings, null(), strings.as_ptr(), 24);
        assert_status(status, Status::InvalidArgument, "string 0 is not UTF-8");
    }
    assert_eq!(shape, [0, 0]);
}

#[test]
fn texts_must_be_what_they_are_read_as() {
    let nodes = Nodes::new();
    let place = text(nodes.directory.path().join("b.zarr").to_str().unwrap());
    let mut node = 0;
    // SAFETY: all pointers are of texts and numbers.
    let mut create = |array: &[u8], options: &[u8]| unsafe {
        let (array, options) = (CString::new(array).unwrap(), CString::new(options).unwrap());
        zarrox_create_array(place.as_ptr(), array.as_ptr(), options.as_ptr(), &raw mut node)
    };
    let invalid = Status::InvalidArgument;
    assert_status(create(b"{}", b"{}"), invalid, "'shape'");
    assert_status(create(b"[]", b"{}"), invalid, "'array' must be a JSON object");
    assert_status(create(b"{", b"{}"), invalid, "'array'");
    assert_status(create(b"\xff", b"{}"), invalid, "'array' is not UTF-8");
    let good = br#"{"shape": [2], "data_type": "int8"}"#;
    assert_status(create(good, br#"{"mdoe": "r"}"#), invalid, "unknown member 'mdoe'");
    assert_status(create(good, br#"{"mode": "q"}"#), invalid, "'q'");
    assert_status(create(good, br#"{"threads": -1}"#), invalid, "'threads'");
    assert_status(create(good, br#"{"format": 17}"#), invalid, "'format'");
    assert_status(create(good, br#"{"storage": {"a": []}}"#), invalid, "'storage'");
    assert_status(create(good, br#"{"lock_timeout": -1}"#), invalid, "'lock_timeout'");
    for (member, value) in [
        ("chunks", "3"),
        ("chunks", "[-1]"),
        ("shards", "[null]"),
        ("compressor", "7"),
        ("filters", "[7]"),
        ("codecs", "{}"),
        ("order", "\"K\""),
        ("endian", "\"middle\""),
        ("separator", "\"-\""),
        ("attributes", "[]"),
        ("dimension_names", "[1]"),
        ("checksum", "1"),
        ("overwrite", "null, \"more\": 1"),
    ] {
        let json = format!(r#"{{"shape": [2], "data_type": "int8", "{member}": {value}}}"#);
        let part = if value.contains("more") { "'more'" } else { member };
        assert_status(create(json.as_bytes(), b"{}"), invalid, part);
    }
    assert_status(create(br#"{"shape": [2], "data_type": "int99"}"#, b"{}"), invalid, "int99");
    assert_eq!(create(good, b"{}"), 0, "{}", message());
    assert_status(create(good, b"{}"), Status::AlreadyExists, "b.zarr");
}

#[test]
fn misaligned_places_are_errors() {
    let nodes = Nodes::new();
    let mut places = [0_u64; 4];
    let odd = places.as_mut_ptr().cast::<u8>().wrapping_add(1);
    // SAFETY: nothing is written to a misaligned place.
    unsafe {
        assert_status(zarrox_ndim(nodes.array, odd.cast()), Status::InvalidArgument, "'ndim' is not aligned");
        assert_status(
            zarrox_shape(nodes.array, 2, odd.cast()),
            Status::InvalidArgument,
            "'shape' is not aligned",
        );
        assert_status(
            zarrox_read(nodes.array, odd.cast(), null()),
            Status::InvalidArgument,
            "'region' is not aligned",
        );
    }
    assert_eq!(places, [0; 4]);
}

#[test]
fn names_of_unknown_statuses_are_texts() {
    // SAFETY: the functions return texts.
    let name = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_str().unwrap();
    assert_eq!(name(zarrox_status_name(Status::NotFound as i32)), "not found");
    for status in [-1, 20, i32::MAX, i32::MIN] {
        assert_eq!(name(zarrox_status_name(status)), "unknown status");
    }
    assert_eq!(name(zarrox_version()), env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_damaged_child_does_not_hide_the_others() {
    let nodes = Nodes::new();
    std::fs::write(nodes.directory.path().join("a.zarr/a/zarr.json"), "{").unwrap();
    let (mut children, mut count) = (null_mut(), 0);
    // SAFETY: the table has this number of entries, and is freed once.
    unsafe {
        assert_eq!(zarrox_children(nodes.group, &raw mut children, &raw mut count), 0, "{}", message());
        let found = std::slice::from_raw_parts(children, count);
        assert_eq!(found.iter().map(|child| child.kind).collect::<Vec<_>>(), [0, 1]);
        assert!(CStr::from_ptr(found[0].error).to_str().unwrap().contains("zarr.json"));
        assert_eq!(CStr::from_ptr(found[1].name).to_str().unwrap(), "s");
        assert!(found[1].error.is_null());
        zarrox_free(children.cast());
    }
}
