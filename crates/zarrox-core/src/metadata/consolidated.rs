//! Consolidated metadata: the documents of all nodes below a group, stored together so that a single read suffices.
//!
//! Each format stores it under its own key and in its own form, which [`Consolidation`] implements. All other code accesses
//! documents by their keys. Consolidated metadata is a copy that may be out of date; the nodes' own documents are authoritative.

use std::collections::BTreeMap;

use crate::json::json;

use super::Layout;
use super::members::COPIES;
use crate::error::{Error, Result};
use crate::json::{self, Json, Map, Outline};
use crate::path::NodePath;
use crate::strictness::Strictness;

/// Parsed documents by their keys. All documents are parsed, even if only one of them is read.
pub type Documents = BTreeMap<String, Json>;

/// The stored documents of nodes, in the order of [`Layout::documents`]; `None` for missing ones.
pub type StoredDocuments = BTreeMap<NodePath, Vec<Option<Vec<u8>>>>;

/// The location and the form of consolidated metadata in a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Consolidation {
    /// In a separate document with this name in the group. It also contains the group's own documents, and all keys are relative
    /// to the group.
    Beside(&'static str),
    /// In one document with this key for the whole hierarchy. It contains all documents by their full keys.
    AtRoot(&'static str),
    /// In the group's only document, by the paths of the nodes relative to the group.
    Inline,
}

/// The member of a group's document that contains the consolidated metadata, in formats that store it there.
pub(super) const MEMBER: &str = COPIES[0];

impl Consolidation {
    /// Returns the key of the document with the consolidated metadata of a group; `None` if this group cannot have any.
    pub fn key(self, layout: &Layout, group: &NodePath) -> Option<String> {
        match self {
            Self::Beside(name) => Some(group.key(name)),
            Self::AtRoot(key) => group.is_root().then(|| key.to_owned()),
            Self::Inline => layout.documents().first().map(|document| layout.key(group, document)),
        }
    }

    /// Returns true if a document may contain consolidated metadata. Does not parse the document.
    pub fn may_be_in(self, document: &[u8]) -> bool {
        match self {
            Self::Beside(_) | Self::AtRoot(_) => true,
            Self::Inline => std::str::from_utf8(document).is_ok_and(|text| text.contains(MEMBER)),
        }
    }

    /// Returns the documents of a group and of all nodes below it from the document with the consolidated metadata. Returns
    /// `Ok(None)` if the document has none. A document that contains consolidated metadata is returned without it.
    ///
    /// Entries that are not valid documents of a node are also returned; opening such a node returns an error.
    pub fn documents_in(
        self,
        layout: &Layout,
        group: &NodePath,
        document: &[u8],
        strictness: Strictness,
    ) -> Result<Option<Documents>> {
        let mut map = json::parse_document(document, strictness)?;
        let Some(entries) = self.entries(&mut map)?.map(std::mem::take) else { return Ok(None) };
        let mut documents = Documents::new();
        for (name, entry) in entries {
            if let Some(key) = self.key_of_entry(layout, group, &name) {
                documents.insert(key, document_of(entry));
            }
        }
        if self == Self::Inline {
            documents.extend(self.key(layout, group).map(|key| (key, map.into())));
        }
        Ok(Some(documents))
    }

    fn entries(self, map: &mut Map) -> Result<Option<&mut Map>> {
        let map = match self {
            Self::Inline => match map.get_mut(MEMBER) {
                None | Some(Json::Null) => return Ok(None),
                Some(Json::Object(inline)) => {
                    if inline.get("kind").is_some_and(|kind| kind != "inline") {
                        let message = format!("{MEMBER} has the unknown kind {}", inline["kind"]);
                        return Err(Error::unsupported(message));
                    }
                    inline
                }
                Some(other) => return Err(super::members::wrong(MEMBER, "an object", other)),
            },
            Self::Beside(_) | Self::AtRoot(_) => {
                if let Some(other) = map.get(FORMAT).filter(|format| format.as_f64() != Some(1.0)) {
                    return Err(Error::unsupported(format!("{FORMAT} is {other}; expected 1")));
                }
                map
            }
        };
        match map.get_mut(METADATA) {
            Some(Json::Object(entries)) => Ok(Some(entries)),
            Some(other) => Err(super::members::wrong(METADATA, "an object", other)),
            None => Err(Error::metadata("the consolidated metadata lacks the member 'metadata'")),
        }
    }

    /// Returns the names of the nested members that contain the entries.
    fn entries_path(self) -> &'static [&'static str] {
        match self {
            Self::Inline => &COPIES,
            Self::Beside(_) | Self::AtRoot(_) => &[METADATA],
        }
    }

    /// Returns the key of the document that an entry copies; `None` if no node can have it.
    fn key_of_entry(self, layout: &Layout, group: &NodePath, name: &str) -> Option<String> {
        match self {
            Self::Beside(_) => is_key(name).then(|| group.key(name)),
            Self::AtRoot(_) => is_key(name).then(|| name.to_owned()),
            Self::Inline => self.key(layout, &group.join(name).ok()?),
        }
    }

    /// Returns the document with the consolidated metadata. It is built from the documents of the group and of all nodes below
    /// it, and, if they exist, from the stored document with the consolidated metadata and the entry document of the hierarchy,
    /// each with its key.
    pub fn document_of(
        self,
        layout: &Layout,
        group: &NodePath,
        existing: Option<&[u8]>,
        entry: Option<(&str, &[u8])>,
        nodes: &StoredDocuments,
    ) -> Result<Vec<u8>> {
        let mut order: Vec<&NodePath> = nodes.keys().collect();
        order
            .sort_by_cached_key(|path| (path.ancestors().len(), path.as_str().to_lowercase(), path.as_str()));
        let mut entries = Map::default();
        for path in order {
            for (key, document) in layout.keys(path).into_iter().zip(&nodes[path]) {
                let (Some(document), Some(name)) = (document, self.name_of_entry(group, path, &key)) else {
                    continue;
                };
                entries.insert(name, self.entry_of(&key, document)?);
            }
        }
        let map = match self {
            Self::Beside(_) | Self::AtRoot(_) => {
                if let Some((key, document)) = entry.filter(|_| matches!(self, Self::AtRoot(_))) {
                    entries.insert(key.to_owned(), json::parse_object(document)?.into());
                }
                let mut map = Map::default();
                map.insert("metadata".to_owned(), entries.into());
                map.insert(FORMAT.to_owned(), 1.into());
                map
            }
            Self::Inline => {
                let mut map = json::parse_object(existing.unwrap_or_default())?;
                map.insert(MEMBER.to_owned(), inline(&entries));
                map
            }
        };
        json::to_bytes(&map)
    }

    /// Returns the document after changes below the group, given the stored document: entries below the changed paths are
    /// removed, and the current documents of each changed node are added. Returns `Ok(None)` if nothing changes, or if there is
    /// no consolidated metadata.
    pub fn updated(
        self,
        layout: &Layout,
        group: &NodePath,
        existing: &[u8],
        places: &[NodePath],
        nodes: &StoredDocuments,
    ) -> Result<Option<Vec<u8>>> {
        let outline = Outline::new(existing, self.entries_path())?;
        if self.entries(&mut outline.shell()?)?.is_none() {
            return Ok(None);
        }
        let extents: Vec<_> = places.iter().map(|place| layout.extent(place)).collect();
        let mut changes = BTreeMap::new();
        for name in outline.names().filter(|_| !extents.is_empty()) {
            let key = self.key_of_entry(layout, group, name);
            if key.is_some_and(|key| extents.iter().any(|extent| extent.contains(&key))) {
                changes.insert(name.to_owned(), None);
            }
        }
        for (path, documents) in nodes {
            for (key, document) in layout.keys(path).into_iter().zip(documents) {
                let Some(name) = self.name_of_entry(group, path, &key) else { continue };
                let now = document.as_ref().map(|document| self.entry_of(&key, document)).transpose()?;
                changes.insert(name, now);
            }
        }
        Ok(outline.with(changes)?.map(String::into_bytes))
    }

    /// Returns the entry that copies a document.
    fn entry_of(self, key: &str, document: &[u8]) -> Result<Json> {
        let mut entry = json::parse_object(document).map_err(|error| error.at(format!("'{key}'")))?;
        entry.remove(MEMBER);
        if self == Self::Inline && entry.get("node_type") == Some(&json!("group")) {
            entry.insert(MEMBER.to_owned(), inline(&Map::default()));
        }
        Ok(entry.into())
    }

    /// Returns the name of an entry; `None` if the document is not copied.
    fn name_of_entry(self, group: &NodePath, path: &NodePath, key: &str) -> Option<String> {
        match self {
            Self::Beside(_) => key.strip_prefix(&group.prefix()).map(str::to_owned),
            Self::AtRoot(_) => Some(key.to_owned()),
            Self::Inline if path == group => None,
            Self::Inline => path.as_str().strip_prefix(&group.prefix()).map(str::to_owned),
        }
    }

    /// Returns the document without the consolidated metadata; `None` if no members are left.
    pub fn without(self, document: &[u8]) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Beside(_) | Self::AtRoot(_) => Ok(None),
            Self::Inline => {
                let mut map = json::parse_object(document)?;
                map.remove(MEMBER);
                json::to_bytes(&map).map(Some)
            }
        }
    }
}

