// SPDX-License-Identifier: Apache-2.0
// The model of HVX: integer arithmetic. Included by hexagon_hvx.h.
#ifndef EMBER_MODELS_HEXAGON_HVX_INTEGER_H
#define EMBER_MODELS_HEXAGON_HVX_INTEGER_H

#define EMBER_HVX_EACH(NAME, FIELD, COUNT, EXPRESSION)                                 \
    static inline HVX_Vector NAME(HVX_Vector u, HVX_Vector v) {                        \
        HVX_Vector d;                                                                  \
        for (int i = 0; i < (COUNT); i++) {                                            \
            d.FIELD[i] = (__typeof__(d.FIELD[i]))(EXPRESSION);                         \
        }                                                                              \
        return d;                                                                      \
    }

EMBER_HVX_EACH(Q6_V_vand_VV, uw, 32, u.uw[i] & v.uw[i])
EMBER_HVX_EACH(Q6_V_vor_VV, uw, 32, u.uw[i] | v.uw[i])
EMBER_HVX_EACH(Q6_V_vxor_VV, uw, 32, u.uw[i] ^ v.uw[i])
EMBER_HVX_EACH(Q6_Vw_vadd_VwVw, uw, 32, u.uw[i] + v.uw[i])
EMBER_HVX_EACH(Q6_Vw_vsub_VwVw, uw, 32, u.uw[i] - v.uw[i])
EMBER_HVX_EACH(Q6_Vh_vadd_VhVh, uh, 64, u.uh[i] + v.uh[i])
EMBER_HVX_EACH(Q6_Vh_vsub_VhVh, uh, 64, u.uh[i] - v.uh[i])
EMBER_HVX_EACH(Q6_Vb_vadd_VbVb, ub, 128, u.ub[i] + v.ub[i])
EMBER_HVX_EACH(Q6_Vw_vadd_VwVw_sat, w, 32, ember_hvx_cut((int64_t)u.w[i] + v.w[i], 32))
EMBER_HVX_EACH(Q6_Vh_vadd_VhVh_sat, h, 64, ember_hvx_cut((int64_t)u.h[i] + v.h[i], 16))
EMBER_HVX_EACH(Q6_Vw_vmin_VwVw, w, 32, u.w[i] < v.w[i] ? u.w[i] : v.w[i])
EMBER_HVX_EACH(Q6_Vw_vmax_VwVw, w, 32, u.w[i] > v.w[i] ? u.w[i] : v.w[i])
EMBER_HVX_EACH(Q6_Vh_vmin_VhVh, h, 64, u.h[i] < v.h[i] ? u.h[i] : v.h[i])
EMBER_HVX_EACH(Q6_Vh_vmax_VhVh, h, 64, u.h[i] > v.h[i] ? u.h[i] : v.h[i])
EMBER_HVX_EACH(Q6_Vb_vmin_VbVb, b, 128, u.b[i] < v.b[i] ? u.b[i] : v.b[i])
EMBER_HVX_EACH(Q6_Vb_vmax_VbVb, b, 128, u.b[i] > v.b[i] ? u.b[i] : v.b[i])
EMBER_HVX_EACH(Q6_Vub_vmin_VubVub, ub, 128, u.ub[i] < v.ub[i] ? u.ub[i] : v.ub[i])
EMBER_HVX_EACH(Q6_Vub_vmax_VubVub, ub, 128, u.ub[i] > v.ub[i] ? u.ub[i] : v.ub[i])
EMBER_HVX_EACH(Q6_Vw_vavg_VwVw_rnd, w, 32, ((int64_t)u.w[i] + v.w[i] + 1) >> 1)
EMBER_HVX_EACH(Q6_Vw_vasr_VwVw, w, 32, u.w[i] >> (v.uw[i] & 31))
EMBER_HVX_EACH(Q6_Vw_vasl_VwVw, uw, 32, u.uw[i] << (v.uw[i] & 31))
EMBER_HVX_EACH(Q6_Vh_vasl_VhVh, uh, 64, u.uh[i] << (v.uh[i] & 15))
EMBER_HVX_EACH(Q6_Vw_vlsr_VwVw, uw, 32, u.uw[i] >> (v.uw[i] & 31))
EMBER_HVX_EACH(Q6_Vw_vmpyie_VwVuh, uw, 32, u.uw[i] * (uint32_t)v.uh[2 * i])
EMBER_HVX_EACH(Q6_Vw_vmpyio_VwVh, uw, 32, u.uw[i] * (uint32_t)v.h[2 * i + 1])
EMBER_HVX_EACH(Q6_Vw_vmpye_VwVuh, w, 32, ((int64_t)u.w[i] * v.uh[2 * i]) >> 16)
EMBER_HVX_EACH(Q6_Vw_vmpyo_VwVh_s1_sat, w, 32,
               ember_hvx_cut(((int64_t)u.w[i] * v.h[2 * i + 1]) >> 15, 32))

static inline HVX_Vector
Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(HVX_Vector x, HVX_Vector u, HVX_Vector v) {
    for (int i = 0; i < 32; i++) {
        const int64_t sum = (int64_t)u.w[i] * v.h[2 * i + 1] + x.w[i];
        x.w[i] = (int32_t)ember_hvx_cut(((sum >> 14) + 1) >> 1, 32);
    }
    return x;
}

