//! The files of an import: the main file, and the files that its links and datasets refer to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox::{Error, ErrorKind, Result};

use super::format::{Address, Attribute, File, Link, ObjectKind, Target};
use super::text::lenient;
use crate::external::External;
use crate::input::{Input, unsupported};

/// The maximum number of links that are followed for one name, as in HDF5's library.
const MOST_HOPS: usize = 16;

/// The location of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id {
    /// The number of the file; 0 for the file that is imported.
    pub(super) file: usize,
    pub(super) address: Address,
}

/// The attributes of an object. An attribute that cannot be read is an error with its name, if the name is known.
type Attributes = Vec<Result<Attribute, (Vec<u8>, Error)>>;

/// An object with its attributes.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) kind: ObjectKind,
    pub(super) attributes: Result<Attributes>,
}

impl Parsed {
    /// Returns the attribute of this name, if it can be read.
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        let attributes = self.attributes.as_ref().ok()?;
        attributes.iter().flatten().find(|attribute| attribute.name == name.as_bytes())
    }
}

/// The links of a group.
#[derive(Debug)]
pub(super) struct Members {
    /// The links in their order.
    pub(super) links: Vec<Link>,
    /// The index of each link by its name.
    by_name: HashMap<Vec<u8>, usize>,
}

/// The files of an import, and their objects that were read.
#[derive(Debug)]
pub(super) struct Files {
    external: External,
    files: Vec<File>,
    by_path: HashMap<PathBuf, usize>,
    members: HashMap<Id, Arc<Members>>,
    objects: HashMap<Id, Arc<Parsed>>,
}

impl Files {
    /// Opens a file. Files in its directory may be opened as well.
    pub(super) fn open(input: Arc<Input>, mut external: External) -> Result<Self> {
        let path = input.path().to_owned();
        external.directories.extend(path.parent().map(Path::to_owned));
        let file = File::open(input)?;
        let by_path = HashMap::from([(path, 0)]);
        Ok(Self { external, files: vec![file], by_path, members: HashMap::new(), objects: HashMap::new() })
    }

    /// Returns the root of the file that is imported.
    pub(super) fn root(&self) -> Id {
        self.root_of(0)
    }

    fn root_of(&self, file: usize) -> Id {
        Id { file, address: self.files[file].root() }
    }

    /// Returns a file by its number.
    pub(super) fn file(&self, number: usize) -> &File {
        &self.files[number]
    }

    /// Returns the path of a file by its number.
    pub(super) fn path(&self, number: usize) -> &Path {
        self.files[number].input().path()
    }

    /// Returns the number of files.
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Reads an object.
    pub(super) fn object(&mut self, id: Id) -> Result<Arc<Parsed>> {
        if let Some(parsed) = self.objects.get(&id) {
            return Ok(Arc::clone(parsed));
        }
        let file = &self.files[id.file];
        let kind = file.object(id.address)?.kind;
        let parsed = Arc::new(Parsed { kind, attributes: file.attributes(id.address) });
        self.objects.insert(id, Arc::clone(&parsed));
        Ok(parsed)
    }

    /// Reads the links of a group.
    pub(super) fn members(&mut self, group: Id) -> Result<Arc<Members>> {
        if let Some(members) = self.members.get(&group) {
            return Ok(Arc::clone(members));
        }
        let links = self.files[group.file].links(group.address)?;
        let names = links.iter().enumerate().map(|(number, link)| (link.name.clone(), number));
        let members = Arc::new(Members { by_name: names.collect(), links });
        self.members.insert(group, Arc::clone(&members));
        Ok(members)
    }

    /// Returns the object to which a link of a group leads.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the target does not exist; [`ErrorKind::NotFound`] if its file does not exist, and
    /// [`ErrorKind::Forbidden`] if its file is not allowed.
    pub(super) fn follow(&mut self, group: Id, target: &Target) -> Result<Id> {
        self.target(group, target, MOST_HOPS)
    }

