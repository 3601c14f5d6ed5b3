//! The smallest drive that the program accepts, and its messages about smaller ones.
#![allow(clippy::unwrap_used)]

use drivelab_firmware::geometry::Geometry;

fn refusal(geometry: &str) -> String {
    geometry.parse::<Geometry>().unwrap_err().to_string()
}

#[test]
fn a_geometry_works_or_the_refusal_names_one_that_does() {
    for blocks in 1..300 {
        for pages in [1, 2, 7, 64, 512] {
            let given = format!("1x2x1x{blocks}x{pages}");
            let Ok(geometry) = given.parse::<Geometry>() else {
                let said = refusal(&given);
                assert!(said.contains("use more blocks a die, as 1x2x1x"), "{said}");
                let larger = said.rsplit(' ').next().unwrap();
                assert!(larger.parse::<Geometry>().is_ok(), "{said}");
                assert!(blocks < 35, "{said}");
                continue;
            };
            assert!(geometry.begin_blocks() < geometry.end_blocks());
            assert!(blocks >= 25, "{given}");
        }
    }
    assert!(refusal("1x2x1x24x64").contains("at least 25 blocks"));
    assert!(refusal("1x2x1x27x64").ends_with("as 1x2x1x30x64"));
}

#[test]
fn products_that_do_not_fit_are_refused() {
    assert!(refusal("65536x65536x65536x64x64").contains("from 1 to 64"));
    assert!(refusal("0x4294967295x4294967295x64x64").contains("from 1 to 64"));
    assert!(refusal("1x1x1x25x0").contains("at least 1 page"));
    assert!(refusal("1x1x1x4294967295x1").contains("fewer blocks a die"));
    assert!(refusal("4x4x4x4294967295x4294967295").contains("fewer blocks a die"));
    // The pages of a block have a separate limit.
    assert!(refusal("1x1x1x64x32768").contains("32767"));
}
