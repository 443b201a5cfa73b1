//! [`deny_network`]: blocks network access in tests that must not make real calls.

use std::{
    fmt,
    panic::Location,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use http::Uri;

use super::{base_url::is_loopback, route::ProxyRoute};
use agcore_wire::{LlmError, LlmErrorKind};

/// The number of active denials. Without any, checking a request costs a single atomic load.
static COUNT: AtomicUsize = AtomicUsize::new(0);

static DENIALS: Mutex<Vec<ActiveDenial>> = Mutex::new(Vec::new());

#[derive(Debug, Clone, Copy)]
struct ActiveDenial {
    id: u64,
    caller: &'static Location<'static>,
    /// Whether requests to loopback are denied as well.
    loopback: bool,
}

/// Denies network access to every HTTP transport of this process until the returned guard is dropped.
///
/// Requests to the loopback interface are still sent, unless
/// [`with_loopback_denied`](NetworkDenial::with_loopback_denied) denies these as well. Any other request fails with a
/// `Connect` error that is not retryable and names the line that called this function.
///
/// A request through a proxy is only allowed if the proxy is on loopback, too.
/// Each request is checked, so open connections cannot be used either. Only the transport of agcore is affected.
///
/// The denial applies to the whole process, because a test cannot reach every transport that the code under test
/// creates. With a test runner that starts a process for each test, it is limited to that test; otherwise it affects
/// the tests in other threads, too.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::{LlmErrorKind, transport::{Transport, http::{HttpOptions, HttpTransport, deny_network}}};
/// use agcore_llm::wire::WireRequest;
///
/// let denied = deny_network();
/// let transport = HttpTransport::new(HttpOptions::new("http://api.example/v1"))?;
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let error = transport.send(WireRequest::post("/chat", "{}"), false).await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::Connect);
/// assert!(error.message().contains("`deny_network()`"));
/// # });
/// drop(denied);
/// # Ok::<(), agcore_llm::LlmError>(())
/// ```
#[track_caller]
pub fn deny_network() -> NetworkDenial {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let denial = ActiveDenial {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        caller: Location::caller(),
        loopback: false,
    };
    denials().push(denial);
    COUNT.fetch_add(1, Ordering::Release);
    NetworkDenial { id: denial.id }
}

/// A guard that denies network access until it is dropped; see [`deny_network`].
#[must_use = "network access is allowed again when the guard is dropped"]
pub struct NetworkDenial {
    id: u64,
}

impl NetworkDenial {
    /// Denies requests to the loopback interface as well, so nothing is sent at all.
    pub fn with_loopback_denied(self) -> Self {
        let mut denials = denials();
        let active = denials.iter_mut().find(|denial| denial.id == self.id);
        if let Some(active) = active {
            active.loopback = true;
        }
        drop(denials);
        self
    }
}

impl Drop for NetworkDenial {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Release);
        denials().retain(|denial| denial.id != self.id);
    }
}

impl fmt::Debug for NetworkDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NetworkDenial")
    }
}

fn denials() -> MutexGuard<'static, Vec<ActiveDenial>> {
    DENIALS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks that a request is allowed that is sent through this proxy, or without one.
///
/// # Errors
/// `Connect` if a denial blocks it.
pub(super) fn check(uri: &Uri, proxy: Option<&ProxyRoute>) -> Result<(), LlmError> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let stays_local = is_loopback(uri.host()) && proxy.is_none_or(ProxyRoute::is_loopback);
    let denial = denials().iter().copied().find(|denial| denial.loopback || !stays_local);
    denial.map_or(Ok(()), |denial| Err(denied(denial, uri)))
}

fn denied(denial: ActiveDenial, uri: &Uri) -> LlmError {
    let message = format!(
        "request to {}://{} blocked: `deny_network()` at {}:{} denies network access; replay a cassette, use a mock server, \
         or drop the guard",
        uri.scheme_str().unwrap_or_default(),
        uri.authority().map(http::uri::Authority::as_str).unwrap_or_default(),
        denial.caller.file(),
        denial.caller.line(),
    );
    LlmError::new(LlmErrorKind::Connect, message).with_retryable(false)
}
