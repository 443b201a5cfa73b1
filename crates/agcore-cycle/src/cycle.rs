//! [`LlmCycle`]: the agent loop of one conversation.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use agcore_chat::{Clock, Message, ModelCall, UsageTracker, validate_messages};
use agcore_llm::LlmProvider;

use crate::{
    budget::Spent,
    compact::{CompactionReport, Gauge},
    driver::{Driver, DriverContext},
    error::CycleError,
    hooks::Hooks,
    machine::{Cause, Machine, MachineError, Outcome, Step},
    observer::Observer,
    options::{CycleSettings, TurnOptions},
    recorder::{OutcomeRecorder, Unrecorded},
    typed::Form,
    unfinished_call::UnfinishedCall,
};

/// One conversation with a model: requests and tool rounds until an answer, a question, a failure or a limit.
///
/// The history is always valid: after success, errors, cancellation and limits alike. Dropping the future or stream of
/// a turn cancels it; the next turn cleans up. Hooks are notified of its end only then, because dropping cannot wait
/// for them. A call that was already sent still costs money: [`usage`](Self::usage) and [`spent`](Self::spent) count a
/// dropped call at once.
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::LlmCycle;
/// use agcore_llm::{SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|call| async move {
///     let count = call.request.messages.len();
///     Ok(ChatResponse::from_text(format!("I have read {count} messages.")))
/// });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
/// cycle.turn("Hello").await?;
/// let outcome = cycle.turn("And now?").await?;
/// assert_eq!(outcome.text(), "I have read 3 messages.");
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct LlmCycle {
    provider: Arc<dyn LlmProvider>,
    clock: Arc<dyn Clock>,
    hooks: Hooks,
    settings: Arc<CycleSettings>,
    machine: Machine,
    /// Whether the hooks saw the start of a turn but not yet its end.
    turn_end_pending: bool,
    /// The number of events of the newest turn that were sent.
    seq: u64,
    gauge: Gauge,
    /// The outcomes that the recorder must keep before the machine absorbs them.
    unrecorded: Unrecorded,
    /// Whether the newest turn was interrupted: dropped, or stopped by a store that failed.
    is_interrupted: bool,
    /// The history after an interrupted turn is abandoned, once it was requested.
    kept: OnceLock<Vec<Arc<Message>>>,
    /// The call that an earlier process may have made, until it is counted.
    unfinished: Option<UnfinishedCall>,
}

impl LlmCycle {
    /// Creates a loop with an empty history and the default settings.
    pub fn new(provider: impl LlmProvider + 'static, clock: impl Clock + 'static) -> Self {
        Self::from_machine(provider, clock, Machine::new(CycleSettings::default().limits))
    }

    /// Creates a loop that continues from a saved state.
    pub fn from_machine(provider: impl LlmProvider + 'static, clock: impl Clock + 'static, machine: Machine) -> Self {
        let settings = CycleSettings::default().with_limits(machine.limits().clone());
        Self::from_shared(Arc::new(provider), Arc::new(clock), Arc::new(settings), machine)
    }

    /// Creates a loop that continues from a saved state, from parts that it shares with others. Its turns have the limits of
    /// these settings.
    pub fn from_shared(
        provider: Arc<dyn LlmProvider>,
        clock: Arc<dyn Clock>,
        settings: Arc<CycleSettings>,
        mut machine: Machine,
    ) -> Self {
        machine.set_limits(settings.limits.clone());
        Self {
            provider,
            clock,
            hooks: Hooks::default(),
            settings,
            turn_end_pending: machine.is_open(),
            seq: machine.events_sent(),
            gauge: Gauge::default(),
            unrecorded: Unrecorded::default(),
            is_interrupted: is_interrupted(&machine),
            kept: OnceLock::new(),
            unfinished: None,
            machine,
        }
    }

    /// Sets the settings.
    #[must_use]
    pub fn with_settings(mut self, settings: impl Into<Arc<CycleSettings>>) -> Self {
        self.settings = settings.into();
        self.machine.set_limits(self.settings.limits.clone());
        self
    }

    /// Replaces the settings for later turns. Many loops can share them.
    pub fn set_settings(&mut self, settings: impl Into<Arc<CycleSettings>>) {
        self.settings = settings.into();
    }

