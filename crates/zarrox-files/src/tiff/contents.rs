//! The pages of a file: images, their overviews, and pages that cannot be read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use zarrox::{Error, Result};

use super::directory::{Directory, End, File};
use super::form::Form;
use super::page::{Page, Role};
use super::tag;
use crate::input::{corrupt, unsupported};
use crate::reading::Reading;
use crate::store::LeftOut;

/// The maximum number of subdirectories in a file.
const MOST_SUB: usize = 1 << 20;

/// The prefix of the description that tifffile writes to the first page of an array.
const SHAPED: &[u8] = b"{\"shape\"";

/// An image in a file, with its overviews.
#[derive(Debug)]
pub(super) struct Found {
    /// The index of the page in the chain of directories. A subdirectory has the index of its ancestor.
    pub(super) number: usize,
    /// True if the directory is in the chain; false if it is a subdirectory.
    pub(super) is_in_chain: bool,
    pub(super) path: String,
    pub(super) page: Arc<Page>,
    pub(super) levels: Vec<Arc<Page>>,
    /// The tags, if the form of the image differs from that of the previous image, or if the image has a description.
    pub(super) directory: Option<Arc<Directory>>,
    /// True if the image is the first one of a tifffile array.
    pub(super) begins: bool,
}

/// A directory with subdirectories.
struct Naming {
    directory: Arc<Directory>,
    path: String,
    /// The index of its image, or else of its parent's image.
    image: usize,
}

/// All pages of a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) found: Vec<Found>,
    /// The pages that cannot be read, and damage to the chain.
    pub(super) left_out: Vec<LeftOut>,
    /// Notes on anomalies that cause no loss of elements.
    pub(super) notes: Vec<String>,
    /// The number of pages that are masks of other pages.
    pub(super) masks: usize,
    /// The total number of pages.
    pub(super) pages: usize,
    /// The number of pages that cannot be read.
    failed: usize,
    /// The error of the first page that cannot be read.
    first_error: Option<Error>,
    /// The index of the first image in the current run of pages, to which overviews can belong.
    run: usize,
    /// For each overview size, the index of the image to which the next overview belongs.
    next: BTreeMap<(u64, u64), usize>,
}

impl Contents {
    /// Reads the tags of all pages of a file. `first` is the position of the first directory.
    pub(super) fn read(file: &File, first: u64) -> Result<Self> {
        let mut contents = Self::default();
        let mut number = 0;
        let mut sub = 0;
        let end = file.visit_chain(first, &mut |directory| {
            let path = format!("/page {number}");
            let directory = Arc::new(directory);
            let parent = contents.accept(&directory, number, &path, None);
            sub += contents.accept_sub(&directory, number, &path, parent, MOST_SUB.saturating_sub(sub))?;
            number += 1;
            Ok(())
        })?;
        match end {
            End::Last => {}
            End::Back(message) => {
                contents.notes.push(format!("/: {message}; the chain of directories ends there"));
            }
            End::Damaged(error) => {
                contents.left_out.push(LeftOut::of_file(format!("/page {number}"), &error));
            }
        }
        if contents.found.is_empty() {
            return Err(contents.first_error.unwrap_or_else(|| corrupt("the file has no images")));
        }
        contents.check()?;
        Ok(contents)
    }

    /// Returns a note on masks and overviews that are left out. Overviews are only read if levels are requested.
    pub(super) fn not_taken(&self, reading: &Reading) -> Option<String> {
        let is_all = reading.ome || reading.level > 0;
        let copies: usize = if is_all { 0 } else { self.found.iter().map(|found| found.levels.len()).sum() };
        let counted = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        };
        let parts = [counted(self.masks, "mask", "masks"), counted(copies, "overview", "overviews")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let advice = if copies > 0 { "; a level can be taken instead" } else { "" };
        (!parts.is_empty()).then(|| format!("/: left out {} of images{advice}", parts.join(" and ")))
    }

    /// Returns an error if a page would be lost: a page that is not an image, an overview or a mask, and that was not reported.
    fn check(&self) -> Result<()> {
        let levels: usize = self.found.iter().map(|found| found.levels.len()).sum();
        let sum = self.found.len() + levels + self.masks + self.failed;
        if sum < self.pages {
            return Err(corrupt(format!("{} of {} pages would be lost", self.pages - sum, self.pages)));
        }
        Ok(())
    }

