//! The check of the proxy.

use agcore::llm::transport::http::Proxy;
use agcore_settings::Choices;

use super::check::Check;

/// Reports the proxy that requests to the server are sent through, and where it is set. Returns `None` if there is no
/// server, or if the settings are invalid, which the check of the server reports.
pub(super) fn check(choices: &Choices) -> Option<Check> {
    let config = choices.provider_config();
    let url = config.base_url.as_deref().or(config.provider_type.base_url())?;
    let origin = &choices.proxy.origin;
    let message = match choices.proxy.value.route(url).ok()? {
        Some(route) => match route.variable() {
            Some(variable) => format!("{} (environment, {variable})", route.address()),
            None => format!("{} ({origin})", route.address()),
        },
        None => match choices.proxy.value {
            Proxy::Environment => "none: the environment sets no proxy for this server".to_owned(),
            _ => format!("off ({origin})"),
        },
    };
    Some(Check::ok("proxy", message))
}
