//! The work of the fuzz targets, and their seeds.
//!
//! This work is not in the crate `fuzz`, so that ordinary tests can repeat it with every input that once failed.

mod chains;
mod documents;

use std::path::{Path, PathBuf};

use zarrox_core::{Registry, Result};

use crate::codec::Random;
use crate::examples::EXAMPLES;
use crate::files::entries;
use crate::specimen::Specimen;

/// The subject of a fuzz target.
#[derive(Debug)]
enum Kind {
    /// One decoder, in the chains of its examples: the first byte chooses an example, the rest is the encoded chunk.
    Decoder(Vec<Specimen>),
    /// Codec chains that the input describes.
    Chain,
    /// Metadata documents.
    Documents,
}

/// A fuzz target: the work that is done with any bytes.
#[derive(Debug)]
pub struct Target {
    name: String,
    kind: Kind,
    registry: Registry,
}

/// Returns the names of all targets: one for each codec that has an example, where `.` becomes `_`; `chain`; and `documents`.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = EXAMPLES.iter().map(|example| target_name(example.codec)).collect();
    names.extend(["chain", "documents"].map(str::to_owned));
    names.sort();
    names.dedup();
    names
}

/// Returns the folders of inputs that fuzzing once found, each with the name of its target.
///
/// # Panics
///
/// When the directory is empty.
pub fn folders_of_regressions() -> Vec<PathBuf> {
    entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/regressions"))
}

/// Returns the inputs that fuzzing once found for a target; empty if it found nothing.
///
/// # Panics
///
/// When no target has such inputs, or the target's folder is empty.
pub fn regressions(target: &str) -> Vec<PathBuf> {
    let folder = folders_of_regressions().into_iter().find(|folder| folder.ends_with(target));
    folder.map_or_else(Vec::new, |folder| entries(&folder))
}

/// Returns a name without `.`: this character is invalid in the name of a program.
fn target_name(codec: &str) -> String {
    codec.replace('.', "_")
}

impl Target {
    /// Creates the target with a name, with the codecs of the registry.
    pub fn new(registry: Registry, name: &str) -> Result<Self> {
        let kind = match name {
            "chain" => Kind::Chain,
            "documents" => Kind::Documents,
            _ => {
                let examples = EXAMPLES.iter().filter(|example| target_name(example.codec) == name);
                Kind::Decoder(examples.map(|e| Specimen::new(&registry, e)).collect::<Result<_>>()?)
            }
        };
        Ok(Self { name: name.to_owned(), kind, registry })
    }

    /// Runs the target with these bytes; panics if a guarantee is violated.
    pub fn run(&self, input: &[u8]) {
        match &self.kind {
            Kind::Decoder(specimens) => {
                let Some((&choice, encoded)) = input.split_first() else { return };
                let Some(specimen) = specimens.get(usize::from(choice) % specimens.len().max(1)) else {
                    return;
                };
                specimen.examine(&self.registry, encoded, &mut Random::of_input(encoded));
            }
            Kind::Chain => chains::run(&self.registry, input),
            Kind::Documents => documents::run(&self.registry, input),
        }
    }

    /// Returns the seeds: valid inputs, the same in every run.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let mut random = Random::new(5);
        match &self.kind {
            Kind::Decoder(specimens) => {
                let choices = specimens.iter().zip(0_u8..);
                let seed = |(specimen, choice): (&Specimen, u8)| {
                    [vec![choice], specimen.encoded(&self.registry, &mut random)].concat()
                };
                choices.map(seed).collect()
            }
            Kind::Chain => chains::seeds(&self.registry, &mut random),
            Kind::Documents => documents::seeds(&self.registry),
        }
    }

    /// Returns the target's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}
