//! [`Shell`]: what surrounds every page.

use maud::{DOCTYPE, Markup, html};

use crate::{
    assets,
    language::Language,
    texts::{Texts, fill, texts_of},
    visible::{visible, visible_text},
};

/// The colours of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Those of the system.
    #[default]
    System,
    /// Light ones.
    Light,
    /// Dark ones.
    Dark,
}

impl Theme {
    /// Returns the name in cookies and forms.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Returns the theme with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::System, Self::Light, Self::Dark]
            .into_iter()
            .find(|theme| theme.name() == name)
    }
}

/// A part of the console, as in its navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Conversations.
    Chat,
    /// Open questions.
    Inbox,
    /// Runs.
    Runs,
    /// Costs.
    Cost,
    /// Schedules.
    Schedules,
    /// Webhooks.
    Webhooks,
    /// The pages of administrators.
    Operations,
}

/// The surroundings of a page: who sees it and in which form.
#[derive(Debug, Clone, Default)]
pub struct Shell {
    /// The language.
    pub language: Language,
    /// The colours.
    pub theme: Theme,
    /// The path and query of the page, to which its settings lead back.
    pub path: String,
    /// The scheme and the host under which the browser knows the server, for commands.
    pub origin: String,
    /// The token that proves that a form comes from these pages.
    pub form_token: String,
    /// The name of the user and the tenant, if there are users.
    pub user: Option<String>,
    /// Whether the user can sign out: the browser has a cookie with a token.
    pub can_sign_out: bool,
    /// Whether the user can sign in as an administrator.
    pub can_administer: bool,
    /// Whether somebody is signed in, or need not be. Otherwise, there is no navigation.
    pub is_inside: bool,
    /// Whether the user is an administrator, who sees pages of administrators only.
    pub is_administrator: bool,
    /// Whether the server keeps schedules.
    pub has_schedules: bool,
    /// Whether the server keeps webhooks.
    pub has_webhooks: bool,
    /// The number of open questions, up to a limit, and whether there are more.
    pub questions: (usize, bool),
    /// The time of the server in milliseconds since 1970.
    pub now: i64,
}

/// A page before it is surrounded.
pub(crate) struct Page<'p> {
    pub(crate) title: &'p str,
    pub(crate) section: Option<Section>,
    /// The address of the stream that keeps the page up to date.
    pub(crate) live: Option<String>,
    pub(crate) body: Markup,
}

