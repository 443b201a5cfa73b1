//! The setting `proxy`: a URL, `off` or `environment`.

use agcore::llm::transport::http::Proxy;

use super::origin::Chosen;
use crate::{SettingsError, vendor::redacted_url};

/// Parses the setting, which is at a place that errors name.
///
/// # Errors
/// When it is neither of the two words nor a URL. The error does not quote it, because it may contain a password.
pub(super) fn parse(setting: &Chosen<String>, place: &str) -> Result<Chosen<Proxy>, SettingsError> {
    let value = match setting.value.trim() {
        "off" => Proxy::None,
        text => Proxy::parse(text).map_err(|_| {
            SettingsError::new(format!(
                "{place}: invalid proxy; expected a URL such as http://host:3128, `off` or `environment`"
            ))
        })?,
    };
    let origin = setting.origin.clone();
    Ok(Chosen { value, origin })
}

/// Returns the setting as it is written, without user name and password.
pub fn shown_proxy(proxy: &Proxy) -> String {
    match proxy {
        Proxy::Url(url) => redacted_url(url.expose()),
        Proxy::Environment => "environment".to_owned(),
        _ => "off".to_owned(),
    }
}
