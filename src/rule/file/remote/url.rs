//! The address of a server.

use std::net::IpAddr;

/// An address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// As it is written.
    pub text: String,
    /// Its host is this machine.
    pub loopback: bool,
    /// Its path is a key: whoever knows a webhook's address may use it.
    pub private: bool,
}

impl Url {
    /// As it may be shown: without the query, which may hold what nobody else should read, and without
    /// a path that does.
    pub fn endpoint(&self) -> &str {
        let end = if self.private { self.before_path() } else { self.before_query() };
        &self.text[..end]
    }

    /// Its path, empty where it names none.
    pub(super) fn path(&self) -> &str {
        &self.text[self.before_path()..self.before_query()]
    }

    /// With that path, where it names none.
    pub fn or_path(mut self, path: &str) -> Url {
        if matches!(self.path(), "" | "/") {
            let (from, to) = (self.before_path(), self.before_query());
            self.text.replace_range(from..to, path);
        }
        self
    }

    /// With that path behind its own.
    pub(crate) fn join(&self, path: &str) -> Url {
        let endpoint = &self.text[..self.before_query()];
        let query = &self.text[endpoint.len()..];
        Url { text: format!("{}{path}{query}", endpoint.trim_end_matches('/')), ..self.clone() }
    }

    fn before_query(&self) -> usize {
        self.text.find(['?', '#']).unwrap_or(self.text.len())
    }

    /// That port of this machine.
    pub fn on_this_machine(port: u16, path: &str) -> Url {
        Url { text: format!("http://localhost:{port}{path}"), loopback: true, private: false }
    }

    /// Where the path begins.
    fn before_path(&self) -> usize {
        let endpoint = &self.text[..self.before_query()];
        let host = endpoint.find("://").map_or(0, |at| at + 3);
        endpoint[host..].find('/').map_or(endpoint.len(), |at| host + at)
    }

    /// Who answers there, however that is written: host and port, of this machine the port alone.
    pub fn host_and_port(&self) -> String {
        let (_, authority) = self.text[..self.before_path()].split_once("://").unwrap_or_default();
        let port = authority.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
        let (host, port) = port.unwrap_or((authority, if self.is_https() { "443" } else { "80" }));
        let host = if self.loopback { "localhost".into() } else { host.to_ascii_lowercase() };
        format!("{host}:{}", port.trim_start_matches('0'))
    }

    /// Is it asked under TLS?
    pub fn is_https(&self) -> bool {
        self.text.starts_with("https:")
    }

    pub(crate) fn parse(text: &str) -> Result<Url, String> {
        let (scheme, rest) = text.split_once("://").ok_or("an address begins with http(s)://")?;
        if !matches!(scheme, "http" | "https") {
            return Err("the scheme is http or https".into());
        }
        if !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err("an address has neither blanks nor other than ASCII characters".into());
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err("no names or passwords here: write token_file".into());
        }
        let (host, port) = match authority.strip_prefix('[').and_then(|a| a.split_once(']')) {
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        if host.is_empty() {
            return Err("the host is missing".into());
        }
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return Err("the port is no number up to 65535".into());
        }
        let loopback = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        Ok(Url { text: text.to_string(), loopback, private: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_gets_one() {
        for (text, wanted) in [
            ("http://localhost:4318", "http://localhost:4318/v1/logs"),
            ("http://localhost:4318/", "http://localhost:4318/v1/logs"),
            ("https://x.org?key=1", "https://x.org/v1/logs?key=1"),
            ("https://x.org/otlp", "https://x.org/otlp"),
        ] {
            assert_eq!(Url::parse(text).unwrap().or_path("/v1/logs").text, wanted);
        }
    }

    #[test]
    fn a_place_has_one_name() {
        for (text, place) in [
            ("http://LOCALHOST:16180/a?b", "localhost:16180"),
            ("http://127.0.0.1:16180", "localhost:16180"),
            ("http://[::1]:16180/", "localhost:16180"),
            ("http://127.0.0.1", "localhost:80"),
            ("http://[::1]", "localhost:80"),
            ("https://X.org", "x.org:443"),
            ("https://x.org:0443/hooks", "x.org:443"),
        ] {
            assert_eq!(Url::parse(text).unwrap().host_and_port(), place);
        }
    }

    #[test]
    fn a_base_gets_its_paths() {
        for (text, wanted) in [
            ("http://localhost:16180", "http://localhost:16180/health"),
            ("http://localhost:16180/", "http://localhost:16180/health"),
            ("https://x.org/cdev/?k=1", "https://x.org/cdev/health?k=1"),
        ] {
            assert_eq!(Url::parse(text).unwrap().join("/health").text, wanted);
        }
    }
}
