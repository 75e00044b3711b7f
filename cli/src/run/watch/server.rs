//! The server of a page: on loopback alone, behind an address that nobody guesses.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::http::{Reply, Request};
use super::hub::Hub;
use super::routes::Routes;

/// The most requests that are answered at once.
const MOST_AT_ONCE: usize = 16;
/// Bytes of the word that an address has.
const TOKEN_BYTES: usize = 16;
/// Names of this machine in the field `Host`. A page of elsewhere whose name is made to lead here has another one.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// A server that has begun.
#[derive(Debug)]
pub(super) struct Server {
    port: u16,
    token: String,
}

/// All that a connection needs.
struct Site {
    token: String,
    routes: Routes,
    busy: AtomicUsize,
}

impl Server {
    /// Begins to serve a run, on a free port if none is given. It ends with the program.
    ///
    /// # Errors
    /// If the port cannot be had, or the system has no random numbers or no threads.
    pub(super) fn begin(hub: Arc<Hub>, port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))?;
        let port = listener.local_addr()?.port();
        let token = token()?;
        let site =
            Site { token: token.clone(), routes: Routes::new(hub), busy: AtomicUsize::new(0) };
        let site = Arc::new(site);
        let accept = move || {
            for stream in listener.incoming().flatten() {
                let site = Arc::clone(&site);
                let answer = move || site.answer(stream);
                // A viewer that gets no thread asks again.
                let _ = thread::Builder::new().name("viewer".into()).spawn(answer);
            }
        };
        thread::Builder::new().name("watch".into()).spawn(accept)?;
        Ok(Server { port, token })
    }

    /// Returns the address, and the command that leads to it from another machine.
    pub(super) fn words(&self) -> String {
        let Server { port, token } = self;
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = if host.trim().is_empty() { "HOST" } else { host.trim() };
        let host = crate::output::visible(host);
        format!(
            "watch: http://127.0.0.1:{port}/{token}/\n  from another machine: ssh -L {port}:127.0.0.1:{port} {host}\n"
        )
    }
}

/// Returns a word of random digits.
fn token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut word = String::new();
    for byte in bytes {
        let _ = write!(word, "{byte:02x}");
    }
    Ok(word)
}

/// Compares in a time that tells nothing about the place of a difference.
fn is_same(one: &str, other: &str) -> bool {
    let different = one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && different == 0
}

/// Is this a name of loopback, with any port? A tunnel may begin at another one.
fn is_loopback(host: &str) -> bool {
    let port = |rest: &str| {
        let digits = rest.strip_prefix(':');
        rest.is_empty() || digits.is_some_and(|digits| digits.parse::<u16>().is_ok())
    };
    LOOPBACK.iter().any(|name| host.strip_prefix(name).is_some_and(port))
}

impl Site {
    fn answer(&self, mut stream: TcpStream) {
        let is_room = self.busy.fetch_add(1, Ordering::Relaxed) < MOST_AT_ONCE;
        let reply = match is_room {
            true => Request::read(&mut stream).map_or_else(|wrong| wrong, |it| self.reply(&it)),
            false => Reply::error(503, "too many requests at once"),
        };
        // Whoever has left misses nothing.
        let _ = reply.send(&mut stream);
        self.busy.fetch_sub(1, Ordering::Relaxed);
    }

    fn reply(&self, request: &Request) -> Reply {
        let host = request.host.as_deref().unwrap_or_default();
        if !is_loopback(host) {
            return Reply::error(403, "the host is not 127.0.0.1 or localhost");
        }
        let origin = request.origin.as_deref().map(|origin| origin.strip_prefix("http://"));
        if origin.is_some_and(|origin| !origin.is_some_and(is_loopback)) {
            return Reply::error(403, "the request comes from a page of another origin");
        }
        let path = request.path.strip_prefix('/').unwrap_or_default();
        match path.split_once('/') {
            Some((token, page)) if is_same(token, &self.token) => self.routes.reply(page, request),
            _ => Reply::error(403, "the address is not the one that the run has printed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_of_loopback_with_any_port() {
        for good in ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "[::1]:65535"] {
            assert!(is_loopback(good), "{good}");
        }
        for bad in
            ["", "evil.org", "127.0.0.1.evil.org", "localhost:x", "localhost:99999", "a127.0.0.1"]
        {
            assert!(!is_loopback(bad), "{bad}");
        }
    }

    #[test]
    fn tokens_are_random_and_compared_whole() {
        let (one, other) = (token().unwrap(), token().unwrap());
        assert!(one != other && one.len() == 2 * TOKEN_BYTES);
        assert!(is_same(&one, &one) && !is_same(&one, &other) && !is_same(&one, &one[1..]));
        assert!(!is_same("", &one));
    }
}
