//! Several agents: sub-agents, handoffs, fan-out; suspended and stored ones, and those that misbehave.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::{
    AgentBuilder, AgentConfig, AgentErrorKind, AgentSession, AgentSpec, FanOut, Gathered, SubAgent, TeamLimits,
};
use agcore_chat::{
    AgentEvent, Answer, ChatResponse, ClientResult, EventKind, PersonEvent, QuestionKind, StreamEvent, TextEvent,
    ToolCall, ToolDefinition, ToolEvent, TurnEvent, Usage,
};
use agcore_cycle::{Budget, BudgetPool, Budgets, TurnOutcome};
use agcore_llm::{LlmProvider, provider_fn};
use agcore_session::{InMemorySessionStore, MessageFilter, SessionStatus};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use serde_json::json;

use crate::stored::{call, store};

fn ask(id: &str, agent: &str) -> ToolCall {
    ToolCall::function(id, format!("ask_{agent}"), r#"{"task": "Look into it."}"#)
}

fn transfer(id: &str, agent: &str) -> ToolCall {
    ToolCall::function(id, format!("transfer_to_{agent}"), "{}")
}

fn boss() -> AgentSpec {
    AgentSpec::new("boss", "You lead.")
}

/// Returns a team with a clerk whose payments need an approval, and the number of payments.
fn clerks(provider: &ScriptedProvider) -> (AgentBuilder, Arc<AtomicUsize>) {
    let paid = Arc::new(AtomicUsize::new(0));
    let payments = Arc::clone(&paid);
    let pay = typed("pay", "Pays.", move |_: NoArguments| {
        let payments = Arc::clone(&payments);
        async move {
            payments.fetch_add(1, Ordering::Relaxed);
            Ok("paid")
        }
    });
    let builder = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_clock(ManualClock::jumping())
        .with_agent(boss())
        .with_tool(pay)
        .with_tool(SubAgent::new(AgentSpec::new("clerk", "You pay."), "Pays bills."))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover);
    (builder, paid)
}

async fn all_events(session: &AgentSession, input: &str) -> (Vec<StreamEvent>, TurnOutcome) {
    let mut turn = session.turn(input).stream_with_sub_agents();
    let mut events = Vec::new();
    while let Some(event) = turn.next().await {
        events.push(event);
    }
    (events, turn.finish().await.unwrap())
}

#[tokio::test]
async fn events_of_a_sub_agent_link_to_the_call_that_asked_it() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("c1", "lead")]),
        ScriptStep::calls([ask("c2", "dev")]),
        ScriptStep::text("It compiles."),
        ScriptStep::text("The dev says: it compiles."),
        ScriptStep::text("All is well."),
    ]);
    let session = AgentBuilder::new()
        .with_provider(model.clone())
        .with_agent(boss())
        .with_tool(SubAgent::new(AgentSpec::new("lead", "You ask devs."), "Leads."))
        .with_tool(SubAgent::new(AgentSpec::new("dev", "You code."), "Codes."))
        .session()
        .unwrap();
    let (events, outcome) = all_events(&session, "Is it ready?").await;
    assert_eq!(outcome.text(), "All is well.");
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(
        numbers,
        (0..events.len() as u64).collect::<Vec<_>>(),
        "one numbering for all agents"
    );
    for event in &events {
        let parent = event.parent.as_deref();
        let expected = match &*event.agent {
            "boss" => None,
            "lead" => Some("c1"),
            "dev" => Some("c2"),
            other => panic!("{other}"),
        };
        assert_eq!(parent, expected, "{event:?}");
    }
    let ends = |agent: &str| {
        let own = events.iter().filter(|event| &*event.agent == agent);
        own.filter(|event| matches!(event.kind, EventKind::Turn(TurnEvent::Complete { .. })))
            .count()
    };
    assert_eq!((ends("boss"), ends("lead"), ends("dev")), (1, 1, 1));
    assert!(matches!(
        events.last().unwrap().kind,
        EventKind::Turn(TurnEvent::Complete { .. })
    ));
    // Each agent sees its own context only.
    let dev = &model.requests()[2];
    let texts: Vec<_> = dev.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(texts, ["You code.", "Look into it."]);
    assert_eq!(session.messages().await.len(), 4);
}

