//! Tables of pandas, pyarrow and polars keep their values, also in a round trip.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use zarrox::data_type::Casting;
use zarrox::json::{self, Json};
use zarrox::stores::Store;
use zarrox::{Array, DataType, DynArray, ErrorKind, Group, Node, OpenMode, OpenOptions, s};
use zarrox_files::{Import, Table, export_file, import_file, open_file};
use zarrox_testkit::errors::assert_error;

fn data() -> PathBuf {
    zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables"))
}

fn expected() -> json::Map {
    json::parse_object(&std::fs::read(data().join("expected.json")).unwrap()).unwrap()
}

fn root(path: &Path) -> Group {
    let store: Arc<dyn Store> = Arc::new(open_file(path).unwrap());
    OpenOptions::new().mode(OpenMode::Read).open((store, "")).unwrap().into_group().unwrap()
}

fn decoded(said: &Json) -> Vec<u8> {
    STANDARD.decode(said.as_str().unwrap()).unwrap()
}

/// Checks all columns of a file.
fn check(path: &Path, columns: &json::Map) {
    let root = root(path);
    assert_eq!(root.children().unwrap().len(), columns.len(), "{}", path.display());
    let names: Vec<&str> =
        root.attributes()["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names.len(), columns.len());
    for (name, said) in columns {
        let place = format!("{}: {name}", path.display());
        let array = root.open(name).unwrap().into_array().unwrap();
        let found = array.read::<DynArray>(..).unwrap();
        if let Some(elements) = said.get("elements") {
            let wanted: Vec<Vec<u8>> = elements.as_array().unwrap().iter().map(decoded).collect();
            assert!(found.elements().eq(wanted.iter().map(Vec::as_slice)), "{place}");
            continue;
        }
        let data_type = DataType::parse(said["type"].as_str().unwrap(), &zarrox::codecs::registry()).unwrap();
        assert_eq!(array.data_type(), &data_type, "{place}");
        assert!(found.into_bytes() == decoded(&said["bytes"]), "{place}: the values differ");
    }
}

#[test]
fn every_type_and_codec_has_its_values() {
    let expected = expected();
    for (file, columns) in &expected {
        check(&data().join(file), columns.as_object().unwrap());
    }
    assert!(expected.len() > 15, "{}", expected.len());
}

#[test]
fn tables_come_back_as_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let (mut csv, mut parquet) = (0, 0);
    for (number, (file, columns)) in expected().iter().enumerate() {
        let zarr = place(&format!("{number}.zarr"));
        import_file(data().join(file), &zarr).unwrap();
        let exported = place(&format!("{number}.parquet"));
        export_file(&zarr, &exported).unwrap();
        let mut columns = columns.as_object().unwrap().clone();
        // Durations are integers in Parquet, which has only times of day.
        columns.remove("time");
        let again = root(&exported);
        for name in columns.keys() {
            let read =
                |group: &Group| group.open(name).unwrap().into_array().unwrap().read::<DynArray>(..).unwrap();
            let (ours, before) = (read(&again), read(&zarrox::open_group(&zarr).unwrap()));
            // Parquet has no timestamps in seconds, and integer columns with nulls become floats.
            let ours = match (before.data_type().to_string().as_str(), ours.data_type()) {
                ("datetime64[s]", _) => continue,
                ("int8", DataType::Float64) => {
                    let numbers = ours
                        .to::<ndarray::ArrayD<f64>>()
                        .unwrap()
                        .mapv(|n| if n.is_nan() { -1.0 } else { n });
                    let numbers = zarrox::DynArray::from_values(DataType::Float64, &numbers).unwrap();
                    numbers.cast(&DataType::Int8, Casting::Exact, &zarrox::codecs::registry()).unwrap()
                }
                _ => ours,
            };
            assert!(ours == before, "{file}: {name}");
        }
        parquet += 1;
        if !file.ends_with(".parquet") {
            let exported = place(&format!("{number}.csv"));
            export_file(&zarr, &exported).unwrap();
            check(&exported, &columns);
            csv += 1;
        }
    }
    assert!(csv >= 5 && parquet > csv, "{csv} {parquet}");
}

