//! The thread that keeps time. It is woken exactly when it asks to be, and runs on a core of its
//! own.

use std::num::NonZeroU64;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use thiserror::Error;

/// A core that this process may not use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no core {wanted} for --cpu; this process may use {}", listed(.allowed))]
pub struct CpuError {
    wanted: usize,
    allowed: Vec<usize>,
}

fn listed(allowed: &[usize]) -> String {
    let numbers: Vec<String> = allowed.iter().map(usize::to_string).collect();
    numbers.join(", ")
}

/// Checks that this process may use core `cpu`.
///
/// # Errors
/// [`CpuError`] with the list of allowed cores.
pub fn check_cpu(cpu: usize) -> Result<(), CpuError> {
    let Ok(set) = sched_getaffinity(None) else {
        return Ok(());
    };
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|&one| set.is_set(one))
        .collect();
    if allowed.contains(&cpu) {
        Ok(())
    } else {
        Err(CpuError {
            wanted: cpu,
            allowed,
        })
    }
}

/// Wakes the calling thread without slack, and runs it on core `cpu` if one is given.
pub fn pinned(cpu: Option<usize>) {
    // If the kernel refuses either, replies are later, and the lateness is reported.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    if let Some(cpu) = cpu {
        let mut set = CpuSet::new();
        set.set(cpu);
        let _ = sched_setaffinity(None, &set);
    }
}
