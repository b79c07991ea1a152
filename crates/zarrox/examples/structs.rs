//! Stores Rust structs as elements, and reads single fields.

use zarrox::{prelude::*, s};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, packed)]
struct Particle {
    id: u32,
    x: f32,
    y: f32,
    energy: f64,
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let particles = zarrox::create_array(directory.path().join("particles.zarr"))
        .shape([1000])
        .data_type(Particle::data_type())
        .create()?;
    particles.write(s![7], Particle { id: 1, x: 0.5, y: 1.0, energy: 13.6 })?;

    let Particle { id, energy, .. } = particles.get([7])?;
    assert_eq!((id, energy), (1, 13.6));
    let energies: Array1<f64> = particles.field("energy").read()?;
    assert_eq!(energies.sum(), 13.6);
    particles.field("y").slice(s![7]).write(1.5)?;
    let place: DynArray = particles.slice(s![7]).fields(&["x", "y"]).read()?;
    assert_eq!(place.field("y")?.to::<Vec<f32>>()?, [1.5]);
    Ok(())
}
