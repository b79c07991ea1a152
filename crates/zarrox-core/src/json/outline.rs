//! Changes to members in the text of an object. The text of all other members is unchanged, and never parsed into values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::document::{check_depth, no_object, not_json, without_mark};
use super::parse::Span;
use super::{Json, Map, parse, write};
use crate::error::{Error, Result};
use crate::strictness::Strictness;

/// The text of an object, and the members of the object at the end of a path of names.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    text: &'a str,
    path: &'static [&'static str],
    /// The members of the object, and of each object along the path that exists.
    lists: Vec<Vec<Span<'a>>>,
}

impl<'a> Outline<'a> {
    /// Parses the text; returns an error if it is not a JSON object.
    pub(crate) fn new(bytes: &'a [u8], path: &'static [&'static str]) -> Result<Self> {
        let bytes = without_mark(bytes, Strictness::Lenient);
        let lists = parse::spans(bytes, path).map_err(not_json)?;
        if lists.is_empty() {
            return Err(no_object(&parse(bytes)?));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| Error::metadata(error.to_string()))?;
        Ok(Self { text, path, lists })
    }

    /// Returns the object, but with the object at the end of the path emptied.
    pub(crate) fn shell(&self) -> Result<Map> {
        self.shell_at(0)
    }

    fn shell_at(&self, level: usize) -> Result<Map> {
        let Some(next) = self.path.get(level) else { return Ok(Map::default()) };
        let mut map = Map::default();
        for span in &self.lists[level] {
            let json = if span.name == *next && self.lists.len() > level + 1 {
                self.shell_at(level + 1)?.into()
            } else {
                self.value(span)?
            };
            map.insert(span.name.clone().into_owned(), json);
        }
        Ok(map)
    }

    fn value(&self, span: &Span<'_>) -> Result<Json> {
        parse(self.text[span.value.clone()].as_bytes())
    }

    /// Returns the names of the members of the object at the end of the path.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.lists.get(self.path.len()).into_iter().flatten().map(|span| &*span.name)
    }

    /// Returns the text with changed members in the object at the end of the path: each named member is set to its value, or
    /// removed. Returns `Ok(None)` if nothing changes, or the object does not exist.
    pub(crate) fn with(&self, mut changes: BTreeMap<String, Option<Json>>) -> Result<Option<String>> {
        let (Some(place), Some(list)) = (self.place(), self.lists.get(self.path.len())) else {
            return Ok(None);
        };
        let mut members = Vec::with_capacity(list.len());
        // In reverse order, because the last of several members with the same name is the valid one.
        for span in list.iter().rev() {
            members.extend(self.changed(span, changes.get_mut(&*span.name))?);
        }
        members.reverse();
        let added =
            changes.into_iter().filter_map(|(name, json)| Some(Member::New(quoted(&name).into(), json?)));
        members.extend(added);
        let is_kept = |member: &Member<'_>| matches!(member, Member::Kept(_));
        if members.len() == list.len() && members.iter().all(is_kept) {
            return Ok(None);
        }
        let mut text = String::with_capacity(self.text.len() + 1024);
        text.push_str(&self.text[..place.start]);
        self.write_members(&mut text, &members)?;
        text.push_str(&self.text[place.end..]);
        Ok(Some(text))
    }

