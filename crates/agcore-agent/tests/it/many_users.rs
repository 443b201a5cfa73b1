//! Many users of one bundle: no user waits for the answer of another, and grants of one user never cover another.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use agcore_agent::{AgentSession, RuntimeBundle, agent};
use agcore_chat::{Actor, ChatResponse, Text, ToolCall};
use agcore_llm::provider_fn;
use agcore_tools::{
    Approval, ApprovalRequest, Approver, AuditRecord, AuditSink, NoArguments, PermissionRules, Rule, RuleState, typed,
};
use async_trait::async_trait;
use futures_util::future::join_all;
use tokio::sync::Notify;

const SESSIONS: usize = 64;
const USERS: usize = 16;
const TURNS: usize = 3;

/// Answers for each user: the first one never answers, every fourth one always allows, the others say no.
#[derive(Default)]
struct People {
    asked: Mutex<BTreeMap<Text, usize>>,
    silent: Notify,
}

impl People {
    fn number(user: &str) -> usize {
        user.trim_start_matches("user-").parse().unwrap()
    }
}

#[async_trait]
impl Approver for People {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        *self
            .asked
            .lock()
            .unwrap()
            .entry(request.actor.user.clone())
            .or_default() += 1;
        match Self::number(&request.actor.user) {
            0 => {
                self.silent.notify_one();
                std::future::pending().await
            }
            user if user % 4 == 1 => Approval::always(),
            _ => Approval::deny("no"),
        }
    }
}

/// Counts the decisions about each user's calls.
#[derive(Default)]
struct Decisions(Mutex<Vec<serde_json::Value>>);

impl AuditSink for Decisions {
    fn record(&self, record: &AuditRecord<'_>) {
        self.0.lock().unwrap().push(serde_json::to_value(record).unwrap());
    }
}

fn bundle(people: &Arc<People>, decisions: &Arc<Decisions>) -> RuntimeBundle {
    // Calls the tool once in every turn.
    let model = provider_fn(|call| async move {
        let answered = call
            .request
            .messages
            .last()
            .is_some_and(|last| last.role().as_str() == "tool");
        Ok(if answered {
            ChatResponse::from_text("Done.")
        } else {
            ChatResponse::from_calls([ToolCall::function("call_1", "pay", "{}")])
        })
    });
    agent(model)
        .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(Arc::clone(people))
        .with_audit(Arc::clone(decisions))
        .build()
        .unwrap()
}

async fn results(session: &AgentSession) -> Vec<String> {
    let messages = session.messages().await;
    let results = messages.iter().filter(|message| message.role().as_str() == "tool");
    results.map(|message| message.text().into_owned()).collect()
}

#[tokio::test]
async fn users_neither_wait_for_nor_share_the_answers_of_others() {
    let (people, decisions) = (Arc::new(People::default()), Arc::new(Decisions::default()));
    let bundle = bundle(&people, &decisions);
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|at| {
            let user = format!("user-{}", at % USERS);
            // Users of two tenants have the same names.
            let tenant = if at < SESSIONS / 2 { "north" } else { "south" };
            bundle
                .session(format!("s-{at}"), bundle.agent().clone())
                .with_actor(Actor::new(tenant, user))
        })
        .collect();

    let (silent, others): (Vec<_>, Vec<_>) = sessions.iter().partition(|session| session.actor().user == "user-0");
    let waiting: Vec<_> = silent
        .iter()
        .map(|session| tokio::spawn(session.turn("Go").run()))
        .collect();
    people.silent.notified().await;

    // Everybody else is served while one person does not answer.
    let turns = others.iter().map(|session| async move {
        for _ in 0..TURNS {
            session.turn("Go").await.unwrap();
        }
    });
    join_all(turns).await;

    for session in &others {
        let results = results(session).await;
        assert_eq!(results.len(), TURNS);
        let paid = results.iter().filter(|text| *text == "paid").count();
        let allowed = People::number(&session.actor().user) % 4 == 1;
        assert_eq!(
            paid,
            if allowed { TURNS } else { 0 },
            "{}: {results:?}",
            session.actor()
        );
    }
    // Each of the two actors who allow it always was asked at most once per session that ran at the same time, and every
    // call of the others was asked about.
    let asked = people.asked.lock().unwrap().clone();
    for (user, asked) in &asked {
        let number = People::number(user);
        match number {
            0 => assert_eq!(*asked, SESSIONS / USERS, "each session asks its own person"),
            user if user % 4 == 1 => assert!((2..=SESSIONS / USERS).contains(asked), "user-{user}: {asked}"),
            _ => assert_eq!(*asked, TURNS * SESSIONS / USERS, "{user}"),
        }
    }
    assert_eq!(asked.len(), USERS);

    // The audit names the actor of every decision.
    let records = decisions.0.lock().unwrap().clone();
    let decided = records.iter().filter(|record| record["event"] == "decided");
    let mut of_users = BTreeMap::<String, usize>::new();
    for record in decided {
        let actor = &record["actor"];
        let key = format!(
            "{}/{}",
            actor["tenant"].as_str().unwrap(),
            actor["user"].as_str().unwrap()
        );
        *of_users.entry(key).or_default() += 1;
    }
    assert_eq!(of_users.len(), 2 * (USERS - 1), "{of_users:?}");
    assert!(
        of_users.values().all(|count| *count == TURNS * SESSIONS / USERS / 2),
        "{of_users:?}"
    );

    for turn in waiting {
        turn.abort();
    }
}
