//! The answers of models: chat responses, why they ended, embeddings, and the record of a call.

pub(crate) mod finish;
pub(crate) mod response;
pub(crate) mod model_call;
pub(crate) mod embed;
