//! The command in shells and terminals: completions, interrupts, links, limits, pagers, pictures, and JSON for programs.

#[cfg(unix)]
mod completions;
#[cfg(unix)]
mod interrupts;
mod json;
#[cfg(unix)]
mod limits;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod paging;
#[cfg(unix)]
mod plot;
