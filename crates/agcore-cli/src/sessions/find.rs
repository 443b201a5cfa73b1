//! Lists sessions and finds them by their names, or by the beginning of an id.

use std::{collections::BTreeSet, ops::Bound};

use agcore::{
    chat::Clock,
    llm::SystemClock,
    session::{Session, SessionCursor, SessionFilter, Timestamp},
};
use agcore_terminal::{
    render::{sanitized_line, truncated},
    table::table,
};

use super::{FLOW_NODE, Sessions, folder_of};
use crate::exit::Failure;

/// The number of sessions that are read at once.
const PAGE: u64 = 500;

/// The shortest beginning of an id that is shown.
const SHORTEST: usize = 8;

/// The number of sessions that are listed if a name or an id is ambiguous.
const MAX_LISTED: usize = 20;

/// The widest title in such a list, in columns.
const MAX_TITLE: usize = 40;

/// Which sessions a list contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Those with a conversation to continue.
    Started,
    /// All of them.
    All,
}

impl Sessions {
    /// Returns the sessions, those changed last first. Those in which the agents of a flow work and those of another kind are
    /// left out.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn list(
        &self,
        folder: Option<&str>,
        extent: Extent,
        limit: usize,
    ) -> Result<Vec<Session>, Failure> {
        let is_wanted = |session: &Session| {
            let is_conversation = session.end > 0 && !session.metadata.contains_key(FLOW_NODE);
            is_conversation
                && self.kind.is_of(session)
                && folder.is_none_or(|folder| folder_of(session) == Some(folder))
        };
        let filter = SessionFilter::owned_by(Self::owner()).with_limit(PAGE);
        self.filtered(filter, is_wanted, extent, limit).await
    }

    /// Returns the sessions of all users of a tenant, those changed last first, including erased ones, which only have a bill.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn of_tenant(&self, tenant: &str, folder: Option<&str>) -> Result<Vec<Session>, Failure> {
        let mut filter = SessionFilter::owned_by(Self::owner()).with_limit(PAGE);
        filter.tenant = tenant.into();
        filter.owner = None;
        filter.includes_erased = true;
        let is_wanted = |session: &Session| folder.is_none_or(|folder| folder_of(session) == Some(folder));
        self.filtered(filter, is_wanted, Extent::All, usize::MAX).await
    }

    /// Finds a session by its id, its name, or the beginning of its id, in this order.
    ///
    /// # Errors
    /// When there is no such session, or several, or the database cannot be read.
    pub(crate) async fn find(&self, start: &str) -> Result<Session, Failure> {
        let found = self.meant_by(start).await?;
        self.only(start, found).await
    }

    /// Returns the session with exactly this id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn exact(&self, id: &str) -> Result<Option<Session>, Failure> {
        let owner = Self::owner();
        let session = self.store.get_session(&owner.tenant, id).await?;
        Ok(session.filter(|session| session.owner == owner && !session.metadata.contains_key(FLOW_NODE)))
    }

    /// Finds the sessions to continue that are meant by an id, a name, or the beginning of an id, those changed last first. There
    /// are several only if they have the same name, or ids that begin alike. Of those with the same name, the ones with something
    /// to continue take precedence.
    ///
    /// # Errors
    /// When there is no such session, or the database cannot be read.
    pub(crate) async fn matching(&self, start: &str) -> Result<Vec<Session>, Failure> {
        let found = self.meant_by(start).await?;
        match found.len() > 1 && found.iter().all(|session| is_named(session, start)) {
            true => self.started_first(found).await,
            false => Ok(found),
        }
    }

    async fn meant_by(&self, start: &str) -> Result<Vec<Session>, Failure> {
        let owner = Self::owner();
        if let Some(session) = self.store.get_session(&owner.tenant, start).await?
            && session.owner == owner
        {
            return Ok(vec![session]);
        }
        let is_wanted =
            |session: &Session| session.end > 0 && (is_named(session, start) || session.id.starts_with(start));
        let (mut named, mut starting) = (Vec::new(), Vec::new());
        if !start.is_empty() {
            let filter = SessionFilter::owned_by(Self::owner()).with_limit(PAGE);
            let found = self.filtered(filter, is_wanted, Extent::All, usize::MAX).await?;
            (named, starting) = found.into_iter().partition(|session| is_named(session, start));
        }
        let found = if named.is_empty() { starting } else { named };
        match found.is_empty() {
            false => Ok(found),
            true => Err(Failure::usage(format!(
                "there is no session whose ID begins with `{}`, or that has this name\n`agcore sessions list` lists the \
                 sessions, and `agcore sessions search TEXT` finds them by what was written.",
                sanitized_line(start)
            ))),
        }
    }

    /// Returns the sessions with a conversation to continue, or all of them if there is none.
    async fn started_first(&self, found: Vec<Session>) -> Result<Vec<Session>, Failure> {
        let mut started = Vec::new();
        for session in &found {
            if self.is_started(session).await? {
                started.push(session.clone());
            }
        }
        Ok(if started.is_empty() { found } else { started })
    }

    /// Returns the only one of the sessions that were found for a text.
    ///
    /// # Errors
    /// When there are several, or the database cannot be read.
    pub(crate) async fn only(&self, start: &str, mut found: Vec<Session>) -> Result<Session, Failure> {
        if found.len() == 1 {
            return Ok(found.remove(0));
        }
        let ids = self.short_ids(&found).await?;
        let now = Timestamp::from(SystemClock::new().now());
        Err(ambiguous(start, &found, ids, now))
    }

    /// Returns the beginnings of the ids of these sessions, each as short as it can be for [`find`](Self::find) to know which of
    /// all sessions is meant, also after others have been started.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn short_ids(&self, sessions: &[Session]) -> Result<Vec<String>, Failure> {
        let filter = SessionFilter::owned_by(Self::owner()).with_limit(PAGE);
        let all = self.filtered(filter, |session| session.end > 0, Extent::All, usize::MAX);
        let all = all.await?;
        let later = later_id(Timestamp::from(SystemClock::new().now()));
        let others = all.iter().map(|session| session.id.as_str()).chain([later.as_str()]);
        Ok(shortened(sessions, others))
    }

    /// Changes the name of a session.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) async fn rename(&self, id: &str, name: &str) -> Result<(), Failure> {
        self.store.rename(&Self::owner().tenant, id, Some(name.trim())).await?;
        Ok(())
    }

    /// Erases a session with everything that belongs to it, except for its bill.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) async fn erase(&self, session: &Session) -> Result<(), Failure> {
        self.store.erase_session(session.tenant(), &session.id).await?;
        Ok(())
    }

    /// Deletes a session with everything that belongs to it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) async fn delete_with_costs(&self, session: &Session) -> Result<(), Failure> {
        self.store.delete_session(session.tenant(), &session.id).await?;
        Ok(())
    }

    async fn filtered(
        &self,
        mut filter: SessionFilter,
        is_wanted: impl Fn(&Session) -> bool,
        extent: Extent,
        limit: usize,
    ) -> Result<Vec<Session>, Failure> {
        let mut found = Vec::new();
        loop {
            let page = self.store.sessions(&filter).await?;
            let is_last = page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
            filter.after = page.last().map(SessionCursor::of);
            for session in page.into_iter().filter(|session| is_wanted(session)) {
                if found.len() >= limit {
                    return Ok(found);
                }
                if extent == Extent::All || self.is_started(&session).await? {
                    found.push(session);
                }
            }
            if is_last {
                return Ok(found);
            }
        }
    }
}

