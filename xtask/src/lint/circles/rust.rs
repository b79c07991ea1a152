//! The dependencies of a crate's files.
//!
//! A file depends on another if its code, without its tests, names an item that the other defines. A re-export is resolved to the
//! file with the definition, and is not a dependency itself: `mod.rs` may re-export the items of its siblings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, ItemMod, UseTree, Visibility};

use super::super::targets;
use super::graph::Graph;
use crate::run::{self, Outcome};

/// A path in code, by its segments.
type Segments = Vec<String>;

/// The largest number of segments of a path in the crate: paths of other crates, resolved through `*`, grow without limit.
const LONGEST: usize = 12;

/// The paths that were resolved, with their modules.
type Seen = BTreeSet<(usize, Segments)>;

/// A module, in a file of its own or within one.
#[derive(Debug, Default)]
struct Module {
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Names that are defined here.
    items: BTreeSet<String>,
    /// Names that are imported or re-exported, with their paths.
    uses: BTreeMap<String, Segments>,
    globs: Vec<Segments>,
    /// Paths on which the code depends.
    needed: Vec<Segments>,
}

/// The modules of a crate; the first is its root.
#[derive(Debug, Default)]
pub(super) struct Crate {
    files: Vec<PathBuf>,
    modules: Vec<Module>,
    /// Macros by name, which are visible in all modules.
    macros: BTreeMap<String, usize>,
}

impl Crate {
    pub(super) fn read(root: &Path) -> Outcome<Self> {
        let mut all = Self::default();
        let below = root.parent().unwrap_or(root).to_owned();
        all.read_file(root, &below, None)?;
        Ok(all)
    }

    /// Reads a module's file; the files of its children are in a directory.
    fn read_file(&mut self, path: &Path, directory: &Path, parent: Option<usize>) -> Outcome<usize> {
        let parsed =
            syn::parse_file(&run::read(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        self.files.push(path.to_owned());
        let module = Module { file: self.files.len() - 1, parent, ..Module::default() };
        self.read_items(module, parsed.items, directory)
    }

    fn read_items(&mut self, module: Module, items: Vec<Item>, directory: &Path) -> Outcome<usize> {
        let file = module.file;
        self.modules.push(module);
        let index = self.modules.len() - 1;
        for item in items.into_iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(child) => self.read_child(index, child, directory)?,
                Item::Use(import) => {
                    let is_public = !matches!(import.vis, Visibility::Inherited);
                    let module = &mut self.modules[index];
                    flatten(&import.tree, Vec::new(), &mut |path, name| {
                        if !is_public {
                            module.needed.push(path.clone());
                        }
                        match name {
                            Some(name) => drop(module.uses.insert(name, path)),
                            None => module.globs.push(path),
                        }
                    });
                }
                item => {
                    if let Item::Macro(definition) = &item
                        && let Some(name) = &definition.ident
                    {
                        self.macros.insert(name.to_string(), file);
                    }
                    let module = &mut self.modules[index];
                    module.items.extend(name_of(&item));
                    paths_in(item.to_token_stream(), &mut module.needed);
                }
            }
        }
        Ok(index)
    }

    fn read_child(&mut self, parent: usize, child: ItemMod, directory: &Path) -> Outcome {
        let name = child.ident.to_string();
        let below = directory.join(&name);
        let index = match child.content {
            Some((_, items)) => {
                let module =
                    Module { file: self.modules[parent].file, parent: Some(parent), ..Module::default() };
                self.read_items(module, items, &below)?
            }
            None => {
                let file = &self.files[self.modules[parent].file];
                let path = targets::file_of(&name, &child.attrs, file, directory)
                    .ok_or_else(|| format!("{}: the module {name} has no file", file.display()))?;
                self.read_file(&path, &below, Some(parent))?
            }
        };
        self.modules[parent].children.insert(name, index);
        Ok(())
    }

