//! [`LlmCycle`]: one conversation's engine, a thin driver around the pure [`Machine`].

mod driver;
pub mod machine;
mod observer;
mod options;
mod turn;
mod turn_stream;
mod typed;

pub use observer::Observer;
pub use options::{CycleSettings, TurnInput, TurnOptions};
pub use turn::{TurnOutcome, TurnReport};
pub use turn_stream::TurnStream;
pub use typed::{Typed, TypedOutcome};

use std::{fmt, sync::Arc};

use agcore_chat::{Answer, Clock, Message, QuestionId, ToolExecutor, UsageTracker, validate_messages};

use self::{
    driver::Driver,
    machine::{Begin, Cause, Changes, Machine, Misuse, Outcome},
};
use crate::{
    budget::Spent,
    compact::{CompactionReport, Gauge},
    error::LlmError,
    hooks::Hooks,
    provider::LlmProvider,
};

/// One conversation with a model: request, tools, request … until an answer, a question, a failure or a limit.
///
/// History is always valid, after success, error, cancellation and limits alike. Dropping a future or stream of a turn is
/// cancelling it; the next turn tidies up.
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_llm::{LlmCycle, SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|call| async move {
///     let heard = call.request.messages.len();
///     Ok(ChatResponse::from_text(format!("I have heard {heard} messages.")))
/// });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
/// cycle.submit("Hello").await.unwrap();
/// let outcome = cycle.submit("And now?").await.unwrap();
/// assert_eq!(outcome.text(), "I have heard 3 messages.");
/// # });
/// ```
#[derive(Clone)]
pub struct LlmCycle {
    provider: Arc<dyn LlmProvider>,
    clock: Arc<dyn Clock>,
    hooks: Hooks,
    settings: CycleSettings,
    machine: Machine,
    /// Whether hooks were told of a turn's start and not yet of its end.
    turn_end_owed: bool,
    /// Events of the newest turn that were told.
    seq: u64,
    gauge: Gauge,
}

impl LlmCycle {
    /// An engine without a history, with the default settings.
    pub fn new(provider: impl LlmProvider + 'static, clock: impl Clock + 'static) -> Self {
        Self::from_machine(provider, clock, Machine::new(CycleSettings::default().limits))
    }

    /// An engine that goes on with a saved state.
    pub fn from_machine(provider: impl LlmProvider + 'static, clock: impl Clock + 'static, machine: Machine) -> Self {
        let settings = CycleSettings::default().with_limits(machine.limits().clone());
        Self {
            provider: Arc::new(provider),
            clock: Arc::new(clock),
            hooks: Hooks::default(),
            settings,
            turn_end_owed: machine.is_open(),
            seq: machine.told(),
            gauge: Gauge::default(),
            machine,
        }
    }

    /// Sets the settings.
    pub fn with_settings(mut self, settings: CycleSettings) -> Self {
        self.machine.set_limits(settings.limits.clone());
        self.settings = settings;
        self
    }

    /// Sets the hooks.
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Begins with this history.
    ///
    /// # Errors
    /// [`Misuse`] when it may not be sent.
    pub fn with_messages(mut self, messages: Vec<Arc<Message>>) -> Result<Self, Misuse> {
        self.machine.set_history(messages)?;
        Ok(self)
    }

    /// Replaces the provider for the turns to come.
    pub fn set_provider(&mut self, provider: impl LlmProvider + 'static) {
        self.provider = Arc::new(provider);
    }

    /// The settings, to be changed for the turns to come.
    pub fn settings_mut(&mut self) -> &mut CycleSettings {
        &mut self.settings
    }

    /// The settings.
    pub fn settings(&self) -> &CycleSettings {
        &self.settings
    }

    /// The conversation so far.
    pub fn messages(&self) -> &[Arc<Message>] {
        self.machine.history()
    }

    /// Replaces the history; a turn that was left open is given up.
    ///
    /// # Errors
    /// [`Misuse`] when it may not be sent; the history stays as it was.
    pub fn set_messages(&mut self, messages: Vec<Arc<Message>>) -> Result<(), Misuse> {
        if !messages.is_empty() {
            validate_messages(&messages).map_err(Misuse::InvalidMessages)?;
        }
        // The first may stop a compaction only.
        while self.machine.is_open() {
            self.machine.absorb(Outcome::Stop(Cause::abandoned()))?;
        }
        self.machine.set_history(messages)
    }

    /// Appends to the history, between turns.
    ///
    /// # Errors
    /// [`Misuse`] while a turn is open, or when the result may not be sent; the history stays as it was.
    pub fn extend_messages(&mut self, messages: impl IntoIterator<Item = Arc<Message>>) -> Result<(), Misuse> {
        let history = self.machine.history().iter().cloned().chain(messages).collect();
        self.machine.set_history(history)
    }

    /// Forgets the conversation, between turns.
    ///
    /// # Errors
    /// [`Misuse::TurnOpen`] while a turn is open.
    pub fn clear_messages(&mut self) -> Result<(), Misuse> {
        self.machine.set_history(Vec::new())
    }

    /// What all turns spent of their budgets. Without budgets or prices nothing is counted.
    pub fn spent(&self) -> &Spent {
        self.machine.spent()
    }

    /// Tokens and calls of all turns.
    pub fn usage(&self) -> &UsageTracker {
        self.machine.usage()
    }

    /// Counts from zero again.
    pub fn reset_usage(&mut self) {
        self.machine.reset_usage();
    }

    /// The state, to be saved.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// A turn without tools.
    ///
    /// # Errors
    /// What the provider, a hook or a limit says. The history stays valid and keeps whole rounds.
    pub async fn submit(&mut self, input: impl Into<Message>) -> Result<TurnOutcome, LlmError> {
        self.run(begin(input), TurnOptions::default()).await
    }

    /// A turn that sends exactly these messages; with the reply they become the history.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); no messages are an error.
    pub async fn submit_messages(&mut self, messages: Vec<Arc<Message>>) -> Result<TurnOutcome, LlmError> {
        self.run(Begin::replacing(messages), TurnOptions::default()).await
    }

    /// A turn with tools.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn submit_with_tools(
        &mut self,
        input: impl Into<Message>,
        tools: Arc<dyn ToolExecutor>,
    ) -> Result<TurnOutcome, LlmError> {
        self.run(begin(input), TurnOptions::default().with_tools(tools)).await
    }

    /// A streamed turn without tools.
    pub fn submit_stream(&mut self, input: impl Into<Message>) -> TurnStream<'_> {
        self.run_stream(begin(input), TurnOptions::default())
    }

    /// A streamed turn with tools.
    pub fn submit_stream_with_tools(
        &mut self,
        input: impl Into<Message>,
        tools: Arc<dyn ToolExecutor>,
    ) -> TurnStream<'_> {
        self.run_stream(begin(input), TurnOptions::default().with_tools(tools))
    }

    /// Goes on with a suspended turn, or with one whose process died: answers some or all of its questions. An answer given
    /// before is passed over when it is the same.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); also when no turn is open, or an answer fits no question.
    pub async fn resume(
        &mut self,
        answers: impl IntoIterator<Item = (QuestionId, Answer)>,
        options: TurnOptions,
    ) -> Result<TurnOutcome, LlmError> {
        self.run(TurnInput::Resume(answers.into_iter().collect()), options)
            .await
    }

    /// A turn, or the rest of one; all other forms are calls of this.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn run(&mut self, input: impl Into<TurnInput>, options: TurnOptions) -> Result<TurnOutcome, LlmError> {
        let mut driver = self.driver(options, None);
        driver.run(input.into()).await
    }

    /// The same turn, told of while it runs. Nothing happens before the stream is polled.
    pub fn run_stream(&mut self, input: impl Into<TurnInput>, options: TurnOptions) -> TurnStream<'_> {
        let input: TurnInput = input.into();
        TurnStream::of(|observer| async move { self.run_observed(input, options, &observer).await })
    }

    /// The same turn, streamed, its events told to an observer that [`TurnStream::of`] made.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn run_observed(
        &mut self,
        input: impl Into<TurnInput>,
        options: TurnOptions,
        observer: &Observer,
    ) -> Result<TurnOutcome, LlmError> {
        let mut driver = self.driver(options.with_stream(true), Some(observer));
        driver.run(input.into()).await
    }

    /// Makes the conversation as short as it gets, now: a model sums up its older part; where it cannot, old tool results are
    /// taken out. The options' tools count for the estimate, its token cancels. Nothing changes when there is nothing to do.
    ///
    /// Cancel safe: dropping the future leaves the conversation as it is.
    ///
    /// # Errors
    /// When it was cancelled, or a turn waits for room of its own. A summary that fails is no error but in the report.
    pub async fn compact(&mut self, options: TurnOptions) -> Result<CompactionReport, LlmError> {
        self.driver(options, None).compact().await
    }

    fn driver<'a>(&'a mut self, options: TurnOptions, observer: Option<&'a Observer>) -> Driver<'a> {
        self.machine.set_limits(self.settings.limits.clone());
        Driver {
            provider: &*self.provider,
            clock: &*self.clock,
            hooks: &self.hooks,
            settings: &self.settings,
            machine: &mut self.machine,
            turn_end_owed: &mut self.turn_end_owed,
            options,
            observer,
            seq: &mut self.seq,
            gauge: &mut self.gauge,
            counted_until: self.clock.monotonic(),
            compacted: false,
            too_long: None,
            report: CompactionReport::default(),
            response: None,
            error: None,
            changes: Changes::default(),
            form: None,
            output: None,
        }
    }
}

impl fmt::Debug for LlmCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmCycle")
            .field("provider", &self.provider)
            .field("settings", &self.settings)
            .field("messages", &self.machine.history().len())
            .finish_non_exhaustive()
    }
}

fn begin(input: impl Into<Message>) -> Begin {
    let message: Message = input.into();
    Begin::new([message])
}