    /// Sets the hooks.
    #[must_use]
    #[inline]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets the history to start from.
    ///
    /// # Errors
    /// [`MachineError::InvalidMessages`] if the messages cannot be sent.
    pub fn with_messages(mut self, messages: Vec<Arc<Message>>) -> Result<Self, MachineError> {
        self.machine.set_history(messages)?;
        Ok(self)
    }

    /// Replaces the provider for later turns.
    pub fn set_provider(&mut self, provider: impl LlmProvider + 'static) {
        self.provider = Arc::new(provider);
    }

    /// Returns the settings, to be changed for later turns. Copies them if they are shared.
    pub fn settings_mut(&mut self) -> &mut CycleSettings {
        Arc::make_mut(&mut self.settings)
    }

    /// Returns the settings.
    pub fn settings(&self) -> &CycleSettings {
        &self.settings
    }

    /// Counts the call of the model that the state waits for, if it waits for one, as a call whose usage is unknown: the process
    /// that saved the state may have ended during it, and then it is paid. This takes effect when the turn is resumed or abandoned.
    /// Not meant for a turn that was [paused](crate::TurnOutcome::Paused).
    ///
    /// A `recorder` that [wants each call](OutcomeRecorder::records_calls) receives it as
    /// [`Outcome::Called`], by the route that it would take first.
    pub fn count_unfinished_call(&mut self, recorder: &dyn OutcomeRecorder) {
        self.unfinished = UnfinishedCall::of(&self.machine, recorder.records_calls());
    }

    /// Has the call of an earlier process recorded next.
    fn settle_unfinished_call(&mut self) {
        if let Some(call) = self.unfinished.take() {
            let now = self.clock.now();
            let outcomes = call.outcomes(&self.machine, &*self.provider, &self.settings, now);
            outcomes
                .into_iter()
                .for_each(|outcome| self.unrecorded.absorb_later(outcome));
        }
    }

    /// Returns the conversation so far.
    ///
    /// The round of a suspended turn enters it when its questions are answered. If the future or stream of a turn was dropped,
    /// this is what the next turn will start from: calls that were running count as interrupted. Resuming the turn instead
    /// continues them.
    pub fn messages(&self) -> &[Arc<Message>] {
        if self.is_interrupted {
            self.kept.get_or_init(|| self.kept_messages())
        } else {
            self.machine.history()
        }
    }

    /// Returns the history after the interrupted turn is abandoned.
    fn kept_messages(&self) -> Vec<Arc<Message>> {
        let mut machine = self.machine.clone();
        for outcome in self
            .unrecorded
            .outcomes
            .iter()
            .chain([&Outcome::Stop(Cause::abandoned())])
        {
            // An outcome that does not fit changes nothing.
            drop(machine.absorb(outcome.clone()));
        }
        machine.history().to_vec()
    }

    /// Until the run ends, the turn counts as interrupted: the future may be dropped at any time.
    pub(crate) fn start_run(&mut self) {
        self.settle_unfinished_call();
        self.is_interrupted = true;
        self.kept = OnceLock::new();
    }

    pub(crate) fn end_run(&mut self) {
        self.is_interrupted = is_interrupted(&self.machine);
        self.kept = OnceLock::new();
    }

    /// Replaces the history. A turn that is still open is abandoned.
    ///
    /// # Errors
    /// [`MachineError::InvalidMessages`] if the messages cannot be sent; the history stays as it was.
    pub fn set_messages(&mut self, messages: Vec<Arc<Message>>) -> Result<(), MachineError> {
        if !messages.is_empty() {
            validate_messages(&messages).map_err(MachineError::InvalidMessages)?;
        }
        self.abandon_turn()?;
        self.replace_history(messages)
    }

    /// Ends an open turn, such as a suspended one, without running its calls. The history records that they did not
    /// run. Returns whether a turn was open.
    ///
    /// A new turn does the same before it starts. An [`OutcomeRecorder`] records this with the next turn.
    ///
    /// # Errors
    /// None in practice: the machine can always stop an open turn.
    pub fn abandon_turn(&mut self) -> Result<bool, MachineError> {
        let was_open = self.machine.is_open();
        self.unrecorded.is_active |= self.settings.recorder.is_some();
        self.settle_unfinished_call();
        self.unrecorded.absorb_now(&mut self.machine);
        // The first stop may end only a compaction.
        while self.machine.is_open() {
            let stop = Outcome::Stop(Cause::abandoned());
            self.machine.absorb(stop.clone())?;
            self.unrecorded.record_later(stop);
        }
        self.end_run();
        Ok(was_open)
    }

