//! Polynomials, one for each type: least squares of the weighted error at Chebyshev nodes in 420 bits, the coefficients
//! rounded one after another, lowest first, with those that remain fitted anew. Each states the error that it leaves in the
//! function that it serves, relative to that function.

use super::real::Real;
use crate::arch::float::{fma_f32, fma_f64};
use crate::math::device::polynomial;

/// The polynomials of a type.
pub trait Series: Real {
    /// Where the variable of [`Series::erfc_series`] is zero.
    const ERFC_CENTER: Self;
    /// From here on the complementary error function is less than half the least subnormal number.
    const ERFC_LIMIT: Self;
    /// `(e^r - 1 - r) / r²` for |r| up to ln 2 / 2: error 2^-31.0 for f32, 2^-61 for f64.
    fn exp_series(r: Self) -> Self;
    /// `(2 artanh s - 2 s - 2/3 s³) / s⁵` of `z = s²`, for |s| up to 3 - 2√2: error 2^-43.6 for f32, 2^-76.5 for f64.
    fn log_series(z: Self) -> Self;
    /// `(sinh x - x) / x³` of `z = x²`, for |x| up to 1: error 2^-31.3 for f32, 2^-61.5 for f64.
    fn sinh_series(z: Self) -> Self;
    /// `(arctan x - x) / x³` of `z = x²`, for |x| up to 1: error 2^-28.2 for f32, 2^-57.3 for f64.
    fn atan_series(z: Self) -> Self;
    /// `(arcsin x - x) / x³` of `z = x²`, for |x| up to 1/2: error 2^-31.7 for f32, 2^-59.8 for f64.
    fn asin_series(z: Self) -> Self;
    /// `erf(x) / x - 1` of `z = x²`, for |x| up to 1: error 2^-29.3 for f32, 2^-56.3 for f64.
    fn erf_series(z: Self) -> Self;
    /// `(1 + 2 x) · e^(x²) · erfc(x)` of `t = (x - K) / (x + K)` with `K = ERFC_CENTER`, for x from 0 to `ERFC_LIMIT`: error 2^-27.2 for
    /// f32, 2^-54.4 for f64.
    fn erfc_series(t: Self) -> Self;
}

impl Series for f32 {
    const ERFC_CENTER: Self = 2.0;
    const ERFC_LIMIT: Self = 10.5;
    #[inline_on_device]
    fn exp_series(r: Self) -> Self {
        polynomial!(
            fma_f32,
            r,
            0.5,
            0.166_666_66,
            0.041_666_478,
            0.008_333_567_5,
            0.001_393_370_8,
            0.000_197_425_62
        )
    }
    #[inline_on_device]
    fn log_series(z: Self) -> Self {
        polynomial!(fma_f32, z, 0.399_999_98, 0.285_719_57, 0.221_810_61, 0.195_278_33)
    }
    #[inline_on_device]
    fn sinh_series(z: Self) -> Self {
        polynomial!(fma_f32, z, 0.166_666_67, 0.008_333_316, 0.000_198_414_2, 2.791_538_2e-6)
    }
    #[inline_on_device]
    fn atan_series(z: Self) -> Self {
        polynomial!(
            fma_f32,
            z,
            -0.333_332_93,
            0.199_983_6,
            -0.142_622_9,
            0.109_422_2,
            -0.083_749_51,
            0.057_478_942,
            -0.030_709_004,
            0.010_666_74,
            -0.001_738_973_2
        )
    }
    #[inline_on_device]
    fn asin_series(z: Self) -> Self {
        polynomial!(
            fma_f32,
            z,
            0.166_666_6,
            0.075_005_144,
            0.044_515_636,
            0.031_815_53,
            0.014_416_952,
            0.037_539_285
        )
    }
    #[inline_on_device]
    fn erf_series(z: Self) -> Self {
        polynomial!(
            fma_f32,
            z,
            0.128_379_17,
            -0.376_126_26,
            0.112_835_824,
            -0.026_853_643,
            0.005_187_962_7,
            -0.000_800_679_3,
            7.842_288e-5
        )
    }
    #[inline_on_device]
    fn erfc_series(t: Self) -> Self {
        polynomial!(
            fma_f32,
            t,
            1.276_978_4,
            -0.092_763_81,
            -0.166_030_21,
            0.164_050_83,
            -0.054_220_86,
            -0.008_029_919,
            0.008_721_902,
            0.001_253_123_9,
            -0.001_445_678_4,
            -0.000_409_148_17,
            0.000_187_719_76,
            9.016_897e-5
        )
    }
}

