//! A host's events by hand: blocks and accesses as an executor would report them.

use drivelab_processor::code::{Control, Instruction};
use drivelab_processor::host::{COLUMNS, Host, HostParameters, decode};
use drivelab_processor::marks::{HOST as HOST_RUNS, Mark};
use drivelab_processor::model::Model;
use drivelab_processor::parameters::HOST;

fn host() -> Host {
    let mut host = Host::new(HostParameters::from_toml(HOST).expect("the package's host"));
    host.mark(Mark::Begin, &mut Vec::new());
    host
}

/// A record's numbers by name.
fn record(host: &mut Host) -> impl Fn(&str) -> u64 + use<> {
    let mut values = Vec::new();
    host.mark(Mark::Record, &mut values);
    assert_eq!(values.len(), COLUMNS.len());
    move |name| {
        let place = COLUMNS.iter().position(|column| column.name == name);
        values[place.expect("a column")]
    }
}

fn block(host: &mut Host, address: u64, instructions: &[&[u8]]) -> usize {
    let mut address = address;
    let mut block = Vec::new();
    for bytes in instructions {
        block.push(Instruction { address, bytes });
        address += bytes.len() as u64;
    }
    host.translate(&block, true)
}

#[test]
fn the_eleven_events_of_table_5() {
    let named: Vec<&str> = COLUMNS.iter().filter_map(|column| column.table_5).collect();
    assert_eq!(
        named,
        [
            "CPU_CYCLES",
            "INSTR",
            "RS_UOPS",
            "BR_INSTS",
            "BR_MISSES",
            "BUS_CYCLES",
            "L1D_LOADS",
            "L1D_STORES",
            "LLC_REFS",
            "LLC_MISSES",
            "STALLED_CYCLES"
        ]
    );
}

#[test]
fn instructions_and_what_they_consist_of() {
    for (bytes, control, operations, why) in [
        (
            &[0x48, 0x8b, 0x03][..],
            Control::Next,
            0,
            "a load is its access",
        ),
        (&[0x48, 0x89, 0x03], Control::Next, 0, "a store too"),
        (
            &[0x48, 0x03, 0x03],
            Control::Next,
            1,
            "an addition from memory adds",
        ),
        (
            &[0x48, 0x89, 0xd8],
            Control::Next,
            1,
            "a move between registers",
        ),
        (&[0x48, 0x8d, 0x43, 0x08], Control::Next, 1, "an address"),
        (&[0x53], Control::Next, 0, "a push is its store"),
        (&[0xff, 0xd0], Control::IndirectCall, 1, "call *%rax"),
        (&[0xff, 0xe0], Control::Indirect, 1, "jmp *%rax"),
        (&[0xe8, 0, 0, 0, 0], Control::Call, 1, "call"),
        (&[0xe9, 0, 0, 0, 0], Control::Direct, 1, "jmp"),
        (&[0x74, 0x10], Control::Conditional, 1, "je"),
        (
            &[0x0f, 0x84, 0, 0, 0, 0],
            Control::Conditional,
            1,
            "je, far",
        ),
        (&[0xc3], Control::Return, 1, "ret"),
        (&[0xf3, 0xc3], Control::Return, 1, "rep ret"),
        (&[0x66, 0x0f, 0x1f, 0x00], Control::Next, 0, "a long nop"),
        (&[0x48, 0xf7, 0xf3], Control::Next, 10, "a division"),
        (
            &[0xc5, 0xfe, 0x6f, 0x00],
            Control::Next,
            0,
            "a vector's load",
        ),
        (
            &[0xc5, 0xf5, 0xfe, 0xc2],
            Control::Next,
            1,
            "an addition of vectors",
        ),
        (&[0x0f, 0xb6, 0x03], Control::Next, 0, "a byte's load"),
        (&[0x48, 0xff, 0x00], Control::Next, 1, "a count in memory"),
        (&[], Control::Next, 0, "nothing"),
    ] {
        let decoded = decode(bytes);
        assert_eq!(
            (decoded.control, decoded.operations),
            (control, operations),
            "{why}"
        );
    }
    assert!(decode(&[0xf3, 0x48, 0xab]).repeats);
    assert!(!decode(&[0xf3, 0x0f, 0x6f, 0x00]).repeats);
}

#[test]
fn a_loop_by_hand() {
    let mut host = host();
    // mov rax, [rbx]; cmp eax, 5; jne.
    let turn = block(
        &mut host,
        0x1000,
        &[&[0x48, 0x8b, 0x03], &[0x83, 0xf8, 0x05], &[0x75, 0xf8]],
    );
    for _ in 0..1000 {
        host.enter(turn);
        host.access(0x1000, 0x9000, 8, false);
    }
    let counted = record(&mut host);
    assert_eq!(counted("instructions"), 3000);
    assert_eq!(counted("branches"), 1000);
    assert_eq!(counted("l1d_loads"), 1000);
    assert_eq!(counted("l1d_stores"), 0);
    // The load, and the compare with its branch.
    assert_eq!(counted("micro_operations"), 2000);
    assert_eq!(
        (
            counted("l1d_misses"),
            counted("llc_references"),
            counted("llc_misses")
        ),
        (1, 1, 1)
    );
    let stalled = counted("branch_misses") * 16 + 200 * 40 / 100;
    assert_eq!(counted("stalled_cycles"), stalled);
    // At one branch per cycle it takes longer than two operations at 2.5 per cycle.
    assert_eq!(counted("cpu_cycles"), 1000 + stalled);
    assert_eq!(counted("bus_cycles"), (1000 + stalled) / 22);
}

