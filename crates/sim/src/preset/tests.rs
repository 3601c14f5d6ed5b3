#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::document::read;
use super::*;

const YOO: &str = "x25m-yoo2014";

fn preset(name: &str) -> SsdConfig {
    SsdConfig::from_text(text(name).unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

fn derived(lines: &str) -> Result<SsdConfig, PresetError> {
    SsdConfig::from_text(&format!(
        "base = \"x25m-yoo2014\"\nname = \"mine\"\n{lines}\n"
    ))
}

fn refusal(lines: &str) -> String {
    derived(lines).unwrap_err().to_string()
}

#[test]
fn every_preset_reads_and_is_called_as_its_file() {
    for name in names() {
        let config = DriveConfig::from_text(text(name).unwrap());
        assert_eq!(
            config.unwrap_or_else(|error| panic!("{error}")).name(),
            name
        );
    }
    assert!(names().is_sorted());
    assert!(names().contains(&YOO));
    assert_eq!(text("nonesuch"), None);
}

#[test]
fn every_value_has_a_graded_source() {
    const GRADES: [&str; 5] = ["paper", "datasheet", "recalled", "fitted", "assumed"];
    for name in names() {
        for (position, line) in text(name).unwrap().lines().enumerate() {
            let Some((key, rest)) = line.split_once('=') else {
                continue;
            };
            if ["base", "name", "kind", "summary"].contains(&key.trim())
                || line.trim_start().starts_with('#')
            {
                continue;
            }
            let source = rest
                .rsplit_once("# ")
                .map(|(_, comment)| comment.split_once(": "));
            let Some(Some((grade, words))) = source else {
                panic!("{name}, line {}: no graded source: {line}", position + 1);
            };
            assert!(
                GRADES.contains(&grade),
                "{name}, line {}: {grade}",
                position + 1
            );
            assert!(words.len() > 5, "{name}, line {}: {words}", position + 1);
        }
    }
}

#[test]
fn geometry_of_the_papers_drive() {
    let config = preset(YOO);
    assert_eq!(
        (config.dies(), config.planes(), config.units()),
        (20, 40, 20)
    );
    assert_eq!(config.physical_pages(), 20 * 4096 * 256);
    assert_eq!(config.logical_pages(), 19_531_250);
    assert_eq!(config.closed_form.rho, Some(20));
    assert_eq!(preset("x25m-yoo2014-planes").units(), 40);
}

#[test]
fn over_provisioning_becomes_whole_pages() {
    let config = preset("bench-64gib");
    assert_eq!(config.physical_pages(), 1 << 24);
    // floor(16,777,216 / 1.38)
    assert_eq!(config.logical_pages(), 12_157_402);
    assert!((config.over_provisioning_ratio() - 0.38).abs() < 1e-6);
}

#[test]
fn a_base_is_taken_over_but_for_what_is_its_own() {
    let base = preset("x25m");
    let fresh = preset("x25m-fob");
    assert_eq!(fresh.condition, Condition::Fresh);
    assert_eq!(fresh.timing, base.timing);
    assert_eq!(base.published.len(), 6);
    assert!(fresh.published.is_empty());
    assert_ne!(fresh.hash(), base.hash());
    // A user's own drive has no endurance rating.
    assert_eq!(base.rated_endurance_bytes, Some(36_500_000_000_000));
    let own = SsdConfig::from_text("base = \"x25m\"\nname = \"own\"").unwrap();
    assert_eq!(own.rated_endurance_bytes, None);
    assert_eq!(own.hash(), base.hash());
}

#[test]
fn the_other_statement_of_capacity_replaces_the_bases() {
    let config = derived("[geometry]\nover_provisioning_ratio = 0.5").unwrap();
    assert_eq!(config.logical_pages(), 20 * 4096 * 256 * 2 / 3);
    let both = "[geometry]\nover_provisioning_ratio = 0.5\nuser_capacity_bytes = 4096";
    assert!(refusal(both).contains("only one of"));
}

#[test]
fn resolved_texts_read_back_as_the_same_drive() {
    for name in names() {
        let config = DriveConfig::from_text(text(name).unwrap()).unwrap();
        let again = DriveConfig::from_text(&config.resolved_toml()).unwrap();
        assert_eq!(again, config);
        assert!(config.resolved_json().contains("\"geometry\":{"));
    }
}

#[test]
fn times_by_type_of_page_are_arrays_and_one_is_a_number() {
    let by_type = derived("[timing]\nread_cell_ns = [1, 2, 3]").unwrap();
    assert_eq!(
        [0, 1, 5].map(|page| by_type.timing.read_cell_ns.of_page(page)),
        [1, 2, 3]
    );
    assert!(by_type.resolved_json().contains("\"read_cell_ns\":[1,2,3]"));
    let again = SsdConfig::from_text(&by_type.resolved_toml()).unwrap();
    assert_eq!(again, by_type);
    assert_ne!(by_type.hash(), preset(YOO).hash());
    let one = derived("[timing]\nread_cell_ns = [140_000]").unwrap();
    assert_eq!(one.hash(), preset(YOO).hash());
}

#[test]
fn the_hash_follows_behaviour_alone() {
    let base = preset(YOO);
    assert_eq!(derived("summary = \"other\"").unwrap().hash(), base.hash());
    assert_ne!(
        derived("[timing]\nread_cell_ns = 140001").unwrap().hash(),
        base.hash()
    );
    // A link that is switched off leaves no trace in the result.
    let freed = "base = \"x25m\"\nname = \"freed\"\n[host]\ninterface = \"free\"\n";
    let more = format!("{freed}commands = 7\n");
    assert_eq!(
        SsdConfig::from_text(freed).unwrap().hash(),
        SsdConfig::from_text(&more).unwrap().hash()
    );
    assert_eq!(base.hash().len(), 16);
}

#[test]
fn another_way_to_say_the_links_rate_replaces_the_bases() {
    let of = |lines: &str| {
        let text = format!("base = \"x25m\"\nname = \"mine\"\n[host]\n{lines}");
        SsdConfig::from_text(&text).unwrap()
    };
    let base = preset("x25m");
    assert_eq!(
        of("link_bytes_per_second = 256_000_000").hash(),
        base.hash()
    );
    let sata = of("link_gigabits_per_second = 6");
    assert_eq!(sata.host.link_bytes_per_second, 600_000_000);
    let nvme = of(
        "interface = \"nvme\"\npcie_generation = 3\npcie_lanes = 2\n\
                   queue_pair_weights = [2, 1]\ninterrupt_ns = 900",
    );
    assert_eq!(nvme.host.link_bytes_per_second, 1_969_230_769);
    let again = SsdConfig::from_text(&nvme.resolved_toml()).unwrap();
    assert_eq!(again, nvme);
}

#[test]
fn messages_name_key_value_line_and_what_is_allowed() {
    for (lines, parts) in [
        (
            "[geometry]\nchannels = 0",
            &["line 4", "geometry.channels = 0", "from 1 to 256"][..],
        ),
        ("[geometry]\nchannels = \"ten\"", &["\"ten\"", "an integer"]),
        ("[geometry]\nchannels = 2.5", &["geometry.channels = 2.5"]),
        ("[geometry]\nchannels = -1", &["geometry.channels = -1"]),
        (
            "[geometry]\nchannels = 99999999999999999999",
            &["99999999999999999999", "from 1 to 256"],
        ),
        ("[geometry]\nchannels = [1]", &["an integer"]),
        ("geometry = 3", &["unknown key geometry", "[geometry]"]),
        ("[geometry]\nchanels = 3", &["mean geometry.channels?"]),
        ("[geometry]\nover_provisioning_ratio = 28", &["from 0 to 4"]),
        (
            "[geometri]\nchannels = 3",
            &["geometri.channels", "[geometry], [timing]"],
        ),
        (
            "[geometry]\npage_size_bytes = 5000",
            &["power of two from 512"],
        ),
        (
            "[geometry]\nuser_capacity_bytes = 5000",
            &["multiple of the page size, 4096"],
        ),
        (
            "[geometry]\nblocks_per_plane = 1000000",
            &["below 4294967295"],
        ),
        ("[geometry]\nblocks_per_plane = 6", &["at least 7"]),
        (
            "[mapping]\norder = \"cwd\"",
            &["order = \"cwd\"", "\"cwdp\" or \"cwpd\" or", "or \"pdwc\""],
        ),
        (
            "[collection]\npolicy = \"oldest\"",
            &["\"greedy\" or \"cost_benefit\" or \"d_choices\" or \"fifo\" or \"random\""],
        ),
        (
            "[collection]\nreserve_blocks_per_plane = 5\nstop_blocks_per_plane = 5",
            &["stop_blocks_per_plane = 5", "more than the 5 free blocks"],
        ),
        (
            "[collection]\nreserve_blocks_per_plane = 5\nbackground_blocks_per_plane = 5",
            &[
                "background_blocks_per_plane = 5",
                "more than the 5 free blocks",
            ],
        ),
        (
            "condition = \"worn\"",
            &["wear.worn_erase_count", "an integer from 0"],
        ),
        (
            "condition = \"worn\"\n[wear]\nworn_erase_count = 5\nworn_erase_spread = 6",
            &["worn_erase_spread = 6", "at most worn_erase_count, 5"],
        ),
        (
            "[timing]\nread_cell_ns = 1000000001",
            &["from 0 to 1000000000"],
        ),
        (
            "[timing]\nread_cell_ns = [1, 2, 3, 4, 5]",
            &[
                "timing.read_cell_ns = [1, 2, 3, 4, 5]",
                "an integer from 0 to 1000000000, or an array of 1 to 4 of them",
            ],
        ),
        (
            "[timing]\nprogram_cell_ns = []",
            &["program_cell_ns = []", "an array of 1 to 4"],
        ),
        (
            "[timing]\nprogram_cell_ns = [1, -2]",
            &["program_cell_ns = [1, -2]", "an array of 1 to 4"],
        ),
        (
            "[timing]\nread_cell_ns = [1, 2, 3]\nprogram_cell_ns = [4, 5]",
            &[
                "timing.program_cell_ns = [4, 5]",
                "one integer, or an array of 3 as timing.read_cell_ns has",
            ],
        ),
        (
            "[scheduling]\ndispatch = \"fifo\"",
            &["\"in_order\" or \"per_die\""],
        ),
        (
            "[scheduling]\norder = \"elevator\"",
            &["\"first_come\" or \"reads_first\" or \"priority\""],
        ),
        (
            "[scheduling]\ndispatch = \"in_order\"\norder = \"reads_first\"",
            &[
                "order = \"reads_first\"",
                "\"first_come\", as scheduling.dispatch = \"in_order\"",
            ],
        ),
        (
            "[scheduling]\ndispatch = \"per_die\"\nsuspends_per_operation = 1\n\
             [timing]\nsuspend_ns = 1\nresume_ns = 1\nsuspend_progress_ns = 1",
            &["0, as scheduling.order = \"first_come\" (the default) has"],
        ),
        (
            "[scheduling]\ndispatch = \"per_die\"\norder = \"reads_first\"\n\
             suspends_per_operation = 1\n[timing]\nresume_ns = 1\nsuspend_progress_ns = 1",
            &["timing.suspend_ns is missing"],
        ),
        (
            "[scheduling]\nmulti_plane = \"both\"",
            &["\"off\" or \"same_page\" or \"any_page\""],
        ),
        (
            "[scheduling]\nmulti_plane = \"same_page\"",
            &["\"off\", as scheduling.dispatch = \"in_order\""],
        ),
        (
            "[geometry]\nplane_mode = true\n[scheduling]\nmulti_plane = \"same_page\"",
            &["\"off\", as geometry.plane_mode"],
        ),
        (
            "[geometry]\nplanes_per_die = 1\n[scheduling]\nmulti_plane = \"any_page\"",
            &["\"off\", as geometry.planes_per_die = 1"],
        ),
        (
            "[scheduling]\ncache_operations = true",
            &["cache_operations = true", "false, as scheduling.dispatch"],
        ),
        (
            "[scheduling]\ndispatch = \"per_die\"\norder = \"reads_first\"\n\
             cache_operations = true\nsuspends_per_operation = 1\n\
             [timing]\nsuspend_ns = 1\nresume_ns = 1\nsuspend_progress_ns = 1",
            &["false, as scheduling.suspends_per_operation = 1 needs dies"],
        ),
        ("[collection]\nreserve_blocks_per_plane = 1", &["from 2"]),
        (
            "[host]\ninterface = \"sata\"",
            &["preset mine", "host.link_bytes_per_second is missing"],
        ),
        (
            "[host]\ninterface = \"scsi\"",
            &["\"free\" or \"sata\" or \"sas\" or \"nvme\""],
        ),
        (
            "[host]\ninterface = \"sata\"\nlink_gigabits_per_second = 12",
            &["link_gigabits_per_second = 12", "1.5 or 3 or 6"],
        ),
        (
            "[host]\ninterface = \"nvme\"\npcie_generation = 3\npcie_lanes = 3",
            &["pcie_lanes = 3", "1, 2, 4, 8 or 16"],
        ),
        (
            "[host]\ninterface = \"nvme\"\npcie_generation = 3",
            &["host.pcie_lanes is missing"],
        ),
        (
            "[host]\ninterface = \"nvme\"\nlink_gigabits_per_second = 3",
            &["either host.link_bytes_per_second or host.pcie_generation"],
        ),
        (
            "[host]\nqueue_pair_weights = [1, 0]",
            &[
                "queue_pair_weights = [1, 0]",
                "an array of 1 to 64 integers",
            ],
        ),
        (
            "[buffer]\nwrite_buffer_bytes = 32768\nflush_start_bytes = 65536",
            &["flush_start_bytes = 65536", "up to the buffer's 32768"],
        ),
        (
            "[buffer]\nwrite_buffer_bytes = 32768\nflush_start_bytes = 16384\n\
             flush_stop_bytes = 16384",
            &["flush_stop_bytes = 16384", "below flush_start_bytes, 16384"],
        ),
        (
            "[buffer]\nread_cache_bytes = 8192\nread_ahead_bytes = 16384",
            &["read_ahead_bytes = 16384", "up to read_cache_bytes, 8192"],
        ),
        (
            "[buffer]\nwrite_buffer_bytes = 100",
            &["multiple of the page size"],
        ),
        (
            "[variability]\nsigma = 1.5",
            &["sigma = 1.5", "from 0 to 1"],
        ),
        (
            "[variability]\nsigma = nan",
            &["sigma = NaN", "from 0 to 1"],
        ),
        (
            "[variability]\noutlier_probability = 0.1",
            &[
                "variability.outlier_factor is missing",
                "a number from 1 to 100, as variability.outlier_probability is not 0",
            ],
        ),
        (
            "[variability]\noutlier_probability = 0.6",
            &["outlier_probability = 0.6", "from 0 to 0.5"],
        ),
        (
            "[variability]\ncorrelated_sigma = 0.1",
            &["variability.correlation_time_ns is missing", "is not 0"],
        ),
        (
            "[variability]\ncorrelated_sigma = 0.1\ncorrelation_time_ns = 1000",
            &["correlation_time_ns = 1000", "100000000 to 3600000000000"],
        ),
        (
            "[closed_form]\nrho = 40",
            &["rho = 40", "20 (channels x ways x dies"],
        ),
        ("kind = \"hdd\"", &["kind = \"hdd\"", "\"ssd\""]),
        (
            "[published.mine]\nlatency_ns = 4",
            &["published.mine.condition is missing"],
        ),
        (
            "[published.mine]\nrotational_latency_ns = 4\ncondition = \"c\"\ntolerance_ratio = 0.1\n\
             direction = \"read\"\nqueue_depth = 1\nsize_bytes = 512\nrandom_ratio = 1.0",
            &["rotational_latency_ns = 4", "only a hard disk rotates"],
        ),
        (
            "[published.mine]\nsequential_to_random_ratio = 2\nlatency_ns = 4\ncondition = \"c\"\n\
             tolerance_ratio = 0.1\ndirection = \"read\"\nqueue_depth = 1",
            &[
                "exactly one of latency_ns, throughput_iops",
                "sequential_to_random_ratio",
            ],
        ),
        (
            "[published.mine]\nsequential_to_random_ratio = 2\ncondition = \"c\"\n\
             tolerance_ratio = 0.1\ndirection = \"read\"\nqueue_depth = 1",
            &[
                "published.mine.range_bytes is missing",
                "the bytes of the file",
            ],
        ),
        (
            "[published]\nmine = 4",
            &["unknown key published.mine", "NAME.latency_ns"],
        ),
        (
            "[published.mine]\nsize_bytes = 1000",
            &[
                "size_bytes = 1000",
                "a multiple of 512 from 512 to 67108864",
            ],
        ),
        ("a = b = c", &["preset (unnamed), line 3", "not valid TOML"]),
    ] {
        let message = refusal(lines);
        assert!(!message.contains('\n'), "{message}");
        for part in parts {
            assert!(
                message.contains(part),
                "{lines:?} gave {message:?} without {part:?}"
            );
        }
    }
}

#[test]
fn too_little_spare_names_the_smallest_that_works() {
    let message = refusal("[geometry]\nover_provisioning_ratio = 0.001");
    // 40 planes x 256 pages x (4 + 2) blocks = 61,440 of 20,971,520 pages.
    assert!(message.contains("collection needs 61440"), "{message}");
    assert!(message.contains("at least 0.0030,"), "{message}");
    assert!(message.contains("at most 85647687680"), "{message}");
    assert!(derived("[geometry]\nover_provisioning_ratio = 0.0030").is_ok());
    assert!(derived("[geometry]\nover_provisioning_ratio = 0.0029").is_err());
    assert!(derived("[geometry]\nuser_capacity_bytes = 85647687680").is_ok());
    assert!(derived("[geometry]\nuser_capacity_bytes = 85647691776").is_err());
    assert!(refusal("[geometry]\nuser_capacity_bytes = 99999997952").contains("leaves 0 spare"));
}

#[test]
fn a_higher_stop_of_collection_needs_more_spare() {
    let stop = "[collection]\nstop_blocks_per_plane = 9\n[geometry]\n";
    let message = refusal(&format!("{stop}over_provisioning_ratio = 0.001"));
    // 8 blocks free just before it stops, and 2 open, of 40 planes x 256 pages.
    assert!(message.contains("collection needs 102400"), "{message}");
    assert!(message.contains("at least 0.0050,"), "{message}");
    assert!(derived(&format!("{stop}over_provisioning_ratio = 0.0050")).is_ok());
}

#[test]
fn what_is_usual_leaves_no_trace_in_the_hash() {
    let base = preset(YOO).hash();
    for usual in [
        "stop_blocks_per_plane = 5",
        "[scheduling]\ncopyback = false\ncache_operations = false\nmulti_plane = \"off\"\n\
         unit = \"die\"\nchannel = \"commands_first\"",
        "[wear]\nleast_worn_first = false",
    ] {
        assert_eq!(
            derived(&format!("[collection]\n{usual}")).unwrap().hash(),
            base
        );
    }
    let choices = |d: u32| format!("[collection]\npolicy = \"d_choices\"\nvictim_choices = {d}");
    let four = derived(&choices(4)).unwrap();
    assert_ne!(four.hash(), derived(&choices(5)).unwrap().hash());
    assert!(four.resolved_json().contains("\"victim_choices\":4"));
}

#[test]
fn bases_that_are_missing_or_circular_are_refused() {
    let unknown = SsdConfig::from_text("base = \"x25n\"\nname = \"a\"").unwrap_err();
    assert!(
        unknown.to_string().contains("bench-64gib, ") && unknown.to_string().contains(", x25m, "),
        "{unknown}"
    );
    let circle = SsdConfig::from_toml("base = \"a\"\nname = \"b\"", |name| {
        Some(match name {
            "a" => "base = \"b\"\nname = \"a\"".to_owned(),
            _ => "base = \"a\"\nname = \"b\"".to_owned(),
        })
    })
    .unwrap_err();
    assert!(circle.to_string().contains("a -> b -> a"), "{circle}");
    assert!(
        SsdConfig::from_text("base = 3\nname = \"a\"")
            .unwrap_err()
            .to_string()
            .contains("base = 3")
    );
}

#[test]
fn an_own_drive_may_carry_the_name_of_its_base() {
    let own = SsdConfig::from_text("base = \"x25m\"\nname = \"x25m\"\ncondition = \"fresh\"");
    assert_eq!(own.unwrap().condition, Condition::Fresh);
}

#[test]
fn every_required_key_is_asked_for_when_missing() {
    let full = text(YOO).unwrap();
    for key in read("", full).unwrap().keys() {
        let is_optional = ["closed_form.rho", "collection.reserve_blocks_per_plane"];
        // A figure needs one of three values, under the name of the figure.
        let is_value = ["throughput_iops", "bandwidth_bytes_per_second"];
        if is_optional.contains(&key.as_str()) || is_value.iter().any(|end| key.ends_with(end)) {
            continue;
        }
        let (table, last) = key.rsplit_once('.').unwrap_or(("", key));
        let mut inside = String::new();
        let without: Vec<&str> = full
            .lines()
            .filter(|line| {
                if let Some(name) = line.strip_prefix('[') {
                    inside = name.trim_end_matches(']').to_owned();
                }
                !(inside == table && line.split('=').next().unwrap().trim() == last)
            })
            .collect();
        let message = SsdConfig::from_text(&without.join("\n"))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains(&format!("{key} is missing")),
            "{key}: {message}"
        );
    }
}

#[test]
fn a_wrong_kind_is_told_before_keys_whose_meaning_depends_on_it() {
    for (name, kind) in [
        ("x25m", "ssd"),
        ("spinpoint-m7", "hdd"),
        ("array-x25m", "raid0"),
    ] {
        let own = format!("kind = \"{kind}\"");
        let text = super::text(name).unwrap();
        assert!(text.contains(&own));
        let wrong = text.replacen(&own, "kind = \"tape\"", 1);
        let error = super::DriveConfig::from_text(&wrong)
            .unwrap_err()
            .to_string();
        assert!(error.contains("kind = \"tape\""), "{error}");
        assert!(error.contains("\"ssd\" or \"hdd\" or \"raid0\""), "{error}");
    }
}

/// A value that is missing, or comes from another preset, is reported with what to write.
#[test]
fn what_another_preset_or_no_line_says_is_told_with_its_remedy() {
    let refusal = |text: &str| {
        let error = super::DriveConfig::from_text(text).unwrap_err();
        error.to_string()
    };
    let base = "base = \"spinpoint-m7\"\nname = \"mine\"\n";
    let message = refusal(&format!("{base}geometry.heads = 1\n"));
    assert!(message.contains("preset spinpoint-m7, line"), "{message}");
    let remedy = "give geometry.user_capacity_bytes too, as the heads or zones are others";
    assert!(message.contains(remedy), "{message}");
    let own = format!("{base}geometry.heads = 1\ngeometry.user_capacity_bytes = 900_000_000_000\n");
    let message = refusal(&own);
    assert!(message.contains("at most what the zones hold"), "{message}");
    assert!(!message.contains("give geometry"), "{message}");
    let text = super::text("spinpoint-m7").unwrap();
    let message = refusal(&text.replacen("kind = \"hdd\"", "", 1));
    let expected = "kind is missing; give \"hdd\", the kind of drive that has ";
    assert!(message.contains(expected), "{message}");
    let array = super::text("array-x25m").unwrap();
    let message = refusal(&array.replacen("member = \"x25m\"", "member = \"x26m\"", 1));
    assert!(
        message.contains("or of FILE.toml beside this one"),
        "{message}"
    );
}
