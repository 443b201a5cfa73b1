//! [`CycleTurn`]: a turn that is configured first, then awaited or streamed.

use std::{fmt, pin::Pin, sync::Arc};

use agcore_chat::{Actor, Answer, QuestionId, ToolExecutor};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "typed")]
use crate::typed::output::OutputType;
use crate::{
    cycle::LlmCycle,
    driver,
    error::{CycleError, CycleErrorKind},
    observer::Observer,
    options::{TurnInput, TurnOptions},
    outcome::{TurnOutcome, TurnReport},
    recorder::OutcomeRecorder,
    turn_stream::{TextStream, TurnStream},
    typed::{Form, Output, OutputMode},
    typed_outcome::{Typed, TypedOutcome},
};

/// A turn of an [`LlmCycle`], to be awaited or streamed.
///
/// Created by [`LlmCycle::turn`] and [`LlmCycle::resume`]. Nothing happens before it is awaited or its stream is
/// polled. Dropping the future or the stream cancels the turn; the history stays valid. A request that was already sent
/// is not undone: the call in flight counts towards usage and budgets with what had arrived, or else with an estimate.
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::LlmCycle;
/// use agcore_llm::{SystemClock, provider_fn};
/// use tokio_util::sync::CancellationToken;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Good day.")) });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
///
/// // Await the outcome …
/// let outcome = cycle.turn("Hello").await?;
/// assert_eq!(outcome.text(), "Good day.");
///
/// // … or configure the turn and stream its text.
/// let token = CancellationToken::new();
/// let mut text = cycle.turn("Hello again").with_token(token).text_stream();
/// assert_eq!(&*text.next().await.unwrap()?, "Good day.");
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[must_use = "a turn does nothing until it is awaited or streamed"]
pub struct CycleTurn<'a, S = FreeText> {
    cycle: &'a mut LlmCycle,
    input: TurnInput,
    /// Not created before they are needed, because they contain a token.
    options: Option<TurnOptions>,
    observer: Option<Observer>,
    answer: S,
}

impl LlmCycle {
    /// Starts a turn: await it for the outcome, or [stream](CycleTurn::stream) it.
    ///
    /// The input is a user message, or a whole list of messages that replaces the history. A turn that is still open is
    /// stopped first.
    pub fn turn(&mut self, input: impl Into<TurnInput>) -> CycleTurn<'_> {
        CycleTurn::new(self, input.into())
    }

    /// Continues a suspended turn with answers to some or all of its questions, or a turn whose process died.
    ///
    /// An answer that was given before is ignored if it is the same. If all of them were given in turns that have
    /// ended, the error is [`AlreadyAnswered`](crate::CycleErrorKind::AlreadyAnswered), so that a client that repeats
    /// its answers can recognize that they arrived. The last 32 answers are remembered.
    ///
    /// The turn fails with [`InvalidInput`](crate::CycleErrorKind::InvalidInput) if no turn is open, if an answer fits no open
    /// question, or if a question has another answer already. Then nothing changes: none of the answers count.
    ///
    /// ```
    /// use agcore_cycle::{CycleErrorKind, LlmCycle};
    /// # use agcore_chat::ChatResponse;
    /// # use agcore_llm::{SystemClock, provider_fn};
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Good day.")) });
    /// let mut cycle = LlmCycle::new(provider, SystemClock::new());
    ///
    /// // There is nothing to continue yet.
    /// let error = cycle.resume([]).await.unwrap_err();
    /// assert_eq!(error.kind(), CycleErrorKind::InvalidInput);
    /// # });
    /// ```
    pub fn resume(&mut self, answers: impl IntoIterator<Item = (QuestionId, Answer)>) -> CycleTurn<'_> {
        CycleTurn::new(self, TurnInput::Resume(answers.into_iter().collect()))
    }
}

impl<'a> CycleTurn<'a> {
    fn new(cycle: &'a mut LlmCycle, input: TurnInput) -> Self {
        Self {
            cycle,
            input,
            options: None,
            observer: None,
            answer: FreeText,
        }
    }

