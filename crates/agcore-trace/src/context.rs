//! [`TraceContext`]: the place of a span in a trace, as processes pass it to each other.
//!
//! The form is that of <https://www.w3.org/TR/trace-context/>.

use std::fmt;

/// The longest `tracestate` that is kept, in bytes. Longer ones are ignored.
pub const MAX_STATE_BYTES: usize = 512;

/// The largest number of members of a `tracestate` that is kept. More are ignored with the whole text.
pub const MAX_STATE_MEMBERS: usize = 32;

/// The length of a `traceparent` of the version 00, in bytes.
const LENGTH: usize = 55;

/// The longest `traceparent` of a later version that is read, in bytes.
const MAX_LENGTH: usize = 128;

/// The place of a span in a trace, which a process passes to another one in the headers `traceparent` and `tracestate`.
///
/// Values come from clients and are untrusted: whatever is not valid is ignored. Nothing of an invalid value is kept.
///
/// ```
/// use agcore_trace::TraceContext;
///
/// let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let context = TraceContext::parse(parent).unwrap().with_tracestate("vendor=t61rcWkgMzE");
/// assert_eq!(context.tracestate(), Some("vendor=t61rcWkgMzE"));
///
/// assert_eq!(TraceContext::from_headers([parent], ["not a state"]).unwrap().tracestate(), None);
/// assert_eq!(TraceContext::from_headers([parent, parent], [""; 0]), None);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct TraceContext {
    trace: [u8; 16],
    span: [u8; 8],
    sampled: bool,
    state: Option<String>,
}

impl TraceContext {
    /// Returns a context with these ids, or `None` if one of them is zero.
    pub fn new(trace: [u8; 16], span: [u8; 8], sampled: bool) -> Option<Self> {
        let is_valid = trace.iter().any(|byte| *byte != 0) && span.iter().any(|byte| *byte != 0);
        is_valid.then_some(Self {
            trace,
            span,
            sampled,
            state: None,
        })
    }

    /// Returns the context of a `traceparent`, or `None` if the text is not a valid one. Later versions than 00 are read like that
    /// one, as the specification demands.
    pub fn parse(traceparent: &str) -> Option<Self> {
        let bytes = traceparent.as_bytes();
        if bytes.len() < LENGTH || bytes.len() > MAX_LENGTH || !bytes.is_ascii() {
            return None;
        }
        let version: [u8; 1] = hex(&bytes[..2])?;
        let is_end_valid = match version[0] {
            0xff => false,
            0 => bytes.len() == LENGTH,
            _ => bytes.get(LENGTH).is_none_or(|byte| *byte == b'-'),
        };
        let separators = [2, 35, 52];
        if !is_end_valid || separators.iter().any(|at| bytes[*at] != b'-') {
            return None;
        }
        let flags: [u8; 1] = hex(&bytes[53..LENGTH])?;
        Self::new(hex(&bytes[3..35])?, hex(&bytes[36..52])?, flags[0] & 1 == 1)
    }

    /// Returns the context of the headers of a request: the only value of `traceparent`, and all those of `tracestate`,
    /// which are one list. `None` if there are several values of `traceparent`.
    pub fn from_headers<P, S>(
        traceparent: impl IntoIterator<Item = P>,
        tracestate: impl IntoIterator<Item = S>,
    ) -> Option<Self>
    where
        P: AsRef<[u8]>,
        S: AsRef<[u8]>,
    {
        let mut parents = traceparent.into_iter();
        let (parent, None) = (parents.next()?, parents.next()) else {
            return None;
        };
        let context = Self::parse(std::str::from_utf8(parent.as_ref()).ok()?)?;
        let mut state = Vec::new();
        for value in tracestate {
            let value = value.as_ref();
            if state.len() + value.len() > MAX_STATE_BYTES {
                return Some(context);
            }
            if !state.is_empty() {
                state.push(b',');
            }
            state.extend_from_slice(value);
        }
        Some(match std::str::from_utf8(&state) {
            Ok(state) => context.with_tracestate(state),
            Err(_) => context,
        })
    }

    /// Sets the `tracestate`. Without effect if the text is empty, too long or not a valid list of members.
    #[must_use]
    pub fn with_tracestate(mut self, tracestate: &str) -> Self {
        self.state = checked_state(tracestate);
        self
    }

    /// Returns the id of the trace.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace
    }

    /// Returns the id of the span.
    pub fn span_id(&self) -> [u8; 8] {
        self.span
    }

    /// Returns whether the caller may have recorded the span.
    pub fn is_sampled(&self) -> bool {
        self.sampled
    }

    /// Returns the text of the header `traceparent`, in the version 00.
    pub fn traceparent(&self) -> String {
        self.to_string()
    }

    /// Returns the text of the header `tracestate`, if there is one.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("00-")?;
        self.trace.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("-")?;
        self.span.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, "-{:02x}", u8::from(self.sampled))
    }
}

/// Shows no `tracestate`, which a client has written.
impl fmt::Debug for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TraceContext").field(&self.to_string()).finish()
    }
}

/// Reads lower-case hexadecimal digits, the only ones that are valid.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

/// Returns a list of members without spaces and empty members; `None` if it is empty or not valid.
fn checked_state(text: &str) -> Option<String> {
    if text.len() > MAX_STATE_BYTES {
        return None;
    }
    let mut members: Vec<(&str, &str)> = Vec::new();
    for member in text.split(',').map(|member| member.trim_matches([' ', '\t'])) {
        if member.is_empty() {
            continue;
        }
        let (key, value) = member.split_once('=')?;
        let is_known = members.iter().any(|(known, _)| *known == key);
        if is_known || members.len() == MAX_STATE_MEMBERS || !is_key(key) || !is_value(value) {
            return None;
        }
        members.push((key, value));
    }
    let members: Vec<String> = members
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    (!members.is_empty()).then(|| members.join(","))
}

fn is_key(key: &str) -> bool {
    let is_part = |part: &str, max: usize| {
        let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/".contains(&byte);
        !part.is_empty() && part.len() <= max && part.bytes().all(is_valid)
    };
    let starts_with_letter = |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase());
    match key.split_once('@') {
        None => is_part(key, 256) && starts_with_letter(key),
        Some((tenant, system)) => is_part(tenant, 241) && is_part(system, 14) && starts_with_letter(system),
    }
}

fn is_value(value: &str) -> bool {
    let is_valid = |byte: u8| (0x20..=0x7e).contains(&byte) && byte != b',' && byte != b'=';
    !value.is_empty() && value.len() <= 256 && value.bytes().all(is_valid) && !value.ends_with(' ')
}
