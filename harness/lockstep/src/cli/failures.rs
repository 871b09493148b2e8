//! What tests said of their failures, to be shown once more at the end: a whole run is thousands of lines.

/// Where libtest and `deno test` begin to tell of failures, and the line that ends it.
const SECTIONS: [(&str, &str); 2] = [("failures:", "test result: FAILED"), (" ERRORS", "FAILED | ")];

/// The most lines that are kept of a step.
const MOST: usize = 200;

/// The lines of a step's output that tell of failures.
#[derive(Debug, Default)]
pub struct Failures {
    lines: Vec<String>,
    left_out: usize,
    /// How the line begins that ends the section that is heard now.
    until: Option<&'static str>,
}

impl Failures {
    /// Keeps the line, without its line break, if it is of a section.
    pub fn hear(&mut self, line: &str) {
        let begun = SECTIONS.iter().find(|section| line.trim_end() == section.0);
        self.until = self.until.or(begun.map(|section| section.1));
        let Some(until) = self.until else { return };
        match self.lines.len() < MOST {
            true => self.lines.push(line.to_owned()),
            false => self.left_out += 1,
        }
        if line.starts_with(until) {
            self.until = None;
        }
    }

    /// What is shown; empty where no test told of a failure.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let more = (self.left_out > 0).then(|| format!("and {} lines more, above", self.left_out));
        self.lines.iter().cloned().chain(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(output: &str) -> Vec<String> {
        let mut failures = Failures::default();
        output.lines().for_each(|line| failures.hear(line));
        failures.lines().collect()
    }

    #[test]
    fn what_libtest_says_of_failures_is_kept() {
        let output = "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nleft: 1\n\nfailures:\n    b\n\n\
                      test result: FAILED. 1 passed; 1 failed\n\nrunning 1 test\ntest c ... ok\n";
        let expected =
            "failures:\n\n---- b stdout ----\nleft: 1\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed";
        assert_eq!(kept(output).join("\n"), expected);
    }

    #[test]
    fn what_deno_says_of_failures_is_kept() {
        let output = "b ... FAILED (1ms)\n\n ERRORS \n\nb => ./t.js:1:6\nerror: Error: no\n\n FAILURES \n\nb => ./t.js:1:6\n\n\
                      FAILED | 0 passed | 1 failed (2ms)\n\nerror: Test failed\n";
        let lines = kept(output);
        assert_eq!((lines[0].as_str(), lines.len()), (" ERRORS ", 10));
        assert_eq!(lines[9], "FAILED | 0 passed | 1 failed (2ms)");
    }

    #[test]
    fn of_many_lines_the_first_are_kept_and_the_others_counted() {
        let lines = kept(&format!("failures:\n{}", "a\n".repeat(300)));
        assert_eq!((lines.len(), lines[200].as_str()), (201, "and 101 lines more, above"));
        assert!(kept("test a ... ok\n\ntest result: ok. 1 passed\n").is_empty());
    }
}