    /// Asks for an answer that is a value of type `T`, described to the model by its JSON Schema.
    ///
    /// ```
    /// use agcore_chat::ChatResponse;
    /// use agcore_cycle::{LlmCycle, typed::schemars};
    /// use agcore_llm::{SystemClock, provider_fn};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct City {
    ///     name: String,
    ///     population: u64,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let provider = provider_fn(|_| async {
    ///     Ok(ChatResponse::from_text(r#"{"name": "Paris", "population": 2100000}"#))
    /// });
    /// let mut cycle = LlmCycle::new(provider, SystemClock::new());
    ///
    /// let city = cycle.turn("What is the capital of France?").typed::<City>().await?.into_value()?;
    /// assert_eq!((city.name.as_str(), city.population), ("Paris", 2_100_000));
    /// # Ok::<(), agcore_cycle::CycleError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The turn fails with [`CycleErrorKind::InvalidOutput`] if no answer fits the type after all repairs. Its source is an
    /// [`OutputError`](crate::OutputError) and its partial reply is the last one. A refusal of the model is not repaired:
    /// it is a content filter error of the provider.
    #[cfg(feature = "typed")]
    pub fn typed<T: OutputType>(self) -> CycleTurn<'a, Output<T>> {
        self.typed_as(Output::new(crate::TypedOptions::default()))
    }

    /// Asks for an answer like [`typed`](Self::typed), with a schema or options of your own.
    pub fn typed_as<T: DeserializeOwned + Send>(self, output: Output<T>) -> CycleTurn<'a, Output<T>> {
        self.with_answer(output)
    }

    /// Sets what kind of answer the turn asks for; for code that is generic over it.
    pub fn with_answer<S: AnswerKind>(self, answer: S) -> CycleTurn<'a, S> {
        let Self {
            cycle,
            input,
            options,
            observer,
            answer: FreeText,
        } = self;
        CycleTurn {
            cycle,
            input,
            options,
            observer,
            answer,
        }
    }
}

impl<'a, S: AnswerKind> CycleTurn<'a, S> {
    /// Sets the tools that the model may use.
    pub fn with_tools(mut self, tools: Arc<dyn ToolExecutor>) -> Self {
        self.options_mut().tools = Some(tools);
        self
    }

    /// Sets the token that cancels the turn.
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.options_mut().token = token;
        self
    }

    /// Sets the id under which the turn appears in logs and spans.
    pub fn with_trace(mut self, trace: impl Into<Arc<str>>) -> Self {
        self.options_mut().trace = Some(trace.into());
        self
    }

    /// Sets the actor on whose behalf the model is called.
    pub fn with_actor(mut self, actor: impl Into<Arc<Actor>>) -> Self {
        self.options_mut().actor = Some(actor.into());
        self
    }

    /// Sets the recorder of the outcomes of the turn, so that it can continue in another process.
    pub fn with_recorder(mut self, recorder: Arc<dyn OutcomeRecorder>) -> Self {
        self.options_mut().recorder = Some(recorder);
        self
    }

    /// Sets all options at once.
    pub fn with_options(mut self, options: TurnOptions) -> Self {
        self.options = Some(options);
        self
    }

    fn options_mut(&mut self) -> &mut TurnOptions {
        self.options.get_or_insert_default()
    }

    /// Sends the events of the turn to an observer that [`TurnStream::new`] created.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Runs the turn. Awaiting the turn itself does the same with a boxed future.
    ///
    /// Cancel safe: dropping the future cancels the turn; the history stays valid.
    ///
    /// # Errors
    /// An error of the provider, a hook, a tool, or a limit. The history stays valid and keeps whole rounds.
    pub async fn run(self) -> Result<S::Outcome, CycleError> {
        let Self {
            cycle,
            input,
            options,
            observer,
            answer,
        } = self;
        let mut options = options.unwrap_or_default();
        options.stream |= observer.is_some();
        let form = answer.into_form();
        let input = match (&form, input) {
            (Some(form), TurnInput::Begin(begin)) => {
                let expectation = driver::expectation(form, cycle.provider(), options.tools.as_ref());
                begin.with_expectation(expectation).into()
            }
            (_, input) => input,
        };
        cycle.start_run();
        let mut driver = cycle.driver(&options, observer.as_ref(), form);
        let outcome = driver.run(input).await;
        let value = driver.take_value();
        drop(driver);
        cycle.end_run();
        S::outcome(outcome?, value, cycle)
    }

    /// Runs the turn as a stream of its events.
    pub fn stream(self) -> TurnStream<'a, Result<S::Outcome, CycleError>>
    where
        S: 'a,
    {
        TurnStream::new(|observer| self.observed(observer).run())
    }

    /// Runs the turn as a stream of the text that the model writes.
    pub fn text_stream(self) -> TextStream<'a, S::Outcome>
    where
        S: 'a,
    {
        TextStream::new(self.stream())
    }
}

