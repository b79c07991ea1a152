//! Tables of pandas, pyarrow and polars have their values, and come back as they were.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::data_type::Casting;
use zarrox::json::{self, Json};
use zarrox::stores::Store;
use zarrox::{DataType, ErrorKind, Group, Node, OpenMode, OpenOptions, s};
use zarrox_files::{Import, Table, export_file, import_file, open_file};

fn data() -> PathBuf {
    zarrox_testkit::corpus::unpacked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables"))
}

fn expected() -> json::Map {
    json::parse_object(&std::fs::read(data().join("expected.json")).unwrap()).unwrap()
}

fn root(path: &Path) -> Group {
    let store: Arc<dyn Store> = Arc::new(open_file(path).unwrap());
    OpenOptions::new().mode(OpenMode::Read).open_in(store, "").unwrap().into_group().unwrap()
}

fn decoded(said: &Json) -> Vec<u8> {
    STANDARD.decode(said.as_str().unwrap()).unwrap()
}

/// All columns of a file.
fn check(path: &Path, columns: &json::Map) {
    let root = root(path);
    assert_eq!(root.children().unwrap().len(), columns.len(), "{}", path.display());
    let names: Vec<&str> =
        root.attributes()["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names.len(), columns.len());
    for (name, said) in columns {
        let place = format!("{}: {name}", path.display());
        let array = root.open(name).unwrap().into_array().unwrap();
        let found = array.read_dyn(..).unwrap();
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
        // Spans of time are integers in Parquet, which has times of a day.
        columns.swap_remove("time");
        let again = root(&exported);
        for name in columns.keys() {
            let read = |group: &Group| group.open(name).unwrap().into_array().unwrap().read_dyn(..).unwrap();
            let (ours, before) = (read(&again), read(&zarrox::open_group(&zarr).unwrap()));
            // Parquet has no seconds, and integers of which some are missing become floats.
            let ours = match (before.data_type().to_string().as_str(), ours.data_type()) {
                ("datetime64[s]", _) => continue,
                ("int8", DataType::Float64) => {
                    let numbers = ours.to_typed::<f64>().unwrap().mapv(|n| if n.is_nan() { -1.0 } else { n });
                    let numbers = zarrox::DynArray::from_typed(DataType::Float64, &numbers).unwrap();
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
    assert_eq!(read("id").read::<u8>(..).unwrap().into_iter().collect::<Vec<_>>(), [1, 200]);
    let x = read("x").read::<f32>(..).unwrap();
    assert!(x[0] == 0.5 && x[1].is_nan());
    assert_eq!(read("day").read_dyn(..).unwrap().as_bytes()[8..], i64::MIN.to_ne_bytes());
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
    assert_eq!(n.chunk_shape(), [1 << 16]);
    assert!(n.read::<i64>(..).unwrap().iter().copied().eq(0..200_000));
    let text = group.open("text").unwrap().into_array().unwrap();
    assert_eq!(text.read_dyn(s![199_999]).unwrap().elements().next(), Some(b"t199999".as_slice()));
    // Parquet with groups that are smaller than a chunk, and memory that holds few rows.
    let target = directory.path().join("a.parquet");
    let file = std::fs::File::create(&target).unwrap();
    Table::new().memory(1 << 20).write_parquet(&Node::Group(group), file).unwrap();
    let n = root(&target).open("n").unwrap().into_array().unwrap();
    assert!(n.read::<i64>(..).unwrap().iter().copied().eq(0..200_000));
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
    points.write_dyn(.., &value.unwrap()).unwrap();
    let depth = group.create_array("depth").shape([2]).data_type(DataType::Int16);
    let depth =
        depth.attributes([("_FillValue".to_owned(), Json::from(-1))].into_iter().collect()).create().unwrap();
    depth.write(.., &ndarray::arr1(&[-1_i16, 5])).unwrap();
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
    let found = root(&target).open("depth").unwrap().into_array().unwrap().read::<f64>(..).unwrap();
    assert!(found[0].is_nan() && found[1] == 5.0);
    let other = node.clone().into_group().unwrap().create_array("other").shape([3]).data_type(DataType::Int8);
    other.create().unwrap();
    let error = Table::new().write_csv(&node, std::io::sink()).unwrap_err();
    assert!(error.to_string().contains("'depth' has 2 rows, and 'other' has 3"), "{error}");
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
    assert!(open("a.txt", b"a,b\n1,2\n").is_err());
    assert_eq!(open("empty.csv", b"").unwrap().left_out().len(), 0);
    open("only.csv", b"a,b\n").unwrap();
}
