//! The profiles of users: agents and flows know them, and their country may decide on the currency.

use std::sync::Arc;

use agcore_agent::AgentSpec;
use agcore_chat::Actor;
use agcore_profile::{Country, Uuid};
use agcore_session::{Billing, Journal, SessionError, SessionErrorKind};

use super::{billing::NewBilling, state::Service};
use crate::stored::{SharedCatalog, StoredProfiles, UserProfile};

impl Service {
    /// Returns an agent that knows who the user is, if the user has a profile that can be used.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn personal(&self, agent: &AgentSpec, user: &Actor) -> Result<AgentSpec, SessionError> {
        let mut agent = agent.clone();
        if let Some(profile) = self.known_user(user).await? {
            agent.system_prompt = profile.before(&agent.system_prompt);
        }
        Ok(agent)
    }

    /// Returns the profile of a user for agents and flows, if they may know it and it can be used.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn known_user(&self, user: &Actor) -> Result<Option<UserProfile>, SessionError> {
        match self.uses_profiles {
            true => self.profile_of(user).await,
            false => Ok(None),
        }
    }

    /// Returns the billing of a new thread of a user.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn new_billing(&self, user: &Actor) -> Result<Option<Billing>, SessionError> {
        match &self.billing {
            NewBilling::Fixed(billing) => Ok(billing.clone()),
            NewBilling::OfModel(model) => {
                let catalog = self.catalog.as_ref().map(SharedCatalog::current);
                let currency = catalog.and_then(|catalog| catalog.currency_of(model));
                Ok(currency.map(|currency| Billing::new(currency.as_str())))
            }
            NewBilling::OfCountry(policy) => {
                let profile = self.profile_of(user).await?;
                let country = profile
                    .as_ref()
                    .map(|user| user.context().settings().preferences().country());
                let country = country.as_ref().map(Country::as_str);
                Ok(Some(NewBilling::of_country(policy, country)))
            }
        }
    }

    async fn profile_of(&self, user: &Actor) -> Result<Option<UserProfile>, SessionError> {
        let Ok(id) = Uuid::parse_str(&user.user) else {
            return Ok(None);
        };
        let journal: Arc<dyn Journal> = Arc::new(Arc::clone(self.store()));
        let profiles = StoredProfiles::new(journal, Arc::clone(&self.clock), user.tenant.to_string());
        let record = match profiles.get(id).await {
            Ok(Some((_, record))) => record,
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == SessionErrorKind::Serialization => {
                tracing::warn!(?error, "the profile of the user is damaged and not used");
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let checked = UserProfile::new(record).await;
        Ok(checked
            .inspect_err(|error| tracing::warn!(error, "the profile of the user cannot be used"))
            .ok())
    }
}
