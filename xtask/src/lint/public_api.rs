//! The public items of the crates that programs depend on, as lists whose changes a review sees: modules, types, functions,
//! macros, the methods of types and traits. An item counts once, however many paths it has, and only in its own crate. Fields,
//! variants, implementations of other traits, and items with `#[doc(hidden)]` do not count.
//!
//! rustdoc describes a crate as JSON. That format is not stable yet, so rustdoc, and only rustdoc, is run as if it belonged to
//! the nightly channel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use zarrox_runner::run::{self, Outcome, cargo};

/// The directory of the lists.
const LISTS: &str = "xtask/public-api";

/// The crates that programs depend on.
const CRATES: [&str; 5] = ["zarrox", "zarrox-core", "zarrox-codecs", "zarrox-stores", "zarrox-databases"];

/// The crates that every program needs to read an array.
const NEEDED: [&str; 4] = ["zarrox", "zarrox-core", "zarrox-codecs", "zarrox-stores"];

/// The largest number of public items of these crates in total.
const MOST: usize = 1000;

/// Fails when a list differs from the source, or there are too many items.
pub(super) fn check() -> Outcome {
    let lists = lists()?;
    let needed = lists.iter().filter(|list| NEEDED.contains(&list.name));
    let count: usize = needed.map(|list| list.items.len()).sum();
    if count > MOST {
        return Err(format!("{} have {count} public items, more than {MOST}", NEEDED.join(", ")));
    }
    let stale = lists.iter().filter(|list| run::read(list.path()).map_or(true, |there| there != list.text()));
    let stale: Vec<String> = stale.map(List::path).collect();
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the public items have changed: run `cargo xtask docs --public-api` and review {}",
        stale.join(", ")
    ))
}

/// Writes the lists.
pub(crate) fn write() -> Outcome {
    lists()?.iter().try_for_each(|list| run::write(list.path(), &list.text()))
}

fn lists() -> Outcome<Vec<List>> {
    describe()?;
    CRATES.into_iter().map(list).collect()
}

/// Runs rustdoc on the crates. Hidden items are included, since rustdoc would otherwise omit a public item of a hidden module.
fn describe() -> Outcome {
    let wrapper = Path::new(LISTS).join("rustdoc.sh");
    let wrapper = wrapper.canonicalize().map_err(|error| format!("{}: {error}", wrapper.display()))?;
    let doc = cargo(["doc", "--quiet", "--no-deps", "--all-features", "--lib"]);
    CRATES
        .iter()
        .fold(doc, |doc, name| doc.with(["--package", name]))
        .variable("RUSTDOC", &wrapper.to_string_lossy())
        .variable("RUSTDOCFLAGS", "-Zunstable-options --output-format json --document-hidden-items")
        .run()
}

/// The public items of a crate.
struct List {
    name: &'static str,
    /// The items, one per line: each under its shortest path, with its type.
    items: BTreeSet<String>,
    /// The other paths of these items, and the items of other crates with a path here.
    names: BTreeSet<String>,
}

impl List {
    fn path(&self) -> String {
        format!("{LISTS}/{}.txt", self.name)
    }

    fn text(&self) -> String {
        let lines =
            |lines: &BTreeSet<String>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let items = format!("{} public items\n\n{}", self.items.len(), lines(&self.items));
        if self.names.is_empty() {
            return items;
        }
        format!("{items}\n{} other names\n\n{}", self.names.len(), lines(&self.names))
    }
}

fn list(name: &'static str) -> Outcome<List> {
    let path = format!("target/doc/{}.json", name.replace('-', "_"));
    let document: Value =
        serde_json::from_str(&run::read(&path)?).map_err(|error| format!("{path}: {error}"))?;
    let mut paths =
        Paths { index: &document["index"], open: Vec::new(), paths: BTreeMap::new(), names: BTreeSet::new() };
    paths.module(&document["root"].to_string(), &name.replace('-', "_"));
    let mut listing = Listing { index: &document["index"], lines: BTreeSet::new() };
    let mut names = paths.names;
    for (id, paths) in &paths.paths {
        let mut paths: Vec<&String> = paths.iter().collect();
        paths.sort_by_key(|path| (path.contains("::prelude::"), path.matches("::").count(), path.as_str()));
        let Some((main, others)) = paths.split_first() else { continue };
        listing.item(id, main);
        names.extend(others.iter().map(|other| format!("{other} = {main}")));
    }
    Ok(List { name, items: listing.lines, names })
}