#[test]
fn types_of_columns_can_be_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.csv");
    std::fs::write(&path, "id,x,day\n1,0.5,2024-05-01\n200,NA,\n").unwrap();
    let import = Import::new().column("id", DataType::UInt8).column("x", DataType::Float32);
    let target = directory.path().join("a.zarr");
    import.run(&path, &target).unwrap();
    let group = zarrox::open_group(&target).unwrap();
    let read = |name: &str| group.open(name).unwrap().into_array().unwrap();
    assert_eq!(read("id").read::<ndarray::ArrayD<u8>>(..).unwrap().into_iter().collect::<Vec<_>>(), [1, 200]);
    let x = read("x").read::<ndarray::ArrayD<f32>>(..).unwrap();
    assert!(x[0] == 0.5 && x[1].is_nan());
    assert_eq!(read("day").read::<DynArray>(..).unwrap().as_bytes()[8..], i64::MIN.to_ne_bytes());
    let error =
        Import::new().column("id", DataType::Int8).run(&path, directory.path().join("b.zarr")).unwrap_err();
    assert!(error.to_string().contains("id"), "{error}");
    let error =
        Import::new().column("day", DataType::Int64).run(&path, directory.path().join("c.zarr")).unwrap_err();
    assert!(error.to_string().contains("row 1 has '2024-05-01'"), "{error}");
    let error =
        Import::new().column("z", DataType::Int8).run(&path, directory.path().join("d.zarr")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
}

#[test]
fn a_file_of_many_blocks_has_all_rows() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.csv");
    let rows: String = (0..200_000).map(|n| format!("{n},t{n}\n")).collect();
    std::fs::write(&path, format!("n,text\n{rows}")).unwrap();
    let group = root(&path);
    let n = group.open("n").unwrap().into_array().unwrap();
    assert_eq!(n.unit_shape(), [1 << 16]);
    assert!(n.read::<ndarray::ArrayD<i64>>(..).unwrap().iter().copied().eq(0..200_000));
    let text = group.open("text").unwrap().into_array().unwrap();
    assert_eq!(text.read::<DynArray>(s![199_999]).unwrap().elements().next(), Some(b"t199999".as_slice()));
    // A Parquet file whose groups are smaller than a chunk, and memory that holds only a few rows.
    let target = directory.path().join("a.parquet");
    let file = std::fs::File::create(&target).unwrap();
    Table::new().memory(1 << 20).write_parquet(&Node::Group(group), file).unwrap();
    let n = root(&target).open("n").unwrap().into_array().unwrap();
    assert!(n.read::<ndarray::ArrayD<i64>>(..).unwrap().iter().copied().eq(0..200_000));
}

#[test]
fn structures_and_masked_values_are_columns() {
    let directory = tempfile::tempdir().unwrap();
    let group = zarrox::create_group(directory.path().join("a.zarr")).unwrap();
    let registry = zarrox::codecs::registry();
    let (structure, _) = registry.data_type_from_v2(&json::json!([["x", "<f4"], ["y", "<i2"]])).unwrap();
    let points = group.create_array("p").shape([2]).data_type(structure).create().unwrap();
    let value = zarrox::DynArray::from_json(
        points.data_type().clone(),
        &json::json!([{"x": 1.5, "y": 2}, {"x": 1e30, "y": -2}]),
        &registry,
    );
    points.write(.., value.unwrap()).unwrap();
    let depth = group.create_array("depth").shape([2]).data_type(DataType::Int16);
    let depth = depth.attributes([("_FillValue", -1)]).create().unwrap();
    depth.write(.., ndarray::arr1(&[-1_i16, 5])).unwrap();
    let node = Node::Group(group);
    let csv = |table: Table| {
        let mut file = Vec::new();
        table.write_csv(&node, &mut file).unwrap();
        String::from_utf8(file).unwrap()
    };
    assert_eq!(csv(Table::new()), "depth,p.x,p.y\n,1.5,2\n5,1e30,-2\n");
    assert_eq!(csv(Table::new().columns(["p", "depth"]).select(s![1..])), "p.x,p.y,depth\n1e30,-2,5\n");
    let target = directory.path().join("a.parquet");
    Table::new().write_parquet(&node, std::fs::File::create(&target).unwrap()).unwrap();
    let found =
        root(&target).open("depth").unwrap().into_array().unwrap().read::<ndarray::ArrayD<f64>>(..).unwrap();
    assert!(found[0].is_nan() && found[1] == 5.0);
    let other = node.clone().into_group().unwrap().create_array("other").shape([3]).data_type(DataType::Int8);
    other.create().unwrap();
    let error = Table::new().write_csv(&node, std::io::sink()).unwrap_err();
    assert!(error.to_string().contains("'depth' has 2 rows, but 'other' has 3"), "{error}");
}

