//! Pictures in a terminal: coloured half blocks, shades of text, or the protocols of terminals that can show images.

mod blocks;
mod colours;
mod kitty;
mod points;
mod protocol;
mod shades;
mod sixel;

use std::io::{self, Write};

use zarrox_files::picture::Colours;

pub(crate) use points::{Picture, Point};
pub(crate) use protocol::Protocol;

impl Picture {
    /// Prints the picture.
    pub(crate) fn print(&self, protocol: Protocol, map: &Colours, out: &mut dyn Write) -> io::Result<()> {
        match protocol {
            Protocol::Text => shades::print(self, out),
            Protocol::Colours | Protocol::TrueColours => {
                blocks::print(self, map, protocol == Protocol::TrueColours, out)
            }
            Protocol::Sixel => sixel::print(self, map, out),
            Protocol::Kitty => kitty::print(self, map, out),
        }
    }
}
