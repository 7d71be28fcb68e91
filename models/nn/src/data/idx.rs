//! MNIST-format files from a local folder: two of images and two of labels.

use crate::data::digits::{PIXELS, SIDE};
use crate::data::{Data, DataConfig, DataError, IdxFault, Labelled, add_pixel_noise};
use crate::random::Stream;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fs, io};

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads the four files of the folder, and takes from either half as many examples as asked for, or all
/// there are, in the order that the seed gives.
pub(super) fn load(config: &DataConfig) -> Result<Data, DataError> {
    let folder = config.folder.as_deref().ok_or(DataError::NoFolder)?;
    let [train_images, train_labels, test_images, test_labels] = find(folder)?;
    let train = read_pair(&train_images, &train_labels);
    let test = read_pair(&test_images, &test_labels);
    match (train, test) {
        (Ok(train), Ok(test)) => Ok(Data::labelled(
            train.choose(config, config.samples, "train"),
            test.choose(config, config.dataset.held_out_samples(), "held-out"),
        )),
        (train, test) => {
            Err(together([train.err(), test.err()].into_iter().flatten().flatten().collect()))
        }
    }
}

const FILES: [(&str, Content); 4] = [
    ("train-images", Content::Images),
    ("train-labels", Content::Labels),
    ("t10k-images", Content::Images),
    ("t10k-labels", Content::Labels),
];

fn find(folder: &Path) -> Result<[PathBuf; 4], DataError> {
    let unreadable = |error: io::Error| {
        let (folder, reason) = (folder.to_owned(), error.to_string());
        DataError::FolderUnreadable { folder, reason }
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        found.push(entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned());
    }
    found.sort_unstable();
    let mut missing = Vec::new();
    let mut packed = Vec::new();
    let paths = FILES.map(|(stem, content)| {
        let names = ['-', '.'].map(|mark| format!("{stem}{mark}idx{}-ubyte", content.dimensions()));
        let there = |name: &String| found.binary_search(name).is_ok();
        if let Some(name) = names.iter().find(|name| there(name)) {
            return folder.join(name);
        }
        match names.iter().map(|name| format!("{name}.gz")).find(there) {
            Some(name) => packed.push(gzip(&folder.join(name))),
            None => missing.push(names[0].clone()),
        }
        PathBuf::new()
    });
    let mut errors = packed;
    if !missing.is_empty() {
        errors.push(DataError::FilesMissing { folder: folder.to_owned(), missing, found });
    }
    if errors.is_empty() { Ok(paths) } else { Err(together(errors)) }
}

fn together(mut errors: Vec<DataError>) -> DataError {
    if errors.len() == 1 { errors.remove(0) } else { DataError::Several(errors) }
}

struct Pair {
    pixels: Vec<u8>,
    labels: Vec<u8>,
}

impl Pair {
    fn choose(&self, config: &DataConfig, samples: usize, name: &str) -> Labelled {
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        Stream::new(config.seed, &format!("data/idx/{name}/choice")).shuffle(&mut order);
        order.truncate(samples);
        let mut inputs = Vec::with_capacity(order.len() * PIXELS);
        for &index in &order {
            let image = &self.pixels[index * PIXELS..][..PIXELS];
            inputs.extend(image.iter().map(|&grey| f32::from(grey) / 255.0));
        }
        let mut normals = Stream::new(config.seed, &format!("data/idx/{name}/noise"));
        add_pixel_noise(&mut inputs, config.noise, &mut normals);
        let labels = order.iter().map(|&index| i32::from(self.labels[index])).collect();
        Labelled { inputs, labels, features: PIXELS }
    }
}

fn read_pair(images: &Path, labels: &Path) -> Result<Pair, Vec<DataError>> {
    match (read(images, Content::Images), read(labels, Content::Labels)) {
        (Ok(pixels), Ok(items)) if pixels.len() == items.len() * PIXELS => {
            Ok(Pair { pixels, labels: items })
        }
        (Ok(pixels), Ok(items)) => Err(vec![DataError::CountsDiffer {
            images: images.to_owned(),
            labels: labels.to_owned(),
            image_count: pixels.len() / PIXELS,
            label_count: items.len(),
        }]),
        (pixels, items) => Err([pixels.err(), items.err()].into_iter().flatten().collect()),
    }
}

