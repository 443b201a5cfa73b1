//! [`Shown`]: the values of settings without secrets.

use super::{
    choices::Choices,
    origin::{Chosen, Origin},
    proxy::shown_proxy,
};
use crate::vendor::redacted_url;

/// A setting with its value, without secrets, and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shown {
    /// The name of the setting.
    pub name: &'static str,
    /// The value, or `None` if it is not set.
    pub value: Option<String>,
    /// The source.
    pub origin: Option<Origin>,
}

impl Shown {
    fn new(name: &'static str, value: impl Into<String>, origin: &Origin) -> Self {
        Self {
            name,
            value: Some(value.into()),
            origin: Some(origin.clone()),
        }
    }

    fn option<T>(name: &'static str, chosen: Option<&Chosen<T>>, value: impl FnOnce(&T) -> String) -> Self {
        Self {
            name,
            value: chosen.map(|chosen| value(&chosen.value)),
            origin: chosen.map(|chosen| chosen.origin.clone()),
        }
    }
}

impl Choices {
    /// Returns the settings that have one value each, and then the timeouts and retries.
    pub fn shown(&self) -> Vec<Shown> {
        let mut shown = vec![
            Shown::new("provider", self.provider.value.name(), &self.provider.origin),
            Shown::option("model", self.model.as_ref(), Clone::clone),
            base_url(self),
            Shown::new("proxy", shown_proxy(&self.proxy.value), &self.proxy.origin),
            Shown::option("api_key", self.key.as_ref(), |_| "set".to_owned()),
            Shown::new("system", self.system.value.as_str(), &self.system.origin),
            switch("history", &self.history),
            Shown::new("theme", self.theme.value.as_str(), &self.theme.origin),
            switch("trace_content", &self.trace_content),
            switch("trace_models", &self.trace_models),
            Shown::option("prices", self.prices.as_ref(), |prices| {
                count(prices.len(), "model", "models")
            }),
            Shown::new(
                "permissions",
                count(self.tools.permissions.len(), "entry", "entries"),
                &self.tools.permissions_origin,
            ),
            Shown::new("grants", self.tools.grants.to_string(), &self.tools.grants_origin),
        ];
        if let Some(serve) = self.serve.as_ref().filter(|serve| !serve.value.hooks.is_empty()) {
            let hooks = serve.value.hooks.iter();
            let hooks = hooks.map(|hook| format!("{} ({}, {})", hook.id.value, hook.verify.as_str(), hook.target()));
            shown.push(Shown::new(
                "serve.hooks",
                hooks.collect::<Vec<_>>().join("; "),
                &serve.origin,
            ));
        }
        shown.extend(self.limits.settings.iter().map(|limit| Shown {
            name: limit.name,
            value: Some(limit.value.clone()),
            origin: Some(limit.origin.clone()),
        }));
        shown
    }
}

fn switch(name: &'static str, chosen: &Chosen<bool>) -> Shown {
    Shown::new(name, if chosen.value { "on" } else { "off" }, &chosen.origin)
}

fn count(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn base_url(choices: &Choices) -> Shown {
    let name = "base_url";
    if choices.base_url.is_some() {
        return Shown::option(name, choices.base_url.as_ref(), |url| redacted_url(url));
    }
    let default = choices.provider.value.base_url();
    Shown {
        name,
        value: default.map(str::to_owned),
        origin: default.map(|_| Origin::Default),
    }
}
