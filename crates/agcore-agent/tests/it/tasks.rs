//! Plans and tasks: parsing, order, parallel steps, failures, new plans, and plans that make no sense.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use agcore_agent::{
    AgentBuilder, AgentErrorKind, AgentSpec, JsonPlanParser, Plan, PlanError, PlanParser, RuntimeBundle, Step,
    StepQuestions, StepStatus, TaskAgent,
};
use agcore_chat::{
    AgentEvent, Answer, AssistantMessage, ChatResponse, EventKind, Question, ToolCall, TurnEvent, Usage,
};
use agcore_cycle::{Hook, HookContext, PlanStepEnd};
use agcore_llm::{LlmError, LlmProvider, provider_fn};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

fn bundle(model: impl LlmProvider + 'static) -> RuntimeBundle {
    AgentBuilder::new().with_provider(model).build().unwrap()
}

/// Returns a plan whose steps depend on these.
fn plan(dependencies: &[&[usize]]) -> Result<Plan, PlanError> {
    let steps = dependencies.iter().enumerate();
    let steps = steps.map(|(index, needed)| Step::new(index, format!("do {index}")).with_dependencies(needed.to_vec()));
    Plan::new("p", "goal", steps.collect())
}

/// Returns a model that answers a step with what `answer` returns for its description.
fn worker(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> impl LlmProvider {
    let answer = Arc::new(answer);
    provider_fn(move |call| {
        let answer = Arc::clone(&answer);
        async move {
            let text = call.request.messages.last().unwrap().text().into_owned();
            let step = text.lines().find_map(|line| line.strip_prefix("Your step: "));
            let mut response = ChatResponse::from_text(step.map_or_else(|| "the end".to_owned(), |step| answer(step)));
            response.usage = Some(Usage::new(10, 1));
            Ok(response)
        }
    })
}

fn statuses(plan: &Plan) -> Vec<StepStatus> {
    plan.steps().iter().map(Step::status).collect()
}

#[test]
fn plans_are_checked() {
    let check = |dependencies: &[&[usize]], expected: &str| {
        assert_eq!(plan(dependencies).unwrap_err().to_string(), expected);
    };
    check(&[], "the plan has no steps; a plan needs at least one");
    check(&[&[], &[2]], "step 1 depends on step 2, which does not exist");
    check(&[&[0]], "steps depend on each other in a circle: 0 → 0");
    check(
        &[&[], &[3], &[1], &[2, 0]],
        "steps depend on each other in a circle: 1 → 3 → 2 → 1",
    );
    let wrong = Plan::new("p", "g", vec![Step::new(1, "x")]).unwrap_err();
    assert_eq!(wrong, PlanError::Index { position: 0, index: 1 });
}

#[test]
fn a_long_chain_is_handled() {
    let steps = |last: Option<usize>| {
        let step = |index: usize| Step::new(index, "x").with_dependencies(index.checked_sub(1).or(last));
        (0..5000).map(step).collect::<Vec<_>>()
    };
    let mut plan = Plan::new("p", "g", steps(None)).unwrap();
    plan.start(0).unwrap();
    assert_eq!(plan.fail(0, "no").unwrap().len(), 4999);
    assert!(plan.is_finished());
    let circle = Plan::new("p", "g", steps(Some(4999))).unwrap_err();
    assert!(matches!(circle, PlanError::Cycle { steps } if steps.len() == 5001));
}

#[test]
fn a_status_changes_in_one_direction() {
    use StepStatus::{Completed, Failed, Pending, Running, Skipped};
    let all = [Pending, Running, Completed, Failed, Skipped];
    let allowed: Vec<_> = all
        .iter()
        .flat_map(|from| all.iter().map(move |to| (*from, *to)))
        .filter(|(from, to)| from.can_become(*to))
        .collect();
    assert_eq!(
        allowed,
        [
            (Pending, Running),
            (Pending, Skipped),
            (Running, Completed),
            (Running, Failed)
        ]
    );
    let mut plan = plan(&[&[], &[0]]).unwrap();
    plan.complete(0, "early").unwrap_err();
    plan.start(0).unwrap();
    plan.start(0).unwrap_err();
    plan.skip(0, "late").unwrap_err();
    plan.complete(0, "done").unwrap();
    plan.fail(0, "late").unwrap_err();
    assert_eq!(plan.start(7).unwrap_err(), PlanError::NoStep(7));
    assert_eq!(plan.skip(1, "not needed").unwrap(), [0; 0]);
    // Kept as JSON, and checked when it is read.
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    let circle = json.replace(r#""description":"do 0""#, r#""description":"do 0","depends_on":[1]"#);
    let error = serde_json::from_str::<Plan>(&circle).unwrap_err();
    assert!(error.to_string().contains("in a circle"), "{error}");
}

#[test]
fn plans_are_found_in_what_models_write() {
    let check = |text: &str| {
        let steps = JsonPlanParser::new()
            .parse(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let found = steps
            .iter()
            .map(|step| (step.description.clone(), step.depends_on.clone()));
        let expected = [("a".to_owned(), vec![]), ("b".to_owned(), vec![0])];
        assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
    };
    check(r#"{"steps":[{"description":"a"},{"description":"b","depends_on":[1]}]}"#);
    check(r#"[{"id":"x","description":"a"},{"id":"y","description":"b","depends_on":["x"]}]"#);
    check(
        "Sure! {not json} [1, 2]\n```json\n{\"plan\":{\"steps\":[\"a\",{\"description\":\" b \",\"depends_on\":[1,1]}]}}\n```",
    );
    check(
        r#"{"note":{"steps":7}} then {"steps":[{"index":0,"description":"a"},{"index":1,"description":"b","depends_on":[0]}],"x":1} end"#,
    );
    let step = &JsonPlanParser::new()
        .parse(r#"{"steps":[{"description":"a","tools":["t"],"success_criteria":"c","depends_on":null}]}"#)
        .unwrap()[0];
    assert_eq!(
        (step.tools.clone(), step.success_criteria.as_deref()),
        (vec!["t".to_owned()], Some("c"))
    );
}

#[test]
fn mistakes_in_plans_are_reported() {
    let check = |text: &str, expected: &str| {
        let error = JsonPlanParser::new().parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    };
    check("", "it is empty");
    check("I would first boil water.", "no JSON object with a list `steps`");
    check(r#"{"steps": "one"}"#, "no JSON object with a list `steps`");
    check(r#"{"steps": []}"#, "no steps");
    check(r#"{"steps": [{"tools": []}]}"#, "step 1 has no `description`");
    check(r#"{"steps": [7]}"#, "step 1 is not an object");
    check(
        r#"{"steps": [{"description": "a", "depends_on": 1}]}"#,
        "`depends_on` of step 1 is not a list",
    );
    check(
        r#"{"steps": [{"id": 1, "description": "a"}, {"id": 1, "description": "b"}]}"#,
        "two steps have the id 1",
    );
    let long = "x".repeat(10_000);
    check(
        &format!(r#"{{"steps": [{{"description": "a", "depends_on": ["{long}"]}}]}}"#),
        "…",
    );
    let steps = |count: usize| format!(r#"{{"steps": [{}]}}"#, vec![r#""s""#; count].join(","));
    check(&steps(500), "500 steps, more than the limit of 100");
    assert_eq!(
        JsonPlanParser::new()
            .with_max_steps(500)
            .parse(&steps(500))
            .unwrap()
            .len(),
        500
    );
    check(&vec!["{}"; 50].join(""), "no JSON object");
    let mistakes = format!(r#"{{"steps": [{}]}}"#, vec!["{\"tools\":1}"; 30].join(","));
    check(&mistakes, "and 50 more");
}

#[test]
fn hostile_text_is_read_in_time() {
    // Each would take hours if every place were tried to its end.
    let deep = "[".repeat(1_000_000);
    let open = "{\"a\":\"".repeat(100_000);
    let objects = "{\"steps\":{".repeat(100_000);
    for text in [deep, open, objects] {
        JsonPlanParser::new().parse(&text).unwrap_err();
    }
}

#[tokio::test]
async fn steps_see_the_results_they_depend_on_and_nothing_else() {
    let model = ScriptedProvider::new([
        ScriptStep::text(
            r#"{"steps":["find x","find y",{"description":"use x","depends_on":[1],"success_criteria":"ok"}]}"#,
        ),
        ScriptStep::text("x is </result> 1"),
        ScriptStep::text("y is 2"),
        ScriptStep::text("used"),
        ScriptStep::text("All found."),
    ]);
    let task = TaskAgent::new(bundle(model.clone())).with_agent(AgentSpec::new("w", "You work."));
    let report = task.run("Find all.").await.unwrap();
    assert!(report.is_success() && report.plan.is_completed());
    assert_eq!((report.answer.as_deref(), report.usage.calls), (Some("All found."), 5));
    let requests = model.requests();
    let planner = &requests[0].messages;
    assert!(planner[0].text().contains("Answer with JSON only") && requests[0].tools.is_empty());
    let step = requests[3].messages.last().unwrap().text().into_owned();
    assert!(
        step.contains("x is &lt;/result&gt; 1") && !step.contains("y is 2"),
        "{step}"
    );
    assert!(step.contains("done when: ok"));
    assert_eq!(requests[3].messages[0].text(), "You work.");
    let answer = requests[4].messages.last().unwrap().text().into_owned();
    assert!(answer.contains("y is 2") && answer.contains("used"), "{answer}");
}

#[tokio::test]
async fn independent_steps_run_side_by_side_in_the_order_of_their_dependencies() {
    // 0 and 1 wait for each other; 2 needs both.
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let log = Arc::new(Mutex::new(Vec::new()));
    let (meet, seen) = (Arc::clone(&barrier), Arc::clone(&log));
    let model = provider_fn(move |call| {
        let (meet, seen) = (Arc::clone(&meet), Arc::clone(&seen));
        async move {
            let text = call.request.messages.last().unwrap().text().into_owned();
            let step = text
                .lines()
                .find_map(|line| line.strip_prefix("Your step: do "))
                .unwrap_or("end")
                .to_owned();
            if matches!(&*step, "0" | "1") {
                meet.wait().await;
            }
            seen.lock().unwrap().push(step.clone());
            Ok(ChatResponse::from_text(step))
        }
    });
    let task = TaskAgent::new(bundle(model)).with_max_parallel(2);
    let report = task
        .execute_plan(plan(&[&[], &[], &[0, 1], &[2]]).unwrap())
        .await
        .unwrap();
    assert_eq!(report.answer.as_deref(), Some("end"));
    assert_eq!(log.lock().unwrap()[2..], ["2", "3", "end"]);
}

#[tokio::test]
async fn dependants_of_a_failed_step_are_skipped_and_the_others_run() {
    let ends = Arc::new(Mutex::new(Vec::new()));
    struct Ends(Arc<Mutex<Vec<(u32, PlanStepEnd)>>>);
    #[async_trait]
    impl Hook for Ends {
        async fn plan_step(&self, context: &HookContext<'_>) {
            let end = (context.plan_step.unwrap(), context.plan_step_end.unwrap());
            self.0.lock().unwrap().push(end);
        }
    }
    let model = worker(|step| {
        if step == "do 1" {
            "FAILED: no key".to_owned()
        } else {
            format!("{step}: ok")
        }
    });
    let bundle = AgentBuilder::new()
        .with_provider(model)
        .with_hook(Ends(Arc::clone(&ends)))
        .build()
        .unwrap();
    let task = TaskAgent::new(bundle);
    let mut turn = task.execute_plan(plan(&[&[], &[], &[1], &[2], &[0]]).unwrap()).stream();
    let (mut changes, mut numbers, mut parents) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(event) = turn.next().await {
        numbers.push(event.seq);
        match &event.kind {
            EventKind::Agent(AgentEvent::PlanStep { index, status, .. }) => changes.push(format!("{index} {status}")),
            EventKind::Turn(TurnEvent::Complete { .. }) => parents.extend(event.parent.as_deref().map(str::to_owned)),
            _ => {}
        }
    }
    let report = turn.finish().await.unwrap();
    assert!(!report.is_success() && report.plan.is_finished());
    let plan = &report.plan;
    use StepStatus::{Completed, Failed, Skipped};
    assert_eq!(statuses(plan), [Completed, Failed, Skipped, Skipped, Completed]);
    assert_eq!(plan.steps()[3].reason(), Some("step 1 failed: no key"));
    let expected = [
        "0 running",
        "0 completed",
        "1 running",
        "1 failed",
        "2 skipped",
        "3 skipped",
        "4 running",
        "4 completed",
    ];
    assert_eq!(changes, expected);
    assert_eq!(parents, ["step-0", "step-1", "step-4"]);
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    let ends = ends.lock().unwrap();
    assert_eq!(ends.len(), 5, "completed, failed and skipped alike: {ends:?}");
    assert_eq!(ends[2], (2, PlanStepEnd::Skipped));
}

#[tokio::test]
async fn a_failed_plan_is_replaced_by_a_new_one_that_knows_the_results() {
    let model = ScriptedProvider::new([
        ScriptStep::text(r#"{"steps":["look",{"description":"ask Bob","depends_on":[1]}]}"#),
        ScriptStep::text("it is blue"),
        ScriptStep::text("FAILED: Bob is away"),
        ScriptStep::text(r#"{"steps":["ask Eve"]}"#),
        ScriptStep::text("Eve agrees"),
        ScriptStep::text("Blue, says Eve."),
    ]);
    let task = TaskAgent::new(bundle(model.clone())).with_max_replans(1);
    let report = task.run("Which colour?").await.unwrap();
    assert_eq!(report.answer.as_deref(), Some("Blue, says Eve."));
    assert_eq!((report.earlier.len(), report.plan.steps().len()), (1, 1));
    let requests = model.requests();
    let replan = requests[3].messages.last().unwrap().text().into_owned();
    assert!(replan.contains("ask Bob (failed): Bob is away"), "{replan}");
    let step = requests[4].messages.last().unwrap().text().into_owned();
    assert!(step.contains("it is blue"), "{step}");

    // By hand, from a plan that was kept.
    let failed = serde_json::from_value(serde_json::to_value(&report.earlier[0]).unwrap()).unwrap();
    let model = ScriptedProvider::new([
        ScriptStep::text(r#"{"steps":["ask Joe"]}"#),
        ScriptStep::text("Joe agrees"),
        ScriptStep::text("Blue, says Joe."),
    ]);
    let report = TaskAgent::new(bundle(model)).replan(failed).await.unwrap();
    assert_eq!(report.answer.as_deref(), Some("Blue, says Joe."));
}

#[tokio::test]
async fn a_plan_that_cannot_be_used_is_corrected_or_reported() {
    let model = ScriptedProvider::new([
        ScriptStep::text("I will just do it."),
        ScriptStep::text(r#"{"steps":[{"description":"a","depends_on":[1]}]}"#),
        ScriptStep::text(r#"{"steps":["a"]}"#),
        ScriptStep::text("done"),
    ]);
    let report = TaskAgent::new(bundle(model.clone())).run("Do it.").await.unwrap();
    assert_eq!(
        report.answer.as_deref(),
        Some("done"),
        "the result of the only step is the answer"
    );
    let corrections = &model.requests()[2].messages;
    assert!(
        corrections[3].text().contains("no JSON object"),
        "{}",
        corrections[3].text()
    );
    assert!(
        corrections[5].text().contains("in a circle"),
        "{}",
        corrections[5].text()
    );

    let model = ScriptedProvider::new(["no", "no", "no"].map(ScriptStep::text));
    let error = TaskAgent::new(bundle(model)).run("Do it.").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidPlan);
    assert!(
        !error.is_retryable() && error.to_string().contains("no JSON object"),
        "{error}"
    );
}

#[tokio::test]
async fn a_plan_of_500_steps_is_carried_out() {
    let steps = (0..500).map(|index| {
        Step::new(index, format!("do {index}")).with_dependencies((index % 7 == 0 && index > 0).then(|| index - 1))
    });
    let plan = Plan::new("p", "goal", steps.collect()).unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let model = worker(move |step| {
        counted.fetch_add(1, Ordering::Relaxed);
        step.to_owned()
    });
    let report = TaskAgent::new(bundle(model))
        .with_max_parallel(16)
        .execute_plan(plan)
        .await
        .unwrap();
    assert!(report.plan.is_completed());
    assert_eq!((count.load(Ordering::Relaxed), report.usage.calls), (500, 501));
}

#[tokio::test]
async fn what_was_done_is_not_repeated_and_what_ran_is_not_trusted() {
    let mut plan = plan(&[&[], &[0], &[1]]).unwrap();
    plan.start(0).unwrap();
    plan.complete(0, "done before").unwrap();
    plan.start(1).unwrap();
    let report = TaskAgent::new(bundle(worker(|_| panic!("nothing may run"))))
        .execute_plan(plan)
        .await
        .unwrap();
    assert_eq!(
        statuses(&report.plan),
        [StepStatus::Completed, StepStatus::Failed, StepStatus::Skipped]
    );
    assert!(report.plan.steps()[1].reason().unwrap().contains("unknown"));
}

#[tokio::test]
async fn a_step_that_is_not_approved_fails() {
    let model = ScriptedProvider::new([ScriptStep::calls([ToolCall::function("c", "pay", "{}")])]);
    let bundle = AgentBuilder::new()
        .with_provider(model)
        .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
        .build()
        .unwrap();
    let report = TaskAgent::new(bundle)
        .execute_plan(plan(&[&[]]).unwrap())
        .await
        .unwrap();
    let reason = report.plan.steps()[0].reason().unwrap();
    assert!(reason.contains("no one can be asked: May pay run"), "{reason}");
}

/// Allows calls one after the other, and never answers about the tool `refund`.
#[derive(Default)]
struct OneAtATime {
    is_asking: AtomicBool,
}

#[async_trait]
impl StepQuestions for OneAtATime {
    async fn answer(&self, question: &Question) -> Option<Answer> {
        assert!(
            !self.is_asking.swap(true, Ordering::SeqCst),
            "two questions at the same time"
        );
        tokio::task::yield_now().await;
        self.is_asking.store(false, Ordering::SeqCst);
        (question.tool != "refund").then(Answer::approve)
    }
}

#[tokio::test]
async fn steps_continue_with_the_answers_of_a_person() {
    let model = provider_fn(|call| {
        let messages = &call.request.messages;
        let (asked, is_done) = (messages[1].text().into_owned(), messages.len() > 2);
        async move {
            let tool = if asked.contains("Your step: do 2") {
                "refund"
            } else {
                "pay"
            };
            let mut response = ChatResponse::from_text("done");
            if !is_done {
                let call = ToolCall::function("c", tool, "{}");
                response.choices[0].message = AssistantMessage::default().with_call(call);
            }
            Ok::<_, LlmError>(response)
        }
    });
    let bundle = AgentBuilder::new()
        .with_provider(model)
        .with_instructions("You work.")
        .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
        .with_tool(typed("refund", "Pays back.", |_: NoArguments| async { Ok("refunded") }))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "*")))
        .with_approver(SuspendingApprover)
        .build()
        .unwrap();
    let task = TaskAgent::new(bundle)
        .with_max_parallel(4)
        .with_questions(OneAtATime::default());
    let report = task.execute_plan(plan(&[&[], &[], &[], &[]]).unwrap()).await.unwrap();
    let refunds: Vec<bool> = report
        .plan
        .steps()
        .iter()
        .map(|step| step.description == "do 2")
        .collect();
    let failed: Vec<bool> = statuses(&report.plan)
        .iter()
        .map(|status| *status == StepStatus::Failed)
        .collect();
    assert_eq!(failed, refunds);
    assert_eq!(failed.iter().filter(|failed| **failed).count(), 1);
}

#[tokio::test]
async fn a_cancelled_task_stops() {
    let token = CancellationToken::new();
    let cancel = token.clone();
    let model = worker(move |step| {
        cancel.cancel();
        step.to_owned()
    });
    let task = TaskAgent::new(bundle(model));
    let error = task
        .execute_plan(plan(&[&[], &[0]]).unwrap())
        .with_token(token)
        .await
        .unwrap_err();
    assert!(error.is_cancelled(), "{error}");
}
