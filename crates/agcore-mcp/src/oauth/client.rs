//! [`AuthorizedClient`]: a client that adds tokens to its requests, and obtains them when the server asks for them.

use std::{collections::HashMap, future::Future, sync::Arc};

use ::http::{HeaderName, HeaderValue};
use futures_core::stream::BoxStream;
use rmcp::{
    model::ClientJsonRpcMessage,
    transport::{
        auth::{AuthClient, AuthError},
        streamable_http_client::{
            StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
        },
    },
};
use sse_stream::{Error as SseError, Sse};
use url::Url;

use super::{http::AuthorizationHttp, settings::OAuth, sign_in::SignIn};

type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// A client that adds tokens to its requests. When the server asks for a token or for more scopes, it obtains them, and sends
/// the request that the server has refused once more.
#[derive(Clone)]
pub(crate) struct AuthorizedClient<C> {
    inner: AuthClient<C>,
    sign_in: Arc<SignIn>,
}

impl<C: StreamableHttpClient<Error = reqwest::Error> + Sync> AuthorizedClient<C> {
    /// Creates a client with the tokens that are stored for the server, from the clients for messages and for authorization.
    pub(crate) async fn new(
        server: &str,
        url: &Url,
        oauth: &OAuth,
        client: C,
        plain: reqwest::Client,
    ) -> Result<Self, AuthError> {
        let sign_in = SignIn {
            server: server.to_owned(),
            url: url.clone(),
            oauth: oauth.clone(),
            http: Arc::new(AuthorizationHttp(plain)),
            turn: tokio::sync::Mutex::default(),
        };
        let mut manager = sign_in.manager().await?;
        manager.initialize_from_store().await?;
        Ok(Self {
            inner: AuthClient::new(client, manager),
            sign_in: Arc::new(sign_in),
        })
    }

    /// Sends a request, and once more after the server asked for a token or for scopes.
    async fn authorized<T, F>(&self, send: impl Fn() -> F + Send) -> Result<T, HttpError>
    where
        F: Future<Output = Result<T, HttpError>> + Send,
    {
        let (challenge, scope) = match send().await {
            Err(StreamableHttpError::AuthRequired(refusal)) => (refusal.www_authenticate_header, None),
            Err(StreamableHttpError::InsufficientScope(refusal)) => {
                (refusal.www_authenticate_header, refusal.required_scope)
            }
            result => return result,
        };
        self.sign_in.run(&challenge, scope.as_deref()).await?;
        self.inner.auth_manager.lock().await.initialize_from_store().await?;
        send().await
    }
}

impl<C: StreamableHttpClient<Error = reqwest::Error> + Sync> StreamableHttpClient for AuthorizedClient<C> {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.authorized(|| {
            let inner = &self.inner;
            inner.post_message(
                uri.clone(),
                message.clone(),
                session.clone(),
                token.clone(),
                headers.clone(),
            )
        })
        .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.authorized(|| {
            self.inner.post_message_with_response_limits(
                uri.clone(),
                message.clone(),
                session.clone(),
                token.clone(),
                headers.clone(),
                limits,
            )
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        // The session ends anyway, which is not worth a sign-in.
        self.inner.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        self.authorized(|| {
            let inner = &self.inner;
            inner.get_stream(
                uri.clone(),
                session.clone(),
                last_event.clone(),
                token.clone(),
                headers.clone(),
            )
        })
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        self.authorized(|| {
            self.inner.get_stream_with_max_sse_event_size(
                uri.clone(),
                session.clone(),
                last_event.clone(),
                token.clone(),
                headers.clone(),
                limit,
            )
        })
        .await
    }
}
