//! Converts BMP images, which clipboards of Windows contain and models do not accept, to PNG.

use std::io::{self, Write};

use flate2::{Compression, Crc, write::ZlibEncoder};

/// The first bytes of a BMP file.
pub const START: &[u8] = b"BM";

/// The largest number of pixels.
const MAX_PIXELS: u64 = 64 * 1024 * 1024;

/// The values of the field for the compression: none, and none with masks of the colors.
const UNCOMPRESSED: u32 = 0;
const MASKS: u32 = 3;

/// The masks of red, green and blue in the usual order.
const USUAL_MASKS: [u32; 3] = [0x00ff_0000, 0x0000_ff00, 0x0000_00ff];

/// Converts a BMP image to PNG. Transparency is dropped.
///
/// # Errors
/// When the file is damaged, or has a form that is not supported.
pub fn to_png(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let image = Image::parse(bytes)?;
    image
        .png(bytes)
        .map_err(|error| format!("it cannot be converted: {error}"))
}

/// Where the pixels of an image are.
struct Image {
    width: u32,
    height: u32,
    /// Whether the first row of the file is the lowest one.
    is_upside_down: bool,
    /// The offset of the pixels.
    start: usize,
    bytes_per_pixel: usize,
    bytes_per_row: usize,
}

impl Image {
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let number = |at: usize| {
            let part = bytes.get(at..at + 4).and_then(|part| part.try_into().ok());
            part.map(u32::from_le_bytes).ok_or_else(damaged)
        };
        let (width, height) = (number(18)?.cast_signed(), number(22)?.cast_signed());
        let bits = number(26)? >> 16;
        let has_usual_masks = || Ok::<_, String>([number(54)?, number(58)?, number(62)?] == USUAL_MASKS);
        let is_supported = match (bits, number(30)?) {
            (24 | 32, UNCOMPRESSED) => true,
            (32, MASKS) => has_usual_masks()?,
            _ => false,
        };
        if !is_supported {
            return Err("it is a BMP image of a form that is not supported; save it as PNG".to_owned());
        }
        let (columns, rows) = (u64::from(width.unsigned_abs()), u64::from(height.unsigned_abs()));
        if width <= 0 || rows == 0 {
            return Err(damaged());
        }
        if columns * rows > MAX_PIXELS {
            return Err(format!("it has more than {MAX_PIXELS} pixels"));
        }
        let bytes_per_pixel = bits / 8;
        let bytes_per_row = (columns * u64::from(bytes_per_pixel)).next_multiple_of(4);
        let start = number(10)?;
        let image = Self {
            width: width.unsigned_abs(),
            height: height.unsigned_abs(),
            is_upside_down: height > 0,
            start: usize::try_from(start).map_err(|_| damaged())?,
            bytes_per_pixel: usize::try_from(bytes_per_pixel).map_err(|_| damaged())?,
            bytes_per_row: usize::try_from(bytes_per_row).map_err(|_| damaged())?,
        };
        match u64::from(start) + bytes_per_row * rows > bytes.len() as u64 {
            true => Err(damaged()),
            false => Ok(image),
        }
    }

    fn png(&self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut header = [self.width.to_be_bytes(), self.height.to_be_bytes()].concat();
        // 8 bits for each of red, green and blue; the only methods of compression and filtering; not interlaced.
        header.extend([8, 2, 0, 0, 0]);
        add_chunk(&mut png, *b"IHDR", &header)?;
        let mut pixels = ZlibEncoder::new(Vec::new(), Compression::default());
        let rows = bytes[self.start..].chunks_exact(self.bytes_per_row);
        let rows: Vec<&[u8]> = rows.take(usize::try_from(self.height).unwrap_or(0)).collect();
        let mut line = Vec::new();
        for index in 0..rows.len() {
            let row = if self.is_upside_down {
                rows[rows.len() - 1 - index]
            } else {
                rows[index]
            };
            line.clear();
            // Each line begins with its filter: none.
            line.push(0);
            let columns = usize::try_from(self.width).unwrap_or(0);
            for pixel in row.chunks_exact(self.bytes_per_pixel).take(columns) {
                line.extend([pixel[2], pixel[1], pixel[0]]);
            }
            pixels.write_all(&line)?;
        }
        add_chunk(&mut png, *b"IDAT", &pixels.finish()?)?;
        add_chunk(&mut png, *b"IEND", &[])?;
        Ok(png)
    }
}

