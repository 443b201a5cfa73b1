//! Lists sessions and finds them by the beginning of an id.

use agcore::{
    flow::NODE_METADATA,
    memory::session::{Session, SessionCursor, SessionFilter},
};

use super::{Sessions, folder_of};
use crate::{exit::Failure, render::sanitized_line};

/// The number of sessions that are read at once.
const PAGE: u64 = 500;

/// The shortest beginning of an id that is shown.
const SHORTEST: usize = 8;

/// The number of sessions that an ambiguous id lists.
const MAX_LISTED: usize = 5;

impl Sessions {
    /// Returns the sessions, those changed last first. Sessions in which nothing happened are left out, those in which the
    /// agents of a flow work, and those of another kind.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn list(&self, folder: Option<&str>, limit: usize) -> Result<Vec<Session>, Failure> {
        let is_wanted = |session: &Session| {
            let is_conversation = session.end > 0 && !session.metadata.contains_key(NODE_METADATA);
            is_conversation
                && self.kind.is_of(session)
                && folder.is_none_or(|folder| folder_of(session) == Some(folder))
        };
        self.pages(is_wanted, limit).await
    }

    /// Returns the sessions of all users of a tenant, those changed last first, also those of which only the bill is left.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn of_tenant(&self, tenant: &str, folder: Option<&str>) -> Result<Vec<Session>, Failure> {
        let mut filter = SessionFilter::owned_by(Self::owner()).with_limit(PAGE);
        filter.tenant = tenant.into();
        filter.owner = None;
        filter.includes_erased = true;
        let is_wanted = |session: &Session| folder.is_none_or(|folder| folder_of(session) == Some(folder));
        self.filtered(filter, is_wanted, usize::MAX).await
    }

    /// Finds a session by its id or the beginning of it.
    ///
    /// # Errors
    /// When there is no such session, or several, or the database cannot be read.
    pub(crate) async fn find(&self, start: &str) -> Result<Session, Failure> {
        let owner = Self::owner();
        if let Some(session) = self.store.get_session(&owner.tenant, start).await?
            && session.owner == owner
        {
            return Ok(session);
        }
        let matches = |session: &Session| session.end > 0 && !start.is_empty() && session.id.starts_with(start);
        let mut found = self.pages(matches, MAX_LISTED + 1).await?;
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(Failure::usage(format!(
                "there is no session whose ID begins with `{}`\n`agcore sessions list` lists the sessions.",
                sanitized_line(start)
            ))),
            count => {
                let listed = found.iter().take(MAX_LISTED);
                let mut lines: Vec<String> = listed.map(|session| format!("  {}", described(session))).collect();
                if count > MAX_LISTED {
                    lines.push("  …".to_owned());
                }
                Err(Failure::usage(format!(
                    "several sessions have an ID that begins with `{}`; write more of it:\n{}",
                    sanitized_line(start),
                    lines.join("\n")
                )))
            }
        }
    }

    /// Deletes a session with everything that belongs to it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) async fn delete(&self, session: &Session) -> Result<(), Failure> {
        self.store.delete_session(session.tenant(), &session.id).await?;
        Ok(())
    }

    async fn pages(&self, is_wanted: impl Fn(&Session) -> bool, limit: usize) -> Result<Vec<Session>, Failure> {
        let filter = SessionFilter::owned_by(Self::owner()).with_limit(PAGE);
        self.filtered(filter, is_wanted, limit).await
    }

    async fn filtered(
        &self,
        mut filter: SessionFilter,
        is_wanted: impl Fn(&Session) -> bool,
        limit: usize,
    ) -> Result<Vec<Session>, Failure> {
        let mut found = Vec::new();
        loop {
            let page = self.store.sessions(&filter).await?;
            let is_last = page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
            filter.after = page.last().map(SessionCursor::of);
            found.extend(page.into_iter().filter(|session| is_wanted(session)));
            if is_last || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }
}

/// Returns the beginnings of the ids that distinguish these sessions.
pub(crate) fn short_ids(sessions: &[Session]) -> Vec<String> {
    let mut ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    ids.sort_unstable();
    let common = |(a, b): (&str, &str)| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let pairs = ids.iter().zip(ids.iter().skip(1)).map(|(a, b)| common((a, b)));
    let length = pairs.max().map_or(SHORTEST, |most| (most + 1).max(SHORTEST));
    let shorten = |session: &Session| session.id.chars().take(length).collect();
    sessions.iter().map(shorten).collect()
}

fn described(session: &Session) -> String {
    let title = session.title.as_deref().unwrap_or_default();
    format!("{}  {}", sanitized_line(&session.id), sanitized_line(title))
}

#[cfg(test)]
mod tests {
    use agcore::memory::{Timestamp, session::NewSession};

    use super::*;

    #[test]
    fn ids_are_as_short_as_they_can_be() {
        let check = |ids: &[&str], expected: &[&str]| {
            let sessions: Vec<Session> = ids
                .iter()
                .map(|id| NewSession::new(*id).create(Timestamp::default()))
                .collect();
            assert_eq!(short_ids(&sessions), expected);
        };
        check(&["0199aaaa-1111"], &["0199aaaa"]);
        check(&["0199aaaa-1111", "0199aaaa-1122"], &["0199aaaa-111", "0199aaaa-112"]);
        check(&["a", "b"], &["a", "b"]);
        check(&[], &[]);
    }
}
