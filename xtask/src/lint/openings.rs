//! The first words of doc comments: a sentence that begins with its subject is understood at once.

use std::path::Path;

use crate::run::{self, Outcome};

/// Words with which no doc comment begins, since its subject is then missing or late.
const FORBIDDEN: [&str; 5] = ["What", "How", "Whether", "The same", "As"];

/// Names every doc comment that begins with such a word.
pub(crate) fn check() -> Outcome {
    println!("$ openings");
    let mut complaints = Vec::new();
    for file in run::files(&["rs", "py"])? {
        let is_rust = file.extension().is_some_and(|extension| extension == "rs");
        check_file(&file, &run::read(&file)?, if is_rust { rust } else { python }, &mut complaints);
    }
    if complaints.is_empty() { Ok(()) } else { Err(format!("openings:\n{}", complaints.join("\n"))) }
}

/// Gives the text with which a line begins a doc comment.
type Opening = for<'a> fn(previous: &str, line: &'a str) -> Option<&'a str>;

fn check_file(path: &Path, text: &str, opening: Opening, complaints: &mut Vec<String>) {
    let mut previous = "";
    for (number, line) in text.lines().map(str::trim).enumerate() {
        if let Some(opening) = opening(previous, line)
            && let Some(word) = FORBIDDEN.iter().find(|word| begins_with(opening, word))
        {
            complaints.push(format!(
                "{}:{}: a doc comment begins with \"{word}\": begin with its subject",
                path.display(),
                number + 1
            ));
        }
        previous = line;
    }
}

fn rust<'a>(previous: &str, line: &'a str) -> Option<&'a str> {
    let marks = ["///", "//!"];
    let mark = marks.into_iter().find(|mark| line.starts_with(mark))?;
    if previous.starts_with(mark) && previous != mark {
        return None;
    }
    line.strip_prefix(mark).map(str::trim_start)
}

fn python<'a>(_: &str, line: &'a str) -> Option<&'a str> {
    line.strip_prefix("\"\"\"").or_else(|| line.strip_prefix("r\"\"\""))
}

fn begins_with(text: &str, word: &str) -> bool {
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str, opening: Opening) -> usize {
        let mut complaints = Vec::new();
        check_file(Path::new("file"), text, opening, &mut complaints);
        complaints.len()
    }

    #[test]
    fn only_the_first_words_of_a_comment_count() {
        assert_eq!(complaints("/// The element type.\n/// What follows goes on.\nfn f() {}", rust), 0);
        assert_eq!(complaints("//! Assertions.\n/// Aspect ratio.\n// What a plain comment says", rust), 0);
        for word in FORBIDDEN {
            assert_eq!(complaints(&format!("fn f() {{}}\n    /// {word} it is."), rust), 1, "{word}");
            assert_eq!(complaints(&format!("//! A module.\n//!\n//! {word} it is."), rust), 1, "{word}");
            assert_eq!(complaints(&format!("def f():\n    \"\"\"{word} it is.\"\"\""), python), 1, "{word}");
        }
    }
}
