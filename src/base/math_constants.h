/* Constants of the elementary functions, for math_body.h and math_reduce.c only.
 *
 * Printed by tests/golden/math/coefficients.py; change that and not this. */
#ifndef SL_MATH_CONSTANTS_H
#define SL_MATH_CONSTANTS_H

#include <stdint.h>

static const double LN2_INVERSE = 0x1.71547652b82fep+0; // 1 / ln 2
static const double LN2_HI = 0x1.62e42fee00000p-1; // 32 bits: k * LN2_HI is exact for |k| < 2^21
static const double LN2_LO = 0x1.a39ef35793c76p-33; // ln 2 - LN2_HI
static const double HALF_PI_INVERSE = 0x1.45f306dc9c883p-1; // 2 / pi
static const double HALF_PI_1 = 0x1.921fb54400000p+0; // 33 bits: exact times |n| <= 2^20
static const double HALF_PI_2 = 0x1.0b4611a600000p-34;
static const double HALF_PI_3 = 0x1.3198a2e000000p-69;
static const double HALF_PI_4 = 0x1.b839a252049c1p-104; // the rest of pi/2
static const double HALF_PI_HI = 0x1.921fb54442d18p+0; // pi/2 as the sum of two doubles
static const double HALF_PI_LO = 0x1.1a62633145c07p-54;

/* exp(r) = 1 + r + r^2 (1/2 + r p(r)), |r| <= ln(2)/2. */
static const double EXP_POLY[10] = {
    0x1.555555555555ap-3,
    0x1.5555555555531p-5,
    0x1.111111110efb6p-7,
    0x1.6c16c16c26f56p-10,
    0x1.a01a01b26e137p-13,
    0x1.a01a0152b9a7fp-16,
    0x1.71ddf2636c82dp-19,
    0x1.27e58c4ea6a41p-22,
    0x1.af68779921acap-26,
    0x1.1e683bca9a359p-29,
};

/* log((1 + s) / (1 - s)) = 2 s + s z p(z), z = s^2, |s| <= 0.1716. */
static const double LOG_POLY[7] = {
    0x1.5555555555592p-1,
    0x1.999999997fd38p-2,
    0x1.24924941f8c20p-2,
    0x1.c71c5202be945p-3,
    0x1.7466405981559p-3,
    0x1.39a19374c68a2p-3,
    0x1.2f07030d5c8adp-3,
};

/* sin(r) = r + r z p(z), z = r^2, |r| <= pi/4. */
static const double SIN_POLY[7] = {
    -0x1.5555555555555p-3,
    0x1.111111111110bp-7,
    -0x1.a01a01a018a67p-13,
    0x1.71de3a5330168p-19,
    -0x1.ae64528ce3791p-26,
    0x1.61208be39193cp-33,
    -0x1.aaa214a293e0cp-41,
};

/* cos(r) = 1 - z/2 + z^2 p(z), z = r^2, |r| <= pi/4. */
static const double COS_POLY[6] = {
    0x1.555555555554bp-5,
    -0x1.6c16c16c14f8ap-10,
    0x1.a01a019c83924p-16,
    -0x1.27e4f7ea38846p-22,
    0x1.1ee9d7532fa5ap-29,
    -0x1.8fa4663e47e15p-37,
};

/* sinh(x) = x + x z p(z), z = x^2, |x| <= 1. */
static const double SINH_POLY[7] = {
    0x1.5555555555556p-3,
    0x1.11111111110a6p-7,
    0x1.a01a01a0289bcp-13,
    0x1.71de3a46598bfp-19,
    0x1.ae64671c644f5p-26,
    0x1.611a55983e757p-33,
    0x1.b4c7845e9eb7cp-41,
};

/* cosh(x) = 1 + z/2 + z^2 p(z), z = x^2, |x| <= 1. */
static const double COSH_POLY[7] = {
    0x1.5555555555556p-5,
    0x1.6c16c16c16ba6p-10,
    0x1.a01a01a025fefp-16,
    0x1.27e4fb6d42d62p-22,
    0x1.1eed98d0695ebp-29,
    0x1.938cb36b959dfp-37,
    0x1.b487ecade7c67p-45,
};

/* atan(t) = t + t z p(z), z = t^2, |t| <= tan(pi/8). */
static const double ATAN_POLY[12] = {
    -0x1.5555555555554p-2,
    0x1.999999999964ap-3,
    -0x1.2492492475620p-3,
    0x1.c71c71b744086p-4,
    -0x1.745d14b8cd71cp-4,
    0x1.3b136e190ce67p-4,
    -0x1.110c71a6f2d18p-4,
    0x1.e171ea90b7e59p-5,
    -0x1.ab7cfeb37a588p-5,
    0x1.70eb5e4a94f92p-5,
    -0x1.1233a69527080p-5,
    0x1.f1d98f0fcb436p-7,
};

/* asin(t) = t + t z p(z), z = t^2, |t| <= 1/2. */
static const double ASIN_POLY[13] = {
    0x1.5555555555577p-3,
    0x1.333333332e0f3p-4,
    0x1.6db6db7214d6fp-5,
    0x1.f1c71a9422471p-6,
    0x1.6e8bdef56878dp-6,
    0x1.1c49eef78c1e6p-6,
    0x1.ca1fad57e4642p-7,
    0x1.75848e3a1b8b4p-7,
    0x1.6141e42565c9ap-7,
    0x1.e5a6baf196382p-9,
    0x1.63b3f39475ad1p-6,
    -0x1.581e3b3d6236cp-6,
    0x1.0b50da01f29abp-5,
};

/* 64 zero bits, then the first 1280 bits of 2/pi behind the binary point. */
static const uint64_t TWO_OVER_PI[21] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};

#endif
