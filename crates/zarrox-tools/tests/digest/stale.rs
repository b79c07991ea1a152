//! Consolidated metadata that other programs did not update: the nodes' own documents are compared.

use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox::OpenOptions;
use zarrox::json::json;
use zarrox::prelude::*;
use zarrox::stores::{
    Call, Capabilities, DirectoryStore, Key, Prefix, Store, StoreError, Wrapper, provided, wrapped,
};
use zarrox_tools::diff::{DifferenceKind, diff};
use zarrox_tools::digest;

/// A store that cannot list its keys, like a web server.
#[derive(Clone, Debug)]
struct Unlisted(Arc<dyn Store>);

impl Wrapper for Unlisted {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn around<T>(
        &self,
        _: &Call<'_>,
        run: &mut dyn FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        run()
    }
}

impl Store for Unlisted {
    wrapped!(location open_with get get_ranges get_many size contains put);
    wrapped!(erase_if erase_prefix list_dir rename_prefix flush lock stamp hold exchange);
    provided!(directory);

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.0.capabilities();
        capabilities.listable = false;
        capabilities
    }

    fn list_prefix(
        &self,
        prefix: &Prefix,
        _: &mut dyn FnMut(Key, u64) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        Err(StoreError::new(zarrox::stores::StoreErrorKind::Unsupported, "listing", format!("'{prefix}'")))
    }
}

/// Returns a hierarchy with an array and consolidated metadata.
fn hierarchy(path: &std::path::Path, format: Format) -> Group {
    let root = OpenOptions::new().format(format).create_group(path).unwrap();
    let array = root.create_array("g/a").shape([4]).chunks([2]).data_type(DataType::Int32);
    let array = array.attributes(json!({"scale": 1}).as_object().cloned().unwrap()).create().unwrap();
    array.write(.., 7).unwrap();
    root.consolidate_metadata().unwrap();
    root
}

/// Sets the attribute of the array.
fn scale(root: &Group, scale: u32) {
    let mut array = root.open("g/a").unwrap().into_array().unwrap();
    array.set_attributes(json!({"scale": scale}).as_object().cloned().unwrap()).unwrap();
}

#[test]
fn stale_consolidated_metadata_is_not_compared() {
    type Change = fn(&Group);
    let changes: [(&str, Change); 4] = [
        ("an attribute of an array", |root| {
            scale(root, 1000);
        }),
        ("an attribute of the group itself", |root| {
            let mut root = root.clone();
            root.set_attributes(json!({"new": 1}).as_object().cloned().unwrap()).unwrap();
        }),
        ("an array more", |root| {
            drop(root.create_array("g/b").shape([1]).data_type(DataType::Int8).create().unwrap());
        }),
        ("an array less", |root| root.delete("g/a").unwrap()),
    ];
    for format in [Format::V2, Format::V3] {
        for (what, change) in changes {
            let directory = tempfile::tempdir().unwrap();
            let (old, new) = (directory.path().join("old.zarr"), directory.path().join("new.zarr"));
            let before = digest(&hierarchy(&old, format).into()).unwrap();
            let root = hierarchy(&new, format);
            assert_eq!(digest(&zarrox::open(&new).unwrap()).unwrap(), before, "{format}: {what}");
            let holder = new.join(if format == Format::V2 { ".zmetadata" } else { "zarr.json" });
            let copy = fs::read_to_string(&holder).unwrap();
            change(&root);
            // The copy stays unchanged. In v3 the copy is a part of the group's document, and the other
            // parts of the document change.
            if format == Format::V2 {
                fs::write(&holder, copy).unwrap();
            } else {
                let copy: serde_json::Value = serde_json::from_str(&copy).unwrap();
                let mut own: serde_json::Value = serde_json::from_slice(&fs::read(&holder).unwrap()).unwrap();
                own["consolidated_metadata"] = copy["consolidated_metadata"].clone();
                fs::write(&holder, own.to_string()).unwrap();
            }
            let opened = zarrox::open(&new).unwrap();
            let after = digest(&opened).unwrap();
            assert_ne!(after, before, "{format}: {what}");
            let own = OpenOptions::new().consolidated(zarrox::Consolidated::Never).open(&new).unwrap();
            assert_eq!(after, digest(&own).unwrap(), "{format}: {what}");
            assert_eq!(diff(&zarrox::open(&old).unwrap(), &opened).unwrap().len(), 1, "{format}: {what}");
            assert_eq!(diff(&opened, &own).unwrap(), [], "{format}: {what}");
        }
    }
}

/// Only the copy lists the nodes. Their content comes from their own documents.
#[test]
fn where_keys_cannot_be_listed_the_nodes_still_speak_for_themselves() {
    for format in [Format::V2, Format::V3] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("h.zarr");
        let root = hierarchy(&path, format);
        let store: Arc<dyn Store> = Arc::new(Unlisted(Arc::new(DirectoryStore::open(&path).unwrap())));
        let open = || OpenOptions::new().open((store.clone(), "")).unwrap();
        let before = open();
        assert_eq!(digest(&before).unwrap(), digest(&root.clone().into()).unwrap(), "{format}");
        let copies =
            ["zarr.json", ".zmetadata"].map(|name| (path.join(name), fs::read(path.join(name)).ok()));
        scale(&root, 2);
        for (file, copy) in copies {
            copy.into_iter().for_each(|copy| fs::write(&file, copy).unwrap());
        }
        assert_eq!(digest(&open()).unwrap(), digest(&root.clone().into()).unwrap(), "{format}");
        let other = directory.path().join("other.zarr");
        let found = diff(&hierarchy(&other, format).into(), &open()).unwrap();
        assert!(
            matches!(&found[..], [one] if matches!(one.kind, DifferenceKind::Attribute { .. })),
            "{format}: {found:?}"
        );
    }
}
