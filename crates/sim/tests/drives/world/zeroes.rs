//! Zeroes that are not sent, and what the commands of a host cost.

use drivelab_request::{Command, CommandKind};
use drivelab_sim::preset::WriteZeroes;

use super::World;

/// Bytes that cross the link with a command.
pub(super) fn sent_bytes(request: &Command) -> u64 {
    match request.kind {
        CommandKind::WriteZeroes => 0,
        _ => request.size_bytes.into(),
    }
}

impl World {
    /// Zeroes that are not sent are a trim of whole pages where the drive gives those up, and a
    /// write elsewhere; anything else is what it is.
    pub(super) fn carried_out_as(&self, request: &Command) -> CommandKind {
        if request.kind != CommandKind::WriteZeroes {
            return request.kind;
        }
        let is_whole = request.offset_bytes.is_multiple_of(self.page_bytes())
            && u64::from(request.size_bytes) % self.page_bytes() == 0;
        if is_whole && self.config.host.write_zeroes == WriteZeroes::Deallocates {
            CommandKind::Trim
        } else {
            CommandKind::Write
        }
    }

    /// What a command without its data takes on the link.
    pub(super) fn command_time(&self, request: &Command) -> u64 {
        let host = &self.config.host;
        let own = match request.kind {
            CommandKind::Read => Some(host.read_command_ns),
            CommandKind::Write => None,
            CommandKind::Trim => host.trim_command_ns,
            CommandKind::Flush => host.flush_command_ns,
            CommandKind::WriteZeroes => host.write_zeroes_command_ns,
        };
        self.scaled(own.unwrap_or(host.write_command_ns))
    }
}
