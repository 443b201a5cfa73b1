//! [`Connection`]: one connection for all operations, replaced when it is lost.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agcore_chat::Clock;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, PushInfo, PushKind, RedisError, Script, ServerErrorKind, Value,
    aio::MultiplexedConnection,
};
use tokio::sync::Mutex;

use super::{
    error::{breaks_connection, convert, is_temporary},
    options::{ReconnectPolicy, RedisOptions},
};
use crate::error::{StoreError, StoreErrorKind};

/// A connection that all operations share: each sends its command without waiting for the answers to the others.
pub(super) struct Connection {
    client: Client,
    config: AsyncConnectionConfig,
    reconnect: ReconnectPolicy,
    clock: Arc<dyn Clock>,
    address: String,
    state: Mutex<State>,
}

enum State {
    Disconnected,
    Connected(Link),
    Closed,
}

/// A connection that is believed to work.
#[derive(Clone)]
struct Link {
    connection: MultiplexedConnection,
    is_lost: Arc<AtomicBool>,
}

/// A command, its script, and the options for sending it.
pub(super) struct Call {
    command: Cmd,
    /// The script that the command runs, which the server may not know yet.
    script: Option<&'static Script>,
    /// Reads are repeated when the connection is lost.
    is_write: bool,
    /// The operation, for errors.
    attempt: &'static str,
}

impl Call {
    /// Creates a call of a command that changes nothing.
    pub(super) fn read(attempt: &'static str, command: Cmd) -> Self {
        Self {
            command,
            script: None,
            is_write: false,
            attempt,
        }
    }

    /// Creates a call of a command that changes data.
    pub(super) fn write(attempt: &'static str, command: Cmd) -> Self {
        Self {
            is_write: true,
            ..Self::read(attempt, command)
        }
    }

    /// Creates a call of a script that changes nothing.
    pub(super) fn read_script(attempt: &'static str, script: &'static Script, keys: &[String]) -> Self {
        let mut command = redis::cmd("EVALSHA");
        command.arg(script.get_hash()).arg(keys.len()).arg(keys);
        Self {
            script: Some(script),
            ..Self::read(attempt, command)
        }
    }

    /// Creates a call of a script that changes data.
    pub(super) fn write_script(attempt: &'static str, script: &'static Script, keys: &[String]) -> Self {
        Self {
            is_write: true,
            ..Self::read_script(attempt, script, keys)
        }
    }

    /// Adds an argument.
    pub(super) fn arg(&mut self, argument: impl redis::ToRedisArgs) -> &mut Self {
        self.command.arg(argument);
        self
    }
}

impl Connection {
    /// Prepares connections to the server of the options, without connecting.
    ///
    /// # Errors
    /// When the certificates of the options cannot be read.
    pub(super) fn new(options: &RedisOptions, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        Ok(Self {
            client: client(options)?,
            config: AsyncConnectionConfig::new()
                .set_connection_timeout(Some(options.connect_timeout))
                .set_response_timeout(Some(options.response_timeout)),
            reconnect: options.reconnect,
            clock,
            address: options.address(),
            state: Mutex::new(State::Disconnected),
        })
    }

    /// Sends a command and returns the answer.
    ///
    /// If the connection is lost on the way, a read is sent again once. Whether a write took place is then unknown.
    pub(super) async fn run(&self, call: &Call) -> Result<Value, StoreError> {
        let link = self.link(call.attempt).await?;
        let error = match send(&link, call).await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if !breaks_connection(&error) {
            return Err(convert(call.attempt, error));
        }
        self.forget(&link).await;
        if call.is_write || error.is_timeout() {
            return Err(interrupted(call, error));
        }
        let link = self.link(call.attempt).await?;
        let sent = send(&link, call).await;
        sent.map_err(|error| convert(call.attempt, error))
    }

