//! Settings of a server for the catalog, profiles and billing.

use std::{sync::Arc, time::Duration};

use agcore_catalog::BillingPolicy;
use agcore_chat::Biller;
use agcore_session::Billing;

use super::ServerBuilder;
use crate::{
    service::NewBilling,
    stored::{SharedCatalog, StoredCatalog},
};

impl ServerBuilder {
    /// Sets the catalog of models. The route `/models` lists those whose keys are granted to the user.
    pub fn with_catalog(mut self, catalog: impl Into<SharedCatalog>) -> Self {
        self.catalog = Some(catalog.into());
        self
    }

    /// Looks for another version of the stored catalog after each pause, and replaces the [catalog](Self::with_catalog) with it. A
    /// version that is not valid is logged, and the one before stays. Without a catalog, nothing happens.
    pub fn with_catalog_reload(mut self, source: StoredCatalog, pause: Duration) -> Self {
        self.stored_catalog = Some((source, pause));
        self
    }

    /// Describes users to agents and flows by their stored [profiles](crate::StoredProfiles), which are read for each run, if the
    /// name of the user is a UUID with a profile. A profile that is not valid is logged and not used. Flows that are
    /// [built for each run](crate::ServedFlow::new) receive it with [`FlowSetup::profile`](crate::FlowSetup::profile).
    pub fn with_profiles(mut self) -> Self {
        self.uses_profiles = true;
        self
    }

    /// Stores what each message costs, as with [`StoredSessions::with_biller`](agcore_agent::StoredSessions::with_biller). The
    /// route `/usage` adds it up.
    pub fn with_biller(mut self, biller: impl Biller + 'static) -> Self {
        self.biller = Some(Arc::new(biller));
        self
    }

    /// Sets the currency and country in which threads are billed that are created from here on. A thread keeps them forever. In a
    /// thread without them, only costs that the provider reports are known.
    pub fn with_billing(mut self, billing: Billing) -> Self {
        self.billing = NewBilling::Fixed(Some(billing));
        self
    }

    /// Bills new threads in the currency in which the [catalog](Self::with_catalog) prices a model at that moment, so that they
    /// follow a catalog that is replaced. Threads that exist keep their currency: calls that the new catalog does not price in it
    /// have no known cost.
    pub fn with_billing_of_model(mut self, model: impl Into<String>) -> Self {
        self.billing = NewBilling::OfModel(model.into());
        self
    }

    /// Bills new threads in the currency of the user's country, which the stored [profile](crate::StoredProfiles) of the user
    /// names. Users without a profile have no country, and the default currency of the policy.
    pub fn with_billing_policy(mut self, policy: BillingPolicy) -> Self {
        self.billing = NewBilling::OfCountry(policy);
        self
    }
}
