//! Messages for the user about all settings, and the provider with its model.

use agcore::llm::{ProviderConfig, credential::Credential};

use super::Choices;
use crate::{SettingsError, settings::origin::Origin, vendor::example_model};

impl Choices {
    /// Returns what a user should know before a command uses the settings, each as a line.
    pub fn notices(&self) -> Vec<String> {
        let warnings = self.warnings.iter().chain(&self.ignored_notice);
        let warnings = warnings.map(|warning| format!("warning: {warning}"));
        warnings
            .chain(self.note().map(|note| format!("note: {note}")))
            .collect()
    }

    /// Returns why the provider was selected, if the user may not expect it.
    fn note(&self) -> Option<String> {
        let origin = &self.provider.origin;
        let (Origin::Key(_) | Origin::StoredKey(_)) = origin else {
            return None;
        };
        let provider = &self.provider.value;
        Some(format!(
            "using {provider} because {origin}; pass --provider to select another one"
        ))
    }

    /// Returns the configuration of the provider. The model name is empty if no model is set.
    pub fn provider_config(&self) -> ProviderConfig {
        let model = self.model.as_ref().map_or("", |model| &model.value);
        let config = ProviderConfig::new(self.provider.value.clone(), model);
        let mut config = config
            .with_proxy(self.proxy.value.clone())
            .with_timeouts(self.limits.timeouts);
        if let Some(url) = &self.base_url {
            config = config.with_base_url(url.value.as_str());
        }
        config = self.aws.add_to(config);
        if let Some(key) = &self.key {
            config = config.with_credential(Credential::key(key.value.clone()));
        }
        config
    }

    /// Checks that the settings file has no unknown settings.
    ///
    /// # Errors
    /// The first unknown setting.
    pub fn check_unknown(&self) -> Result<(), SettingsError> {
        match self.unknown.settings.first() {
            None => Ok(()),
            Some(message) => Err(SettingsError::new(message.as_str())),
        }
    }

    /// Returns the model name.
    ///
    /// # Errors
    /// When no model is set.
    pub fn model(&self) -> Result<&str, SettingsError> {
        self.model.as_ref().map(|model| model.value.as_str()).ok_or_else(|| {
            let provider = &self.provider.value;
            let example = example_model(provider)
                .map(|model| format!(" (for example, --model {model})"))
                .unwrap_or_default();
            self.report.explain(SettingsError::new(format!(
                "no model is set for {provider}: pass --model NAME{example}, set AGCORE_MODEL, or write `model = \
                 \"NAME\"` in agcore.toml\n`agcore models --provider {provider}` lists the models."
            )))
        })
    }
}
