//! [`Evaluation`]: runs the cases of a suite.

use std::{fmt, sync::Arc};

use agcore_chat::{Clock, text::error_chain};
use agcore_llm::SystemClock;
use futures_util::{FutureExt, StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::{
    check::check,
    error::EvalError,
    judge::Judge,
    observation::Observation,
    report::{CaseResult, Report},
    suite::{Case, Suite},
    target::Target,
};

/// The number of cases that run side by side, unless set otherwise.
const PARALLEL: usize = 4;

/// Runs the cases of a suite.
///
/// ```
/// use agcore_agent::agent;
/// use agcore_eval::{AgentTarget, Evaluation, Format, Suite};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let text = "name: math\ncases:\n- {name: adds, input: 17 + 25?, replies: [{text: '43'}], expect: {answer: {equals: '42'}}}";
/// let suite = Suite::parse("suite.yaml", Format::Yaml, text)?;
/// let report = Evaluation::new(suite, AgentTarget::new(|model| agent(model).build())).run().await;
/// let problems: Vec<_> = report.results[0].problems().collect();
/// assert_eq!(problems, [("answer.equals", r#"expected "42", got "43""#)]);
/// # Ok::<(), agcore_eval::SuiteError>(())
/// # }).unwrap();
/// ```
pub struct Evaluation {
    suite: Suite,
    target: Arc<dyn Target>,
    judge: Option<Judge>,
    parallel: usize,
    clock: Arc<dyn Clock>,
    token: CancellationToken,
}

impl Evaluation {
    /// Creates an evaluation of a target, without a judge and with four cases side by side.
    pub fn new(suite: Suite, target: impl Target + 'static) -> Self {
        Self {
            suite,
            target: Arc::new(target),
            judge: None,
            parallel: PARALLEL,
            clock: Arc::new(SystemClock::new()),
            token: CancellationToken::new(),
        }
    }

    /// Sets the judge of cases that need one.
    #[must_use]
    pub fn with_judge(mut self, judge: Judge) -> Self {
        self.judge = Some(judge);
        self
    }

    /// Sets how many cases run side by side, at least 1.
    #[must_use]
    pub fn with_parallel(mut self, cases: usize) -> Self {
        self.parallel = cases.max(1);
        self
    }

    /// Sets the clock that measures durations.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Cancels the evaluation when `token` is cancelled. Cases that have not ended are errors then.
    #[must_use]
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Returns the cases.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// Runs all cases.
    ///
    /// Cancel safe: dropping the future cancels the cases that run.
    pub async fn run(&self) -> Report {
        self.run_with(|_| {}).await
    }

    /// Runs all cases, and passes each result on as soon as it is known. The order of the report is that of the cases.
    ///
    /// Cancel safe: dropping the future cancels the cases that run.
    pub async fn run_with(&self, mut done: impl FnMut(&CaseResult) + Send) -> Report {
        // Indices instead of references: the future must be `Send` for every lifetime.
        let cases = self.suite.cases.iter().enumerate();
        let runs: Vec<(usize, u32)> = cases
            .flat_map(|(index, case)| (1..=case.repeat).map(move |run| (index, run)))
            .collect();
        let results = runs.into_iter().map(|(index, run)| self.result_of(index, run).boxed());
        let mut results = stream::iter(results).buffer_unordered(self.parallel);
        let mut finished = Vec::new();
        while let Some((index, result)) = results.next().await {
            done(&result);
            finished.push((index, result));
        }
        finished.sort_by_key(|(index, result)| (*index, result.run));
        let finished = finished.into_iter().map(|(_, result)| result);
        Report::new(self.suite.name.as_str(), finished)
    }

    /// Runs the case with an index.
    async fn result_of(&self, index: usize, run: u32) -> (usize, CaseResult) {
        let result = match self.suite.cases.get(index) {
            Some(case) => self.result(case, run).await,
            None => CaseResult::default(),
        };
        (index, result)
    }

    async fn result(&self, case: &Case, run: u32) -> CaseResult {
        let mut result = CaseResult {
            case: case.name.clone(),
            run,
            ..CaseResult::default()
        };
        if self.token.is_cancelled() {
            result.error = Some("the evaluation was cancelled".to_owned());
            return result;
        }
        let start = self.clock.monotonic();
        let seen = self.target.run(&self.suite, case, &self.token).await;
        let duration = self.clock.monotonic().saturating_sub(start);
        result.duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let failed = match seen {
            Ok(seen) => self.check(case, seen, &mut result).await.err(),
            Err(error) => Some(error),
        };
        result.error = failed.map(|error| error_chain(&error));
        result
    }

    async fn check(&self, case: &Case, seen: Observation, result: &mut CaseResult) -> Result<(), EvalError> {
        result.checks = check(&case.expect, &seen);
        result.tools = seen.calls.iter().map(|call| call.name.clone()).collect();
        (result.steps, result.tokens) = (seen.steps, seen.tokens);
        result.costs = seen.costs;
        result.answer = seen.answer;
        let Some(expect) = &case.expect.judge else {
            return Ok(());
        };
        let missing = || EvalError::new("the case needs a model that judges; pass one");
        let judge = self.judge.as_ref().ok_or_else(missing)?;
        let judging = judge.judge(case, expect, &result.answer);
        let judged = self.token.run_until_cancelled(judging).await;
        result
            .checks
            .push(judged.unwrap_or_else(|| Err(EvalError::new("the evaluation was cancelled")))?);
        Ok(())
    }
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation")
            .field("suite", &self.suite.name)
            .field("cases", &self.suite.cases.len())
            .field("parallel", &self.parallel)
            .finish_non_exhaustive()
    }
}
