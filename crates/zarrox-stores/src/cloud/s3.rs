//! [`S3Store`].

use std::sync::Arc;
use std::{env, fmt};

use object_store::ClientConfigKey;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use super::client::{Connector, Failure, client_options, no_retries};
use super::connection::{ConnectionOptions, public_text, server_url};
use super::object::CloudStore;
use super::profile::{Settings, check, profile};
use crate::url::options::{StorageOption, StorageOptions};
use crate::url::scheme::{Located, Scheme};
use crate::{Blocking, StoreError, StoreErrorKind};

/// `s3://bucket/path`.
pub(crate) static SCHEME: Scheme = Scheme::new(&["s3", "s3a"], |url, options| {
    let store = S3Options::from_environment().with_storage_options(options)?.open(url.authority())?;
    Ok(Located::one_of_many(store, url.path()))
})
.with_options(&[
    StorageOption::text("access_key_id", "the name of the access key"),
    StorageOption::text("secret_access_key", "the access key's secret"),
    StorageOption::text("session_token", "the session token of temporary credentials"),
    StorageOption::text("profile", "the name of a profile in ~/.aws"),
    StorageOption::flag("anonymous", "send requests without credentials"),
    StorageOption::text("region", "the region of the bucket"),
    StorageOption::text("endpoint", "the URL of a server other than Amazon's"),
    StorageOption::flag("virtual_hosted", "the server's name contains the name of the bucket"),
    StorageOption::flag("allow_http", "allow a connection that is not encrypted"),
]);

/// A bucket in S3 or an S3-compatible service. [`S3Options`] opens it.
///
/// Each value is an object whose name is the key. Reading a range takes one request, whose response also contains the size and
/// the version of the value. Conditions are checked by the server. They are not supported for values larger than 5 GiB, since
/// such values are sent in parts.
pub type S3Store = Blocking<CloudStore>;

/// Options for opening an S3 bucket.
///
/// | option | default |
/// |---|---|
/// | [`credentials`](Self::credentials), [`session_token`](Self::session_token) | those of the profile, or of the role of the machine, the container or the pod |
/// | [`profile`](Self::profile) | none; with [`from_environment`](Self::from_environment), the profile named by `AWS_PROFILE`, or `default` |
/// | [`anonymous`](Self::anonymous) | requests are signed |
/// | [`region`](Self::region) | the profile's, or `us-east-1` |
/// | [`endpoint`](Self::endpoint) | the profile's, or Amazon's |
/// | [`virtual_hosted`](Self::virtual_hosted) | the bucket is in the path of URLs |
/// | [`allow_http`](Self::allow_http) | connections must be encrypted |
/// | [`bulk_erase`](Self::bulk_erase) | one request erases many keys |
/// | [`connection`](Self::connection) | see [`ConnectionOptions`] |
///
/// ```no_run
/// use zarrox_stores::{S3Options, Store};
///
/// let store = S3Options::from_environment().region("eu-central-1").open("my-bucket")?;
/// # Ok::<(), zarrox_stores::StoreError>(())
/// ```
#[derive(Clone, Default)]
pub struct S3Options {
    builder: AmazonS3Builder,
    profile: Option<String>,
    /// True if the profile was not set explicitly and need not exist.
    implied: bool,
    connection: ConnectionOptions,
}

impl fmt::Debug for S3Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |key| self.builder.get_config_value(&key);
        formatter
            .debug_struct("S3Options")
            .field("region", &value(AmazonS3ConfigKey::Region))
            .field("profile", &self.profile)
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}

impl S3Options {
    /// Creates the default options, independent of the environment.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates options from the environment variables of the AWS tools: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
    /// `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `AWS_PROFILE` and the variables for
    /// container and pod roles; and also `AWS_ALLOW_HTTP`, `AWS_SKIP_SIGNATURE` and `AWS_VIRTUAL_HOSTED_STYLE_REQUEST` (`true`).
    #[must_use]
    pub fn from_environment() -> Self {
        let named = env::var("AWS_PROFILE").ok().filter(|name| !name.is_empty());
        Self {
            builder: AmazonS3Builder::from_env(),
            implied: named.is_none(),
            profile: named.or_else(|| Some("default".to_owned())),
            connection: ConnectionOptions::default(),
        }
    }

