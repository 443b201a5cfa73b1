//! Messages and the commits with which they are stored.

use agcore_session::{
    Actor, ClaimRequest, Commit, MessageRole, NewMessage, NewSession, RunChange, RunStatus, SessionErrorKind,
};
use agcore_webhook::{EventKind, WebhookScope};

use super::opened::{LENGTH, ann, hook, open, runs};
use crate::stores::WebhookStoreSubject;

/// Returns a commit that ends a run.
fn completed(run: &str) -> Commit {
    Commit::new().with_run(RunChange::new(run, RunStatus::Completed))
}

/// Checks that a commit that is refused leaves no message, whatever the reason.
pub async fn a_failed_commit_leaves_no_message(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    let message = || NewMessage::new("m", MessageRole::User, "Hello");
    let start = Commit::new()
        .with_run(RunChange::new("r", RunStatus::Running))
        .with_run(RunChange::new("over", RunStatus::Completed))
        .with_message(message());
    opened.commit(&ann(), "t", start).await.unwrap();
    assert_eq!(runs(&opened.messages("w").await), ["over"]);

    let stale = opened.sessions.commit("acme", "t", 7, completed("r")).await;
    assert!(matches!(stale.unwrap_err().kind(), SessionErrorKind::Conflict { .. }));
    let missing = opened.sessions.commit("acme", "none", 0, completed("r")).await;
    assert_eq!(missing.unwrap_err().kind(), SessionErrorKind::NotFound);
    let twice = completed("r").with_message(message());
    let twice = opened.commit(&ann(), "t", twice).await;
    assert_eq!(twice.unwrap_err().kind(), SessionErrorKind::AlreadyExists);
    let impossible = completed("r").with_run(RunChange::new("over", RunStatus::Failed));
    let impossible = opened.commit(&ann(), "t", impossible).await;
    assert_eq!(impossible.unwrap_err().kind(), SessionErrorKind::InvalidState);
    assert_eq!(runs(&opened.messages("w").await), ["over"]);
    // The same commit without what was wrong causes the message.
    opened.commit(&ann(), "t", completed("r")).await.unwrap();
    assert_eq!(runs(&opened.messages("w").await), ["r", "over"]);
}

/// Checks that a worker whose lease was lost causes no message, and the one that has the lease does.
pub async fn a_fenced_commit_leaves_no_message(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.run(&ann(), ("t", "r"), RunStatus::Queued).await;
    let mut leases = Vec::new();
    for holder in ["lost", "held"] {
        let request = ClaimRequest::new(holder, holder).with_length(LENGTH);
        let claims = opened.sessions.claim(&request).await.unwrap();
        leases.extend(claims.leases);
        if holder == "lost" {
            opened.pass(LENGTH.as_secs() + 1).await;
        }
    }
    let [lost, held] = leases.try_into().unwrap();
    let running = Commit::new().with_run(RunChange::new("r", RunStatus::Running));
    opened
        .commit(&ann(), "t", running.with_fence(held.fence()))
        .await
        .unwrap();
    let fenced = opened
        .commit(&ann(), "t", completed("r").with_fence(lost.fence()))
        .await;
    assert_eq!(fenced.unwrap_err().kind(), SessionErrorKind::Fenced);
    assert_eq!(opened.messages("w").await, []);
    opened
        .commit(&ann(), "t", completed("r").with_fence(held.fence()))
        .await
        .unwrap();
    assert_eq!(runs(&opened.messages("w").await), ["r"]);
}

/// Checks that a run that fails because it was claimed too often causes a message, once.
pub async fn a_dead_letter_is_reported(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.create(hook("bo").with_owner(Actor::new("acme", "bo"))).await;
    opened.run(&ann(), ("t", "r"), RunStatus::Queued).await;
    for holder in ["a", "b", "c"] {
        let request = ClaimRequest::new(holder, holder)
            .with_length(LENGTH)
            .with_max_attempts(1);
        let claims = opened.sessions.claim(&request).await.unwrap();
        assert_eq!(claims.dead.len(), usize::from(holder == "b"));
        opened.pass(LENGTH.as_secs() + 1).await;
    }
    let message = opened.message("w").await;
    let run = message.event.run.as_ref().unwrap();
    assert_eq!(
        (message.event.kind, &message.event.owner),
        (EventKind::RunFailed, &ann())
    );
    assert_eq!((&*run.thread, &*run.run), ("t", "r"));
    assert_eq!(opened.messages("bo").await, []);
    assert_eq!(opened.claim_one("d").await.delivery.id, message.id);
}

/// Checks that runs of the parts of a thread, in which the agents of flows work, cause no messages.
pub async fn parts_of_a_thread_are_not_reported(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.create(hook("wide").with_scope(WebhookScope::Tenant)).await;
    opened.run(&ann(), ("whole", "r"), RunStatus::Running).await;
    let part = NewSession::new("part").with_owner(ann()).with_part_of("whole");
    opened.sessions.create(part).await.unwrap();
    for status in [RunStatus::Running, RunStatus::Interrupted, RunStatus::Failed] {
        opened.run(&ann(), ("part", "r"), status).await;
    }
    assert_eq!(opened.messages("w").await, []);
    opened.run(&ann(), ("whole", "r"), RunStatus::Completed).await;
    for webhook in ["w", "wide"] {
        let message = opened.message(webhook).await;
        assert_eq!(message.event.run.unwrap().thread, "whole");
    }
}

/// Checks that messages about a thread that was deleted meanwhile are still sent: they name it, and contain nothing of it.
pub async fn messages_survive_their_thread(subject: &dyn WebhookStoreSubject) {
    let opened = open(subject).await;
    opened.create(hook("w")).await;
    opened.complete("r").await;
    let message = opened.message("w").await;
    assert!(opened.sessions.delete_session("acme", "r").await.unwrap());
    assert_eq!(opened.message("w").await, message);
    assert_eq!(opened.claim_one("a").await.delivery, message);
}
