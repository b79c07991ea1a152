//! The profiles of the AWS command line, which are in `~/.aws/credentials` and `~/.aws/config`.
//!
//! The following settings of a profile are used: `aws_access_key_id`, `aws_secret_access_key`, `aws_session_token`, `region` and
//! `endpoint_url`. A profile with another source of credentials, such as a role or a browser login, is an error, which names the
//! profile.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::{StoreError, StoreErrorKind};

/// The maximum size of a profile file.
const LARGEST: u64 = 4 << 20;

/// Settings by name.
pub(super) type Settings = HashMap<String, String>;

/// Returns the settings of a profile. Settings in the credentials file take precedence.
///
/// # Errors
///
/// [`StoreErrorKind::NotFound`] when neither file contains the profile, and an error when a file cannot be read.
pub(super) fn profile(name: &str) -> Result<Settings, StoreError> {
    let files = [
        (place("AWS_CONFIG_FILE", "config"), format!("profile {name}")),
        (place("AWS_SHARED_CREDENTIALS_FILE", "credentials"), name.to_owned()),
    ];
    let mut settings = None;
    for (path, section) in files {
        let Some(text) = path.map(|path| read(&path)).transpose()?.flatten() else { continue };
        let found = sections(&text).remove(&section);
        let found = found.or_else(|| sections(&text).remove(name).filter(|_| name == "default"));
        settings = match (settings, found) {
            (Some(settings), Some(found)) => Some(merge(settings, found)),
            (settings, found) => settings.or(found),
        };
    }
    settings.ok_or_else(|| {
        let message = format!("neither ~/.aws/config nor ~/.aws/credentials has a profile '{name}'");
        StoreError::new(StoreErrorKind::NotFound, "opening", message)
    })
}

/// Returns an error if a profile refers to another source of credentials and does not contain the access keys itself.
pub(super) fn check(name: &str, settings: &Settings) -> Result<(), StoreError> {
    const ELSEWHERE: [&str; 5] =
        ["role_arn", "sso_session", "sso_start_url", "credential_process", "login_session"];
    let elsewhere = ELSEWHERE.iter().find(|key| settings.contains_key(**key));
    match elsewhere {
        Some(key) if !settings.contains_key("aws_access_key_id") => {
            let message = format!(
                "the profile '{name}' uses '{key}' for its credentials, which is not supported; \
                 put them into the environment with `aws configure export-credentials --format env`"
            );
            Err(StoreError::new(StoreErrorKind::Unsupported, "opening", message))
        }
        _ => Ok(()),
    }
}

fn merge(mut settings: Settings, later: Settings) -> Settings {
    settings.extend(later);
    settings
}

fn place(variable: &str, file: &str) -> Option<PathBuf> {
    let set = env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    set.or_else(|| Some(env::home_dir()?.join(".aws").join(file)))
}

/// Reads a text file. Returns `None` if it does not exist.
fn read(path: &Path) -> Result<Option<String>, StoreError> {
    let fail = |error| StoreError::from_io("opening", error).with_location(path.to_string_lossy());
    let size = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(fail)?.len(),
    };
    if size > LARGEST {
        return Err(fail(io::ErrorKind::FileTooLarge.into()));
    }
    fs::read_to_string(path).map(Some).map_err(fail)
}

/// Returns the sections of a file. Indented lines belong to the setting above them, and are ignored.
fn sections(text: &str) -> HashMap<String, Settings> {
    let mut sections: HashMap<String, Settings> = HashMap::new();
    let mut section: Option<String> = None;
    for line in text.lines() {
        if line.starts_with([' ', '\t', '#', ';']) {
            continue;
        }
        if let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            sections.entry(name.clone()).or_default();
            section = Some(name);
        } else if let (Some(section), Some((key, value))) = (&section, line.split_once('=')) {
            let value = value.split(" #").next().unwrap_or_default().trim();
            sections
                .entry(section.clone())
                .or_default()
                .insert(key.trim().to_ascii_lowercase(), value.to_owned());
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_sections() {
        let text = "region = nowhere\n[default]\nregion=eu-west-1 # here\n# [no]\n\n[ profile  two ]\n\
                    AWS_ACCESS_KEY_ID = a=b\ns3 =\n  endpoint_url = inner\nbroken\n[default]\noutput = json\n";
        let sections = sections(text);
        assert_eq!(sections.len(), 2, "{sections:?}");
        assert_eq!(sections["default"]["region"], "eu-west-1");
        assert_eq!(sections["default"]["output"], "json");
        assert_eq!(sections["profile two"]["aws_access_key_id"], "a=b");
        assert!(!sections["profile two"].contains_key("endpoint_url"));
    }

    #[test]
    fn credentials_from_elsewhere_are_refused_by_name() {
        let settings = |key: &str| Settings::from([(key.to_owned(), "value".to_owned())]);
        let error = check("work", &settings("sso_session")).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Unsupported);
        assert!(
            error.to_string().contains("'work'") && error.to_string().contains("'sso_session'"),
            "{error}"
        );
        check("work", &settings("aws_access_key_id")).unwrap();
    }
}