    /// Appends to the history between turns.
    ///
    /// # Errors
    /// [`MachineError`] while a turn is open or if the result cannot be sent; the history stays as it was.
    pub fn extend_messages(&mut self, messages: impl IntoIterator<Item = Arc<Message>>) -> Result<(), MachineError> {
        let history = self.machine.history().iter().cloned().chain(messages).collect();
        self.replace_history(history)
    }

    fn replace_history(&mut self, history: Vec<Arc<Message>>) -> Result<(), MachineError> {
        self.unrecorded.absorb_now(&mut self.machine);
        self.machine.set_history(history)?;
        self.unrecorded.clear();
        self.end_run();
        Ok(())
    }

    /// Clears the history between turns.
    ///
    /// # Errors
    /// [`MachineError::TurnOpen`] while a turn is open.
    pub fn clear_messages(&mut self) -> Result<(), MachineError> {
        self.replace_history(Vec::new())
    }

    /// Returns what all turns spent of their budgets, including calls that were dropped or cancelled after they had been
    /// sent. Nothing is counted without budgets or prices.
    pub fn spent(&self) -> &Spent {
        self.machine.spent()
    }

    /// Returns the tokens and calls of all turns. A call that was dropped or cancelled after it had been sent counts as a
    /// call; its tokens are counted if the server had reported them.
    pub fn usage(&self) -> &UsageTracker {
        self.machine.usage()
    }

    /// Resets the counters to zero.
    pub fn reset_usage(&mut self) {
        self.machine.reset_usage();
        self.unrecorded.forget_uses();
    }

    /// Returns the state, to be saved.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the state as the base of the records that follow, for recorders that are passed with the options of each turn. From
    /// now on, changes between turns are kept for the recorder of the next turn, as with a recorder in the
    /// [settings](CycleSettings::recorder).
    ///
    /// Save this state before the next turn starts if the store does not have it yet, together with the
    /// [calls](Self::unrecorded_calls) that no recorder has received.
    pub fn start_recording(&mut self) -> &Machine {
        self.unrecorded.is_active = true;
        self.unrecorded.forget_absorbed();
        &self.machine
    }

    /// Returns the calls of the model that the next turn records, because no turn could: they were dropped, or an earlier process
    /// has made them. Only those that a recorder [wants](OutcomeRecorder::records_calls) are known.
    pub fn unrecorded_calls(&self) -> Vec<ModelCall> {
        self.unrecorded.calls()
    }

    /// Compacts the conversation as much as possible now: a model summarizes its older part; where it cannot, old tool
    /// results are removed. The tools among the options count for the estimate, and their token cancels. Does nothing if
    /// there is nothing to compact.
    ///
    /// Cancel safe: dropping the future leaves the conversation as it is.
    ///
    /// # Errors
    /// If it was cancelled, or if an open turn waits for a compaction of its own. A summary that fails is not an error; the
    /// report shows it.
    pub async fn compact(&mut self, options: TurnOptions) -> Result<CompactionReport, CycleError> {
        self.driver(&options, None, None).compact().await
    }

    pub(crate) fn provider(&self) -> &dyn LlmProvider {
        &*self.provider
    }

    pub(crate) fn driver<'a>(
        &'a mut self,
        options: &'a TurnOptions,
        observer: Option<&'a Observer>,
        form: Option<Box<Form>>,
    ) -> Driver<'a> {
        let context = DriverContext {
            provider: &*self.provider,
            clock: &self.clock,
            hooks: &self.hooks,
            settings: &self.settings,
            machine: &mut self.machine,
            turn_end_pending: &mut self.turn_end_pending,
            seq: &mut self.seq,
            gauge: &mut self.gauge,
            unrecorded: &mut self.unrecorded,
        };
        Driver::new(context, options, observer, form)
    }
}

/// Returns whether a turn is open that does not wait for a person.
fn is_interrupted(machine: &Machine) -> bool {
    machine.is_open() && !matches!(machine.next(), Step::Wait(_))
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
