//! ARCHITECTURE.md and docs/internals.md mention files, types and functions; each of them must exist.

use std::collections::BTreeSet;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

use zarrox_runner::run::{self, Outcome};

const PAGES: [&str; 2] = ["ARCHITECTURE.md", "docs/internals.md"];

/// Short names of folders, so that the pages need not repeat the long ones.
const SHORT: [(&str, &str); 13] = [
    ("core/", "crates/zarrox-core/src/"),
    ("codecs/", "crates/zarrox-codecs/src/"),
    ("stores/", "crates/zarrox-stores/src/"),
    ("databases/", "crates/zarrox-databases/src/"),
    ("zarrox/", "crates/zarrox/src/"),
    ("tools/", "crates/zarrox-tools/src/"),
    ("images/", "crates/zarrox-images/src/"),
    ("derive/", "crates/zarrox-derive/src/"),
    ("files/", "crates/zarrox-files/src/"),
    ("cli/", "crates/zarrox-cli/src/"),
    ("python/", "crates/zarrox-python/"),
    ("serve/", "crates/zarrox-serve/src/"),
    ("testkit/", "quality/testkit/src/"),
];

/// Reports each text in backticks on the pages that does not exist.
pub(crate) fn check() -> Outcome {
    println!("$ symbols");
    let mut known = BTreeSet::new();
    for file in run::files(&["rs", "py"])? {
        let text = run::read(&file)?;
        match text.parse::<TokenStream>() {
            Ok(code) => names_in(code, &mut known),
            Err(_) => known.extend(words(&text).map(str::to_owned)),
        }
    }
    let mut missing = Vec::new();
    for page in PAGES {
        let text = run::read(page)?;
        let unknown = spans(&text).filter(|(_, span)| !exists(span, &known));
        missing.extend(unknown.map(|(line, span)| format!("{page}:{line}: `{span}` does not exist")));
    }
    if missing.is_empty() { Ok(()) } else { Err(format!("symbols:\n{}", missing.join("\n"))) }
}

/// Returns true for a file or a name that exists.
fn exists(span: &str, known: &BTreeSet<String>) -> bool {
    if span.contains('/') { is_file(span, |path| Path::new(path).exists()) } else { is_known(span, known) }
}

/// Returns the texts in backticks outside code blocks, with their lines.
fn spans(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    let prose = page.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    prose.flat_map(|(number, line)| line.split('`').skip(1).step_by(2).map(move |span| (number + 1, span)))
}

/// Returns true for a path that exists, from the root or by a short name, and for a text that is not a path.
fn is_file(span: &str, exists: impl Fn(&str) -> bool) -> bool {
    let is_path = span.chars().all(|letter| letter.is_alphanumeric() || "/._-".contains(letter));
    let long = SHORT.iter().find_map(|(short, long)| Some(format!("{long}{}", span.strip_prefix(short)?)));
    !is_path || exists(span) || long.is_some_and(|path| exists(&path))
}

/// Returns true for a name whose parts all occur in the code, and for a text that is not a name.
fn is_known(span: &str, known: &BTreeSet<String>) -> bool {
    let name = span.trim_end_matches("()");
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || "_:.".contains(letter));
    !is_name || known.contains(name) || words(name).all(|word| known.contains(word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

/// Collects the identifiers and the contents of literals, without comments.
fn names_in(code: TokenStream, found: &mut BTreeSet<String>) {
    let mut is_doc = false;
    for token in code {
        match token {
            TokenTree::Ident(ident) => {
                is_doc = ident == "doc";
                found.insert(ident.to_string());
            }
            TokenTree::Literal(literal) if !is_doc => {
                found.insert(literal.to_string().trim_matches('"').to_owned());
            }
            TokenTree::Group(group) => names_in(group.stream(), found),
            TokenTree::Literal(_) | TokenTree::Punct(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_found_outside_of_code() {
        let page = "a `b` and `c::d`\n```text\n`no`\n```\n`e/f.rs`\n";
        assert_eq!(spans(page).collect::<Vec<_>>(), [(1, "b"), (1, "c::d"), (5, "e/f.rs")]);
    }

    #[test]
    fn names_of_comments_are_not_known() {
        let mut known = BTreeSet::new();
        names_in("/// Gone\nfn read() { codec(\"v2_filter\") }".parse().unwrap(), &mut known);
        for there in ["read", "read()", "codec", "v2_filter", "not a name: <T>"] {
            assert!(is_known(there, &known), "{there}");
        }
        for missing in ["Gone", "read::Gone", "v3_filter"] {
            assert!(!is_known(missing, &known), "{missing}");
        }
    }

    #[test]
    fn paths_may_be_short() {
        let exists = |path: &str| ["docs/guide/README.md", "crates/zarrox-core/src/codec"].contains(&path);
        assert!(is_file("docs/guide/README.md", exists));
        assert!(is_file("core/codec", exists));
        assert!(is_file("s3://bucket/key", exists));
        assert!(!is_file("core/gone.rs", exists));
    }
}