impl Shell {
    /// Returns the address of the first page for the one who is signed in.
    pub const fn home(&self) -> &'static str {
        match self.is_administrator {
            true => "/console/operations",
            false => "/console/runs",
        }
    }

    pub(crate) fn texts(&self) -> &'static Texts {
        texts_of(self.language)
    }

    /// Returns a form that sends what it contains, with the token that makes it valid.
    pub(crate) fn form(&self, action: &str, class: &str, content: &Markup) -> Markup {
        html! {
            form method="post" action=(action) class=(class) {
                input type="hidden" name="form_token" value=(self.form_token);
                (content)
            }
        }
    }

    /// Returns a whole document.
    pub(crate) fn render(&self, page: &Page<'_>) -> String {
        let texts = self.texts();
        let count = self.question_count();
        let title = visible_text(page.title);
        let document = html! {
            (DOCTYPE)
            html lang=(self.language.code()) data-theme=(self.theme.name()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { @if let Some(count) = &count { "(" (count) ") " } (title) " · agcore" }
                    link rel="icon" type="image/svg+xml" href=(assets::address("icon.svg"));
                    link rel="stylesheet" href=(assets::address("console.css"));
                    @for script in ["live.js", "keys.js", "copy.js"] {
                        script type="module" src=(assets::address(script)) {}
                    }
                }
                body
                    data-live=[page.live.as_deref()]
                    data-reconnecting=(texts.reconnecting)
                    data-disconnected=(texts.disconnected)
                    data-connected=(texts.live)
                    data-ended=(texts.ended)
                    data-copied=(texts.copied) {
                    a class="skip" href="#content" { (texts.skip_to_content) }
                    (self.header(page, count.as_deref()))
                    main id="content" tabindex="-1" { (page.body) }
                    @if self.is_inside { (keys(texts)) }
                }
            }
        };
        document.into_string()
    }

    fn header(&self, page: &Page<'_>, count: Option<&str>) -> Markup {
        let texts = self.texts();
        let of_users = !self.is_administrator;
        let links = [
            (Section::Chat, "/console/chat", texts.chat, of_users),
            (Section::Inbox, "/console/inbox", texts.inbox, of_users),
            (Section::Runs, "/console/runs", texts.runs, of_users),
            (Section::Cost, "/console/cost", texts.cost, of_users),
            (
                Section::Schedules,
                "/console/schedules",
                texts.schedules,
                of_users && self.has_schedules,
            ),
            (
                Section::Webhooks,
                "/console/webhooks",
                texts.webhooks,
                of_users && self.has_webhooks,
            ),
            (Section::Operations, "/console/operations", texts.operations, !of_users),
        ];
        let links = links.into_iter().filter(|(.., is_shown)| *is_shown);
        html! {
            header class="top" {
                span class="brand" { "agcore" }
                @if self.is_inside {
                    nav aria-label="agcore" {
                        @for (section, address, label, _) in links {
                            a href=(address) aria-current=[(page.section == Some(section)).then_some("page")] {
                                (label)
                                @if section == Section::Inbox { (self.badge(count)) }
                            }
                        }
                    }
                }
                span class="grow" {}
                @if page.live.is_some() {
                    span id="connection" class="connection" role="status" data-state="live" { (texts.live) }
                }
                (self.view_menu())
            }
        }
    }

    /// Returns the number of open questions beside the link to the inbox.
    pub(crate) fn badge(&self, count: Option<&str>) -> Markup {
        html! { " " span id="question-count" class="badge" hidden[count.is_none()] { (count.unwrap_or_default()) } }
    }

    /// Returns the number of open questions as a text, if there are some.
    pub(crate) fn question_count(&self) -> Option<String> {
        match self.questions {
            (0, _) => None,
            (count, false) => Some(count.to_string()),
            (count, true) => Some(format!("{count}+")),
        }
    }

    /// Returns the choice of the language and the colours, with who is signed in.
    fn view_menu(&self) -> Markup {
        let texts = self.texts();
        let themes = [
            (Theme::System, texts.theme_system),
            (Theme::Light, texts.theme_light),
            (Theme::Dark, texts.theme_dark),
        ];
        let choices = html! {
            input type="hidden" name="back" value=(self.path);
            fieldset { legend { (texts.language) }
                @for language in Language::ALL {
                    button name="language" value=(language.code()) lang=(language.code())
                        aria-pressed=(language == self.language) { (language.name()) }
                }
            }
            fieldset { legend { (texts.theme) }
                @for (theme, label) in themes {
                    button name="theme" value=(theme.name()) aria-pressed=(theme == self.theme) { (label) }
                }
            }
        };
        html! {
            details class="menu" {
                summary { (texts.settings) }
                div class="menu-body" {
                    @if self.is_inside {
                        p class="who" {
                            @let user = self.user.as_deref().unwrap_or(texts.local_user);
                            @let text = if self.is_administrator { texts.signed_in_admin } else { texts.signed_in_as };
                            (visible(&fill(text, &[("user", user)])))
                        }
                    }
                    (self.form("/console/view", "stack", &choices))
                    @if self.can_administer { p { a href="/console/login" { (texts.sign_in_admin) } } }
                    @if self.can_sign_out {
                        (self.form("/console/logout", "", &html! { button { (texts.sign_out) } }))
                    }
                    @if self.is_inside {
                        p { button type="button" data-keys-help hidden { (texts.keys_help) " " kbd { "?" } } }
                    }
                }
            }
        }
    }
}

/// Returns the list of keys, which a script opens.
fn keys(texts: &Texts) -> Markup {
    let rows = [
        ("j k", texts.keys_move),
        ("Enter", texts.keys_open),
        ("/", texts.keys_search),
        ("g c · g i · g r · g s", texts.keys_go),
        ("a d · e · x", texts.keys_answer),
        ("Esc", texts.keys_close),
    ];
    html! {
        dialog id="keys" aria-labelledby="keys-title" {
            h2 id="keys-title" { (texts.keys_title) }
            dl class="facts" { @for (key, label) in rows { dt { kbd { (key) } } dd { (label) } } }
            form method="dialog" { button { (texts.close) } }
        }
    }
}
