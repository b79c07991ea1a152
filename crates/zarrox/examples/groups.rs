//! Builds a hierarchy of groups and arrays, and walks through it.

#![expect(clippy::print_stdout, reason = "the program prints what it reads")]

use zarrox::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let root = zarrox::create_group(directory.path().join("station.zarr"))?;
    for name in ["temperature", "pressure"] {
        root.create_array(format!("2024/{name}")).shape([366]).data_type(DataType::Float32).create()?;
    }

    for child in root.open_group("2024")?.children()? {
        let array = child.node?.into_array()?;
        println!("{} {:?} {}", array.name(), array.shape(), array.data_type());
    }
    println!("{}", root.tree()?);

    root.move_node("2024/pressure", "pressure")?;
    root.delete("2024")?;
    assert!(root.contains("pressure")? && !root.contains("2024")?);
    Ok(())
}