fn damaged() -> String {
    "it is a damaged BMP image".to_owned()
}

fn add_chunk(png: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) -> io::Result<()> {
    let length = u32::try_from(data.len()).map_err(io::Error::other)?;
    let content = [&kind[..], data].concat();
    let mut crc = Crc::new();
    crc.update(&content);
    png.extend(length.to_be_bytes());
    png.extend(content);
    png.extend(crc.sum().to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    /// Creates an image from the rows as they are in the file, without the padding.
    fn bmp(width: i32, height: i32, bits: u16, compression: u32, rows: &[&[u8]]) -> Vec<u8> {
        let start: u32 = if compression == MASKS { 66 } else { 54 };
        let mut file = b"BM\0\0\0\0\0\0\0\0".to_vec();
        file.extend(start.to_le_bytes());
        file.extend(40_u32.to_le_bytes());
        file.extend(width.to_le_bytes());
        file.extend(height.to_le_bytes());
        file.extend(1_u16.to_le_bytes());
        file.extend(bits.to_le_bytes());
        file.extend(compression.to_le_bytes());
        file.resize(54, 0);
        if compression == MASKS {
            USUAL_MASKS.iter().for_each(|mask| file.extend(mask.to_le_bytes()));
        }
        for row in rows {
            file.extend(*row);
            file.resize(file.len() + (4 - row.len() % 4) % 4, 0);
        }
        file
    }

    /// Returns the lines of an image that `to_png` wrote, with their filters.
    fn lines(png: &[u8]) -> Vec<u8> {
        let at = png.windows(4).position(|part| part == b"IDAT").unwrap();
        let mut lines = Vec::new();
        ZlibDecoder::new(&png[at + 4..]).read_to_end(&mut lines).unwrap();
        lines
    }

    #[test]
    fn rows_and_colors_are_put_in_order() {
        // Blue, green and red in a file; the lowest row first.
        let upside_down = bmp(1, 2, 24, UNCOMPRESSED, &[&[1, 2, 3], &[4, 5, 6]]);
        let png = to_png(&upside_down).unwrap();
        assert!(
            png.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x02\x08\x02"),
            "{png:?}"
        );
        assert_eq!(lines(&png), [0, 6, 5, 4, 0, 3, 2, 1]);
        let from_above = bmp(2, -1, 32, MASKS, &[&[1, 2, 3, 0, 4, 5, 6, 0]]);
        assert_eq!(lines(&to_png(&from_above).unwrap()), [0, 3, 2, 1, 6, 5, 4]);
    }

    #[test]
    fn chunks_have_the_checksum_of_the_format() {
        let mut png = Vec::new();
        add_chunk(&mut png, *b"IEND", &[]).unwrap();
        assert_eq!(png, b"\0\0\0\0IEND\xae\x42\x60\x82");
    }

    #[test]
    fn damaged_and_other_images_are_refused() {
        let good = bmp(1, 1, 24, UNCOMPRESSED, &[&[1, 2, 3]]);
        for length in [2, 20, 54, good.len() - 1] {
            assert_eq!(to_png(&good[..length]), Err(damaged()), "{length}");
        }
        let check = |file: &[u8], expected: &str| assert!(to_png(file).unwrap_err().contains(expected));
        check(&bmp(1, 1, 8, UNCOMPRESSED, &[&[1]]), "save it as PNG");
        check(&bmp(1, 1, 24, 1, &[&[1, 2, 3]]), "save it as PNG");
        check(&bmp(i32::MAX, i32::MAX, 24, UNCOMPRESSED, &[]), "more than");
        check(&bmp(-1, 1, 24, UNCOMPRESSED, &[]), "damaged");
        check(&bmp(1, i32::MIN, 24, UNCOMPRESSED, &[]), "more than");
    }
}
