//! The header.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules with items of the header, in its order.
const MODULES: [&str; 14] = [
    "status",
    "table",
    "block",
    "callback",
    "cancel",
    "element_type",
    "nodes",
    "metadata",
    "region",
    "elements",
    "text",
    "dlpack",
    "arrow",
    "arguments",
];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// To write the header: `ZARROX_WRITE_HEADER=1 cargo test -p zarrox-c header`.
#[test]
fn the_header_is_that_of_the_source() {
    let config = cbindgen::Config::from_file(path("cbindgen.toml")).unwrap();
    let builder = cbindgen::Builder::new().with_config(config);
    let files = MODULES.iter().map(|module| path(&format!("src/{module}.rs")));
    let bindings = files.fold(builder, cbindgen::Builder::with_src).generate().unwrap();
    let mut text = Vec::new();
    bindings.write(&mut text);
    let header = path("include/zarrox.h");
    if std::env::var_os("ZARROX_WRITE_HEADER").is_some() {
        fs::write(&header, &text).unwrap();
    }
    let is_same = fs::read(&header).is_ok_and(|there| there == text);
    assert!(is_same, "include/zarrox.h is stale: run ZARROX_WRITE_HEADER=1 cargo test -p zarrox-c header");
}

/// A function that does not begin with the guard could let a panic out.
#[test]
fn every_function_runs_within_the_guard() {
    let mut functions = 0;
    for file in fs::read_dir(path("src")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for function in text.split("pub unsafe extern \"C\" fn zarrox_").skip(1) {
            let body = function.split_once("-> i32 {\n").map_or("", |(_, body)| body);
            let first = body.lines().find(|line| !line.trim_start().starts_with("//")).unwrap_or_default();
            let name = function.split('(').next().unwrap_or_default();
            assert!(first.trim_start().starts_with("guard(") || name == "free", "zarrox_{name}");
            functions += 1;
        }
    }
    assert!(functions > 20);
}

#[test]
fn the_version_of_the_pkg_config_file_is_that_of_the_crate() {
    let text = fs::read_to_string(path("zarrox.pc")).unwrap();
    assert!(text.contains(concat!("\nVersion: ", env!("CARGO_PKG_VERSION"), "\n")));
}
