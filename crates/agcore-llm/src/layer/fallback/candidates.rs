//! [`Candidate`]: a provider that a call may go to; and all [`Candidates`] in the order in which they are tried.

use std::{fmt, ops::Range, sync::Arc};

use agcore_chat::{ChatRequest, Text};

use crate::{
    layer::{
        adapt::{Adapt, RequestMap},
        switch::Target,
    },
    provider::{LlmProvider, ProviderInfo},
};
use agcore_wire::{LlmError, LlmErrorKind};

/// A provider that a call may go to.
#[derive(Clone)]
#[must_use]
pub struct Candidate {
    provider: Arc<dyn LlmProvider>,
    name: Option<Text>,
    model: Option<Arc<str>>,
    weight: Option<f64>,
    map: Option<RequestMap>,
    relaxed: bool,
}

impl Candidate {
    /// Creates a candidate that receives requests unchanged.
    pub fn new(provider: impl LlmProvider + 'static) -> Self {
        Self {
            provider: Arc::new(provider),
            name: None,
            model: None,
            weight: None,
            map: None,
            relaxed: false,
        }
    }

    /// Sets the name in errors. The default is the name of the provider.
    pub fn with_name(mut self, name: impl Into<Text>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the model, which overrides that of the request: another vendor does not know the models of the first one.
    pub fn with_model(mut self, model: impl Into<Arc<str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the share of the calls.
    ///
    /// Consecutive candidates with a weight form a group: for each call one of them is drawn at random, and if it fails,
    /// another one of them. A candidate of weight 0 receives no calls.
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.weight = Some(weight);
        self
    }

    /// Sets a function that changes the requests to this provider; see [`Adapt::with_map`].
    pub fn with_request_map(mut self, map: impl Fn(&mut ChatRequest) + Send + Sync + 'static) -> Self {
        self.map = Some(Arc::new(map));
        self
    }

    /// Sets whether parameters that only tune the reply are left out where this provider lacks them; see
    /// [`Adapt::with_relaxed`]. The default is `false`: a request with such a parameter goes to the next provider.
    pub fn with_adapted_requests(mut self, adapted: bool) -> Self {
        self.relaxed = adapted;
        self
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("provider", &self.provider)
            .field("name", &self.name)
            .field("model", &self.model)
            .field("weight", &self.weight)
            .finish_non_exhaustive()
    }
}

/// Candidates in the order in which they are tried.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) entries: Vec<Entry>,
    /// The indices of candidates that are drawn from together.
    pub(super) groups: Vec<Range<usize>>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Text,
    pub(super) target: Target,
    pub(super) weight: f64,
}

impl Candidates {
    /// # Errors
    /// Returns `InvalidRequest` if no candidate could ever be tried, or for an invalid weight.
    pub(super) fn new(candidates: impl IntoIterator<Item = Candidate>) -> Result<Self, LlmError> {
        let (mut entries, mut groups): (Vec<Entry>, Vec<Range<usize>>) = Default::default();
        let mut extends_group = false;
        for candidate in candidates {
            let at = entries.len();
            match groups
                .last_mut()
                .filter(|_| extends_group && candidate.weight.is_some())
            {
                Some(group) => group.end = at + 1,
                None => groups.push(at..at + 1),
            }
            extends_group = candidate.weight.is_some();
            entries.push(entry(candidate)?);
        }
        if entries.is_empty() {
            return Err(invalid("there are no providers; add at least one".to_owned()));
        }
        let has_no_weight = |group: &&Range<usize>| entries[(*group).clone()].iter().all(|entry| entry.weight == 0.0);
        if let Some(group) = groups.iter().find(has_no_weight) {
            let name = &entries[group.start].name;
            return Err(invalid(format!(
                "all weights of the group that starts with `{name}` are 0; raise one, or omit them"
            )));
        }
        Ok(Self { entries, groups })
    }

    /// Returns the description of the first candidate that can be tried.
    pub(super) fn info(&self) -> ProviderInfo {
        let Some(Entry { target, .. }) = self.entries.iter().find(|entry| entry.weight > 0.0) else {
            return ProviderInfo::unknown().clone();
        };
        let info = target.provider.info().clone();
        match &target.model {
            Some(model) => ProviderInfo {
                model: Arc::clone(model),
                ..info
            },
            None => info,
        }
    }
}

fn entry(candidate: Candidate) -> Result<Entry, LlmError> {
    let name = candidate
        .name
        .unwrap_or_else(|| Text::from(Arc::clone(&candidate.provider.info().name)));
    let weight = candidate.weight.unwrap_or(1.0);
    if !(weight.is_finite() && weight >= 0.0) {
        return Err(invalid(format!(
            "invalid weight {weight} of `{name}`: expected a finite number, 0 or more"
        )));
    }
    let provider: Arc<dyn LlmProvider> = match (candidate.map, candidate.relaxed) {
        (None, false) => candidate.provider,
        (map, relaxed) => Arc::new(
            Adapt::new(candidate.provider)
                .with_shared_map(map)
                .with_relaxed(relaxed),
        ),
    };
    let target = Target {
        provider,
        model: candidate.model,
        key: None,
    };
    Ok(Entry { name, target, weight })
}

fn invalid(message: String) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}