impl<'a, S: AnswerKind + 'a> IntoFuture for CycleTurn<'a, S> {
    type Output = Result<S::Outcome, CycleError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<S> fmt::Debug for CycleTurn<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CycleTurn")
            .field("input", &self.input)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The kind of answer that a turn asks for: [`FreeText`], or a value described by an [`Output`].
///
/// This trait is sealed.
pub trait AnswerKind: sealed::Answer + Clone {
    /// The outcome of a turn with such an answer.
    type Outcome: Send;

    /// Returns the report of a finished turn.
    fn report(outcome: &Self::Outcome) -> Option<&TurnReport>;

    /// Returns whether the turn paused because of its [flag](crate::PauseFlag).
    fn is_paused(outcome: &Self::Outcome) -> bool;

    #[doc(hidden)]
    fn outcome(outcome: TurnOutcome, value: Option<Value>, cycle: &LlmCycle) -> Result<Self::Outcome, CycleError>;
}

mod sealed {
    use crate::typed::Form;

    pub trait Answer: Send {
        fn into_form(self) -> Option<Box<Form>>;
    }
}

/// An answer in words: the default kind of a turn.
#[derive(Debug, Clone, Copy)]
pub struct FreeText;

impl sealed::Answer for FreeText {
    fn into_form(self) -> Option<Box<Form>> {
        None
    }
}

impl AnswerKind for FreeText {
    type Outcome = TurnOutcome;

    fn report(outcome: &TurnOutcome) -> Option<&TurnReport> {
        outcome.report()
    }

    fn is_paused(outcome: &TurnOutcome) -> bool {
        matches!(outcome, TurnOutcome::Paused)
    }

    fn outcome(outcome: TurnOutcome, _: Option<Value>, _: &LlmCycle) -> Result<TurnOutcome, CycleError> {
        Ok(outcome)
    }
}

impl<T: DeserializeOwned> sealed::Answer for Output<T> {
    fn into_form(self) -> Option<Box<Form>> {
        Some(Box::new(Form::new(self)))
    }
}

impl<T: DeserializeOwned + Send> AnswerKind for Output<T> {
    type Outcome = TypedOutcome<T>;

    fn report(outcome: &TypedOutcome<T>) -> Option<&TurnReport> {
        outcome.report()
    }

    fn is_paused(outcome: &TypedOutcome<T>) -> bool {
        matches!(outcome, TypedOutcome::Paused)
    }

    fn outcome(outcome: TurnOutcome, value: Option<Value>, cycle: &LlmCycle) -> Result<TypedOutcome<T>, CycleError> {
        let report = match outcome {
            TurnOutcome::Finished(report) => *report,
            TurnOutcome::Suspended(questions) => return Ok(TypedOutcome::Suspended(questions)),
            TurnOutcome::Diverted { call, data } => return Ok(TypedOutcome::Diverted { call, data }),
            TurnOutcome::Paused => return Ok(TypedOutcome::Paused),
        };
        let value = serde_json::from_value(value.unwrap_or_default()).map_err(|error| {
            // It was deserialized before, so the type reads the same value in two ways.
            let message = "the accepted value cannot be deserialized a second time; check the type's `Deserialize`";
            CycleError::new(CycleErrorKind::InvalidOutput, message).with_source(error)
        })?;
        let machine = cycle.machine();
        Ok(TypedOutcome::Finished(Box::new(Typed {
            value,
            report,
            mode: machine.output_mode().unwrap_or(OutputMode::Prompt),
            repairs: machine.repairs(),
        })))
    }
}
