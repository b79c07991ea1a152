//! Series: pages in a file that become one array.

use std::collections::HashMap;
use std::sync::Arc;

use zarrox::Result;

use super::channel::Channel;
use super::contents::Found;
use super::directory::Directory;
use super::form::Form;
use super::image::{Axis, Slots};
use super::page::Page;
use super::scales::Scales;
use super::tag;
use super::{imagej, shaped, stack};
use crate::input::{corrupt, unsupported};
use crate::store::LeftOut;

/// The maximum number of arrays in a file.
const MOST: usize = 1 << 14;

/// The maximum number of planes in a stack.
const MOST_PLANES: u64 = 1 << 22;

/// The pages that become one array.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: Option<String>,
    /// The page dimensions.
    pub(super) axes: Vec<Axis>,
    pub(super) slots: Slots,
    /// The overviews that all pages have, from largest to smallest.
    pub(super) levels: Vec<Slots>,
    /// The tags of the first page.
    pub(super) directory: Option<Arc<Directory>>,
    /// The spacing of elements.
    pub(super) scales: Scales,
    pub(super) channels: Vec<Channel>,
}

impl Series {
    /// Creates a series of pages, which are in row-major order along the page dimensions.
    pub(super) fn new(axes: Vec<Axis>, found: &[Option<&Found>]) -> Self {
        let slots = found.iter().map(|found| found.map(|found| Arc::clone(&found.page))).collect();
        let directory = found.iter().flatten().find_map(|found| found.directory.clone());
        let scales = Scales::default();
        Self { name: None, axes, slots, levels: levels(found), directory, scales, channels: Vec::new() }
    }

    /// Returns the form that all pages share.
    pub(super) fn form(&self) -> Option<&Arc<Form>> {
        self.slots.iter().flatten().next().map(|page| &page.form)
    }

    /// Returns true if the samples are red, green and blue.
    pub(super) fn is_rgb(&self) -> bool {
        self.form().is_some_and(|form| form.photometric == 2 || form.photometric == 6)
    }

    /// Returns the description of the first page.
    pub(super) fn description(&self) -> Result<Option<String>> {
        self.directory.as_ref().map_or(Ok(None), |directory| directory.text(tag::DESCRIPTION))
    }
}

/// Returns the overviews that all pages have in the same form, from largest to smallest.
fn levels(found: &[Option<&Found>]) -> Vec<Slots> {
    let sorted: Vec<Option<Vec<&Arc<Page>>>> = found
        .iter()
        .map(|found| {
            found.map(|found| {
                let mut levels: Vec<&Arc<Page>> = found.levels.iter().collect();
                levels.sort_by_key(|page| std::cmp::Reverse(page.form.width));
                levels
            })
        })
        .collect();
    let count = sorted.iter().flatten().map(Vec::len).min().unwrap_or(0);
    let mut all = Vec::new();
    for level in 0..count {
        let slots: Slots =
            sorted.iter().map(|levels| levels.as_ref().map(|levels| Arc::clone(levels[level]))).collect();
        let mut forms = slots.iter().flatten().map(|page| &page.form);
        let first = forms.next();
        if forms.any(|form| Some(form) != first) {
            break;
        }
        all.push(slots);
    }
    all
}

/// Groups pages by form into series. A description that begins an array also begins a new series.
pub(super) fn by_form(found: &[&Found], length: u64, left_out: &mut Vec<LeftOut>) -> Result<Vec<Series>> {
    let mut groups: Vec<Vec<&Found>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for &found in found {
        let form = format!("{:?}", found.page.form);
        match known.get(&form) {
            Some(&group) if !found.begins => groups[group].push(found),
            _ => {
                known.insert(form, groups.len());
                groups.push(vec![found]);
            }
        }
        if groups.len() > MOST {
            let message = format!("the file has more than {MOST} images of different forms");
            return Err(unsupported(message));
        }
    }
    groups.iter().map(|group| of_group(group, length, left_out)).collect()
}

/// Returns the series of pages with the same form.
fn of_group(group: &[&Found], length: u64, left_out: &mut Vec<LeftOut>) -> Result<Series> {
    let first = *group.first().ok_or_else(|| corrupt("the file has no images"))?;
    let directory = first.directory.as_deref();
    let text = directory.map_or(Ok(None), |directory| directory.text(tag::DESCRIPTION))?.unwrap_or_default();
    let pages = group.len() as u64;
    let described = match directory {
        Some(directory) if directory.has(tag::STACK_PLANES) => stack::planes(directory)?,
        _ if imagej::is_imagej(&text) => imagej::planes(&text, first.page.form.samples),
        _ => shaped::planes(&text, &first.page.form, pages),
    };
    let Some(planes) = described else {
        return Ok(plain(group));
    };
    let count = planes.iter().try_fold(1_u64, |count, (_, length)| count.checked_mul(*length));
    let axes: Vec<Axis> = planes.into_iter().filter(|(_, length)| *length > 1).collect();
    let mut series = match count {
        Some(count) if count == pages => {
            Series::new(axes, &group.iter().map(|found| Some(*found)).collect::<Vec<_>>())
        }
        // If a stack has a single directory, the other planes are stored after the first one.
        Some(count) if (2..=MOST_PLANES).contains(&count) && pages == 1 && first.page.is_contiguous() => {
            stacked(first, axes, count, length, left_out)
        }
        _ => {
            let described: Vec<String> =
                axes.iter().map(|(name, length)| format!("{name}={length}")).collect();
            let described = described.join(", ");
            let message = format!("its description says {described}, but the file has {pages} pages");
            left_out.push(LeftOut::of_file(format!("{} (dimensions)", first.path), &corrupt(message)));
            plain(group)
        }
    };
    if imagej::is_imagej(&text) {
        let channels = series.axes.iter().find(|(name, _)| name == "c").map_or(1, |(_, length)| *length);
        series.scales = imagej::scales(&text, directory)?;
        series.channels = imagej::channels(&text, directory, channels)?;
    }
    Ok(series)
}

/// Returns a series of pages along a single dimension.
fn plain(group: &[&Found]) -> Series {
    let pages = group.len() as u64;
    let axes = if pages > 1 { vec![("page".to_owned(), pages)] } else { Vec::new() };
    Series::new(axes, &group.iter().map(|found| Some(*found)).collect::<Vec<_>>())
}

/// Returns the series of the first plane and the planes that follow it in the file. Planes beyond the end of the file are
/// missing.
fn stacked(first: &Found, axes: Vec<Axis>, count: u64, length: u64, left_out: &mut Vec<LeftOut>) -> Series {
    let pages = first.page.contiguous(count, length);
    let there = pages.len() as u64;
    let mut series = Series::new(axes, &[Some(first)]);
    if there < count {
        let message = format!("the file has {there} of {count} planes; it is truncated");
        left_out.push(LeftOut::of_file(format!("{} (planes)", first.path), &corrupt(message)));
    }
    series.slots = if there <= 1 {
        // If there are no further planes, the dimensions are dropped.
        series.axes.clear();
        vec![Some(Arc::clone(&first.page))]
    } else {
        let missing = usize::try_from(count - there).unwrap_or(0);
        pages.into_iter().map(|page| Some(Arc::new(page))).chain(std::iter::repeat_n(None, missing)).collect()
    };
    series.levels.clear();
    series
}
