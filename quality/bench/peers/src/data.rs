//! Data sets: their documents, and writing data sets and outputs to the disk.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Value, json};

use zarrox_runner::run::{self, Outcome};

/// A hierarchy that contestants read.
#[derive(Debug)]
pub(crate) struct DataSet {
    pub(crate) name: String,
    /// The paths and contents of the metadata documents. The first document is that of the root.
    documents: Vec<(String, Value)>,
    contents: Contents,
}

/// The content besides the documents.
#[derive(Debug)]
enum Contents {
    Nothing,
    /// Our own program writes the values of this formula.
    Values(&'static str),
    /// Chunks with these keys, each with this number of bytes that are all 1.
    Chunks(Vec<String>, usize),
}

impl DataSet {
    fn new(name: &str, documents: Vec<(String, Value)>, contents: Contents) -> Rc<Self> {
        Rc::new(Self { name: name.to_owned(), documents, contents })
    }

    /// Returns an array with the values of a formula.
    pub(crate) fn array(name: &str, document: Value, values: &'static str) -> Rc<Self> {
        Self::new(name, vec![(file_name(&document).to_owned(), document)], Contents::Values(values))
    }

    /// Returns a data set of documents only.
    pub(crate) fn documents(name: &str, documents: Vec<(String, Value)>) -> Rc<Self> {
        Self::new(name, documents, Contents::Nothing)
    }

    /// Returns an array in which only these chunks are stored.
    pub(crate) fn chunks(name: &str, document: Value, keys: Vec<String>, length: usize) -> Rc<Self> {
        Self::new(name, vec![(file_name(&document).to_owned(), document)], Contents::Chunks(keys, length))
    }

    /// Returns the document of the root.
    pub(crate) fn document(&self) -> &Value {
        &self.documents[0].1
    }

    /// Returns the version of the Zarr format.
    pub(crate) fn format(&self) -> u64 {
        self.document()["zarr_format"].as_u64().unwrap_or_default()
    }

    /// Returns the disk space without compression. A small file uses a block of the disk.
    pub(crate) fn bytes(&self) -> u64 {
        let small = 4096;
        let documents = small * self.documents.len() as u64;
        match &self.contents {
            Contents::Nothing => documents,
            Contents::Chunks(keys, _) => documents + small * keys.len() as u64,
            Contents::Values(_) => bytes(self.document(), &numbers(&self.document()["shape"])),
        }
    }

    /// Returns the directory of the data set below another directory. A missing data set is created: `fill` writes the values of
    /// a formula into the array at a path.
    pub(crate) fn made(&self, parent: &Path, fill: impl FnOnce(&str, &str) -> Outcome) -> Outcome<String> {
        let directory = run::absolute(parent.join(&self.name))?;
        let marker = parent.join(format!("{}.made", self.name));
        let wanted = self.description();
        if run::read(&marker).is_ok_and(|made| made == wanted) {
            return Ok(directory);
        }
        self.remove(parent)?;
        for (path, document) in &self.documents {
            run::write(Path::new(&directory).join(path), &format!("{document:#}\n"))?;
        }
        match &self.contents {
            Contents::Nothing => {}
            Contents::Values(formula) => fill(&directory, formula)?,
            Contents::Chunks(keys, length) => {
                let chunk = "\u{1}".repeat(*length);
                keys.iter().try_for_each(|key| run::write(Path::new(&directory).join(key), &chunk))?;
            }
        }
        run::write(marker, &wanted)?;
        Ok(directory)
    }

    /// Deletes the data set. The marker is deleted first: the rest must not be mistaken for a data set.
    pub(crate) fn remove(&self, parent: &Path) -> Outcome {
        let marker = parent.join(format!("{}.made", self.name));
        if marker.exists() {
            std::fs::remove_file(&marker).map_err(|error| format!("{}: {error}", marker.display()))?;
        }
        run::remove_directory(parent.join(&self.name))
    }

    /// Returns a description of everything that determines the content of the disk.
    fn description(&self) -> String {
        let contents = match &self.contents {
            Contents::Nothing => json!(null),
            Contents::Values(formula) => json!(formula),
            Contents::Chunks(keys, length) => json!([keys, length]),
        };
        json!([self.documents, contents]).to_string() + "\n"
    }
}

/// Writes an array that consists only of its document.
pub(crate) fn write_array(directory: &Path, document: &Value) -> Outcome {
    run::empty_directory(directory)?;
    run::write(directory.join(file_name(document)), &format!("{document:#}\n"))
}

/// Copies a directory with its content.
pub(crate) fn copy(from: &Path, to: &Path) -> Outcome {
    run::empty_directory(to)?;
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let copied: PathBuf = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &copied)?;
        } else {
            std::fs::copy(&path, &copied).map_err(failed)?;
        }
    }
    Ok(())
}

