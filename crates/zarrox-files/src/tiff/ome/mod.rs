//! OME-TIFF: images described by OME-XML, whose planes may be in several files.
//!
//! Specification: <https://docs.openmicroscopy.org/ome-model/latest/ome-tiff/specification.html>

mod xml;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use zarrox::{Error, ErrorKind, Result};

use self::xml::{Described, Document, Run};
use super::contents::{Contents, Found};
use super::directory::File;
use super::form::Form;
use super::image::Axis;
use super::page::Page;
use super::series::{self, Series};
use crate::external::External;
use crate::input::{Input, Source, corrupt, unsupported};
use crate::store::LeftOut;

/// The maximum number of planes of an image.
const MOST_PLANES: u64 = 1 << 20;

/// The maximum number of files of an image that are kept open.
const MOST_OPEN: usize = 64;

/// The maximum number of files of an image.
const MOST_FILES: usize = 1 << 16;

/// The maximum size of a separate metadata file, in bytes.
const MOST_TEXT: u64 = 256 << 20;

/// The main file and the files that it refers to.
#[derive(Debug)]
struct Files<'a> {
    path: &'a Path,
    external: &'a External,
    own: &'a Contents,
    /// The indices of the images in the main file, by the position of their directories in the chain.
    own_numbers: BTreeMap<u64, usize>,
    /// The UUID of the main file.
    uuid: Option<String>,
    /// The contents of the other files, with the indices of their images by the position of their directories in the chain.
    others: BTreeMap<String, (Contents, BTreeMap<u64, usize>)>,
    /// The errors for files that could not be opened.
    failed: BTreeMap<String, Error>,
}

/// A plane of an image.
#[derive(Debug, Clone, Copy)]
enum Plane<'a> {
    Found(&'a Found),
    /// The plane is in a file that could not be opened.
    Unread(ErrorKind),
    /// The plane is missing.
    Missing,
}

/// The images in the file that contains a run of planes.
#[derive(Debug, Clone, Copy)]
struct Pages<'a> {
    contents: &'a Contents,
    numbers: &'a BTreeMap<u64, usize>,
    is_own: bool,
}

/// Returns the series described by OME-XML, and series of all other pages; `None` if the description contains no images.
pub(super) fn series(
    text: &str,
    input: &Input,
    external: &External,
    contents: &Contents,
    left_out: &mut Vec<LeftOut>,
) -> Result<Option<Vec<Series>>> {
    let mut files = Files {
        path: input.path(),
        external,
        own: contents,
        own_numbers: by_number(contents),
        uuid: None,
        others: BTreeMap::new(),
        failed: BTreeMap::new(),
    };
    let images = match described(text, &mut files) {
        Ok(images) => images,
        Err(error) => {
            left_out.push(LeftOut::of_file("/OME-XML", &error));
            return Ok(None);
        }
    };
    if images.is_empty() {
        return Ok(None);
    }
    files.open_all(&images, left_out)?;
    let mut used = vec![false; contents.found.len()];
    let mut all = Vec::new();
    for (nth, image) in images.iter().enumerate() {
        match files.series(nth, image, images.len() == 1, &mut used, left_out) {
            Ok(series) => all.push(series),
            Err(error) => left_out.push(LeftOut::of_file(format!("/OME-XML/Image {nth}"), &error)),
        }
    }
    let rest: Vec<&Found> =
        contents.found.iter().zip(&used).filter(|(_, used)| !**used).map(|(found, _)| found).collect();
    all.extend(series::by_form(&rest, input.length(), left_out)?);
    Ok(Some(all))
}

/// Returns the images described by an OME-XML string, or by the metadata file that it refers to.
fn described(text: &str, files: &mut Files<'_>) -> Result<Vec<Described>> {
    let mut document = xml::parse(text)?;
    if let Document::Elsewhere(name, uuid) = document {
        let input = files.external.open(files.path, &name)?;
        if input.length() > MOST_TEXT {
            return Err(unsupported(format!("the metadata in '{name}' is larger than {MOST_TEXT} bytes")));
        }
        files.uuid = uuid;
        let bytes = input.read(0, input.length())?;
        document =
            xml::parse(std::str::from_utf8(&bytes).map_err(|_| corrupt(format!("'{name}' is not UTF-8")))?)?;
    }
    match document {
        Document::Images(images, uuid) => {
            files.uuid = files.uuid.take().or(uuid);
            Ok(images)
        }
        Document::Elsewhere(name, _) => {
            Err(corrupt(format!("the metadata is in '{name}', which refers to another file")))
        }
    }
}

