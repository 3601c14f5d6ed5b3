//! Prefetching: misses of lines that follow each other, upwards or downwards, are foreseen.

/// Runs of lines that missed one after the other.
#[derive(Clone, Debug)]
pub struct Streams {
    runs: Vec<Run>,
    lines_before: u32,
    clock: u64,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    last: u64,
    /// How many of its lines missed.
    length: u32,
    /// Its direction, which the second line decides.
    down: bool,
    used: u64,
}

/// No line is a neighbour of this one.
const NONE: u64 = u64::MAX / 2;

impl Run {
    fn begun(line: u64, used: u64) -> Self {
        Self {
            last: line,
            length: 1,
            down: false,
            used,
        }
    }

    fn goes_on(&self, line: u64) -> bool {
        let up = line == self.last + 1;
        let down = line + 1 == self.last;
        match self.length {
            1 => up || down,
            _ if self.down => down,
            _ => up,
        }
    }
}

impl Streams {
    /// Follows `runs` runs at a time, each once `lines_before` of its lines have missed.
    #[must_use]
    pub fn new(runs: usize, lines_before: u32) -> Self {
        Self {
            runs: vec![Run::begun(NONE, 0); runs],
            lines_before,
            clock: 0,
        }
    }

    /// A line missed. True if the prefetcher had already asked for it.
    pub fn meet(&mut self, line: u64) -> bool {
        self.clock += 1;
        if let Some(run) = self.runs.iter_mut().find(|run| run.goes_on(line)) {
            run.down = line < run.last;
            run.last = line;
            run.used = self.clock;
            run.length += 1;
            return run.length > self.lines_before;
        }
        if let Some(oldest) = self.runs.iter_mut().min_by_key(|run| run.used) {
            *oldest = Run::begun(line, self.clock);
        }
        false
    }
}
