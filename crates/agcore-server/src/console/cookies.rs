//! The cookies of the console.

use std::time::{Duration, SystemTime};

use agcore_console::{Language, Theme};
use http::{HeaderMap, HeaderValue, header};

/// The cookie with the token of a user.
const SESSION: &str = "agcore_console_session";

/// The cookie that belongs to the forms of a browser.
const FORM: &str = "agcore_console_form";

/// The prefix of the names of secret cookies behind TLS: browsers take such a cookie only from this host itself, so that none of a
/// sibling can be in its place.
const HOST: &str = "__Host-";

/// The cookie with the language and the colours.
const VIEW: &str = "agcore_console_view";

/// The time after which a user signs in again.
const LIFETIME: Duration = Duration::from_secs(12 * 3600);

/// The time by which a clock may have been wrong when the cookie was made.
const TOLERANCE: Duration = Duration::from_secs(300);

/// The largest cookie that browsers keep, with its name.
const MAX_BYTES: usize = 4096;

/// Precedes a token that is in the cookie as it is.
const PLAIN: char = '~';

/// The time for which the language and the colours are kept.
const VIEW_SECONDS: u64 = 365 * 24 * 3600;

/// The cookies that a browser has sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Cookies {
    /// The cookie of the session, as it is.
    pub(super) session: Option<String>,
    /// The value that belongs to the forms.
    pub(super) form: Option<String>,
    pub(super) language: Option<Language>,
    pub(super) theme: Theme,
}

impl Cookies {
    /// Reads the cookies of a request. Those without the prefix are not sessions if the browser reaches the server with TLS.
    pub(super) fn of(headers: &HeaderMap, is_secure: bool) -> Self {
        let mut cookies = Self::default();
        let (mut session, mut form) = (None, None);
        let all = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok());
        for (name, value) in all
            .flat_map(|all| all.split(';'))
            .filter_map(|one| one.trim().split_once('='))
        {
            match name.strip_prefix(HOST) {
                Some(SESSION) => cookies.session = Some(value.to_owned()),
                Some(FORM) if is_form(value) => cookies.form = Some(value.to_owned()),
                _ => {}
            }
            match name {
                SESSION if !is_secure => session = Some(value.to_owned()),
                // A proxy may say only with forms that the browser uses TLS.
                FORM if is_form(value) => form = Some(value.to_owned()),
                VIEW => {
                    let (language, theme) = value.split_once('.').unwrap_or((value, ""));
                    cookies.language = Language::from_code(language);
                    cookies.theme = Theme::from_name(theme).unwrap_or_default();
                }
                _ => {}
            }
        }
        cookies.session = cookies.session.or(session);
        cookies.form = cookies.form.or(form);
        cookies
    }

    /// Returns the token of the session, unless it is too old.
    pub(super) fn token(&self, now: SystemTime) -> Option<String> {
        let (issued, token) = self.session.as_ref()?.split_once('.')?;
        let issued = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::from_str_radix(issued, 16).ok()?))?;
        let is_fresh = match now.duration_since(issued) {
            Ok(age) => age < LIFETIME,
            Err(early) => early.duration() <= TOLERANCE,
        };
        if !is_fresh || !token.is_ascii() {
            return None;
        }
        if let Some(plain) = token.strip_prefix(PLAIN) {
            return Some(plain.to_owned());
        }
        if !token.len().is_multiple_of(2) {
            return None;
        }
        let bytes = (0..token.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&token[at..at + 2], 16));
        String::from_utf8(bytes.collect::<Result<_, _>>().ok()?).ok()
    }
}

/// Returns the cookie that signs a browser in; `None` if browsers do not keep one as long as the token.
pub(super) fn sign_in(token: &str, now: SystemTime, is_secure: bool) -> Option<HeaderValue> {
    let issued = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    // Tokens consist of such characters: as hexadecimal digits, long ones would not fit.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    let value = match token.bytes().all(is_plain) {
        true => format!("{issued:x}.{PLAIN}{token}"),
        false => format!("{issued:x}.{}", hex(token.as_bytes())),
    };
    let fits = HOST.len() + SESSION.len() + value.len() <= MAX_BYTES;
    fits.then(|| strict(SESSION, &value, LIFETIME.as_secs(), is_secure))
}

/// Returns the cookie that signs a browser out.
pub(super) fn sign_out(is_secure: bool) -> HeaderValue {
    strict(SESSION, "", 0, is_secure)
}

/// Returns the cookie for the forms of a browser.
pub(super) fn form(value: &str, is_secure: bool) -> HeaderValue {
    strict(FORM, value, LIFETIME.as_secs(), is_secure)
}