#[tokio::test]
async fn the_text_of_sub_agents_is_not_the_answer() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("c", "dev")]),
        ScriptStep::text("inner"),
        ScriptStep::text("outer"),
    ]);
    let session = AgentBuilder::new()
        .with_provider(model)
        .with_tool(SubAgent::new(AgentSpec::new("dev", ""), "Codes."))
        .session()
        .unwrap();
    let mut text = session.turn("Go.").text_stream();
    let mut all = String::new();
    while let Some(piece) = text.next().await {
        all.push_str(&piece.unwrap());
    }
    assert_eq!(all, "outer");
}

#[tokio::test]
async fn a_stream_has_the_events_of_the_agent_that_answers() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("c1", "lead")]),
        ScriptStep::calls([ask("c2", "dev")]),
        ScriptStep::text("innermost"),
        ScriptStep::text("inner"),
        ScriptStep::text("outer"),
    ]);
    let session = AgentBuilder::new()
        .with_provider(model)
        .with_agent(boss())
        .with_tool(SubAgent::new(AgentSpec::new("lead", "You ask devs."), "Leads."))
        .with_tool(SubAgent::new(AgentSpec::new("dev", "You code."), "Codes."))
        .session()
        .unwrap();
    let mut turn = session.turn("Go.").stream();
    let (mut text, mut calls, mut seq) = (String::new(), Vec::new(), 0);
    while let Some(event) = turn.next().await {
        assert_eq!((&*event.agent, event.parent, event.seq), ("boss", None, seq));
        seq += 1;
        match event.kind {
            EventKind::Text(TextEvent::Text(piece)) => text.push_str(&piece),
            EventKind::Tool(ToolEvent::Completed {
                call_id,
                output,
                display,
                ..
            }) => {
                let used = &display.unwrap()["metadata"]["usage"];
                calls.push(format!("{call_id}: {output}, {} calls", used["calls"]));
            }
            _ => {}
        }
    }
    turn.finish().await.unwrap();
    assert_eq!((text.as_str(), calls), ("outer", vec!["c1: inner, 2 calls".to_owned()]));
}

