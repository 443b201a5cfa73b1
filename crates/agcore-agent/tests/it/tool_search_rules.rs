//! Rules, approvals, hooks, layers and audits hold for a tool that was loaded as for one that is always offered.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::{AgentBuilder, AgentConfig, AgentSession, ToolSettings, agent};
use agcore_chat::{Answer, ToolCall, ToolResult};
use agcore_cycle::{Hook, HookContext, ResultVerdict, ToolVerdict};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{
    AuditRecord, AuditSink, PermissionRules, Rule, RuleState, SuspendingApprover, ToolError, ToolOutput,
    layer::{Invoke, PreparedCall},
};

use crate::tool_search::{always, call, registry, results, search};

const TOOL: &str = "mail__send";

/// Blocks the tool, or replaces its results.
struct Guard {
    blocks: bool,
}

#[agcore_tools::async_trait]
impl Hook for Guard {
    async fn pre_tool(&self, _: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        match self.blocks && call.name == TOOL {
            true => ToolVerdict::Block("mail is off".to_owned()),
            false => ToolVerdict::Continue,
        }
    }

    async fn post_tool(&self, _: &HookContext<'_>, call: &ToolCall, _: &ToolResult) -> ResultVerdict {
        match !self.blocks && call.name == TOOL {
            true => ResultVerdict::Replace("hidden".to_owned()),
            false => ResultVerdict::Continue,
        }
    }
}

struct Loud<S>(S);

impl<S: Invoke> Invoke for Loud<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let output = self.0.invoke(call).await?;
        match call.tool.name().as_str() == TOOL {
            true => Ok(ToolOutput::text("LOUD")),
            false => Ok(output),
        }
    }
}

#[derive(Clone, Default)]
struct Records(Arc<Mutex<Vec<String>>>);

impl AuditSink for Records {
    fn record(&self, record: &AuditRecord<'_>) {
        if record.tool == TOOL {
            let event = serde_json::to_value(record.event).unwrap();
            self.0.lock().unwrap().push(event["event"].to_string());
        }
    }
}

/// The end of a call.
#[derive(Debug, PartialEq)]
struct End {
    result: String,
    runs: usize,
    asked: usize,
    audit: Vec<String>,
}

/// Calls the tool, offered directly or loaded by a search, and answers questions with yes.
async fn end(is_searched: bool, with: &dyn Fn(AgentBuilder) -> AgentBuilder) -> End {
    let mut steps = vec![call(TOOL), ScriptStep::text("Done.")];
    if is_searched {
        steps.insert(0, search("send a message to somebody"));
    }
    let (model, runs, audit) = (
        ScriptedProvider::new(steps),
        Arc::<AtomicUsize>::default(),
        Records::default(),
    );
    let builder = agent(model).with_tools(registry(&runs)).with_audit(audit.clone());
    let builder = if is_searched {
        builder.with_tool_search(always())
    } else {
        builder
    };
    let session: AgentSession = with(builder).session().unwrap();
    session.turn("Send it.").await.unwrap();
    let questions = session.questions().await;
    if !questions.is_empty() {
        let answers: Vec<_> = questions
            .iter()
            .map(|question| (question.id.clone(), Answer::approve()))
            .collect();
        session.resume(answers).await.unwrap();
    }
    let audit = audit.0.lock().unwrap().clone();
    End {
        result: results(&session).await.pop().unwrap(),
        runs: runs.load(Ordering::Relaxed),
        asked: questions.len(),
        audit,
    }
}

fn rule(state: RuleState) -> PermissionRules {
    PermissionRules::default().with_rule(Rule::tool(state, TOOL))
}

#[tokio::test]
async fn what_limits_a_tool_does_not_depend_on_how_it_was_offered() {
    type Change = Box<dyn Fn(AgentBuilder) -> AgentBuilder>;
    let cases: [(&str, Change, &str, usize, usize); 7] = [
        (
            "allow",
            Box::new(|b| b.with_permissions(rule(RuleState::Allow))),
            "mail__send ran",
            1,
            0,
        ),
        (
            "deny",
            Box::new(|b| b.with_permissions(rule(RuleState::Deny))),
            "denied",
            0,
            0,
        ),
        (
            "ask",
            Box::new(|b| {
                b.with_permissions(rule(RuleState::Ask))
                    .with_approver(SuspendingApprover)
            }),
            "mail__send ran",
            1,
            1,
        ),
        (
            "no approver",
            Box::new(|b| b.with_permissions(rule(RuleState::Ask))),
            "",
            0,
            0,
        ),
        (
            "blocking hook",
            Box::new(|b| b.with_hook(Guard { blocks: true })),
            "mail is off",
            0,
            0,
        ),
        (
            "replacing hook",
            Box::new(|b| b.with_hook(Guard { blocks: false })),
            "hidden",
            1,
            0,
        ),
        (
            "layer",
            Box::new(|b| b.with_config(AgentConfig::new().with_tools(ToolSettings::new().with_layer(Loud)))),
            "LOUD",
            1,
            0,
        ),
    ];
    for (name, with, result, runs, asked) in cases {
        let direct = end(false, &*with).await;
        assert!(direct.result.contains(result), "{name}: {direct:?}");
        assert_eq!((direct.runs, direct.asked), (runs, asked), "{name}");
        assert_eq!(end(true, &*with).await, direct, "{name}");
    }
}

#[tokio::test]
async fn the_search_itself_obeys_rules() {
    let model = ScriptedProvider::new([search("send a message"), ScriptStep::text("No.")]);
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Deny, "search_tools"));
    let session = agent(model.clone())
        .with_tools(registry(&Arc::default()))
        .with_tool_search(always())
        .with_permissions(rules)
        .session()
        .unwrap();
    session.turn("Send it.").await.unwrap();
    assert_eq!(model.requests()[1].tools, model.requests()[0].tools);
    assert!(session.tools().loaded_tools().is_empty());
}
