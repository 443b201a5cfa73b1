//! [`AgentTarget`]: evaluates agents.

mod seen;

use std::{
    fmt, fs,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use agcore_agent::{AgentError, AgentErrorKind, AgentSession, RuntimeBundle};
use agcore_cycle::{Output, TypedOptions};
use agcore_llm::{
    LlmProvider,
    cassette::{Cassette, ReplayProvider},
};
use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::seen::observe;
use crate::{
    error::EvalError,
    expect::Status,
    observation::Observation,
    script::Script,
    suite::{Case, Suite},
    target::Target,
};

type Build = dyn Fn(Arc<dyn LlmProvider>) -> Result<RuntimeBundle, AgentError> + Send + Sync;

/// Evaluates agents: each run of a case is a new session of a new bundle.
///
/// ```
/// use agcore_agent::agent;
/// use agcore_eval::{AgentTarget, Evaluation, Format, Suite};
/// use agcore_tools::typed;
/// use serde_json::Value;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let suite = r#"
/// name = "dice"
/// [[cases]]
/// name = "rolls"
/// input = "Roll the die."
/// replies = [{ calls = [{ name = "dice" }] }, { text = "A 4." }]
/// expect = { answer = { contains = ["4"] }, tools = { calls = [{ name = "dice" }], order = "exact" } }
/// "#;
/// let suite = Suite::parse("suite.toml", Format::Toml, suite)?;
/// let target = AgentTarget::new(|model| {
///     let dice = typed("dice", "Rolls a die.", |_: agcore_tools::NoArguments| async { Ok(4) });
///     agent(model).with_tool(dice).build()
/// });
/// let report = Evaluation::new(suite, target).run().await;
/// assert!(report.is_success());
/// # Ok::<(), agcore_eval::SuiteError>(())
/// # }).unwrap();
/// ```
pub struct AgentTarget {
    build: Box<Build>,
    model: Option<Arc<dyn LlmProvider>>,
    folder: PathBuf,
}

impl AgentTarget {
    /// Creates a target from a function that builds the agent for a model: a script, a cassette, or the
    /// [real one](Self::with_model).
    pub fn new(
        build: impl Fn(Arc<dyn LlmProvider>) -> Result<RuntimeBundle, AgentError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            build: Box::new(build),
            model: None,
            folder: PathBuf::from("."),
        }
    }

    /// Sets the model that answers in cases without replies and without a cassette.
    #[must_use]
    pub fn with_model(mut self, model: impl LlmProvider + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Sets the folder of the cassettes; the current directory by default.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Returns the model of a case, and its script.
    fn model(&self, case: &Case) -> Result<(Arc<dyn LlmProvider>, Option<Script>), EvalError> {
        if let Some(replies) = &case.replies {
            let script = Script::new(replies);
            return Ok((Arc::new(script.model()), Some(script)));
        }
        if let Some(name) = &case.cassette {
            return Ok((Arc::new(self.cassette(name)?), None));
        }
        let model = self.model.clone().ok_or_else(|| {
            EvalError::new("the case needs a model: pass one, or give the case `replies` or a `cassette`")
        })?;
        Ok((model, None))
    }

    fn cassette(&self, name: &str) -> Result<ReplayProvider, EvalError> {
        let path = Path::new(name);
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            let problem = format!(
                "the cassette {name:?} is outside of the folder of the suite; use a relative path without `..`"
            );
            return Err(EvalError::new(problem));
        }
        let unreadable = || EvalError::new(format!("the cassette {name:?} cannot be read"));
        let bytes = fs::read(self.folder.join(path)).map_err(|error| unreadable().with_source(error))?;
        let cassette = Cassette::parse(&bytes).and_then(Cassette::into_intact);
        Ok(ReplayProvider::new(
            cassette.map_err(|error| unreadable().with_source(error))?,
        ))
    }
}

#[async_trait]
impl Target for AgentTarget {
    async fn run(&self, suite: &Suite, case: &Case, token: &CancellationToken) -> Result<Observation, EvalError> {
        let (model, script) = self.model(case)?;
        let cannot = |error: AgentError| EvalError::new("the agent cannot be built").with_source(error);
        let bundle = (self.build)(model).map_err(cannot)?;
        let agent = suite.agent.clone().unwrap_or_else(|| bundle.agent().clone());
        let session = bundle.session(case.name.as_str(), agent);
        let mut seen = Observation::default();
        let turns = case.input.turns();
        for (index, input) in turns.iter().enumerate() {
            let schema = case.output.as_ref().filter(|_| index + 1 == turns.len());
            let is_going = turn(&session, input, schema, token, &mut seen).await?;
            if !is_going {
                break;
            }
        }
        observe(&session, &mut seen).await;
        seen.unused_replies = script.map_or(0, |script| script.unused());
        Ok(seen)
    }
}

/// Runs a turn. Returns whether another one can follow.
async fn turn(
    session: &AgentSession,
    input: &str,
    schema: Option<&Value>,
    token: &CancellationToken,
    seen: &mut Observation,
) -> Result<bool, EvalError> {
    let turn = session.turn(input).with_token(token.clone());
    let ended = match schema {
        None => turn.await.map(|outcome| {
            let questions = outcome.questions();
            seen.problem = questions.first().map(|question| question.prompt.clone());
            (outcome.text().into_owned(), !questions.is_empty())
        }),
        Some(schema) => {
            let output = Output::<Value>::with_schema(schema.clone(), TypedOptions::new().with_name("answer"));
            turn.typed_as(output).await.map(|outcome| {
                let questions = outcome.questions();
                seen.problem = questions.first().map(|question| question.prompt.clone());
                (
                    outcome.value().map(Value::to_string).unwrap_or_default(),
                    !questions.is_empty(),
                )
            })
        }
    };
    match ended {
        Ok((answer, is_suspended)) => {
            seen.answer = answer;
            seen.status = match is_suspended {
                true => Status::Suspended,
                false => Status::Finished,
            };
            Ok(!is_suspended)
        }
        Err(error) if error.kind() == AgentErrorKind::InvalidConfig => {
            Err(EvalError::new("the agent cannot run").with_source(error))
        }
        Err(error) if error.is_cancelled() => Err(EvalError::new("the evaluation was cancelled").with_source(error)),
        Err(error) => {
            seen.status = Status::Failed;
            seen.answer = String::new();
            seen.problem = Some(error.chain());
            Ok(false)
        }
    }
}

impl fmt::Debug for AgentTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTarget")
            .field("model", &self.model)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}
