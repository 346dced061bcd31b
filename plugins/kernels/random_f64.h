// SPDX-License-Identifier: Apache-2.0
//
// Uniform and normal numbers of float64; a part of random.h, which says what they are.
#ifndef BACKPLANE_KERNELS_RANDOM_F64_H_
#define BACKPLANE_KERNELS_RANDOM_F64_H_

BP_FN bp_f64 bp_uniform_f64(bp_u64 bits, bp_f64 low, bp_f64 high) {
  bp_f64 unit = (bp_f64)(bp_i64)(bits >> 11) * 1.1102230246251565404236316680908203125e-16;
  bp_f64 scaled = low + unit * (high - low);
  return BP_UNIFORM_BELOW(f64, scaled, low, high);
}

// As bp_random_log_f32, with terms up to s^21 / 21.
BP_FN bp_f64 bp_random_log_f64(bp_f64 x) {
  bp_i64 bits = bp_bits_f64(x);
  bp_i64 exponent = (bits - 0x3fe6a09e667f3bcdL) >> 52;
  bp_f64 m = bp_from_bits_f64(bits - (bp_i64)((bp_u64)exponent << 52));
  bp_f64 s = bpm_divide_f64(m - 1.0, m + 1.0);
  bp_f64 z = s * s;
  bp_f64 tail = 4.76190476190476190476e-2;
  tail = tail * z + 5.26315789473684210526e-2;
  tail = tail * z + 5.88235294117647058824e-2;
  tail = tail * z + 6.66666666666666666667e-2;
  tail = tail * z + 7.69230769230769230769e-2;
  tail = tail * z + 9.09090909090909090909e-2;
  tail = tail * z + 1.11111111111111111111e-1;
  tail = tail * z + 1.42857142857142857143e-1;
  tail = tail * z + 0.2;
  tail = tail * z + 3.33333333333333333333e-1;
  bp_f64 twice = s + s;
  return (bp_f64)exponent * 6.93147180559945309417e-1 + (twice + twice * (tail * z));
}

#define BP_HORNER_7(r, c0, c1, c2, c3, c4, c5, c6, c7)                                                    \
  ((((((((c7) * (r) + (c6)) * (r) + (c5)) * (r) + (c4)) * (r) + (c3)) * (r) + (c2)) * (r) + (c1)) * (r) + \
   (c0))

// The three regions of PPND16.
BP_FN bp_f64 bp_normal_centre(bp_f64 q) {
  bp_f64 r = 0.180625 - q * q;
  bp_f64 over = BP_HORNER_7(r, 3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                            1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                            3.3430575583588128105e4, 2.5090809287301226727e3);
  bp_f64 under = BP_HORNER_7(r, 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2,
                             5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
                             2.8729085735721942674e4, 5.2264952788528545610e3);
  return q * bpm_divide_f64(over, under);
}
BP_FN bp_f64 bp_normal_tail(bp_f64 u) {
  bp_f64 r = u - 1.6;
  bp_f64 over = BP_HORNER_7(r, 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                            3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                            2.27238449892691845833e-2, 7.74545014278341407640e-4);
  bp_f64 under = BP_HORNER_7(r, 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
                             6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                             5.47593808499534494600e-4, 1.05075007164441684324e-9);
  return bpm_divide_f64(over, under);
}
BP_FN bp_f64 bp_normal_far_tail(bp_f64 u) {
  bp_f64 r = u - 5.0;
  bp_f64 over = BP_HORNER_7(r, 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                            2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                            2.71155556874348757815e-5, 2.01033439929228813265e-7);
  bp_f64 under = BP_HORNER_7(r, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
                             1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                             1.42151175831644588870e-7, 2.04426310338993978564e-15);
  return bpm_divide_f64(over, under);
}
#undef BP_HORNER_7

BP_FN bp_f64 bp_standard_normal_f64(bp_u64 bits) {
  bp_i64 t = (bp_i64)(((bits >> 10) & 0x1fffffffffffffUL) | 1UL);
  bp_f64 q = (bp_f64)t * 5.5511151231257827021181583404541015625e-17;
  bp_f64 p = (bp_f64)(0x20000000000000L - t) * 5.5511151231257827021181583404541015625e-17;
  bp_f64 u = bpm_sqrt_f64(-bp_random_log_f64(p));
  bp_f64 z = (q <= 0.425) ? bp_normal_centre(q) : ((u <= 5.0) ? bp_normal_tail(u) : bp_normal_far_tail(u));
  return (bits >> 63) ? -z : z;
}

BP_FN bp_f64 bp_normal_f64(bp_u64 bits, bp_f64 mean, bp_f64 deviation) {
  return mean + deviation * bp_standard_normal_f64(bits);
}

#endif  // BACKPLANE_KERNELS_RANDOM_F64_H_