#[test]
fn what_is_no_table_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let open = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        open_file(&path)
    };
    let error = open("a.csv", b"a,b\n1,2\n3\n").unwrap_err();
    assert!(error.to_string().contains("line 3 has 1 fields instead of 2"), "{error}");
    assert_eq!(open("a.parquet", b"PAR1 and no more").unwrap_err().kind(), ErrorKind::Corrupt);
    assert_error(open("a.txt", b"a,b\n1,2\n"), ErrorKind::Unsupported, "not a file of a known kind");
    let error = open("empty.csv", b"").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("the file is empty"), "{error}");
    let only = open("only.csv", b"a,b\n").unwrap();
    assert!(only.notes()[0].contains("no rows"), "{:?}", only.notes());
    let renamed = open("renamed.csv", b"a/b,a/b\n1,2\n").unwrap();
    assert_eq!(renamed.notes().len(), 2, "{:?}", renamed.notes());
    assert!(renamed.notes()[1].contains("/a_b.1: the column is named 'a/b'"), "{:?}", renamed.notes());
}

/// Writes a Parquet file with one column, whose rows are `None` if they are missing.
fn parquet<T: parquet::data_type::DataType>(
    path: &Path,
    column: &str,
    rows: &[Option<T::T>],
    how: Compression,
) {
    let schema = parse_message_type(&format!("message m {{ {column}; }}")).unwrap();
    let properties = WriterProperties::builder().set_compression(how).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<T::T> = rows.iter().flatten().cloned().collect();
    let levels: Vec<i16> = rows.iter().map(|row| i16::from(row.is_some())).collect();
    column.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

/// Returns the rows of the only column of a Parquet file, as text.
fn rows(path: &Path) -> Vec<Option<String>> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let row = |row: parquet::record::Row| match row.get_column_iter().next().unwrap().1 {
        parquet::record::Field::Null => None,
        field => Some(field.to_string()),
    };
    reader.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect()
}

/// Imports a file, and exports the copy; returns the attributes of the column and the rows of the export.
fn round(path: &Path) -> (json::Map, Vec<Option<String>>) {
    let (zarr, back) = (path.with_extension("zarr"), path.with_extension("back.parquet"));
    import_file(path, &zarr).unwrap();
    export_file(&zarr, &back).unwrap();
    let array = zarrox::open_array(zarr.join("a")).unwrap();
    (array.attributes().clone(), rows(&back))
}

#[test]
fn nulls_stay_nulls_whatever_the_values_are() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let texts = |texts: &[Option<&str>]| -> Vec<Option<ByteArray>> {
        texts.iter().map(|text| text.map(ByteArray::from)).collect()
    };
    for (number, (rows_of, fill)) in [
        (texts(&[Some("x"), None]), ""),
        (texts(&[Some("x"), None, Some("")]), "<NA>"),
        (texts(&[Some("<NA>"), None, Some(""), Some("null")]), "NA"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = place(&format!("text{number}.parquet"));
        parquet::<ByteArrayType>(&path, "optional binary a (UTF8)", &rows_of, Compression::UNCOMPRESSED);
        let (attributes, back) = round(&path);
        assert_eq!(attributes, json::json!({"_nc_types": "_FillValue: string"}).as_object().unwrap().clone());
        let array = zarrox::open_array(path.with_extension("zarr").join("a")).unwrap();
        assert_eq!(array.fill_bytes().as_bytes(), fill.as_bytes());
        assert_eq!(back, rows(&path));
        let path = place(&format!("bytes{number}.parquet"));
        parquet::<ByteArrayType>(&path, "optional binary a", &rows_of, Compression::UNCOMPRESSED);
        let (attributes, back) = round(&path);
        assert!(attributes.contains_key("null_value"));
        assert_eq!(back, rows(&path));
    }
    for (number, (values, is_float)) in [
        (vec![Some(1_i64), None], true),
        (vec![Some(i64::MAX - 1), None, Some(i64::MIN)], false),
        (vec![Some(i64::MAX), None], false),
    ]
    .into_iter()
    .enumerate()
    {
        let path = place(&format!("long{number}.parquet"));
        parquet::<Int64Type>(&path, "optional int64 a", &values, Compression::UNCOMPRESSED);
        let zarr = path.with_extension("zarr");
        let (_, back) = round(&path);
        let back: Vec<bool> = back.iter().map(Option::is_none).collect();
        assert_eq!(back, values.iter().map(Option::is_none).collect::<Vec<_>>());
        let array = zarrox::open_array(zarr.join("a")).unwrap();
        assert_eq!(*array.data_type() == DataType::Float64, is_float);
        if !is_float {
            let found = array.read::<ndarray::ArrayD<i64>>(..).unwrap();
            assert!(
                values.iter().zip(&found).all(|(value, found)| value.is_none_or(|value| value == *found))
            );
        }
    }
    let path = place("double.parquet");
    parquet::<DoubleType>(&path, "optional double a", &[Some(1.5), None], Compression::UNCOMPRESSED);
    assert_eq!(round(&path).1, rows(&path));
    let path = place("truth.parquet");
    parquet::<BoolType>(&path, "optional boolean a", &[Some(true), None], Compression::UNCOMPRESSED);
    assert_eq!(round(&path).1, [Some("1".to_owned()), None]);
    // The column contains every value of the type.
    let all: Vec<Option<ByteArray>> =
        ["", "<NA>", "NA", "N/A", "null", "\u{fffd}"].map(|t| Some(t.into())).into();
    let path = place("all.parquet");
    let all: Vec<Option<ByteArray>> = all.into_iter().chain([None]).collect();
    parquet::<ByteArrayType>(&path, "optional binary a (UTF8)", &all, Compression::UNCOMPRESSED);
    let store = open_file(&path).unwrap();
    assert!(
        store.left_out()[0].reason.contains("every possible element is a value"),
        "{:?}",
        store.left_out()
    );
}