#[tokio::test]
async fn a_stream_has_the_questions_of_sub_agents() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("c", "clerk")]),
        ScriptStep::calls([ToolCall::function("p", "pay", "{}")]),
        ScriptStep::text("It is paid."),
        ScriptStep::text("Done."),
    ]);
    let (builder, paid) = clerks(&model);
    let session = builder.session().unwrap();
    let mut turn = session.turn("Pay.").stream();
    let mut found = Vec::new();
    while let Some(event) = turn.next().await {
        assert_eq!(event.parent, None);
        match event.kind {
            EventKind::Person(PersonEvent::Asked(question)) => found.push(*question),
            EventKind::Person(PersonEvent::Suspended(questions)) => found.extend(questions),
            _ => {}
        }
    }
    drop(turn);
    let asked: Vec<_> = found.iter().map(|question| (&*question.tool, question.kind)).collect();
    assert_eq!(
        asked,
        [("pay", QuestionKind::Approval), ("pay", QuestionKind::Approval)]
    );

    let mut turn = session.resume([(found[0].id.clone(), Answer::approve())]).stream();
    let mut kinds = Vec::new();
    while let Some(event) = turn.next().await {
        assert_eq!(event.parent, None);
        if let EventKind::Person(PersonEvent::Answered { .. }) | EventKind::Tool(_) = event.kind {
            kinds.push(event.kind);
        }
    }
    assert_eq!(turn.finish().await.unwrap().text(), "Done.");
    let is_completed = |kind: &EventKind| matches!(kind, EventKind::Tool(ToolEvent::Completed { .. }));
    assert!(matches!(kinds[0], EventKind::Person(_)), "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| is_completed(kind)).count(), 1, "{kinds:?}");
    assert_eq!(paid.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn several_sub_agents_run_side_by_side() {
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let model = provider_fn(move |call| {
        let barrier = Arc::clone(&barrier);
        async move {
            let messages = &call.request.messages;
            let system = messages[0].text().into_owned();
            if system != "You lead." {
                // Both must be here at the same time.
                barrier.wait().await;
                return Ok(ChatResponse::from_text(system));
            }
            let mut response = ChatResponse::from_text("both are done");
            if messages.len() == 2 {
                let message = agcore_chat::AssistantMessage::default()
                    .with_call(ask("a", "left"))
                    .with_call(ask("b", "right"));
                response.choices[0].message = message;
            }
            Ok(response)
        }
    });
    let session = AgentBuilder::new()
        .with_provider(model)
        .with_agent(boss())
        .with_tool(SubAgent::new(AgentSpec::new("left", "left here"), "Left."))
        .with_tool(SubAgent::new(AgentSpec::new("right", "right here"), "Right."))
        .session()
        .unwrap();
    assert_eq!(session.turn("Go.").await.unwrap().text(), "both are done");
    let messages = session.messages().await;
    assert_eq!(
        (messages[2].text(), messages[3].text()),
        ("left here".into(), "right here".into())
    );
}

#[tokio::test]
async fn a_suspended_sub_agent_suspends_the_turn_and_continues_with_the_answer() {
    let steps = || {
        ScriptedProvider::new([
            ScriptStep::calls([ask("c", "clerk")]),
            ScriptStep::calls([call("p", "pay")]),
            ScriptStep::text("I have paid."),
            ScriptStep::text("It is paid."),
        ])
    };
    let model = steps();
    let (builder, paid) = clerks(&model);
    let bundle = builder.build().unwrap();
    let session = bundle.new_session();
    let outcome = session.turn("Pay.").await.unwrap();
    let [question] = outcome.questions() else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (question.kind, &*question.tool, &*question.call_id),
        (QuestionKind::Approval, "pay", "c")
    );
    // Saved, and restored elsewhere: the question keeps its id.
    let saved = serde_json::to_string(&session.export().await).unwrap();
    let restore = || bundle.restore(serde_json::from_str(&saved).unwrap(), boss()).unwrap();
    let session = restore();
    assert_eq!(session.questions().await[0].id, question.id);
    let answers = || [(question.id.clone(), Answer::approve())];
    assert_eq!(session.resume(answers()).await.unwrap().text(), "It is paid.");
    assert_eq!(paid.load(Ordering::Relaxed), 1);
    // The same answer again changes nothing.
    session.resume(answers()).await.unwrap_err();
    assert_eq!(paid.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_denial_reaches_the_sub_agent() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("c", "clerk")]),
        ScriptStep::calls([call("p", "pay"), call("q", "pay")]),
        ScriptStep::text("I was not allowed to pay."),
        ScriptStep::text("Sorry."),
    ]);
    let (builder, paid) = clerks(&model);
    let session = builder.session().unwrap();
    let first = session.turn("Pay.").await.unwrap().questions()[0].clone();
    // Questions of one sub-agent come one after the other.
    let outcome = session
        .resume([(first.id.clone(), Answer::deny("no money"))])
        .await
        .unwrap();
    let [second] = outcome.questions() else {
        panic!("{outcome:?}")
    };
    assert_ne!(first.id, second.id);
    let outcome = session.resume([(second.id.clone(), Answer::deny("no"))]).await.unwrap();
    assert_eq!(outcome.text(), "Sorry.");
    assert_eq!(paid.load(Ordering::Relaxed), 0);
    let seen = &model.requests()[2].messages;
    assert!(seen.iter().any(|message| message.text().contains("no money")));
}

#[tokio::test]
async fn a_question_whose_arguments_were_changed_is_denied() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("c", "clerk")]),
        ScriptStep::calls([call("p", "pay")]),
        ScriptStep::text("Sorry."),
    ]);
    let (builder, paid) = clerks(&model);
    let bundle = builder.build().unwrap();
    let session = bundle.new_session();
    let question = session.turn("Pay.").await.unwrap().questions()[0].clone();
    let saved = serde_json::to_string(&session.export().await).unwrap();
    // Of the outer question; the inner one is in a value of its own.
    let tampered = saved.replacen(r#""tool":"pay","#, r#""tool":"look","#, 1);
    assert_ne!(saved, tampered);
    let session = bundle
        .restore(serde_json::from_str(&tampered).unwrap(), boss())
        .unwrap();
    let outcome = session.resume([(question.id.clone(), Answer::approve())]).await;
    assert_eq!(paid.load(Ordering::Relaxed), 0, "{outcome:?}");
}

