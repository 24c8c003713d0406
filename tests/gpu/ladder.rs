//! Every rung of the ladder on a device.

use falchion_lab::ladder::{Program, rungs};

/// Every rung has the host's bits for sizes that are not multiples of a tile.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_rung_has_the_bits_of_the_host() {
    use falchion::{
        cuda::{self, CudaKernel},
        internals::operand::Problem,
    };
    use falchion_check::Mode;
    use falchion_lab::owned::{HostProduct, resident::run_from_host};
    let context = cuda::open(0).unwrap();
    let stream = context.new_stream().unwrap();
    for rung in rungs().expect("every configuration checks") {
        let kernel = match rung.program {
            Program::Textbook(textbook) => textbook.prepare(&context).unwrap(),
            Program::Gemm(d) => CudaKernel::prepare(&context, &d).unwrap(),
        };
        let desc = *kernel.desc();
        for extents in
            [(1, 1, 1), (300, 200, 100), (257, 129, 65), (64, 64, 64), (130, 300, 7), (33, 31, 0)]
        {
            let problem =
                Problem::new(&desc, extents, [None; 3], [1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
            let mut product = HostProduct::poisoned(&desc, &problem).unwrap();
            let [operands, _] = product.distributions(&desc);
            product.a.draw(operands, 1).unwrap();
            product.b.draw(operands, 2).unwrap();
            let mut on_host = product.clone();
            on_host.run(&desc, Mode::Fast).unwrap();
            let problem = product.problem();
            run_from_host(&stream, &kernel, &problem, product.matrices().unwrap()).unwrap();
            let bytes = |product: &HostProduct| product.d.slice().unwrap().bytes().to_vec();
            assert!(bytes(&product) == bytes(&on_host), "{} at {extents:?}", rung.name);
        }
    }
}
