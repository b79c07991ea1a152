//! Phrases that are not terms of the field: `words.txt` lists them with their replacements.

use std::path::Path;

use zarrox_runner::run::{self, Outcome};

const LIST: &str = "xtask/src/lint/words.txt";

/// Files whose text is checked.
const EXTENSIONS: [&str; 5] = ["rs", "py", "pyi", "ts", "md"];

/// The page that explains the rule, and folders with text of other programs.
const EXEMPT: [&str; 3] = ["CONTRIBUTING.md", "crates/zarrox/tests/corpus", "quality/fuzz/corpus"];

/// A phrase, and its replacement.
struct Phrase<'a> {
    text: &'a str,
    instead: &'a str,
}

/// Reports every line that has one of the phrases.
pub(crate) fn check() -> Outcome {
    println!("$ words");
    let list = run::read(LIST)?;
    let phrases = parse(&list)?;
    let is_exempt = |path: &Path| EXEMPT.iter().any(|exempt| path.starts_with(exempt));
    let mut found = Vec::new();
    for path in run::files(&EXTENSIONS)?.into_iter().filter(|path| !is_exempt(path)) {
        let text = run::read(&path)?;
        for (line, phrase) in search(&text, &phrases) {
            found.push(format!("{}:{line}: '{}'; write {}", path.display(), phrase.text, phrase.instead));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(format!("words of {LIST}:\n{}", found.join("\n"))) }
}

/// Returns the phrases of the list, the longest first.
fn parse(list: &str) -> Outcome<Vec<Phrase<'_>>> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let phrases = lines.map(|line| {
        let pair = line.split_once(" = ").ok_or_else(|| format!("{LIST}: '{line}' has no ' = '"));
        pair.map(|(text, instead)| Phrase { text, instead })
    });
    let mut phrases: Vec<Phrase<'_>> = phrases.collect::<Outcome<_>>()?;
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.text.len()));
    Ok(phrases)
}

/// Returns the lines of a text that have a phrase, counted from 1, each with the longest phrase in it.
fn search<'p>(text: &str, phrases: &'p [Phrase<'p>]) -> Vec<(usize, &'p Phrase<'p>)> {
    let lines = text.lines().enumerate();
    let found = lines.filter_map(|(index, line)| {
        let line = line.to_lowercase();
        let phrase = phrases.iter().find(|phrase| has_phrase(&line, phrase.text))?;
        Some((index + 1, phrase))
    });
    found.collect()
}

/// Returns true if a line has a phrase as whole words: underscores and hyphens are parts of words.
fn has_phrase(line: &str, phrase: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    line.match_indices(phrase).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + phrase.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_found_in_any_case() {
        let phrases = parse("# a list\nred = scarlet\nred car = scarlet vehicle\n").unwrap();
        let text = "Red paint.\nfn red_paint() {}\na red car\n";
        let found: Vec<_> =
            search(text, &phrases).iter().map(|(line, phrase)| (*line, phrase.instead)).collect();
        assert_eq!(found, [(1, "scarlet"), (3, "scarlet vehicle")]);
        assert!(parse("red").is_err());
    }
}
