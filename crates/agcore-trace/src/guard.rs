//! [`CancelGuard`]: notices that work is dropped before its end.

use tracing::Span;

use crate::names::attribute;

/// Records in a span that its work was cancelled, unless the work [ends](Self::finish) before this is dropped. Rust cancels work by
/// dropping its future, which could otherwise not be distinguished from a success.
///
/// ```
/// use agcore_trace::CancelGuard;
///
/// async fn traced(work: impl Future<Output = u32>) -> u32 {
///     let span = tracing::info_span!("work", error.type = tracing::field::Empty, otel.status_code = tracing::field::Empty);
///     let guard = CancelGuard::new(&span);
///     let result = work.await;
///     guard.finish();
///     result
/// }
/// ```
#[derive(Debug)]
#[must_use = "a guard that is dropped at once records that the work was cancelled"]
pub struct CancelGuard<'a>(Option<&'a Span>);

impl<'a> CancelGuard<'a> {
    /// Creates a guard of a span with the fields `error.type` and `otel.status_code`.
    pub fn new(span: &'a Span) -> Self {
        Self(Some(span))
    }

    /// Ends the work. How it has ended is recorded by the caller.
    pub fn finish(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        let Some(span) = self.0 else { return };
        // The value of the conventions for what has no name of its own.
        let kind = if std::thread::panicking() {
            "_OTHER"
        } else {
            "cancelled"
        };
        span.record(attribute::ERROR_TYPE, kind);
        span.record(attribute::OTEL_STATUS_CODE, "ERROR");
    }
}
