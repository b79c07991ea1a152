//! The selection of nodes for a copy.

use zarrox_core::Result;

use super::glob::Globs;

/// The patterns that select nodes: all nodes or only the included ones, except for the excluded ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chosen {
    pub(crate) include: Globs,
    pub(crate) exclude: Globs,
    /// The path of a node below the node that patterns apply to. Paths are relative to it.
    pub(crate) base: String,
}

impl Chosen {
    /// Returns the error of the first invalid pattern.
    pub(crate) fn check(&self) -> Result<()> {
        self.include.check().and(self.exclude.check())
    }

    /// Returns true if only some arrays are selected.
    pub(super) fn is_picky(&self) -> bool {
        !self.include.is_empty()
    }

    /// Returns true if a node is selected, or if it is a group that may contain selected nodes.
    pub(crate) fn has(&self, path: &str, is_array: bool) -> bool {
        let is_root = self.base.is_empty() && path.is_empty();
        let whole = [self.base.as_str(), path].join("/");
        let path = whole.trim_matches('/');
        let above = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]);
        let mut excluded = above.clone().filter(|path| !path.is_empty());
        if excluded.any(|path| self.exclude.matches(path)) {
            return false;
        }
        let mut included = above;
        !is_array || !self.is_picky() || is_root || included.any(|path| self.include.matches(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_excluded_takes_all_below_with_it() {
        let globs = |texts: &[&str]| {
            let mut globs = Globs::default();
            texts.iter().for_each(|text| globs.add(text));
            globs
        };
        let chosen = Chosen {
            include: globs(&["wind", "sea/*"]),
            exclude: globs(&["*_old", "sea/deep"]),
            base: String::new(),
        };
        let arrays = ["wind", "wind/u", "a/wind/v", "sea/t", "sea/t_old", "sea/deep", "sea/deep/x", "ice"];
        let taken: Vec<_> = arrays.into_iter().filter(|path| chosen.has(path, true)).collect();
        assert_eq!(taken, ["wind", "wind/u", "a/wind/v", "sea/t"]);
        assert!(chosen.has("ice", false) && !chosen.has("sea/deep", false) && chosen.has("", false));
        assert!(Chosen::default().has("ice", true));
    }
}
