//! [`DeliveryHeaders`]: the headers of a delivery.

use super::refusal::DeliveryRefusal;

/// The headers of a delivery, from any library for HTTP. Names are compared without regard to case.
///
/// ```
/// use agcore_webhook::{DeliveryHeaders, DeliveryRefusal};
///
/// let headers: DeliveryHeaders = [("X-Id", &b"7"[..]), ("x-twice", b"a"), ("X-Twice", b"b")].into_iter().collect();
/// assert_eq!(headers.get("x-id"), Ok(Some("7")));
/// assert_eq!(headers.get("x-other"), Ok(None));
/// assert_eq!(headers.get("x-twice"), Err(DeliveryRefusal::RepeatedHeader));
/// ```
#[derive(Clone, Default)]
pub struct DeliveryHeaders<'a>(Vec<(&'a str, &'a [u8])>);

impl<'a> DeliveryHeaders<'a> {
    /// Returns a header; `None` if there is none.
    ///
    /// # Errors
    /// [`RepeatedHeader`](DeliveryRefusal::RepeatedHeader) if there are several, and
    /// [`MalformedHeader`](DeliveryRefusal::MalformedHeader) if it is not UTF-8.
    pub fn get(&self, name: &str) -> Result<Option<&'a str>, DeliveryRefusal> {
        let mut found = self.0.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let Some((_, value)) = found.next() else {
            return Ok(None);
        };
        if found.next().is_some() {
            return Err(DeliveryRefusal::RepeatedHeader);
        }
        let text = std::str::from_utf8(value).map_err(|_| DeliveryRefusal::MalformedHeader)?;
        Ok(Some(text.trim()))
    }

    /// Returns a header that has to be there.
    ///
    /// # Errors
    /// Those of [`get`](Self::get), and [`MissingHeader`](DeliveryRefusal::MissingHeader).
    pub(super) fn required(&self, name: &str) -> Result<&'a str, DeliveryRefusal> {
        self.get(name)?.ok_or(DeliveryRefusal::MissingHeader)
    }
}

impl<'a> FromIterator<(&'a str, &'a [u8])> for DeliveryHeaders<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a [u8])>>(headers: I) -> Self {
        Self(headers.into_iter().collect())
    }
}

/// Prints the names only: values may be secrets.
impl std::fmt::Debug for DeliveryHeaders<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
