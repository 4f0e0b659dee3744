use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Mutex, MutexGuard};

const LINES_MAX: usize = 1000;
const LAST_LINES: usize = 20;

// The last lines that the server wrote to stderr.
#[derive(Default)]
pub(crate) struct Log {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    lines: VecDeque<String>, // the last LINES_MAX
    begun: usize,            // number of lines so far
}

impl Log {
    // Reads to the end.
    pub fn read(&self, from: impl Read) {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
            self.push(String::from_utf8_lossy(&line).trim_end().to_owned());
            line.clear();
        }
    }

    fn push(&self, line: String) {
        let mut kept = self.kept();
        if kept.lines.len() == LINES_MAX {
            kept.lines.pop_front();
        }
        kept.lines.push_back(line);
        kept.begun += 1;
    }

    // The position of the next line.
    pub fn position(&self) -> usize {
        self.kept().begun
    }

    // The kept lines from `position` on.
    pub fn since(&self, position: usize) -> String {
        let kept = self.kept();
        let first_kept = kept.begun - kept.lines.len();
        kept.lines.iter().skip(position.saturating_sub(first_kept)).map(|line| line.clone() + "\n").collect()
    }

    // `since` without the lines that name other accounts only.
    pub fn about(&self, account: &str, position: usize) -> String {
        let is_about = |line: &&str| {
            let mut named = accounts(line).peekable();
            named.peek().is_none() || named.any(|name| name == account)
        };
        self.since(position).lines().filter(is_about).map(|line| line.to_owned() + "\n").collect()
    }

    // The last lines, for an error message.
    pub fn last(&self) -> String {
        self.since(self.position().saturating_sub(LAST_LINES))
    }

    // A line is pushed whole or not at all, also by a thread that panics.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

// The accounts that a line names: "expired 3 items of account 000000000042: carts 3".
fn accounts(line: &str) -> impl Iterator<Item = &str> {
    line.split("account ").skip(1).filter_map(|rest| {
        let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        (digits == 12).then(|| &rest[..digits])
    })
}

#[cfg(test)]
mod tests {
    use super::Log;

    #[test]
    fn a_log_keeps_its_last_thousand_lines() {
        let log = Log::default();
        let text: String = (0..1500).map(|number| format!("line {number}\n")).collect();
        log.read(text.as_bytes());
        assert_eq!(log.since(0).lines().count(), 1000);
        assert!(log.since(0).starts_with("line 500\n"));
        assert_eq!(log.last().lines().count(), 20);
        assert!(log.last().ends_with("line 1499\n"));
    }

    #[test]
    fn a_log_tells_what_came_since() {
        let log = Log::default();
        log.read("one\ntwo\n".as_bytes());
        let position = log.position();
        assert_eq!(log.since(position), "");
        log.read("three\nfour".as_bytes());
        assert_eq!(log.since(position), "three\nfour\n");
    }

    #[test]
    fn a_log_about_an_account_leaves_out_lines_about_others_only() {
        let log = Log::default();
        log.read("before of account 000000000001\n".as_bytes());
        let position = log.position();
        let lines = [
            "mayfly 0.1.0 keeps everything in memory\n",
            "expired 3 items of account 000000000001: carts 3\n",
            "expired 1 item of account 000000000002: carts 1\n",
            "PUT /clock {\"account 000000000002\"} of account 000000000001 -> 200\n",
            "account 0000000000011 is too long to be one\n",
        ];
        log.read(lines.concat().as_bytes());
        let wanted = [lines[0], lines[1], lines[3], lines[4]].concat();
        assert_eq!(log.about("000000000001", position), wanted);
    }
}
