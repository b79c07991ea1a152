//! `zarrox plot`: draws a heat map or a line plot in the terminal.

use std::io::Write;

use clap::Args;
use zarrox::{Array, ErrorKind, Result, Selection};
use zarrox_files::picture::{Colours, NAMES};

use super::reduced::{Reduce, Reduced, reduced};
use crate::args::{ByteSize, Global};
use crate::exit::{Failure, note, printable, usage};
use crate::interrupt;
use crate::part::Part;
use crate::print::picture::{Picture, Point, Protocol};
use crate::print::tuple;

/// The size in columns and lines that is assumed for a terminal that does not report its size.
const TERMINAL: (u16, u16) = (80, 24);

/// The number of terminal lines that are reserved for text.
const BESIDE: usize = 4;

/// The size of pictures in pixel-based protocols.
const FINE: (usize, usize) = (800, 480);

/// The size in bytes from which only a sample of the elements is read.
const ALL: u64 = 256 << 20;

/// Draw a part of an array in the terminal: two dimensions as a heat map, one as a line
///
/// The picture is downsampled to the size of the terminal. If the output is a file or pipe, or NO_COLOR is set, it consists of
/// characters of different density. Missing values have a separate colour: NaN, the values of the attributes _FillValue and
/// missing_value, and the fill value unless it is 0.
#[derive(Debug, Args)]
pub(crate) struct Plot {
    /// The array, or a selection: 'a.zarr/t2m[-1]'
    path: String,

    #[command(flatten)]
    part: Part,

    /// The colormap: viridis, gray, gray_r, magma, inferno, plasma, cividis, rdbu, prgn, coolwarm
    #[arg(long, value_name = "NAME", default_value = "viridis", value_parser = NAMES, hide_possible_values = true)]
    cmap: String,

    /// The contrast limits: the values of the first and the last colour, such as 0,100 [default: the extremes of the drawn values]
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', allow_hyphen_values = true)]
    range: Vec<f64>,

    /// The width in characters, or in pixels for images
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    width: Option<u16>,

    /// The height in lines, or in pixels for images
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    height: Option<u16>,

    /// The downsampling method: the mean of all elements of a point, or a single element [default: mean, up to 256 MiB]
    #[arg(long)]
    reduce: Option<Reduce>,

    /// The graphics protocol [default: detected from the terminal]
    #[arg(long)]
    protocol: Option<Protocol>,

    /// The approximate memory limit
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    memory: ByteSize,
}

impl Plot {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let range = match self.range.as_slice() {
            [] => None,
            [low, high] if low < high => Some((*low, *high)),
            _ => return Err(usage("--range takes two increasing numbers, such as 0,100").into()),
        };
        let (path, selection) = self.part.target(&self.path)?;
        let array = interrupt::watched(&global.read_array(&path)?, |_| {});
        let shape = array.slice(&selection).shape()?;
        let protocol = self.protocol.unwrap_or_else(Protocol::detected);
        if shape.contains(&0) {
            return Err(usage("there are no elements to draw").into());
        }
        match shape.as_slice() {
            [length] => self.line(&array, &selection, *length, protocol, range, out),
            [rows, columns] => self.map(&array, &selection, (*rows, *columns), protocol, range, out),
            _ => Err(usage(format!(
                "cannot draw {} dimensions, only one or two; select a part, such as '{}[0]'",
                tuple(&shape),
                path
            ))
            .into()),
        }
    }

    /// Returns the size of the largest picture, in points.
    fn room(&self, protocol: Protocol) -> (usize, usize) {
        if protocol.is_fine() {
            let (width, height) = (self.width.map(usize::from), self.height.map(usize::from));
            return (width.unwrap_or(FINE.0), height.unwrap_or(FINE.1));
        }
        let known = terminal_size::terminal_size().map(|(width, height)| (width.0, height.0));
        let (columns, lines) = known.unwrap_or(TERMINAL);
        let width = usize::from(self.width.unwrap_or(columns)).max(1);
        let lines = match self.height {
            Some(height) => height.into(),
            None => usize::from(lines).saturating_sub(BESIDE).max(1),
        };
        (width, lines * protocol.rows_of_line())
    }

    fn map(
        &self,
        array: &Array,
        selection: &Selection,
        (rows, columns): (u64, u64),
        protocol: Protocol,
        range: Option<(f64, f64)>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let is_fixed = self.width.is_some() && self.height.is_some();
        let (width, height) = fitted((rows, columns), self.room(protocol), protocol, is_fixed);
        let found = self.reduced(array, selection, &[height, width])?;
        let (low, high) = range.or_else(|| found.extremes()).unwrap_or((0.0, 1.0));
        let mut picture = Picture::new(width, height);
        for (at, value) in found.means().enumerate() {
            let point = value.map_or(Point::Missing, |value| Point::Level(level(value, low, high)));
            picture.set(at / width, at % width, point);
        }
        let map = self.colours();
        picture.print(protocol, &map, out)?;
        let mut bar = Picture::new(BAR, protocol.rows_of_line());
        for at in 0..BAR * bar.height() {
            bar.set(at / BAR, at % BAR, Point::Level(level((at % BAR) as f64, 0.0, (BAR - 1) as f64)));
        }
        let bar_protocol = if protocol.is_fine() { Protocol::TrueColours } else { protocol };
        let mut text = Vec::new();
        bar.print(bar_protocol, &map, &mut text)?;
        let text = String::from_utf8_lossy(&text);
        let of = format!("{} {}", tuple(&[rows, columns]), array.data_type());
        writeln!(out, "{low} {} {high}  {of}, {}", text.trim_end_matches('\n'), found.says())?;
        Ok(())
    }

    fn line(
        &self,
        array: &Array,
        selection: &Selection,
        length: u64,
        protocol: Protocol,
        range: Option<(f64, f64)>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (width, height) = self.room(protocol);
        let width = usize::try_from(length).unwrap_or(usize::MAX).min(width);
        // Blocks without colours are sufficient for a line.
        let height = if protocol == Protocol::Text { height * 2 } else { height };
        let found = self.reduced(array, selection, &[width])?;
        let (low, high) = range.or_else(|| found.extremes()).unwrap_or((0.0, 1.0));
        let picture = curve(&found, width, height, (low, high));
        writeln!(out, "{high}")?;
        match protocol {
            Protocol::Text => print_plain(&picture, out)?,
            _ => picture.print(protocol, &self.colours(), out)?,
        }
        let of = format!("{} {}", tuple(&[length]), array.data_type());
        writeln!(out, "{low}  {of}, {}", found.says())?;
        Ok(())
    }

    fn colours(&self) -> Colours {
        Colours::named(&self.cmap).unwrap_or_default()
    }

    fn reduced(&self, array: &Array, selection: &Selection, points: &[usize]) -> Result<Reduced> {
        let view = array.slice(selection);
        let item = array.data_type().size() as u64;
        let bytes = view.shape()?.iter().fold(item, |size, &length| size.saturating_mul(length));
        let reduce = self.reduce.unwrap_or_else(|| {
            if bytes <= ALL {
                return Reduce::Mean;
            }
            note("the array is large, so only one element is read for each point; --reduce mean reads all elements");
            Reduce::Nearest
        });
        if self.part.fields.len() > 1 {
            return Err(usage("--field takes one field"));
        }
        let field = self.part.fields.first().map(String::as_str);
        let found = reduced(&view, field, points, reduce, self.memory.0);
        found.map_err(|error| match error.kind() {
            ErrorKind::DataTypeMismatch | ErrorKind::Unsupported => {
                usage(format!("'{}' cannot be drawn: {error}", printable(&self.path)))
            }
            _ => interrupt::or_interrupted::<()>(Err(error)).err().unwrap_or_else(|| usage("interrupted")),
        })
    }
}