    /// Records a page. Returns the index of its image, if the page is an image.
    fn accept(
        &mut self,
        directory: &Arc<Directory>,
        number: usize,
        path: &str,
        parent: Option<usize>,
    ) -> Option<usize> {
        self.pages += 1;
        self.note_outside(directory, path);
        let read = Role::of(directory).and_then(|role| match role {
            Role::Mask => Ok((role, None)),
            // Some programs write subdirectories without an image.
            _ if !directory.has(tag::WIDTH) && parent.is_some() => {
                Err(unsupported("it has no image of its own"))
            }
            _ => Ok((role, Some(Page::of(directory)?))),
        });
        let (role, page) = match read {
            Ok((role, Some(page))) => (role, Arc::new(page)),
            Ok((_, None)) => {
                self.masks += 1;
                return None;
            }
            Err(error) => {
                self.leave_out(path, &error);
                self.first_error.get_or_insert(error.at(path.trim_start_matches('/').to_owned()));
                return None;
            }
        };
        if role == Role::Reduced
            && let Some(main) = self.main_of(&page.form, parent)
        {
            self.found[main].levels.push(page);
            return None;
        }
        if parent.is_none() && role == Role::Main && !self.next.is_empty() {
            self.run = self.found.len();
            self.next.clear();
        }
        let begins = starts_shaped(directory);
        let is_new = self.found.last().is_none_or(|last| last.page.form != page.form);
        self.found.push(Found {
            number,
            is_in_chain: parent.is_none(),
            path: path.to_owned(),
            page,
            levels: Vec::new(),
            directory: (is_new || begins).then(|| Arc::clone(directory)),
            begins,
        });
        Some(self.found.len() - 1)
    }

    /// Records a page that cannot be read.
    fn leave_out(&mut self, path: &str, error: &Error) {
        self.failed += 1;
        self.left_out.push(LeftOut::of_file(path, error));
    }

    /// Reports the tags of a page whose values are outside the file. Without these tags, the description of the elements
    /// is incomplete.
    fn note_outside(&mut self, directory: &Directory, path: &str) {
        let (lost, others): (Vec<u16>, _) =
            directory.outside().iter().partition(|tag| tag::DESCRIBING.contains(tag));
        let values = |tags: &[u16]| {
            let tags = tags.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
            format!("the values of the tags {tags} are not in the file")
        };
        if !lost.is_empty() {
            self.left_out.push(LeftOut::of_file(format!("{path} (tags)"), &corrupt(values(&lost))));
        }
        if !others.is_empty() {
            self.notes.push(format!("{path}: {}; they are left out", values(&others)));
        }
    }

    /// Records the subdirectories of a directory recursively, and returns their number. It is an error if there are too many.
    fn accept_sub(
        &mut self,
        directory: &Arc<Directory>,
        number: usize,
        path: &str,
        parent: Option<usize>,
        most: usize,
    ) -> Result<usize> {
        // The index after the last image represents a parent that could not be read.
        let first = Naming {
            directory: Arc::clone(directory),
            path: path.to_owned(),
            image: parent.unwrap_or(usize::MAX),
        };
        let (mut waiting, mut seen, mut count) = (VecDeque::from([first]), BTreeSet::new(), 0);
        while let Some(naming) = waiting.pop_front() {
            let named = naming.directory.count(tag::SUB_DIRECTORIES);
            if named > most as u64 {
                return Err(corrupt(format!("a page names {named} subdirectories")));
            }
            let mut nth = 0;
            for offset in naming.directory.numbers(tag::SUB_DIRECTORIES)? {
                // A subdirectory may be the first directory of a chain.
                let mut next = offset;
                while next != 0 && seen.insert(next) {
                    if count == most {
                        return Err(corrupt(format!("a page has more than {most} subdirectories")));
                    }
                    let path = format!("{}.{nth}", naming.path);
                    (nth, count) = (nth + 1, count + 1);
                    match naming.directory.file().directory_at(next) {
                        Ok((sub, following)) => {
                            let sub = Arc::new(sub);
                            let image = self.accept(&sub, number, &path, Some(naming.image));
                            let image = image.unwrap_or(naming.image);
                            waiting.push_back(Naming { directory: sub, path, image });
                            next = following;
                        }
                        Err(error) => {
                            self.pages += 1;
                            self.leave_out(&path, &error);
                            break;
                        }
                    }
                }
            }
        }
        Ok(count)
    }

    /// Returns the image that a page of the given form is an overview of: the image whose subdirectory it is, or the
    /// first image in the run without an overview of this size.
    fn main_of(&mut self, form: &Form, parent: Option<usize>) -> Option<usize> {
        let side = (form.width, form.height);
        let main = parent.unwrap_or_else(|| self.next.get(&side).copied().unwrap_or(self.run));
        let is_copy = self.found.get(main).is_some_and(|found| form.is_copy_of(&found.page.form));
        if is_copy && parent.is_none() {
            self.next.insert(side, main + 1);
        }
        is_copy.then_some(main)
    }
}

/// Returns true if a directory is the first one of a tifffile array.
fn starts_shaped(directory: &Directory) -> bool {
    let length = SHAPED.len() as u64;
    if directory.count(tag::DESCRIPTION) <= length {
        return false;
    }
    let position = directory.position(tag::DESCRIPTION);
    position
        .and_then(|position| directory.file().input.read(position, length).ok())
        .is_some_and(|start| start == SHAPED)
}