#[test]
fn nulls_and_nan_of_floats_stay_apart() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let attribute = |number: f64| Json::from(STANDARD.encode(number.to_le_bytes()));
    let check = |path: &Path, lowest: f64| {
        let (attributes, back) = round(path);
        assert_eq!(back, rows(path), "{}", path.display());
        assert_eq!(attributes["_FillValue"], attribute(lowest), "{}", path.display());
        let notes = open_file(path).unwrap().notes().to_vec();
        assert!(notes[0].starts_with("/a: nulls become -"), "{notes:?}");
    };
    let path = place("double.parquet");
    let doubles = [Some(1.5), None, Some(f64::NAN)];
    parquet::<DoubleType>(&path, "optional double a", &doubles, Compression::UNCOMPRESSED);
    check(&path, f64::MIN);
    let path = place("lowest.parquet");
    let doubles = [Some(f64::MIN), None, Some(f64::NAN), Some(f64::MAX)];
    parquet::<DoubleType>(&path, "optional double a", &doubles, Compression::UNCOMPRESSED);
    check(&path, f64::MIN / 2.0);
    let path = place("single.parquet");
    let singles = [Some(f32::NAN), None, Some(0.1)];
    parquet::<FloatType>(&path, "optional float a", &singles, Compression::UNCOMPRESSED);
    check(&path, f32::MIN.into());
    let path = place("half.parquet");
    let half = |bits: u16| Some(ByteArray::from(bits.to_le_bytes().to_vec()).into());
    let halves = [half(0x7e00), None, half(0x3c00)];
    let column = "optional fixed_len_byte_array(2) a (FLOAT16)";
    parquet::<FixedLenByteArrayType>(&path, column, &halves, Compression::UNCOMPRESSED);
    check(&path, -65504.0);
    let path = place("without.parquet");
    parquet::<DoubleType>(&path, "optional double a", &[Some(1.5), None], Compression::UNCOMPRESSED);
    assert_eq!(round(&path).0["_FillValue"], attribute(f64::NAN));
    assert!(open_file(&path).unwrap().notes().is_empty());
}

