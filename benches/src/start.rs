//! `mlsys bench start`: first frame, memory, and from a key to the frame that answers it while a network trains.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use crate::bench::{SIZE, Sample, Scratch, failed, in_turn};
use crate::pty::Screen;
use clap::Args;
use mlsys_run::console::Console;
use mlsys_run::process::Failure;

/// Measures the program on a pseudo-terminal.
#[derive(Debug, Args)]
pub struct Options {
    /// How often the program is started
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,
    /// How long keys are typed while a network trains
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub seconds: u32,
}

/// Faster than a person types for long, and slow enough that no two answers are in one frame.
const KEY_EVERY: Duration = Duration::from_millis(50);

/// Drivers that are still being looked for draw when they are found.
const QUIET: Duration = Duration::from_millis(1500);

/// A run that outlasts every measurement, and a field to type into.
const LESSON: &str = include_str!("start.md");

/// First frames, memory, and the time from a key to its frame.
pub fn run(options: &Options, console: &mut Console) -> Result<Vec<Sample>, Failure> {
    let scratch = Scratch::new("start")?;
    let folder = scratch.path();
    let lesson: &[&str] = &["open", "systems/training-loop"];
    let sides = [("the course", &[] as &[&str]), ("a lesson", lesson)];
    let first = in_turn(&sides, options.rounds, console, |(_, arguments)| {
        let screen = Screen::open(SIZE, arguments, folder).map_err(failed)?;
        let frame = screen.frame(|_| true).map_err(failed)?;
        Ok(millis(frame.at - screen.started()))
    })?;
    let named = sides.into_iter().zip(first);
    let first =
        named.map(|((name, _), first)| Sample::new(format!("first frame, {name}"), "ms", first));
    let mut samples: Vec<Sample> = first.collect();
    samples.extend(memory(folder).map_err(failed)?);
    console.progress(|| format!("keys for {} s", options.seconds));
    samples.push(keys(options.seconds, folder).map_err(failed)?);
    console.clear_progress();
    Ok(samples)
}

/// Memory with the first frame, and once drivers have been looked for.
fn memory(folder: &Path) -> io::Result<Vec<Sample>> {
    let screen = Screen::open(SIZE, &[], folder)?;
    screen.frame(|_| true)?;
    let first = screen.resident_bytes();
    screen.quiet(QUIET);
    let later = screen.resident_bytes();
    let sample = |name: &str, bytes: Option<u64>| {
        let bytes = bytes? as f64;
        Some(Sample::new(name, "MB", vec![bytes / 1e6]))
    };
    let samples = [
        sample("memory at the first frame", first),
        sample("memory once devices are known", later),
    ];
    Ok(samples.into_iter().flatten().collect())
}

/// Types into a field while a network trains at full speed; each key moves the cursor, which tells its frame.
fn keys(seconds: u32, folder: &Path) -> io::Result<Sample> {
    let file = folder.join("start.md");
    fs::write(&file, LESSON)?;
    let file = file.display().to_string();
    let mut screen = Screen::open(SIZE, &["open", &file, "--device", "cpu"], folder)?;
    screen.frame(|_| true)?;
    screen.quiet(QUIET);
    // Run at full speed, go to the question, open its field.
    screen.keys(" fn\r")?;
    // The cursor is shown in the field once it is open, and the run draws by then.
    let warm = Instant::now() + Duration::from_secs(1);
    let mut frame = screen.frame(|frame| frame.at >= warm)?;
    let mut took = Vec::new();
    let until = Instant::now() + Duration::from_secs(seconds.into());
    let mut typed = false;
    while Instant::now() < until {
        let due = Instant::now() + KEY_EVERY;
        let Some((row, column)) = frame.cursor else {
            return Err(io::Error::other("the field does not open"));
        };
        // A letter and its removal in turn.
        let (key, next) =
            if typed { ("\x7f", column.saturating_sub(1)) } else { ("x", column + 1) };
        typed = !typed;
        let sent = Instant::now();
        screen.keys(key)?;
        frame = screen.frame(|frame| frame.cursor == Some((row, next)))?;
        took.push(millis(frame.at - sent));
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    Ok(Sample::new("key to frame while a network trains", "ms", took))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
