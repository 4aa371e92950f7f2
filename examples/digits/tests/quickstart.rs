//! The quickstart's parts: what a bad file is answered with, and whether kernels and reference agree.

#[path = "../src/classifier.rs"]
mod classifier;
#[path = "../src/reference.rs"]
mod reference;
#[path = "../src/scans.rs"]
mod scans;
#[path = "../src/sheet.rs"]
mod sheet;

cuda_tiles_host::include_kernels!("digits");

use cuda_tiles_host::Device;
use scans::{CLASSES, PIXELS, Scans};
use std::path::{Path, PathBuf};

fn digits() -> Scans {
    Scans::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/digits.csv")).unwrap()
}

/// An empty folder for the files of a test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The message about a file of this text, without the path.
fn refusal(text: &str) -> String {
    let path = folder("refusals").join("bad.csv");
    std::fs::write(&path, text).unwrap();
    let message = Scans::read(&path).err().expect("the file is bad").to_string();
    message.strip_prefix(&path.display().to_string()).expect("the message names the file").to_owned()
}

/// A line with these fields in place of the last ones of a good line.
fn line(last: &str) -> String {
    let kept = PIXELS + 1 - last.split(',').count();
    format!("{}{last}", "0,".repeat(kept))
}

#[test]
fn a_bad_line_is_named_with_what_is_wrong() {
    let good = line("5");
    let cases = [
        (format!("{good}\n1,2,3\n"), ":2: a line has 64 pixels and a digit, 65 fields, but this one has 3"),
        (format!("{good},\n"), ":1: a line has 64 pixels and a digit, 65 fields, but this one has 66"),
        (
            format!("{good}\n\n{}\n", line("17,5")),
            ":3: field 64 is `17`, but a pixel is a number from 0 to 16",
        ),
        (line("-1,5"), ":1: field 64 is `-1`, but a pixel is a number from 0 to 16"),
        (line("NaN,5"), ":1: field 64 is `NaN`, but a pixel is a number from 0 to 16"),
        (line("ink,5"), ":1: field 64 is `ink`, but a pixel is a number from 0 to 16"),
        (line("10"), ":1: field 65 is `10`, but the last field is the digit, 0 to 9"),
        (line("2.5"), ":1: field 65 is `2.5`, but the last field is the digit, 0 to 9"),
        ("\n \n".to_owned(), " holds no scans"),
    ];
    for (text, expected) in cases {
        assert_eq!(refusal(&text), expected, "{text:?}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let message = Scans::read(Path::new("no/such/file.csv")).err().unwrap().to_string();
    assert!(message.starts_with("no/such/file.csv cannot be read: "), "{message}");
}

#[test]
fn kernels_and_reference_agree() {
    let device = Device::auto().unwrap();
    device.load(&KERNELS).unwrap();
    let scans = digits();
    assert_eq!(scans.len(), 1797);
    let classified = classifier::classify(&device, &scans).unwrap();
    let expected = reference::classify(&scans);
    assert_eq!(classified.nearest, expected.nearest);
    assert!(!classified.time.is_zero());
    for (found, expected) in classified.probabilities.iter().zip(&expected.probabilities) {
        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
    }
    let right = classified.nearest.iter().zip(&scans.labels).filter(|(found, label)| found == label).count();
    assert!(right > 1600, "{right} of 1797");
}

#[test]
fn fewer_rows_than_a_tile_and_a_class_without_rows() {
    let device = Device::auto().unwrap();
    device.load(&KERNELS).unwrap();
    let all = digits();
    let scans = Scans { pixels: all.pixels[..3 * PIXELS].to_vec(), labels: all.labels[..3].to_vec() };
    let classified = classifier::classify(&device, &scans).unwrap();
    let expected = reference::classify(&scans);
    assert_eq!(classified.nearest, expected.nearest);
    assert_eq!(classified.probabilities.len(), 3 * CLASSES);
    for (found, expected) in classified.probabilities.iter().zip(&expected.probabilities) {
        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
    }
}

#[test]
fn the_sheet_is_a_picture_with_room_for_every_misread_scan() {
    let scans = digits();
    let folder = folder("sheets");
    let read = vec![0; scans.len()];
    let mut heights = Vec::new();
    for misread in [vec![], vec![1], (1..=17).collect::<Vec<_>>()] {
        let path = folder.join("new/folder/misread.png");
        sheet::write(&path, &scans, &read, &misread).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
        let mut picture = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; picture.output_buffer_size().unwrap()];
        picture.next_frame(&mut pixels).unwrap();
        heights.push(picture.info().height);
    }
    assert!(heights[0] == heights[1] && heights[1] < heights[2], "{heights:?}");
    let message = sheet::write(&folder, &scans, &read, &[]).unwrap_err().to_string();
    assert!(message.contains("cannot be written: "), "{message}");
}
