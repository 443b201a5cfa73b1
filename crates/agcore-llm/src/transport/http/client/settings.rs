//! [`ClientSettings`]: everything that a client is created from.

use std::time::Duration;

use http::HeaderMap;

use super::super::{base_url::BaseUrl, options::HttpOptions, route::ProxyRoute};

/// The time until an idle connection is closed. Shorter than the 75 s after which common reverse proxies close theirs.
pub(super) const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Everything that a client is created from.
pub(in super::super) struct ClientSettings<'a> {
    pub(in super::super) base: &'a BaseUrl,
    pub(in super::super) options: &'a HttpOptions,
    /// The headers of every request that does not have them itself.
    pub(in super::super) headers: HeaderMap,
    pub(in super::super) proxy: Option<&'a ProxyRoute>,
}
