//! The chat: conversations, and one of them with its messages.

mod entry;

use maud::{Markup, html};

use self::entry::{Branch, entry};
pub use self::entry::{Call, Entry, entry_fragment, running_entry_id};
use crate::{
    format::encoded,
    inbox::{Notice, QuestionCard, card, outcome},
    parts::{age, command, pager},
    shell::{Page, Section, Shell},
    texts::Texts,
    visible::{visible, visible_beginning, visible_text},
};

/// The longest title in the list, in bytes.
const MAX_NAME: usize = 300;

/// The conversations, and the one that is open.
#[derive(Debug, Clone, Default)]
pub struct ChatView {
    /// The conversations, those changed last first.
    pub threads: Vec<ThreadRow>,
    /// The place of this page of the list, unless it is the first one.
    pub cursor: Option<String>,
    /// The place of the next page of the list.
    pub next: Option<String>,
    /// The agents: their names and descriptions. The first one is the default.
    pub agents: Vec<(String, String)>,
    /// The conversation that is open.
    pub thread: Option<ThreadView>,
    /// The id under which a new conversation would be kept.
    pub new_thread: String,
    /// The id of the run that the next message would start, so that a message that is sent twice starts one.
    pub new_run: String,
    /// The outcome of what the user has just done.
    pub notice: Option<Notice>,
}

/// A conversation in the list.
#[derive(Debug, Clone)]
pub struct ThreadRow {
    /// The id.
    pub id: String,
    /// The title.
    pub title: Option<String>,
    /// The agent that answers.
    pub agent: Option<String>,
    /// Whether a run is active, or waits for a person.
    pub is_active: bool,
    /// When it changed last, in milliseconds since 1970.
    pub changed: i64,
}

/// A conversation with its messages.
#[derive(Debug, Clone, Default)]
pub struct ThreadView {
    /// The id.
    pub id: String,
    /// The title.
    pub title: Option<String>,
    /// The agent that answers.
    pub agent: Option<String>,
    /// The messages and calls, in order.
    pub entries: Vec<Entry>,
    /// The number before which older messages begin.
    pub older: Option<u64>,
    /// The run that is active, whose entries the stream sends.
    pub active: Option<String>,
    /// The questions that wait for the user.
    pub questions: Vec<QuestionCard>,
    /// The id of the run that the next message would start.
    pub new_run: String,
    /// The id under which a branch would be kept.
    pub new_thread: String,
    /// Whether the conversation can continue from an earlier message.
    pub can_branch: bool,
}

impl ThreadView {
    fn address(&self) -> String {
        format!("/console/chat/{}", encoded(&self.id))
    }

    /// Returns the state of the part below the messages: what can be done now.
    fn state(&self) -> Composer<'_> {
        match (&self.active, self.questions.is_empty()) {
            (Some(run), _) => Composer::Active(run),
            (None, false) => Composer::Asked,
            (None, true) => Composer::Free,
        }
    }
}

/// The part below the messages, by the state of the conversation.
enum Composer<'c> {
    /// The run is active and can be stopped.
    Active(&'c str),
    /// A question has to be answered first.
    Asked,
    /// A message can be sent.
    Free,
}

/// Returns the page with a conversation, or with a new one.
pub fn chat_page(shell: &Shell, view: &ChatView) -> String {
    let texts = shell.texts();
    let title = view
        .thread
        .as_ref()
        .map_or(texts.new_chat, |thread| title(thread.title.as_deref(), texts));
    let body = html! {
        div class="chat" {
            (threads(shell, view))
            section class="conversation" aria-label=(visible_text(title)) {
                div class="head" {
                    h1 { (visible_beginning(title, MAX_NAME)) }
                    @if let Some(agent) = view.thread.as_ref().and_then(|thread| thread.agent.as_deref()) {
                        span class="tag" { (visible(agent)) }
                    }
                }
                @if let Some(notice) = &view.notice { (outcome(notice, texts)) }
                @match &view.thread {
                    Some(thread) => (conversation(shell, thread)),
                    None => (beginning(shell, view)),
                }
            }
        }
    };
    let live = view.thread.as_ref().and_then(|thread| {
        let run = encoded(thread.active.as_deref()?);
        Some(format!("/console/live/chat/{}?run={run}", encoded(&thread.id)))
    });
    shell.render(&Page {
        title,
        section: Some(Section::Chat),
        live,
        body,
    })
}

