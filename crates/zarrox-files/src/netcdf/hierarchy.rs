//! The groups, dimensions and variables of an imported file.

use std::collections::HashMap;

use zarrox::json::Map;

use super::dimensions::{Dimensions, Shaped};
use super::names::{escaped, list};
use super::{DIMENSIONS, GROUPS, KIND, VARIABLES};

/// The NetCDF format variant of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// NetCDF-4.
    NetCdf4,
    /// NetCDF-4 with the classic data model.
    Classic4,
    /// NetCDF-3.
    Classic,
    /// NetCDF-3 with 64-bit offsets.
    Offset64,
    /// NetCDF-3 with 64-bit data.
    Data64,
}

impl Kind {
    const ALL: [Self; 5] = [Self::NetCdf4, Self::Classic4, Self::Classic, Self::Offset64, Self::Data64];

    /// Returns the name that `ncdump -k` prints.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NetCdf4 => "netCDF-4",
            Self::Classic4 => "netCDF-4 classic model",
            Self::Classic => "classic",
            Self::Offset64 => "64-bit offset",
            Self::Data64 => "64-bit data",
        }
    }

    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A dimension that is defined in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Defined {
    pub(crate) name: String,
    pub(crate) length: u64,
    pub(crate) is_unlimited: bool,
}

/// The groups of a file with their dimensions and variables, in file order.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    kind: Kind,
    /// The dimensions, by group path.
    dimensions: HashMap<String, Vec<Defined>>,
    /// The names of groups, by the path of the parent group.
    groups: HashMap<String, Vec<String>>,
    variables: Vec<Shaped>,
}

impl Hierarchy {
    /// Creates an empty hierarchy.
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, dimensions: HashMap::new(), groups: HashMap::new(), variables: Vec::new() }
    }

    /// Adds a group. The root, whose path is empty, exists from the start. Groups must be added in file order.
    pub(crate) fn group(&mut self, path: &str) {
        let (above, name) = split(path);
        if !name.is_empty() {
            self.groups.entry(above.to_owned()).or_default().push(name.to_owned());
        }
    }

    /// Adds a dimension that is defined in a group. The dimensions of a group must be added in file order.
    pub(crate) fn dimension(&mut self, group: &str, name: &str, length: u64, is_unlimited: bool) {
        let defined = Defined { name: name.to_owned(), length, is_unlimited };
        self.dimensions.entry(group.to_owned()).or_default().push(defined);
    }

    /// Adds a variable that becomes the array at the given path, with its dimension names. The variables of a group must
    /// be added in file order.
    pub(crate) fn variable(&mut self, path: &str, shape: &[u64], names: &[Option<String>]) {
        let (group, name) = split(path);
        self.variables.push(Shaped {
            group: group.to_owned(),
            name: name.to_owned(),
            shape: shape.to_vec(),
            names: names.to_vec(),
        });
    }

    /// Returns the group attributes, by path, that an export needs to reproduce the file. A group without an entry needs
    /// no attributes.
    pub(crate) fn finish(self) -> HashMap<String, Map> {
        let mut all: HashMap<String, Map> = HashMap::new();
        let mut add = |group: &str, name: &str, text: String| {
            all.entry(group.to_owned()).or_default().insert(name.to_owned(), text.into());
        };
        if self.kind != Kind::NetCdf4 {
            add("", KIND, self.kind.name().to_owned());
        }
        let usual = self.usual();
        for (group, own) in &self.dimensions {
            if usual.get(group) != Some(own) {
                add(group, DIMENSIONS, text(own));
            }
        }
        let mut variables: HashMap<&str, Vec<&str>> = HashMap::new();
        for variable in &self.variables {
            variables.entry(&variable.group).or_default().push(&variable.name);
        }
        for (group, names) in variables.into_iter().filter(|(_, names)| !names.is_sorted()) {
            add(group, VARIABLES, list(names));
        }
        for (group, names) in self.groups.iter().filter(|(_, names)| !names.is_sorted()) {
            add(group, GROUPS, list(names.iter().map(String::as_str)));
        }
        all
    }

    /// Returns the dimensions that an export would define by default, by group path.
    fn usual(&self) -> HashMap<String, Vec<Defined>> {
        let mut usual: HashMap<String, Vec<Defined>> = HashMap::new();
        for found in Dimensions::new(&self.variables, &[], true).unwrap_or_default().all {
            let (name, length, is_unlimited) = (found.name, found.length, found.is_unlimited);
            usual.entry(found.group).or_default().push(Defined { name, length, is_unlimited });
        }
        usual
    }
}

/// Formats the dimensions of a group as a single string.
fn text(dimensions: &[Defined]) -> String {
    let entry = |Defined { name, length, is_unlimited }: &Defined| match is_unlimited {
        true => format!("{} = UNLIMITED ({length})", escaped(name)),
        false => format!("{} = {length}", escaped(name)),
    };
    dimensions.iter().map(entry).collect::<Vec<_>>().join("; ")
}

/// Splits a path into the path of the parent group and the name of the node.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarrox::json::json;

    fn names(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| Some((*name).to_owned())).collect()
    }

    #[test]
    fn a_usual_hierarchy_needs_no_words() {
        let mut usual = Hierarchy::new(Kind::NetCdf4);
        usual.dimension("", "x", 3, false);
        usual.dimension("", "t", 2, false);
        usual.group("a");
        usual.group("b");
        usual.variable("v", &[2, 3], &names(&["t", "x"]));
        usual.variable("x", &[3], &names(&["x"]));
        assert!(usual.finish().is_empty());
    }

    #[test]
    fn what_an_export_would_not_do_is_told() {
        let mut all = Hierarchy::new(Kind::Classic4);
        all.dimension("", "time", 2, true);
        all.dimension("", "nv", 4, false);
        all.dimension("g", "a b", 5, false);
        all.group("z");
        all.group("g");
        all.variable("time", &[2], &names(&["time"]));
        all.variable("lat", &[3], &names(&["lat"]));
        let told = all.finish();
        assert_eq!(told[""]["_nc_kind"], json!("netCDF-4 classic model"));
        assert_eq!(told[""]["_nc_dimensions"], json!("time = UNLIMITED (2); nv = 4"));
        assert_eq!(told[""]["_nc_variables"], json!("time lat"));
        assert_eq!(told[""]["_nc_groups"], json!("z g"));
        assert_eq!(told["g"]["_nc_dimensions"], json!(r"a\ b = 5"));
        let hints = super::super::Hints::of(&told[""]);
        assert_eq!(hints.kind, Some(Kind::Classic4));
        assert_eq!(hints.dimensions[0], Defined { name: "time".to_owned(), length: 2, is_unlimited: true });
        assert_eq!((hints.variables.len(), hints.groups.len(), hints.dimensions.len()), (2, 2, 2));
    }
}
