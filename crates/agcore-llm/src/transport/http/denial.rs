//! [`deny_network`]: for tests that must not make real calls.

use std::{
    fmt,
    panic::Location,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use reqwest::Url;

use super::proxy::Proxy;
use agcore_wire::{LlmError, LlmErrorKind};

/// How many denials there are: one look at it is all that requests pay where there is none.
static COUNT: AtomicUsize = AtomicUsize::new(0);

static DENIALS: Mutex<Vec<Denial>> = Mutex::new(Vec::new());

#[derive(Debug, Clone, Copy)]
struct Denial {
    id: u64,
    by: &'static Location<'static>,
    loopback: bool,
}

/// While the guard lives, no HTTP transport of this process sends a request anywhere but to this machine's loopback; with
/// [`with_loopback_denied`](NetworkDenial::with_loopback_denied) not even there. Such a request fails with `Connect`, is not
/// worth a retry, and the error names the line that called this function.
///
/// What goes through a proxy counts as going to the proxy, too; a proxy of the environment is never trusted. Connections
/// that were made before are no way out: each request is checked. Nothing but agcore's own transport is denied anything.
///
/// It is process-wide, as a test cannot reach every transport that its code under test makes. Test runners with a process
/// for each test keep it to one; among threads of one process it meets all of them.
///
/// ```
/// use agcore_llm::transport::http::deny_network;
///
/// let denied = deny_network();
/// // … nothing leaves this machine …
/// drop(denied);
/// ```
#[track_caller]
pub fn deny_network() -> NetworkDenial {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let denial = Denial {
        id: NEXT.fetch_add(1, Ordering::Relaxed),
        by: Location::caller(),
        loopback: false,
    };
    denials().push(denial);
    COUNT.fetch_add(1, Ordering::Release);
    NetworkDenial { id: denial.id }
}

/// Denies the network as long as it lives; see [`deny_network`].
#[must_use = "the network is denied as long as this lives"]
pub struct NetworkDenial {
    id: u64,
}

impl NetworkDenial {
    /// Denies loopback, too: nothing is sent at all.
    pub fn with_loopback_denied(self) -> Self {
        let mut denials = denials();
        let own = denials.iter_mut().find(|denial| denial.id == self.id);
        if let Some(own) = own {
            own.loopback = true;
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

fn denials() -> MutexGuard<'static, Vec<Denial>> {
    DENIALS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a request may go out, on this way.
///
/// # Errors
/// `Connect` when somebody denies it.
pub(super) fn check(url: &Url, proxy: &Proxy) -> Result<(), LlmError> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let stays = is_loopback(url) && proxy_is_loopback(proxy);
    let denial = denials().iter().copied().find(|denial| denial.loopback || !stays);
    denial.map_or(Ok(()), |denial| Err(denied(denial, url)))
}

fn denied(denial: Denial, url: &Url) -> LlmError {
    let message = format!(
        "no request to {} is sent: the network is denied by `deny_network()` at {}:{}; answer from a cassette or a mock \
         server, or drop that guard",
        url.origin().ascii_serialization(),
        denial.by.file(),
        denial.by.line(),
    );
    LlmError::new(LlmErrorKind::Connect, message).with_retryable(false)
}

fn proxy_is_loopback(proxy: &Proxy) -> bool {
    match proxy {
        Proxy::None => true,
        Proxy::Environment => false,
        Proxy::Url(url) => Url::parse(url.expose()).is_ok_and(|url| is_loopback(&url)),
    }
}

/// Whether a URL names this machine: an address of loopback, or `localhost` (RFC 6761, section 6.3).
fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = host.trim_end_matches('.');
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_told_by_its_name() {
        let check = |url: &str, expected: bool| assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        check("http://127.0.0.1:8080/v1", true);
        check("http://127.8.9.1/", true);
        check("http://[::1]:80/", true);
        check("http://[::ffff:127.0.0.1]/", true);
        check("http://LOCALHOST:11434", true);
        check("http://app.localhost./x", true);
        check("https://api.openai.com/v1", false);
        check("http://10.0.0.1", false);
        check("http://0.0.0.0", false);
        check("http://localhost.example", false);
        check("http://notlocalhost", false);
    }

    #[test]
    fn a_proxy_is_a_way_out() {
        let check = |proxy: &Proxy, expected: bool| assert_eq!(proxy_is_loopback(proxy), expected, "{proxy:?}");
        check(&Proxy::None, true);
        check(&Proxy::Environment, false);
        check(&Proxy::Url("http://127.0.0.1:3128".into()), true);
        check(&Proxy::Url("http://me:pw@proxy:3128".into()), false);
    }
}