    /// Returns the file that defines the item of a path in a module; `None` if the item belongs to another crate, or has no file
    /// of its own.
    fn file_of(&self, module: usize, path: &[String], seen: &mut Seen) -> Option<usize> {
        if let Some(name) = path.last()?.strip_suffix('!') {
            let path: Segments = path[..path.len() - 1].iter().cloned().chain([name.to_owned()]).collect();
            return self.file_of(module, &path, seen).or_else(|| self.macros.get(name).copied());
        }
        let (first, rest) = path.split_first()?;
        if rest.is_empty() && matches!(first.as_str(), "crate" | "self" | "super") {
            return None; // `pub(crate)`, or the value `self`
        }
        match first.as_str() {
            "crate" | "$crate" => self.file_within(0, rest, seen),
            "self" => self.file_within(module, rest, seen),
            "super" => self.file_within(self.modules[module].parent?, rest, seen),
            // Names of other crates are imported by `use` as well.
            _ => self.file_within(module, path, seen),
        }
    }

    fn file_within(&self, module: usize, path: &[String], seen: &mut Seen) -> Option<usize> {
        // Cyclic re-exports must end.
        if path.len() > LONGEST || !seen.insert((module, path.to_vec())) {
            return None;
        }
        let Some((name, rest)) = path.split_first() else { return Some(self.modules[module].file) };
        let here = &self.modules[module];
        if name == "super" {
            return self.file_within(here.parent?, rest, seen);
        }
        if let Some(child) = here.children.get(name)
            && !rest.is_empty()
        {
            return self.file_within(*child, rest, seen);
        }
        if here.items.contains(name) {
            return Some(here.file);
        }
        if let Some(path) = here.uses.get(name) {
            let path: Segments = path.iter().chain(rest).cloned().collect();
            return self.file_of(module, &path, seen);
        }
        if module == 0
            && let Some(file) = self.macros.get(name)
        {
            return Some(*file);
        }
        let is_own = |glob: &&Segments| {
            let first = glob.first().map_or("", String::as_str);
            let is_relative = matches!(first, "crate" | "$crate" | "self" | "super");
            is_relative || here.children.contains_key(first) || here.uses.contains_key(first)
        };
        here.globs.iter().filter(is_own).find_map(|glob| {
            let path: Segments = glob.iter().chain(path).cloned().collect();
            self.file_of(module, &path, seen)
        })
    }

    /// Returns the files, and the dependencies of each.
    pub(super) fn graph(&self) -> Graph {
        let mut needs = vec![BTreeSet::new(); self.files.len()];
        for (index, module) in self.modules.iter().enumerate() {
            let files = module.needed.iter().filter_map(|path| self.file_of(index, path, &mut Seen::new()));
            needs[module.file].extend(files.filter(|file| *file != module.file));
        }
        Graph { paths: self.files.clone(), needs }
    }
}

/// Calls a function for each name that a `use` imports, with its path; without a name for `*`.
fn flatten(tree: &UseTree, mut path: Segments, found: &mut dyn FnMut(Segments, Option<String>)) {
    match tree {
        UseTree::Path(segment) => {
            path.push(segment.ident.to_string());
            flatten(&segment.tree, path, found);
        }
        UseTree::Name(name) if name.ident == "self" => found(path.clone(), path.last().cloned()),
        UseTree::Name(name) => {
            path.push(name.ident.to_string());
            found(path, Some(name.ident.to_string()));
        }
        UseTree::Rename(rename) => {
            if rename.ident != "self" {
                path.push(rename.ident.to_string());
            }
            found(path, Some(rename.rename.to_string()));
        }
        UseTree::Glob(_) => found(path, None),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, path.clone(), found)),
    }
}

