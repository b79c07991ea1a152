//! The files of an import: the main file and the files referenced by its links and datasets.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrox::{Error, ErrorKind, Result};

use super::format::{Address, Attribute, File, Link, ObjectKind, Target};
use super::text::lenient;
use crate::external::External;
use crate::input::{Input, unsupported};

/// The maximum number of links followed to resolve one name, as in the HDF5 library.
const MOST_HOPS: usize = 16;

/// The location of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id {
    /// The index of the file; 0 for the imported file.
    pub(super) file: usize,
    pub(super) address: Address,
}

/// The attributes of an object. For an attribute that cannot be read: its name, empty if unknown, and the error.
type Attributes = Vec<Result<Attribute, (Vec<u8>, Error)>>;

/// An object with its attributes.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) kind: ObjectKind,
    pub(super) attributes: Result<Attributes>,
}

impl Parsed {
    /// Returns the attribute with the given name if it can be read.
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        let attributes = self.attributes.as_ref().ok()?;
        attributes.iter().flatten().find(|attribute| attribute.name == name.as_bytes())
    }
}

/// The links of a group.
#[derive(Debug)]
pub(super) struct Members {
    /// The links, in order.
    pub(super) links: Vec<Link>,
    /// The index of each link, by name.
    by_name: HashMap<Vec<u8>, usize>,
}

/// The files of an import, with a cache of the objects already read.
#[derive(Debug)]
pub(super) struct Files {
    external: External,
    files: Vec<File>,
    by_path: HashMap<PathBuf, usize>,
    members: HashMap<Id, Arc<Members>>,
    objects: HashMap<Id, Arc<Parsed>>,
}

impl Files {
    /// Opens a file and allows access to other files in its directory.
    pub(super) fn open(input: Arc<Input>, mut external: External) -> Result<Self> {
        let path = input.path().to_owned();
        external.directories.extend(path.parent().map(Path::to_owned));
        let file = File::open(input)?;
        let by_path = HashMap::from([(path, 0)]);
        Ok(Self { external, files: vec![file], by_path, members: HashMap::new(), objects: HashMap::new() })
    }

    /// Returns the root group of the imported file.
    pub(super) fn root(&self) -> Id {
        self.root_of(0)
    }

    fn root_of(&self, file: usize) -> Id {
        Id { file, address: self.files[file].root() }
    }

    /// Returns the file with the given index.
    pub(super) fn file(&self, number: usize) -> &File {
        &self.files[number]
    }

    /// Returns the path of the file with the given index.
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

    /// Returns the target object of a link in a group.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the target does not exist in its file; [`ErrorKind::NotFound`] if the file does not
    /// exist; [`ErrorKind::Forbidden`] if access to the file is not allowed.
    pub(super) fn follow(&mut self, group: Id, target: &Target) -> Result<Id> {
        self.target(group, target, MOST_HOPS)
    }

    /// Returns the object at a path in a file named in another file. The name `.` stands for the naming file itself.
    pub(super) fn named(&mut self, from: usize, file: &[u8], path: &[u8]) -> Result<Id> {
        let number = if file == b"." { from } else { self.number(from, file)? };
        self.find(self.root_of(number), path, MOST_HOPS)
    }

    fn target(&mut self, group: Id, target: &Target, hops: usize) -> Result<Id> {
        if hops == 0 {
            return Err(unsupported(format!("more than {MOST_HOPS} links follow one another")));
        }
        // The error of a chain of links names the first link.
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

    /// Returns the object at a path, which is relative to a group or starts at the root of the group's file.
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

    /// Opens an external raw data file of a dataset, which is named in another file.
    pub(super) fn raw(&self, from: usize, name: &[u8]) -> Result<Arc<Input>> {
        Ok(Arc::new(Input::open(&self.resolved(from, name)?)?))
    }

    /// Returns the index of a file named in another file, and opens the file if necessary.
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

    /// Returns the path of a file named in another file. If there is no file at the named path, the directory of the
    /// naming file is searched, as in the HDF5 library, since related files are usually moved together.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the file does not exist; [`ErrorKind::Forbidden`] if it is not in an allowed directory.
    fn resolved(&self, from: usize, name: &[u8]) -> Result<PathBuf> {
        let name = lenient(name);
        let source = self.path(from);
        let found = self.external.resolve(source, &name);
        let beside = || {
            let last = name.rsplit('/').next().filter(|last| *last != name && !last.is_empty())?;
            self.external.resolve(source, last).ok()
        };
        // An existing file is the target even if access to it is forbidden.
        let is_gone = |error: &Error| error.kind() == ErrorKind::NotFound;
        found.or_else(|error| if is_gone(&error) { beside().ok_or(error) } else { Err(error) })
    }

    /// Returns true if a file named in another file exists.
    pub(super) fn exists(&self, from: usize, name: &[u8]) -> bool {
        name == b"." || self.resolved(from, name).is_ok()
    }
}
