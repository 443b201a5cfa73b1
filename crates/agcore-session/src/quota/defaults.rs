//! [`QuotaDefaults`]: the quotas of tenants that have none of their own.

use std::sync::Arc;

use super::{
    limit::{Quota, QuotaScope},
    window::QuotaWindow,
};
use crate::error::SessionError;

/// The quotas of every tenant. A quota of a tenant that has the same scope and window replaces one of these.
///
/// ```
/// use agcore_session::quota::{Quota, QuotaDefaults, QuotaScope, QuotaWindow};
///
/// let daily = |tokens| Quota::new(QuotaScope::EachUser, QuotaWindow::Day).with_tokens(tokens);
/// let defaults = QuotaDefaults::new([daily(1_000)])?;
/// let own = Quota::new(QuotaScope::User("ada".to_owned()), QuotaWindow::Day).with_tokens(5_000);
/// assert_eq!(defaults.with_own(&[own], "ada")?[0].tokens, Some(5_000));
/// assert_eq!(defaults.with_own(&[], "ada")?[0].tokens, Some(1_000));
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuotaDefaults(Arc<[Quota]>);

impl QuotaDefaults {
    /// Creates defaults.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if a quota is [not acceptable](Quota::check) or is that of one user,
    /// if two have the same scope and window, or if they have several currencies.
    pub fn new(quotas: impl IntoIterator<Item = Quota>) -> Result<Self, SessionError> {
        let quotas: Arc<[Quota]> = quotas.into_iter().collect();
        for (index, quota) in quotas.iter().enumerate() {
            quota.check()?;
            if quota.scope.user().is_some() {
                return Err(SessionError::invalid(
                    "a quota of one user belongs to a tenant; limit each user instead",
                ));
            }
            let is_same = |other: &Quota| (&other.scope, other.window) == (&quota.scope, quota.window);
            if quotas.iter().skip(index + 1).any(is_same) {
                return Err(SessionError::invalid(format!(
                    "two quotas are for {} and a {}; write one with both limits",
                    quota.scope, quota.window
                )));
            }
        }
        check_currency(&quotas)?;
        Ok(Self(quotas))
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the quotas that apply to a user of a tenant with its own quotas: those of the tenant first, and the shortest windows
    /// first.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if they have several currencies.
    pub fn with_own(&self, own: &[Quota], user: &str) -> Result<Vec<Quota>, SessionError> {
        let mut all = Vec::new();
        for is_of_tenant in [true, false] {
            for window in QuotaWindow::ALL {
                let find = |quotas: &[Quota], scope: &QuotaScope| {
                    let is_it = |quota: &&Quota| quota.window == window && quota.scope == *scope;
                    quotas.iter().find(is_it).cloned()
                };
                let first = |scope| find(own, &scope).or_else(|| find(&self.0, &scope));
                all.extend(if is_of_tenant {
                    first(QuotaScope::Tenant)
                } else {
                    find(own, &QuotaScope::User(user.to_owned())).or_else(|| first(QuotaScope::EachUser))
                });
            }
        }
        check_currency(&all)?;
        Ok(all)
    }

    /// Checks that the quotas of a tenant and those of these defaults that they do not replace have one currency for every user of
    /// the tenant. Check this before a quota is [set](super::QuotaStore::set_quota) or
    /// [deleted](super::QuotaStore::delete_quota): the store knows no defaults, and runs cannot start while they clash.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if they have several.
    pub fn check_own(&self, own: &[Quota]) -> Result<(), SessionError> {
        // The empty name is that of no user, and so of each who has no quota.
        let users = own.iter().filter_map(|quota| quota.scope.user()).chain([""]);
        for user in users {
            self.with_own(own, user).map_err(|error| {
                SessionError::invalid(format!(
                    "{}; those of every tenant are in the settings of the server ([[serve.quotas]])",
                    error.message()
                ))
            })?;
        }
        Ok(())
    }
}

/// Checks that quotas have no more than one currency. This is the rule of [`QuotaStore::set_quota`](super::QuotaStore::set_quota)
/// for the quotas of a tenant, for implementations.
///
/// # Errors
/// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if they have several.
pub fn check_currency(quotas: &[Quota]) -> Result<(), SessionError> {
    let mut currencies = quotas.iter().filter_map(Quota::currency);
    let Some(first) = currencies.next() else {
        return Ok(());
    };
    match currencies.find(|currency| *currency != first) {
        None => Ok(()),
        Some(other) => Err(SessionError::invalid(format!(
            "the quotas of a tenant are in {first} and in {other}; use one currency, which must be that of the prices"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::Money;

    use super::*;

    #[test]
    fn quotas_of_a_tenant_and_of_all_have_one_currency_for_every_user() {
        let money = |scope, window, code: &str| Quota::new(scope, window).with_money(Money::from_micros(1, code));
        let (day, month) = (QuotaWindow::Day, QuotaWindow::Month);
        let (tenant, each) = (QuotaScope::Tenant, QuotaScope::EachUser);
        let ann = || QuotaScope::User("ann".to_owned());
        let both = [money(tenant.clone(), month, "USD"), money(each.clone(), day, "USD")];
        let defaults = QuotaDefaults::new(both).unwrap();
        let tokens = Quota::new(tenant.clone(), day).with_tokens(1);
        let check = |own: &[Quota], is_acceptable: bool| {
            assert_eq!(defaults.check_own(own).is_ok(), is_acceptable, "{own:?}");
        };
        check(&[], true);
        check(&[money(tenant.clone(), month, "USD"), tokens.clone()], true);
        // One of the defaults still applies beside it.
        check(&[money(tenant.clone(), month, "EUR")], false);
        check(
            &[money(tenant.clone(), month, "EUR"), money(each.clone(), day, "EUR")],
            true,
        );
        check(
            &[money(tenant.clone(), month, "EUR"), Quota::new(each, day).with_runs(1)],
            true,
        );
        // Only one user is affected.
        check(&[money(ann(), day, "EUR")], false);
        check(&[money(ann(), day, "USD")], true);
        check(&[money(ann(), day, "EUR"), money(tenant, month, "EUR")], false);
    }
}
