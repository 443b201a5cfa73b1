//! [`Expected`]: what a token must claim.

use agcore_chat::Actor;
use serde_json::{Map, Value};

use crate::auth::Administrator;

/// The difference between two clocks that is tolerated, in seconds.
const LEEWAY: i64 = 60;

/// The longest name of a user or tenant, in bytes.
const MAX_NAME: usize = 256;

/// The claims that a token must have.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    pub(super) audience: String,
    pub(super) issuer: Option<String>,
    pub(super) user_claim: String,
    pub(super) tenant_claim: Option<String>,
    /// The claim and the value in it that make an administrator.
    pub(super) admin: Option<(String, String)>,
}

/// Whose token this is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Identity {
    /// The token of a user.
    User(Actor),
    /// The token of an administrator.
    Administrator(Administrator),
}

impl Expected {
    pub(super) fn new(audience: String) -> Self {
        Self {
            audience,
            issuer: None,
            user_claim: "sub".to_owned(),
            tenant_claim: None,
            admin: None,
        }
    }

    /// Returns whose claims these are, at a time in seconds since 1970. A claim of a wrong type is as bad as a wrong claim.
    pub(super) fn identity(&self, claims: &Map<String, Value>, now: i64) -> Option<Identity> {
        let is_known_issuer = match &self.issuer {
            Some(issuer) => claims.get("iss")?.as_str()? == issuer,
            None => true,
        };
        let has_expired = seconds(claims.get("exp")?)?.saturating_add(LEEWAY) <= now;
        let is_too_early = match claims.get("nbf") {
            Some(time) => seconds(time)?.saturating_sub(LEEWAY) > now,
            None => false,
        };
        if !is_known_issuer || has_expired || is_too_early || !self.is_audience(claims.get("aud")?) {
            return None;
        }
        let user = name(claims.get(&self.user_claim)?)?;
        let tenant = match &self.tenant_claim {
            Some(claim) => Some(name(claims.get(claim)?)?),
            None => None,
        };
        let is_admin = self
            .admin
            .as_ref()
            .is_some_and(|(claim, value)| claims.get(claim).is_some_and(|claim| has(claim, value)));
        if is_admin {
            let administrator = Administrator::new(user);
            return Some(Identity::Administrator(match tenant {
                Some(tenant) => administrator.with_tenant(tenant),
                None => administrator,
            }));
        }
        Some(Identity::User(match tenant {
            Some(tenant) => Actor::new(tenant, user),
            None => Actor::user(user),
        }))
    }

    fn is_audience(&self, claim: &Value) -> bool {
        match claim {
            Value::String(audience) => *audience == self.audience,
            Value::Array(audiences) => audiences.iter().any(|audience| *audience == *self.audience),
            _ => false,
        }
    }
}

/// Returns a time in whole seconds. Tokens may have fractions.
fn seconds(time: &Value) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "times that are too large become the largest one"
    )]
    time.as_i64().or_else(|| time.as_f64().map(|time| time as i64))
}

/// Returns whether a claim has a value: as one of a list, or as one of the words of a text, such as those of `scope`.
fn has(claim: &Value, value: &str) -> bool {
    match claim {
        Value::String(text) => text == value || text.split(' ').any(|word| word == value),
        Value::Array(values) => values.iter().any(|known| known == value),
        _ => false,
    }
}

fn name(claim: &Value) -> Option<&str> {
    let name = claim.as_str()?;
    let is_name = !name.trim().is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(change: Value, expected: Option<&str>) {
        let mut claims = json!({"iss": "id", "aud": "agcore", "exp": 1000, "sub": "ann", "org": "acme"});
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let mut rules = Expected::new("agcore".to_owned());
        (rules.issuer, rules.tenant_claim) = (Some("id".to_owned()), Some("org".to_owned()));
        rules.admin = Some(("scope".to_owned(), "agcore:admin".to_owned()));
        let identity = rules.identity(claims.as_object().unwrap(), 1000);
        let name = identity.map(|identity| match identity {
            Identity::User(actor) => actor.to_string(),
            Identity::Administrator(admin) => format!("{} of {:?}", admin.name, admin.tenants),
        });
        assert_eq!(name.as_deref(), expected, "{change}");
    }

    #[test]
    fn only_claims_that_fit_name_a_user() {
        let ann = Some("acme/ann");
        check(json!({}), ann);
        check(json!({"aud": ["other", "agcore"]}), ann);
        for aud in [
            json!("agcore2"),
            json!([]),
            json!(["other"]),
            json!(null),
            json!({"agcore": 1}),
        ] {
            check(json!({ "aud": aud }), None);
        }
        check(json!({"iss": "other"}), None);
        check(json!({"iss": ["id"]}), None);
        for user in [
            json!(""),
            json!(" "),
            json!(7),
            json!(null),
            json!("a\nb"),
            json!("x".repeat(257)),
        ] {
            check(json!({ "sub": user }), None);
        }
        check(json!({"org": null}), None);
        check(json!({"sub": "bob", "org": "b"}), Some("b/bob"));
    }

    #[test]
    fn a_value_of_a_claim_makes_an_administrator_of_the_tenant() {
        let (user, admin) = (Some("acme/ann"), Some("ann of [\"acme\"]"));
        for scope in [
            json!("agcore:admin"),
            json!("openid agcore:admin"),
            json!(["x", "agcore:admin"]),
        ] {
            check(json!({ "scope": scope }), admin);
            check(json!({"scope": scope, "org": null}), None);
            check(json!({"scope": scope, "exp": 1}), None);
        }
        for scope in [
            json!("agcore:administrator"),
            json!(""),
            json!({"agcore:admin": true}),
            json!(true),
            json!([1]),
        ] {
            check(json!({ "scope": scope }), user);
        }
    }

    #[test]
    fn times_are_compared_with_a_minute_of_tolerance() {
        let ann = Some("acme/ann");
        check(json!({"exp": 941}), ann);
        check(json!({"exp": 940}), None);
        check(json!({"exp": 2000.5}), ann);
        check(json!({"exp": -5}), None);
        check(json!({"exp": 1e300}), ann);
        // A wrong type does not skip the check.
        for exp in [json!("2000"), json!(null), json!([2000])] {
            check(json!({ "exp": exp }), None);
        }
        check(json!({"nbf": 1060}), ann);
        check(json!({"nbf": 1061}), None);
        check(json!({"nbf": "0"}), None);
    }
}
