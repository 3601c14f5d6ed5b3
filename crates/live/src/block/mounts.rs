//! File systems on a block device that is about to disappear.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

/// Unmounts everything that is mounted from the device with this name or its partitions. If
/// programs still use a file system, it is written out first, and disappears when they release it.
pub(super) fn unmount_all(name: &str) {
    let Ok(table) = fs::read("/proc/self/mountinfo") else {
        return;
    };
    // The last mount first, because it may be inside another.
    for place in places(&table, &numbers(name)).into_iter().rev() {
        if unmount(&place, UnmountFlags::NOFOLLOW) == Err(Errno::BUSY) {
            sync(&place);
            // If it is already gone, that is fine.
            let _ = unmount(&place, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
        }
    }
}

fn sync(place: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(root) = rustix::fs::open(place, flags, Mode::empty()) {
        // Whoever synced has heard of a failure.
        let _ = rustix::fs::syncfs(root);
    }
}

/// Writes out what programs wrote to partitions of the device and never synced.
pub(super) fn sync_partitions(name: &str) {
    for part in partitions(name) {
        let path = Path::new("/dev").join(part.file_name().unwrap_or_default());
        if let Ok(node) = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
            // Whoever synced has heard of a failure.
            let _ = rustix::fs::fsync(node);
        }
    }
}

/// The folders of a device's partitions in `/sys`.
fn partitions(name: &str) -> impl Iterator<Item = PathBuf> {
    let inside = fs::read_dir(Path::new("/sys/block").join(name));
    let inside = inside.into_iter().flatten().flatten().map(|one| one.path());
    inside.filter(|one| one.join("partition").exists())
}

/// The numbers of a device and its partitions, as `43:1`.
fn numbers(name: &str) -> Vec<Vec<u8>> {
    let device = Path::new("/sys/block").join(name);
    let devices = [device].into_iter().chain(partitions(name));
    let numbers = devices.filter_map(|one| fs::read(one.join("dev")).ok());
    numbers.map(|each| each.trim_ascii_end().to_vec()).collect()
}

/// The places at which a table of mounts shows one of these devices.
fn places(table: &[u8], devices: &[Vec<u8>]) -> Vec<PathBuf> {
    let lines = table.split(|&byte| byte == b'\n');
    let place = |line: &[u8]| {
        let mut fields = line.split(|&byte| byte == b' ').skip(2);
        let number = fields.next()?;
        let is_it = devices.iter().any(|device| device == number);
        let place = fields.nth(1)?;
        is_it.then(|| PathBuf::from(OsString::from_vec(plain(place))))
    };
    lines.filter_map(place).collect()
}

/// A path in which blanks and similar characters are written as `\040`.
fn plain(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((&first, rest)) = text.split_first() {
        let digits = rest.get(..3).filter(|_| first == b'\\');
        let byte = digits.and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        out.push(byte.unwrap_or(first));
        text = if byte.is_some() { &rest[3..] } else { rest };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_is_found_by_its_number() {
        let table = b"25 1 7:1 / / rw - ext4 /dev/loop1 rw\n\
            26 25 7:11 / /a rw - ext4 /dev/loop11 rw\n\
            short\n\
            28 25 259:3 / /part rw - ext4 /dev/nbd0p1 rw\n\
            27 25 7:1 /sub /with\\040blank\\134 rw shared:1 - ext4 /dev/loop1 rw\n";
        let found = places(table, &[b"7:1".to_vec(), b"259:3".to_vec()]);
        assert_eq!(found, ["/", "/part", "/with blank\\"].map(PathBuf::from));
        let found = places(table, &[b"7:11".to_vec()]);
        assert_eq!(found, [PathBuf::from("/a")]);
        assert_eq!(places(table, &[]), Vec::<PathBuf>::new());
    }
}
