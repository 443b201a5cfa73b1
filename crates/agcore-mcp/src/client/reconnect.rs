//! [`Shared`]: the connection that the clones of a client share, and its restart.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::{
    connection::{Connection, Connector},
    event::{EventSender, ServerEvent},
    handler::Handler,
    options::{ClientOptions, Restart},
};
use crate::{
    error::{McpError, McpErrorKind},
    transport::{Kind, McpTransport, StdioTransport},
};

/// The time that a connection must last to end a row of restarts.
const STABLE: Duration = Duration::from_secs(60);

/// The state that the clones of a client share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) name: Arc<str>,
    pub(crate) options: ClientOptions,
    pub(crate) events: EventSender,
    current: Mutex<Arc<Connection>>,
    recipe: Recipe,
    is_closed: AtomicBool,
    /// The number of restarts in the current row. Locked while a connection is restarted.
    restarts: tokio::sync::Mutex<u32>,
}

/// The way to connect again.
#[derive(Debug)]
enum Recipe {
    Stdio(StdioTransport),
    #[cfg(feature = "client-http")]
    Http(crate::transport::HttpTransport),
    /// The streams are used up.
    Never,
}

impl Shared {
    /// Connects for the first time.
    pub(crate) async fn connect(
        name: String,
        transport: McpTransport,
        options: ClientOptions,
    ) -> Result<Self, McpError> {
        let (name, events) = (Arc::<str>::from(name), EventSender::new());
        let connector = Connector {
            server: &name,
            options: &options,
            handler: Handler::new(&name, &options, events.clone()),
        };
        let (connection, recipe) = match transport.0 {
            Kind::Stdio(stdio) => (connector.stdio(&stdio).await?, Recipe::Stdio(stdio)),
            Kind::Streams(streams) => (connector.streams(streams).await?, Recipe::Never),
            #[cfg(feature = "client-http")]
            Kind::Http(http) => (connector.http(&http).await?, Recipe::Http(http)),
        };
        Ok(Self {
            name,
            options,
            events,
            current: Mutex::new(Arc::new(connection)),
            recipe,
            is_closed: AtomicBool::new(false),
            restarts: tokio::sync::Mutex::new(0),
        })
    }

    /// Returns the current connection, which may have ended.
    pub(crate) fn current(&self) -> Arc<Connection> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns a connection that is not known to have ended, and restarts it if that is allowed.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        self.check_open()?;
        let connection = self.current();
        if !connection.is_closed() {
            return Ok(connection);
        }
        let Some(restart) = self.options.restart else {
            return Err(connection.requests.closed("the request").await);
        };
        self.restart(restart).await
    }

    fn check_open(&self) -> Result<(), McpError> {
        if self.is_closed.load(Ordering::Acquire) {
            let message = format!("the client of the MCP server {:?} was closed; connect again", self.name);
            return Err(McpError::new(McpErrorKind::Closed, message));
        }
        Ok(())
    }

    async fn restart(&self, restart: Restart) -> Result<Arc<Connection>, McpError> {
        // Requests that need the connection at the same time wait here for one restart.
        let mut restarts = self.restarts.lock().await;
        let connection = self.current();
        if !connection.is_closed() {
            return Ok(connection);
        }
        if connection.connected_at.elapsed() >= STABLE {
            *restarts = 0;
        }
        let mut error = connection.requests.closed("the request").await;
        while *restarts < restart.attempts {
            tokio::time::sleep(restart.wait(*restarts)).await;
            self.check_open()?;
            *restarts += 1;
            tracing::info!(server = &*self.name, attempt = *restarts, "an MCP server is restarted");
            match self.connect_again().await {
                Ok(Some(connection)) => return self.replace(connection).await,
                Ok(None) => return Err(error),
                Err(failure) => error = failure,
            }
        }
        let message = format!("{error}; it was restarted {} times in a row", *restarts);
        Err(McpError::new(error.kind(), message).with_source(error))
    }

    async fn connect_again(&self) -> Result<Option<Connection>, McpError> {
        let connector = Connector {
            server: &self.name,
            options: &self.options,
            handler: Handler::new(&self.name, &self.options, self.events.clone()),
        };
        match &self.recipe {
            Recipe::Stdio(transport) => connector.stdio(transport).await.map(Some),
            #[cfg(feature = "client-http")]
            Recipe::Http(transport) => connector.http(transport).await.map(Some),
            Recipe::Never => Ok(None),
        }
    }

    async fn replace(&self, connection: Connection) -> Result<Arc<Connection>, McpError> {
        let connection = Arc::new(connection);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&connection);
        if let Err(error) = self.check_open() {
            // Closed while it was restarted.
            connection.close(&self.options).await;
            return Err(error);
        }
        self.events.send(ServerEvent::Reconnected);
        Ok(connection)
    }

    /// Closes the connection for good.
    pub(crate) async fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.current().close(&self.options).await;
    }
}