/// Returns true if a document can have this key.
fn is_key(name: &str) -> bool {
    name.split('/').all(|segment| !matches!(segment, "" | "." | ".."))
}

const FORMAT: &str = "zarr_consolidated_format";

/// The member with the entries.
const METADATA: &str = COPIES[1];

fn inline(entries: &Map) -> Json {
    json!({"kind": "inline", "must_understand": false, "metadata": entries})
}

/// Returns the document that an entry copies. Some writers add an empty member for the consolidated metadata to groups without
/// children, even in formats that do not have this member.
fn document_of(mut entry: Json) -> Json {
    if let Json::Object(map) = &mut entry {
        map.remove(MEMBER);
    }
    entry
}

/// Returns true if two documents of a node are equal, apart from any consolidated metadata in them.
pub fn same_document(a: Option<&[u8]>, b: Option<&[u8]>) -> bool {
    let parsed = |document: &[u8]| {
        let mut map = json::parse_object(document).ok()?;
        map.remove(MEMBER);
        Some(map)
    };
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a == b || parsed(a).is_some_and(|a| Some(a) == parsed(b)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: Layout = Layout::together(&[".zarray", ".zgroup", ".zattrs"]);
    const V3: Layout = Layout::together(&["zarr.json"]);

    fn path(text: &str) -> NodePath {
        NodePath::new(text).unwrap()
    }

    fn bytes(json: &Json) -> Vec<u8> {
        json.to_string().into_bytes()
    }

    fn found_in(
        consolidation: Consolidation,
        layout: &Layout,
        group: &str,
        json: &Json,
    ) -> Result<Option<Documents>> {
        consolidation.documents_in(layout, &path(group), &bytes(json), Strictness::Lenient)
    }

    #[test]
    fn documents_come_back_under_their_own_keys() {
        let v2 = json!({"metadata": {".zgroup": {"zarr_format": 2}, "a/.zarray": {"x": 1}}, FORMAT: 1});
        let found = found_in(Consolidation::Beside(".zmetadata"), &V2, "g", &v2).unwrap().unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["g/.zgroup", "g/a/.zarray"]);
        let root = json!({"metadata": {"meta/root/a.array.json": {}, "zarr.json": {}}, FORMAT: 1});
        let found = found_in(Consolidation::AtRoot("k"), &Layout::apart("root", ".json"), "", &root)
            .unwrap()
            .unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["meta/root/a.array.json", "zarr.json"]);
        let v3 =
            json!({"zarr_format": 3, MEMBER: {"kind": "inline", "metadata": {"a/b": {"y": 1}, "../c": {}}}});
        let found = found_in(Consolidation::Inline, &V3, "g", &v3).unwrap().unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["g/a/b/zarr.json", "g/zarr.json"]);
        let without = json!({"zarr_format": 3, MEMBER: {"kind": "inline", "metadata": {}}});
        assert_eq!(found["g/zarr.json"], without);
    }

    #[test]
    fn what_is_written_is_read() {
        let mut nodes = BTreeMap::new();
        let group = |members: &Json| vec![None, Some(bytes(members)), Some(b"{\"n\": NaN}".to_vec())];
        nodes.insert(path("g"), group(&json!({"zarr_format": 2})));
        nodes.insert(path("g/b/c"), group(&json!({"zarr_format": 2, MEMBER: {"stray": 1}})));
        nodes.insert(path("g/B"), group(&json!({"zarr_format": 2})));
        let beside = Consolidation::Beside(".zmetadata");
        let document = beside.document_of(&V2, &path("g"), None, None, &nodes).unwrap();
        let map = json::parse_object(&document).unwrap();
        let names: Vec<_> = map["metadata"].as_object().unwrap().keys().collect();
        assert_eq!(names, [".zgroup", ".zattrs", "B/.zgroup", "B/.zattrs", "b/c/.zgroup", "b/c/.zattrs"]);
        let text = String::from_utf8(document.clone()).unwrap();
        assert!(text.contains("\"n\": NaN"), "a copy has the text of the original: {text}");
        let found = beside.documents_in(&V2, &path("g"), &document, Strictness::Lenient).unwrap().unwrap();
        assert_eq!(found.len(), 6);
        let copied = bytes(&found["g/b/c/.zgroup"]);
        assert!(same_document(Some(&copied), nodes[&path("g/b/c")][1].as_deref()));
        assert_eq!(beside.without(&document).unwrap(), None);

        let mut nodes = BTreeMap::new();
        let own = bytes(&json!({"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}}));
        nodes.insert(path(""), vec![Some(own.clone())]);
        nodes.insert(path("x"), vec![Some(own.clone())]);
        let document = Consolidation::Inline.document_of(&V3, &path(""), Some(&own), None, &nodes).unwrap();
        let map = json::parse_object(&document).unwrap();
        assert_eq!(map[MEMBER]["metadata"]["x"][MEMBER]["metadata"], json!({}));
        assert_eq!(map[MEMBER]["must_understand"], json!(false));
        assert!(same_document(Some(&own), Some(&document)));
        let without = Consolidation::Inline.without(&document).unwrap().unwrap();
        assert!(same_document(Some(&own), Some(&without)) && !without.windows(6).any(|w| w == b"inline"));
    }

    #[test]
    fn only_what_changed_is_replaced() {
        let own = bytes(&json!({"zarr_format": 3, "node_type": "group"}));
        let array = |n: u64| vec![Some(bytes(&json!({"node_type": "array", "n": n})))];
        let root = path("");
        let mut nodes = StoredDocuments::from([(root.clone(), vec![Some(own.clone())])]);
        nodes.extend(["a", "b", "b/c", "bc"].map(|name| (path(name), array(1))));
        let inline = Consolidation::Inline;
        let document = inline.document_of(&V3, &root, Some(&own), None, &nodes).unwrap();
        let updated = |places: &[NodePath], nodes: StoredDocuments| {
            inline.updated(&V3, &root, &document, places, &nodes).unwrap()
        };
        assert_eq!(updated(&[], [(path("a"), array(1))].into()), None, "the copy is up to date");
        assert_eq!(updated(&[], [(root.clone(), vec![Some(own.clone())])].into()), None);
        assert_eq!(updated(&[path("x")], [(path("y"), vec![None])].into()), None);
        let found =
            updated(&[path("b")], [(path("a"), array(2)), (path("d"), vec![Some(own.clone())])].into());
        let map = json::parse_object(&found.unwrap()).unwrap();
        let entries = map[MEMBER]["metadata"].as_object().unwrap();
        assert_eq!(entries.keys().collect::<Vec<_>>(), ["a", "bc", "d"]);
        assert_eq!((&entries["a"]["n"], &entries["d"][MEMBER]["kind"]), (&json!(2), &json!("inline")));
        assert_eq!(map["zarr_format"], 3);
        assert_eq!(inline.updated(&V3, &root, &own, &[path("b")], &StoredDocuments::new()).unwrap(), None);

        let v2 =
            bytes(&json!({"metadata": {".zgroup": {}, "a/.zattrs": {"n": 1}, "b/.zarray": {}}, FORMAT: 1}));
        let nodes = [(path("g/a"), vec![Some(b"{}".to_vec()), None, None])].into();
        let beside = Consolidation::Beside(".zmetadata");
        let found = beside.updated(&V2, &path("g"), &v2, &[path("g/b")], &nodes).unwrap().unwrap();
        let map = json::parse_object(&found).unwrap();
        assert_eq!(map["metadata"].as_object().unwrap().keys().collect::<Vec<_>>(), [".zgroup", "a/.zarray"]);
        assert!(beside.updated(&V2, &path("g"), b"{}", &[], &nodes).is_err(), "broken");
    }

    #[test]
    fn absent_and_invalid_documents_are_distinguished() {
        for none in [json!({}), json!({MEMBER: null})] {
            assert_eq!(found_in(Consolidation::Inline, &V3, "", &none).unwrap(), None);
        }
        let broken = [
            json!({MEMBER: 1}),
            json!({MEMBER: {"kind": "other", "metadata": {}}}),
            json!({MEMBER: {"kind": "inline"}}),
            json!({MEMBER: {"kind": "inline", "metadata": []}}),
        ];
        for document in broken {
            assert!(found_in(Consolidation::Inline, &V3, "", &document).is_err(), "{document}");
        }
        for document in [json!([]), json!({}), json!({"metadata": 1}), json!({"metadata": {}, FORMAT: 2})] {
            assert!(found_in(Consolidation::Beside("x"), &V2, "", &document).is_err(), "{document}");
        }
        let odd = json!({"metadata": {"a/.zarray": null, "b/.zgroup": {"zarr_format": 2}}});
        let found = found_in(Consolidation::Beside("x"), &V2, "", &odd).unwrap().unwrap();
        assert_eq!(found["a/.zarray"], Json::Null, "opening the node reports the invalid document");
        let bare = b"{\"metadata\": {\".zattrs\": {\"x\": NaN}}}";
        assert!(Consolidation::Beside("x").documents_in(&V2, &path(""), bare, Strictness::Lenient).is_ok());
        assert_eq!(
            Consolidation::Beside("x")
                .documents_in(&V2, &path(""), bare, Strictness::Strict)
                .unwrap_err()
                .kind(),
            crate::ErrorKind::InvalidMetadata
        );
    }
}
