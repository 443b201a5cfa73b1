//! Runs of cases: scripted, recorded and real models, typed answers, failures, and many cases at once.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore_agent::{AgentConfig, agent};
use agcore_chat::{ChatResponse, Money, PriceFn};
use agcore_cycle::{Budgets, machine::Limits};
use agcore_eval::{AgentTarget, Case, EvalError, Evaluation, Format, Observation, Report, Suite, Target};
use agcore_llm::{
    SystemClock,
    cassette::{CassetteWriter, RecordingProvider},
    provider_fn,
};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

fn suite(cases: &str) -> Suite {
    Suite::parse("s", Format::Yaml, &format!("name: s\ncases:\n{cases}")).unwrap()
}

/// Returns a target with a tool, and one that needs an approval.
fn target() -> AgentTarget {
    AgentTarget::new(|model| {
        agent(model)
            .with_tool(typed("say", "Says it.", |_: NoArguments| async { Ok("said") }))
            .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
            .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
            .with_approver(SuspendingApprover)
            .with_config(AgentConfig::new().with_limits(Limits::new().with_max_tool_turns(3)))
            .build()
    })
}

/// Runs a case, and returns what was wrong with it.
async fn problems(case: &str, target: AgentTarget) -> Vec<String> {
    let report = Evaluation::new(suite(case), target).run().await;
    let problems = report.results[0].problems();
    problems.map(|(name, problem)| format!("{name}: {problem}")).collect()
}

