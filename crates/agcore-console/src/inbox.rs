//! The inbox: every open question that the user may answer.

mod view;
mod answers;
mod bulk;

use maud::{Markup, html};

pub use self::view::{BulkLine, BulkOutcome, Draft, InboxView, Notice, QuestionCard, QuestionKind};
use self::{
    answers::answers,
    bulk::{bulk, report, selection},
};
use crate::{
    format::encoded,
    json::json,
    parts::{age, empty, notice, pager},
    shell::{Page, Section, Shell},
    texts::{Texts, fill},
    visible::{beginning, visible, visible_beginning},
};

/// The longest name or title in a card, in bytes.
const MAX_NAME: usize = 300;

/// The longest text in a card, in bytes.
const MAX_TEXT: usize = 4096;

/// Returns the page with the open questions.
pub fn inbox_page(shell: &Shell, view: &InboxView) -> String {
    let texts = shell.texts();
    let body = html! {
        div class="head" { h1 { (texts.inbox_title) } }
        @if let Some(notice) = &view.notice { (outcome(notice, texts)) }
        @if !view.report.is_empty() { (report(&view.report, texts)) }
        (list(shell, view))
    };
    // What the user has to correct stays as it is.
    let is_live = view.cursor.is_none() && view.questions.iter().all(|question| question.draft.is_none());
    shell.render(&Page {
        title: texts.inbox_title,
        section: Some(Section::Inbox),
        live: is_live.then(|| "/console/live/inbox".to_owned()),
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
        Notice::NothingSelected => notice(texts.bulk_none, true),
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
            (bulk(shell, view))
            @for question in &view.questions { (card(shell, question, "/console/inbox", true)) }
            (pager(first, next.as_deref(), texts))
        }
    }
}

/// Returns a question with the form that answers it, after which the browser is at `back`.
pub(crate) fn card(shell: &Shell, question: &QuestionCard, back: &str, names_thread: bool) -> Markup {
    let texts = shell.texts();
    html! {
        article class="question" id=(question.element("q")) data-item tabindex="-1" {
            header {
                @if names_thread { (selection(question, texts)) }
                h2 {
                    @if question.tool.is_empty() { (visible_beginning(&question.prompt, MAX_TEXT)) } @else { code { (visible_beginning(&question.tool, MAX_NAME)) } }
                }
                span class="quiet" { (fill(texts.question_waits, &[("age", &age(shell, question.asked))])) }
            }
            @if names_thread {
                p class="quiet" {
                    a href=(format!("/console/chat/{}", encoded(&question.thread))) data-open {
                        @let title = question.title.as_deref().unwrap_or(texts.title_untitled);
                        (visible(&fill(texts.in_thread, &[("title", beginning(title, MAX_NAME).0)])))
                    }
                }
            }
            @if !question.tool.is_empty() { p { (visible_beginning(&question.prompt, MAX_TEXT)) } }
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
            @if !question.reason.is_empty() { dt { (texts.question_reason) } dd { (visible_beginning(&question.reason, MAX_TEXT)) } }
            dt { (texts.question_if_no) } dd { (if_no) }
        }
    }
}
