//! Rust structs as elements of structured types.

#![cfg(feature = "derive")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use ndarray::{Array1, arr1};
use num_complex::Complex;
use zarrox::data_type::Endian;
use zarrox::json::{Json, json};
use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, prelude::*, s};
use zarrox::{ErrorKind, OpenOptions, Registry};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Position {
    x: f64,
    y: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, packed)]
struct Particle {
    id: i64,
    #[zarr(rename = "at")]
    position: Position,
    alive: bool,
    code: [u8; 3],
    wave: Complex<f32>,
    r#type: u16,
}

fn particle(id: i64) -> Particle {
    let position = Position { x: id as f64 / 2.0, y: -1.0 };
    let code = [b'a', 0, u8::try_from(id).unwrap()];
    Particle { id, position, alive: id % 2 == 0, code, wave: Complex::new(1.5, 0.0), r#type: 258 }
}

fn created(data_type: DataType, format: Format, endian: Endian) -> (Arc<dyn Store>, Array) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder = OpenOptions::new().create_array((store.clone(), "a")).format(format).endian(endian);
    (store, builder.shape([5]).chunks([2]).data_type(data_type).create().unwrap())
}

/// Creates an array of v2 with these metadata, and chunks of these bytes.
fn stored(dtype: &Json, chunk: &[u8]) -> Array {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let document = json!({
        "zarr_format": 2, "shape": [2], "chunks": [2], "order": "C", "filters": null, "compressor": null,
        "dtype": dtype, "fill_value": null,
    });
    let set = |key: &str, value: &[u8]| store.set(&Key::new(key).unwrap(), value, Condition::Always).unwrap();
    set("a/.zarray", document.to_string().as_bytes());
    set("a/0", chunk);
    OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap()
}

#[test]
fn structs_are_written_and_read_in_both_formats_and_byte_orders() {
    for format in [Format::V2, Format::V3] {
        for endian in [Endian::Little, Endian::Big] {
            let (store, array) = created(Particle::data_type(), format, endian);
            let written = Array1::from_iter((1..=4).map(particle));
            array.write(s![1..], &written).unwrap();
            array.field("at.y").slice(s![2]).write(ndarray::arr0(7.0)).unwrap();
            let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
            let shown = "struct(id: int64, at: struct(x: float64, y: float64), alive: bool, code: r24, \
                         wave: complex64, type: uint16)";
            assert_eq!(reopened.data_type().to_string(), shown);
            let read = reopened.read::<ArrayD<Particle>>(s![..;-2]).unwrap();
            let mut changed = particle(2);
            changed.position.y = 7.0;
            assert_eq!(read.iter().copied().collect::<Vec<_>>()[..2], [particle(4), changed]);
            let (id, alive) = (read[[2]].id, read[[2]].alive);
            assert_eq!((id, alive), (0, false), "the default fill value");
            assert_eq!(reopened.field("at").slice(s![3]).read::<ArrayD<Position>>().unwrap()[[]], {
                particle(3).position
            });
            assert_eq!(
                reopened.read::<DynArray>(s![1]).unwrap().to::<ArrayD<Particle>>().unwrap()[[]],
                particle(1)
            );
        }
    }
}

#[test]
fn a_struct_is_a_fill_value() {
    for format in [Format::V2, Format::V3] {
        for endian in [Endian::Little, Endian::Big] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let builder = OpenOptions::new().create_array((store.clone(), "a")).format(format).endian(endian);
            let builder = builder.shape([3]).data_type(Particle::data_type()).fill_value(particle(6));
            builder.create().unwrap();
            let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
            assert_eq!(reopened.read::<ArrayD<Particle>>(s![1]).unwrap()[[]], particle(6));
        }
    }
    let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).shape([3]);
    let other = builder.data_type(Position::data_type()).fill_value(particle(6)).create().unwrap_err();
    assert_eq!(other.kind(), ErrorKind::DataTypeMismatch);
}

/// Fields of both byte orders, an array, and a boolean that is stored as 5.
#[test]
fn fields_are_read_in_their_own_byte_orders() {
    #[derive(Clone, Copy, Debug, PartialEq, Element)]
    #[repr(C, packed)]
    struct Mixed {
        a: i16,
        b: [[i32; 1]; 2],
        nested: Big,
        f: bool,
    }
    #[derive(Clone, Copy, Debug, PartialEq, Element)]
    #[repr(C)]
    struct Big {
        n: u32,
    }
    let dtype = json!([["a", ">i2"], ["b", "<i4", [2, 1]], ["nested", [["n", ">u4"]]], ["f", "|b1"]]);
    let mut chunk = vec![1, 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 9, 5];
    chunk.extend([0xff, 0xfe, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0]);
    let array = stored(&dtype, &chunk);
    let first = Mixed { a: 258, b: [[1], [256]], nested: Big { n: 9 }, f: true };
    let second = Mixed { a: -2, b: [[3], [4]], nested: Big { n: 1 << 24 }, f: false };
    assert_eq!(array.read::<ArrayD<Mixed>>(..).unwrap(), arr1(&[first, second]).into_dyn());
    assert_eq!(
        array.slice(..).fields(&["f"]).read::<DynArray>().unwrap().as_bytes(),
        [1, 0],
        "booleans are 0 or 1 whoever reads them"
    );
    assert_eq!(array.field("f").read::<ArrayD<bool>>().unwrap(), arr1(&[true, false]).into_dyn());
    let b = ndarray::arr2(&[[1, 256], [3, 4]]).into_shape_with_order((2, 2, 1)).unwrap().into_dyn();
    assert_eq!(array.field("b").read::<ArrayD<i32>>().unwrap(), b);
    assert_eq!(
        array.field("nested").slice(s![0]).read::<ArrayD<Big>>().unwrap(),
        ndarray::arr0(Big { n: 9 }).into_dyn()
    );
    array.write(s![1], ndarray::arr0(first)).unwrap();
    chunk.copy_within(..14, 15);
    chunk[29] = 1;
    assert_eq!(array.raw().read(&[0]).unwrap().unwrap(), chunk.as_slice(), "the first is as it was");
    let (_, own) = created(Mixed::data_type(), Format::V2, Endian::Big);
    assert_eq!(
        own.data_type().to_string(),
        "struct(a: int16, b: int32[2][1], nested: struct(n: uint32), f: bool)"
    );
    let v3 = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).format(Format::V3);
    let refused = v3.shape([1]).data_type(Mixed::data_type()).create().unwrap_err();
    assert!(
        refused.to_string().contains("does not support fields that are arrays, such as 'b'"),
        "{refused}"
    );
}

