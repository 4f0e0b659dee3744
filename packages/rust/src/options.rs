use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Options for starting a server. By default, the server stores its data in memory and uses a free port.
///
/// ```
/// let frozen = mayfly::Options { args: vec!["--clock".into(), "frozen".into()], ..Default::default() };
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of the program. None: `MAYFLY_BINARY`, else the crate's own program, else `mayfly` in the directory of the
    /// running program, else `mayfly` on PATH.
    pub binary: Option<PathBuf>,
    /// The URL of an existing server, such as `http://127.0.0.1:8000`. The crate neither starts nor ends that server. None:
    /// `MAYFLY_URL`, if that is set.
    pub url: Option<String>,
    /// Additional arguments of `mayfly serve`. They override `--port` and `--accounts-max`, which the crate sets.
    pub args: Vec<OsString>,
    /// The time limit for the start. Default: ten seconds.
    pub start_timeout: Duration,
    /// The region for which clients sign their requests. Default: us-east-1.
    pub region: String,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            binary: None,
            url: None,
            args: Vec::new(),
            start_timeout: Duration::from_secs(10),
            region: "us-east-1".into(),
        }
    }
}

impl Options {
    // Returns the command line. An option can be given only once, so the caller's options replace the defaults.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["serve".into(), "--exit-with-parent".into()];
        for (option, value) in [("--port", "0"), ("--accounts-max", "1000000")] {
            if !self.args.iter().any(|argument| names(argument, option)) {
                arguments.extend([option.into(), value.into()]);
            }
        }
        arguments.extend(self.args.iter().cloned());
        arguments
    }

    // Returns the URL of an existing server, without a trailing slash.
    pub(crate) fn running_server(&self) -> Option<String> {
        let url = self.url.clone().or_else(|| std::env::var("MAYFLY_URL").ok())?;
        Some(url.trim_end_matches('/').to_owned()).filter(|url| !url.is_empty())
    }
}

fn names(argument: &OsString, option: &str) -> bool {
    let argument = argument.to_string_lossy();
    argument == option || argument.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn the_callers_options_replace_the_defaults() {
        let options = Options { args: vec!["--port=8000".into(), "--fsync".into()], ..Default::default() };
        let line = ["serve", "--exit-with-parent", "--accounts-max", "1000000", "--port=8000", "--fsync"];
        assert_eq!(options.arguments(), line);
    }
}
