//! The clients of the `object_store` crate: how they connect, and what their errors mean.
//!
//! The clients use this crate's transport, which intercepts every error response from a server. So each error response arrives
//! here with its status and its code, before a client can interpret it.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::list::PaginatedListStore;
use object_store::{BackoffConfig, Certificate, ClientOptions, ObjectStore, RetryConfig};

use super::connection::ConnectionOptions;
use super::failure::{Refusal, explanation, root_cause};
use crate::{StoreError, StoreErrorKind};

/// The time after which an idle connection is closed. Otherwise the server would close it, possibly just as a request is being
/// sent; servers based on Node do so after 5 s.
const UNUSED: Duration = Duration::from_secs(4);

/// The methods of a client that a store needs.
#[async_trait]
pub(super) trait Client: ObjectStore + PaginatedListStore {
    /// Obtains credentials. They are cached as long as they are valid.
    async fn authenticate(&self) -> object_store::Result<()>;
}

#[cfg(feature = "s3")]
#[async_trait]
impl Client for object_store::aws::AmazonS3 {
    async fn authenticate(&self) -> object_store::Result<()> {
        self.credentials().get_credential().await.map(drop)
    }
}

#[cfg(feature = "azure")]
#[async_trait]
impl Client for object_store::azure::MicrosoftAzure {
    async fn authenticate(&self) -> object_store::Result<()> {
        self.credentials().get_credential().await.map(drop)
    }
}

pub(super) fn client_options(
    connection: &ConnectionOptions,
    allow_http: bool,
) -> object_store::Result<ClientOptions> {
    let options = ClientOptions::new()
        .with_allow_http(allow_http)
        .with_connect_timeout(connection.connect_timeout)
        .with_read_timeout(connection.idle_timeout)
        .with_timeout_disabled()
        .with_pool_idle_timeout(UNUSED);
    let certificates = Certificate::from_pem_bundle(&connection.certificates)?;
    Ok(certificates.into_iter().fold(options, ClientOptions::with_root_certificate))
}

/// Returns a configuration without retries. A wrapper retries instead, since it knows which writes are safe to repeat.
pub(super) fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, retry_timeout: Duration::ZERO, backoff: BackoffConfig::default() }
}

/// A connector whose connections report error responses as errors.
#[derive(Debug, Default)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        ReqwestConnector::default().connect(options).map(|client| HttpClient::new(Transport(client)))
    }
}

#[derive(Debug)]
struct Transport(HttpClient);

#[async_trait]
impl HttpService for Transport {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let part = request.headers().contains_key("range");
        let response = self.0.execute(request).await?;
        let status = response.status().as_u16();
        if part && status == 200 {
            return Err(HttpError::new(HttpErrorKind::Unknown, WholeInstead));
        }
        if response.status().is_success() {
            return Ok(response);
        }
        let code = response.headers().get("x-ms-error-code").and_then(|code| code.to_str().ok());
        let code = code.map(str::to_owned);
        let text = explanation(response.into_body().bytes_stream()).await;
        let refusal = Refusal::new(status, &text).with_code(code.as_deref());
        Err(HttpError::new(HttpErrorKind::Unknown, refusal))
    }
}

/// The server sent the whole value instead of a part of it.
#[derive(Clone, Copy, Debug)]
struct WholeInstead;

impl fmt::Display for WholeInstead {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the server sent the whole value instead of the requested range")
    }
}

impl Error for WholeInstead {}

/// The kinds of client errors.
pub(super) enum Failure {
    /// The server returned an error.
    Refused(Refusal),
    /// The server does not support range requests for this value.
    WholeInstead,
    /// Any other error.
    Other(StoreError),
}

impl Failure {
    /// Returns true if the reason may be that the range begins beyond the end of the value. In this case, Azurite sends an
    /// invalid range, which the client cannot parse.
    pub(super) fn may_be_out_of_range(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.status == 416,
            Self::Other(error) => error.kind() == StoreErrorKind::Other,
            Self::WholeInstead => false,
        }
    }

    pub(super) fn into_error(self, operation: &'static str) -> StoreError {
        match self {
            Self::Refused(refusal) => refusal.into_error(operation),
            Self::WholeInstead => {
                StoreError::new(StoreErrorKind::Unsupported, operation, WholeInstead.to_string())
            }
            Self::Other(error) => error.with_operation(operation),
        }
    }
}

impl From<object_store::Error> for Failure {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error as Client;
        let mut kind = match &error {
            Client::NotFound { .. } => return Self::Refused(Refusal { status: 404, code: None }),
            Client::InvalidPath { .. } => StoreErrorKind::InvalidKey,
            Client::NotSupported { .. } | Client::NotImplemented { .. } => StoreErrorKind::Unsupported,
            _ => StoreErrorKind::Other,
        };
        let mut link: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(cause) = link {
            if let Some(refusal) = cause.downcast_ref::<Refusal>() {
                return Self::Refused(refusal.clone());
            }
            if cause.is::<WholeInstead>() {
                return Self::WholeInstead;
            }
            if let Some(broken) = cause.downcast_ref::<HttpError>() {
                kind = kind_of(broken.kind());
            }
            link = cause.source();
        }
        // A client with a different transport has interpreted the response itself.
        let status = match &error {
            Client::AlreadyExists { .. } => Some(409),
            Client::Precondition { .. } => Some(412),
            Client::PermissionDenied { .. } => Some(403),
            Client::Unauthenticated { .. } => Some(401),
            _ => None,
        };
        if let Some(status) = status {
            return Self::Refused(Refusal { status, code: None });
        }
        let message = format!("the client failed: {}", root_cause(&error));
        Self::Other(StoreError::new(kind, "", message).because_of(&error))
    }
}

fn kind_of(kind: HttpErrorKind) -> StoreErrorKind {
    match kind {
        HttpErrorKind::Timeout => StoreErrorKind::TimedOut,
        // All other errors are connection errors, including those in the middle of a body.
        _ => StoreErrorKind::Unreachable,
    }
}
