//! TIFF as Zarr: images with the same form become an array, with coordinates from GeoTIFF.
//!
//! Directories, strips, tiles and predictors are decoded here because the crate `tiff` (0.11.3) reads only 82 of the 122
//! test files. It does not support samples of 10 to 31 bits, complex numbers, palettes, masks, volumes in strips, LERC,
//! LZMA, PNG, or CCITT compressions other than Group 4, and a damaged directory makes the images before it inaccessible.

mod arranged;
mod attributes;
mod channel;
mod codec;
mod contents;
mod directory;
mod form;
mod gdal;
mod geo;
mod image;
mod imagej;
mod multiscale;
mod ome;
mod page;
mod predictor;
mod sample;
mod scales;
mod series;
mod shaped;
mod stack;
mod tag;
pub(crate) mod write;
mod ycbcr;

use std::collections::BTreeMap;
use std::sync::Arc;

use zarrox::json::{Json, Map};
use zarrox::stores::MemoryStore;
use zarrox::{DataType, Error, ErrorKind, Format, OpenOptions, Result};

use self::arranged::Arranged;
use self::contents::{Contents, Found};
use self::directory::File;
use self::form::Form;
use self::geo::Georeference;
use self::image::{Image, Slots};
use self::multiscale::Arrangement;
use self::series::Series;
use crate::chunks::{Chunks, Elements};
use crate::described::Described;
use crate::fill;
use crate::input::{Input, corrupt};
use crate::reading::Reading;
use crate::store::{FileStore, LeftOut};

/// The name of the image in a group with coordinates.
const IMAGE: &str = "image";

/// Opens a file as a Zarr store.
pub(crate) fn open(input: &Arc<Input>, reading: &Reading) -> Result<FileStore> {
    let (file, first) = File::open(Arc::clone(input))?;
    let mut contents = Contents::read(&file, first)?;
    let mut left_out = std::mem::take(&mut contents.left_out);
    let mut notes = std::mem::take(&mut contents.notes);
    let series = all_series(input, &contents, reading, &mut left_out)?;
    notes.extend(contents.not_taken(reading));
    let mut hierarchy = Hierarchy { documents: MemoryStore::new(), arrays: BTreeMap::new(), reading };
    if reading.ome {
        hierarchy.add_ome(&series, &mut left_out)?;
    } else {
        let chosen = chosen(&series, reading.level, &mut left_out)?;
        let is_only = chosen.len() == 1;
        if !is_only {
            hierarchy.group("", Map::default())?;
        }
        for (number, slots) in chosen {
            let path = if is_only { String::new() } else { number.to_string() };
            hierarchy.add(&path, &series[number], slots)?;
        }
    }
    let location = input.path().display().to_string();
    Ok(FileStore::new(location, hierarchy.documents, hierarchy.arrays, left_out).with_notes(notes))
}

