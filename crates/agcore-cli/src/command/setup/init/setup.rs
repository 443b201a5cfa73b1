//! [`Setup`]: what `agcore init` has found and may ask.

use agcore::llm::{ProviderConfig, ProviderType, transport::http::Proxy};
use agcore_args::InitArgs;
use agcore_settings::{
    setup::{Current, Found, Server},
    vendor::check_timeouts,
};

use super::question::Questions;

use crate::exit::Failure;

/// The state of `agcore init`: what it has found, and whom it may ask.
pub(super) struct Setup<'a> {
    pub(super) args: &'a InitArgs,
    /// The text of the settings file, if there is one.
    pub(super) before: Option<String>,
    /// `None` without a terminal to ask at.
    pub(super) questions: Option<Questions>,
    pub(super) found: Found,
    /// Whether the provider needs a key, and none is stored or set.
    pub(super) lacks_key: bool,
    /// The provider, the server and the model in the settings file.
    pub(super) current: Current,
}

impl Setup<'_> {
    /// Asks a question.
    ///
    /// # Errors
    /// When there is no terminal, or the user stops.
    pub(super) async fn ask(&mut self, prompt: &str) -> Result<String, Failure> {
        match &mut self.questions {
            Some(questions) => questions.line(prompt).await,
            None => Err(Failure::usage("cannot ask, because there is no terminal")),
        }
    }
}

/// Returns the settings with which the server is asked for its models.
pub(super) fn config_of(provider: &ProviderType, server: &Server) -> ProviderConfig {
    let config = ProviderConfig::new(provider.clone(), "")
        .with_proxy(Proxy::Environment)
        .with_timeouts(check_timeouts());
    match &server.base_url {
        Some(url) => config.with_base_url(url.as_str()),
        None => config,
    }
}