/// Returns the beginnings of the ids that distinguish each of these sessions from all others.
fn shortened<'s>(sessions: &'s [Session], others: impl Iterator<Item = &'s str>) -> Vec<String> {
    let ids = sessions.iter().map(|session| session.id.as_str());
    // An id shares the most with its neighbors in the order of the ids.
    let ids: BTreeSet<&str> = ids.chain(others).collect();
    let common = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let shorten = |session: &Session| {
        let id = session.id.as_str();
        let before = ids.range::<str, _>((Bound::Unbounded, Bound::Excluded(id))).next_back();
        let after = ids.range::<str, _>((Bound::Excluded(id), Bound::Unbounded)).next();
        let most = before.into_iter().chain(after).map(|other| common(id, other)).max();
        id.chars().take(most.map_or(0, |most| most + 1).max(SHORTEST)).collect()
    };
    sessions.iter().map(shorten).collect()
}

/// Returns the beginning of the ids of sessions that are started at a time: UUIDs of version 7 begin with it.
fn later_id(time: Timestamp) -> String {
    let millis = u64::try_from(time.as_millis()).unwrap_or(0);
    format!("{:08x}-{:04x}", millis >> 16, millis & 0xffff)
}

/// Returns whether a session has this name, whatever the case of its letters.
fn is_named(session: &Session, name: &str) -> bool {
    let title = session.title.as_deref().unwrap_or_default();
    let is_conversation = !session.metadata.contains_key(FLOW_NODE);
    is_conversation && !name.trim().is_empty() && title.trim().to_lowercase() == name.trim().to_lowercase()
}