#[test]
fn a_field_holds_what_its_rust_type_holds() {
    #[derive(Clone, Copy, Debug, PartialEq, Element)]
    #[repr(C, packed)]
    struct Record {
        when: i64,
        name: [u32; 2],
        id: [u8; 4],
        small: i8,
    }
    let holds = |dtype: Json| {
        let (data_type, _) = Registry::new().data_type_from_v2(&dtype).unwrap();
        Record::holds(&data_type)
    };
    assert!(holds(json!([["when", "<M8[ns]"], ["name", "<U2"], ["id", "|S4"], ["small", "|i1"]])));
    assert!(holds(json!([["when", ">m8[s]"], ["name", "<u4", [2]], ["id", "|u1", 4], ["small", "|i1"]])));
    assert!(holds(json!([["when", "<i8"], ["name", "<u4", [2]], ["id", "|V4"], ["small", "|i1"]])));
    let refused = [
        json!([["when", "<u8"], ["name", "<U2"], ["id", "|S4"], ["small", "|i1"]]),
        json!([["when", "<i8"], ["name", "<U1"], ["id", "|S8"], ["small", "|i1"]]),
        json!([["when", "<i8"], ["name", "<u4", [2, 1]], ["id", "|S4"], ["small", "|i1"]]),
        json!([["when", "<i8"], ["name", "<U2"], ["id", "<u4"], ["small", "|i1"]]),
        json!([["other", "<i8"], ["name", "<U2"], ["id", "|S4"], ["small", "|i1"]]),
        json!([["name", "<U2"], ["when", "<i8"], ["id", "|S4"], ["small", "|i1"]]),
        json!([["when", "<i8"], ["name", "<U2"], ["id", "|S4"]]),
        json!([["when", "<i8"], ["name", "<U2"], ["id", "|S4"], ["small", "|i1"], ["more", "|i1"]]),
        json!([["when", "<i8"], ["name", "<U2"], ["id", "|S4"], ["small", "|i1"], ["", "|V1"]]),
        json!([["when", "<i8"], ["", "|V1"], ["name", "<U2"], ["id", "|S4"], ["small", "|i1"]]),
        json!("|V21"),
    ];
    for dtype in refused {
        assert!(!holds(dtype.clone()), "{dtype}");
    }
    let array =
        stored(&json!([["when", "<M8[s]"], ["name", ">U2"], ["id", "|S4"], ["small", "|i1"]]), &[0; 42]);
    let written = Record { when: 60, name: [0x1f9ca, 0], id: *b"ab\0\0", small: -1 };
    array.write(s![1], written).unwrap();
    assert_eq!(array.read::<ArrayD<Record>>(s![1]).unwrap()[[]], written);
    let element = array.read::<DynArray>(s![1]).unwrap();
    let shown = array.format_element(element.as_bytes()).unwrap();
    assert_eq!(shown, "('1970-01-01T00:01:00', '🧊', b'ab', -1)");
    let error = array.read::<ArrayD<Position>>(s![1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
    assert!(error.to_string().contains("not struct(x: float64, y: float64)"), "{error}");
}

#[test]
fn a_field_is_created_as_the_type_that_it_declares() {
    #[derive(Clone, Copy, Debug, PartialEq, Element)]
    #[repr(C)]
    struct Nibbles {
        #[zarr(data_type = named("int4"))]
        low: i8,
        #[zarr(data_type = named("uint2"))]
        high: u8,
    }
    #[derive(Clone, Copy, Debug, PartialEq, Element)]
    #[repr(C)]
    struct Wrong {
        #[zarr(data_type = named("int32"))]
        wide: i64,
    }
    fn named(name: &str) -> DataType {
        Registry::new().data_type_from_v3(&json!(name)).unwrap()
    }
    assert_eq!(Nibbles::data_type().to_string(), "struct(low: int4, high: uint2)");
    let (_, array) = created(Nibbles::data_type(), Format::V3, Endian::Little);
    let written = Nibbles { low: -8, high: 3 };
    array.write(s![2], written).unwrap();
    assert_eq!(array.read::<ArrayD<Nibbles>>(s![2]).unwrap()[[]], written);
    let refused = array.write(s![2], Nibbles { low: 8, high: 0 }).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(!Wrong::holds(&Wrong::data_type()), "what is declared is no 64-bit integer");
    let (_, array) = created(Wrong::data_type(), Format::V3, Endian::Little);
    assert_eq!(array.write(s![2], Wrong { wide: 1 }).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
}
