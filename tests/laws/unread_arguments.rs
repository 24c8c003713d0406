//! Arguments that the epilogue does not read are refused by name.

use crate::harness::prelude::*;
use falchion::device::Host;

#[test]
fn arguments_that_the_epilogue_does_not_read_are_refused() {
    use falchion::epilogue::Source as C;
    type Of = Arguments<'static, Host, Bf16, Bf16, f32>;
    fn said<E: Node>(with: fn(Of) -> Of) -> String {
        let d = Box::leak(Box::new([7.0f32; 4]));
        let gemm = HopperRows::<Bf16, f32, ColMajor>::new().epilogue::<E>();
        let arguments = with(Arguments::new((2, 2, 2), &[Bf16::ONE; 4], &[Bf16::ONE; 4], d));
        let can = gemm.can_implement(&arguments).map_err(|refusal| refusal.to_string());
        let bytes = gemm.workspace_size(&arguments).map_err(|refusal| refusal.to_string());
        let ran = gemm.run(arguments).map_err(|error| error.to_string());
        assert_eq!((&can, &bytes.map(drop)), (&ran, &ran));
        ran.err().unwrap_or_default()
    }
    type Plain = LinearCombination;
    type Residual = Add<Acc, C>;
    #[rustfmt::skip]
    let table = [
        (said::<Plain>(|x| x.bias_n(&[1.0; 2])), "bias_n is not read by the epilogue; add it to the epilogue, or do not pass it"),
        (said::<Add<Acc, BiasM>>(|x| x.bias_m(&[1.0; 2]).scale_m(&[1.0; 2])), "scale_m is not read by the epilogue; add it to the epilogue, or do not pass it"),
        (said::<Acc>(|x| x.alpha(0.5)), "scalar alpha = 0.5 is not read by the epilogue; try 1"),
        (said::<Scaled<Alpha, Acc>>(|x| x.source(2.0, &[1.0; 4])), "C is not read by the epilogue (beta = 2); add beta * C to the epilogue, or pass beta = 0"),
        (said::<Scaled<Beta, Acc>>(|x| x.in_place(-1.0)), "C is not read by the epilogue (beta = -1); add beta * C to the epilogue, or pass beta = 0"),
        (said::<Residual>(|x| x.in_place(0.0)), "scalar beta = 0 is not read by the epilogue; try 1"),
        (said::<Acc>(|x| x.scalar::<1>(3.0)), "scalar beta = 3 is not read by the epilogue; try 0"),
        (said::<Plain>(|x| x.scalar::<7>(1e39)), "scalar s7 = 1e39 is not read by the epilogue; try 0"),
    ];
    for (said, wanted) in table {
        assert_eq!(said, wanted);
    }
    // As in BLAS, beta = 0 allows a C that is not read. Neutral scalars change nothing.
    for said in [
        said::<Plain>(|x| x.in_place(0.0)),
        said::<Acc>(|x| x.source(0.0, &[f32::NAN; 4]).alpha(1.0).scalar::<3>(0.0)),
        said::<Residual>(|x| x.in_place(1.0)),
        said::<Scaled<Beta, Acc>>(|x| x.scalar::<1>(2.0)),
    ] {
        assert_eq!(said, "");
    }
}
