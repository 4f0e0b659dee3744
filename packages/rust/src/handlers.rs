// Failures of a world's functions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard};

use crate::world::Account;
use crate::{Advanced, Error, GivenUp, InvocationError, Unfinished, World};

const KEPT_MAX: usize = 1000; // failures that are kept for each world
const PRINTED_MAX: usize = 10; // failures that are printed for each function

/// A failed invocation of one of the test's own functions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HandlerFailure {
    /// The function's name.
    pub function: String,
    /// The name of the error's type, or `panic`.
    pub kind: String,
    /// The message of the error or panic.
    pub message: String,
    /// Whether the function was registered with `may_fail`.
    pub may_fail: bool,
    payload: u64, // a hash of the payload; a retry has the same payload
    reported: bool,
}

impl HandlerFailure {
    // Returns whether the failure no longer has to be reported.
    fn is_settled(&self) -> bool {
        self.reported || self.may_fail
    }
}

impl fmt::Display for HandlerFailure {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.kind.as_str() {
            "panic" => write!(out, "panic: {}", self.message),
            _ => out.write_str(&self.message),
        }
    }
}

/// A function that was not registered with `may_fail` failed, or a trigger has records for a function that is not
/// registered.
#[derive(Clone)]
#[non_exhaustive]
pub struct HandlerError {
    /// Failures of the test's own functions, oldest first.
    pub failures: Vec<HandlerFailure>,
    /// Batches that the server gave up on.
    pub given_up: Vec<GivenUp>,
    /// Mappings whose failing batch the server is still retrying.
    pub retrying: Vec<Unfinished>,
    /// Mappings that have records for a function that is not registered.
    pub unregistered: Vec<Unfinished>,
    /// The result of the settled advance that found the failures. None: another call found them.
    pub advanced: Option<Advanced>,
}

impl fmt::Display for HandlerError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let mut by_function: BTreeMap<&str, Vec<&HandlerFailure>> = BTreeMap::new();
        for failure in &self.failures {
            by_function.entry(&failure.function).or_default().push(failure);
        }
        for (function, failures) in &by_function {
            let often = match failures.len() {
                1 => String::new(),
                times => format!(" {times} times, last"),
            };
            let last = failures.last().expect("at least one failure");
            write!(out, "The handler of function {function} failed{often} with: {last}. ")?;
        }
        // If one of the test's own functions failed, its error is already in the message.
        let last_error = |function: &str, error: &InvocationError| match error.to_string() {
            text if text.is_empty() || by_function.contains_key(function) => String::new(),
            text => format!(", last error: {text}"),
        };
        for batch in &self.given_up {
            write!(
                out,
                "Function {} on table {}: {} given up after {} ({}){}. ",
                batch.function,
                batch.table,
                counted(batch.records.len() as u64 + batch.left_out, "record"),
                counted(batch.attempts, "attempt"),
                batch.condition,
                last_error(&batch.function, &batch.error)
            )?;
        }
        for mapping in &self.retrying {
            let Some(retrying) = &mapping.retrying else { continue };
            write!(
                out,
                "Function {} on table {}: {} still being retried after {}{}. ",
                mapping.function,
                mapping.table,
                counted(retrying.records, "record"),
                counted(retrying.attempts, "attempt"),
                last_error(&mapping.function, &retrying.error)
            )?;
        }
        let failed = self.failures.len() + self.given_up.len() + self.retrying.len() > 0;
        if failed {
            out.write_str("If the test expects this, register the function with may_fail().")?;
        }
        for (n, mapping) in self.unregistered.iter().enumerate() {
            write!(
                out,
                "{}Function {} is not registered, but a trigger of table {} has records for it. Register the function, or \
                 correct the trigger's function name.",
                if failed || n > 0 { " " } else { "" },
                mapping.function,
                mapping.table
            )?;
        }
        Ok(())
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[derive(Default)]
pub(crate) struct Failures {
    kept: VecDeque<HandlerFailure>,
    may_fail: BTreeSet<String>,
    printed: BTreeMap<String, usize>,
}

impl Failures {
    pub fn declare(&mut self, function: &str, may_fail: bool) {
        if may_fail {
            self.may_fail.insert(function.into());
        } else {
            self.may_fail.remove(function);
        }
    }

    // Records a failure, and prints it unless the function may fail. If the failure of an invocation was reported, failures
    // of retries of that invocation are not reported.
    pub fn add(&mut self, function: &str, kind: &str, message: String, payload: &[u8]) {
        let mut hasher = DefaultHasher::new();
        payload.hash(&mut hasher);
        let payload = hasher.finish();
        let is_same =
            |other: &HandlerFailure| other.reported && other.function == function && other.payload == payload;
        let failure = HandlerFailure {
            function: function.into(),
            kind: kind.into(),
            message,
            may_fail: self.may_fail.contains(function),
            payload,
            reported: self.kept.iter().any(is_same),
        };
        self.print(&failure);
        if self.kept.len() == KEPT_MAX {
            // Drop a failure that does not have to be reported. If every kept failure has to be reported, the test fails
            // in any case, so the new failure is not kept.
            let Some(old) = self.kept.iter().position(HandlerFailure::is_settled) else { return };
            self.kept.remove(old);
        }
        self.kept.push_back(failure);
    }

