//! Films as MP4, encoded by the program `ffmpeg`.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::{Encode, Frame, PlotError, Reel};

/// A way to write a film without the program.
const INSTEAD: &str = "or end the film's name with .gif or .apng";

/// The last words of a program that failed.
#[derive(Debug)]
pub(super) struct Words(String);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ffmpeg failed: {}; mend that, {INSTEAD}", self.0)
    }
}

impl std::error::Error for Words {}

/// A running `ffmpeg`, which gets pixels.
pub(super) struct Mp4 {
    child: Child,
    pixels: Option<ChildStdin>,
    path: PathBuf,
    /// The file that it writes to, which gets its name at the end.
    part: PathBuf,
}

impl Mp4 {
    pub(super) fn create(path: &Path, reel: Reel, (w, h): (i32, i32)) -> Result<Self, PlotError> {
        let mut part = path.as_os_str().to_os_string();
        part.push(format!(".{}.part", std::process::id()));
        let part = PathBuf::from(part);
        // The program's own message of a folder that is missing would not name it.
        fs::File::create(&part)
            .map_err(|source| PlotError::Io { path: path.to_path_buf(), source })?;
        let (size, rate) = (format!("{w}x{h}"), reel.rate.to_string());
        let input = ["-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", &size];
        let spawned = Command::new("ffmpeg")
            .args(["-hide_banner", "-loglevel", "error", "-y"])
            .args(input)
            .args(["-framerate", &rate, "-i", "-", "-an"])
            // Sides are even, as the encoder wants them.
            .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white"])
            .args(["-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p"])
            .args(["-movflags", "+faststart", "-f", "mp4"])
            .arg(&part)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        match spawned {
            Ok(mut child) => {
                let pixels = child.stdin.take();
                Ok(Mp4 { child, pixels, path: path.to_path_buf(), part })
            }
            Err(error) => {
                let _ = fs::remove_file(&part);
                let reason = match error.kind() {
                    io::ErrorKind::NotFound => {
                        format!("there is no ffmpeg on PATH; install it, {INSTEAD}")
                    }
                    _ => format!("ffmpeg does not start: {error}; mend that, {INSTEAD}"),
                };
                Err(PlotError::Encoder { path: path.to_path_buf(), reason })
            }
        }
    }

    /// Waits for the end of the program; its words are the error if it failed.
    fn wait(&mut self) -> io::Result<()> {
        // Its input ends here.
        self.pixels = None;
        let mut words = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            errors.read_to_string(&mut words)?;
        }
        let status = self.child.wait()?;
        if status.success() {
            return Ok(());
        }
        let last = words.lines().map(str::trim).rfind(|line| !line.is_empty());
        let last = last.map_or_else(|| status.to_string(), str::to_string);
        Err(io::Error::other(Words(last)))
    }
}

impl Encode for Mp4 {
    fn push(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let bytes: Vec<u8> = frame.pixels.iter().flat_map(|c| [c.0, c.1, c.2]).collect();
        let sent = match &mut self.pixels {
            Some(pixels) => pixels.write_all(&bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        // A program that closes its input says why.
        sent.or_else(|error| self.wait().and(Err(error)))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.wait()?;
        fs::rename(&self.part, &self.path)
    }
}

impl Drop for Mp4 {
    fn drop(&mut self) {
        self.pixels = None;
        // Errors have no place to go: after `finish` there is nothing left to end or to remove.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.part);
    }
}
