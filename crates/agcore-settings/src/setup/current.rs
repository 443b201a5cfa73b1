//! [`Current`]: what the user's settings name before they change.

use agcore::llm::ProviderType;
use toml_edit::{DocumentMut, Item};

/// The provider, the server and the model in the user's settings.
#[derive(Debug, Default)]
pub struct Current {
    /// The provider.
    pub provider: Option<ProviderType>,
    base_url: Option<String>,
    model: Option<String>,
}

impl Current {
    /// Reads a settings file. One that is not TOML names nothing; it is reported when it is changed.
    pub fn of(text: &str) -> Self {
        let document: DocumentMut = text.parse().unwrap_or_default();
        let member = |name: &str| document.get(name).and_then(Item::as_str).map(str::to_owned);
        Self {
            provider: member("provider").and_then(|name| name.parse().ok()),
            base_url: member("base_url"),
            model: member("model"),
        }
    }

    /// Returns the base URL, if it is that of this provider.
    pub fn base_url(&self, provider: &ProviderType) -> Option<&str> {
        self.base_url.as_deref().filter(|_| self.is_of(provider))
    }

    /// Returns the model, if it is that of this provider.
    pub fn model(&self, provider: &ProviderType) -> Option<&str> {
        self.model.as_deref().filter(|_| self.is_of(provider))
    }

    fn is_of(&self, provider: &ProviderType) -> bool {
        self.provider.as_ref() == Some(provider)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_and_a_model_are_those_of_one_provider() {
        let current = Current::of("provider = 'openai'\nbase_url = 'http://own/v1'\nmodel = 'm'\n");
        let (openai, mistral) = ("openai".parse().unwrap(), "mistral".parse().unwrap());
        assert_eq!(current.base_url(&openai), Some("http://own/v1"));
        assert_eq!(current.model(&openai), Some("m"));
        // Another provider's server never gets the key.
        assert_eq!((current.base_url(&mistral), current.model(&mistral)), (None, None));
        assert!(Current::of("not TOML").provider.is_none());
    }
}
