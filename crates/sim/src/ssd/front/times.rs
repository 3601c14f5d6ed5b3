//! The times of commands, the link and interrupts, resolved from the preset.

use drivelab_request::CommandKind;

use crate::preset::{SsdConfig, WriteZeroes};
use crate::ssd::times::{scaled, transfer};

/// How NVMe writes a range that is given up.
const RANGE_BYTES: u64 = 16;

/// Times between the host and the drive, ns.
#[derive(Clone, Debug)]
pub struct FrontTimes {
    /// Time of a command on the host link, by kind of command.
    pub command: [u64; CommandKind::ALL.len()],
    /// Whole pages of zeroes that are not sent are given up, not written.
    pub gives_up_zeroes: bool,
    /// What each range of a trim costs after its first.
    trim_range: u64,
    /// Rate of the host link; 0 if the link is free.
    link_bytes_per_second: u64,
    /// Bytes of a page, and their time on the link.
    page_transfer: (u64, u64),
    /// From the last byte of a buffered write to its completion.
    pub acknowledge: u64,
    /// Completions reach the host by interrupts that take time.
    pub has_interrupts: bool,
    /// The host's time for each interrupt.
    pub interrupt: u64,
    /// The longest time that a completion waits for others.
    pub interrupt_wait: u64,
}

impl FrontTimes {
    /// Resolves a configuration, with every time multiplied by `factor`.
    pub fn new(config: &SsdConfig, factor: f64) -> Self {
        let host = &config.host;
        let scale = |nanos| scaled(nanos, factor);
        // A slower run has a slower link.
        let rate = (host.link_bytes_per_second as f64 / factor).round() as u64;
        let page_bytes = u64::from(config.geometry.page_size_bytes);
        Self {
            command: [
                scale(host.read_command_ns),
                scale(host.write_command_ns),
                scale(host.trim_command_ns.unwrap_or(host.write_command_ns)),
                scale(host.flush_command_ns.unwrap_or(host.write_command_ns)),
                scale(
                    host.write_zeroes_command_ns
                        .unwrap_or(host.write_command_ns),
                ),
            ],
            trim_range: scale(host.trim_range_ns),
            gives_up_zeroes: host.write_zeroes == WriteZeroes::Deallocates,
            link_bytes_per_second: rate,
            page_transfer: (page_bytes, transfer(page_bytes, rate)),
            acknowledge: scale(host.write_acknowledge_ns),
            has_interrupts: host.interrupt_ns > 0 || host.interrupt_completions > 1,
            interrupt: scale(host.interrupt_ns),
            interrupt_wait: scale(host.interrupt_wait_ns),
        }
    }

    /// Whether commands and data cross a link. A free interface has none.
    #[inline]
    pub fn has_link(&self) -> bool {
        self.link_bytes_per_second > 0
    }

    /// Of a trim with several ranges, each 16 bytes on the link.
    pub fn ranges(&self, ranges: u64) -> u64 {
        let on_link = match self.has_link() {
            true => self.link_transfer(ranges * RANGE_BYTES),
            false => 0,
        };
        on_link + ranges.saturating_sub(1) * self.trim_range
    }

    /// Time of `bytes` on the host link, rounded up to whole nanoseconds.
    #[inline]
    pub fn link_transfer(&self, bytes: u64) -> u64 {
        // Most requests are one page, and a division is slow.
        if bytes == self.page_transfer.0 {
            return self.page_transfer.1;
        }
        transfer(bytes, self.link_bytes_per_second)
    }
}
