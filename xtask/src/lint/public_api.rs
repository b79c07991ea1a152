//! The public items of the crates that programs link, as lists that a review sees change.
//!
//! rustdoc describes a crate as JSON. That form is not stable yet: rustdoc alone is run as if it were of the nightly channel.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use zarrox_runner::run::{self, Outcome, cargo};

/// The directory of the lists.
const LISTS: &str = "xtask/public-api";

/// The crates that programs link.
const CRATES: [&str; 5] = ["zarrox", "zarrox-core", "zarrox-codecs", "zarrox-stores", "zarrox-databases"];

/// Fails when a list is not what the source says.
pub(super) fn check() -> Outcome {
    let stale =
        lists()?.into_iter().filter(|(path, text)| run::read(path).map_or(true, |there| there != *text));
    let stale: Vec<String> = stale.map(|(path, _)| path).collect();
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("the public items changed: look at `cargo xtask docs --public-api` and {}", stale.join(", ")))
}

/// Writes the lists.
pub(crate) fn write() -> Outcome {
    lists()?.iter().try_for_each(|(path, text)| run::write(path, text))
}

/// The lists, by their paths.
fn lists() -> Outcome<Vec<(String, String)>> {
    describe()?;
    CRATES.iter().map(|name| Ok((format!("{LISTS}/{name}.txt"), list(name)?))).collect()
}

/// Lets rustdoc describe the crates.
fn describe() -> Outcome {
    let wrapper = Path::new(LISTS).join("rustdoc.sh");
    let wrapper = wrapper.canonicalize().map_err(|error| format!("{}: {error}", wrapper.display()))?;
    let doc = cargo(["doc", "--quiet", "--no-deps", "--all-features", "--lib"]);
    CRATES
        .iter()
        .fold(doc, |doc, name| doc.with(["--package", name]))
        .variable("RUSTDOC", &wrapper.to_string_lossy())
        .variable("RUSTDOCFLAGS", "-Zunstable-options --output-format json")
        .run()
}

/// The public items of a crate in the order of their paths, one for each line, and their number.
fn list(name: &str) -> Outcome<String> {
    let path = format!("target/doc/{}.json", name.replace('-', "_"));
    let document: Value =
        serde_json::from_str(&run::read(&path)?).map_err(|error| format!("{path}: {error}"))?;
    let mut listing = Listing {
        index: &document["index"],
        lines: BTreeSet::new(),
        open: Vec::new(),
        listed: BTreeSet::new(),
    };
    let root = document["root"].to_string();
    listing.module(&root, &name.replace('-', "_"));
    let lines: Vec<String> = listing.lines.into_iter().collect();
    Ok(format!("{} public items\n\n{}\n", lines.len(), lines.join("\n")))
}

struct Listing<'a> {
    index: &'a Value,
    lines: BTreeSet<String>,
    /// The modules that are being listed, since reexports can lead back to them.
    open: Vec<String>,
    /// The types whose methods are listed already, by another path.
    listed: BTreeSet<String>,
}

impl Listing<'_> {
    fn module(&mut self, id: &str, path: &str) {
        if self.open.iter().any(|open| open == id) {
            return;
        }
        self.open.push(id.to_owned());
        let items = self.index[id]["inner"]["module"]["items"].clone();
        for item in ids(&items) {
            self.item(&item, path, None);
        }
        self.open.pop();
    }

    /// Lists an item of a module, which a reexport can give another name.
    fn item(&mut self, id: &str, path: &str, renamed: Option<&str>) {
        let item = self.index[id].clone();
        let (Some((kind, inner)), true) = (of_kind(&item), item["visibility"] == "public") else { return };
        let name = renamed.or_else(|| item["name"].as_str()).unwrap_or_default();
        let own = format!("{path}::{name}");
        match kind {
            "module" => {
                self.lines.insert(format!("{own} (mod)"));
                self.module(id, &own);
            }
            "use" => self.reexport(inner, path),
            "function" => self.function(&own, &item),
            "struct" | "enum" | "union" => {
                self.lines.insert(format!("{own} ({kind})"));
                if self.listed.insert(id.to_owned()) {
                    self.methods(inner, &own);
                }
            }
            "trait" => {
                self.lines.insert(format!("{own} (trait)"));
                let is_new = self.listed.insert(id.to_owned());
                for member in ids(&inner["items"]).into_iter().filter(|_| is_new) {
                    self.member(&member, &own);
                }
            }
            "constant" | "static" | "type_alias" | "macro" | "proc_macro" => {
                self.lines.insert(format!("{own} ({kind})"));
            }
            _ => {}
        }
    }

    fn reexport(&mut self, inner: &Value, path: &str) {
        let name = inner["name"].as_str().unwrap_or_default();
        let id = inner["id"].to_string();
        let target = self.index[id.as_str()].clone();
        let is_own = target["crate_id"] == 0;
        if inner["is_glob"] == true && is_own {
            return self.module(&id, path);
        }
        if !is_own {
            let source = inner["source"].as_str().unwrap_or_default();
            self.lines.insert(format!("{path}::{name} = {source}"));
            return;
        }
        // A private item of another module that is public by this name.
        let mut public = target;
        public["visibility"] = "public".into();
        match of_kind(&public) {
            Some(("module", _)) => {
                self.lines.insert(format!("{path}::{name} (mod)"));
                self.module(&id, &format!("{path}::{name}"));
            }
            _ => self.item(&id, path, Some(name)),
        }
    }

    /// Lists the methods of a type's own.
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

/// The kind of an item, and what is known of that kind.
fn of_kind(item: &Value) -> Option<(&str, &Value)> {
    item["inner"].as_object()?.iter().next().map(|(kind, inner)| (kind.as_str(), inner))
}

fn ids(items: &Value) -> Vec<String> {
    items.as_array().into_iter().flatten().map(Value::to_string).collect()
}

/// A type as in the source, but for paths of its parts.
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

/// The arguments of a generic type.
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
