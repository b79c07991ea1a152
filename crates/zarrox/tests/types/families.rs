//! The data types beyond numbers: created, written, read and reopened in every format that supports them.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::sync::Arc;

use half::{bf16, f16};
use ndarray::{ArrayD, IxDyn, arr1};
use num_complex::Complex;
use zarrox::data_type::Endian;
use zarrox::json::{Json, json};
use zarrox::stores::{MemoryStore, Store, StoreExt};
use zarrox::{Array, prelude::*, s};
use zarrox::{Element, ErrorKind, OpenOptions, Registry};
use zarrox_testkit::errors::assert_error;

fn named(json: &Json) -> DataType {
    Registry::new().data_type_from_v3(json).unwrap()
}

fn create(data_type: &DataType, format: Format, endian: Endian) -> (Arc<dyn Store>, Array) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder = OpenOptions::new().create_array((store.clone(), "a")).format(format).endian(endian);
    let array = builder.shape([5]).chunks([2]).data_type(data_type.clone()).create().unwrap();
    (store, array)
}

fn each_way() -> impl Iterator<Item = (Format, Endian)> {
    [Format::V2, Format::V3].into_iter().flat_map(|f| [Endian::Little, Endian::Big].map(|e| (f, e)))
}

#[test]
fn text_and_byte_strings() {
    let text = named(&json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 16}}));
    let bytes = named(&json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 6}}));
    let written = ArrayD::from_shape_vec(IxDyn(&[4]), vec!["", "né", "🧊x", "abcd"]).unwrap();
    for data_type in [&text, &bytes] {
        for (format, endian) in each_way() {
            let (store, array) = create(data_type, format, endian);
            array.write(s![..4], DynArray::from_values(data_type.clone(), &written).unwrap()).unwrap();
            let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
            assert_eq!(reopened.data_type(), data_type);
            let read = reopened.read::<DynArray>(s![..;-1]).unwrap().to::<ArrayD<String>>().unwrap();
            assert_eq!(read.iter().collect::<Vec<_>>(), ["", "abcd", "🧊x", "né", ""]);
        }
    }
    let too_long = ArrayD::from_elem(IxDyn(&[1]), "abcdefg");
    assert_eq!(DynArray::from_values(text, &too_long).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_error(
        DynArray::from_values(bytes.clone(), &too_long),
        ErrorKind::InvalidArgument,
        "is longer than the 6 bytes",
    );
    assert_error(
        DynArray::from_values(DataType::Int8, &too_long),
        ErrorKind::DataTypeMismatch,
        "the elements are int8, not text",
    );
    let broken = DynArray::new(bytes, vec![1], vec![0xff; 6]).unwrap();
    assert_eq!(broken.to::<ArrayD<String>>().unwrap_err().kind(), ErrorKind::Corrupt);
    assert_error(
        DynArray::new(DataType::Int8, vec![1], vec![1]).unwrap().to::<ArrayD<String>>(),
        ErrorKind::DataTypeMismatch,
        "not text",
    );
}

#[test]
fn text_as_code_points() {
    let text = named(&json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}));
    let (_, array) = create(&text, Format::V2, Endian::Big);
    array.write(s![1..3], arr1(&[[0x61_u32, 0], [0x1f9ca, 0x62]])).unwrap();
    assert_eq!(
        array.read::<DynArray>(s![1..3]).unwrap().to::<ArrayD<String>>().unwrap().as_slice().unwrap(),
        ["a", "🧊b"]
    );
    assert_eq!(array.read::<ArrayD<[u32; 2]>>(s![2]).unwrap()[IxDyn(&[])], [0x1f9ca, 0x62]);
}

#[test]
fn times_are_counts_and_nothing_is_not_a_time() {
    for name in ["numpy.datetime64", "numpy.timedelta64"] {
        let data_type = named(&json!({"name": name, "configuration": {"unit": "s", "scale_factor": 25}}));
        for (format, endian) in each_way() {
            let (store, array) = create(&data_type, format, endian);
            array.write(s![1..3], arr1(&[4_i64, -1])).unwrap();
            let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
            let nat = i64::MIN;
            assert_eq!(reopened.read::<ArrayD<i64>>(..).unwrap(), arr1(&[nat, 4, -1, nat, nat]).into_dyn());
            let format = |count: i64| reopened.format_element(&count.to_ne_bytes()).unwrap();
            assert_eq!(format(nat), "NaT");
            let shown = if name == "numpy.datetime64" { "1970-01-01T00:01:40" } else { "4" };
            assert_eq!(format(4), shown);
        }
    }
}

