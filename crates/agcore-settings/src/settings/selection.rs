//! [`Selection`]: the provider and its model.

use agcore::llm::ProviderType;

use super::{
    model_name::{self, Prefixed},
    origin::{Chosen, Origin},
    sources::Sources,
};
use crate::{
    SettingsError, SettingsOptions,
    vendor::{base_url_variables, has_models_of_vendors, is_openai, is_variant},
};

/// The default provider.
const PROVIDER: &str = "openai";
/// The default model of the OpenAI APIs.
const OPENAI_MODEL: &str = "gpt-5-mini";

/// The variable of the API key of the default provider.
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// The provider and its model.
#[derive(Debug)]
pub(super) struct Selection {
    /// The provider.
    pub(super) provider: Chosen<ProviderType>,
    /// The model. Not every provider has a default.
    pub(super) model: Option<Chosen<String>>,
    /// The base URL, if it is not the provider's default.
    pub(super) base_url: Option<Chosen<String>>,
}

impl Selection {
    /// Selects the provider and its model.
    ///
    /// # Errors
    /// When the provider is unknown, the name of the model is that of a provider or resembles one, or several API keys are set and
    /// nothing selects one of their providers.
    pub(super) fn new(args: &SettingsOptions, sources: &Sources) -> Result<Self, SettingsError> {
        let finder = Finder { args, sources };
        let configured = finder.configured()?;
        let of_model = finder.of_model(configured.as_ref());
        if of_model.is_none() {
            finder.check_model(configured.as_ref())?;
        }
        let provider = match (of_model, &configured) {
            (Some(provider), _) => provider,
            (None, Some(provider)) => provider.clone(),
            (None, None) => finder
                .of_key()?
                .map_or_else(|| PROVIDER.parse().map(Chosen::default), Ok)
                .map_err(|error| SettingsError::new(format!("{error}")))?,
        };
        Ok(Self {
            model: finder.model(&provider),
            base_url: finder.base_url(&provider.value),
            provider,
        })
    }
}

/// Searches the sources.
struct Finder<'a> {
    args: &'a SettingsOptions,
    sources: &'a Sources,
}

