//! Arrays as text: one line for logs, one line for people, and a description of several lines.

use std::fmt;

use super::{Array, ArrayInfo};

/// The debug form, one line without the metadata: `Array("/d/a.zarr/t", v3, float32, [6, 10])`.
impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.location.to_string();
        write!(f, "Array({place:?}, {}, {}, {:?})", self.metadata.format, self.data_type(), self.shape())
    }
}

/// zarr-python's string form: `<Array /d/a.zarr/t shape=(6, 10) dtype=float32>`.
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Array {} shape={} dtype={}>", self.location, tuple(self.shape()), self.data_type())
    }
}

/// A description of several lines, each with a name and a value, without a line break at the end.
impl fmt::Display for ArrayInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number =
            |count: Option<u64>| count.map_or("more than 2^64".to_owned(), |count| count.to_string());
        let mut lines = vec![
            ("path", format!("/{}", self.path.trim_start_matches('/'))),
            ("store", self.store.clone()),
            ("type", "array".to_owned()),
            ("format", self.format.to_string()),
            ("shape", tuple(&self.shape)),
            ("data type", self.data_type.to_string()),
            ("chunk shape", tuple(self.inner_chunk_shape.as_ref().unwrap_or(&self.chunk_shape))),
        ];
        lines.extend(self.inner_chunk_shape.is_some().then(|| ("shard shape", tuple(&self.chunk_shape))));
        lines.push(("fill value", self.fill_text.clone()));
        lines.extend(self.codecs.iter().map(|codec| ("codecs", codec.to_string())));
        if let Some(names) = &self.dimension_names {
            let names: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
            lines.push(("dimension names", names.join(", ")));
        }
        lines.extend(self.unreadable.clone().map(|why| ("cannot be read", why)));
        lines.push(("bytes", number(self.bytes)));
        let objects = if self.inner_chunk_shape.is_some() { "shards stored" } else { "chunks stored" };
        if self.counted {
            lines.push(("bytes stored", self.bytes_stored.to_string()));
            lines.extend(self.ratio().map(|ratio| ("ratio", format!("{ratio:.2}"))));
            lines.push((objects, format!("{} of {}", self.chunks_stored, number(self.chunks))));
        } else {
            lines.push((objects, format!("unknown of {}", number(self.chunks))));
        }
        let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let mut last = "";
        for (index, (name, value)) in lines.into_iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            // A repeated name is printed only once.
            let shown = if name == last { "" } else { name };
            write!(f, "{shown:width$}  {value}")?;
            last = name;
        }
        Ok(())
    }
}

/// Formats numbers as a Python tuple: `(6, 10)`, `(6,)`.
fn tuple(numbers: &[u64]) -> String {
    match numbers {
        [only] => format!("({only},)"),
        _ => format!("({})", numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}
