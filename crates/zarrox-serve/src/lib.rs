//! Zarr arrays and groups over HTTP.
//!
//! A [`Server`] serves the nodes and stored objects below its roots, and nothing else. The server is read-only.
//!
//! | path | response |
//! |---|---|
//! | `/data/` | stored bytes |
//! | `/v3/` | any hierarchy as Zarr 3 |
//! | `/api/v1/` | elements and metadata, for pages and scripts |
//!
//! The guide in `docs/guide` of the repository has a chapter about the server, and a chapter about this interface.
//!
//! ```
//! use zarrox_serve::Server;
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("a.zarr");
//! # zarrox::create_group(&path)?;
//! let running = Server::new().root("mine", &path)?.bind()?;
//! println!("{}", running.link()); // http://127.0.0.1:41215/?token=…
//! let stop = running.stop_handle();
//! let thread = std::thread::spawn(move || running.run());
//! // … later:
//! stop.stop();
//! thread.join().unwrap()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod api;
mod connections;
mod content;
mod data;
mod failure;
mod file;
mod frame;
mod guard;
mod json;
mod page;
mod place;
mod query;
mod ranges;
mod root;
mod roots;
mod router;
mod server;
mod v3;
mod work;

pub use roots::Roots;
pub use server::{Bound, Server, StopHandle};
