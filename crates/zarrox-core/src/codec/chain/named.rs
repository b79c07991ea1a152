//! A codec of a codec pipeline and its name.

use super::super::{CodecError, Fetch};

/// A codec with its name, for errors.
#[derive(Debug)]
pub(super) struct Named<T> {
    pub(super) name: &'static str,
    pub(super) codec: T,
}

impl<T> Named<T> {
    /// Returns a function that adds the codec's name to an error.
    pub(super) fn explain(&self) -> impl Fn(CodecError) -> CodecError + Copy + Send + 'static {
        let name = self.name;
        move |error| error.in_codec(name)
    }

    /// Adds the codec's name to every error of fetches.
    pub(super) fn explained<'a>(
        &self,
        fetches: Result<Vec<Fetch<'a>>, CodecError>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let explain = self.explain();
        Ok(fetches.map_err(explain)?.into_iter().map(|fetch| fetch.map_err(explain)).collect())
    }
}
