//! [`Server`]: the address that a chat would use, and where it comes from.

use crate::vendor::base_url_variables;
use agcore::llm::ProviderType;

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The base URL, if it is not the provider's default.
    pub base_url: Option<String>,
    /// The source of the address, for messages.
    pub source: String,
}

impl Server {
    /// Returns the server that the option or the environment names, in the order of precedence in a chat. A key that is meant
    /// for a gateway must not be sent to the vendor.
    pub fn given(
        option: Option<&str>,
        variable: &dyn Fn(&str) -> Option<String>,
        provider: &ProviderType,
    ) -> Option<Self> {
        let of_option = option.map(|url| Self::new(url, "--base-url"));
        let of_variable = || {
            let mut names = base_url_variables(provider).iter();
            names.find_map(|name| Some(Self::new(variable(name)?, format!("{name} in the environment"))))
        };
        of_option.or_else(of_variable)
    }

    /// Creates a server with a base URL of its own.
    pub fn new(base_url: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            base_url: Some(base_url.into()),
            source: source.into(),
        }
    }

    /// Returns the base URL, which is empty if the provider has no default.
    pub fn url<'s>(&'s self, provider: &'s ProviderType) -> &'s str {
        self.base_url.as_deref().or(provider.base_url()).unwrap_or_default()
    }

    /// Returns the provider's own server.
    pub fn of_vendor(provider: &ProviderType) -> Self {
        Self {
            base_url: None,
            source: format!("the default of {provider}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(variables: &[(&str, &str)], provider: &str) -> Option<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let provider: ProviderType = provider.parse().unwrap();
        Server::given(None, &variable, &provider)?.base_url
    }

    #[test]
    fn the_sources_are_those_of_a_chat() {
        let gateway = [("OPENAI_BASE_URL", "http://gateway/v1")];
        assert_eq!(url(&gateway, "openai").as_deref(), Some("http://gateway/v1"));
        assert_eq!(url(&gateway, "openai-responses").as_deref(), Some("http://gateway/v1"));
        // Another provider's server never gets the key.
        assert_eq!(url(&gateway, "mistral"), None);
        let both = [gateway[0], ("AGCORE_BASE_URL", "http://any/v1")];
        assert_eq!(url(&both, "openai").as_deref(), Some("http://any/v1"));
        assert_eq!(url(&both, "mistral").as_deref(), Some("http://any/v1"));
    }

    #[test]
    fn the_option_comes_first() {
        let provider = "openai".parse().unwrap();
        let found = Server::given(Some("http://a/v1"), &|_| Some("http://b/v1".to_owned()), &provider);
        assert_eq!(found, Some(Server::new("http://a/v1", "--base-url")));
    }
}