/// The public paths of items.
struct Paths<'a> {
    index: &'a Value,
    /// The modules that are being listed, since re-exports can lead back to them.
    open: Vec<String>,
    /// The paths by the number of the item.
    paths: BTreeMap<String, BTreeSet<String>>,
    /// The names of other crates' items.
    names: BTreeSet<String>,
}

impl Paths<'_> {
    fn module(&mut self, id: &str, path: &str) {
        if self.open.iter().any(|open| open == id) {
            return;
        }
        self.open.push(id.to_owned());
        for item in ids(&self.index[id]["inner"]["module"]["items"]) {
            let is_public = self.index[item.as_str()]["visibility"] == "public";
            if is_public && !is_hidden(&self.index[item.as_str()]) {
                self.item(&item, path, None);
            }
        }
        self.open.pop();
    }

    /// Adds an item of a module, which a re-export can rename.
    fn item(&mut self, id: &str, path: &str, renamed: Option<&str>) {
        let item = self.index[id].clone();
        let Some((kind, inner)) = of_kind(&item).filter(|_| !is_hidden(&item)) else { return };
        if kind == "use" {
            return self.reexport(inner, path);
        }
        let name = renamed.or_else(|| item["name"].as_str()).unwrap_or_default();
        let own = format!("{path}::{name}");
        if kind == "module" {
            self.module(id, &own);
        }
        if LISTED.contains(&kind) {
            self.paths.entry(id.to_owned()).or_default().insert(own);
        }
    }

    fn reexport(&mut self, inner: &Value, path: &str) {
        let name = inner["name"].as_str().unwrap_or_default();
        let id = inner["id"].to_string();
        if self.index[id.as_str()]["crate_id"] != 0 {
            self.names.insert(format!("{path}::{name} = {}", inner["source"].as_str().unwrap_or_default()));
        } else if inner["is_glob"] == true {
            self.module(&id, path);
        } else {
            self.item(&id, path, Some(name));
        }
    }
}

/// The kinds of items that are listed.
const LISTED: [&str; 11] = [
    "module",
    "function",
    "struct",
    "enum",
    "union",
    "trait",
    "constant",
    "static",
    "type_alias",
    "macro",
    "proc_macro",
];

struct Listing<'a> {
    index: &'a Value,
    lines: BTreeSet<String>,
}

impl Listing<'_> {
    /// Lists an item with its methods.
    fn item(&mut self, id: &str, own: &str) {
        let item = self.index[id].clone();
        let Some((kind, inner)) = of_kind(&item) else { return };
        match kind {
            "module" => drop(self.lines.insert(format!("{own} (mod)"))),
            "function" => self.function(own, &item),
            kind => drop(self.lines.insert(format!("{own} ({kind})"))),
        }
        match kind {
            "struct" | "enum" | "union" => self.methods(inner, own),
            "trait" => ids(&inner["items"]).iter().for_each(|member| self.member(member, own)),
            _ => {}
        }
    }

    /// Lists the inherent methods of a type.
    fn methods(&mut self, inner: &Value, own: &str) {
        for id in ids(&inner["impls"]) {
            let block = self.index[id.as_str()]["inner"]["impl"].clone();
            if !block["trait"].is_null() {
                continue;
            }
            for member in ids(&block["items"]) {
                if self.index[member.as_str()]["visibility"] == "public" {
                    self.member(&member, own);
                }
            }
        }
    }

    fn member(&mut self, id: &str, own: &str) {
        let item = self.index[id].clone();
        if is_hidden(&item) {
            return;
        }
        let path = format!("{own}::{}", item["name"].as_str().unwrap_or_default());
        match of_kind(&item) {
            Some(("function", _)) => self.function(&path, &item),
            Some((kind, _)) => drop(self.lines.insert(format!("{path} ({kind})"))),
            None => {}
        }
    }

    fn function(&mut self, path: &str, item: &Value) {
        let signature = &item["inner"]["function"]["sig"];
        let inputs = signature["inputs"].as_array().into_iter().flatten();
        let inputs: Vec<String> = inputs
            .map(|input| match input[0].as_str() {
                Some("self") => shown(&input[1]).replace("Self", "self"),
                Some(name) => format!("{name}: {}", shown(&input[1])),
                None => shown(&input[1]),
            })
            .collect();
        let output = match &signature["output"] {
            Value::Null => String::new(),
            output => format!(" -> {}", shown(output)),
        };
        let header = &item["inner"]["function"]["header"];
        let words = [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")];
        let words: String =
            words.iter().filter(|(key, _)| header[key] == true).map(|(_, word)| *word).collect();
        self.lines.insert(format!("{path} ({words}fn({}){output})", inputs.join(", ")));
    }
}

