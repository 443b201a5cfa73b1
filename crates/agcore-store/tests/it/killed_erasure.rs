//! The death of a process that erases sessions with parts: each of them is erased as a whole, or not at all.

use std::collections::{BTreeMap, BTreeSet};

use agcore_session::{
    Commit, MessageFilter, MessageRole, NewEvent, NewMessage, NewSession, RunChange, RunStatus, Session, SessionFilter,
    SessionStore,
};
use serde_json::json;

/// The number of parts of each session.
const PARTS: usize = 6;

/// Creates and erases sessions until the process is killed. Reports what was acknowledged.
pub(crate) async fn erase_forever(store: &impl SessionStore, generation: &str, report: impl Fn(&str)) {
    for number in 1.. {
        let whole = format!("{generation}-{number}");
        create(store, NewSession::new(&*whole)).await;
        for part in 1..=PARTS {
            create(store, NewSession::new(format!("{whole}/{part}")).with_part_of(&*whole)).await;
        }
        report(&format!("created {whole}"));
        assert!(store.erase_session("local", &whole).await.unwrap());
        report(&format!("erased {whole}"));
    }
}

async fn create(store: &impl SessionStore, new: NewSession) {
    let id = store.create(new).await.unwrap().id;
    let messages = (0..5).map(|number| NewMessage::new(format!("m{number}"), MessageRole::User, "SECRET ".repeat(50)));
    let start = Commit::new()
        .with_run(RunChange::new("r", RunStatus::Running))
        .with_event(NewEvent::new("r", "text", json!("SECRET")));
    store
        .commit("local", &id, 0, messages.fold(start, Commit::with_message))
        .await
        .unwrap();
}

/// Checks what processes have left that were killed after these reports.
pub(crate) async fn check(store: &impl SessionStore, reports: &BTreeSet<String>) {
    let filter = SessionFilter::new("local").with_erased();
    let all = store.sessions(&filter).await.unwrap();
    let (erased, kept): (Vec<Session>, Vec<Session>) = all.into_iter().partition(Session::is_erased);
    for (whole, count) in members(&erased) {
        assert_eq!(count, 1 + PARTS, "{whole} was erased in part");
    }
    let kept_members = members(&kept);
    for report in reports {
        let (kind, whole) = report.split_once(' ').unwrap();
        let count = kept_members.get(whole).copied().unwrap_or(0);
        match kind {
            "erased" => assert_eq!(count, 0, "{whole} was erased, and {count} of its sessions are left"),
            _ => assert!(count == 0 || count == 1 + PARTS, "{count} sessions of {whole} are left"),
        }
    }
    for (sessions, is_erased) in [(&erased, true), (&kept, false)] {
        for session in sessions {
            let messages = store
                .messages("local", &session.id, &MessageFilter::new())
                .await
                .unwrap();
            let blank = messages.iter().filter(|message| message.content.is_empty()).count();
            let expected = if is_erased { messages.len() } else { 0 };
            assert_eq!(blank, expected, "{} was erased in part", session.id);
        }
    }
}

/// Returns the number of sessions of each whole.
fn members(sessions: &[Session]) -> BTreeMap<&str, usize> {
    let mut members = BTreeMap::new();
    for session in sessions {
        let whole = session.part_of.as_deref().unwrap_or(&session.id);
        *members.entry(whole).or_default() += 1;
    }
    members
}
