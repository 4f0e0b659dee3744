use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How a server is found or started. The default starts one in memory on a free port.
///
/// ```
/// let frozen = mayfly::Options { args: vec!["--clock".into(), "frozen".into()], ..Default::default() };
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// The program. None: the one that `MAYFLY_BINARY` names, else `mayfly` next to the running program, else `mayfly` on
    /// PATH.
    pub binary: Option<PathBuf>,
    /// The address of a server that is already running, such as `http://127.0.0.1:8000`. It is neither started nor ended.
    /// None: the value of `MAYFLY_URL`, if it is set.
    pub url: Option<String>,
    /// Further arguments of `mayfly serve`. `--port` and `--accounts-max` override those of the crate.
    pub args: Vec<OsString>,
    /// The time limit of the start. Default: ten seconds.
    pub start_timeout: Duration,
    /// The region of worlds. Default: us-east-1.
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
    // The command line. An option can be given only once, so the caller's options replace those of the crate.
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

    // Without a slash at the end.
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
    fn an_option_that_the_caller_gives_is_given_once() {
        let options = Options { args: vec!["--port=8000".into(), "--fsync".into()], ..Default::default() };
        let line = ["serve", "--exit-with-parent", "--accounts-max", "1000000", "--port=8000", "--fsync"];
        assert_eq!(options.arguments(), line);
    }
}
