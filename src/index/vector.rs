//! Stores a vector in half its bytes, and compares it.

/// A vector as it is stored: the upper half of each number, which ranks as well as the whole.
pub(super) fn stored(vector: &[f32]) -> Vec<u8> {
    let halves = vector.iter().flat_map(|number| {
        let [_, _, low, high] = number.to_le_bytes();
        [low, high]
    });
    halves.collect()
}

/// The numbers of a stored vector.
pub(super) fn numbers_of(stored: &[u8]) -> impl Iterator<Item = f32> {
    let halves = stored.as_chunks::<2>().0.iter();
    halves.map(|[low, high]| f32::from_le_bytes([0, 0, *low, *high]))
}

/// The product of two vectors of length 1: the larger, the nearer. `None` if they have not as many numbers.
pub(super) fn product(stored: &[u8], vector: &[f32]) -> Option<f32> {
    if stored.len() != 2 * vector.len() {
        return None;
    }
    // Several sums at once, which a processor adds side by side.
    let mut sums = [0.0_f32; 8];
    let (stored, rest) = stored.as_chunks::<16>();
    let (vector, vector_rest) = vector.as_chunks::<8>();
    for (stored, vector) in stored.iter().zip(vector) {
        let (pairs, _) = stored.as_chunks::<2>();
        for ((sum, [low, high]), number) in sums.iter_mut().zip(pairs).zip(vector) {
            *sum += f32::from_le_bytes([0, 0, *low, *high]) * number;
        }
    }
    let rest = numbers_of(rest).zip(vector_rest);
    let rest: f32 = rest.map(|(a, b)| a * b).sum();
    Some(sums.iter().sum::<f32>() + rest)
}

#[cfg(test)]
mod tests {
    use super::{product, stored};

    #[test]
    fn a_product_is_that_of_the_whole_numbers_but_for_a_hundredth() {
        for count in [1, 7, 8, 16, 27, 384] {
            let numbers = (0..count).map(|at| f32::from(i16::from(at % 5 == 0)) / 4.0 + 0.1);
            let vector: Vec<f32> = numbers.collect();
            let whole: f32 = vector.iter().map(|number| number * number).sum();
            let found = product(&stored(&vector), &vector).unwrap();
            assert!(
                (found / whole - 1.0).abs() < 0.01,
                "{count}: {found} {whole}"
            );
        }
        assert_eq!(product(&[0; 4], &[0.0; 3]), None);
    }
}
