//! Sessions, journals and checkpoints without secrets.
//!
//! | contract | redacted |
//! |---|---|
//! | [`Journal`] | the data of records |
//! | [`SessionWriter`] | titles, metadata, contents of messages, data of events, inputs and outcomes of runs, arguments and results of calls, questions and answers, documents, the data of records |
//! | [`CheckpointStore`] | the data |
//!
//! In JSON, strings and the names of members are redacted at any depth. If two names of an object become the same, the last member
//! is kept. Ids, owners, kinds of records and events, names of tools and streams are not changed: they must not contain secrets.

use agcore_chat::{
    Actor,
    redact::{Redacted, Redactor, redact_json, redact_members, redact_text},
};
use async_trait::async_trait;
use serde_json::Value;

use crate::{
    checkpoint::{Checkpoint, CheckpointStore, NewCheckpoint, RunKey},
    error::SessionError,
    hold::Hold,
    journal::{Entry, Journal, Record},
    session::{
        Approval, ApprovalChange, CallChange, Commit, Committed, MessageMetadata, NewEvent, NewMessage, NewSession,
        Session, SessionEvents, SessionWriter, StoreLayer,
    },
};

/// Removes secrets from texts and values before a store writes them.
struct Secrets<'r>(&'r dyn Redactor);

impl Secrets<'_> {
    fn text(&self, text: &mut String) {
        redact_text(self.0, text);
    }

    fn json(&self, value: &mut Value) {
        redact_json(self.0, value);
    }

    fn records(&self, records: &mut [Record]) {
        records.iter_mut().for_each(|record| self.json(&mut record.data));
    }

    fn message(&self, message: &mut NewMessage) {
        self.text(&mut message.content);
        match &mut message.metadata {
            Some(MessageMetadata::UserInput { data }) => redact_members(self.0, data),
            Some(MessageMetadata::ToolCall { arguments, .. }) => self.json(arguments),
            Some(MessageMetadata::ToolResult { .. } | MessageMetadata::AssistantOutput) | None => {}
        }
    }

    fn event(&self, event: &mut NewEvent) {
        let mut data = std::mem::take(&mut event.data).into_value();
        self.json(&mut data);
        event.data = data.into();
    }

    fn call(&self, call: &mut CallChange) {
        match call {
            CallChange::Start { arguments, .. } => self.json(arguments),
            CallChange::Finish { result, .. } => self.json(result),
        }
    }

    fn approval(&self, approval: &mut ApprovalChange) {
        match approval {
            ApprovalChange::Ask(new) => self.json(&mut new.question),
            ApprovalChange::Answer { answer, .. } => self.json(answer),
            ApprovalChange::Withdraw { .. } => {}
        }
    }

    fn commit(&self, commit: &mut Commit) {
        self.records(&mut commit.records);
        commit.messages.iter_mut().for_each(|message| self.message(message));
        commit.events.iter_mut().for_each(|event| self.event(event));
        let data = commit
            .runs
            .iter_mut()
            .flat_map(|run| [&mut run.input, &mut run.outcome]);
        data.flatten().for_each(|data| self.json(data));
        commit.calls.iter_mut().for_each(|call| self.call(call));
        commit.approvals.iter_mut().for_each(|approval| self.approval(approval));
        let document = commit.document.iter_mut().map(|document| &mut document.value);
        document.for_each(|value| self.json(value));
        commit.title.iter_mut().for_each(|title| self.text(title));
    }
}

#[async_trait]
impl<S: Journal> Journal for Redacted<S> {
    async fn append(&self, stream: &str, expected: u64, mut records: Vec<Record>) -> Result<u64, SessionError> {
        Secrets(self.redactor()).records(&mut records);
        self.inner().append(stream, expected, records).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        self.inner().read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.inner().trim(stream, before).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        self.inner().delete(stream).await
    }
}

impl<S> StoreLayer for Redacted<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        self.inner()
    }
}

#[async_trait]
impl<S: SessionWriter> SessionWriter for Redacted<S> {
    async fn create(&self, mut session: NewSession) -> Result<Session, SessionError> {
        let secrets = Secrets(self.redactor());
        session.title.iter_mut().for_each(|title| secrets.text(title));
        redact_members(self.redactor(), &mut session.metadata);
        self.inner().create(session).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        mut commit: Commit,
    ) -> Result<Committed, SessionError> {
        Secrets(self.redactor()).commit(&mut commit);
        self.inner().commit(tenant, session, expected, commit).await
    }

    async fn commit_events(&self, mut batch: Vec<SessionEvents>) -> Vec<Result<Committed, SessionError>> {
        let secrets = Secrets(self.redactor());
        let events = batch.iter_mut().flat_map(|part| &mut part.events);
        events.for_each(|event| secrets.event(event));
        self.inner().commit_events(batch).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        let title = title.map(|title| self.redactor().redact(title));
        self.inner().rename(tenant, session, title.as_deref()).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        mut answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        Secrets(self.redactor()).json(&mut answer);
        self.inner().answer(tenant, session, question, answer, by).await
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        self.inner().hold(name).await
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        self.inner().hold_shared(name).await
    }
}

#[async_trait]
impl<S: CheckpointStore> CheckpointStore for Redacted<S> {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        mut checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        Secrets(self.redactor()).json(&mut checkpoint.data);
        self.inner().save_checkpoint(run, expected, checkpoint).await
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        self.inner().latest_checkpoints(run).await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.inner().checkpoints(run, from).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        self.inner().trim_checkpoints(run, before).await
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{Timestamp, redact::KeyRedactor};
    use serde_json::json;

    use super::*;
    use crate::{
        journal::Record,
        run_status::RunStatus,
        session::{DocumentChange, MessageRole, NewApproval, NewEvent, RunChange},
    };

    #[test]
    fn no_part_of_a_commit_keeps_a_secret() {
        const KEY: &str = "sk-0123456789abcdef";
        let secret = || json!({KEY: [KEY]});
        let message = || NewMessage::new("m", MessageRole::User, format!("my key {KEY}"));
        let input = MessageMetadata::UserInput {
            data: [(KEY.to_owned(), secret())].into_iter().collect(),
        };
        let call = MessageMetadata::ToolCall {
            call_id: "c".to_owned(),
            name: "t".to_owned(),
            arguments: secret(),
        };
        let mut run = RunChange::new("r", RunStatus::Completed);
        (run.input, run.outcome) = (Some(secret()), Some(secret()));
        let commit = Commit::new()
            .with_record(Record::new("k", 1, Timestamp::default(), secret()))
            .with_message(message().with_metadata(input))
            .with_message(message().with_metadata(call))
            .with_event(NewEvent::new("r", "e", secret()))
            .with_run(run)
            .with_call(CallChange::start("r", "c", "t", secret()))
            .with_call(CallChange::finish("r", "c", secret()))
            .with_approval(ApprovalChange::Ask(NewApproval::new("q", "r", secret())))
            .with_approval(ApprovalChange::answer("q", secret(), Actor::local()))
            .with_document(DocumentChange::new(secret()))
            .with_title(KEY);
        let count = |commit: &Commit| format!("{commit:?}").matches(KEY).count();
        assert_eq!(count(&commit), 26);
        let mut clean = commit;
        Secrets(&KeyRedactor).commit(&mut clean);
        assert_eq!(count(&clean), 0, "{clean:?}");
        assert_eq!(format!("{clean:?}").matches("[redacted]").count(), 26);
    }
}