#[test]
fn null_structures_are_named() {
    let directory = tempfile::tempdir().unwrap();
    for (levels, expected) in [(&[0_i16, 1, 2][..], 1), (&[1, 1, 2], 0), (&[2, 2, 2], 0)] {
        let path = directory.path().join("a.parquet");
        let schema = parse_message_type("message m { optional group s { optional int32 x; } }").unwrap();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let values: Vec<i32> = levels.iter().filter(|&&level| level == 2).map(|_| 7).collect();
        column.typed::<Int32Type>().write_batch(&values, Some(levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let store = open_file(&path).unwrap();
        assert_eq!(store.notes().len(), expected, "{:?}", store.notes());
        assert!(store.notes().iter().all(|note| note.starts_with("/s.x: null structures")));
        let found = floats(&root(&path).open("s.x").unwrap().into_array().unwrap());
        let nulls: Vec<bool> = found.iter().map(|value| value.is_nan()).collect();
        assert_eq!(nulls, levels.iter().map(|&level| level < 2).collect::<Vec<_>>());
    }
}

#[test]
fn texts_of_different_missing_values_are_not_joined() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, texts: &[Option<&str>]| {
        let texts: Vec<_> = texts.iter().map(|text| text.map(ByteArray::from)).collect();
        let path = directory.path().join(name);
        parquet::<ByteArrayType>(&path, "optional binary a (UTF8)", &texts, Compression::UNCOMPRESSED);
        path
    };
    let (first, other) = (write("1.parquet", &[Some("x"), None]), write("2.parquet", &[Some(""), None]));
    let import = Import::new().concat("row");
    let planned = import.plan_all(&[&first, &other], directory.path().join("all"));
    assert_error(planned.map(drop), ErrorKind::Unsupported, "the missing value of '/a' differs: \"\" in ");
    let same = write("3.parquet", &[None, Some("y")]);
    import.plan_all(&[&first, &same], directory.path().join("all")).unwrap().run().unwrap();
}

/// Returns the positions of the footer, and of the codec that it says of the only column, `a`.
fn codec_of_a(file: &[u8]) -> (usize, usize) {
    let (rest, length) = file[..file.len() - 4].split_last_chunk::<4>().unwrap();
    let footer = rest.len() - u32::from_le_bytes(*length) as usize;
    let said: Vec<usize> =
        (footer..rest.len()).filter(|&at| file[at - 3..].starts_with(b"\x01a\x15\0")).collect();
    assert_eq!(said.len(), 1);
    (footer, said[0])
}

#[test]
fn fields_of_the_footer_that_are_of_another_type_are_skipped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    parquet::<Int32Type>(&path, "optional int32 a", &[Some(1), Some(-2)], Compression::UNCOMPRESSED);
    let expected = rows(&path);
    let file = std::fs::read(&path).unwrap();
    let (footer, codec) = codec_of_a(&file);
    // A string with the number of the codec precedes it.
    let (before, behind) = (&file[footer..codec - 1], &file[codec + 1..file.len() - 8]);
    let metadata = [before, b"\x18\x01x\x05\x08\0", behind].concat();
    let length = u32::try_from(metadata.len()).unwrap().to_le_bytes();
    let path = directory.path().join("foreign.parquet");
    std::fs::write(&path, [&file[..footer], &metadata, &length, b"PAR1"].concat()).unwrap();
    assert_eq!(round(&path).1, expected);
}

#[test]
fn a_compression_that_is_not_read_is_named_before_anything_is_copied() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    parquet::<Int32Type>(&path, "optional int32 a", &[Some(1)], Compression::UNCOMPRESSED);
    // The crate has no encoder for Brotli, so the codec number in the footer is changed.
    let mut brotli = std::fs::read(&path).unwrap();
    let (_, codec) = codec_of_a(&brotli);
    brotli[codec] = 8;
    std::fs::write(&path, brotli).unwrap();
    let store = open_file(&path).unwrap();
    assert!(store.left_out()[0].reason.contains("BROTLI"), "{:?}", store.left_out());
    assert!(!store.left_out()[0].is_damaged());
    Import::new().skip_unsupported(true).run(&path, directory.path().join("a.zarr")).unwrap();
}

#[test]
fn null_lists_are_refused_although_all_lists_are_empty() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let schema = "message m { optional group a (LIST) { repeated group list { optional int32 element; } } }";
    for (levels, is_refused) in [([0_i16, 1], true), ([1, 1], false)] {
        let file = std::fs::File::create(&path).unwrap();
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[], Some(&levels), Some(&[0, 0])).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let store = open_file(&path).unwrap();
        let reasons: Vec<&str> = store.left_out().iter().map(|part| part.reason.as_str()).collect();
        let expected: &[&str] = if is_refused { &["null lists have no equivalent in Zarr"] } else { &[] };
        assert_eq!(reasons, expected);
        assert_eq!(root(&path).open("a").is_ok(), !is_refused);
    }
}

#[test]
fn arrays_of_two_dimensions_are_lists() {
    let directory = tempfile::tempdir().unwrap();
    let group = zarrox::create_group(directory.path().join("a.zarr")).unwrap();
    let make = |name: &str, shape: [u64; 2], attributes: Json| {
        let attributes = attributes.as_object().unwrap().clone();
        let array = group.create_array(name).shape(shape).data_type(DataType::Int32).attributes(attributes);
        let array = array.create().unwrap();
        let count = i32::try_from(shape[0] * shape[1]).unwrap();
        let shape = shape.map(|length| usize::try_from(length).unwrap());
        array.write(.., ndarray::Array2::from_shape_vec(shape, (0..count).collect()).unwrap()).unwrap();
    };
    make("full", [3, 2], json::json!({}));
    make("missing", [3, 2], json::json!({"_FillValue": 4}));
    make("none", [3, 0], json::json!({}));
    let node = Node::Group(group);
    let path = directory.path().join("a.parquet");
    Table::new().write_parquet(&node, std::fs::File::create(&path).unwrap()).unwrap();
    let root = root(&path);
    let column = |name: &str| root.open(name).unwrap().into_array().unwrap();
    assert_eq!(
        column("full").read::<DynArray>(..).unwrap(),
        node.clone()
            .into_group()
            .unwrap()
            .open("full")
            .unwrap()
            .into_array()
            .unwrap()
            .read::<DynArray>(..)
            .unwrap()
    );
    assert_eq!(column("none").shape(), [3, 0]);
    let missing = floats(&column("missing"));
    assert!(missing[4].is_nan() && missing[..4] == [0.0, 1.0, 2.0, 3.0] && missing[5] == 5.0);
    let error = Table::new().write_csv(&node, Vec::new()).unwrap_err();
    assert!(error.to_string().contains("'full' has the shape [3, 2]"), "{error}");
}

