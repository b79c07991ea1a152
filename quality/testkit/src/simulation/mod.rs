//! A simulated machine: tasks that race one another over stores in memory, one at a time, in an order that follows from a seed.
//!
//! | file | contents |
//! |---|---|
//! | `schedule` | what happens at which step: chosen at random, or given |
//! | `disk` | what is stored, and what of it outlives a crash of the machine |
//! | `stage` | the tasks, whose turn it is, and the locks that they wait for |
//! | `store` | [`SimStore`]: each call of it is a step |
//!
//! A task runs alone until its next call of a store. There the schedule may let another task go on, let the call fail, kill the
//! task's process, crash the machine, or turn the clock. So a run is repeated exactly by its seed, and made smaller by leaving
//! decisions out.

mod disk;
mod schedule;
mod stage;
mod store;

pub use self::disk::Kind;
pub use self::schedule::{Decision, Odds, Random, Schedule};
pub use self::stage::{Contents, Ended, Stage, Work};
pub use self::store::SimStore;