impl Files<'_> {
    /// Returns true if a run of planes is in the main file.
    fn is_own(&self, run: &Run) -> bool {
        let Some(name) = &run.file else { return true };
        let own = self.path.file_name().is_some_and(|own| own.to_str() == Some(name));
        own || (run.uuid.is_some() && run.uuid == self.uuid)
    }

    /// Opens all other files. Files that cannot be opened are skipped.
    fn open_all(&mut self, images: &[Described], left_out: &mut Vec<LeftOut>) -> Result<()> {
        let runs = images.iter().flat_map(|image| &image.runs).filter(|run| !self.is_own(run));
        let names: std::collections::BTreeSet<String> = runs.filter_map(|run| run.file.clone()).collect();
        if names.len() > MOST_FILES {
            let message =
                format!("the planes are in {} files, of which {MOST_FILES} can be read", names.len());
            return Err(unsupported(message));
        }
        let is_many = names.len() > MOST_OPEN;
        for name in names {
            match self.open(&name, is_many) {
                Ok(contents) => {
                    left_out.extend(
                        contents
                            .left_out
                            .iter()
                            .map(|found| LeftOut { path: format!("/{name}{}", found.path), ..found.clone() }),
                    );
                    let numbers = by_number(&contents);
                    self.others.insert(name, (contents, numbers));
                }
                Err(error) => {
                    left_out.push(LeftOut::of_file(format!("/{name}"), &error));
                    self.failed.insert(name, error);
                }
            }
        }
        Ok(())
    }

    fn open(&self, name: &str, closes: bool) -> Result<Contents> {
        let input = self.external.open(self.path, name)?;
        let path = input.path().to_owned();
        let (file, first) = File::open(input)?;
        let mut contents = Contents::read(&file, first)?;
        if closes {
            let source = Source::Closed(Arc::new(path));
            for found in &mut contents.found {
                found.directory = None;
                let close = |page: &Arc<Page>| Arc::new(Page { source: source.clone(), ..Page::clone(page) });
                found.levels = found.levels.iter().map(close).collect();
                found.page = close(&found.page);
            }
        }
        Ok(contents)
    }

    /// Returns the images in the file that contains a run of planes; `None` if the file could not be opened.
    fn pages(&self, run: &Run) -> Option<Pages<'_>> {
        if self.is_own(run) {
            return Some(Pages { contents: self.own, numbers: &self.own_numbers, is_own: true });
        }
        let (contents, numbers) = self.others.get(run.file.as_deref()?)?;
        Some(Pages { contents, numbers, is_own: false })
    }

    /// Returns the kind of error that occurred when the file that contains a run of planes was opened; `None` if it is open.
    fn failure(&self, run: &Run) -> Option<ErrorKind> {
        self.failed.get(run.file.as_deref()?).map(Error::kind)
    }

    /// Returns the series of an image.
    fn series(
        &self,
        nth: usize,
        image: &Described,
        is_only: bool,
        used: &mut [bool],
        left_out: &mut Vec<LeftOut>,
    ) -> Result<Series> {
        let form = self.form(image).ok_or_else(|| {
            let message = format!("all planes of '{}' are missing", image.title(nth));
            let kind = image.runs.iter().find_map(|run| self.failure(run));
            Error::new(kind.unwrap_or(ErrorKind::Corrupt), message)
        })?;
        if (form.width, form.height) != (image.size_x, image.size_y) {
            return Err(corrupt(format!(
                "the image is said to have {} x {} pixels, and its first page has {} times {}",
                image.size_y, image.size_x, form.height, form.width
            )));
        }
        // The samples of a pixel are channels in the same page.
        let samples = if image.size_c.is_multiple_of(form.samples) { form.samples } else { 1 };
        let length = |axis: char| match axis {
            'Z' => image.size_z,
            'T' => image.size_t,
            _ => image.size_c / samples,
        };
        let order: Vec<char> = image.order.chars().rev().collect();
        let count = order.iter().try_fold(1_u64, |count, &axis| count.checked_mul(length(axis)));
        let count = count
            .filter(|count| (1..=MOST_PLANES).contains(count))
            .ok_or_else(|| unsupported(format!("an image has at most {MOST_PLANES} planes")))?;
        let mut planes: Vec<Plane<'_>> = vec![Plane::Missing; usize::try_from(count).unwrap_or(0)];
        let mut steps = 0_u64;
        for run in &image.runs {
            let place = order.iter().fold(0_u64, |place, &axis| {
                let first = if axis == 'C' { run.first(axis) / samples } else { run.first(axis) };
                place.saturating_mul(length(axis)).saturating_add(first)
            });
            // If the number of planes is not specified, the run contains all pages of the file.
            let most = run.count.unwrap_or(count).min(count);
            let Some(pages) = self.pages(run) else {
                let kind = self.failure(run).unwrap_or(ErrorKind::Corrupt);
                let first = usize::try_from(place).unwrap_or(usize::MAX);
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                for plane in planes.iter_mut().skip(first).take(most) {
                    if matches!(plane, Plane::Missing) {
                        *plane = Plane::Unread(kind);
                    }
                }
                continue;
            };
            for (&number, &index) in pages.numbers.range(run.ifd..run.ifd.saturating_add(most)) {
                steps += 1;
                if steps > 2 * MOST_PLANES {
                    return Err(unsupported("the planes are referenced too often"));
                }
                let found = &pages.contents.found[index];
                if found.page.form != form {
                    let message = format!("the image has {form}, but this page has {}", found.page.form);
                    left_out.push(LeftOut::of_file(&found.path, &unsupported(message)));
                    continue;
                }
                let plane = usize::try_from(place.saturating_add(number - run.ifd)).ok();
                let Some(plane) = plane.and_then(|plane| planes.get_mut(plane)) else { continue };
                *plane = Plane::Found(found);
                if pages.is_own {
                    used[index] = true;
                }
            }
        }
        self.finished(nth, image, is_only, order, &length, &planes, left_out)
    }

    #[expect(clippy::too_many_arguments, reason = "the only caller checked that the pages exist")]
    fn finished(
        &self,
        nth: usize,
        image: &Described,
        is_only: bool,
        order: Vec<char>,
        length: &dyn Fn(char) -> u64,
        planes: &[Plane<'_>],
        left_out: &mut Vec<LeftOut>,
    ) -> Result<Series> {
        let found: Vec<Option<&Found>> = planes
            .iter()
            .map(|plane| match plane {
                Plane::Found(found) => Some(*found),
                Plane::Unread(_) | Plane::Missing => None,
            })
            .collect();
        if found.iter().all(Option::is_none) {
            return Err(corrupt(format!("all {} planes are missing", planes.len())));
        }
        let mut leave_out = |count: usize, place: &str, kind: ErrorKind| {
            if count > 0 {
                let message =
                    format!("{count} of {} planes are in {place}; they have the fill value", planes.len());
                let error = Error::new(kind, message);
                left_out.push(LeftOut::of_file(format!("/OME-XML/Image {nth} (planes)"), &error));
            }
        };
        let missing = planes.iter().filter(|plane| matches!(plane, Plane::Missing)).count();
        leave_out(missing, "no file", ErrorKind::Corrupt);
        let unread = planes.iter().filter_map(|plane| match plane {
            Plane::Unread(kind) => Some(*kind),
            _ => None,
        });
        let kinds: Vec<ErrorKind> = unread.collect();
        kinds.first().into_iter().for_each(|kind| leave_out(kinds.len(), "files that are not read", *kind));
        let axes: Vec<Axis> = order
            .into_iter()
            .map(|axis| (axis.to_ascii_lowercase().to_string(), length(axis)))
            .filter(|(_, length)| *length > 1)
            .collect();
        let mut series = Series::new(axes, &found);
        if series.directory.is_none() {
            // The image has the same form as an earlier image, for which the tags are stored.
            series.directory = self.own.found.first().and_then(|found| found.directory.clone());
        }
        series.name = image.name.clone().filter(|name| !is_only || !name.is_empty());
        series.scales = image.scales.clone();
        series.channels = image.channels.clone();
        Ok(series)
    }

    /// Returns the form of the first existing plane.
    fn form(&self, image: &Described) -> Option<Arc<Form>> {
        image.runs.iter().find_map(|run| {
            let pages = self.pages(run)?;
            let index = *pages.numbers.get(&run.ifd)?;
            Some(Arc::clone(&pages.contents.found.get(index)?.page.form))
        })
    }
}

/// Returns the index of each image, by the position of its directory in the chain.
fn by_number(contents: &Contents) -> BTreeMap<u64, usize> {
    let found = contents.found.iter().enumerate().filter(|(_, found)| found.is_in_chain);
    found.map(|(index, found)| (found.number as u64, index)).collect()
}

/// Returns true if a description may be OME-XML.
pub(super) fn is_ome(text: &str) -> bool {
    text.trim_start().starts_with('<') && (text.contains("<OME") || text.contains(":OME"))
}