#[test]
fn small_floats_are_v3s_alone() {
    let data_type = named(&json!("bfloat16"));
    for endian in [Endian::Little, Endian::Big] {
        let (_, array) = create(&data_type, Format::V3, endian);
        array.write(s![..2], arr1(&[0x3f80_u16, 0x4049])).unwrap();
        let read = array.read::<DynArray>(s![..3]).unwrap();
        let shown: Vec<_> = read.as_bytes().chunks(2).map(|e| array.format_element(e).unwrap()).collect();
        assert_eq!(shown, ["1.0", "3.14", "0.0"]);
    }
    let v2 = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).format(Format::V2);
    let error = v2.shape([1]).data_type(data_type).create().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("create the array as v3"), "{error}");
}

#[test]
fn upper_bits_of_small_integers_mean_nothing() {
    let data_type = named(&json!("int4"));
    let (_, array) = create(&data_type, Format::V3, Endian::Little);
    array.write(s![..2], arr1(&[-8_i8, 7])).unwrap();
    let plain = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).shape([5]).chunks([2]);
    let plain = plain.data_type(data_type.clone()).no_compressor().fill_value(-1_i8).create().unwrap();
    plain.raw().write(&[0], &[0x0f, 0x18]).unwrap();
    assert_eq!(plain.read::<ArrayD<i8>>(..).unwrap(), arr1(&[-1_i8, -8, -1, -1, -1]).into_dyn());
    assert_eq!(plain.raw().decode::<ArrayD<i8>>(&[0]).unwrap(), arr1(&[-1_i8, -8]).into_dyn());
    assert_eq!(plain.read::<DynArray>(..).unwrap().as_bytes(), [0xff, 0xf8, 0xff, 0xff, 0xff]);
    assert_eq!(plain.read::<DynArray>(..).unwrap().to::<ArrayD<i8>>().unwrap()[[0]], -1);
    // A number that would be read as another number is not written.
    for refused in [plain.write(s![3], arr1(&[8_i8])), plain.write(.., -9_i8)] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    assert_error(
        plain.raw().encode(&[1], arr1(&[0_i8, 100])),
        ErrorKind::InvalidArgument,
        "outside of the range of int4",
    );
    let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).shape([5]);
    assert_error(
        builder.data_type(data_type).fill_value(8_i8).create(),
        ErrorKind::InvalidArgument,
        "outside of the range of int4",
    );
}

#[test]
fn small_complex_numbers_have_rust_types() {
    type Half = Complex<f16>;
    let data_type = named(&json!("complex_float16"));
    assert_eq!(Half::data_type(), data_type);
    for endian in [Endian::Little, Endian::Big] {
        let (_, array) = create(&data_type, Format::V3, endian);
        let value = Half::new(f16::from_f32(1.5), f16::from_f32(-2.0));
        array.write(s![1], value).unwrap();
        assert_eq!(array.read::<ArrayD<Half>>(s![1]).unwrap()[IxDyn(&[])], value);
        assert!(array.read::<ArrayD<Complex<bf16>>>(s![1]).is_err(), "its bits mean other numbers");
        let shown = array.format_element(array.read::<DynArray>(s![1]).unwrap().as_bytes()).unwrap();
        assert_eq!(shown, "(1.5-2j)");
    }
    let (_, array) = create(&named(&json!("bfloat16")), Format::V3, Endian::Big);
    array.write(s![0], bf16::from_f32(3.0)).unwrap();
    assert_eq!(array.read::<ArrayD<bf16>>(s![0]).unwrap()[IxDyn(&[])], bf16::from_f32(3.0));
    let integers = || {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).shape([1]);
        builder.data_type(DataType::UInt16)
    };
    // Values are compared, not bits.
    let one = integers().fill_value(bf16::ONE).create().unwrap();
    assert_eq!(one.read::<ArrayD<u16>>(..).unwrap()[[0]], 1);
    let error = integers().fill_value(bf16::from_f32(0.5)).create().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
}

