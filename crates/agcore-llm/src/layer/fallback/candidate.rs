//! [`Candidate`]: a provider that a call may go to, and the [rungs](Ladder) that candidates stand on.

use std::{ops::Range, sync::Arc};

use agcore_chat::Text;

use crate::{
    error::{LlmError, LlmErrorKind},
    layer::switch::Target,
    provider::{LlmProvider, ProviderInfo},
};

/// A provider that a call may go to.
#[derive(Debug, Clone)]
pub struct Candidate {
    provider: Arc<dyn LlmProvider>,
    name: Option<Text>,
    model: Option<Arc<str>>,
    weight: Option<f64>,
}

impl Candidate {
    /// A provider that is asked for what the request says.
    pub fn new(provider: impl LlmProvider + 'static) -> Self {
        Self {
            provider: Arc::new(provider),
            name: None,
            model: None,
            weight: None,
        }
    }

    /// Sets what it is called in errors; its provider's name else.
    pub fn with_name(mut self, name: impl Into<Text>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the model that it is asked for, whatever the request says: another vendor does not know the first one's models.
    pub fn with_model(mut self, model: impl Into<Arc<str>>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets its share of the calls. Neighbours with a weight stand on one rung: for each call one of them is drawn, and
    /// when it fails another one of them. One of weight 0 gets no call at all.
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.weight = Some(weight);
        self
    }
}

/// Candidates in the order in which they are asked.
#[derive(Debug)]
pub(super) struct Ladder {
    pub(super) steps: Vec<Step>,
    /// Places of those that are drawn from together.
    pub(super) rungs: Vec<Range<usize>>,
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: Text,
    pub(super) target: Arc<Target>,
    pub(super) weight: f64,
}

impl Ladder {
    /// # Errors
    /// `InvalidRequest` when nobody could ever be asked, or a weight is none.
    pub(super) fn new(candidates: impl IntoIterator<Item = Candidate>) -> Result<Self, LlmError> {
        let (mut steps, mut rungs): (Vec<Step>, Vec<Range<usize>>) = Default::default();
        let mut open = false;
        for candidate in candidates {
            let at = steps.len();
            match rungs.last_mut().filter(|_| open && candidate.weight.is_some()) {
                Some(rung) => rung.end = at + 1,
                None => rungs.push(at..at + 1),
            }
            open = candidate.weight.is_some();
            steps.push(step(candidate)?);
        }
        match rungs
            .iter()
            .find(|rung| steps[(*rung).clone()].iter().all(|step| step.weight == 0.0))
        {
            _ if steps.is_empty() => Err(invalid("there is nobody to ask; give at least one provider".to_owned())),
            Some(rung) => {
                let name = &steps[rung.start].name;
                Err(invalid(format!(
                    "all weights around `{name}` are 0; raise one, or leave them out"
                )))
            }
            None => Ok(Self { steps, rungs }),
        }
    }

    /// What the first one that may be asked says of itself.
    pub(super) fn info(&self) -> ProviderInfo {
        let Some(Step { target, .. }) = self.steps.iter().find(|step| step.weight > 0.0) else {
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

fn step(candidate: Candidate) -> Result<Step, LlmError> {
    let name = candidate
        .name
        .unwrap_or_else(|| Text::from(Arc::clone(&candidate.provider.info().name)));
    let weight = candidate.weight.unwrap_or(1.0);
    if !(weight.is_finite() && weight >= 0.0) {
        return Err(invalid(format!(
            "the weight of `{name}` is {weight}; it must be 0 or more"
        )));
    }
    let target = Target {
        provider: candidate.provider,
        model: candidate.model,
        key: None,
    };
    Ok(Step {
        name,
        target: Arc::new(target),
        weight,
    })
}

fn invalid(message: String) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}
