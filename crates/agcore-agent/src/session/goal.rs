//! [`Goal`]: what a turn shall come to, an answer in words or a value of a type.

use agcore_llm::{LlmCycle, LlmError, Observer, Output, TurnInput, TurnOptions, TurnOutcome, TurnReport, TypedOutcome};
use serde::de::DeserializeOwned;

/// What a turn shall come to.
pub(super) trait Goal: Send {
    type Outcome;

    /// Runs the turn.
    fn run(
        self,
        cycle: &mut LlmCycle,
        input: TurnInput,
        options: TurnOptions,
        observer: Option<&Observer>,
    ) -> impl Future<Output = Result<Self::Outcome, LlmError>> + Send;

    /// What the turn came to, when it is finished.
    fn report(outcome: &Self::Outcome) -> Option<&TurnReport>;
}

/// An answer in words.
pub(super) struct Words;

impl Goal for Words {
    type Outcome = TurnOutcome;

    async fn run(
        self,
        cycle: &mut LlmCycle,
        input: TurnInput,
        options: TurnOptions,
        observer: Option<&Observer>,
    ) -> Result<TurnOutcome, LlmError> {
        match observer {
            Some(observer) => cycle.run_observed(input, options, observer).await,
            None => cycle.run(input, options).await,
        }
    }

    fn report(outcome: &TurnOutcome) -> Option<&TurnReport> {
        outcome.report()
    }
}

impl<T: DeserializeOwned> Goal for Output<T> {
    type Outcome = TypedOutcome<T>;

    async fn run(
        self,
        cycle: &mut LlmCycle,
        input: TurnInput,
        options: TurnOptions,
        observer: Option<&Observer>,
    ) -> Result<TypedOutcome<T>, LlmError> {
        match observer {
            Some(observer) => cycle.run_typed_observed(input, self, options, observer).await,
            None => cycle.run_typed(input, self, options).await,
        }
    }

    fn report(outcome: &TypedOutcome<T>) -> Option<&TurnReport> {
        outcome.report()
    }
}