/// Returns the part below the messages as it is when the run has ended.
pub fn composer_fragment(shell: &Shell, thread: &ThreadView) -> String {
    composer(shell, thread).into_string()
}

fn title<'t>(title: Option<&'t str>, texts: &'t Texts) -> &'t str {
    title
        .filter(|title| !title.trim().is_empty())
        .unwrap_or(texts.title_untitled)
}

fn threads(shell: &Shell, view: &ChatView) -> Markup {
    let texts = shell.texts();
    let open = view.thread.as_ref().map(|thread| &*thread.id);
    let first = view.cursor.is_some().then_some("/console/chat");
    let next = view
        .next
        .as_ref()
        .map(|next| format!("/console/chat?cursor={}", encoded(next)));
    html! {
        nav class="threads" aria-label=(texts.threads) {
            a class="button" href="/console/chat" { (texts.new_chat) }
            ul {
                @for thread in &view.threads {
                    li data-item {
                        a href=(format!("/console/chat/{}", encoded(&thread.id))) data-open
                            aria-current=[(open == Some(&*thread.id)).then_some("page")] {
                            span class="name" {
                                @if thread.is_active { span class="dot" title=(texts.running) {} " " }
                                (visible_beginning(title(thread.title.as_deref(), texts), MAX_NAME))
                            }
                            span class="quiet num" { (age(shell, thread.changed)) }
                        }
                    }
                }
            }
            (pager(first, next.as_deref(), texts))
        }
    }
}

fn conversation(shell: &Shell, thread: &ThreadView) -> Markup {
    let texts = shell.texts();
    let branch = Branch {
        thread: &thread.new_thread,
        run: &thread.new_run,
    };
    // A run that is active may still change the conversation.
    let branch = (thread.can_branch && thread.active.is_none()).then_some(branch);
    html! {
        @if let Some(older) = thread.older {
            p class="pager" { a href=(format!("{}?before={older}", thread.address())) { (texts.older) } }
        }
        div id="entries" class="entries" role="log" aria-live="polite" aria-relevant="additions" {
            @for one in &thread.entries { (entry(shell, &thread.id, one, branch)) }
        }
        (composer(shell, thread))
    }
}

fn composer(shell: &Shell, thread: &ThreadView) -> Markup {
    let texts = shell.texts();
    html! {
        div id="composer" class="composer" {
            @for question in &thread.questions { (card(shell, question, &thread.address(), false)) }
            @match thread.state() {
                Composer::Active(run) => (stop(shell, thread, run)),
                Composer::Asked => p class="quiet" { (texts.ask_first) },
                Composer::Free => (shell.form(&thread.address(), "message", &message(texts, &thread.new_run))),
            }
        }
    }
}

fn stop(shell: &Shell, thread: &ThreadView, run: &str) -> Markup {
    let texts = shell.texts();
    let action = format!("/console/runs/{}/{}/cancel", encoded(&thread.id), encoded(run));
    let content = html! {
        input type="hidden" name="back" value=(thread.address());
        span class="quiet" role="status" { (texts.working) }
        button data-stop { (texts.stop) }
    };
    shell.form(&action, "buttons", &content)
}

/// Returns the field for a message.
fn message(texts: &Texts, run: &str) -> Markup {
    html! {
        input type="hidden" name="run" value=(run);
        label class="hidden-text" for="message" { (texts.message_label) }
        textarea id="message" name="message" rows="3" required placeholder=(texts.message_label) data-focus data-submit {}
        div class="buttons" {
            span class="quiet grow" { (texts.send_hint) }
            button class="primary" { (texts.send) }
        }
    }
}

fn beginning(shell: &Shell, view: &ChatView) -> Markup {
    let texts = shell.texts();
    let content = html! {
        input type="hidden" name="thread" value=(view.new_thread);
        @if view.agents.len() > 1 {
            label for="agent" { (texts.chosen_agent) }
            select id="agent" name="agent" {
                @for (name, description) in &view.agents {
                    option value=(name) {
                        (visible_text(name)) @if !description.is_empty() { " – " (visible_text(description)) }
                    }
                }
            }
        }
        (message(texts, &view.new_run))
    };
    html! {
        @if view.threads.is_empty() && view.cursor.is_none() {
            section class="empty" {
                h2 { (texts.chat_empty) }
                p { (texts.chat_empty_next) }
                (command("agcore chat 'Hello'", texts))
            }
        }
        (shell.form("/console/chat", "message new", &content))
    }
}