/// Collects the paths in code, including macros and their arguments. The path of a called macro ends with `!`.
fn paths_in(code: TokenStream, found: &mut Vec<Segments>) {
    let mut path = Segments::new();
    // A path continues after two colons.
    let mut colons = 0;
    let mut tokens = code.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct)
                if punct.as_char() == '!' && matches!(tokens.peek(), Some(TokenTree::Group(_))) =>
            {
                path.last_mut().into_iter().for_each(|name| name.push('!'));
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                colons += 1;
                continue;
            }
            TokenTree::Ident(ident) => {
                if colons != 2 {
                    found.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                }
                path.push(ident.to_string());
                colons = 0;
                continue;
            }
            TokenTree::Group(group) => paths_in(group.stream(), found),
            _ => {}
        }
        found.extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
        colons = 0;
    }
    found.extend((!path.is_empty()).then_some(path));
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns true for code that is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.meta.to_token_stream().to_string().contains("(test")
    })
}

#[cfg(test)]
mod tests {
    use super::super::graph::Knot;
    use super::*;

    /// Returns the knots of a crate with these files.
    fn knots(files: &[(&str, &str)]) -> Vec<Knot> {
        let name = std::thread::current().name().unwrap_or_default().replace("::", "-");
        let directory = run::empty_directory(std::env::temp_dir().join(format!("zarrox-{name}"))).unwrap();
        files.iter().for_each(|(path, text)| run::write(directory.join(path), text).unwrap());
        let read = Crate::read(&directory.join("lib.rs")).unwrap();
        let knots = read.graph().knots();
        std::fs::remove_dir_all(&directory).unwrap();
        let prefix = format!("{}/", directory.display());
        let within = |path: &String| path.strip_prefix(&prefix).unwrap().to_owned();
        knots
            .into_iter()
            .map(|knot| Knot { circle: knot.circle.iter().map(within).collect(), ..knot })
            .collect()
    }

    fn knot(files: usize, circle: &[&str]) -> Vec<Knot> {
        vec![Knot { size: files, circle: circle.iter().map(|path| (*path).to_owned()).collect() }]
    }

    #[test]
    fn files_that_name_one_another_are_found() {
        let found = knots(&[
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::b::f; pub struct A;"),
            ("b.rs", "pub fn f(list: Vec<crate::c::C>) {}"),
            ("c.rs", "pub struct C; impl C { fn a() { helper!(super::a::A) } }"),
            ("d.rs", "use crate::a::A;"),
        ]);
        assert_eq!(found, knot(3, &["a.rs", "b.rs", "c.rs", "a.rs"]));
    }

    #[test]
    fn re_exports_lead_to_definitions_and_need_nothing() {
        let above = ("x/mod.rs", "mod one; mod two; pub use one::One; pub(crate) use two::Two as Second;");
        let files = [("lib.rs", "pub mod x; pub use x::*;"), above, ("x/two.rs", "pub struct Two;")];
        let first = |text| [files.as_slice(), &[("x/one.rs", text)]].concat();
        assert_eq!(knots(&first("pub struct One(crate::Second, super::Second);")), []);
        let second = [("lib.rs", "mod x;"), above, ("x/one.rs", "pub struct One(super::Second);")];
        let second = [second.as_slice(), &[("x/two.rs", "pub(super) struct Two(crate::x::One);")]].concat();
        assert_eq!(knots(&second), knot(2, &["x/one.rs", "x/two.rs", "x/one.rs"]));
    }

    #[test]
    fn parents_that_use_what_their_children_need_are_found() {
        let parent = ("lib.rs", "mod child; const N: u8 = 1; pub fn f() { child::g() }");
        assert_eq!(
            knots(&[parent, ("child.rs", "fn g() { super::N }")]),
            knot(2, &["lib.rs", "child.rs", "lib.rs"])
        );
    }

    #[test]
    fn tests_and_visibility_are_not_dependencies() {
        let a = "#[cfg(test)] mod tests { use crate::b; } #[cfg(all(test, unix))] use crate::b::B; pub(crate) struct A;";
        let found = knots(&[
            ("lib.rs", "mod a; mod b; fn f() { a::A }"),
            ("a.rs", a),
            ("b.rs", "use crate::a::A; struct B;"),
        ]);
        assert_eq!(found, []);
    }
}
