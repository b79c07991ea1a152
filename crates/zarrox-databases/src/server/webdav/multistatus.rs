//! Parsing the documents in which WebDAV servers describe resources. See [RFC 4918, section
//! 14.16](https://www.rfc-editor.org/rfc/rfc4918#section-14.16).

use percent_encoding::percent_decode_str;
use quick_xml::NsReader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::Event;
use quick_xml::name::ResolveResult;

/// The maximum length of the text of an element.
const TEXT: usize = 64 << 10;

/// A resource and its properties.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Resource {
    /// The decoded path on the server, without leading and trailing `/`.
    pub(super) path: String,
    /// True if the resource is a collection.
    pub(super) directory: bool,
    /// The length in bytes; `None` for directories.
    pub(super) size: Option<u64>,
    /// The value of the header `ETag`.
    pub(super) etag: Option<String>,
    /// The time of the last change, in the format of the header `Last-Modified`.
    pub(super) modified: Option<String>,
}

/// Parses the resources in a document. The error says what is invalid.
pub(super) fn parse(document: &[u8]) -> Result<Vec<Resource>, String> {
    let mut reader = NsReader::from_reader(document);
    let mut resources = Vec::new();
    let mut current: Option<Resource> = None;
    // The properties that have the same status. Missing properties are listed separately, with another status.
    let mut found = Resource::default();
    let mut text = String::new();
    loop {
        let (namespace, event) = reader.read_resolved_event().map_err(|error| error.to_string())?;
        let is_dav = matches!(namespace, ResolveResult::Bound(namespace) if namespace.0 == b"DAV:");
        match event {
            Event::Eof => break,
            Event::DocType(_) => return Err("the XML has a document type declaration".to_owned()),
            Event::Start(start) | Event::Empty(start) if is_dav => {
                text.clear();
                match start.local_name().as_ref() {
                    b"response" => current = Some(Resource::default()),
                    b"propstat" => found = Resource::default(),
                    b"collection" => found.directory = true,
                    _ => {}
                }
            }
            Event::Text(part) => push(&mut text, &part.decode().map_err(|error| error.to_string())?)?,
            Event::CData(part) => push(&mut text, &part.decode().map_err(|error| error.to_string())?)?,
            Event::GeneralRef(reference) => {
                let name = reference.decode().map_err(|error| error.to_string())?;
                let character = reference.resolve_char_ref().map_err(|error| error.to_string())?;
                match (character, resolve_xml_entity(&name)) {
                    (Some(character), _) => push(&mut text, character.encode_utf8(&mut [0; 4]))?,
                    (None, Some(entity)) => push(&mut text, entity)?,
                    (None, None) => {
                        return Err(format!("the XML has the unknown entity '{}'", name.escape_debug()));
                    }
                }
            }
            Event::End(end) if is_dav => {
                let value = text.trim();
                match (end.local_name().as_ref(), &mut current) {
                    (b"response", this) => resources.extend(this.take()),
                    (b"href", Some(resource)) if resource.path.is_empty() => resource.path = path_of(value)?,
                    (b"getcontentlength", _) => found.size = value.parse().ok(),
                    (b"getetag", _) => found.etag = Some(value.to_owned()).filter(|etag| !etag.is_empty()),
                    (b"getlastmodified", _) => found.modified = Some(value.to_owned()),
                    // A status is a string such as `HTTP/1.1 200 OK`.
                    (b"status", _) if value.split(' ').nth(1) != Some("200") => found = Resource::default(),
                    (b"propstat", Some(resource)) => merge(resource, std::mem::take(&mut found)),
                    _ => {}
                }
                text.clear();
            }
            _ => {}
        }
    }
    if current.is_some() {
        return Err("the XML is truncated".to_owned());
    }
    Ok(resources)
}

fn merge(resource: &mut Resource, found: Resource) {
    resource.directory |= found.directory;
    resource.size = resource.size.or(found.size);
    resource.etag = resource.etag.take().or(found.etag);
    resource.modified = resource.modified.take().or(found.modified);
}

fn push(text: &mut String, part: &str) -> Result<(), String> {
    if text.len() + part.len() > TEXT {
        return Err("an element is too long".to_owned());
    }
    text.push_str(part);
    Ok(())
}

/// Returns the path of a reference, which is a URL or an absolute path.
fn path_of(href: &str) -> Result<String, String> {
    let path = match href.split_once("://") {
        Some((_, rest)) if !href.starts_with('/') => rest.split_once('/').map_or("", |(_, path)| path),
        _ => href,
    };
    let path = percent_decode_str(path.trim_matches('/')).decode_utf8();
    path.map(String::from).map_err(|_| format!("the name '{}' is not UTF-8", href.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_servers() {
        let text = r#"<?xml version="1.0"?>
            <D:multistatus xmlns:D="DAV:" xmlns:o="other">
            <D:response><D:href>http://host:1/dav/a%20b/</D:href>
              <D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop>
                <D:status>HTTP/1.1 200 OK</D:status></D:propstat>
              <D:propstat><D:prop><D:getcontentlength>7</D:getcontentlength></D:prop>
                <D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>
            <D:response><D:href>/dav/a&amp;&#x62;%2F</D:href>
              <D:propstat><D:prop><D:resourcetype/><D:getcontentlength>12</D:getcontentlength>
                <o:getetag>no</o:getetag><D:getetag>"e"</D:getetag></D:prop>
                <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>"#;
        let directory = Resource { path: "dav/a b".to_owned(), directory: true, ..Resource::default() };
        let file = Resource {
            path: "dav/a&b/".to_owned(),
            size: Some(12),
            etag: Some("\"e\"".to_owned()),
            ..Resource::default()
        };
        assert_eq!(parse(text.as_bytes()).unwrap(), [directory, file]);
    }

    #[test]
    fn another_document_is_an_error() {
        let open = "<a xmlns='DAV:'><response><href>";
        let long = format!("{open}{}", "x".repeat(TEXT + 1));
        for text in ["<a", "<a></b>", "<!DOCTYPE a []><a/>", &format!("{open}&unknown;"), open, &long] {
            assert!(parse(text.as_bytes()).is_err(), "{text:.100}");
        }
        assert!(parse(format!("{open}%ff</href></response></a>").as_bytes()).is_err());
        assert_eq!(parse(b"").unwrap(), []);
    }
}