/// The width of the color bar.
const BAR: usize = 16;

/// Returns the size of a picture, which has at most one point for each element. The picture keeps the aspect ratio of the array,
/// unless its size is fixed or all elements fit.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes of pictures are small"
)]
fn fitted(
    (rows, columns): (u64, u64),
    (width, height): (usize, usize),
    protocol: Protocol,
    is_fixed: bool,
) -> (usize, usize) {
    if is_fixed || (columns <= width as u64 && rows <= height as u64) {
        return (width.min(columns as usize), height.min(rows as usize));
    }
    // The height of a character is twice its width.
    let tall = if protocol == Protocol::Text { 2.0 } else { 1.0 };
    let scale = (columns as f64 / width as f64).max(rows as f64 / (height as f64 * tall)).max(1.0);
    let size = |length: f64, most: usize| ((length / scale).round() as usize).clamp(1, most.max(1));
    (size(columns as f64, width), size(rows as f64 / tall, height))
}

#[expect(clippy::cast_possible_truncation, reason = "a level needs few digits")]
fn level(value: f64, low: f64, high: f64) -> f32 {
    if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) as f32 } else { 0.5 }
}

/// Draws a line that covers the range from the smallest to the largest value of each column.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rows of a picture are few"
)]
fn curve(found: &Reduced, width: usize, height: usize, (low, high): (f64, f64)) -> Picture {
    let mut picture = Picture::new(width, height);
    let row = |value: f64| {
        let part = if high > low { (value - low) / (high - low) } else { 0.5 };
        ((1.0 - part).clamp(0.0, 1.0) * (height - 1) as f64).round() as usize
    };
    let mut before: Option<(usize, usize)> = None;
    for column in 0..width {
        let Some((least, most)) = found.range(column) else {
            picture.set(height - 1, column, Point::Missing);
            before = None;
            continue;
        };
        let (mut top, mut bottom) = (row(most), row(least));
        // Adjacent columns are connected.
        if let Some((last_top, last_bottom)) = before {
            (top, bottom) = (top.min(last_bottom), bottom.max(last_top));
        }
        before = Some((row(most), row(least)));
        let part = |row: usize| level((height - 1 - row) as f64, 0.0, (height.max(2) - 1) as f64);
        (top..=bottom).for_each(|row| picture.set(row, column, Point::Level(part(row))));
    }
    picture
}

/// Prints a line with half blocks and without colours.
fn print_plain(picture: &Picture, out: &mut dyn Write) -> std::io::Result<()> {
    for rows in picture.points.chunks(picture.width * 2) {
        let (upper, lower) = rows.split_at(picture.width.min(rows.len()));
        let block = |column: usize| match (upper[column], lower.get(column).copied().unwrap_or(Point::Empty))
        {
            (Point::Missing, _) | (_, Point::Missing) => '?',
            (Point::Empty, Point::Empty) => ' ',
            (Point::Empty, _) => '▄',
            (_, Point::Empty) => '▀',
            _ => '█',
        };
        let line: String = (0..picture.width).map(block).collect();
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