#[test]
fn elements_of_one_extension_are_not_written_as_those_of_another() {
    let unit = |unit| {
        named(&json!({"name": "numpy.datetime64", "configuration": {"unit": unit, "scale_factor": 1}}))
    };
    let (_, seconds) = create(&unit("s"), Format::V3, Endian::Little);
    let values = |data_type| DynArray::new(data_type, vec![5], vec![0; 40]).unwrap();
    let error = seconds.write(.., values(unit("ms"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DataTypeMismatch);
    seconds.write(.., values(unit("s"))).unwrap();
    seconds.write(.., values(DataType::Int64)).unwrap();
}

#[test]
fn where_the_fill_value_is_undefined_every_chunk_is_stored() {
    let times =
        named(&json!({"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}));
    for format in [Format::V1, Format::V2] {
        for (data_type, default) in [(&times, i64::MIN), (&DataType::Int64, 0)] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let builder =
                OpenOptions::new().create_array((store.clone(), "")).format(format).shape([4]).chunks([2]);
            let array = builder.data_type(data_type.clone()).fill_value_json(Json::Null).create().unwrap();
            assert_eq!(array.read::<ArrayD<i64>>(..).unwrap(), ArrayD::from_elem(IxDyn(&[4]), default));
            array.write(s![..2], default).unwrap();
            assert_eq!(array.info().unwrap().chunks_stored, 1);
            let document = if format == Format::V1 { "meta" } else { ".zarray" };
            let document = store.get(&zarrox::stores::Key::new(document).unwrap()).unwrap().unwrap();
            assert_eq!(serde_json::from_slice::<Json>(&document).unwrap()["fill_value"], Json::Null);
        }
    }
}

/// zarr-python 2 gives text the default fill value 0, and reads the number for missing chunks.
#[test]
fn where_the_fill_value_of_text_is_a_number_every_chunk_is_stored() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let document = json!({
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|O", "compressor": null, "fill_value": 0, "order": "C",
        "filters": [{"id": "vlen-utf8"}],
    });
    let key = zarrox::stores::Key::new(".zarray").unwrap();
    store.set(&key, document.to_string().as_bytes(), Default::default()).unwrap();
    let array = OpenOptions::new().open((store, "")).unwrap().into_array().unwrap();
    assert!(array.read::<DynArray>(..).unwrap().elements().all(<[u8]>::is_empty));
    let empty = DynArray::from_elements(array.data_type().clone(), vec![2], ["", ""]).unwrap();
    array.write(s![..2], &empty).unwrap();
    assert_eq!(array.info().unwrap().chunks_stored, 1);
}

#[test]
fn text_and_bytes_of_any_length() {
    let texts = ArrayD::from_shape_vec(IxDyn(&[5]), vec!["", "né", "🧊x", "a longer text", "z"]).unwrap();
    for name in ["string", "bytes"] {
        let data_type = named(&json!(name));
        for format in [Format::V2, Format::V3] {
            let (store, array) = create(&data_type, format, Endian::Little);
            array.write(.., DynArray::from_values(data_type.clone(), &texts).unwrap()).unwrap();
            array.write(s![3], DynArray::from_elements(data_type.clone(), vec![], ["new"]).unwrap()).unwrap();
            let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
            assert_eq!(reopened.data_type(), &data_type);
            let read = reopened.read::<DynArray>(s![..;-2]).unwrap().to::<ArrayD<String>>().unwrap();
            assert_eq!(read.iter().collect::<Vec<_>>(), ["z", "🧊x", ""]);
            assert_eq!(reopened.read::<DynArray>(s![3]).unwrap().elements().collect::<Vec<_>>(), [b"new"]);
            assert_eq!(reopened.read::<ArrayD<u8>>(..).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
        }
    }
    let numbers = DynArray::new(DataType::Int8, vec![5], vec![0; 5]).unwrap();
    let (_, array) = create(&named(&json!("string")), Format::V3, Endian::Little);
    assert_eq!(array.write(.., &numbers).unwrap_err().kind(), ErrorKind::DataTypeMismatch);
    assert_error(
        DynArray::new(named(&json!("string")), vec![1], vec![0; 16]),
        ErrorKind::InvalidArgument,
        "no fixed length",
    );
}

#[test]
fn variable_length_in_shards_transposed_and_with_a_fill_value() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder =
        OpenOptions::new().create_array((store.clone(), "a")).shape([5, 6]).chunks([2, 3]).shards([4, 6]);
    let builder =
        builder.data_type(named(&json!("string"))).fill_value_json(json!("none")).order(Order::ColumnMajor);
    let mut array = builder.create().unwrap();
    let text = |row: usize, column: usize| "x".repeat(row * 6 + column);
    let written = ArrayD::from_shape_fn(IxDyn(&[3, 4]), |at| text(at[0], at[1]));
    array.write(s![1..4, 2..], DynArray::from_values(named(&json!("string")), &written).unwrap()).unwrap();
    let read = array.read::<DynArray>(..).unwrap().to::<ArrayD<String>>().unwrap();
    for ((row, column), found) in read.into_dimensionality::<ndarray::Ix2>().unwrap().indexed_iter() {
        let inside = (1..4).contains(&row) && column >= 2;
        assert_eq!(*found, if inside { text(row - 1, column - 2) } else { "none".to_owned() });
    }
    array.resize([2, 6]).unwrap();
    array.resize([4, 6]).unwrap();
    let read = array.read::<DynArray>(s![1.., 2]).unwrap().to::<ArrayD<String>>().unwrap();
    assert_eq!(read.iter().collect::<Vec<_>>(), ["", "none", "none"]);
}

fn particle() -> DataType {
    let position = DataType::structure([("x", DataType::Float32), ("y", DataType::Float64)]).unwrap();
    DataType::structure([("id", DataType::Int16), ("at", position), ("alive", DataType::Bool)]).unwrap()
}

#[test]
fn fields_of_structures_are_read_and_written_alone() {
    for (format, endian) in each_way() {
        let (store, array) = create(&particle(), format, endian);
        array.field("id").write(arr1(&[1_i16, 2, 3, 4, 5])).unwrap();
        array.field("at.y").slice(s![1..;2]).write(arr1(&[0.5, 1.5])).unwrap();
        array.field("alive").write(ndarray::arr0(true)).unwrap();
        let reopened = OpenOptions::new().open((store, "a")).unwrap().into_array().unwrap();
        assert_eq!(reopened.data_type(), &particle());
        assert_eq!(
            reopened.field("id").slice(s![..;-1]).read::<ArrayD<i16>>().unwrap(),
            arr1(&[5, 4, 3, 2, 1]).into_dyn()
        );
        assert_eq!(
            reopened.field("at.y").read::<ArrayD<f64>>().unwrap(),
            arr1(&[0., 0.5, 0., 1.5, 0.]).into_dyn()
        );
        let two = reopened.slice(..).fields(&["alive", "id"]).slice(s![1..3]).read::<DynArray>().unwrap();
        assert_eq!(two.as_bytes(), [[1, 2, 0], [1, 3, 0]].concat());
        reopened.slice(..).fields(&["alive", "id"]).slice(s![0..;4]).write(&two).unwrap();
        assert_eq!(reopened.field("id").read::<ArrayD<i16>>().unwrap(), arr1(&[2, 2, 3, 4, 3]).into_dyn());
        assert_eq!(
            reopened.field("at.y").slice(s![1]).read::<ArrayD<f64>>().unwrap().sum(),
            0.5,
            "others stay"
        );
        reopened.field("id").slice(s![0..;4]).write(arr1(&[1_i16, 5])).unwrap();
        assert_error(
            reopened.slice(..).fields(&["alive", "id"]).slice(s![0]).write(&two),
            ErrorKind::InvalidArgument,
            "to a selection of shape []",
        );
        let all = reopened.read::<DynArray>(s![3]).unwrap();
        assert_eq!(reopened.format_element(all.as_bytes()).unwrap(), "(4, (0.0, 1.5), True)");
        assert_eq!(
            reopened.field("mass").read::<ArrayD<i16>>().unwrap_err().kind(),
            ErrorKind::InvalidSelection
        );
        assert_eq!(
            reopened.field("id").read::<ArrayD<i32>>().unwrap_err().kind(),
            ErrorKind::DataTypeMismatch
        );
        assert_error(
            reopened.field("id").slice(s![..2]).write(arr1(&[1_i16, 2, 3])),
            ErrorKind::InvalidArgument,
            "values of shape [3]",
        );
        let (_, numbers) = create(&DataType::Int8, format, endian);
        assert_error(numbers.field("id").read::<ArrayD<i8>>(), ErrorKind::InvalidArgument, "has no fields");
    }
}

#[test]
fn structures_of_v2_with_padding_arrays_and_two_byte_orders() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let document = json!({
        "zarr_format": 2, "shape": [3], "chunks": [2], "order": "C", "filters": null, "compressor": null,
        "dtype": [["a", ">i2"], ["", "|V2"], ["b", "<i4", [2]], ["f", "|b1"]],
        "fill_value": "AAcAAAEAAAACAAAAAA==",
    });
    store
        .set(
            &zarrox::stores::Key::new("a/.zarray").unwrap(),
            document.to_string().as_bytes(),
            zarrox::stores::Condition::Always,
        )
        .unwrap();
    let chunk = [0, 1, 9, 9, 2, 0, 0, 0, 3, 0, 0, 0, 5, 0, 4, 9, 9, 5, 0, 0, 0, 6, 0, 0, 0, 0];
    store.set(&zarrox::stores::Key::new("a/0").unwrap(), &chunk, zarrox::stores::Condition::Always).unwrap();
    let array = OpenOptions::new().open((store.clone(), "a")).unwrap().into_array().unwrap();
    assert_eq!(array.field("a").read::<ArrayD<i16>>().unwrap(), arr1(&[1, 4, 7]).into_dyn());
    let b = ndarray::arr2(&[[2, 3], [5, 6], [1, 2]]).into_dyn();
    assert_eq!(array.field("b").read::<ArrayD<i32>>().unwrap(), b);
    assert_eq!(array.field("f").read::<ArrayD<bool>>().unwrap(), arr1(&[true, false, false]).into_dyn());
    array.field("a").slice(s![0]).write(ndarray::arr0(258_i16)).unwrap();
    let stored = store.get(&zarrox::stores::Key::new("a/0").unwrap()).unwrap().unwrap();
    assert_eq!(stored[..4], [1, 2, 9, 9], "in the field's own byte order, the padding as it was");
    assert_eq!(stored[4..], chunk[4..]);
}

#[test]
fn small_arrays_as_elements_are_dimensions() {
    let (inner, name) = zarrox::internals::data_type::split_sub_array("(2, 3)<f4").unwrap();
    let data_type = DataType::parse(name, &Registry::new()).unwrap();
    for format in [Format::V2, Format::V3] {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).format(format);
        let builder = builder.shape([10]).chunks([5]).data_type(data_type.clone()).sub_array(inner.clone());
        let array = builder.create().unwrap();
        assert_eq!((array.shape(), array.unit_shape()), (&[10, 2, 3][..], vec![5, 2, 3]));
    }
    let builder =
        OpenOptions::new().create_array((Arc::new(MemoryStore::new()), "a")).shape([10]).chunks([1]);
    let builder =
        builder.shards([5]).data_type(data_type).sub_array([4]).dimension_names(["t"]).create().unwrap();
    assert_eq!((builder.unit_shape(), builder.shard_shape()), (vec![1, 4], Some(&[5, 4][..])));
    assert_eq!(builder.dimension_names().unwrap(), [Some("t".to_owned()), None]);
    for bad in ["()f4", "(0)f4", "(2,x)f4", "(-1)f4"] {
        assert!(zarrox::internals::data_type::split_sub_array(bad).is_err(), "{bad}");
    }
    assert!(zarrox::internals::data_type::split_sub_array("(2f4").unwrap().0.is_empty());
}

#[test]
fn a_fill_value_of_negative_zero_keeps_its_sign_and_that_of_stored_zeros() {
    for format in [Format::V1, Format::V2, Format::V3, Format::V3Experimental] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = OpenOptions::new();
        let path = if format == Format::V1 { "" } else { "a" };
        let builder = options.create_array((store.clone(), path)).format(format).shape([4]).chunks([2]);
        let array = builder.data_type(DataType::Float64).fill_value(-0.0_f64).create().unwrap();
        assert_eq!(array.document().unwrap()["fill_value"].to_string(), "-0.0", "{format}");
        let array = options.open((store.clone(), path)).unwrap().into_array().unwrap();
        let signs =
            || array.read::<ArrayD<f64>>(..).unwrap().mapv(f64::is_sign_negative).into_raw_vec_and_offset().0;
        assert_eq!(signs(), [true; 4], "{format}");
        array.write(s![..2], ndarray::arr1(&[0.0, 0.0])).unwrap();
        assert_eq!(signs(), [false, false, true, true], "{format}");
        array.write(s![1], ndarray::arr0(-0.0)).unwrap();
        assert_eq!(signs(), [false, true, true, true], "{format}");
    }
}

#[test]
fn the_parts_of_a_complex_fill_value_keep_their_signs() {
    for format in [Format::V2, Format::V3] {
        for parts in [json!([-0.0, 0.0]), json!([0.0, -0.0]), json!([-0.0, "NaN"])] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let builder = OpenOptions::new().create_array((store, "a")).format(format).shape([4]);
            let array =
                builder.data_type(DataType::Complex64).fill_value_json(parts.clone()).create().unwrap();
            assert_eq!(array.document().unwrap()["fill_value"].to_string(), parts.to_string(), "{format}");
        }
    }
}
