//! Web servers: a directory that is read over HTTP.

use std::path::Path;

use ndarray::Array1;
use zarrox::{ErrorKind, OpenMode, OpenOptions};
use zarrox::{prelude::*, s};
use zarrox_testkit::servers::address;

use super::unique;

#[test]
fn a_directory_is_read_over_http() {
    let (Some(url), Some(root)) = (address("HTTP"), address("HTTP_ROOT")) else { return };
    for format in [Format::V2, Format::V3] {
        let name = format!("{} odd %.zarr", unique());
        let options = OpenOptions::new().format(format);
        let array = options.create_array(Path::new(&root).join(&name).join("g/a"));
        let array = array.shape([100]).chunks([10]).data_type(DataType::Int32).create().unwrap();
        array.write(s![..95], Array1::from_iter(0..95)).unwrap();
        let place = format!("{url}/{}", name.replace('%', "%25").replace(' ', "%20"));
        let array = zarrox::open_array(format!("{place}/g/a")).unwrap();
        assert_eq!(array.read::<ArrayD<i32>>(..).unwrap().sum(), 4465);
        let error = array.write(.., Array1::from_elem(100, 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
        let error = zarrox::open(format!("{place}/g/b")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    }
}

#[test]
fn forbidden_objects_are_not_missing() {
    let Some(url) = address("HTTP") else { return };
    let error = OpenOptions::new().mode(OpenMode::Read).open(format!("{url}/private/a.zarr")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden, "{error}");
}
