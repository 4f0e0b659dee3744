use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Mutex, MutexGuard};

const LINES_MAX: usize = 1000;
const LAST_LINES: usize = 20;

// The last lines that the server wrote on stderr.
#[derive(Default)]
pub(crate) struct Log {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    lines: VecDeque<String>, // the last LINES_MAX
    begun: usize,            // how many there have been
}

impl Log {
    // Reads until there is no more.
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

    // Where the next line will be.
    pub fn position(&self) -> usize {
        self.kept().begun
    }

    // The lines that were written at `position` or later, as far as they are kept.
    pub fn since(&self, position: usize) -> String {
        let kept = self.kept();
        let first_kept = kept.begun - kept.lines.len();
        kept.lines.iter().skip(position.saturating_sub(first_kept)).map(|line| line.clone() + "\n").collect()
    }

    // The last lines, as an error shows them.
    pub fn last(&self) -> String {
        self.since(self.position().saturating_sub(LAST_LINES))
    }

    // A line is pushed whole or not at all, also by a thread that panics.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
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
}