/// Returns the values of a column of numbers, of any number of dimensions.
fn floats(array: &Array) -> Vec<f64> {
    let registry = zarrox::codecs::registry();
    let all =
        array.read::<DynArray>(..).unwrap().cast(&DataType::Float64, Casting::Lossy, &registry).unwrap();
    all.elements().map(|element| f64::from_ne_bytes(element.try_into().unwrap())).collect()
}

#[test]
fn lists_of_one_length_have_a_second_dimension() {
    let said = json::parse_object(&std::fs::read(data().join("lists.json")).unwrap()).unwrap();
    let flat = |name: &str| -> Vec<Json> {
        said[name].as_array().unwrap().iter().flat_map(|list| list.as_array().unwrap().clone()).collect()
    };
    for file in ["lists.parquet", "lists2.parquet", "lists3.parquet"] {
        let root = root(&data().join(file));
        let array = |name: &str| root.open(name).unwrap().into_array().unwrap();
        for (name, data_type) in
            [("int", DataType::Int16), ("fixed", DataType::Float32), ("missing", DataType::Float64)]
        {
            let array = array(name);
            assert_eq!(array.shape(), [3000, 3], "{file} {name}");
            assert_eq!(array.data_type(), &data_type, "{file} {name}");
            let wanted: Vec<f64> = flat(name).iter().map(|n| n.as_f64().unwrap_or(f64::NAN)).collect();
            let found = floats(&array);
            let equal = found.iter().zip(&wanted).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
            assert!(equal && found.len() == wanted.len(), "{file} {name}");
        }
        let text = array("text").read::<DynArray>(..).unwrap();
        let wanted = flat("text");
        assert!(text.elements().eq(wanted.iter().map(|text| text.as_str().unwrap().as_bytes())), "{file}");
        assert_eq!(array("plain").shape(), [3000]);
        let part = array("int").read::<ndarray::ArrayD<i16>>(s![1234..1236, 1]).unwrap();
        assert_eq!(part.into_iter().collect::<Vec<_>>(), [1234 * 3 + 1, 1235 * 3 + 1]);
    }
}

#[test]
fn decimals_are_scaled_integers() {
    let said = json::parse_object(&std::fs::read(data().join("lists.json")).unwrap()).unwrap();
    for file in ["lists.parquet", "lists2.parquet", "lists3.parquet"] {
        let root = root(&data().join(file));
        for (name, data_type, scale) in [
            ("dec9", DataType::Int32, Some("0.01")),
            ("dec18", DataType::Int64, Some("0.001")),
            ("dec0", DataType::Int64, None),
        ] {
            let array = root.open(name).unwrap().into_array().unwrap();
            assert_eq!(array.data_type(), &data_type, "{file} {name}");
            let attribute = array.attributes().get("scale_factor").map(ToString::to_string);
            assert_eq!(attribute.as_deref(), scale, "{file} {name}");
            // The digits of a decimal without its point are the integer.
            let digits = |text: &Json| text.as_str().unwrap().replace('.', "").parse::<f64>().unwrap();
            let wanted: Vec<f64> = said[name].as_array().unwrap().iter().map(digits).collect();
            assert_eq!(floats(&array), wanted, "{file} {name}");
        }
    }
}

#[test]
fn lists_of_several_lengths_and_long_decimals_are_named() {
    for file in ["lists.parquet", "lists2.parquet", "lists3.parquet"] {
        let store = open_file(data().join(file)).unwrap();
        let said: Vec<String> = store.left_out().iter().map(ToString::to_string).collect();
        let wanted = ["/ragged: lists of different lengths", "/none: null lists"];
        assert!(wanted.iter().all(|wanted| said.iter().any(|said| said.starts_with(wanted))), "{said:?}");
        assert!(said.iter().any(|said| said.contains("nested lists (depth 2)")), "{said:?}");
        assert!(
            said.iter().any(|said| said.starts_with("/dec38: ") && said.contains("38 digits")),
            "{said:?}"
        );
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(store.left_out().iter().all(|part| !part.is_damaged()));
    }
}

