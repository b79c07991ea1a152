//! [`AzureStore`].

use std::sync::Arc;
use std::{env, fmt};

use object_store::ClientConfigKey;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use super::client::{Connector, Failure, client_options, no_retries};
use super::connection::{ConnectionOptions, public_text, server_url};
use super::object::CloudStore;
use crate::url::StoreUrl;
use crate::url::options::{StorageOption, StorageOptions};
use crate::url::scheme::{Located, Scheme};
use crate::{Blocking, StoreError, StoreErrorKind};

/// `az://container/path`, or `abfss://container@account.dfs.core.windows.net/path`.
pub(crate) static SCHEME: Scheme = Scheme::new(&["az", "azure", "abfs", "abfss"], |url, options| {
    let (store, container) = AzureOptions::from_environment().with_storage_options(url, options)?;
    Ok(Located::one_of_many(store.open(container)?, url.path()))
})
.with_options(&[
    StorageOption::text("account", "the name of the account"),
    StorageOption::text("access_key", "the account's key"),
    StorageOption::text("sas", "a shared access signature"),
    StorageOption::text("bearer_token", "a bearer token"),
    StorageOption::text("connection_string", "a connection string"),
    StorageOption::flag("anonymous", "send requests without credentials"),
    StorageOption::text("endpoint", "the URL of a server other than Azure's"),
    StorageOption::flag("allow_http", "allow a connection that is not encrypted"),
]);

/// A container of Azure Blob Storage. [`AzureOptions`] opens it.
///
/// Each value is a block blob whose name is the key. Reading a range takes one request, whose response also contains the size and
/// the version of the value. Reading a suffix of a value takes two requests, since Azure only supports offsets from the start.
/// Conditions are checked by the server.
pub type AzureStore = Blocking<CloudStore>;

/// Options for opening an Azure container.
///
/// | option | default |
/// |---|---|
/// | [`account`](Self::account) | required unless a connection string contains it |
/// | [`access_key`](Self::access_key), [`shared_access_signature`](Self::shared_access_signature), [`bearer_token`](Self::bearer_token) | the managed identity of the machine or the pod |
/// | [`connection_string`](Self::connection_string) | none |
/// | [`anonymous`](Self::anonymous) | requests are signed |
/// | [`endpoint`](Self::endpoint) | `https://ACCOUNT.blob.core.windows.net` |
/// | [`allow_http`](Self::allow_http) | connections must be encrypted |
/// | [`connection`](Self::connection) | see [`ConnectionOptions`] |
///
/// ```no_run
/// use zarrox_stores::{AzureOptions, Store};
///
/// let store = AzureOptions::new().account("weather").anonymous(true).open("era5")?;
/// # Ok::<(), zarrox_stores::StoreError>(())
/// ```
#[derive(Clone, Default)]
pub struct AzureOptions {
    builder: MicrosoftAzureBuilder,
    connection_string: Option<String>,
    connection: ConnectionOptions,
}

impl fmt::Debug for AzureOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AzureOptions")
            .field("account", &self.builder.get_config_value(&AzureConfigKey::AccountName))
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}

impl AzureOptions {
    /// Creates the default options, independent of the environment.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates options from the usual environment variables: `AZURE_STORAGE_CONNECTION_STRING`, `AZURE_STORAGE_ACCOUNT_NAME`,
    /// `AZURE_STORAGE_ACCOUNT_KEY`, `AZURE_STORAGE_SAS_TOKEN`, `AZURE_CLIENT_ID`, `AZURE_CLIENT_SECRET`, `AZURE_TENANT_ID`,
    /// `AZURE_FEDERATED_TOKEN_FILE` and `AZURE_STORAGE_ENDPOINT`; and also `AZURE_ALLOW_HTTP`, `AZURE_SKIP_SIGNATURE` and
    /// `AZURE_USE_AZURE_CLI` (`true`).
    #[must_use]
    pub fn from_environment() -> Self {
        let mut options = Self { builder: MicrosoftAzureBuilder::from_env(), ..Self::default() };
        // The Azure command line and fsspec use these names.
        let other = [
            ("AZURE_STORAGE_ACCOUNT", AzureConfigKey::AccountName),
            ("AZURE_STORAGE_KEY", AzureConfigKey::AccessKey),
        ];
        for (variable, key) in other {
            if let (Ok(value), None) = (env::var(variable), options.builder.get_config_value(&key)) {
                options.builder = options.builder.with_config(key, value);
            }
        }
        let text = env::var("AZURE_STORAGE_CONNECTION_STRING").ok().filter(|text| !text.is_empty());
        options.connection_string = text;
        options
    }

