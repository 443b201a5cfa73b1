//! [`Visitor`] and [`Operator`]: who sees a page, and in which form.

use std::time::SystemTime;

use agcore_chat::Actor;
use agcore_console::{Language, Shell, Theme};
use http::{HeaderMap, Uri, header};
use sha2::{Digest as _, Sha256};

use super::cookies::{Cookies, hex};
use crate::{auth::Administrator, problem::Problem, service::App};

/// The largest number of open questions that are counted for the navigation.
const MAX_COUNT: u64 = 99;

/// The surroundings of a request, before it is known who has sent it.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    pub(super) cookies: Cookies,
    pub(super) language: Language,
    pub(super) theme: Theme,
    /// Whether the browser reaches the server with TLS.
    pub(super) is_secure: bool,
    pub(super) path: String,
    pub(super) origin: String,
    /// The secret that belongs to the forms of the browser.
    pub(super) form_secret: String,
}

/// A user who sees a page.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    pub(super) actor: Actor,
    pub(super) visit: Visit,
    /// Whether the server has users.
    pub(super) has_users: bool,
    /// Whether the token comes from a cookie.
    pub(super) can_sign_out: bool,
    /// Whether the server has administrators, so that the user can sign in as one.
    pub(super) can_administer: bool,
}

/// An administrator who sees a page.
#[derive(Debug, Clone)]
pub(super) struct Operator {
    pub(super) administrator: Administrator,
    pub(super) visit: Visit,
    /// Whether the token comes from a cookie.
    pub(super) can_sign_out: bool,
}

/// Somebody who is known: a user or an administrator, never both.
#[derive(Debug, Clone)]
pub(super) enum Guest {
    User(Visitor),
    Administrator(Operator),
}

impl Visit {
    /// Reads the surroundings of a request. `form_secret` is for a browser that has none yet.
    pub(super) fn of(headers: &HeaderMap, uri: &Uri, form_secret: String) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let accepted = text(header::ACCEPT_LANGUAGE).map(Language::accepted);
        let by_origin = text(header::ORIGIN).is_some_and(|origin| origin.starts_with("https://"));
        let by_proxy = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        let is_secure = by_origin || by_proxy;
        let cookies = Cookies::of(headers, is_secure);
        let host = text(header::HOST).unwrap_or("localhost");
        let scheme = if is_secure { "https" } else { "http" };
        Self {
            language: cookies.language.or(accepted).unwrap_or_default(),
            theme: cookies.theme,
            is_secure,
            path: uri.path_and_query().map_or("/console", |path| path.as_str()).to_owned(),
            origin: format!("{scheme}://{host}"),
            form_secret: cookies.form.clone().unwrap_or(form_secret),
            cookies,
        }
    }

    /// Returns the token that the forms of this browser contain. It belongs to the session as well, so that a form from before the
    /// user has signed in is not valid afterwards.
    pub(super) fn form_token(&self) -> String {
        let mut hash = Sha256::new();
        hash.update("agcore console form\0");
        hash.update(&self.form_secret);
        hash.update([0]);
        hash.update(self.cookies.session.as_deref().unwrap_or_default());
        hex(&hash.finalize())
    }

    /// Returns the surroundings of a page that shows nothing of a user.
    pub(super) fn shell(&self, now: SystemTime) -> Shell {
        Shell {
            language: self.language,
            theme: self.theme,
            path: self.path.clone(),
            origin: self.origin.clone(),
            form_token: self.form_token(),
            now: millis(now),
            ..Shell::default()
        }
    }
}

impl Visitor {
    /// Returns the surroundings of a page.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn shell(&self, app: &App) -> Result<Shell, Problem> {
        let questions = app.service.count_questions(&self.actor, MAX_COUNT).await?;
        Ok(Shell {
            is_inside: true,
            user: self.has_users.then(|| self.name()),
            can_sign_out: self.can_sign_out,
            can_administer: self.can_administer,
            has_schedules: app.service.schedules.is_some(),
            has_webhooks: app.service.webhooks.is_some(),
            questions,
            ..self.visit.shell(app.service.clock.now())
        })
    }

    fn name(&self) -> String {
        match &self.actor.line {
            Some(line) => format!("{} · {} · {line}", self.actor.user, self.actor.tenant),
            None => format!("{} · {}", self.actor.user, self.actor.tenant),
        }
    }
}

impl Operator {
    /// Returns the surroundings of a page.
    pub(super) fn shell(&self, app: &App) -> Shell {
        Shell {
            is_inside: true,
            is_administrator: true,
            user: Some(self.administrator.name.clone()),
            can_sign_out: self.can_sign_out,
            ..self.visit.shell(app.service.clock.now())
        }
    }
}

impl Guest {
    pub(super) fn visit(&self) -> &Visit {
        match self {
            Self::User(visitor) => &visitor.visit,
            Self::Administrator(operator) => &operator.visit,
        }
    }
}

/// Returns a time in milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> i64 {
    agcore_chat::Timestamp::from(time).as_millis()
}