/// Returns the kind of an item, and the data of that kind.
fn of_kind(item: &Value) -> Option<(&str, &Value)> {
    item["inner"].as_object()?.iter().next().map(|(kind, inner)| (kind.as_str(), inner))
}

/// Returns true for an item with `#[doc(hidden)]`.
fn is_hidden(item: &Value) -> bool {
    let attributes = item["attrs"].as_array().into_iter().flatten();
    attributes.filter_map(|attribute| attribute["other"].as_str()).any(|text| text.contains("doc(hidden)"))
}

fn ids(items: &Value) -> Vec<String> {
    items.as_array().into_iter().flatten().map(Value::to_string).collect()
}

/// Returns a type as in the source, but without the paths of its parts.
fn shown(of: &Value) -> String {
    let Some((kind, inner)) = of.as_object().and_then(|of| of.iter().next()) else {
        return of.as_str().unwrap_or("_").to_owned();
    };
    let list = |items: &Value| -> Vec<String> { items.as_array().into_iter().flatten().map(shown).collect() };
    match kind.as_str() {
        "primitive" | "generic" => inner.as_str().unwrap_or_default().to_owned(),
        "resolved_path" => {
            format!("{}{}", inner["path"].as_str().unwrap_or_default(), arguments(&inner["args"]))
        }
        "borrowed_ref" => {
            let mutable = if inner["is_mutable"] == true { "mut " } else { "" };
            format!("&{mutable}{}", shown(&inner["type"]))
        }
        "raw_pointer" => {
            let mutable = if inner["is_mutable"] == true { "mut" } else { "const" };
            format!("*{mutable} {}", shown(&inner["type"]))
        }
        "slice" => format!("[{}]", shown(inner)),
        "array" => format!("[{}; {}]", shown(&inner["type"]), inner["len"].as_str().unwrap_or("_")),
        "tuple" => format!("({})", list(inner).join(", ")),
        "impl_trait" => format!("impl {}", bounds(inner)),
        "dyn_trait" => {
            let traits = inner["traits"].as_array().into_iter().flatten();
            let traits: Vec<String> = traits.map(|of| path_of(&of["trait"])).collect();
            format!("dyn {}", traits.join(" + "))
        }
        "qualified_path" => {
            format!("{}::{}", shown(&inner["self_type"]), inner["name"].as_str().unwrap_or_default())
        }
        "function_pointer" => {
            let inputs = inner["sig"]["inputs"].as_array().into_iter().flatten();
            let inputs: Vec<String> = inputs.map(|input| shown(&input[1])).collect();
            format!("fn({})", inputs.join(", "))
        }
        _ => "_".to_owned(),
    }
}

fn path_of(of: &Value) -> String {
    format!("{}{}", of["path"].as_str().unwrap_or_default(), arguments(&of["args"]))
}

fn bounds(of: &Value) -> String {
    let traits = of.as_array().into_iter().flatten().filter_map(|bound| bound.get("trait_bound"));
    traits.map(|bound| path_of(&bound["trait"])).collect::<Vec<_>>().join(" + ")
}

/// Returns the arguments of a generic type.
fn arguments(of: &Value) -> String {
    if let Some(call) = of.get("parenthesized") {
        let inputs: Vec<String> = call["inputs"].as_array().into_iter().flatten().map(shown).collect();
        let output =
            if call["output"].is_null() { String::new() } else { format!(" -> {}", shown(&call["output"])) };
        return format!("({}){output}", inputs.join(", "));
    }
    let Some(listed) = of.get("angle_bracketed") else { return String::new() };
    let own = listed["args"].as_array().into_iter().flatten();
    let own = own.filter_map(|argument| argument.get("type").map(shown));
    let constraints = listed["constraints"].as_array().into_iter().flatten();
    let constraints = constraints.map(|constraint| {
        let name = constraint["name"].as_str().unwrap_or_default();
        let binding = &constraint["binding"];
        match binding.get("equality") {
            Some(equal) => format!("{name} = {}", shown(&equal["type"])),
            None => format!("{name}: {}", bounds(&binding["constraint"])),
        }
    });
    let all: Vec<String> = own.chain(constraints).collect();
    if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
}
