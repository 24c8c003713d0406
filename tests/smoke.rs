use falchion::device::host::*;
use falchion::device::*;
use falchion::prelude::*;
#[test]
fn smoke() {
    for (m, n, k) in [(128, 128, 128), (130, 257, 77), (5, 3, 1)] {
        let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + 3) % 11) as f32 - 5.0).collect();
        let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + 1) % 13) as f32 - 6.0).collect();
        let mut d = vec![f32::NAN; m * n];
        let gemm = Gemm::<f32, ColMajor, f32, RowMajor, f32, ColMajor>::new();
        gemm.run(Arguments::new((m, n, k), &a, &b, &mut d)).unwrap();
        for i in 0..m {
            for j in 0..n {
                let want: f32 = (0..k).map(|l| a[i + l * m] * b[l * n + j]).sum();
                assert_eq!(d[i + j * m], want, "{i} {j}");
            }
        }
        let mut e = vec![f32::NAN; m * n];
        let args = Arguments::<Host, f32, f32, f32>::new((m, n, k), &a, &b, &mut e);
        let shapes = Host::shapes(
            &args,
            Orders { a: falchion::layout::Order::Col, b: falchion::layout::Order::Row, c: falchion::layout::Order::Col },
        );
        drop(args);
        let t = std::time::Instant::now();
        run_on_host(
            &gemm.desc(),
            Mode::Checked { seed: 1 },
            &shapes,
            HostMatrices {
                a: HostSlice::new::<f32>(&a),
                b: HostSlice::new::<f32>(&b),
                c: Source::None,
                d: HostSliceMut::new::<f32>(&mut e),
            },
        )
        .unwrap();
        println!("checked {m}x{n}x{k} {:?}", t.elapsed());
        assert_eq!(d, e);
    }
    let n = 1024;
    let a: Vec<f32> = (0..n * n).map(|i| ((i * 7 + 3) % 11) as f32 - 5.0).collect();
    let mut d = vec![0f32; n * n];
    let gemm = Gemm::<f32, ColMajor, f32, ColMajor, f32, ColMajor>::new();
    for _ in 0..5 {
        let t = std::time::Instant::now();
        gemm.run(Arguments::new((n, n, n), &a, &a, &mut d)).unwrap();
        println!("fast 1024 {:?} {:.1} GF", t.elapsed(), 2.0 * (n * n * n) as f64 / t.elapsed().as_secs_f64() / 1e9);
    }
}
