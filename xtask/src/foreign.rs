//! Programs and packages of others that are run against agcore: SDKs, conformance suites, schemas, fuzzers of interfaces.

pub(crate) mod acp;
pub(crate) mod agui;
pub(crate) mod api_fuzz;
pub(crate) mod catalog;
pub(crate) mod mcp_conformance;
pub(crate) mod mcp_sdks;
pub(crate) mod otel_collector;
pub(crate) mod openai;
pub(crate) mod pgvector;
pub(crate) mod python_environment;
pub(crate) mod sdk_types;
pub(crate) mod served;
pub(crate) mod ui_stream;
pub(crate) mod web;
pub(crate) mod program;
