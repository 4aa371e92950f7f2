//! cannot be sent between threads safely

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let i = cx.bid::<0>();
        std::thread::scope(|scope| {
            scope.spawn(move || i);
        });
    });
}