#[tokio::test]
async fn a_stored_sub_agent_continues_in_another_process() {
    let store = store();
    let open = |model: &ScriptedProvider, store: &Arc<InMemorySessionStore>| {
        let (builder, paid) = clerks(model);
        let bundle = builder.with_session_store(Arc::clone(store)).build().unwrap();
        (bundle.stored_sessions().unwrap(), paid)
    };
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("c", "clerk")]),
        ScriptStep::calls([call("p", "pay")]),
    ]);
    let (sessions, _) = open(&model, &store);
    let session = sessions.create("s", boss()).await.unwrap();
    let question = session.turn("Pay.").await.unwrap().questions()[0].clone();
    assert_eq!(sessions.get("s").await.unwrap().unwrap().status, SessionStatus::Pending);

    let model = ScriptedProvider::new([ScriptStep::text("I have paid."), ScriptStep::text("It is paid.")]);
    let (sessions, paid) = open(&model, &store);
    let session = sessions.open("s", boss()).await.unwrap();
    assert_eq!(session.questions().await[0].id, question.id);
    let outcome = session.resume([(question.id, Answer::approve())]).await.unwrap();
    assert_eq!(outcome.text(), "It is paid.");
    assert_eq!(paid.load(Ordering::Relaxed), 1);
    // No reply of the sub-agent was requested again: the first request contains its call.
    assert_eq!(model.requests()[0].messages.len(), 4);
    // People see the conversation with the boss only, and deleting the session deletes everything.
    let rows = sessions.messages("s", &MessageFilter::new()).await.unwrap();
    assert!(
        rows.iter()
            .all(|row| row.content != "I have paid." || row.role.as_str() == "tool"),
        "{rows:?}"
    );
    let again = sessions.open("s", boss()).await.unwrap();
    assert_eq!(again.messages().await.len(), 4);
}

#[tokio::test]
async fn a_long_answer_is_summarized_by_its_author() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("c", "dev")]),
        ScriptStep::text("long ".repeat(100)),
        ScriptStep::text("short"),
        ScriptStep::text("done"),
    ]);
    let session = AgentBuilder::new()
        .with_provider(model.clone())
        .with_tool(SubAgent::new(AgentSpec::new("dev", ""), "Codes.").with_max_answer_bytes(100))
        .session()
        .unwrap();
    session.turn("Go.").await.unwrap();
    assert_eq!(session.messages().await[2].text(), "short");
    let request = model.requests()[2].messages.last().unwrap().text().into_owned();
    assert!(request.contains("at most 50 characters"), "{request}");
}

