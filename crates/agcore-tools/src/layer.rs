//! Layers around the running of a call, in the manner of tower: timeout, redaction, offloading and cutting of results,
//! audit, statistics, and an application's own.
//!
//! An [`Invoke`] runs a call; a [`Layer`] wraps one in another. What the executor builds, from the inside out: the tool,
//! [`Timeout`], [`Redact`], [`Offload`], the application's own layers, [`Cut`], [`Audit`], [`Statistics`].
//!
//! ```
//! use agcore_tools::{PreparedCall, ToolError, ToolOutput, layer::{Invoke, Layer}};
//!
//! /// Says which session got an answer.
//! struct Stamp;
//! struct Stamped<S>(S);
//!
//! impl<S: Invoke> Layer<S> for Stamp {
//!     type Invoke = Stamped<S>;
//!     fn layer(&self, inner: S) -> Stamped<S> {
//!         Stamped(inner)
//!     }
//! }
//!
//! impl<S: Invoke> Invoke for Stamped<S> {
//!     async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
//!         let output = self.0.invoke(call).await?;
//!         Ok(output.with_metadata(call.context.session_id().as_str().into()))
//!     }
//! }
//! ```

mod audit;
mod cut;
mod invoke;
mod offload;
mod redact;
mod run;
mod statistics;
mod timeout;

pub use self::{
    audit::{Audit, AuditLayer},
    cut::{Cut, CutLayer},
    invoke::{BoxInvoke, Invoke, Layer, PreparedCall},
    offload::{Artifact, ArtifactStore, InMemoryArtifacts, Offload, OffloadLayer},
    redact::{Redact, RedactLayer, Redactor},
    run::Run,
    statistics::{Statistics, StatisticsLayer},
    timeout::{Timeout, TimeoutLayer},
};