    /// Waits for the answers to everything that was sent, and closes the connection. Later operations fail.
    pub(super) async fn close(&self) {
        let state = std::mem::replace(&mut *self.state.lock().await, State::Closed);
        if let State::Connected(mut link) = state {
            // Answers come in the order of the commands. If this fails, nothing is waiting any more.
            let _: Result<Value, RedisError> = redis::cmd("PING").query_async(&mut link.connection).await;
        }
    }

    /// Returns the connection, or connects if there is none.
    async fn link(&self, attempt: &str) -> Result<Link, StoreError> {
        let mut state = self.state.lock().await;
        match &*state {
            State::Connected(link) if !link.is_lost.load(Ordering::Acquire) => return Ok(link.clone()),
            State::Connected(_) | State::Disconnected => {}
            State::Closed => {
                return Err(StoreError::new(
                    StoreErrorKind::Unavailable,
                    format!("{attempt}: the store was closed"),
                ));
            }
        }
        let link = self.connect().await?;
        *state = State::Connected(link.clone());
        Ok(link)
    }

    async fn connect(&self) -> Result<Link, StoreError> {
        let mut failed = 0;
        loop {
            let is_lost = Arc::new(AtomicBool::new(false));
            let lost = Arc::clone(&is_lost);
            let config = self.config.clone().set_push_sender(move |push: PushInfo| {
                if push.kind == PushKind::Disconnection {
                    lost.store(true, Ordering::Release);
                }
                Ok::<(), redis::aio::SendError>(())
            });
            let connected = self.client.get_multiplexed_async_connection_with_config(&config).await;
            let error = match connected {
                Ok(connection) => return Ok(Link { connection, is_lost }),
                Err(error) => error,
            };
            failed += 1;
            match self.reconnect.delay(failed).filter(|_| is_temporary(&error)) {
                Some(delay) => {
                    tracing::debug!(%error, address = self.address, ?delay, "cannot connect to Redis, trying again");
                    self.clock.sleep(delay).await;
                }
                None => return Err(convert(&format!("cannot connect to {}", self.address), error)),
            }
        }
    }

    /// Replaces a connection that does not work, unless that has happened already.
    async fn forget(&self, lost: &Link) {
        let mut state = self.state.lock().await;
        if let State::Connected(link) = &*state
            && Arc::ptr_eq(&link.is_lost, &lost.is_lost)
        {
            *state = State::Disconnected;
        }
    }
}

async fn send(link: &Link, call: &Call) -> Result<Value, RedisError> {
    let mut connection = link.connection.clone();
    let result = call.command.query_async(&mut connection).await;
    match (result, call.script) {
        (Err(error), Some(script)) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            script.load_async(&mut connection).await?;
            call.command.query_async(&mut connection).await
        }
        (result, _) => result,
    }
}

/// Returns the error of a command whose answer did not come.
#[cold]
fn interrupted(call: &Call, error: RedisError) -> StoreError {
    let error = convert(call.attempt, error);
    if !call.is_write || error.kind() != StoreErrorKind::Unavailable {
        return error;
    }
    let message = format!("{}; it is unknown whether the write took place", error.message());
    StoreError::with_source(error.kind(), message, error)
}

fn client(options: &RedisOptions) -> Result<Client, StoreError> {
    let unusable = |error| convert("cannot use the options of the Redis server", error);
    #[cfg(feature = "tls")]
    if let redis::ConnectionAddr::TcpTls { .. } = options.server.addr() {
        use_ring();
        let certificates = redis::TlsCertificates {
            client_tls: None,
            root_cert: options.roots.clone(),
        };
        return Client::build_with_tls(options.server.clone(), certificates).map_err(unusable);
    }
    Client::open(options.server.clone()).map_err(unusable)
}

/// Chooses the cryptography of the process if that has not happened yet: otherwise rustls panics when several are built in.
#[cfg(feature = "tls")]
fn use_ring() {
    // Fails if another thread was faster.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