/// Returns the document of an array of v3.
pub(crate) fn v3(shape: &[u64], chunk: &[u64], data_type: &str, codecs: &[Value]) -> Value {
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": if data_type.starts_with("float") { json!(0.0) } else { json!(0) },
        "codecs": codecs,
        "attributes": {},
    })
}

/// Returns the document of an array of v2.
pub(crate) fn v2(shape: &[u64], chunk: &[u64], data_type: &str, compressor: &Value) -> Value {
    json!({
        "zarr_format": 2,
        "shape": shape,
        "chunks": chunk,
        "dtype": data_type,
        "compressor": compressor,
        "fill_value": if data_type.contains('f') { json!(0.0) } else { json!(0) },
        "order": "C",
        "filters": null,
    })
}

/// Returns the sharding codec, with the usual index.
pub(crate) fn sharding(inner: &[u64], codecs: &[Value]) -> Value {
    let index = [json!({"name": "bytes", "configuration": {"endian": "little"}}), json!({"name": "crc32c"})];
    json!({"name": "sharding_indexed", "configuration":
        {"chunk_shape": inner, "codecs": codecs, "index_codecs": index, "index_location": "end"}})
}

fn file_name(document: &Value) -> &'static str {
    if document["zarr_format"] == 2 { ".zarray" } else { "zarr.json" }
}

/// Returns the size in bytes of all elements of an array with this document and shape.
pub(crate) fn bytes(document: &Value, shape: &[u64]) -> u64 {
    let digits = |text: &str| text.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8);
    let width = match (document["dtype"].as_str(), document["data_type"].as_str()) {
        (Some(bytes), _) => digits(bytes),
        (_, Some(bits)) => digits(bits) / 8,
        _ => 0,
    };
    shape.iter().product::<u64>() * width
}

/// Returns a list of numbers.
pub(crate) fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

/// Returns the box that covers an array.
pub(crate) fn whole(shape: &[u64]) -> Vec<[u64; 2]> {
    shape.iter().map(|length| [0, *length]).collect()
}

/// A regular grid over an array.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    shape: &'a [u64],
    chunk: &'a [u64],
}

impl<'a> Grid<'a> {
    pub(crate) fn new(shape: &'a [u64], chunk: &'a [u64]) -> Self {
        Self { shape, chunk }
    }

    /// Returns the boxes of all chunks, with the last axis varying fastest.
    pub(crate) fn boxes(&self) -> Vec<Vec<[u64; 2]>> {
        let axes = self.shape.iter().zip(self.chunk);
        axes.fold(vec![Vec::new()], |boxes, (length, size)| {
            let starts = || (0..*length).step_by(usize::try_from(*size).unwrap_or(usize::MAX));
            let with = |area: Vec<[u64; 2]>| {
                starts().map(move |start| [area.clone(), vec![[start, (start + size).min(*length)]]].concat())
            };
            boxes.into_iter().flat_map(with).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_boxes_that_end_with_the_array() {
        let expected = [[[0, 2], [0, 3]], [[0, 2], [3, 4]], [[2, 3], [0, 3]], [[2, 3], [3, 4]]];
        assert_eq!(Grid::new(&[3, 4], &[2, 3]).boxes(), expected);
    }

    #[test]
    fn elements_are_as_wide_as_their_type_says() {
        assert_eq!(bytes(&v3(&[3, 4], &[3, 4], "uint16", &[]), &[3, 4]), 24);
        assert_eq!(bytes(&v2(&[3, 4], &[3, 4], ">f8", &Value::Null), &[3, 4]), 96);
    }

    #[test]
    fn a_data_set_is_made_once_unless_it_changes() {
        let parent = run::empty_directory(std::env::temp_dir().join("zarrox-xtask-data-set")).unwrap();
        let filled = std::cell::Cell::new(0);
        let make = |values| {
            let set = DataSet::array("a", v3(&[4], &[2], "uint8", &[]), values);
            let made = set.made(&parent, |path, formula| {
                filled.set(filled.get() + 1);
                run::write(Path::new(path).join("c/0"), formula)
            });
            (set, made.unwrap())
        };
        make("ramp");
        make("ramp");
        assert_eq!(filled.get(), 1);
        let (set, directory) = make("smooth");
        assert_eq!(filled.get(), 2);

        let output = parent.join("output");
        copy(Path::new(&directory), &output).unwrap();
        assert_eq!(run::read(output.join("c/0")).unwrap(), "smooth");
        write_array(&output, set.document()).unwrap();
        assert!(!output.join("c").exists() && output.join("zarr.json").exists());

        set.remove(&parent).unwrap();
        assert!(!Path::new(&directory).exists());
        std::fs::remove_dir_all(parent).unwrap();
    }
}
