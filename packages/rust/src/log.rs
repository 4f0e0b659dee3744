use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, PipeWriter, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

const LINES_MAX: usize = 1000;
const LAST_LINES: usize = 20;
const MARK: &[u8] = b"\0\n";
const CATCH_UP_MAX: Duration = Duration::from_secs(1);

// Keeps the last lines that the server wrote to stderr. A thread reads them from a pipe. To see everything that the server
// has written so far, a caller writes a mark to the same pipe and waits until that thread has read it.
#[derive(Default)]
pub(crate) struct Log {
    kept: Mutex<Kept>,
    mark_was_read: Condvar,
    pipe: Mutex<Option<PipeWriter>>,
}

#[derive(Default)]
struct Kept {
    lines: VecDeque<String>, // the last LINES_MAX lines
    begun: usize,            // number of lines so far
    marks_written: u64,
    marks_read: u64,
}

impl Log {
    // Creates a pipe and returns its write end, which becomes the server's stderr. The thread that reads the pipe ends
    // when the server has ended and the log is closed.
    pub fn open(self: &Arc<Log>) -> io::Result<PipeWriter> {
        let (reader, writer) = io::pipe()?;
        *lock(&self.pipe) = Some(writer.try_clone()?);
        let log = self.clone();
        thread::spawn(move || log.read(reader));
        Ok(writer)
    }

    pub fn close(&self) {
        self.catch_up();
        *lock(&self.pipe) = None;
    }

    // Reads the pipe until its end.
    fn read(&self, from: impl Read) {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
            let before_mark = line.strip_suffix(MARK);
            let text = before_mark.unwrap_or(&line);
            // A mark can follow the beginning of a line that the server has not finished.
            if before_mark.is_none() || !text.is_empty() {
                self.push(String::from_utf8_lossy(text).trim_end().to_owned());
            }
            if before_mark.is_some() {
                lock(&self.kept).marks_read += 1;
                self.mark_was_read.notify_all();
            }
            line.clear();
        }
    }

    // Waits until all lines that the server has written so far have been read, for at most CATCH_UP_MAX.
    fn catch_up(&self) {
        let mut pipe = lock(&self.pipe);
        let Some(writer) = &mut *pipe else { return };
        if writer.write_all(MARK).is_err() {
            return;
        }
        let mut kept = lock(&self.kept);
        kept.marks_written += 1;
        let mark = kept.marks_written;
        drop(pipe);
        let _ = self.mark_was_read.wait_timeout_while(kept, CATCH_UP_MAX, |kept| kept.marks_read < mark);
    }

    fn push(&self, line: String) {
        let mut kept = lock(&self.kept);
        if kept.lines.len() == LINES_MAX {
            kept.lines.pop_front();
        }
        kept.lines.push_back(line);
        kept.begun += 1;
    }

    // Returns the position of the next line.
    pub fn position(&self) -> usize {
        self.catch_up();
        lock(&self.kept).begun
    }

    // Returns the lines from `position` on, except lines that are no longer kept.
    pub fn since(&self, position: usize) -> String {
        self.catch_up();
        let kept = lock(&self.kept);
        let first_kept = kept.begun - kept.lines.len();
        kept.lines.iter().skip(position.saturating_sub(first_kept)).map(|line| line.clone() + "\n").collect()
    }

    // Like `since`, but omits the lines that name only other accounts.
    pub fn about(&self, account: &str, position: usize) -> String {
        let is_about = |line: &&str| {
            let mut named = accounts(line).peekable();
            named.peek().is_none() || named.any(|name| name == account)
        };
        self.since(position).lines().filter(is_about).map(|line| line.to_owned() + "\n").collect()
    }

    // Returns the last lines, for an error message.
    pub fn last(&self) -> String {
        self.since(self.position().saturating_sub(LAST_LINES))
    }
}

// Ignores poisoning, because a thread that panics leaves the value valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

// Returns the accounts that a line such as "expired 3 items of account 000000000042: carts 3" names.
fn accounts(line: &str) -> impl Iterator<Item = &str> {
    line.split("account ").skip(1).filter_map(|rest| {
        let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
        (digits == 12).then(|| &rest[..digits])
    })
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, Log};
    use std::io::Write;
    use std::sync::Arc;

    #[test]
    fn a_log_contains_every_line_that_was_written_before_the_read() {
        let log = Arc::new(Log::default());
        let mut stderr = log.open().unwrap();
        for number in 1..=LINES_MAX {
            writeln!(stderr, "line {number}").unwrap();
            assert!(log.last().ends_with(&format!("line {number}\n")), "after line {number}");
        }
        assert_eq!(log.since(0).lines().count(), LINES_MAX);
        writeln!(stderr, "the last line").unwrap();
        log.close();
        assert!(log.last().ends_with("the last line\n"));
    }

    #[test]
    fn a_mark_written_to_the_pipe_is_not_part_of_the_log() {
        let log = Arc::new(Log::default());
        let mut stderr = log.open().unwrap();
        write!(stderr, "half").unwrap();
        assert_eq!(log.since(0), "half\n");
        writeln!(stderr, " line").unwrap();
        assert_eq!(log.since(0), "half\n line\n");
    }

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
    fn a_log_returns_the_lines_since_a_position() {
        let log = Log::default();
        log.read("one\ntwo\n".as_bytes());
        let position = log.position();
        assert_eq!(log.since(position), "");
        log.read("three\nfour".as_bytes());
        assert_eq!(log.since(position), "three\nfour\n");
    }

    #[test]
    fn the_log_of_an_account_omits_lines_about_other_accounts() {
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