fn read(path: &Path, content: Content) -> Result<Vec<u8>, DataError> {
    let fault = |fault| DataError::File { path: path.to_owned(), fault };
    let system = |error: io::Error| fault(IdxFault::Unreadable(error.to_string()));
    let about = fs::metadata(path).map_err(system)?;
    if !about.is_file() {
        return Err(fault(IdxFault::Unreadable("not a plain file".to_owned())));
    }
    let mut file = File::open(path).map_err(system)?;
    let header_bytes = content.header_bytes();
    let mut header = Vec::with_capacity(header_bytes);
    file.by_ref().take(header_bytes as u64).read_to_end(&mut header).map_err(system)?;
    if header.starts_with(&GZIP) {
        return Err(gzip(path));
    }
    let expected = body_bytes(&header, content, about.len()).map_err(fault)?;
    let mut body = Vec::with_capacity(expected);
    file.take(expected as u64).read_to_end(&mut body).map_err(system)?;
    if body.len() < expected {
        // The file has shrunk since its length was asked for.
        let [expected, found] = [expected, body.len()].map(|bytes| (bytes + header_bytes) as u64);
        return Err(fault(IdxFault::Truncated { expected, found }));
    }
    if content == Content::Labels
        && let Some((index, &label)) = body.iter().enumerate().find(|&(_, &label)| label > 9)
    {
        return Err(fault(IdxFault::LabelAboveNine { label, index }));
    }
    Ok(body)
}

fn gzip(path: &Path) -> DataError {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    DataError::File { path: path.to_owned(), fault: IdxFault::Gzip(name.into_owned()) }
}

#[cfg(test)]
mod tests;

// IDX headers, checked against the file's length before anything is allocated.
//
// Format: <http://yann.lecun.com/exdb/mnist/>: two zero bytes, the element type, the number of dimensions,
// each dimension as a big-endian 32-bit integer, then the elements, the last dimension running fastest.

/// The most items a file may hold: 784 MB of images.
pub(super) const MOST_ITEMS: u32 = 1_000_000;

const UNSIGNED_BYTE: u8 = 0x08;

#[derive(Clone, Copy, PartialEq)]
enum Content {
    Images,
    Labels,
}

impl Content {
    fn dimensions(self) -> u8 {
        match self {
            Self::Images => 3,
            Self::Labels => 1,
        }
    }

    fn header_bytes(self) -> usize {
        4 + 4 * usize::from(self.dimensions())
    }
}

/// The bytes after the header, if it is what such a file has and the file is as long as it says.
fn body_bytes(header: &[u8], content: Content, file_bytes: u64) -> Result<usize, IdxFault> {
    let header_bytes = content.header_bytes();
    let magic = header.first_chunk::<4>();
    if let Some(&[zero, also_zero, element, dimensions]) = magic {
        if [zero, also_zero] != [0, 0] || element == 0 {
            return Err(IdxFault::WrongMagic([zero, also_zero, element, dimensions]));
        }
        if element != UNSIGNED_BYTE {
            return Err(IdxFault::WrongType(element));
        }
        let expected = content.dimensions();
        if dimensions != expected {
            return Err(IdxFault::WrongDimensions { expected, found: dimensions });
        }
    }
    let sizes: Vec<u32> = header.chunks_exact(4).skip(1).map(big_endian).collect();
    let (count, item_bytes) = match (content, sizes.as_slice()) {
        (Content::Labels, &[count]) => (count, 1),
        (Content::Images, &[count, rows, columns]) => {
            if [rows, columns] != [SIDE as u32; 2] {
                return Err(IdxFault::WrongSize { rows, columns });
            }
            (count, PIXELS)
        }
        _ => return Err(IdxFault::NoHeader { expected: header_bytes, found: file_bytes }),
    };
    if count == 0 {
        return Err(IdxFault::Empty);
    }
    if count > MOST_ITEMS {
        return Err(IdxFault::TooMany(count));
    }
    let body = count as usize * item_bytes;
    let expected = (header_bytes + body) as u64;
    match file_bytes {
        found if found < expected => Err(IdxFault::Truncated { expected, found }),
        found if found > expected => Err(IdxFault::TrailingBytes { expected, found }),
        _ => Ok(body),
    }
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}
