//! Stores text of any length, and times of the crate jiff.

use jiff::civil::{DateTime, date};
use zarrox::data_type::TimeUnit;
use zarrox::{prelude::*, s};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let root = zarrox::create_group(directory.path().join("voyage.zarr"))?;

    let ports = root.create_array("port").shape([3]).data_type(DataType::string()).create()?;
    ports.write(s![..2], ["Stralsund", "Føroyar"])?;
    assert_eq!(ports.read::<Vec<String>>(..)?, ["Stralsund", "Føroyar", ""]);

    let minutes = DataType::datetime64(TimeUnit::Minute);
    let arrivals = root.create_array("arrival").shape([3]).data_type(minutes).create()?;
    arrivals.write(s![0], date(2026, 5, 1).at(14, 30, 0, 0))?;
    let read = arrivals.read::<Vec<Option<DateTime>>>(..)?;
    assert_eq!(read, [Some(date(2026, 5, 1).at(14, 30, 0, 0)), None, None]);
    Ok(())
}
