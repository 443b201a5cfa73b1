//! The inbox: every open question that the user may answer.

use maud::{Markup, html};
use serde_json::Value;

use crate::{
    format::encoded,
    json::json,
    parts::{age, empty, notice, pager},
    shell::{Page, Section, Shell},
    texts::{Texts, fill},
    visible::visible,
};

/// The open questions.
#[derive(Debug, Clone, Default)]
pub struct InboxView {
    /// The questions, the oldest first.
    pub questions: Vec<QuestionCard>,
    /// The place of this page, unless it is the first one.
    pub cursor: Option<String>,
    /// The place of the next page.
    pub next: Option<String>,
    /// The outcome of the last answer.
    pub notice: Option<Notice>,
}

/// The outcome of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The run continues.
    Answered,
    /// Somebody has answered before, or the run has ended: by whom and when, if that is known.
    Elsewhere(String, String),
    /// The answer does not fit the question.
    Refused(String),
}

/// A question to a person.
#[derive(Debug, Clone)]
pub struct QuestionCard {
    /// The id of the thread.
    pub thread: String,
    /// The run that waits.
    pub run: String,
    /// The id.
    pub id: String,
    /// The title of the thread.
    pub title: Option<String>,
    /// The kind of answer that is needed.
    pub kind: QuestionKind,
    /// The text of the question.
    pub prompt: String,
    /// The tool that would run.
    pub tool: String,
    /// The arguments with which it would run, exactly.
    pub arguments: Value,
    /// Why the question is asked.
    pub reason: String,
    /// The schema of the answer.
    pub schema: Option<Value>,
    /// Whether the tool only reads.
    pub read_only: bool,
    /// Whether the tool may destroy data.
    pub destructive: bool,
    /// Whether the tool reaches the internet.
    pub open_world: bool,
    /// When it was asked, in milliseconds since 1970.
    pub asked: i64,
}

/// The kind of answer that a question needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// Yes or no.
    Approval,
    /// Any value.
    Input,
    /// The result of a call that the client runs.
    Client,
}

/// Returns the page with the open questions.
pub fn inbox_page(shell: &Shell, view: &InboxView) -> String {
    let texts = shell.texts();
    let body = html! {
        div class="head" { h1 { (texts.inbox_title) } }
        @if let Some(notice) = &view.notice { (outcome(notice, texts)) }
        (list(shell, view))
    };
    shell.render(&Page {
        title: texts.inbox_title,
        section: Some(Section::Inbox),
        live: view.cursor.is_none().then(|| "/console/live/inbox".to_owned()),
        body,
    })
}

/// Returns the part of the page that changes.
pub fn inbox_fragment(shell: &Shell, view: &InboxView) -> String {
    list(shell, view).into_string()
}

/// Returns the number beside the link to the inbox, which changes on every page.
pub fn count_fragment(shell: &Shell) -> String {
    let count = shell.question_count();
    shell.badge(count.as_deref()).into_string().trim().to_owned()
}

/// Returns the outcome of an answer.
pub(crate) fn outcome(outcome: &Notice, texts: &Texts) -> Markup {
    match outcome {
        Notice::Answered => notice(texts.answered, false),
        Notice::Elsewhere(user, time) => {
            notice(&fill(texts.answered_elsewhere, &[("user", user), ("time", time)]), true)
        }
        Notice::Refused(reason) => notice(&fill(texts.answer_refused, &[("reason", reason)]), true),
    }
}

fn list(shell: &Shell, view: &InboxView) -> Markup {
    let texts = shell.texts();
    let first = view.cursor.is_some().then_some("/console/inbox");
    let next = view
        .next
        .as_ref()
        .map(|next| format!("/console/inbox?cursor={}", encoded(next)));
    html! {
        div id="questions" {
            @if view.questions.is_empty() {
                (empty(texts.inbox_empty, texts.inbox_empty_next, "agcore tools", texts))
            }
            @for question in &view.questions { (card(shell, question, "/console/inbox", true)) }
            (pager(first, next.as_deref(), texts))
        }
    }
}

/// Returns a question with the form that answers it, after which the browser is at `back`.
pub(crate) fn card(shell: &Shell, question: &QuestionCard, back: &str, names_thread: bool) -> Markup {
    let texts = shell.texts();
    let id = format!("q-{}-{}", encoded(&question.thread), encoded(&question.id));
    html! {
        article class="question" id=(id) data-item tabindex="-1" {
            header {
                h2 {
                    @if question.tool.is_empty() { (visible(&question.prompt)) } @else { code { (visible(&question.tool)) } }
                }
                span class="quiet" { (fill(texts.question_waits, &[("age", &age(shell, question.asked))])) }
            }
            @if names_thread {
                p class="quiet" {
                    a href=(format!("/console/chat/{}", encoded(&question.thread))) data-open {
                        @let title = question.title.as_deref().unwrap_or(texts.title_untitled);
                        (visible(&fill(texts.in_thread, &[("title", title)])))
                    }
                }
            }
            @if !question.tool.is_empty() { p { (visible(&question.prompt)) } }
            p class="tags" { (annotations(question, texts)) }
            @if !question.arguments.is_null() { h3 { (texts.arguments) } (json(&question.arguments)) }
            @if let Some(schema) = &question.schema {
                details { summary { (texts.schema) } (json(schema)) }
            }
            (reasons(question, texts))
            (answers(shell, question, back))
        }
    }
}

fn annotations(question: &QuestionCard, texts: &Texts) -> Markup {
    let all = [
        (question.read_only, texts.read_only),
        (question.destructive, texts.destructive),
        (question.open_world, texts.reaches_out),
    ];
    html! { @for (_, label) in all.into_iter().filter(|(is_so, _)| *is_so) { span class="tag" { (label) } " " } }
}

fn reasons(question: &QuestionCard, texts: &Texts) -> Markup {
    let if_no = match question.kind {
        QuestionKind::Client => texts.question_if_no_client,
        _ => texts.question_if_no_tool,
    };
    html! {
        dl class="facts" {
            @if !question.reason.is_empty() { dt { (texts.question_reason) } dd { (visible(&question.reason)) } }
            dt { (texts.question_if_no) } dd { (if_no) }
        }
    }
}

fn answers(shell: &Shell, question: &QuestionCard, back: &str) -> Markup {
    let texts = shell.texts();
    let field = |id: &str| format!("{id}-{}-{}", encoded(&question.thread), encoded(&question.id));
    let content = html! {
        input type="hidden" name="back" value=(back);
        input type="hidden" name="question" value=(question.id);
        @if question.kind == QuestionKind::Approval {
            div class="buttons" {
                button class="primary" name="decision" value="allow" data-key="a" { (texts.allow) }
                button name="decision" value="deny" data-key="d" { (texts.deny) }
                label class="grow" for=(field("reason")) { span class="hidden-text" { (texts.reason_label) }
                    input type="text" id=(field("reason")) name="reason" maxlength="2000"
                        placeholder={ (texts.reason_label) " – " (texts.reason_hint) };
                }
            }
        } @else {
            label for=(field("value")) { (texts.answer_label) }
            textarea id=(field("value")) name="value" rows="3" {}
            @if question.schema.is_some() || question.kind == QuestionKind::Client { p class="quiet" { (texts.answer_json) } }
            div class="buttons" {
                button class="primary" name="decision" value="answer" { (texts.answer) }
                button name="decision" value="decline" data-key="d" formnovalidate { (texts.decline) }
            }
        }
    };
    let action = format!(
        "/console/inbox/{}/{}",
        encoded(&question.thread),
        encoded(&question.run)
    );
    shell.form(&action, "answer", &content)
}
