//! [`IncomingHookEntry`]: a table `[[serve.hooks]]` of a settings file.

use std::collections::BTreeMap;

use agcore_document::Placed;
use serde::Deserialize;

/// A table `[[serve.hooks]]`: starts runs when another program sends an event. Secrets are not in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncomingHookEntry {
    /// The id, which is a part of the path.
    pub id: Placed<String>,
    /// The proof of senders.
    pub verify: VerifyName,
    /// The names of environment variables with the secrets. Each of them is accepted.
    #[serde(default)]
    pub secrets: Vec<Placed<String>>,
    /// The files with the secrets, relative to the settings file.
    #[serde(default)]
    pub secret_files: Vec<Placed<String>>,
    /// The header with the signature, or with the secret.
    pub header: Option<String>,
    /// The text before the code in this header.
    pub prefix: Option<String>,
    /// The form of the code.
    pub encoding: Option<EncodingName>,
    /// Where deliveries have their id.
    pub delivery: Option<PlaceEntry>,
    /// Where deliveries have the name of their event.
    pub event: Option<PlaceEntry>,
    /// The events that start runs; all if there are none.
    #[serde(default)]
    pub events: Vec<String>,
    /// The agent that works on the runs.
    pub agent: Option<Placed<String>>,
    /// The flow that works on the runs.
    pub flow: Option<Placed<String>>,
    /// The user to whom the runs belong.
    pub user: Option<String>,
    /// The tenant of this user.
    pub tenant: Option<String>,
    /// The template of the message.
    pub prompt: Option<Placed<String>>,
    /// The template of the thread.
    pub thread: Option<Placed<String>>,
    /// The variables of the flow, with the members of the delivery that they get.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// The handling of a delivery whose thread has an active run.
    pub busy: Option<BusyName>,
}

/// The treatment of a run on a thread with an active run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusyName {
    /// It is refused.
    Refuse,
    /// It waits.
    Queue,
    /// The run before it is cancelled.
    Interrupt,
}

/// The proof with which senders show who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerifyName {
    /// By the signatures of Standard Webhooks.
    StandardWebhooks,
    /// By those of GitHub.
    Github,
    /// By those of Stripe.
    Stripe,
    /// By those of Slack.
    Slack,
    /// By an HMAC code of the body in a header.
    #[serde(rename = "hmac-sha256")]
    Hmac,
    /// By the secret, as a bearer token.
    Bearer,
    /// By the secret, in a header.
    Header,
}

/// The form of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncodingName {
    /// Hexadecimal digits.
    Hex,
    /// Base64.
    Base64,
}

/// Where a delivery has a value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceEntry {
    /// In a header.
    Header(String),
    /// In a member of the body, as a JSON pointer.
    Member(String),
    /// The hash of the body is the value.
    Body,
}

impl VerifyName {
    /// Returns the name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StandardWebhooks => "standard-webhooks",
            Self::Github => "github",
            Self::Stripe => "stripe",
            Self::Slack => "slack",
            Self::Hmac => "hmac-sha256",
            Self::Bearer => "bearer",
            Self::Header => "header",
        }
    }
}

impl IncomingHookEntry {
    /// Returns what works on the runs, for people: `flow triage`.
    pub fn target(&self) -> String {
        match (&self.flow, &self.agent) {
            (Some(flow), _) => format!("flow {}", flow.value),
            (None, Some(agent)) => format!("agent {}", agent.value),
            (None, None) => "the agent of the server".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_document::Format;

    use super::*;

    #[test]
    fn hooks_are_read() {
        let text = "
id = 'shop'
verify = 'hmac-sha256'
secrets = ['SHOP_SECRET', 'OLD_SHOP_SECRET']
header = 'X-Shopify-Hmac-Sha256'
encoding = 'base64'
delivery = { header = 'X-Shopify-Webhook-Id' }
event = { header = 'X-Shopify-Topic' }
events = ['orders/create']
flow = 'order'
tenant = 'acme'
variables = { order = '', number = '/number' }
busy = 'interrupt'
";
        let entry: IncomingHookEntry = Format::Toml.parse(text).unwrap().read().unwrap();
        assert_eq!((&*entry.id.value, entry.verify), ("shop", VerifyName::Hmac));
        assert_eq!(entry.secrets[1].value, "OLD_SHOP_SECRET");
        assert_eq!(
            entry.delivery,
            Some(PlaceEntry::Header("X-Shopify-Webhook-Id".to_owned()))
        );
        assert_eq!((entry.encoding, entry.variables.len()), (Some(EncodingName::Base64), 2));
        assert_eq!(entry.target(), "flow order");
        let text = "id = 'cron'\nverify = 'bearer'\nsecret_files = ['cron.secret']\ndelivery = 'body'\n";
        let entry: IncomingHookEntry = Format::Toml.parse(text).unwrap().read().unwrap();
        assert_eq!((entry.delivery, entry.busy), (Some(PlaceEntry::Body), None));
    }

    #[test]
    fn errors_have_a_place_and_quote_no_secret() {
        for (text, place, words) in [
            ("id = 'a'\nverify = 'none'\n", "2:10", "bearer"),
            (
                "id = 'a'\nverify = 'github'\nsecret = 'hunter2hunter2'\n",
                "3:1",
                "secret",
            ),
            ("verify = 'github'\n", "1:1", "id"),
        ] {
            let error = Format::Toml
                .parse(text)
                .unwrap()
                .read::<IncomingHookEntry>()
                .unwrap_err();
            assert_eq!(error.place.to_string(), place, "{error}");
            assert!(
                error.to_string().contains(words) && !error.to_string().contains("hunter2"),
                "{error}"
            );
        }
    }
}
