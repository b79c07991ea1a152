//! A fuzz target that damages small hierarchies, and checks the guarantees that the library gives for any hierarchy. Damaged
//! files of other formats have a target for each reader, and requests to a server have a target as well.
//!
//! This is a separate crate, since `zarrox-testkit` is below `zarrox`.

mod bases;
mod contents;
mod elements;
mod input;
mod keys;
mod mutations;
mod promises;
pub mod readers;
mod reading;
pub mod urls;
mod values;

use zarrox::Result;

use bases::Base;
use contents::Contents;
use input::Input;

pub use readers::{READERS, Reader};
pub use urls::Urls;

/// The name of the fuzz target.
pub const NAME: &str = "hierarchy";

/// The fuzz target of whole hierarchies.
///
/// The first byte of the input chooses one of several small hierarchies, the second the options, and the rest is a program that
/// damages the stored values and keys. Then every node is opened and read, and the hierarchy is checked and repaired.
#[derive(Debug)]
pub struct Hierarchy {
    bases: Vec<Base>,
}

impl Hierarchy {
    /// Creates the hierarchies to damage.
    ///
    /// # Errors
    /// When the library cannot create or write one of the hierarchies.
    pub fn new() -> Result<Self> {
        Ok(Self { bases: bases::all()? })
    }

    /// Damages a hierarchy as the input says; panics if a guarantee is violated.
    pub fn run(&self, input: &[u8]) {
        if let Some(damaged) = self.damaged(input) {
            promises::demand(damaged.base, &damaged.contents, damaged.options & 1 == 1);
        }
    }

    /// Describes the keys that the input damages, and their values.
    pub fn describe(&self, input: &[u8]) -> String {
        self.damaged(input)
            .map(|damaged| contents::difference(&damaged.base.contents, &damaged.contents))
            .unwrap_or_default()
    }

    /// Returns the seeds, the same in every run: each hierarchy undamaged, and damaged by each kind of mutation.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let bases = (0_u8..).take(self.bases.len());
        bases
            .flat_map(|base| mutations::seeds().map(move |program| [vec![base, base & 1], program].concat()))
            .collect()
    }
    fn damaged(&self, input: &[u8]) -> Option<Damaged<'_>> {
        let [choice, options, program @ ..] = input else { return None };
        let base = self.bases.get(usize::from(*choice) % self.bases.len().max(1))?;
        let mut contents = base.contents.clone();
        mutations::damage(&mut Input(program), &mut contents, base.prefix);
        Some(Damaged { base, contents, options: *options })
    }
}

/// A hierarchy that an input has damaged.
struct Damaged<'h> {
    base: &'h Base,
    contents: Contents,
    options: u8,
}
