//! The command line of the driver.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::outcome::Outcome;
use crate::place::Kind;

/// Options of a run.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) stores: Vec<Kind>,
    /// The number of kills over each store.
    pub(crate) kills: usize,
    /// The seed of all random choices.
    pub(crate) seed: u64,
    /// Skips the four writers.
    pub(crate) only_kills: bool,
    /// Skips the kills at random moments.
    pub(crate) only_writers: bool,
    /// The directory for hierarchies and results.
    pub(crate) directory: PathBuf,
    /// The Python with the other implementations; without it they are skipped.
    pub(crate) python: Option<String>,
    /// The number of simulated runs, instead of real ones.
    pub(crate) simulate: Option<u64>,
    /// The duration of simulated runs.
    pub(crate) seconds: Option<u64>,
    /// The operations, faults and stores that are excluded from simulated runs.
    pub(crate) without: Vec<String>,
    /// Counts failures without printing runs.
    pub(crate) only_count: bool,
}

impl Options {
    /// Returns true if runs are simulated.
    pub(crate) fn is_simulated(&self) -> bool {
        self.simulate.is_some() || self.seconds.is_some()
    }
}

/// Parses the arguments.
pub(crate) fn parse(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options {
        stores: Vec::new(),
        kills: 50,
        seed: new_seed(),
        only_kills: false,
        only_writers: false,
        directory: PathBuf::from("target/torture"),
        python: None,
        simulate: None,
        seconds: None,
        without: Vec::new(),
        only_count: false,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("'{argument}' needs a value"));
        match argument.as_str() {
            "--store" => options.stores.push(Kind::from_name(value()?)?),
            "--kills" => options.kills = number(value()?)?,
            "--seed" => options.seed = number(value()?)?,
            "--only-kills" => options.only_kills = true,
            "--only-writers" => options.only_writers = true,
            "--directory" => options.directory = value()?.into(),
            "--simulate" => options.simulate = Some(number(value()?)?),
            "--only-count" => options.only_count = true,
            "--seconds" => options.seconds = Some(number(value()?)?),
            "--without" => options.without.extend(value()?.split(',').map(str::to_owned)),
            "--python" => options.python = Some(value()?.clone()),
            _ => return Err(format!("unknown option '{argument}': `cargo xtask torture --help` lists them")),
        }
    }
    if options.stores.is_empty() {
        options.stores = Kind::ALL.to_vec();
    }
    Ok(options)
}

fn number<T: std::str::FromStr>(text: &str) -> Outcome<T> {
    text.parse().map_err(|_| format!("'{text}' is not a number"))
}

/// Returns a different seed in each run.
fn new_seed() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    time.map_or(0, |time| u64::from(time.subsec_nanos()) ^ time.as_secs()) % 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Outcome<Options> {
        parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_read_or_refused() {
        let options = parsed("--store zip --store s3 --kills 7 --seed 9").unwrap();
        assert_eq!((options.stores, options.kills, options.seed), (vec![Kind::Zip, Kind::S3], 7, 9));
        assert_eq!(parsed("").unwrap().stores.len(), Kind::ALL.len());
        for wrong in ["--kills", "--kills many", "--store tape", "--kill 3"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