    /// Returns the text of a member, with its changed value taken from `change`. Returns `None` if the member is removed.
    fn changed(&self, span: &Span<'a>, change: Option<&mut Option<Json>>) -> Result<Option<Member<'a>>> {
        let kept = Member::Kept(&self.text[span.member.clone()]);
        let Some(change) = change else { return Ok(Some(kept)) };
        let Some(json) = change.take() else { return Ok(None) };
        if self.value(span)? == json {
            return Ok(Some(kept));
        }
        let name = &self.text[span.member.start..span.value.start];
        Ok(Some(Member::New(name.into(), json)))
    }

    /// Returns the range of the object at the end of the path.
    fn place(&self) -> Option<Range<usize>> {
        let above = self.path.len().checked_sub(1)?;
        let spans = self.lists.get(above)?;
        spans.iter().rfind(|span| span.name == self.path[above]).map(|span| span.value.clone())
    }

    fn write_members(&self, text: &mut String, members: &[Member<'_>]) -> Result<()> {
        let (indent, level) = (self.indent(), self.path.len() + 1);
        text.push('{');
        for (index, member) in members.iter().enumerate() {
            text.push_str(if index > 0 { "," } else { "" });
            new_line(text, indent, level);
            match member {
                Member::Kept(member) => text.push_str(member),
                Member::New(name, json) => {
                    text.push_str(name);
                    check_depth(json, level)?;
                    write::value_within(text, json, indent, level)
                        .map_err(|_| Error::argument("the document cannot be serialised as JSON"))?;
                }
            }
        }
        if !members.is_empty() {
            new_line(text, indent, level - 1);
        }
        text.push('}');
        Ok(())
    }

    /// Returns the number of spaces per level of indentation; `None` if the text is on one line.
    fn indent(&self) -> Option<usize> {
        let (_, members) = self.text.split_once('{')?;
        let line = members.strip_prefix('\n').or_else(|| members.strip_prefix("\r\n"))?;
        Some(line.len() - line.trim_start_matches(' ').len())
    }
}

/// A member to write.
enum Member<'a> {
    Kept(&'a str),
    /// The name with its colon, and the value.
    New(Cow<'a, str>, Json),
}

/// Returns the name of a member with its colon.
fn quoted(name: &str) -> String {
    format!("{}: ", Json::from(name))
}

fn new_line(text: &mut String, indent: Option<usize>, level: usize) {
    if let Some(indent) = indent {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', indent * level));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{json, to_line};
    use super::*;

    const PATH: &[&str] = &["c", "m"];

    fn changed(text: &str, changes: &[(&str, Option<Json>)]) -> Result<Option<String>> {
        let changes = changes.iter().map(|(name, json)| ((*name).to_owned(), json.clone()));
        Outline::new(text.as_bytes(), PATH)?.with(changes.collect())
    }

    #[test]
    fn unchanged_members_keep_their_text() {
        let text = "{\n \"a\": [1.50,NaN],\n \"c\": {\n  \"m\": {\n   \"x\":   1e2,\n   \"y\": {},\n   \"\\u007a\": 3\n  }\n }, \"d\": -0\n}\n";
        let found = changed(text, &[("y", None), ("z", Some(json!({"b": [1]}))), ("w", Some(json!(2)))]);
        let expected = "{\n \"a\": [1.50,NaN],\n \"c\": {\n  \"m\": {\n   \"x\":   1e2,\n   \"\\u007a\": {\n    \"b\": [\n     1\n    ]\n   },\n   \"w\": 2\n  }\n }, \"d\": -0\n}\n";
        assert_eq!(found.unwrap().unwrap(), expected);
        assert_eq!(changed(text, &[("y", Some(json!({}))), ("v", None)]).unwrap(), None);
        let emptied = changed(text, &[("x", None), ("y", None), ("z", None)]).unwrap().unwrap();
        assert!(emptied.contains("\"m\": {}\n }"), "{emptied}");
        assert_eq!(
            changed(r#"{"c":{"m":{}}}"#, &[("x", Some(json!([1])))]).unwrap().unwrap(),
            r#"{"c":{"m":{"x": [1]}}}"#
        );
    }

    #[test]
    fn of_members_with_one_name_the_last_counts() {
        let text = r#"{"c":{"m":{"no":1}},"c":{"m":1,"m":{"x":1,"y":2,"x":3}}}"#;
        assert_eq!(changed(text, &[("x", Some(json!(3)))]).unwrap().unwrap(), text.replace("\"x\":1,", ""));
        assert_eq!(
            changed(text, &[("x", None)]).unwrap().unwrap(),
            text.replace("\"x\":1,", "").replace(",\"x\":3", "")
        );
        let outline = Outline::new(text.as_bytes(), PATH).unwrap();
        assert_eq!(to_line(&outline.shell().unwrap()), r#"{"c":{"m":{}}}"#);
        assert_eq!(outline.names().collect::<Vec<_>>(), ["x", "y", "x"]);
    }

    #[test]
    fn where_the_path_leads_nowhere_nothing_changes() {
        for text in ["{}", r#"{"c":1}"#, r#"{"c":{}}"#, r#"{"c":{"m":[]}}"#, r#"{"c":{"m":{}},"c":null}"#] {
            assert_eq!(changed(text, &[("x", Some(json!(1)))]).unwrap(), None, "{text}");
            let shell = Outline::new(text.as_bytes(), PATH).unwrap().shell().unwrap();
            assert_eq!(Json::from(shell), parse(text.as_bytes()).unwrap(), "{text}");
        }
    }

    #[test]
    fn invalid_json_is_rejected_as_by_the_parser() {
        let text = r#" {"c": {"k": [true, -1.5e3, "é\n"], "m": {"a": {"b": [[]]}, "c": NaN}}, "d": null} "#;
        for end in (0..text.trim_end().len()).filter(|end| text.is_char_boundary(*end)) {
            let cut = &text.as_bytes()[..end];
            let errors = (Outline::new(cut, PATH).unwrap_err(), parse(cut).unwrap_err());
            assert_eq!(errors.0.to_string(), errors.1.to_string());
        }
        for (index, _) in text.char_indices() {
            for odd in ["}", "]", ",", "\"", "x", "\u{1}", "9"] {
                let broken = format!("{}{odd}{}", &text[..index], &text[index..]);
                let found =
                    Outline::new(broken.as_bytes(), PATH).map(drop).map_err(|error| error.to_string());
                let expected = super::super::parse_object(broken.as_bytes())
                    .map(drop)
                    .map_err(|error| error.to_string());
                assert_eq!(found, expected, "{broken}");
            }
        }
        for deep in ["[".repeat(1 << 20), "{\"c\":".repeat(1 << 18)] {
            assert_eq!(
                Outline::new(deep.as_bytes(), PATH).unwrap_err().kind(),
                crate::ErrorKind::InvalidMetadata
            );
        }
        let too_deep = (0..125).fold(json!(1), |json, _| json!([json]));
        let error = changed(r#"{"c":{"m":{}}}"#, &[("x", Some(too_deep))]).unwrap_err();
        assert!(error.to_string().contains("127 deep"), "{error}");
        assert!(Outline::new(b"[]", PATH).unwrap_err().to_string().contains("found a list"));
    }
}
