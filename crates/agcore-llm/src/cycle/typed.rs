//! Turns whose answer is a value of a type: [`TypedOutcome`].

use agcore_chat::{Question, Text};
#[cfg(feature = "typed")]
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    LlmCycle,
    machine::Expectation,
    observer::Observer,
    options::{TurnInput, TurnOptions},
    turn::{TurnOutcome, TurnReport},
    turn_stream::TurnStream,
};
use crate::{
    error::{LlmError, LlmErrorKind},
    typed::{Form, Output, OutputMode},
};

/// The tool that carries answers, unless one of the user's tools has that name.
const ANSWERING_TOOL: &str = "final_answer";

/// A value that a model gave, and what it took.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Typed<T> {
    /// The value.
    pub value: T,
    /// What the turn came to; its response is the reply that holds the value.
    pub report: TurnReport,
    /// How the model was asked in the end.
    pub mode: OutputMode,
    /// How often it had to mend the value.
    pub repairs: u32,
}

/// How a typed turn ended that did not fail.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TypedOutcome<T> {
    /// The model gave a value.
    Finished(Box<Typed<T>>),
    /// The turn waits for these questions; it goes on with the same type.
    Suspended(Vec<Question>),
    /// A tool handed the conversation over.
    Diverted {
        /// The call that did.
        call: Text,
        /// What the layer above needs to know.
        data: Value,
    },
}

impl<T> TypedOutcome<T> {
    /// The value, when the turn is finished.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Finished(typed) => Some(&typed.value),
            Self::Suspended(_) | Self::Diverted { .. } => None,
        }
    }

    /// What the turn came to, when it is finished.
    pub fn report(&self) -> Option<&TurnReport> {
        match self {
            Self::Finished(typed) => Some(&typed.report),
            Self::Suspended(_) | Self::Diverted { .. } => None,
        }
    }

    /// The questions that wait, when it is suspended.
    pub fn questions(&self) -> &[Question] {
        match self {
            Self::Suspended(questions) => questions,
            Self::Finished(_) | Self::Diverted { .. } => &[],
        }
    }

    /// The value and what it took.
    ///
    /// # Errors
    /// `InvalidRequest` when the turn is not finished: it waits for a person, or was handed over.
    pub fn finished(self) -> Result<Typed<T>, LlmError> {
        let words = match self {
            Self::Finished(typed) => return Ok(*typed),
            Self::Suspended(_) => "the turn waits for an answer: go on with it by `run_typed`",
            Self::Diverted { .. } => "a tool handed the conversation over: there is no value",
        };
        Err(LlmError::new(LlmErrorKind::InvalidRequest, words))
    }
}

impl LlmCycle {
    /// A turn without tools whose answer is a value of a type.
    ///
    /// Cancel safe: dropping the future cancels the turn; the history stays valid.
    ///
    /// # Errors
    /// As [`run_typed`](Self::run_typed).
    #[cfg(feature = "typed")]
    pub async fn submit_typed<T>(&mut self, input: impl Into<agcore_chat::Message>) -> Result<Typed<T>, LlmError>
    where
        T: DeserializeOwned + JsonSchema,
    {
        let output = Output::<T>::new(crate::typed::TypedOptions::default());
        let outcome = self.run_typed(super::begin(input), output, TurnOptions::default());
        outcome.await?.finished()
    }

    /// A turn whose answer is a value of a type, or the rest of one; with tools where the options have some. All other typed
    /// forms are calls of this.
    ///
    /// Cancel safe: dropping the future cancels the turn; the history stays valid.
    ///
    /// # Errors
    /// As [`submit`](Self::submit). `Malformed` when no answer fits after all repairs: its source is an
    /// [`OutputError`](crate::typed::OutputError), its partial the last reply. `ContentFilter` when the model refuses: that
    /// is not repaired.
    pub async fn run_typed<T: DeserializeOwned>(
        &mut self,
        input: impl Into<TurnInput>,
        output: Output<T>,
        options: TurnOptions,
    ) -> Result<TypedOutcome<T>, LlmError> {
        self.go_typed(input.into(), output, options, None).await
    }

    /// The same turn, told of while it runs, with the value as far as it is written. Nothing happens before the stream is
    /// polled.
    pub fn run_typed_stream<T: DeserializeOwned + Send + 'static>(
        &mut self,
        input: impl Into<TurnInput>,
        output: Output<T>,
        options: TurnOptions,
    ) -> TurnStream<'_, Result<TypedOutcome<T>, LlmError>> {
        let input: TurnInput = input.into();
        TurnStream::of(|observer| async move { self.run_typed_observed(input, output, options, &observer).await })
    }

    /// The same turn, streamed, its events told to an observer that [`TurnStream::of`] made.
    ///
    /// # Errors
    /// As [`run_typed`](Self::run_typed).
    pub async fn run_typed_observed<T: DeserializeOwned>(
        &mut self,
        input: impl Into<TurnInput>,
        output: Output<T>,
        options: TurnOptions,
        observer: &Observer,
    ) -> Result<TypedOutcome<T>, LlmError> {
        self.go_typed(input.into(), output, options.with_stream(true), Some(observer))
            .await
    }

    async fn go_typed<T: DeserializeOwned>(
        &mut self,
        input: TurnInput,
        output: Output<T>,
        options: TurnOptions,
        observer: Option<&Observer>,
    ) -> Result<TypedOutcome<T>, LlmError> {
        let form = Form::of(output);
        let input = match input {
            TurnInput::Begin(begin) => begin.with_expectation(self.expectation(&form, &options)).into(),
            resume @ TurnInput::Resume(_) => resume,
        };
        let mut driver = self.driver(options, observer);
        driver.form = Some(form);
        let outcome = driver.run(input).await;
        let value = driver.output.take();
        let report = match outcome? {
            TurnOutcome::Finished(report) => *report,
            TurnOutcome::Suspended(questions) => return Ok(TypedOutcome::Suspended(questions)),
            TurnOutcome::Diverted { call, data } => return Ok(TypedOutcome::Diverted { call, data }),
        };
        let value = serde_json::from_value(value.unwrap_or_default()).map_err(|error| {
            // It was read into the type before, so the type reads one value in two ways.
            LlmError::new(
                LlmErrorKind::Malformed,
                "the value that was accepted cannot be read again",
            )
            .with_source(error)
        })?;
        Ok(TypedOutcome::Finished(Box::new(Typed {
            value,
            report,
            mode: self.machine.output_mode().unwrap_or(OutputMode::Prompt),
            repairs: self.machine.repairs(),
        })))
    }

    fn expectation(&self, form: &Form, options: &TurnOptions) -> Expectation {
        let mode = form
            .mode
            .unwrap_or_else(|| OutputMode::of(&self.provider.info().capabilities));
        let tools = options
            .tools
            .as_ref()
            .map(|tools| tools.definitions())
            .unwrap_or_default();
        let is_taken = |name: &str| tools.iter().any(|tool| tool.name() == name);
        let numbered = (2..).map(|number: u32| format!("{ANSWERING_TOOL}_{number}"));
        let mut names = std::iter::once(ANSWERING_TOOL.to_owned()).chain(numbered);
        let tool = names.find(|name| !is_taken(name)).unwrap_or_default();
        Expectation::new(mode, tool, form.max_repairs)
    }
}