    /// Sets the storage account name.
    #[must_use]
    pub fn account(mut self, name: impl Into<String>) -> Self {
        self.builder = self.builder.with_account(name);
        self
    }

    /// Sets the access key: either of the account's keys.
    #[must_use]
    pub fn access_key(mut self, key: impl Into<String>) -> Self {
        self.builder = self.builder.with_access_key(key);
        self
    }

    /// Sets a shared access signature, such as `sv=…&sig=…`.
    #[must_use]
    pub fn shared_access_signature(mut self, signature: &str) -> Self {
        self.builder = self.builder.with_config(AzureConfigKey::SasKey, signature);
        self
    }

    /// Sets an Entra ID token.
    #[must_use]
    pub fn bearer_token(mut self, token: impl Into<String>) -> Self {
        self.builder = self.builder.with_bearer_token_authorization(token);
        self
    }

    /// Sets a connection string, as shown in the portal. It contains the account, the key or signature, and the endpoint. It
    /// overrides the other options.
    #[must_use]
    pub fn connection_string(mut self, text: impl Into<String>) -> Self {
        self.connection_string = Some(text.into());
        self
    }

    /// Sets whether requests are sent unsigned, as for public containers.
    #[must_use]
    pub fn anonymous(mut self, anonymous: bool) -> Self {
        self.builder = self.builder.with_skip_signature(anonymous);
        self
    }

    /// Sets the URL of the account. The URL of an emulator has the account in its path.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.builder = self.builder.with_endpoint(url.into());
        self
    }

    /// Sets whether connections to the endpoint may be unencrypted.
    #[must_use]
    pub fn allow_http(mut self, allow: bool) -> Self {
        self.builder = self.builder.with_allow_http(allow);
        self
    }

    /// Sets the options for connections to the server.
    #[must_use]
    pub fn connection(mut self, connection: ConnectionOptions) -> Self {
        self.connection = connection;
        self
    }

    /// Returns the options and the container for a URL and its storage options: `account`, `access_key`, `sas`, `bearer_token`,
    /// `connection_string`, `anonymous`, `endpoint` and `allow_http`.
    fn with_storage_options<'a>(
        mut self,
        url: &StoreUrl<'a>,
        options: &StorageOptions,
    ) -> Result<(Self, &'a str), StoreError> {
        let container = match (url.user_info(), url.authority().split_once('.')) {
            (Some(container), Some((account, _))) => {
                self = self.account(account);
                container
            }
            _ => url.authority(),
        };
        let keys = [
            ("account", AzureConfigKey::AccountName),
            ("access_key", AzureConfigKey::AccessKey),
            ("sas", AzureConfigKey::SasKey),
            ("bearer_token", AzureConfigKey::Token),
            ("endpoint", AzureConfigKey::Endpoint),
        ];
        for (name, key) in keys {
            if let Some(value) = options.get(name) {
                self.builder = self.builder.with_config(key, value);
            }
        }
        if let Some(text) = options.get("connection_string") {
            self = self.connection_string(text);
        }
        if let Some(anonymous) = options.flag("anonymous")? {
            self = self.anonymous(anonymous);
        }
        if let Some(allow) = options.flag("allow_http")? {
            self = self.allow_http(allow);
        }
        Ok((self, container))
    }

    /// Opens a container without sending a request. A missing container is detected on first use.
    ///
    /// # Errors
    ///
    /// When the account is missing, or an option is invalid.
    pub fn open(self, container: &str) -> Result<AzureStore, StoreError> {
        self.build(container)
            .map(Blocking::new)
            .map_err(|error| error.with_location(format!("az://{container}")))
    }

    fn build(mut self, container: &str) -> Result<CloudStore, StoreError> {
        check_container(container)?;
        if let Some(text) = self.connection_string.take() {
            self.builder = with_connection_string(self.builder, &text)?;
        }
        let Self { builder, connection, .. } = self;
        let value = |key| builder.get_config_value(&key);
        let is_true = |key| value(key).is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let Some(account) = value(AzureConfigKey::AccountName) else {
            return Err(wrong(
                "the account is missing; set the option 'account', or AZURE_STORAGE_ACCOUNT_NAME",
            ));
        };
        let own = format!("https://{account}.blob.core.windows.net");
        let url = server_url(&value(AzureConfigKey::Endpoint).unwrap_or(own))?;
        let allow_http = is_true(AzureConfigKey::Client(ClientConfigKey::AllowHttp));
        if url.scheme() == "http" && !allow_http {
            let message =
                "the endpoint is not encrypted; allow it with `allow_http` or AZURE_ALLOW_HTTP=true";
            return Err(StoreError::new(StoreErrorKind::Forbidden, "opening", message));
        }
        let location = format!("{}/{container}", public_text(&url));
        let anonymous = is_true(AzureConfigKey::SkipSignature);
        let options = client_options(&connection, allow_http).map_err(opening)?;
        let builder = builder.with_endpoint(public_text(&url)).with_use_emulator(false);
        let builder = builder.with_container_name(container).with_client_options(options);
        let client =
            builder.with_retry(no_retries()).with_http_connector(Connector).build().map_err(opening)?;
        Ok(CloudStore::of_account(location, Arc::new(client), anonymous, false))
    }
}