impl Finder<'_> {
    /// Returns the provider that a setting names.
    fn configured(&self) -> Result<Option<Chosen<ProviderType>>, SettingsError> {
        let name = Chosen::first([
            Chosen::option("--provider", self.args.server.provider.as_ref()),
            self.sources.variable(&["AGCORE_PROVIDER"]),
            self.sources.setting(|file| file.provider.clone()),
        ]);
        let Some(Chosen { value, origin }) = name else {
            return Ok(None);
        };
        match value.parse() {
            Ok(value) => Ok(Some(Chosen { value, origin })),
            Err(error) => {
                let place = self.sources.place("provider", &origin);
                Err(SettingsError::new(format!("{place}: {error}")))
            }
        }
    }

    /// Returns the name of the model, which may contain that of its provider.
    fn model_name(&self) -> Option<Chosen<String>> {
        Chosen::first([
            Chosen::option("--model", self.args.model.as_ref()),
            self.sources.variable(&["AGCORE_MODEL"]),
            self.sources.setting(|file| file.model.clone()),
        ])
    }

    /// Returns the provider in the name of the model, if nothing of the same or a higher precedence names a provider.
    fn of_model(&self, configured: Option<&Chosen<ProviderType>>) -> Option<Chosen<ProviderType>> {
        let Chosen { value, origin } = self.model_name()?;
        let prefixed = model_name::split(&value)?;
        if is_overridden(&origin, configured) || self.is_name_of_server(&prefixed, self.default(configured).as_ref()) {
            return None;
        }
        let value = prefixed.provider;
        Some(Chosen { value, origin })
    }

    /// Returns the provider of models whose names contain none: that of a setting, or that of the only API key.
    fn default(&self, configured: Option<&Chosen<ProviderType>>) -> Option<ProviderType> {
        let of_key = || self.of_key().ok().flatten().map(|provider| provider.value);
        configured.map(|provider| provider.value.clone()).or_else(of_key)
    }

    /// Checks that the name of the model is not that of a provider, mistyped or without a model: the default provider would be
    /// asked for a model of this name. Servers with models of several vendors may have such names.
    fn check_model(&self, configured: Option<&Chosen<ProviderType>>) -> Result<(), SettingsError> {
        let Some(Chosen { value, origin }) = self.model_name() else {
            return Ok(());
        };
        if is_overridden(&origin, configured) {
            return Ok(());
        }
        let Some(provider) = self.default(configured).or_else(|| PROVIDER.parse().ok()) else {
            return Ok(());
        };
        if has_models_of_vendors(&provider) || self.base_url(&provider).is_some() {
            return Ok(());
        }
        match model_name::mistake(&value) {
            None => Ok(()),
            Some(mistake) => {
                let place = self.sources.place("model", &origin);
                Err(SettingsError::new(format!("{place}: {mistake}")))
            }
        }
    }

    /// Returns whether the whole name may be the server's own name for a model, as in `qwen/qwen3` of OpenRouter.
    fn is_name_of_server(&self, prefixed: &Prefixed<'_>, configured: Option<&ProviderType>) -> bool {
        if self.base_url(&prefixed.provider).is_some() {
            // With a colon, only some names can also be those of models, such as `qwen:7b`.
            return prefixed.has_slash || prefixed.is_family;
        }
        let is_at_base_url = || match configured {
            Some(provider) => self.base_url(provider).is_some(),
            None => self.sources.variable(&["OPENAI_BASE_URL"]).is_some(),
        };
        prefixed.has_slash && (configured.is_some_and(has_models_of_vendors) || is_at_base_url())
    }

    /// Returns the model for a provider, without the name of the provider.
    fn model(&self, provider: &Chosen<ProviderType>) -> Option<Chosen<String>> {
        let is_openai = is_openai(&provider.value);
        let names = ["AGCORE_MODEL", "OPENAI_MODEL"];
        let candidates = [
            Chosen::option("--model", self.args.model.as_ref()),
            self.sources.variable(if is_openai { &names } else { &names[..1] }),
            self.sources.setting_for(&provider.value, |file| file.model.clone()),
            is_openai.then(|| Chosen::default(OPENAI_MODEL.to_owned())),
        ];
        candidates
            .into_iter()
            .flatten()
            .find_map(|candidate| self.for_provider(candidate, provider))
    }

    /// Removes the name of the provider from a model. Returns `None` if the model is one of another provider.
    fn for_provider(&self, model: Chosen<String>, provider: &Chosen<ProviderType>) -> Option<Chosen<String>> {
        let Some(prefixed) = model_name::split(&model.value) else {
            return Some(model);
        };
        if prefixed.provider == provider.value {
            let is_selected_by_model = provider.origin == model.origin;
            if !is_selected_by_model && self.is_name_of_server(&prefixed, Some(&provider.value)) {
                return Some(model);
            }
            let name = prefixed.model.to_owned();
            return Some(model.map(|_| name));
        }
        let is_of_other = !prefixed.has_slash && provider.origin.rank() < model.origin.rank();
        (!is_of_other).then_some(model)
    }

    fn base_url(&self, provider: &ProviderType) -> Option<Chosen<String>> {
        Chosen::first([
            Chosen::option("--base-url", self.args.server.base_url.as_ref()),
            self.sources.variable(base_url_variables(provider)),
            self.sources.setting_for(provider, |file| file.base_url.clone()),
        ])
    }

    /// Returns the provider whose API key is set, if nothing suggests the default provider and only one key is set.
    fn of_key(&self) -> Result<Option<Chosen<ProviderType>>, SettingsError> {
        let for_default = ["AGCORE_API_KEY", OPENAI_KEY, "AGCORE_BASE_URL", "OPENAI_BASE_URL"];
        let is_default_meant = self.args.server.base_url.is_some()
            || self.sources.variable(&for_default).is_some()
            || self.sources.setting(|file| file.base_url.clone()).is_some()
            || self.sources.setting(|file| file.api_key.clone()).is_some();
        if is_default_meant {
            return Ok(None);
        }
        // A provider without a base URL of its own needs more than a key.
        let found = ProviderType::all().filter(|provider| provider.base_url().is_some() && !is_variant(provider));
        let found: Vec<(ProviderType, &str)> = found
            .filter_map(|provider| {
                let variable = provider.key_variable()?;
                self.sources.variable(&[variable]).map(|_| (provider, variable))
            })
            .collect();
        match found.as_slice() {
            [] => self.of_stored_key(),
            [(provider, variable)] => Ok(Some(Chosen {
                value: provider.clone(),
                origin: Origin::Key((*variable).to_owned()),
            })),
            several => Err(several_keys("set", several)),
        }
    }

    /// Returns the provider whose API key is stored, if there is only one, and none for the default provider.
    fn of_stored_key(&self) -> Result<Option<Chosen<ProviderType>>, SettingsError> {
        let stored = &self.sources.stored;
        if stored.contains(OPENAI_KEY) {
            return Ok(None);
        }
        let found = ProviderType::all().filter(|provider| provider.base_url().is_some() && !is_variant(provider));
        let found: Vec<(ProviderType, &str)> = found
            .filter_map(|provider| {
                let variable = provider.key_variable()?;
                stored.contains(variable).then_some((provider, variable))
            })
            .collect();
        match found.as_slice() {
            [] => Ok(None),
            [(provider, variable)] => Ok(Some(Chosen {
                value: provider.clone(),
                origin: Origin::StoredKey((*variable).to_owned()),
            })),
            several => Err(several_keys("stored", several)),
        }
    }
}

/// Returns whether a provider of the same or a higher precedence is named than the model.
fn is_overridden(model: &Origin, provider: Option<&Chosen<ProviderType>>) -> bool {
    provider.is_some_and(|provider| provider.origin.rank() <= model.rank())
}

fn several_keys(state: &str, found: &[(ProviderType, &str)]) -> SettingsError {
    let variables: Vec<&str> = found.iter().map(|(_, variable)| *variable).collect();
    let providers: Vec<&str> = found.iter().map(|(provider, _)| provider.name()).collect();
    let first = providers.first().copied().unwrap_or_default();
    SettingsError::new(format!(
        "several API keys are {state} ({}), but no provider is selected\nPass --provider ({}), or write `provider = \
         \"{first}\"` in your agcore.toml.",
        variables.join(", "),
        providers.join(", ")
    ))
}
