//! Which misses a processor sees coming: lines that follow each other.

/// Runs of lines that missed one after the other, upwards.
#[derive(Clone, Debug)]
pub struct Streams {
    runs: Vec<Run>,
    lines_before: u32,
    clock: u64,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    next: u64,
    length: u32,
    used: u64,
}

impl Streams {
    /// So many runs at a time; a run is followed once `lines_before` of its lines have missed.
    #[must_use]
    pub fn new(runs: usize, lines_before: u32) -> Self {
        Self {
            runs: vec![
                Run {
                    // No line has this number.
                    next: u64::MAX,
                    length: 0,
                    used: 0,
                };
                runs
            ],
            lines_before,
            clock: 0,
        }
    }

    /// Tells of a line that memory must give; true if it was on its way already.
    pub fn meet(&mut self, line: u64) -> bool {
        self.clock += 1;
        if let Some(run) = self.runs.iter_mut().find(|run| run.next == line) {
            run.next += 1;
            run.used = self.clock;
            run.length += 1;
            return run.length > self.lines_before;
        }
        if let Some(oldest) = self.runs.iter_mut().min_by_key(|run| run.used) {
            *oldest = Run {
                next: line + 1,
                length: 1,
                used: self.clock,
            };
        }
        false
    }
}
