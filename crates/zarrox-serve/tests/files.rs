//! Files of other formats as roots: HDF5, NetCDF, TIFF, NumPy, and references.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::fs;
use std::path::Path;

use serde_json::json;
use zarrox::prelude::*;
use zarrox_files::{Export, Target, export_file};
use zarrox_serve::Server;

use crate::common::Client;

/// A hierarchy of a map with its coordinates.
fn hierarchy(path: &Path) {
    let root = zarrox::create_group(path).unwrap();
    let lat = root.create_array("lat").shape([4]).data_type(DataType::Float64).dimension_names(["lat"]);
    lat.create().unwrap().write(.., arr1(&[-60.0, -20.0, 20.0, 60.0])).unwrap();
    let map = root.create_array("t2m").shape([4, 6]).chunks([2, 3]).data_type(DataType::Float32);
    let map = map.dimension_names(["lat", "lon"]).attributes([("units", "K")]).create().unwrap();
    map.write(.., Array2::from_shape_vec((4, 6), (0_u8..24).map(f32::from).collect()).unwrap()).unwrap();
}

#[test]
fn files_are_hierarchies_as_an_import_makes_them() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("a.zarr");
    hierarchy(&source);
    for (name, format) in [("a.h5", "HDF5"), ("a.nc", "HDF5")] {
        let file = directory.path().join(name);
        export_file(&source, &file).unwrap();
        let before = fs::read(&file).unwrap();
        let client = Client::new(Server::new().token(None).root(name, &file).unwrap());
        let node = client.json(&format!("/api/v1/node/{name}/t2m"));
        assert_eq!((&node["shape"], &node["file"]["format"]), (&json!([4, 6]), &json!(format)), "{name}");
        assert_eq!(node["attributes"]["units"], "K");
        let slice = client.json(&format!("/api/v1/slice/{name}/t2m?select=1,2:4&as=json"));
        assert_eq!(slice["values"], json!([8.0, 9.0]), "{name}");
        let tree = client.json(&format!("/api/v1/tree/{name}/"));
        assert!(tree["children"].as_array().unwrap().iter().any(|child| child["name"] == "t2m"), "{tree}");
        let document = client.json(&format!("/v3/{name}/t2m/zarr.json"));
        assert_eq!(document["dimension_names"], json!(["lat", "lon"]));
        // The imported file has the same elements.
        let imported = directory.path().join(format!("{name}.zarr"));
        zarrox_files::import_file(&file, &imported).unwrap();
        let whole = client.json(&format!("/api/v1/slice/{name}/t2m?as=json"));
        let elements = zarrox::open_array(imported.join("t2m")).unwrap().read::<Array2<f32>>(..).unwrap();
        assert_eq!(whole["values"][3][5], json!(elements[[3, 5]]));
        assert_eq!(fs::read(&file).unwrap(), before, "a server never writes");
    }
}

#[test]
fn images_and_arrays_of_numpy_are_roots() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("image.zarr");
    let image = zarrox::create_array(&source).shape([30, 40]).data_type(DataType::UInt16).create().unwrap();
    image.write(.., Array2::from_shape_vec((30, 40), (0_u16..1200).collect()).unwrap()).unwrap();
    let tiff = directory.path().join("a.tif");
    Export::new().target(Target::Tiff).run(&source, &tiff).unwrap();
    let npy = directory.path().join("a.npy");
    let header = b"\x93NUMPY\x01\x00\x46\x00{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }";
    let mut bytes = header.to_vec();
    bytes.resize(79, b' ');
    bytes.extend(b"\n\x01\0\x02\0\x03\0");
    fs::write(&npy, bytes).unwrap();
    let server = Server::new().token(None).root("tiff", &tiff).unwrap().root("npy", &npy).unwrap();
    let client = Client::new(server);
    let tree = client.json("/api/v1/node/tiff/");
    assert_eq!(tree["file"]["format"], "TIFF", "{tree}");
    let numbers = client.json("/api/v1/slice/npy/?as=json");
    assert_eq!(numbers["values"], json!([1, 2, 3]));
}

#[test]
fn references_of_kerchunk_are_roots() {
    let directory = tempfile::tempdir().unwrap();
    let array = r#"{"zarr_format":2,"shape":[3],"chunks":[3],"dtype":"|u1","compressor":null,"fill_value":0,"order":"C","filters":null}"#;
    let references = json!({"version": 1, "refs": {".zgroup": "{\"zarr_format\":2}", "a/.zarray": array, "a/0": "base64:BwgJ"}});
    let file = directory.path().join("refs.json");
    fs::write(&file, references.to_string()).unwrap();
    let client = Client::new(Server::new().token(None).root("refs.json", &file).unwrap());
    let slice = client.json("/api/v1/slice/refs.json/a?as=json");
    assert_eq!(slice["values"], json!([7, 8, 9]));
}

#[test]
fn a_file_that_is_replaced_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let [first, second] = ["a.zarr", "b.zarr"].map(|name| directory.path().join(name));
    hierarchy(&first);
    let array = zarrox::create_array(&second).shape([3]).data_type(DataType::Int16).create().unwrap();
    array.write(.., arr1(&[7_i16, 8, 9])).unwrap();
    let (served, other) = (directory.path().join("a.nc"), directory.path().join("other.h5"));
    export_file(&first, &served).unwrap();
    export_file(&second, &other).unwrap();
    let client = Client::new(Server::new().token(None).root("a", &served).unwrap());
    let slice = |path: &str| client.json(&format!("/api/v1/slice/a/{path}?as=json"));
    assert_eq!(slice("t2m")["values"][3][5], json!(23.0));
    let names = || client.json("/v3/a/zarr.json")["consolidated_metadata"]["metadata"].clone();
    assert!(names().get("t2m").is_some(), "{}", names());
    // A deleted file remains open.
    let before = fs::read(&served).unwrap();
    fs::remove_file(&served).unwrap();
    assert_eq!(slice("lat")["values"], json!([-60.0, -20.0, 20.0, 60.0]));
    // A file that is incomplete is an error until it is complete.
    fs::write(&served, &fs::read(&other).unwrap()[..100]).unwrap();
    let answer = client.get("/api/v1/node/a/");
    assert!(answer.status >= 400 && answer.message().contains("a.nc"), "{answer:?}");
    fs::rename(&other, &served).unwrap();
    let found = client.json("/api/v1/tree/a/");
    let name = found["children"][0]["name"].as_str().unwrap_or_default();
    assert_eq!(slice(name)["values"], json!([7, 8, 9]), "{found}");
    assert!(names().get("t2m").is_none(), "{}", names());
    fs::write(&served, before).unwrap();
    assert_eq!(slice("t2m")["values"][3][5], json!(23.0));
}

#[test]
fn damaged_files_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.h5");
    fs::write(&file, b"\x89HDF\r\n\x1a\n and nothing else").unwrap();
    let error = Server::new().root("a.h5", &file).unwrap_err();
    assert!(error.to_string().contains("a.h5"), "{error}");
}
