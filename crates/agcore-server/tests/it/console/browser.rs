//! [`Browser`]: a client that keeps cookies and sends forms, as a browser does.

use std::{cell::RefCell, collections::BTreeMap};

use agcore_console::encoded;
use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::Full;

use crate::support::{Answer, Running};

/// A client that keeps cookies.
pub(crate) struct Browser<'s> {
    server: &'s Running,
    cookies: RefCell<BTreeMap<String, String>>,
    /// Further headers of every request.
    headers: Vec<(&'static str, String)>,
}

impl<'s> Browser<'s> {
    pub(crate) fn new(server: &'s Running) -> Self {
        Self {
            server,
            cookies: RefCell::default(),
            headers: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.borrow().get(name).cloned()
    }

    pub(crate) fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None, &[]).await
    }

    /// Loads a page, and sends the form with this action, with these fields over those of the page.
    pub(crate) async fn submit(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> Answer {
        let page = self.get(page).await;
        let token = form_token(&page.text).unwrap_or_else(|| panic!("no form: {}", page.text));
        let mut all = vec![("form_token", token.as_str())];
        all.extend_from_slice(fields);
        self.post(action, &all).await
    }

    pub(crate) async fn post(&self, action: &str, fields: &[(&str, &str)]) -> Answer {
        let origin = format!("http://{}", self.server.address);
        self.post_with(action, fields, &[("origin", &origin)]).await
    }

    pub(crate) async fn post_with(&self, action: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        let fields = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        let body = fields.collect::<Vec<_>>().join("&");
        self.send(Method::POST, action, Some(body), headers).await
    }

    /// Follows where an answer leads.
    pub(crate) async fn follow(&self, answer: &Answer) -> Answer {
        assert_eq!(answer.status, 303, "{}", answer.text);
        self.get(answer.headers["location"].to_str().unwrap()).await
    }

    async fn send(&self, method: Method, path: &str, body: Option<String>, headers: &[(&str, &str)]) -> Answer {
        let cookies: Vec<String> = self
            .cookies
            .borrow()
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let mut request = Request::builder().method(method).uri(path);
        if !headers
            .iter()
            .chain(
                self.headers
                    .iter()
                    .map(|(name, value)| (*name, value.as_str()))
                    .collect::<Vec<_>>()
                    .iter(),
            )
            .any(|(name, _)| *name == "host")
        {
            request = request.header(header::HOST, self.server.address.to_string());
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        }
        if !cookies.is_empty() {
            request = request.header(header::COOKIE, cookies.join("; "));
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body.unwrap_or_default()))).unwrap();
        let answer = self.server.request(request).await;
        for cookie in answer.headers.get_all(header::SET_COOKIE) {
            let (pair, rest) = cookie.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            match rest.contains("Max-Age=0") {
                true => self.cookies.borrow_mut().remove(name),
                false => self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned()),
            };
        }
        answer
    }
}

/// Returns the token of the first form of a page.
pub(crate) fn form_token(html: &str) -> Option<String> {
    let (_, after) = html.split_once("name=\"form_token\" value=\"")?;
    Some(after.split_once('"')?.0.to_owned())
}