// The whole 64-bit product by halves: its high words are in d.hi.
static inline HVX_VectorPair Q6_W_vmpye_VwVuh(HVX_Vector u, HVX_Vector v) {
    HVX_VectorPair d;
    for (int i = 0; i < 32; i++) {
        const int64_t product = (int64_t)u.w[i] * v.uh[2 * i];
        d.hi.w[i] = (int32_t)(product >> 16);
        d.lo.uw[i] = (uint32_t)product << 16;
    }
    return d;
}

static inline HVX_VectorPair Q6_W_vmpyoacc_WVwVh(HVX_VectorPair x, HVX_Vector u,
                                                 HVX_Vector v) {
    for (int i = 0; i < 32; i++) {
        const int64_t sum = (int64_t)u.w[i] * v.h[2 * i + 1] + x.hi.w[i];
        x.hi.w[i] = (int32_t)(sum >> 16);
        x.lo.uw[i] = x.lo.uw[i] >> 16 | (uint32_t)sum << 16;
    }
    return x;
}

static inline HVX_Vector Q6_Vuw_vcl0_Vuw(HVX_Vector u) {
    for (int i = 0; i < 32; i++) {
        u.w[i] = u.uw[i] == 0 ? 32 : __builtin_clz(u.uw[i]);
    }
    return u;
}

static inline HVX_Vector Q6_Vuh_vcl0_Vuh(HVX_Vector u) {
    for (int i = 0; i < 64; i++) {
        u.h[i] = (int16_t)(u.uh[i] == 0 ? 16 : __builtin_clz(u.uh[i]) - 16);
    }
    return u;
}

static inline HVX_Vector Q6_Vw_vabs_Vw(HVX_Vector u) {
    for (int i = 0; i < 32; i++) {
        u.uw[i] = u.w[i] < 0 ? 0 - u.uw[i] : u.uw[i];
    }
    return u;
}

// --- one operand is a register of the core -------------------------------------------

#define EMBER_HVX_BY(NAME, FIELD, COUNT, EXPRESSION)                                   \
    static inline HVX_Vector NAME(HVX_Vector u, int32_t r) {                           \
        HVX_Vector d;                                                                  \
        for (int i = 0; i < (COUNT); i++) {                                            \
            d.FIELD[i] = (__typeof__(d.FIELD[i]))(EXPRESSION);                         \
        }                                                                              \
        return d;                                                                      \
    }

EMBER_HVX_BY(Q6_Vw_vasr_VwR, w, 32, u.w[i] >> (r & 31))
EMBER_HVX_BY(Q6_Vw_vasl_VwR, uw, 32, u.uw[i] << (r & 31))
EMBER_HVX_BY(Q6_Vuw_vlsr_VuwR, uw, 32, u.uw[i] >> (r & 31))
EMBER_HVX_BY(Q6_Vw_vmpyi_VwRh, uw, 32,
             u.uw[i] * (uint32_t)(int16_t)(uint16_t)((uint32_t)r >> (16 * (i & 1))))

static inline HVX_Vector Q6_Vw_vaslacc_VwVwR(HVX_Vector x, HVX_Vector u, int32_t r) {
    for (int i = 0; i < 32; i++) {
        x.uw[i] += u.uw[i] << (r & 31);
    }
    return x;
}

static inline HVX_Vector Q6_Vw_vasracc_VwVwR(HVX_Vector x, HVX_Vector u, int32_t r) {
    return Q6_Vw_vadd_VwVw(x, Q6_Vw_vasr_VwR(u, r));
}

// Shifted to half as many bits, those of v and u by turns.
#define EMBER_HVX_HALF(NAME, TO, FROM, COUNT, BITS)                                    \
    static inline HVX_Vector NAME(HVX_Vector u, HVX_Vector v, int32_t r) {             \
        HVX_Vector d;                                                                  \
        for (int i = 0; i < (COUNT); i++) {                                            \
            const int places = r & ((BITS) - 1);                                       \
            d.TO[2 * i] =                                                              \
                (__typeof__(d.TO[0]))ember_hvx_cut(v.FROM[i] >> places, BITS);         \
            d.TO[2 * i + 1] =                                                          \
                (__typeof__(d.TO[0]))ember_hvx_cut(u.FROM[i] >> places, BITS);         \
        }                                                                              \
        return d;                                                                      \
    }

EMBER_HVX_HALF(Q6_Vh_vasr_VwVwR_sat, h, w, 32, 16)
EMBER_HVX_HALF(Q6_Vb_vasr_VhVhR_sat, b, h, 64, 8)

// --- sums of four products -----------------------------------------------------------

static inline HVX_Vector Q6_Vw_vrmpyacc_VwVubRb(HVX_Vector x, HVX_Vector u, int32_t r) {
    for (int i = 0; i < 128; i++) {
        x.uw[i / 4] += (uint32_t)(u.ub[i] * ember_hvx_byte(r, i));
    }
    return x;
}

static inline HVX_Vector Q6_Vw_vrmpyacc_VwVbVb(HVX_Vector x, HVX_Vector u,
                                               HVX_Vector v) {
    for (int i = 0; i < 128; i++) {
        x.uw[i / 4] += (uint32_t)(u.b[i] * v.b[i]);
    }
    return x;
}

static inline HVX_Vector Q6_Vw_vrmpyacc_VwVubVb(HVX_Vector x, HVX_Vector u,
                                                HVX_Vector v) {
    for (int i = 0; i < 128; i++) {
        x.uw[i / 4] += (uint32_t)(u.ub[i] * v.b[i]);
    }
    return x;
}

#endif // EMBER_MODELS_HEXAGON_HVX_INTEGER_H