impl Series for f64 {
    const ERFC_CENTER: Self = 4.0;
    const ERFC_LIMIT: Self = 28.0;
    #[inline_on_device]
    fn exp_series(r: Self) -> Self {
        polynomial!(
            fma_f64,
            r,
            0.5,
            0.166_666_666_666_666_7,
            0.041_666_666_666_666_67,
            0.008_333_333_333_326_132,
            0.001_388_888_888_888_374_6,
            0.000_198_412_698_748_274_54,
            2.480_158_732_555_261_8e-5,
            2.755_725_539_154_403e-6,
            2.755_727_363_692_440_5e-7,
            2.510_522_060_987_055_4e-8,
            2.091_468_954_254_955e-9
        )
    }
    #[inline_on_device]
    fn log_series(z: Self) -> Self {
        polynomial!(
            fma_f64,
            z,
            0.4,
            0.285_714_285_714_270_93,
            0.222_222_222_226_182_18,
            0.181_818_181_248_146,
            0.153_846_202_995_775_4,
            0.133_330_682_118_063_2,
            0.117_736_822_323_457_9,
            0.103_426_826_281_454_61,
            0.115_577_607_204_709_51
        )
    }
    #[inline_on_device]
    fn sinh_series(z: Self) -> Self {
        polynomial!(
            fma_f64,
            z,
            0.166_666_666_666_666_69,
            0.008_333_333_333_332_97,
            0.000_198_412_698_415_312_02,
            2.755_731_913_037_927e-6,
            2.505_212_685_609_476_6e-8,
            1.605_700_052_085_293e-10,
            7.765_897_596_002_476e-13
        )
    }
    #[inline_on_device]
    fn atan_series(z: Self) -> Self {
        polynomial!(
            fma_f64,
            z,
            -0.333_333_333_333_330_2,
            0.199_999_999_999_442_68,
            -0.142_857_142_821_816_75,
            0.111_111_109_959_088_32,
            -0.090_909_068_126_656_42,
            0.076_922_776_778_191_65,
            -0.066_663_868_065_599_87,
            0.058_804_272_191_223_445,
            -0.052_530_783_065_543_436,
            0.047_208_494_315_127_504,
            -0.042_153_678_499_111_21,
            0.036_565_143_535_169_68,
            -0.029_783_352_065_939_11,
            0.021_838_074_673_802_617,
            -0.013_763_346_705_652_345,
            0.007_099_985_521_128_468,
            -0.002_835_519_099_020_709_5,
            0.000_813_964_717_957_847,
            -0.000_148_418_316_256_240_26,
            1.285_180_524_239_733_4e-5
        )
    }
    #[inline_on_device]
    fn asin_series(z: Self) -> Self {
        polynomial!(
            fma_f64,
            z,
            0.166_666_666_666_667_6,
            0.074_999_999_999_711_74,
            0.044_642_857_174_112_135,
            0.030_381_942_735_787_86,
            0.022_372_214_128_615_31,
            0.017_351_628_227_432_116,
            0.013_980_620_480_784_398,
            0.011_400_575_398_670_357,
            0.010_770_863_156_724_77,
            0.003_741_919_380_549_942,
            0.021_621_309_496_905_414,
            -0.020_877_916_868_953_638,
            0.032_553_508_205_244_57
        )
    }
    #[inline_on_device]
    fn erf_series(z: Self) -> Self {
        polynomial!(
            fma_f64,
            z,
            0.128_379_167_095_512_56,
            -0.376_126_389_031_834_54,
            0.112_837_916_709_424_42,
            -0.026_866_170_642_899_31,
            0.005_223_977_604_689_966,
            -0.000_854_832_587_070_397_1,
            0.000_120_552_920_351_743_93,
            -1.492_468_575_007_219_8e-5,
            1.644_683_368_402_583_2e-6,
            -1.620_421_664_495_976_9e-7,
            1.370_256_913_134_439e-8,
            -7.764_805_895_007_783e-10
        )
    }
    #[inline_on_device]
    fn erfc_series(t: Self) -> Self {
        polynomial!(
            fma_f64,
            t,
            1.232_995_118_625_552_6,
            -0.139_621_116_840_562_91,
            0.015_379_652_102_614_702,
            0.068_097_054_254_738_25,
            -0.101_039_066_036_133_54,
            0.093_732_834_996_809_86,
            -0.066_330_365_815_135_74,
            0.037_167_515_561_495_62,
            -0.016_197_734_026_528_875,
            0.005_031_969_771_159_873,
            -0.000_757_773_517_567_712_1,
            -0.000_199_255_622_629_864_6,
            0.000_150_622_834_731_870_64,
            -2.440_267_270_354_380_7e-5,
            -1.122_601_036_979_134_5e-5,
            5.716_601_768_972_226e-6,
            3.028_037_186_816_633e-7,
            -8.331_857_379_201_748e-7,
            6.193_709_912_774_863e-8,
            1.136_850_966_577_634_4e-7,
            -7.813_860_724_263_014e-9,
            -1.307_917_091_637_323_4e-8,
            -1.613_856_478_196_603_9e-9
        )
    }
}
