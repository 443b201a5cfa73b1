//! [`IdleLinks`]: connections that wait for their next request.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use http::Uri;
use tokio::{
    runtime::Handle,
    task::AbortHandle,
    time::{Instant, sleep_until},
};

use super::{super::settings::POOL_IDLE_TIMEOUT, link::Link};

/// Connections that wait for their next request, and are closed if none comes.
#[derive(Default)]
pub(super) struct IdleLinks(Mutex<State>);

#[derive(Default)]
struct State {
    /// The one that was used last is the last one.
    #[expect(clippy::vec_box, reason = "a link is large, and moves in and out for each request")]
    links: Vec<Box<Link>>,
    /// The task that closes them.
    closer: Option<AbortHandle>,
}

impl IdleLinks {
    /// Takes the connection to the server of a URL that was used last.
    pub(super) fn take(&self, uri: &Uri) -> Option<Box<Link>> {
        let mut state = self.lock();
        loop {
            let at = state.links.iter().rposition(|link| link.leads_to(uri))?;
            let link = state.links.remove(at);
            if link.idle_since.elapsed() < POOL_IDLE_TIMEOUT && link.is_ready() {
                return Some(link);
            }
        }
    }

    /// Adds a connection whose reply is complete, unless it cannot be used again.
    pub(super) fn put(self: &Arc<Self>, mut link: Box<Link>) {
        link.rest();
        if !link.is_ready() {
            link.settle();
            if !link.is_ready() {
                return;
            }
        }
        let expiry = link.idle_since + POOL_IDLE_TIMEOUT;
        let mut state = self.lock();
        state.links.push(link);
        if state.closer.as_ref().is_none_or(AbortHandle::is_finished)
            && let Ok(runtime) = Handle::try_current()
        {
            state.closer = Some(runtime.spawn(close_unused(Arc::downgrade(self), expiry)).abort_handle());
        }
    }

    /// Closes connections that were not used for too long, and drops those that their server has closed. Returns the moment at
    /// which to do that again.
    fn close_unused(&self) -> Option<Instant> {
        let mut state = self.lock();
        let (unused, mut links) = std::mem::take(&mut state.links)
            .into_iter()
            .partition::<Vec<_>, _>(|link| link.idle_since.elapsed() >= POOL_IDLE_TIMEOUT);
        unused.into_iter().for_each(|link| link.close());
        links.iter_mut().for_each(|link| link.settle());
        links.retain(|link| link.is_ready());
        let next = links.first().map(|link| link.idle_since + POOL_IDLE_TIMEOUT);
        if next.is_none() {
            state.closer = None;
        }
        state.links = links;
        next
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(closer) = &self.closer {
            closer.abort();
        }
        self.links.drain(..).for_each(|link| link.close());
    }
}

/// Closes unused connections until there are none. It does not start at once, because a connection is often used again at once.
async fn close_unused(idle: Weak<IdleLinks>, first: Instant) {
    let mut next = Some(first);
    while let Some(at) = next {
        sleep_until(at).await;
        next = idle.upgrade().and_then(|idle| idle.close_unused());
    }
}
