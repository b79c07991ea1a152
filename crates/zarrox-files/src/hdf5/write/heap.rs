//! The heap for variable-length values.

/// The size in bytes of a collection header, and also of an object header.
const HEADER: usize = 16;
/// The minimum size of a collection in bytes.
const SMALLEST: usize = 4096;
/// The size in bytes at which a collection is closed and the next one begins.
const LARGE: usize = 1 << 20;

/// Contiguous collections of values, which will be written at a given address in the file.
#[derive(Debug)]
pub(super) struct Heap {
    /// The address of the first collection.
    start: u64,
    done: Vec<u8>,
    /// The collection under construction, without its header.
    objects: Vec<u8>,
    count: u16,
}

impl Heap {
    /// Creates an empty heap.
    pub(super) fn at(start: u64) -> Self {
        Self { start, done: Vec::new(), objects: Vec::new(), count: 0 }
    }

    /// Adds a value of `elements` elements, and returns the reference to it.
    pub(super) fn add(&mut self, bytes: &[u8], elements: usize) -> [u8; 16] {
        let mut reference = [0; 16];
        if elements == 0 {
            return reference;
        }
        let padded = bytes.len().next_multiple_of(8);
        let is_full = self.count == u16::MAX || self.objects.len() + HEADER + padded > LARGE;
        if is_full && self.count > 0 {
            self.close();
        }
        self.count += 1;
        let address = self.start + self.done.len() as u64;
        reference[..4].copy_from_slice(&u32::try_from(elements).unwrap_or(u32::MAX).to_le_bytes());
        reference[4..12].copy_from_slice(&address.to_le_bytes());
        reference[12..].copy_from_slice(&u32::from(self.count).to_le_bytes());
        self.objects.extend_from_slice(&self.count.to_le_bytes());
        self.objects.extend_from_slice(&[1, 0, 0, 0, 0, 0]);
        self.objects.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.objects.extend_from_slice(bytes);
        self.objects.resize(self.objects.len() + padded - bytes.len(), 0);
        reference
    }

    /// Completes the collection under construction.
    fn close(&mut self) {
        let used = HEADER + self.objects.len();
        let size = used.max(SMALLEST);
        self.done.extend_from_slice(b"GCOL\x01\0\0\0");
        self.done.extend_from_slice(&(size as u64).to_le_bytes());
        self.done.append(&mut self.objects);
        let free = size - used;
        if free >= HEADER {
            self.done.extend_from_slice(&[0; 8]);
            self.done.extend_from_slice(&(free as u64).to_le_bytes());
        }
        self.done.resize(self.done.len() + free - if free >= HEADER { HEADER } else { 0 }, 0);
        self.count = 0;
    }

    /// Returns the bytes of all collections.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.close();
        }
        self.done
    }
}
