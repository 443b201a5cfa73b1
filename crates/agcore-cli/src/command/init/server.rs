//! [`Server`]: the address that a chat would use, and where it comes from.

use agcore::llm::ProviderType;
use toml_edit::{DocumentMut, Item};

use crate::vendor::base_url_variables;

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// The base URL, if it is not the provider's default.
    pub(super) base_url: Option<String>,
    /// The source of the address, for messages.
    pub(super) source: String,
}

impl Server {
    /// Returns the server that the option, the environment or the user's settings name, in the order of precedence in a chat. A
    /// key that is meant for a gateway must not be sent to the vendor.
    pub(super) fn configured(
        option: Option<&str>,
        variable: &dyn Fn(&str) -> Option<String>,
        settings: &str,
        provider: &ProviderType,
    ) -> Option<Self> {
        let of_option = option.map(|url| Self::new(url, "--base-url"));
        let of_variable = || {
            let mut names = base_url_variables(provider).iter();
            names.find_map(|name| Some(Self::new(variable(name)?, format!("{name} in the environment"))))
        };
        let of_settings = || Some(Self::new(in_settings(settings, provider)?, "your agcore.toml"));
        of_option.or_else(of_variable).or_else(of_settings)
    }

    /// Creates a server with a base URL of its own.
    pub(super) fn new(base_url: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            base_url: Some(base_url.into()),
            source: source.into(),
        }
    }

    /// Returns the provider's own server.
    pub(super) fn of_vendor(provider: &ProviderType) -> Self {
        Self {
            base_url: None,
            source: format!("the default of {provider}"),
        }
    }
}

/// Returns the base URL in the user's settings, if they are for this provider.
fn in_settings(text: &str, provider: &ProviderType) -> Option<String> {
    let document: DocumentMut = text.parse().ok()?;
    let member = |name: &str| document.get(name).and_then(Item::as_str);
    let is_same = member("provider")?.parse::<ProviderType>().as_ref() == Ok(provider);
    member("base_url").filter(|_| is_same).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(variables: &[(&str, &str)], settings: &str, provider: &str) -> Option<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let provider: ProviderType = provider.parse().unwrap();
        Server::configured(None, &variable, settings, &provider)?.base_url
    }

    #[test]
    fn the_sources_are_those_of_a_chat() {
        let gateway = [("OPENAI_BASE_URL", "http://gateway/v1")];
        let own = "provider = 'openai'\nbase_url = 'http://own/v1'\n";
        assert_eq!(url(&gateway, own, "openai").as_deref(), Some("http://gateway/v1"));
        assert_eq!(
            url(&gateway, own, "openai-responses").as_deref(),
            Some("http://gateway/v1")
        );
        assert_eq!(url(&[], own, "openai").as_deref(), Some("http://own/v1"));
        // Another provider's server never gets the key.
        assert_eq!(url(&gateway, own, "mistral"), None);
        let both = [gateway[0], ("AGCORE_BASE_URL", "http://any/v1")];
        assert_eq!(url(&both, own, "openai").as_deref(), Some("http://any/v1"));
        assert_eq!(url(&both, own, "mistral").as_deref(), Some("http://any/v1"));
        assert_eq!(url(&[], "not TOML", "openai"), None);
    }

    #[test]
    fn the_option_comes_first() {
        let provider = "openai".parse().unwrap();
        let found = Server::configured(Some("http://a/v1"), &|_| Some("http://b/v1".to_owned()), "", &provider);
        assert_eq!(found, Some(Server::new("http://a/v1", "--base-url")));
    }
}
