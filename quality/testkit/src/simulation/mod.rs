//! A simulated machine: tasks that race over stores in memory, one at a time, in an order that follows from a seed.
//!
//! | file | contents |
//! |---|---|
//! | `schedule` | the decision at each step: random, or given |
//! | `disk` | the stored values, and which of them survive a crash of the machine |
//! | `stage` | the tasks, which of them runs, and the locks that they wait for |
//! | `store` | [`SimStore`]: each call of it is a step |
//!
//! A task runs alone until its next call of a store. At that call, the schedule may switch to another task, make the call fail,
//! kill the task's process, crash the machine, or change the clock. So a run is repeated exactly by its seed, and shrunk by
//! omitting decisions.

mod disk;
mod schedule;
mod stage;
mod store;

pub use self::disk::Kind;
pub use self::schedule::{Decision, Odds, Random, Schedule};
pub use self::stage::{Contents, Ended, Stage, Work};
pub use self::store::SimStore;