#[test]
fn points_in_time_beyond_nanoseconds_have_a_coarser_unit() {
    let said = json::parse_object(&std::fs::read(data().join("instants.json")).unwrap()).unwrap();
    let root = root(&data().join("instants.parquet"));
    for (name, unit, of_unit) in
        [("near", "ns", 1000), ("far", "us", 1), ("old", "us", 1), ("lone", "ms", 1), ("none", "ns", 1)]
    {
        let array = root.open(name).unwrap().into_array().unwrap();
        assert_eq!(array.data_type().to_string(), format!("datetime64[{unit}]"), "{name}");
        let counts = said[name]["counts"].as_array().unwrap();
        let wanted = counts.iter().map(|count| count.as_i64().map_or(i64::MIN, |count| count * of_unit));
        let found = array.read::<DynArray>(..).unwrap();
        let found = found.elements().map(|count| i64::from_ne_bytes(count.try_into().unwrap()));
        assert!(found.eq(wanted), "{name}");
    }
}

#[test]
fn columns_whose_names_are_not_those_of_nodes_are_kept_and_named() {
    let store = open_file(data().join("names.parquet")).unwrap();
    let notes = store.notes().join("; ");
    for name in ["'b/c'", "'__index_level_0__'", "'__index_level_1__'"] {
        assert!(notes.contains(name), "{notes}");
    }
    let root = root(&data().join("names.parquet"));
    let column = |name: &str| root.open(name).unwrap().into_array().unwrap();
    for (name, wanted) in [("a", [1, 2]), ("b_c", [3, 4]), ("index_level_1", [5, 6])] {
        assert!(column(name).read::<ndarray::ArrayD<i64>>(..).unwrap().into_iter().eq(wanted), "{name}");
    }
    let text = column("index_level_0").read::<DynArray>(..).unwrap();
    assert!(text.elements().eq([b"p", b"q"]));
}

#[test]
fn a_file_of_csv_that_ends_between_quotes_is_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.csv");
    for (text, is_whole) in [
        ("a,b\n1,\"x\"\n", true),
        ("a,b\n1,\"x\"", true),
        ("a,b\n1,5\" pipe\n", true),
        ("a,b\n1,\"x\n2\"\n\n", true),
        ("a,b\n1,\"x \"\" y\"\r\n", true),
        ("a,b\n1,x\n2,\"y\n", false),
        ("a,b\n1,\"x\n2,y\n3,z\n", false),
        ("a,b\n1,\"x\"\"", false),
    ] {
        std::fs::write(&path, text).unwrap();
        let opened = open_file(&path);
        assert_eq!(opened.is_ok(), is_whole, "{text:?} {opened:?}");
        assert!(opened.err().is_none_or(|error| error.kind() == ErrorKind::Corrupt), "{text:?}");
    }
}