    fn print(&mut self, failure: &HandlerFailure) {
        let function = &failure.function;
        let printed = self.printed.entry(function.clone()).or_default();
        if failure.may_fail || *printed == PRINTED_MAX {
            return;
        }
        *printed += 1;
        let kind = match failure.kind.as_str() {
            "&str" | "alloc::string::String" => String::new(), // the names of these types say nothing about the failure
            kind => format!("{kind}: "),
        };
        eprintln!("mayfly: the handler of function {function} failed with: {kind}{}", failure.message);
        if *printed == PRINTED_MAX {
            eprintln!("mayfly: further failures of function {function} are not printed");
        }
    }

    fn unreported(&mut self) -> Vec<HandlerFailure> {
        let fresh = self.kept.iter_mut().filter(|failure| !failure.is_settled());
        fresh
            .map(|failure| {
                failure.reported = true;
                failure.clone()
            })
            .collect()
    }
}

impl Account {
    pub fn failures(&self) -> MutexGuard<'_, Failures> {
        lock(&self.failures)
    }

    // Returns the unexpected failures that no earlier call returned, and marks them as reported.
    pub fn check_handlers(&self) -> Result<(), Error> {
        let failures = self.failures().unreported();
        if failures.is_empty() {
            return Ok(());
        }
        Err(Error::Handler(Box::new(HandlerError {
            failures,
            given_up: Vec::new(),
            retrying: Vec::new(),
            unregistered: Vec::new(),
            advanced: None,
        })))
    }

    // Returns the result of a settled advance, or a HandlerError if functions failed unexpectedly.
    pub fn check_settled(&self, advanced: Advanced) -> Result<Advanced, Error> {
        let mut kept = self.failures();
        let failures = kept.unreported();
        let unexpected = |function: &str| !kept.may_fail.contains(function);
        let given_up = advanced.given_up.iter().filter(|batch| unexpected(&batch.function));
        let given_up: Vec<GivenUp> = given_up.cloned().collect();
        let retrying =
            advanced.unfinished.iter().filter(|it| it.retrying.is_some() && unexpected(&it.function));
        let retrying: Vec<Unfinished> = retrying.cloned().collect();
        let unregistered = advanced.unfinished.iter().filter(|it| !it.registered && unexpected(&it.function));
        let unregistered: Vec<Unfinished> = unregistered.cloned().collect();
        if failures.is_empty() && given_up.is_empty() && retrying.is_empty() && unregistered.is_empty() {
            return Ok(advanced);
        }
        let error = HandlerError { failures, given_up, retrying, unregistered, advanced: Some(advanced) };
        Err(Error::Handler(Box::new(error)))
    }
}

impl World {
    /// Returns the failures of the test's own functions since the world was created, oldest first, including expected
    /// failures; at most 1,000.
    pub fn handler_failures(&self) -> Vec<HandlerFailure> {
        self.account.failures().kept.iter().cloned().collect()
    }

    /// Returns [`Error::Handler`] if the test's own functions failed unexpectedly and no earlier call returned the
    /// failures. This method does not wait for records that are in flight; [`World::close`] does.
    pub fn check_handlers(&self) -> Result<(), Error> {
        self.account.check_handlers()
    }
}

// Ignores poisoning, because a thread that panics leaves the list valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::{Failures, KEPT_MAX};

    #[test]
    fn failures_of_retries_are_not_reported_again() {
        let mut failures = Failures::default();
        failures.add("reminder", "E", "no stamps".into(), b"1");
        assert_eq!(failures.unreported().len(), 1);
        failures.add("reminder", "E", "no stamps".into(), b"1");
        assert!(failures.unreported().is_empty());
        failures.add("reminder", "E", "no stamps".into(), b"2");
        failures.add("other", "E", "no stamps".into(), b"1");
        assert_eq!(failures.unreported().len(), 2);
    }

    #[test]
    fn many_expected_failures_do_not_hide_an_unexpected_one() {
        let mut failures = Failures::default();
        failures.declare("broken", true);
        for _ in 0..KEPT_MAX {
            failures.add("broken", "E", "no stamps".into(), b"1");
        }
        failures.add("reminder", "E", "no stamps".into(), b"1");
        assert_eq!(failures.kept.len(), KEPT_MAX);
        assert_eq!(failures.unreported().len(), 1);
    }
}