#[tokio::test]
async fn a_script_with_tools_and_several_turns() {
    let case = "
- name: a
  input: [Say it., Again.]
  replies: [{calls: [{name: say}]}, {text: Said., tokens: [10, 2]}, {text: Again., tokens: [20, 3]}]
  expect: {answer: {equals: Again.}, tools: {calls: [{name: say}], order: exact}, max_steps: 3}";
    assert_eq!(problems(case, target()).await, Vec::<String>::new());
    let case = "- {name: a, input: Hello, replies: [{text: Hi.}, {text: Ho.}]}";
    assert_eq!(
        problems(case, target()).await,
        ["replies: 1 replies of the script were not used"]
    );
    let case = "- {name: a, input: Hello, replies: []}";
    let wrong = problems(case, target()).await;
    assert!(
        wrong[0].contains("the case has no reply left for this call of the model"),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn turns_that_fail_or_wait_are_observed() {
    let case = "- {name: a, input: Pay., replies: [{calls: [{name: pay}]}], expect: {status: suspended}}";
    assert_eq!(problems(case, target()).await, Vec::<String>::new());
    let case = "- {name: a, input: Fail., replies: [{error: no}], expect: {status: failed, answer: {equals: ''}}}";
    assert_eq!(problems(case, target()).await, Vec::<String>::new());
    let case = "- {name: a, input: Fail., replies: [{error: out of order}]}";
    let wrong = problems(case, target()).await;
    assert!(
        wrong[0].starts_with("status: expected a turn that is finished, but it is failed: "),
        "{wrong:?}"
    );
    assert!(wrong[0].contains("out of order"), "{wrong:?}");
}

#[tokio::test]
async fn typed_answers_are_values() {
    let case = r#"
- name: a
  input: The capital of France?
  output: {type: object, properties: {city: {type: string}}, required: [city]}
  replies: [{text: 'It is {"city": "Paris"}'}]
  expect: {json: [{pointer: /city, equals: Paris}]}"#;
    assert_eq!(problems(case, target()).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_cassette_answers() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Arc::new(CassetteWriter::new(Vec::new()));
    let model = provider_fn(|_| async { Ok(ChatResponse::from_text("Paris.")) });
    let recorder = RecordingProvider::new(model, Arc::clone(&writer), Arc::new(SystemClock::new()));
    agent(recorder)
        .session()
        .unwrap()
        .turn("The capital of France?")
        .await
        .unwrap();
    fs::write(
        folder.path().join("france.jsonl"),
        writer.with_inner(|bytes| bytes.clone()),
    )
    .unwrap();
    let target = || AgentTarget::new(|model| agent(model).build()).with_folder(folder.path());

    let case = "- {name: a, input: The capital of France?, cassette: france.jsonl, expect: {answer: {equals: Paris.}}}";
    assert_eq!(problems(case, target()).await, Vec::<String>::new());
    let case = "- {name: a, input: The capital of Spain?, cassette: france.jsonl}";
    let wrong = problems(case, target()).await;
    assert!(wrong[0].contains("The capital of Spain?"), "{wrong:?}");
    let error = |name: &str| format!("- {{name: a, input: x, cassette: {name:?}}}");
    let wrong = problems(&error("none.jsonl"), target()).await;
    assert!(
        wrong[0].starts_with("error: the cassette \"none.jsonl\" cannot be read: "),
        "{wrong:?}"
    );
    for outside in ["../france.jsonl", "/etc/passwd"] {
        let wrong = problems(&error(outside), target()).await;
        assert!(wrong[0].contains("is outside of the folder of the suite"), "{wrong:?}");
    }
}

#[tokio::test]
async fn a_real_model_answers_and_has_a_cost() {
    let case = "- {name: a, input: Hello, expect: {answer: {equals: Hi.}, max_cost: 0.01 USD}}";
    let wrong = problems(case, target()).await;
    assert_eq!(
        wrong,
        ["error: the case needs a model: pass one, or give the case `replies` or a `cassette`"]
    );

    let model = || {
        provider_fn(|_| async {
            let mut response = ChatResponse::from_text("Hi.");
            response.usage = Some(agcore_chat::Usage::new(1_000, 10));
            Ok(response)
        })
    };
    let priced = |micros: i64| {
        AgentTarget::new(move |model| {
            let price: PriceFn = Arc::new(move |_| Some(Money::from_micros(micros, "USD").into()));
            agent(model)
                .with_config(AgentConfig::new().with_budgets(Budgets::new().with_price(price)))
                .build()
        })
        .with_model(model())
    };
    assert_eq!(problems(case, priced(10_000)).await, Vec::<String>::new());
    assert_eq!(
        problems(case, priced(10_001)).await,
        ["max_cost: it cost 0.010001 USD; at most 0.010000 USD are expected"]
    );
}

#[tokio::test]
async fn an_agent_that_cannot_run_is_an_error() {
    let text = "name: s\nagent: {name: a, tools: [sing]}\ncases:\n- {name: a, input: x, replies: [{text: y}]}";
    let suite = Suite::parse("s", Format::Yaml, text).unwrap();
    let report = Evaluation::new(suite, target()).run().await;
    let error = report.results[0].error.as_deref().unwrap();
    assert!(error.starts_with("the agent cannot run: "), "{error}");
    assert!(error.contains("`sing`"), "{error}");
}

/// Counts the cases that run side by side.
struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
    barrier: Barrier,
}

#[async_trait::async_trait]
impl Target for Counting {
    async fn run(&self, _: &Suite, case: &Case, _: &CancellationToken) -> Result<Observation, EvalError> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        self.barrier.wait().await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        Ok(Observation::new(case.name.as_str()))
    }
}

fn many() -> Suite {
    let cases: Vec<String> = (0..8)
        .map(|number| format!("- {{name: c{number}, input: x, repeat: 3}}"))
        .collect();
    suite(&cases.join("\n"))
}

#[tokio::test]
async fn cases_run_side_by_side_up_to_the_limit() {
    let counting = Arc::new(Counting {
        now: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
        barrier: Barrier::new(6),
    });
    let mut done = 0;
    let evaluation = Evaluation::new(many(), Arc::clone(&counting)).with_parallel(6);
    let report: Report = evaluation.run_with(|_| done += 1).await;
    assert_eq!((done, report.results.len()), (24, 24));
    assert_eq!(counting.most.load(Ordering::SeqCst), 6);
    // Whatever the order in which they end, the report has that of the file.
    let titles: Vec<String> = report
        .results
        .iter()
        .take(4)
        .map(agcore_eval::CaseResult::title)
        .collect();
    assert_eq!(titles, ["c0", "c0 (2)", "c0 (3)", "c1"]);
    assert!(report.is_success());
}

#[tokio::test]
async fn a_cancelled_evaluation_ends_at_once() {
    let token = CancellationToken::new();
    let cancel = token.clone();
    let target = AgentTarget::new(|model| agent(model).build()).with_model(provider_fn(move |_| {
        cancel.cancel();
        std::future::pending()
    }));
    let evaluation = Evaluation::new(many(), target).with_parallel(1).with_token(token);
    let report = evaluation.run().await;
    assert_eq!((report.results.len(), report.passed()), (24, 0));
    let cancelled = |result: &agcore_eval::CaseResult| {
        result
            .error
            .as_deref()
            .unwrap()
            .starts_with("the evaluation was cancelled")
    };
    assert!(report.results.iter().all(cancelled));
}