#[test]
fn pages_whose_checksums_differ_are_damage() {
    let directory = tempfile::tempdir().unwrap();
    for file in ["sums.parquet", "sums2.parquet"] {
        let read = |path: &Path| {
            root(path).open("n").unwrap().into_array().unwrap().read::<ndarray::ArrayD<i32>>(..)
        };
        assert!(read(&data().join(file)).unwrap().into_iter().eq(1000..1100), "{file}");
        let mut bytes = std::fs::read(data().join(file)).unwrap();
        let value = 1050_i32.to_le_bytes();
        let at = bytes.windows(4).position(|window| window == value).unwrap();
        bytes[at] ^= 1;
        let path = directory.path().join(file);
        std::fs::write(&path, bytes).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{file}: {error}");
        let error = import_file(&path, directory.path().join(format!("{file}.zarr"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{file}: {error}");
    }
}

/// Returns a group with a column of integers of each packing.
fn packed(path: &Path) -> Group {
    let group = zarrox::create_group(path).unwrap();
    let make = |name: &str, data_type: DataType, attributes: Json, values: [i64; 3]| {
        let attributes = attributes.as_object().unwrap().clone();
        let array = group.create_array(name).shape([3]).data_type(data_type.clone()).attributes(attributes);
        let values = zarrox::DynArray::from_json(data_type, &Json::from(values), &zarrox::codecs::registry());
        array.create().unwrap().write(.., values.unwrap()).unwrap();
    };
    let cents = json::json!({"scale_factor": 0.01, "_FillValue": -9999});
    make("cents", DataType::Int16, cents, [123, -5, -9999]);
    make("long", DataType::Int64, json::json!({"scale_factor": 1e-18}), [123, -999_999_999_999_999_999, 0]);
    make("unsigned", DataType::UInt32, json::json!({"scale_factor": [0.1]}), [4_294_967_295, 1, 0]);
    make("linear", DataType::UInt8, json::json!({"scale_factor": 0.5, "add_offset": 10}), [0, 1, 2]);
    make("float", DataType::Float32, json::json!({"scale_factor": 0.001}), [1, 7, 1001]);
    group
}

#[test]
fn packed_numbers_are_written_as_values() {
    let directory = tempfile::tempdir().unwrap();
    let node = Node::Group(packed(&directory.path().join("a.zarr")));
    let (csv, parquet) = (directory.path().join("a.csv"), directory.path().join("a.parquet"));
    Table::new().write_csv(&node, std::fs::File::create(&csv).unwrap()).unwrap();
    let names = "cents,float,linear,long,unsigned\n";
    let rows = "1.23,0.001,10.0,0.000000000000000123,429496729.5\n-0.05,0.007,10.5,-0.999999999999999999,0.1\n,1.001,11.0,0.000000000000000000,0.0\n";
    assert_eq!(std::fs::read_to_string(&csv).unwrap(), format!("{names}{rows}"));
    Table::new().write_parquet(&node, std::fs::File::create(&parquet).unwrap()).unwrap();
    let root = root(&parquet);
    let column = |name: &str| root.open(name).unwrap().into_array().unwrap();
    for (name, data_type, scale, wanted) in [
        ("long", DataType::Int64, Some(1e-18), [123.0, -999_999_999_999_999_999.0, 0.0]),
        ("unsigned", DataType::Int64, Some(0.1), [4_294_967_295.0, 1.0, 0.0]),
        ("linear", DataType::Float64, None, [10.0, 10.5, 11.0]),
        ("float", DataType::Float64, None, [0.001, 0.007, 1.001]),
    ] {
        let array = column(name);
        assert_eq!(array.data_type(), &data_type, "{name}");
        assert_eq!(array.attributes().get("scale_factor").and_then(Json::as_f64), scale, "{name}");
        assert_eq!(floats(&array), wanted, "{name}");
    }
    // Nulls convert integers to floats; the scale stays.
    let cents = column("cents");
    assert_eq!(cents.attributes()["scale_factor"].as_f64(), Some(0.01));
    assert!(floats(&cents)[..2] == [123.0, -5.0] && floats(&cents)[2].is_nan());
}

#[test]
fn decimals_come_back_as_decimals() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    import_file(data().join("lists.parquet"), place("a.zarr")).unwrap_err();
    Import::new().skip_unsupported(true).run(data().join("lists.parquet"), place("a.zarr")).unwrap();
    let node = zarrox::open(place("a.zarr")).unwrap();
    let table = Table::new().columns(["dec9", "dec18", "dec0"]);
    table.write_parquet(&node, std::fs::File::create(place("b.parquet")).unwrap()).unwrap();
    let (before, after) = (node.into_group().unwrap(), root(&place("b.parquet")));
    for name in ["dec9", "dec18", "dec0"] {
        let [before, after] = [&before, &after].map(|group| group.open(name).unwrap().into_array().unwrap());
        assert_eq!(before.data_type(), after.data_type(), "{name}");
        assert_eq!(before.attributes(), after.attributes(), "{name}");
        assert_eq!(before.read::<DynArray>(..).unwrap(), after.read::<DynArray>(..).unwrap(), "{name}");
    }
}

#[test]
fn packed_numbers_without_values_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (data_type, attributes, value, wanted) in [
        (DataType::Int32, json::json!({"scale_factor": 0.1}), 1_000_000_000_i64, "more than 9 digits"),
        (
            DataType::Int64,
            json::json!({"scale_factor": 0.1}),
            -1_000_000_000_000_000_000,
            "more than 18 digits",
        ),
        (DataType::Int8, json::json!({"scale_factor": "much"}), 1, "'scale_factor' is \"much\""),
        (DataType::Float32, json::json!({"add_offset": [1, 2]}), 1, "'add_offset' is [1,2]"),
    ] {
        let group = zarrox::create_group(directory.path().join(format!("{data_type}.zarr"))).unwrap();
        let attributes = attributes.as_object().unwrap().clone();
        let array = group.create_array("x").shape([1]).data_type(data_type.clone()).attributes(attributes);
        let value = zarrox::DynArray::from_json(data_type, &Json::from([value]), &zarrox::codecs::registry());
        array.create().unwrap().write(.., value.unwrap()).unwrap();
        let error = Table::new().write_parquet(&Node::Group(group), Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains(wanted) && error.to_string().contains("'x'"), "{error}");
    }
}
