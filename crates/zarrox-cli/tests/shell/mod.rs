//! The command in shells and terminals: completions, interrupts, pagers, pictures, and JSON for programs.

#[cfg(unix)]
mod completions;
#[cfg(unix)]
mod interrupts;
mod json;
#[cfg(unix)]
mod limits;
#[cfg(unix)]
mod paging;
#[cfg(unix)]
mod plot;
