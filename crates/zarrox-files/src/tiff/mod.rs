//! TIFF as Zarr: images of one form are an array, with coordinates where GeoTIFF has them.

mod axes;
mod decode;
mod directory;
mod geo;
mod image;
mod page;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use zarrox::data_type::Casting;
use zarrox::json::{Json, Map};
use zarrox::{DataType, DynArray, Error, ErrorKind, Result};

use crate::chunks::Chunks;
use crate::described::{self, Described};
use crate::fill;
use crate::input::{Input, corrupt};
use crate::reading::Reading;
use crate::store::{FileStore, LeftOut};
use crate::tiff::directory::{Directory, File};
use crate::tiff::geo::Place;
use crate::tiff::image::Image;
use crate::tiff::page::Page;

/// The name of the image in a group with coordinates.
const IMAGE: &str = "image";

const DESCRIPTION: u16 = 270;
const NO_DATA: u16 = 42113;

/// The longest description that becomes an attribute, in bytes.
const MOST_TEXT: usize = 1 << 16;

/// The pages of a level, and what their first directory tells.
struct Level {
    pages: Vec<Page>,
    description: Option<String>,
    no_data: Option<String>,
    place: Option<Place>,
}

/// Opens a file as a store of Zarr.
pub(crate) fn open(path: &Path, reading: &Reading) -> Result<FileStore> {
    let input = Arc::new(Input::open(path)?);
    let (file, first) = File::open(Arc::clone(&input))?;
    let (level, left_out) = level(&file, first, reading.level)?;
    let axes = axes::of_pages(level.description.as_deref(), level.pages.len() as u64);
    let image = Image::new(file, level.pages, axes)?;
    let mut attributes = Map::default();
    if let Some(text) = level.description.filter(|text| text.len() <= MOST_TEXT) {
        attributes.insert("description".to_owned(), text.into());
    }
    let missing = level.no_data.and_then(|text| missing(&text, image.data_type()));
    let (image, fill) = match missing {
        Some((element, number)) => {
            attributes.insert("_FillValue".to_owned(), number);
            let registry = zarrox::codecs::registry();
            let value = zarrox::FillValue::new(element.as_slice());
            let fill = registry.family(image.data_type())?.fill_to_v3(image.data_type(), &value);
            (image.with_fill(element), Some(fill))
        }
        None => (image, None),
    };
    fill::encode(image.data_type(), &mut attributes);
    let place = level.place.as_ref();
    place.inspect(|place| place.attributes(&mut attributes));
    let shape = image.shape();
    let names = image.names();
    let side = |name: &str| {
        names.iter().position(|known| known.as_deref() == Some(name)).map_or(0, |dim| shape[dim])
    };
    let coordinates = place.and_then(|place| place.coordinates(side("x"), side("y")));
    let documents = match coordinates {
        Some(_) => described::root(Map::default())?,
        None => zarrox::stores::MemoryStore::new(),
    };
    let mut arrays = BTreeMap::<String, Box<dyn Chunks>>::new();
    let path = if coordinates.is_some() { IMAGE.to_owned() } else { String::new() };
    let data_type = image.data_type().clone();
    let described = Described { path: path.clone(), shape, data_type, attributes, names, fill };
    arrays.insert(path, described.create(&documents, Box::new(image), reading.is_plain)?);
    for (name, values) in coordinates.into_iter().flat_map(|(x, y)| [("x", x), ("y", y)]) {
        let described = Described {
            path: name.to_owned(),
            shape: vec![values.count()],
            data_type: DataType::Float64,
            attributes: Map::default(),
            names: vec![Some(name.to_owned())],
            fill: None,
        };
        arrays.insert(name.to_owned(), described.create(&documents, Box::new(values), reading.is_plain)?);
    }
    Ok(FileStore::new(input.path().display().to_string(), documents, arrays, left_out))
}

