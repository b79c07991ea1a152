//! The graphics protocol of Kitty: raw pixels in base64, in chunks.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarrox_files::picture::Colours;

use super::colours::of;
use super::points::Picture;

/// The maximum number of base64 characters per escape sequence.
const PIECE: usize = 4096;

pub(super) fn print(picture: &Picture, map: &Colours, out: &mut dyn Write) -> io::Result<()> {
    let pixel = |&point| match of(map, point) {
        Some([red, green, blue]) => [red, green, blue, 255],
        None => [0; 4],
    };
    let pixels: Vec<u8> = picture.points.iter().flat_map(pixel).collect();
    let encoded = STANDARD.encode(pixels);
    let mut pieces = encoded.as_bytes().chunks(PIECE).peekable();
    let mut head = format!("a=T,f=32,s={},v={},", picture.width, picture.height());
    while let Some(piece) = pieces.next() {
        let more = u8::from(pieces.peek().is_some());
        write!(out, "\x1b_G{head}m={more};")?;
        out.write_all(piece)?;
        write!(out, "\x1b\\")?;
        head.clear();
    }
    writeln!(out)
}