#[tokio::test]
async fn depth_and_budgets_are_limited() {
    // An agent that asks itself, again and again.
    let model = || {
        provider_fn(|call| async move {
            let mut response = ChatResponse::from_text("I give up.");
            response.usage = Some(Usage::new(10, 10));
            if call
                .request
                .messages
                .iter()
                .all(|message| message.as_assistant().is_none())
            {
                let message = agcore_chat::AssistantMessage::default().with_call(ask("c", "loop"));
                response.choices[0].message = message;
            }
            Ok(response)
        })
    };
    let run = async |limits: TeamLimits, budget: Budget| {
        let sub_agent = SubAgent::new(AgentSpec::new("loop", ""), "Loops.").with_budget(budget);
        let session = AgentBuilder::new()
            .with_provider(model())
            .with_tool(sub_agent)
            .with_config(AgentConfig::new().with_team(limits))
            .session()
            .unwrap();
        let (events, outcome) = all_events(&session, "Go.").await;
        assert_eq!(outcome.text(), "I give up.");
        let outputs = events.into_iter().filter_map(|event| match event.kind {
            EventKind::Tool(ToolEvent::Completed { output, is_error, .. }) => Some((is_error, output.to_string())),
            _ => None,
        });
        outputs.collect::<Vec<_>>()
    };
    let outputs = run(TeamLimits::new().with_max_depth(2), Budget::new()).await;
    assert_eq!(outputs.len(), 3);
    assert!(outputs[0].0 && outputs[0].1.contains("2 deep"), "{outputs:?}");
    assert_eq!(outputs[2], (false, "I give up.".to_owned()));

    let outputs = run(TeamLimits::new(), Budget::new().with_model_calls(1)).await;
    assert!(
        outputs
            .iter()
            .any(|(is_error, text)| *is_error && text.contains("reached a limit")),
        "{outputs:?}"
    );

    let all = TeamLimits::new().with_budget(Budget::new().with_model_calls(2));
    let outputs = run(all, Budget::new()).await;
    assert!(
        outputs.last().unwrap().1.contains("limit"),
        "the sub-agents share a budget: {outputs:?}"
    );
}

#[test]
fn two_pools_are_an_error() {
    let config = AgentConfig::new()
        .with_team(TeamLimits::new().with_budget(Budget::new().with_tokens(1)))
        .with_budgets(Budgets::new().with_pool(BudgetPool::new(Budget::new())));
    let error = AgentBuilder::new()
        .with_provider(ScriptedProvider::new([]))
        .with_config(config)
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
}

#[tokio::test]
async fn a_handoff_continues_the_turn_with_the_other_agent() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([transfer("t", "billing")]),
        ScriptStep::text("Invoice 7 is paid."),
        ScriptStep::text("You are welcome."),
    ]);
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_config(AgentConfig::new().with_base_prompt("You work for ACME."))
        .with_agent(AgentSpec::new("desk", "You greet.").with_handoffs(["billing"]))
        .with_member(AgentSpec::new("billing", "You know invoices."))
        .with_tool(typed("dice", "Rolls.", |_: NoArguments| async { Ok(4) }))
        .build()
        .unwrap();
    let session = bundle.new_session();
    let (events, outcome) = all_events(&session, "Is invoice 7 paid?").await;
    assert_eq!(outcome.text(), "Invoice 7 is paid.");
    let handoff = events
        .iter()
        .position(|event| matches!(event.kind, EventKind::Agent(AgentEvent::Handoff { .. })));
    let handoff = handoff.unwrap();
    assert!(events[..handoff].iter().all(|event| &*event.agent == "desk"));
    assert!(events[handoff..].iter().all(|event| &*event.agent == "billing"));
    assert!(events.iter().all(|event| event.turn == 0), "one turn");
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let ends = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Turn(TurnEvent::Complete { .. })));
    assert_eq!(ends.count(), 1);
    // The other agent sees the whole conversation under its own layers, and has no tool to hand it back.
    let request = &model.requests()[1];
    assert_eq!(request.messages[0].text(), "You work for ACME.\n\nYou know invoices.");
    assert_eq!(request.messages.len(), 4);
    let tools = |index: usize| {
        model.requests()[index]
            .tools
            .iter()
            .map(|tool| tool.name().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(tools(0), ["dice", "transfer_to_billing"]);
    assert_eq!(tools(1), ["dice"]);
    // It still has the conversation in the next turn, and after the session was restored.
    let saved = serde_json::to_string(&session.export().await).unwrap();
    let session = bundle
        .restore(
            serde_json::from_str(&saved).unwrap(),
            AgentSpec::new("desk", "You greet."),
        )
        .unwrap();
    assert_eq!(session.agent().name(), "billing");
    session.turn("Thanks.").await.unwrap();
    assert_eq!(
        model.requests()[2].messages[0].text(),
        "You work for ACME.\n\nYou know invoices."
    );
    agcore_chat::validate_messages(&session.messages().await).unwrap();
}

#[tokio::test]
async fn agents_cannot_hand_over_in_a_circle() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([transfer("t1", "b"), transfer("t2", "c")]),
        ScriptStep::calls([transfer("t3", "a")]),
        ScriptStep::text("I answer myself."),
        ScriptStep::calls([transfer("t4", "a")]),
        ScriptStep::text("In another turn, it may."),
    ]);
    let agent = |name: &str| AgentSpec::new(name, name).with_handoffs(["a", "b", "c"]);
    let session = AgentBuilder::new()
        .with_provider(model.clone())
        .with_agent(agent("a"))
        .with_member(agent("a"))
        .with_member(agent("b"))
        .with_member(agent("c"))
        .session()
        .unwrap();
    assert_eq!(session.turn("Go.").await.unwrap().text(), "I answer myself.");
    let messages = session.messages().await;
    assert!(messages[3].text().contains("already"), "{}", messages[3].text());
    assert!(messages[5].text().contains("handed it over"), "{}", messages[5].text());
    assert_eq!(session.agent().name(), "b");
    session.turn("Again.").await.unwrap();
    assert_eq!(session.agent().name(), "a");
}

