//! [`Behavior`]: decides what to reply. A closure, a script, or anything else that computes replies from requests.

use std::sync::Arc;

use crate::mock_server::{
    reply::{ApiError, Reply},
    request::RecordedRequest,
};

/// Computes the reply to each request that asks the model for an answer, through any API. The server handles other
/// operations, such as listing models, by itself.
///
/// Closures implement this trait. Requests are passed one at a time, in the order of their numbers, so a behavior may
/// count them.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{MockServer, RecordedRequest, Reply};
/// # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
/// # async fn chat(server: &MockServer) -> String {
/// #     let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
/// #     let mut client = TcpStream::connect(server.address()).await.unwrap();
/// #     let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ";
/// #     client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
/// #     let mut reply = String::new();
/// #     client.read_to_string(&mut reply).await.unwrap();
/// #     reply
/// # }
///
/// let server = MockServer::start(|request: &RecordedRequest| {
///     Reply::text(format!("You wrote: {}", request.prompt().last_user()))
/// })
/// .await
/// .unwrap();
///
/// // `chat` is the client under test.
/// assert!(chat(&server).await.contains("You wrote: Hi"));
/// # });
/// ```
pub trait Behavior: Send + Sync + 'static {
    /// Returns the reply to a request. If this method panics, the client receives status 599 and
    /// [`MockServer::verify`](crate::mock_server::MockServer::verify) fails.
    fn reply(&self, request: &RecordedRequest) -> Reply;

    /// Verifies that everything has gone as planned so far.
    ///
    /// # Errors
    ///
    /// Returns what did not go as planned. A script fails if replies are left or too many were requested; the default
    /// implementation never fails.
    fn verify(&self) -> Result<(), Mismatch> {
        Ok(())
    }
}

/// A deviation from the plan of a behavior, which fails the test even if the client did not notice it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// Replies of the script were not requested.
    #[error("{count} replies of the script were not requested")]
    Unused {
        /// The number of replies left.
        count: usize,
    },
    /// Requests arrived after the last reply of the script.
    #[error("{count} requests arrived after the last reply of the script")]
    Overrun {
        /// The number of these requests.
        count: usize,
    },
    /// The behavior panicked.
    #[error("the behavior panicked {count} times, the first time with: {message}")]
    Panicked {
        /// The number of panics.
        count: usize,
        /// The message of the first panic.
        message: String,
    },
}

/// The status of a reply that reports a failure of the test itself, which no model server sends.
const TEST_FAILURE: u16 = 599;

/// Creates a reply that reports a failure of the test itself to the client, and asks it not to retry.
pub(crate) fn test_failure(message: impl Into<String>) -> Reply {
    let error = ApiError::new(TEST_FAILURE)
        .with_kind("mock_server")
        .with_message(message);
    Reply::error(error.with_header("x-should-retry", "false"))
}

impl<F> Behavior for F
where
    F: Fn(&RecordedRequest) -> Reply + Send + Sync + 'static,
{
    fn reply(&self, request: &RecordedRequest) -> Reply {
        self(request)
    }
}

impl Behavior for Box<dyn Behavior> {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        (**self).reply(request)
    }

    fn verify(&self) -> Result<(), Mismatch> {
        (**self).verify()
    }
}

impl Behavior for Arc<dyn Behavior> {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        (**self).reply(request)
    }

    fn verify(&self) -> Result<(), Mismatch> {
        (**self).verify()
    }
}