/// Returns the cookie with the language and the colours. It is not secret.
pub(super) fn view(language: Language, theme: Theme) -> HeaderValue {
    let (language, theme) = (language.code(), theme.name());
    value(format!(
        "{VIEW}={language}.{theme}; Path=/console; Max-Age={VIEW_SECONDS}; HttpOnly; SameSite=Lax"
    ))
}

fn strict(name: &str, content: &str, seconds: u64, is_secure: bool) -> HeaderValue {
    let (prefix, path, secure) = match is_secure {
        // Browsers demand this path with the prefix.
        true => (HOST, "/", "; Secure"),
        false => ("", "/console", ""),
    };
    value(format!(
        "{prefix}{name}={content}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
    ))
}

fn value(text: String) -> HeaderValue {
    // Everything in it is ASCII.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

fn is_form(value: &str) -> bool {
    value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cookie: &HeaderValue) -> Cookies {
        let text = cookie.to_str().unwrap().split(';').next().unwrap();
        let mut headers = HeaderMap::new();
        headers.append(
            header::COOKIE,
            HeaderValue::from_str(&format!("other=1; {text}")).unwrap(),
        );
        Cookies::of(&headers, text.starts_with(HOST))
    }

    #[test]
    fn a_session_ends_by_itself() {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let cookies = read(&sign_in("tökén;=\"", at(1_000_000), true).unwrap());
        for (now, is_valid) in [
            (at(1_000_000), true),
            (at(1_000_000 + 12 * 3600 - 1), true),
            (at(1_000_000 + 12 * 3600), false),
            (at(1_000_000 - 300), true),
            (at(1_000_000 - 301), false),
        ] {
            assert_eq!(cookies.token(now).is_some(), is_valid, "{now:?}");
        }
        assert_eq!(cookies.token(at(1_000_000)).unwrap(), "tökén;=\"");
        assert_eq!(read(&sign_out(false)).token(at(0)), None);
    }

    #[test]
    fn long_tokens_fit_until_browsers_would_drop_them() {
        let now = SystemTime::UNIX_EPOCH;
        let token = "eyJhbGciOiJFZERTQSJ9.x-_".repeat(160);
        let cookie = sign_in(&token, now, true).unwrap();
        assert_eq!(read(&cookie).token(now).unwrap(), token);
        assert_eq!(sign_in(&"x".repeat(5000), now, true), None);
        assert_eq!(sign_in(&"é".repeat(1100), now, true), None);
    }

    #[test]
    fn broken_cookies_are_none() {
        for broken in ["", ".", "zz.61", "1.6", "1.zz", "1.é", "ffffffffffffffff.61", "1.ff"] {
            let mut headers = HeaderMap::new();
            headers.insert(
                header::COOKIE,
                HeaderValue::from_bytes(format!("{SESSION}={broken}; {FORM}=short; {VIEW}=xx.yy").as_bytes()).unwrap(),
            );
            let cookies = Cookies::of(&headers, false);
            assert_eq!(cookies.token(SystemTime::UNIX_EPOCH), None, "{broken}");
            assert!(cookies.form.is_none() && cookies.language.is_none() && cookies.theme == Theme::System);
        }
    }

    #[test]
    fn cookies_are_for_the_console_of_this_site_only() {
        let is_strict = |cookie: &HeaderValue| cookie.to_str().unwrap().contains("; HttpOnly; SameSite=Strict");
        let plain = form(&"a".repeat(64), false);
        assert!(
            plain.to_str().unwrap().contains("; Path=/console; ") && is_strict(&plain),
            "{plain:?}"
        );
        let secure = sign_in("a", SystemTime::UNIX_EPOCH, true).unwrap();
        assert!(is_strict(&secure));
        // What browsers demand for the prefix.
        let text = secure.to_str().unwrap();
        assert!(
            text.starts_with("__Host-agcore_console_session=") && text.ends_with("; Secure"),
            "{text}"
        );
        assert!(text.contains("; Path=/; ") && !text.contains("Domain"), "{text}");
    }

    #[test]
    fn a_cookie_of_a_sibling_is_no_session() {
        let read = |cookies: &str, is_secure| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(cookies).unwrap());
            Cookies::of(&headers, is_secure).session
        };
        let both = format!("{SESSION}=theirs; {HOST}{SESSION}=ours; {SESSION}=theirs");
        for is_secure in [false, true] {
            assert_eq!(read(&both, is_secure).as_deref(), Some("ours"));
        }
        assert_eq!(read(&format!("{SESSION}=theirs"), true), None);
        assert_eq!(read(&format!("{SESSION}=plain"), false).as_deref(), Some("plain"));
    }
}
