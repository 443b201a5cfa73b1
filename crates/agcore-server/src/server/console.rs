//! The console of a server.

use std::sync::Arc;

use axum::Router;

use super::Server;
#[cfg(feature = "console")]
use super::ServerBuilder;
use crate::service::App;

#[cfg(feature = "console")]
impl ServerBuilder {
    /// Serves the console below `/console`: pages for people, with the runs, questions and conversations of the user. They show
    /// nothing that the other routes do not offer. By default, there are none.
    ///
    /// With an authenticator, people enter a token, which is kept in a cookie of the browser and checked with each request. Without
    /// one, everybody on this machine sees the pages, as with the other routes.
    pub fn with_console(mut self) -> Self {
        self.has_console = true;
        self
    }
}

impl Server {
    /// Returns the routes of the pages for people, if there are some.
    pub(super) fn pages(&self) -> Router<Arc<App>> {
        #[cfg(feature = "console")]
        if self.has_console {
            return crate::console::routes(&self.app);
        }
        // Without the feature, nothing sets this.
        debug_assert!(!self.has_console, "the console needs its feature");
        Router::new()
    }
}