#[tokio::test]
async fn a_handoff_to_an_unknown_agent_is_reported() {
    let session = AgentBuilder::new()
        .with_provider(ScriptedProvider::new([]))
        .with_agent(AgentSpec::new("desk", "").with_handoffs(["biling"]))
        .with_member(AgentSpec::new("billing", ""))
        .session()
        .unwrap();
    let error = session.turn("Hi").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
    assert!(error.to_string().contains("did you mean billing?"), "{error}");
    let twice = AgentBuilder::new()
        .with_provider(ScriptedProvider::new([]))
        .with_member(AgentSpec::new("a", ""))
        .with_member(AgentSpec::new("a", ""))
        .build();
    assert!(twice.unwrap_err().to_string().contains("two agents named `a`"));
}

#[tokio::test]
async fn a_stored_handoff_survives() {
    let store = store();
    let open = |model: Arc<dyn LlmProvider>| {
        let bundle = AgentBuilder::new()
            .with_provider(model)
            .with_clock(ManualClock::jumping())
            .with_session_store(Arc::clone(&store))
            .with_member(AgentSpec::new("billing", "You know invoices."))
            .build()
            .unwrap();
        bundle.stored_sessions().unwrap()
    };
    let desk = || AgentSpec::new("desk", "You greet.").with_handoffs(["billing"]);
    // The process dies after the handoff, in the first call of the other agent.
    let model = provider_fn(|call| async move {
        if call.request.messages.len() > 2 {
            return std::future::pending().await;
        }
        let mut response = ChatResponse::from_text("");
        response.choices[0].message = agcore_chat::AssistantMessage::default().with_call(transfer("t", "billing"));
        Ok(response)
    });
    let session = open(Arc::new(model)).create("s", desk()).await.unwrap();
    let mut turn = session.turn("Is it paid?").stream();
    while let Some(event) = turn.next().await {
        if matches!(event.kind, EventKind::Agent(AgentEvent::Handoff { .. })) {
            break;
        }
    }
    drop(turn);
    let model = ScriptedProvider::new([ScriptStep::text("Invoice 7 is paid."), ScriptStep::text("Bye.")]);
    let session = open(Arc::new(model.clone())).open("s", desk()).await.unwrap();
    assert!(session.is_interrupted().await);
    assert_eq!(session.resume([]).await.unwrap().text(), "Invoice 7 is paid.");
    assert_eq!(model.requests()[0].messages[0].text(), "You know invoices.");
    let session = open(Arc::new(model.clone())).open("s", desk()).await.unwrap();
    assert_eq!(session.agent().name(), "billing");
    session.turn("Bye.").await.unwrap();
    // The user's choice counts more.
    session.switch_agent(desk());
    assert_eq!(session.agent().name(), "desk");
}