fn ambiguous(start: &str, found: &[Session], ids: Vec<String>, now: Timestamp) -> Failure {
    let row = |(session, id): (&Session, String)| {
        let title = truncated(session.title.as_deref().unwrap_or_default(), MAX_TITLE);
        [
            format!("  {}", sanitized_line(&id)),
            age(session.updated_at, now),
            title,
        ]
    };
    let rows: Vec<[String; 3]> = found.iter().zip(ids).take(MAX_LISTED).map(row).collect();
    let more = found.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 {
        format!("\n  … and {more} more")
    } else {
        String::new()
    };
    Failure::usage(format!(
        "several sessions have the name `{}`, or an ID that begins with it; pass the ID of one of them:\n{}{more}",
        sanitized_line(start),
        table(&rows).trim_end()
    ))
}

/// Formats the time that has passed since a moment, such as `5 min ago`.
fn age(time: Timestamp, now: Timestamp) -> String {
    let minutes = (now.as_millis() - time.as_millis()).max(0) / 60_000;
    match (minutes / 60, minutes / 60 / 24) {
        (0, _) if minutes == 0 => "just now".to_owned(),
        (0, _) => format!("{minutes} min ago"),
        (hours, 0) => format!("{hours} h ago"),
        (_, 1) => "1 day ago".to_owned(),
        (_, days) => format!("{days} days ago"),
    }
}

#[cfg(test)]
mod tests {
    use agcore::session::{NewSession, Timestamp};

    use super::*;

    #[test]
    fn ids_are_as_short_as_they_can_be() {
        let check = |ids: &[&str], others: &[&str], expected: &[&str]| {
            let sessions: Vec<Session> = ids
                .iter()
                .map(|id| NewSession::new(*id).create(Timestamp::default()))
                .collect();
            assert_eq!(shortened(&sessions, others.iter().copied()), expected);
        };
        check(&["0199aaaa-1111"], &[], &["0199aaaa"]);
        check(&["0199aaaa-1111"], &["0199aaaa-1111"], &["0199aaaa"]);
        let (one, two) = ("0199aaaa-1111", "0199aaaa-1122");
        check(&[one, two], &[], &["0199aaaa-111", "0199aaaa-112"]);
        // Sessions that are not listed count as well.
        check(&[one], &[two, "0199aaab-1111"], &["0199aaaa-111"]);
        check(&[one, "0199aaab-1111"], &[two], &["0199aaaa-111", "0199aaab"]);
        check(&["a", "b"], &["a"], &["a", "b"]);
        check(&["thread"], &["thread-2"], &["thread"]);
        check(&[], &["a"], &[]);
    }

    #[test]
    fn ids_stay_unambiguous_when_other_sessions_are_started() {
        let at = |millis| later_id(Timestamp::from_millis(millis));
        assert_eq!(at(0x0199_aaaa_1111), "0199aaaa-1111");
        let id = "0199aaaa-1111-7000-8000-000000000000";
        let sessions = [NewSession::new(id).create(Timestamp::default())];
        let soon = at(0x0199_aaaa_1234);
        assert_eq!(shortened(&sessions, [soon.as_str()].into_iter()), ["0199aaaa-11"]);
        let much_later = at(0x0199_aaab_0000);
        assert_eq!(shortened(&sessions, [much_later.as_str()].into_iter()), ["0199aaaa"]);
    }

    #[test]
    fn sessions_of_the_same_name_are_listed() {
        let hour = 3_600_000;
        let session = |hours: i64| {
            let mut session = NewSession::new("a").create(Timestamp::from_millis(hours * hour));
            session.title = Some("里斯本".to_owned());
            session
        };
        let listed = |hours: &[i64]| {
            let found: Vec<Session> = hours.iter().map(|hours| session(*hours)).collect();
            let ids = (0..hours.len()).map(|number| format!("id{number:02}")).collect();
            ambiguous("里斯本", &found, ids, Timestamp::from_millis(100 * hour + 120_000)).to_string()
        };
        assert_eq!(
            listed(&[101, 100, 98, 70, 0]),
            "several sessions have the name `里斯本`, or an ID that begins with it; pass the ID of one of them:\n  \
             id00  just now    里斯本\n  id01  2 min ago   里斯本\n  id02  2 h ago     里斯本\n  id03  1 day ago   里斯本\n  \
             id04  4 days ago  里斯本"
        );
        let long = listed(&[1; 23]);
        assert!(long.contains("id19") && !long.contains("id20"), "{long}");
        assert!(long.ends_with("\n  … and 3 more"), "{long}");
    }
}
