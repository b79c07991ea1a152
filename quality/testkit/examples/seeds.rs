//! Writes the seeds of fuzzing below the directory in its argument: one directory for each target. Without an argument it only
//! prints the names of the targets.

#![expect(clippy::print_stdout, reason = "printing is what this program does")]

use std::error::Error;
use std::path::Path;

use zarrox_hostile::{Hierarchy, READERS, Reader, Urls, urls};
use zarrox_testkit::fuzz::{self, Target};

fn main() -> Result<(), Box<dyn Error>> {
    let mut names = fuzz::names();
    names.extend([zarrox_hostile::NAME, urls::NAME].map(str::to_owned));
    names.extend(READERS.map(|reader| reader.name.to_owned()));
    names.sort();
    let Some(directory) = std::env::args_os().nth(1) else {
        names.iter().for_each(|name| println!("{name}"));
        return Ok(());
    };
    for name in names {
        let directory = Path::new(&directory).join(&name);
        std::fs::create_dir_all(&directory)?;
        for (number, seed) in seeds(&name)?.iter().enumerate() {
            std::fs::write(directory.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

fn seeds(name: &str) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    if name == zarrox_hostile::NAME {
        return Ok(Hierarchy::new()?.seeds());
    }
    if let Some(reader) = Reader::of_name(name) {
        return Ok(reader.seeds());
    }
    if name == urls::NAME {
        return Ok(Urls::seeds());
    }
    Ok(Target::new(zarrox::codecs::registry(), name)?.seeds())
}
