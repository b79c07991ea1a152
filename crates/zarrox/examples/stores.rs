//! The same program with a directory, a zip archive, and memory. URLs of object stores work in the same way:
//! `s3://bucket/a.zarr`.

use std::sync::Arc;

use zarrox::Place;
use zarrox::prelude::*;
use zarrox::stores::MemoryStore;

fn program(place: impl Into<Place>) -> zarrox::Result<f32> {
    let place = place.into();
    let array = zarrox::create_array(place.clone()).shape([100]).data_type(DataType::Float32).create()?;
    array.write(.., 0.25)?;
    // An archive is complete after it was flushed, or its last handle was dropped.
    array.flush()?;
    Ok(zarrox::open_array(place)?.read::<Array1<f32>>(..)?.sum())
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    assert_eq!(program(directory.path().join("a.zarr"))?, 25.0);
    assert_eq!(program(directory.path().join("a.zip"))?, 25.0);
    assert_eq!(program((Arc::new(MemoryStore::new()), "group/array"))?, 25.0);
    Ok(())
}