    /// Returns the object at a path of a file that another file names; `.` is the naming file.
    pub(super) fn named(&mut self, from: usize, file: &[u8], path: &[u8]) -> Result<Id> {
        let number = if file == b"." { from } else { self.number(from, file)? };
        self.find(self.root_of(number), path, MOST_HOPS)
    }

    fn target(&mut self, group: Id, target: &Target, hops: usize) -> Result<Id> {
        if hops == 0 {
            return Err(unsupported(format!("more than {MOST_HOPS} links follow one another")));
        }
        // In a chain of links, the error names the first link.
        let is_first = hops == MOST_HOPS;
        let at = |error: Error, place: String| if is_first { error.at(place) } else { error };
        match target {
            Target::Hard(address) => Ok(Id { file: group.file, address: *address }),
            Target::Soft(path) => self
                .find(group, path, hops - 1)
                .map_err(|error| at(error, format!("the soft link to '{}'", lenient(path)))),
            Target::External { file, path } => {
                let place = || format!("the external link to '{}' in '{}'", lenient(path), lenient(file));
                let number = self.number(group.file, file).map_err(|error| at(error, place()))?;
                self.find(self.root_of(number), path, hops - 1).map_err(|error| at(error, place()))
            }
            Target::User(class) => Err(unsupported(format!("it is a user-defined link of class {class}"))),
        }
    }

    /// Returns the object at a path, which starts at a group, or at the root of its file.
    fn find(&mut self, group: Id, path: &[u8], hops: usize) -> Result<Id> {
        let mut at = if path.first() == Some(&b'/') { self.root_of(group.file) } else { group };
        for name in path.split(|&byte| byte == b'/').filter(|name| !matches!(*name, b"" | b".")) {
            let nothing = || unsupported(format!("object '{}' not found", lenient(name)));
            if !matches!(self.object(at)?.kind, ObjectKind::Group) {
                return Err(nothing());
            }
            let members = self.members(at)?;
            let link = members.by_name.get(name).and_then(|&number| members.links.get(number));
            at = self.target(at, &link.ok_or_else(nothing)?.target, hops)?;
        }
        Ok(at)
    }

    /// Opens a file that another file names, and that has the raw elements of a dataset.
    pub(super) fn raw(&self, from: usize, name: &[u8]) -> Result<Arc<Input>> {
        Ok(Arc::new(Input::open(&self.resolved(from, name)?)?))
    }

    /// Returns the number of a file that another file names, and opens the file if necessary.
    fn number(&mut self, from: usize, name: &[u8]) -> Result<usize> {
        let path = self.resolved(from, name)?;
        if let Some(&number) = self.by_path.get(&path) {
            return Ok(number);
        }
        let file = File::open(Arc::new(Input::open(&path)?))?;
        self.files.push(file);
        let number = self.files.len() - 1;
        self.by_path.insert(path, number);
        Ok(number)
    }

    /// Returns the path of a file that another file names. A file that is not at its path is searched for beside the
    /// naming file, as in HDF5's library, since files are moved together.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the file does not exist, and [`ErrorKind::Forbidden`] if it is not in an allowed
    /// directory.
    fn resolved(&self, from: usize, name: &[u8]) -> Result<PathBuf> {
        let name = lenient(name);
        let source = self.path(from);
        let found = self.external.resolve(source, &name);
        let beside = || {
            let last = name.rsplit('/').next().filter(|last| *last != name && !last.is_empty())?;
            self.external.resolve(source, last).ok()
        };
        // An existing file is the target even if it may not be read.
        let is_gone = |error: &Error| error.kind() == ErrorKind::NotFound;
        found.or_else(|error| if is_gone(&error) { beside().ok_or(error) } else { Err(error) })
    }

    /// Returns true if a file that another file names exists.
    pub(super) fn exists(&self, from: usize, name: &[u8]) -> bool {
        name == b"." || self.resolved(from, name).is_ok()
    }
}