/// Adds the settings from a connection string: `name=value` pairs separated by `;`.
fn with_connection_string(
    mut builder: MicrosoftAzureBuilder,
    text: &str,
) -> Result<MicrosoftAzureBuilder, StoreError> {
    let (mut protocol, mut suffix) = ("https", "core.windows.net");
    let (mut account, mut endpoint) = (None, None);
    for pair in text.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(wrong("the connection string must consist of NAME=VALUE pairs separated by ';'"));
        };
        match name {
            "DefaultEndpointsProtocol" => protocol = value,
            "EndpointSuffix" => suffix = value,
            "AccountName" => account = Some(value),
            "BlobEndpoint" => endpoint = Some(value.to_owned()),
            "AccountKey" => builder = builder.with_access_key(value),
            "SharedAccessSignature" => builder = builder.with_config(AzureConfigKey::SasKey, value),
            "UseDevelopmentStorage" => {
                return Err(wrong("the emulator needs its own connection string, which has an AccountName"));
            }
            // Endpoints for queues, tables and files are not used here.
            _ => {}
        }
    }
    let host = endpoint.as_deref().map(server_url).transpose()?;
    let host = host.as_ref().and_then(|url| url.host_str()?.split_once('.').map(|(first, _)| first));
    let Some(account) = account.or(host) else {
        return Err(wrong("the connection string has neither AccountName nor BlobEndpoint"));
    };
    let endpoint = endpoint.unwrap_or_else(|| format!("{protocol}://{account}.blob.{suffix}"));
    // An http:// endpoint allows unencrypted connections.
    builder = if endpoint.starts_with("http://") { builder.with_allow_http(true) } else { builder };
    Ok(builder.with_account(account).with_endpoint(endpoint))
}

fn opening(error: object_store::Error) -> StoreError {
    Failure::from(error).into_error("opening")
}

fn wrong(message: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Other, "opening", message)
}

/// Checks the name of a container. It becomes part of URLs, so it must not be able to change their host or path.
fn check_container(container: &str) -> Result<(), StoreError> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if container.is_empty() || !(container.bytes().all(plain) || container == "$root" || container == "$web")
    {
        let message = "the name of a container must consist of lowercase letters, digits and '-'";
        return Err(StoreError::new(StoreErrorKind::InvalidKey, "opening", message));
    }
    Ok(())
}
