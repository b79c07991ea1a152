//! Damaged hierarchies: a fuzz target that damages small ones, and demands of the library what it promises of any.
//!
//! This is a crate of its own, since `zarrox-testkit` is below `zarrox`.

mod bases;
mod contents;
mod elements;
mod mutations;
mod promises;
mod reading;

use zarrox::Result;

use bases::Base;
use mutations::Mutator;

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
    /// Creates the hierarchies that are damaged.
    ///
    /// # Errors
    /// When the library does not create or write one of them.
    pub fn new() -> Result<Self> {
        Ok(Self { bases: bases::all()? })
    }

    /// Damages a hierarchy in the way that the input tells; panics where a promise is broken.
    pub fn run(&self, input: &[u8]) {
        let [choice, options, program @ ..] = input else { return };
        let Some(base) = self.bases.get(usize::from(*choice) % self.bases.len().max(1)) else { return };
        let mut contents = base.contents.clone();
        Mutator::new(program).damage(&mut contents, base.prefix);
        promises::demand(base, &contents, options & 1 == 1);
    }

    /// The keys that are stored after the input's damage and their sizes, for people.
    pub fn describe(&self, input: &[u8]) -> String {
        let [choice, _, program @ ..] = input else { return String::new() };
        let Some(base) = self.bases.get(usize::from(*choice) % self.bases.len().max(1)) else {
            return String::new();
        };
        let mut contents = base.contents.clone();
        Mutator::new(program).damage(&mut contents, base.prefix);
        contents::difference(&base.contents, &contents)
    }

    /// Inputs to begin with, the same in every run: each hierarchy undamaged, and damaged by each kind of mutation.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let bases = (0_u8..).take(self.bases.len());
        bases
            .flat_map(|base| mutations::seeds().map(move |program| [vec![base, base & 1], program].concat()))
            .collect()
    }
}
