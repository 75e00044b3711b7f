//! Requests and answers by HTTP/1.1, one of each on a connection: without bodies, and no longer than a page needs.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::json;

/// The most bytes of a request.
const MOST_BYTES: usize = 8 << 10;
/// The most header fields of a request.
const MOST_FIELDS: usize = 64;
/// The time that a viewer has for its request, and for taking the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time in which a viewer ends its connection.
const LAST: Duration = Duration::from_secs(1);

/// Nothing is loaded from elsewhere, and no script or style but those of the program.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A request.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Request {
    pub(super) method: String,
    /// The path, without the query.
    pub(super) path: String,
    /// The query, as names and values. Nothing is decoded: no name or number of a run needs it.
    pub(super) query: Vec<(String, String)>,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
}

impl Request {
    /// Returns a value of the query.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let mut query = self.query.iter();
        query.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// Reads the head of a request.
    ///
    /// # Errors
    /// The answer to one that cannot be understood.
    pub(super) fn read(stream: &mut TcpStream) -> Result<Self, Reply> {
        let failed = |_: io::Error| Reply::error(400, "the request cannot be read");
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        let (mut bytes, mut more) = (Vec::new(), [0; 1024]);
        loop {
            if let Some(request) = Request::parse(&bytes)? {
                return Ok(request);
            }
            if bytes.len() > MOST_BYTES {
                return Err(Reply::error(431, "the request is too long"));
            }
            match stream.read(&mut more).map_err(failed)? {
                0 => return Err(Reply::error(400, "the request has no end")),
                count => bytes.extend_from_slice(&more[..count]),
            }
        }
    }

    /// Reads the bytes of a request; `None` if there are more to come.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, Reply> {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut head = httparse::Request::new(&mut fields);
        let wrong = |_| Reply::error(400, "this is no request of HTTP/1.1");
        if head.parse(bytes).map_err(wrong)?.is_partial() {
            return Ok(None);
        }
        let field = |name: &str| {
            let mut all = head.headers.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
            let first = all.next().map(|field| String::from_utf8_lossy(field.value).into_owned());
            // Two hosts are none.
            if all.next().is_some() { Some(String::new()) } else { first }
        };
        let length = field("content-length").unwrap_or_else(|| "0".into());
        if length.trim() != "0" || field("transfer-encoding").is_some() {
            return Err(Reply::error(413, "requests have no body here"));
        }
        let target = head.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        Ok(Some(Request {
            method: head.method.unwrap_or_default().to_string(),
            path: path.to_string(),
            query: pairs.map(|(name, value)| (name.into(), value.into())).collect(),
            host: field("host"),
            origin: field("origin"),
        }))
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) body: Vec<u8>,
    /// The methods that the path has, if the request has another one.
    pub(super) allow: Option<&'static str>,
}

impl Reply {
    /// Makes an answer of this kind of contents.
    pub(super) fn good(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Reply { status: 200, kind, body: body.into(), allow: None }
    }

    /// Makes an answer from a value.
    pub(super) fn json(value: &serde_json::Value) -> Self {
        Reply::good("application/json", value.to_string())
    }

    /// Makes an answer that says what is wrong: `{ "error": .. }`.
    pub(super) fn error(status: u16, message: impl Into<String>) -> Self {
        Reply { status, ..Reply::json(&json!({ "error": message.into() })) }
    }

    /// Sends it, and ends the connection.
    pub(super) fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        let reason = match self.status {
            200 => "OK",
            202 => "Accepted",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            409 => "Conflict",
            503 => "Service Unavailable",
            _ => "Bad Request",
        };
        let allow = self.allow.map_or(String::new(), |allow| format!("Allow: {allow}\r\n"));
        let head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{allow}Connection: close\r\n\
             Cache-Control: no-store\r\nContent-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(&self.body)?;
        // An end with bytes that nobody has read would take the answer back.
        stream.shutdown(Shutdown::Write)?;
        stream.set_read_timeout(Some(LAST))?;
        let (mut rest, mut left) = ([0; 1024], 64);
        while left > 0 && stream.read(&mut rest).is_ok_and(|count| count > 0) {
            left -= 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_once_its_head_is_there() {
        let whole =
            b"GET /a/state?field=q&at=3 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: x\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(Request::parse(&whole[..end]), Ok(None), "{end}");
        }
        let request = Request::parse(whole).unwrap().unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/a/state"));
        assert_eq!((request.value("field"), request.value("at")), (Some("q"), Some("3")));
        assert_eq!(request.value("map"), None);
        assert_eq!(request.host.as_deref(), Some("127.0.0.1:80"));
    }

    #[test]
    fn bodies_and_other_protocols_are_refused() {
        let status = |text: &str| Request::parse(text.as_bytes()).unwrap_err().status;
        assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), 413);
        assert_eq!(status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 413);
        assert_eq!(status("\x16\x03\x01\x02\r\n\r\n"), 400);
        let two = "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n";
        assert_eq!(Request::parse(two.as_bytes()).unwrap().unwrap().host.as_deref(), Some(""));
    }
}