    /// Sets the access key and the secret key, which sign requests.
    #[must_use]
    pub fn credentials(mut self, access_key: impl Into<String>, secret_key: impl Into<String>) -> Self {
        self.builder = self.builder.with_access_key_id(access_key).with_secret_access_key(secret_key);
        self
    }

    /// Sets the session token of temporary credentials.
    #[must_use]
    pub fn session_token(mut self, token: impl Into<String>) -> Self {
        self.builder = self.builder.with_token(token);
        self
    }

    /// Sets the profile in `~/.aws/config` and `~/.aws/credentials` from which the keys, the region and the endpoint are taken,
    /// unless they are set otherwise. The variables `AWS_CONFIG_FILE` and `AWS_SHARED_CREDENTIALS_FILE` replace these files.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self.implied = false;
        self
    }

    /// Sets whether requests are sent unsigned, as for public buckets.
    #[must_use]
    pub fn anonymous(mut self, anonymous: bool) -> Self {
        self.builder = self.builder.with_skip_signature(anonymous);
        self
    }

    /// Sets the region of the bucket.
    #[must_use]
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.builder = self.builder.with_region(region);
        self
    }

    /// Sets the URL of the service, without the bucket.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.builder = self.builder.with_config(AmazonS3ConfigKey::S3Endpoint, url);
        self
    }

    /// Sets whether the bucket is part of the host name instead of the path.
    #[must_use]
    pub fn virtual_hosted(mut self, virtual_hosted: bool) -> Self {
        self.builder = self.builder.with_virtual_hosted_style_request(virtual_hosted);
        self
    }

    /// Sets whether connections to the endpoint may be unencrypted.
    #[must_use]
    pub fn allow_http(mut self, allow: bool) -> Self {
        self.builder = self.builder.with_allow_http(allow);
        self
    }

    /// Sets whether one request erases many keys. Not every service supports this.
    #[must_use]
    pub fn bulk_erase(mut self, bulk: bool) -> Self {
        self.builder = self.builder.with_disable_bulk_delete(!bulk);
        self
    }

    /// Sets the options for connections to the server.
    #[must_use]
    pub fn connection(mut self, connection: ConnectionOptions) -> Self {
        self.connection = connection;
        self
    }

    /// Applies the storage options of a URL: `access_key_id`, `secret_access_key`, `session_token`,
    /// `profile`, `anonymous`, `region`, `endpoint`, `virtual_hosted` and `allow_http`.
    fn with_storage_options(mut self, options: &StorageOptions) -> Result<Self, StoreError> {
        let keys = [
            ("access_key_id", AmazonS3ConfigKey::AccessKeyId),
            ("secret_access_key", AmazonS3ConfigKey::SecretAccessKey),
            ("session_token", AmazonS3ConfigKey::Token),
            ("region", AmazonS3ConfigKey::Region),
            ("endpoint", AmazonS3ConfigKey::S3Endpoint),
        ];
        for (name, key) in keys {
            if let Some(value) = options.get(name) {
                self.builder = self.builder.with_config(key, value);
            }
        }
        if let Some(profile) = options.get("profile") {
            self = self.profile(profile);
        }
        if let Some(anonymous) = options.flag("anonymous")? {
            self = self.anonymous(anonymous);
        }
        if let Some(virtual_hosted) = options.flag("virtual_hosted")? {
            self = self.virtual_hosted(virtual_hosted);
        }
        if let Some(allow) = options.flag("allow_http")? {
            self = self.allow_http(allow);
        }
        Ok(self)
    }

    /// Opens a bucket without sending a request. A missing bucket is detected on first use.
    ///
    /// # Errors
    ///
    /// When the options contradict each other, or the profile cannot be read.
    pub fn open(self, bucket: &str) -> Result<S3Store, StoreError> {
        let opened = self.build(bucket).map(Blocking::new);
        opened.map_err(|error| error.or_location(|| format!("s3://{bucket}")))
    }

    fn build(mut self, bucket: &str) -> Result<CloudStore, StoreError> {
        self.add_profile()?;
        let Self { mut builder, connection, .. } = self;
        check_bucket(bucket)?;
        let allow_http = is_true(&builder, AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
        let anonymous = is_true(&builder, AmazonS3ConfigKey::SkipSignature);
        let mut location = format!("s3://{bucket}");
        if let Some(endpoint) = endpoint(&builder) {
            let mut url = server_url(&endpoint)?;
            if url.scheme() == "http" && !allow_http {
                let message =
                    "the endpoint is not encrypted; allow it with `allow_http` or AWS_ALLOW_HTTP=true";
                return Err(StoreError::new(StoreErrorKind::Forbidden, "opening", message));
            }
            location = format!("{}/{bucket}", public_text(&url));
            let host = url.host_str().unwrap_or_default().to_owned();
            let hosted = is_true(&builder, AmazonS3ConfigKey::VirtualHostedStyleRequest);
            if hosted && !host.starts_with(&format!("{bucket}.")) {
                url.set_host(Some(&format!("{bucket}.{host}"))).map_err(|error| {
                    let message = format!("the bucket cannot become a part of the endpoint's name: {error}");
                    StoreError::new(StoreErrorKind::Other, "opening", message)
                })?;
            }
            builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, url.as_str().trim_end_matches('/'));
        }
        let options = client_options(&connection, allow_http).map_err(opening)?;
        let builder = builder.with_bucket_name(bucket).with_client_options(options);
        let client =
            builder.with_retry(no_retries()).with_http_connector(Connector).build().map_err(opening)?;
        Ok(CloudStore::of_account(location, Arc::new(client), anonymous, true))
    }

    /// Adds the settings of the profile, except those that are already set.
    fn add_profile(&mut self) -> Result<(), StoreError> {
        let Some(name) = self.profile.clone() else { return Ok(()) };
        let settings = match profile(&name) {
            Err(error) if self.implied && error.kind() == StoreErrorKind::NotFound => return Ok(()),
            settings => settings?,
        };
        let signed = !is_true(&self.builder, AmazonS3ConfigKey::SkipSignature);
        if signed && self.builder.get_config_value(&AmazonS3ConfigKey::AccessKeyId).is_none() {
            check(&name, &settings)?;
            self.add(&settings, "aws_access_key_id", AmazonS3ConfigKey::AccessKeyId);
            self.add(&settings, "aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey);
            self.add(&settings, "aws_session_token", AmazonS3ConfigKey::Token);
        }
        if self.builder.get_config_value(&AmazonS3ConfigKey::Region).is_none() {
            self.add(&settings, "region", AmazonS3ConfigKey::Region);
        }
        if endpoint(&self.builder).is_none() {
            self.add(&settings, "endpoint_url", AmazonS3ConfigKey::S3Endpoint);
        }
        Ok(())
    }

    fn add(&mut self, settings: &Settings, name: &str, key: AmazonS3ConfigKey) {
        if let Some(value) = settings.get(name) {
            self.builder = std::mem::take(&mut self.builder).with_config(key, value);
        }
    }
}

fn endpoint(builder: &AmazonS3Builder) -> Option<String> {
    let value = |key| builder.get_config_value(&key).filter(|url| !url.is_empty());
    value(AmazonS3ConfigKey::S3Endpoint).or_else(|| value(AmazonS3ConfigKey::Endpoint))
}

fn is_true(builder: &AmazonS3Builder, key: AmazonS3ConfigKey) -> bool {
    builder.get_config_value(&key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

fn opening(error: object_store::Error) -> StoreError {
    Failure::from(error).into_error("opening")
}

/// Checks the name of a bucket. It becomes part of URLs, so it must not be able to change their host or path.
fn check_bucket(bucket: &str) -> Result<(), StoreError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    if bucket.is_empty() || bucket.starts_with('.') || !bucket.bytes().all(plain) {
        let message = "the name of a bucket must consist of letters, digits, '-', '.' and '_'";
        return Err(StoreError::new(StoreErrorKind::InvalidKey, "opening", message));
    }
    Ok(())
}