#[tokio::test]
async fn a_switched_agent_is_announced_to_the_model_but_not_displayed() {
    let store = store();
    let model = ScriptedProvider::new([
        ScriptStep::text("Hi."),
        ScriptStep::text("Hello."),
        ScriptStep::text("Yes."),
    ]);
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_clock(ManualClock::jumping())
        .with_session_store(store)
        .build()
        .unwrap();
    let sessions = bundle.stored_sessions().unwrap();
    let session = sessions.create("s", AgentSpec::new("cook", "You cook.")).await.unwrap();
    session.turn("Hello").await.unwrap();
    session.switch_agent(AgentSpec::new("waiter", "You serve."));
    session.turn("Are you new?").await.unwrap();
    session.turn("Really?").await.unwrap();
    let request = &model.requests()[2].messages;
    assert_eq!(request[0].text(), "You serve.");
    assert!(
        request[3].text().contains("the agent `waiter` answers"),
        "{}",
        request[3].text()
    );
    assert_eq!(request[3].own_text(), "Are you new?");
    assert_eq!(request[5].text(), "Really?", "announced once");
    let rows = sessions.messages("s", &MessageFilter::new()).await.unwrap();
    assert!(rows.iter().all(|row| !row.content.contains("waiter")), "{rows:?}");
}

#[tokio::test]
async fn tasks_run_side_by_side_and_failures_do_not_stop_the_others() {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, peak) = (Arc::clone(&running), Arc::clone(&most));
    let model = provider_fn(move |call| {
        let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
        async move {
            let count = now.fetch_add(1, Ordering::SeqCst) + 1;
            peak.fetch_max(count, Ordering::SeqCst);
            tokio::task::yield_now().await;
            now.fetch_sub(1, Ordering::SeqCst);
            let task = call.request.messages.last().unwrap().text().into_owned();
            if task == "2" {
                return Err(agcore_llm::LlmError::cancelled());
            }
            Ok(ChatResponse::from_text(task))
        }
    });
    let bundle = AgentBuilder::new().with_provider(model).build().unwrap();
    let tasks = (0..10).fold(FanOut::new().with_max_concurrency(3), |tasks, number| {
        tasks.with_task(AgentSpec::new(format!("a{number}"), ""), number.to_string())
    });
    let gathered = tasks.run(&bundle).await;
    let texts: Vec<_> = gathered.iter().map(Gathered::text).collect();
    assert_eq!(texts, ["0", "1", "", "3", "4", "5", "6", "7", "8", "9"]);
    assert!(gathered[2].result.is_err());
    assert_eq!((gathered[9].agent.as_str(), most.load(Ordering::SeqCst)), ("a9", 3));
    assert!(FanOut::new().run(&bundle).await.is_empty());
}

#[test]
fn an_agent_from_data_names_its_handoffs() {
    let spec: AgentSpec = serde_json::from_value(json!({
        "name": "desk", "description": "greets", "handoffs": ["billing"],
    }))
    .unwrap();
    assert_eq!(
        spec,
        AgentSpec::new("desk", "")
            .with_description("greets")
            .with_handoffs(["billing"])
    );
}

#[tokio::test]
async fn sub_agents_do_not_see_the_tools_of_the_client() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([ask("c1", "clerk")]),
        ScriptStep::text("Looked."),
        ScriptStep::calls([ToolCall::function("c2", "show_map", "{}")]),
        ScriptStep::text("There."),
    ]);
    let (builder, _) = clerks(&provider);
    let bundle = builder.build().unwrap();
    let tool = |name: &str| ToolDefinition::new(name, "Shows a map.", json!({}));
    let error = bundle.with_client_tools([tool("pay")]).unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
    let bundle = bundle.with_client_tools([tool("show_map")]).unwrap();
    let session = bundle.new_session();
    let TurnOutcome::Suspended(questions) = all_events(&session, "Where?").await.1 else {
        panic!("the call waits for the client");
    };
    assert_eq!(
        (questions[0].kind, &*questions[0].tool),
        (QuestionKind::Client, "show_map")
    );
    let answer = (questions[0].id.clone(), ClientResult::text("shown").into_answer());
    session.resume([answer]).await.unwrap();
    let sees = |number: usize| format!("{:?}", provider.requests()[number].tools).contains("show_map");
    assert_eq!([0, 1, 2].map(sees), [true, false, true]);
    assert_eq!(provider.requests()[3].messages.last().unwrap().text(), "shown");
}
