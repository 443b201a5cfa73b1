//! Who decides what is replied: a closure, a script, or anything that computes replies from requests.

use std::sync::Arc;

use super::reply::Reply;
use super::request::RecordedRequest;
use super::verdict::Mismatch;

/// Computes the reply to a request for an answer of the model (any API; other operations the server serves itself).
///
/// A closure is a behaviour. Requests are handed over one by one, in the order of their numbers, so a behaviour may
/// count them.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{MockServer, RecordedRequest, Reply};
///
/// let server = MockServer::start(|request: &RecordedRequest| {
///     Reply::text(format!("You said: {}", request.prompt().last_user()))
/// })
/// .await
/// .unwrap();
/// # server.shutdown().await;
/// # });
/// ```
pub trait Behaviour: Send + Sync + 'static {
    /// The reply. A panic in here is told to the client as a 599 and fails [`MockServer::verdict`].
    ///
    /// [`MockServer::verdict`]: super::MockServer::verdict
    fn reply(&self, request: &RecordedRequest) -> Reply;

    /// Whether all went as planned so far; the error says what did not.
    ///
    /// # Errors
    ///
    /// A script fails here when replies are left or too many were asked for.
    fn verdict(&self) -> Result<(), Mismatch> {
        Ok(())
    }
}

impl<F> Behaviour for F
where
    F: Fn(&RecordedRequest) -> Reply + Send + Sync + 'static,
{
    fn reply(&self, request: &RecordedRequest) -> Reply {
        self(request)
    }
}

impl Behaviour for Box<dyn Behaviour> {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        (**self).reply(request)
    }

    fn verdict(&self) -> Result<(), Mismatch> {
        (**self).verdict()
    }
}

impl Behaviour for Arc<dyn Behaviour> {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        (**self).reply(request)
    }

    fn verdict(&self) -> Result<(), Mismatch> {
        (**self).verdict()
    }
}
