//! module `arch` is private

fn main() {
    println!("{}", cuda_tiles::arch::execution::thread());
}
