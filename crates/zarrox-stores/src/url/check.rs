//! Validation of storage options.

use zarrox_core::internals::similar::most_similar;

use super::options::{REMOTE, StorageOption, StorageOptions, wrong};
#[cfg(feature = "references")]
use super::references;
use super::registry::StoreRegistry;
use super::stage::{ARCHIVE_OPTIONS, ARCHIVES, CACHE_OPTIONS, CACHES};
use crate::StoreError;

/// The group name of all remote stores.
#[cfg(feature = "retry")]
const REMOTES: &[&str] = &["every remote store"];

#[cfg(feature = "retry")]
const RETRY_OPTIONS: &[StorageOption] = &[StorageOption::seconds(
    super::registry::RETRY_TIMEOUT,
    "the time in which failed requests are retried [default: 60]",
)];

impl StoreRegistry {
    /// Returns every kind of store: its names, which precede `://` or `::`, and its storage options.
    #[doc(hidden)]
    pub fn storage_options(
        &self,
    ) -> impl Iterator<Item = (&'static [&'static str], &'static [StorageOption])> {
        let schemes = self.available().map(|scheme| (scheme.names, scheme.options));
        #[cfg(feature = "references")]
        let schemes = schemes.chain([(references::NAMES, references::OPTIONS)]);
        let schemes = schemes.chain([(ARCHIVES, ARCHIVE_OPTIONS), (CACHES, CACHE_OPTIONS)]);
        #[cfg(feature = "retry")]
        let schemes = schemes.chain([(REMOTES, RETRY_OPTIONS)]);
        schemes
    }

    /// Checks that the options are known and have valid values. Options of other kinds of stores are ignored, since the same
    /// options are often used for several locations.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::InvalidKey`](crate::StoreErrorKind::InvalidKey) for an invalid value or an unknown option; the error
    /// names the most similar known option.
    #[doc(hidden)]
    pub fn check(&self, options: &StorageOptions) -> Result<(), StoreError> {
        options.iter().try_for_each(|(name, value)| {
            let own = name.strip_prefix(REMOTE).filter(|own| *own != "protocol").unwrap_or(name);
            let mut known = self
                .storage_options()
                .flat_map(|(_, options)| options)
                .filter(|option| option.is_called(own))
                .peekable();
            if known.peek().is_none() {
                return Err(self.unknown(name, own));
            }
            let checked: Vec<_> = known.map(|option| option.check(value)).collect();
            if checked.iter().any(Result::is_ok) { Ok(()) } else { checked.into_iter().collect() }
        })
    }

    /// Returns the error for an unknown option. It names the most similar known option, if there is one.
    fn unknown(&self, name: &str, own: &str) -> StoreError {
        let known = self.storage_options().flat_map(|(_, options)| options).map(|option| option.name);
        let known = known.filter(|known| !known.contains('*'));
        let suggestion = match most_similar(own, known) {
            Some(known) => {
                format!("did you mean '{}{known}'?", name.strip_suffix(own).unwrap_or_default())
            }
            None => "`zarrox storage` lists all options".to_owned(),
        };
        wrong(format!("unknown storage option '{}' ({suggestion})", name.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Located, MemoryStore, Scheme, registry};

    /// A store with variable option names.
    static SETTINGS: Scheme = Scheme::new(&["settings"], |_, _| Ok(Located::whole(MemoryStore::new(), "")))
        .with_options(&[StorageOption::text("*.*", "a setting")]);

    fn refusal(name: &str, value: &str) -> Option<String> {
        let options = StorageOptions::new().with(name, value);
        registry().with(&[&SETTINGS]).check(&options).err().map(|error| error.to_string())
    }

    #[test]
    #[cfg(all(feature = "s3", feature = "references"))]
    fn unknown_options_are_refused_with_a_suggestion() {
        for (wrong, suggestion) in [
            ("alow_http", "did you mean 'allow_http'?"),
            ("acces_key_id", "did you mean 'access_key_id'?"),
            ("remote_regoin", "did you mean 'remote_region'?"),
            ("follow_link", "did you mean 'follow_links'?"),
            ("colour", "`zarrox storage` lists all options"),
        ] {
            let refused = refusal(wrong, "a secret").unwrap();
            assert!(refused.contains(wrong) && refused.contains(suggestion), "{refused}");
            assert!(!refused.contains("secret"), "{refused}");
        }
        for (name, value) in [
            ("allow_http", "true"),
            ("remote_endpoint", "http://localhost"),
            ("remote_protocol", "s3"),
            ("dfs.client.use.datanode.hostname", "true"),
        ] {
            assert_eq!(refusal(name, value), None);
        }
    }

    #[test]
    #[cfg(all(feature = "s3", feature = "references"))]
    fn values_that_an_option_cannot_have_are_refused() {
        let refused = refusal("allow_http", "flase").unwrap();
        assert!(refused.contains("the storage option 'allow_http' must be 'true' or 'false'"), "{refused}");
        assert!(refusal("memory_limit", "much").unwrap().contains("a number of bytes"));
        assert_eq!(refusal("memory_limit", "1000000"), None);
    }

    #[test]
    fn each_option_is_described_once_for_each_store() {
        for (names, options) in registry().storage_options() {
            for (index, option) in options.iter().enumerate() {
                assert!(!option.help.is_empty() && !option.help.ends_with('.'), "{names:?}: {}", option.name);
                assert!(
                    options[..index].iter().all(|other| other.name != option.name),
                    "{names:?}: {}",
                    option.name
                );
            }
        }
    }
}