#[test]
fn what_comes_in_pieces_is_one_access() {
    let mut host = host();
    let turn = block(&mut host, 0x1000, &[&[0xc5, 0xfe, 0x6f, 0x00]]);
    host.enter(turn);
    for piece in 0..4 {
        host.access(0x1000, 0x9000 + 8 * piece, 8, false);
    }
    // The same instruction again continues where it left off, and counts as another one.
    host.enter(turn);
    for piece in 4..8 {
        host.access(0x1000, 0x9000 + 8 * piece, 8, false);
    }
    assert_eq!(record(&mut host)("l1d_loads"), 2);
}

#[test]
fn an_instruction_that_repeats_itself_is_one() {
    let mut host = host();
    let first = block(&mut host, 0x1000, &[&[0x48, 0x89, 0xd8], &[0xf3, 0xa4]]);
    let again = block(&mut host, 0x1003, &[&[0xf3, 0xa4]]);
    let after = block(&mut host, 0x1005, &[&[0xc3]]);
    host.enter(first);
    for byte in 0..100 {
        if byte > 0 {
            host.enter(again);
        }
        host.access(0x1003, 0x9000 + byte, 1, false);
        host.access(0x1003, 0xa000 + byte, 1, true);
    }
    host.enter(after);
    let counted = record(&mut host);
    assert_eq!(counted("instructions"), 3);
    // 100 bytes, 32 at a time.
    assert_eq!((counted("l1d_loads"), counted("l1d_stores")), (4, 4));
}

#[test]
fn what_marks_is_not_counted() {
    let mut host = host();
    let calls = block(&mut host, 0x1000, &[&[0xe8, 0, 0, 0, 0]]);
    let ret: &[u8] = &[0xc3];
    let marks = host.translate(
        &[Instruction {
            address: 0x2000,
            bytes: ret,
        }],
        false,
    );
    let after = block(&mut host, 0x1005, &[&[0x90]]);
    for id in [calls, marks, after] {
        host.enter(id);
    }
    let counted = record(&mut host);
    assert_eq!((counted("instructions"), counted("branches")), (2, 1));
    assert_eq!(counted("branch_misses"), 0, "its return is known");
}

/// Worker 1 takes an item that worker 0 puts in after its work: one runs after the other. Without
/// the item they run at the same time. Counters are sums either way.
#[test]
fn workers_go_side_by_side_and_wait_for_items() {
    let work: Vec<&[u8]> = vec![&[0x48, 0x01, 0xd8]; 4000];
    let mut times = Vec::new();
    for waits in [false, true] {
        let mut host = host();
        let block = block(&mut host, 0x1000, &work);
        let mark = |host: &mut Host, mark| host.mark(mark, &mut Vec::new());
        mark(&mut host, Mark::Worker(0));
        host.enter(block);
        mark(&mut host, Mark::Put(7));
        mark(&mut host, Mark::Worker(1));
        if waits {
            mark(&mut host, Mark::Got(7));
        }
        host.enter(block);
        let value = record(&mut host);
        assert_eq!(value("instructions"), 8000);
        let cycles_ns = value("cpu_cycles") * 10 / 22;
        times.push((value("time_ns"), cycles_ns));
    }
    let (aside, all) = times[0];
    // Half of the cycles, up to rounding.
    assert!((2 * aside).abs_diff(all) <= 3, "{aside} {all}");
    let (after, all) = times[1];
    assert!(after.abs_diff(all) <= 3, "{after} {all}");
}

/// What the host does between two turns of workers does not belong to the firmware.
#[test]
fn the_host_is_not_counted() {
    let mut host = host();
    let work: Vec<&[u8]> = vec![&[0x48, 0x01, 0xd8]; 100];
    let firmware = block(&mut host, 0x1000, &work);
    let other = block(&mut host, 0x9000, &work);
    let mark = |host: &mut Host, mark| host.mark(mark, &mut Vec::new());
    mark(&mut host, Mark::Worker(2));
    host.enter(firmware);
    mark(&mut host, Mark::Worker(HOST_RUNS));
    host.enter(other);
    host.access(1, 0x4_0000, 8, true);
    mark(&mut host, Mark::Worker(2));
    host.enter(firmware);
    let value = record(&mut host);
    assert_eq!(value("instructions"), 200);
    assert_eq!(value("l1d_stores"), 0);
}