/// The pages of a level: 0 has the pages that have the form of the first one, and the others are smaller copies.
fn level(file: &File, first: u64, number: usize) -> Result<(Level, Vec<LeftOut>)> {
    let directories = file.directories(first)?;
    check_size(file, &directories)?;
    let (mut pages, mut left_out) = (Vec::new(), Vec::new());
    for (number, directory) in directories.iter().enumerate() {
        match Page::of(directory, file.endian) {
            Ok(page) => pages.push((page, directory)),
            // Without its first page, a file has nothing.
            Err(error) if number == 0 => return Err(error.at("page 0")),
            Err(error) => {
                left_out.push(LeftOut { path: format!("/page {number}"), reason: error.to_string() });
            }
        }
    }
    let main =
        pages.first().map(|(page, _)| page.form.clone()).ok_or_else(|| corrupt("there are no images"))?;
    let mut levels: Vec<Vec<(Page, &Directory)>> = vec![Vec::new()];
    for (page, directory) in pages {
        if page.is_mask {
            continue;
        }
        if !page.is_reduced || levels[0].is_empty() {
            match page.form == main {
                true => levels[0].push((page, directory)),
                false => left_out.push(LeftOut {
                    path: format!("/page of {}", page.form),
                    reason: format!("the first page has {main}"),
                }),
            }
            continue;
        }
        match levels.iter_mut().skip(1).find(|level| level[0].0.form == page.form) {
            Some(level) => level.push((page, directory)),
            None => levels.push(vec![(page, directory)]),
        }
    }
    levels[1..].sort_by_key(|level| std::cmp::Reverse(level[0].0.form.width));
    let count = levels.len();
    if number >= count {
        let message = format!("there is no level {number}; the file has {count}, from 0 on");
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    let directory = levels[0][0].1;
    let pages: Vec<Page> = levels.swap_remove(number).into_iter().map(|(page, _)| page).collect();
    #[expect(clippy::cast_precision_loss, reason = "images have fewer pixels along a side")]
    let ratio = |own: u64, of_main: u64| of_main as f64 / own as f64;
    let form = &pages[0].form;
    let reduced = (ratio(form.width, main.width), ratio(form.height, main.height));
    let place = Place::of(directory)?.map(|place| place.reduced(reduced.0, reduced.1));
    let (description, no_data) = (directory.text(DESCRIPTION)?, directory.text(NO_DATA)?);
    Ok((Level { pages, description, no_data, place }, left_out))
}

/// Refuses directories whose tags have more bytes than the file, since many of them lie at one place.
fn check_size(file: &File, directories: &[Directory]) -> Result<()> {
    let size = directories.iter().fold(0_u64, |size, directory| size.saturating_add(directory.total()));
    if size > file.input.length().saturating_mul(2) {
        return Err(corrupt("the tags have more bytes than the file"));
    }
    Ok(())
}

/// The element that stands for nothing, and its number.
fn missing(text: &str, data_type: &DataType) -> Option<(Vec<u8>, Json)> {
    let registry = zarrox::codecs::registry();
    let text = text.trim();
    let (wide, number) = match text.parse::<i64>() {
        Ok(whole) => {
            (DynArray::new(DataType::Int64, vec![], whole.to_ne_bytes().to_vec()).ok()?, Json::from(whole))
        }
        Err(_) => {
            let float: f64 = text.parse().ok()?;
            (DynArray::new(DataType::Float64, vec![], float.to_ne_bytes().to_vec()).ok()?, Json::from(float))
        }
    };
    let is_float = matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
    let casting = if is_float { Casting::Lossy } else { Casting::Exact };
    let element = wide.cast(data_type, casting, &registry).ok()?;
    let number = match is_float {
        // The number that the elements have.
        true => element
            .cast(&DataType::Float64, Casting::Exact, &registry)
            .ok()?
            .to_typed::<f64>()
            .ok()?
            .first()
            .copied()?
            .into(),
        false => number,
    };
    Some((element.into_bytes(), number))
}