/// Returns the series of a file: those described by OME-XML, or else series of pages with the same form.
fn all_series(
    input: &Input,
    contents: &Contents,
    reading: &Reading,
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<Series>> {
    let first = contents.found.first().and_then(|found| found.directory.as_ref());
    let text = first.map_or(Ok(None), |directory| directory.text(tag::DESCRIPTION))?;
    if let Some(text) = text.filter(|text| ome::is_ome(text))
        && let Some(series) = ome::series(&text, input, &reading.external, contents, left_out)?
        && !series.is_empty()
    {
        return Ok(series);
    }
    let found: Vec<&Found> = contents.found.iter().collect();
    series::by_form(&found, input.length(), left_out)
}

/// Returns the pages of a level, for each series that has the level. Level 0 consists of the images themselves.
fn chosen<'a>(
    series: &'a [Series],
    level: usize,
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<(usize, &'a Slots)>> {
    let Some(smaller) = level.checked_sub(1) else {
        return Ok(series.iter().map(|series| &series.slots).enumerate().collect());
    };
    let mut chosen = Vec::new();
    for (number, series) in series.iter().enumerate() {
        match series.levels.get(smaller) {
            Some(slots) => chosen.push((number, slots)),
            None => {
                let reason = format!("it has no level {level}");
                left_out.push(LeftOut::unsupported(format!("/{number}"), reason));
            }
        }
    }
    if chosen.is_empty() {
        let count = 1 + series.iter().map(|series| series.levels.len()).max().unwrap_or(0);
        let message = format!("no level {level}: the file has {count} levels, from 0 on");
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    Ok(chosen)
}

/// The metadata documents and arrays of a store under construction.
struct Hierarchy<'a> {
    documents: MemoryStore,
    arrays: BTreeMap<String, Box<dyn Chunks>>,
    reading: &'a Reading,
}

impl Hierarchy<'_> {
    /// Creates a group.
    fn group(&self, path: &str, attributes: Map) -> Result<()> {
        let options = OpenOptions::new().format(Format::V3);
        options.create_group((Arc::new(self.documents.clone()), path))?.set_attributes(attributes)
    }

    fn array(&mut self, described: Described, elements: Box<dyn Elements>) -> Result<()> {
        let path = described.path.clone();
        let chunks = described.create(&self.documents, elements, self.reading.is_plain)?;
        self.arrays.insert(path, chunks);
        Ok(())
    }

    /// Adds a series as an array, or as a group if it has coordinates.
    fn add(&mut self, path: &str, series: &Series, slots: &Slots) -> Result<()> {
        let image = Image::new(slots.clone(), series.axes.clone())?;
        let (main, form) = (form_of(&series.slots)?, form_of(slots)?);
        let place = place(series, main, form)?;
        let (image, described) = described(path, series, image, main, form, place.as_ref())?;
        let coordinates = place.as_ref().and_then(|place| place.coordinates(form.width, form.height));
        let Some((x, y)) = coordinates else { return self.array(described, Box::new(image)) };
        self.group(path, Map::default())?;
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        self.array(Described { path: below(IMAGE), ..described }, Box::new(image))?;
        for (name, values) in [("x", x), ("y", y)] {
            let described = Described {
                path: below(name),
                shape: vec![values.count()],
                data_type: DataType::Float64,
                attributes: Map::default(),
                names: vec![Some(name.to_owned())],
                fill: None,
            };
            self.array(described, Box::new(values))?;
        }
        Ok(())
    }

    /// Adds all series as OME-Zarr images.
    fn add_ome(&mut self, all: &[Series], left_out: &mut Vec<LeftOut>) -> Result<()> {
        if self.reading.level > 0 {
            let message = "an OME-Zarr image contains all levels; omit the level";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let [series] = all else {
            let mut ome = Map::default();
            ome.insert("version".to_owned(), "0.5".into());
            ome.insert("bioformats2raw.layout".to_owned(), 3.into());
            self.group("", Map::from_iter([("ome".to_owned(), Json::from(ome))]))?;
            for (number, series) in all.iter().enumerate() {
                if let Err(error) = self.add_image(&number.to_string(), series) {
                    left_out.push(LeftOut::new(format!("/{number}"), &error));
                }
            }
            return Ok(());
        };
        self.add_image("", series)
    }

    /// Adds a series as a group with one array per level.
    fn add_image(&mut self, path: &str, series: &Series) -> Result<()> {
        let main = form_of(&series.slots)?;
        let mut sides = Vec::new();
        let mut levels = Vec::new();
        for slots in std::iter::once(&series.slots).chain(&series.levels) {
            let image = Image::new(slots.clone(), series.axes.clone())?;
            let form = form_of(slots)?;
            sides.push((form.height, form.width));
            levels.push((image, form));
        }
        let names = levels.first().map(|(image, _)| image.names()).unwrap_or_default();
        let arrangement = Arrangement::of(&names, series)?;
        let shape = levels.first().map(|(image, _)| arranged_shape(image, &arrangement)).unwrap_or_default();
        let channel = arrangement.axes.iter().position(|axis| axis.name == "c");
        let channels = channel.map_or(1, |dim| shape[dim]);
        let attributes = multiscale::attributes(series, &arrangement, &sides, channels, main.data_type())?;
        self.group(path, attributes)?;
        for (number, (image, form)) in levels.into_iter().enumerate() {
            let path = if path.is_empty() { number.to_string() } else { format!("{path}/{number}") };
            let image = if arrangement.merged.is_some() { image.with_single_pages() } else { image };
            let place = place(series, main, form)?;
            let (image, described) = self::described(&path, series, image, main, form, place.as_ref())?;
            let described = Described {
                shape: arranged_shape(&image, &arrangement),
                names: arrangement.axes.iter().map(|axis| Some(axis.name.clone())).collect(),
                ..described
            };
            let elements = Arranged::new(Box::new(image), arrangement.order.clone(), arrangement.merged);
            self.array(described, Box::new(elements))?;
        }
        Ok(())
    }
}

/// Returns the shape of an image in the dimension order of OME-Zarr.
fn arranged_shape(image: &Image, arrangement: &Arrangement) -> Vec<u64> {
    let shape = image.shape();
    arranged::join(&arrangement.order.iter().map(|&dim| shape[dim]).collect::<Vec<_>>(), arrangement.merged)
}

fn form_of(slots: &Slots) -> Result<&Form> {
    let first = slots.iter().flatten().next().ok_or_else(|| corrupt("the file has no images"))?;
    Ok(&first.form)
}

/// Returns the georeferencing of pages, which may be overviews.
fn place(series: &Series, main: &Form, form: &Form) -> Result<Option<Georeference>> {
    let Some(directory) = &series.directory else { return Ok(None) };
    let ((rows, columns), place) = (ratios(main, form), Georeference::of(directory)?);
    Ok(place.map(|place| place.reduced(columns, rows)))
}

/// Returns the factors by which pixels are larger than those of the first level, along rows and columns.
fn ratios(main: &Form, form: &Form) -> (f64, f64) {
    #[expect(clippy::cast_precision_loss, reason = "images have fewer pixels along a side")]
    let ratio = |own: u64, of_main: u64| of_main as f64 / own as f64;
    (ratio(form.height, main.height), ratio(form.width, main.width))
}

/// Sets the missing value of an image, and returns the image and the properties of its array.
fn described(
    path: &str,
    series: &Series,
    image: Image,
    main: &Form,
    form: &Form,
    place: Option<&Georeference>,
) -> Result<(Image, Described)> {
    let names = image.names();
    let (rows, columns) = ratios(main, form);
    let mut attributes = attributes::of(series, form, &names, (rows, columns))?;
    let no_data = series.directory.as_ref().map_or(Ok(None), |directory| directory.text(tag::NO_DATA))?;
    let missing = no_data.as_ref().map(|text| (text, gdal::missing(text, image.data_type())));
    let (image, fill) = match missing {
        Some((_, Some((element, number)))) => {
            attributes.insert(fill::FILL_VALUE.to_owned(), fill::encoded(image.data_type(), number));
            let registry = zarrox::codecs::registry();
            let value = zarrox::FillValue::new(element.as_slice());
            let fill = registry.family(image.data_type())?.fill_to_v3(image.data_type(), &value);
            (image.with_fill(element), Some(fill))
        }
        // The type cannot represent the missing-value marker, so no element is missing.
        Some((text, None)) if !text.trim().is_empty() => {
            attributes.insert("nodata".to_owned(), text.trim().into());
            (image, None)
        }
        _ => (image, None),
    };
    place.inspect(|place| place.attributes(&mut attributes));
    let (shape, data_type) = (image.shape(), image.data_type().clone());
    let names = names.into_iter().map(Some).collect();
    let described = Described { path: path.to_owned(), shape, data_type, attributes, names, fill };
    Ok((image, described))
}
