// SPDX-License-Identifier: Apache-2.0
// The model of HVX: moving lanes, and narrow ones. Included by hexagon_hvx.h. In a pair
// made of two vectors (v, u), v is the lower one.
#ifndef EMBER_MODELS_HEXAGON_HVX_LANES_H
#define EMBER_MODELS_HEXAGON_HVX_LANES_H

static inline HVX_Vector Q6_V_vsplat_R(int32_t r) {
    HVX_Vector d;
    for (int i = 0; i < 32; i++) {
        d.w[i] = r;
    }
    return d;
}

static inline HVX_Vector Q6_V_vzero(void) {
    return Q6_V_vsplat_R(0);
}

static inline HVX_Vector Q6_Vh_vsplat_R(int32_t r) {
    return Q6_V_vsplat_R((int32_t)((uint32_t)r << 16 | (uint16_t)r));
}

static inline HVX_Vector Q6_Vb_vsplat_R(int32_t r) {
    return Q6_V_vsplat_R((int32_t)((uint8_t)r * 0x01010101u));
}

static inline HVX_Vector Q6_V_lo_W(HVX_VectorPair w) {
    return w.lo;
}

static inline HVX_Vector Q6_V_hi_W(HVX_VectorPair w) {
    return w.hi;
}

static inline HVX_VectorPair Q6_W_vcombine_VV(HVX_Vector u, HVX_Vector v) {
    return (HVX_VectorPair){v, u};
}

static inline HVX_Vector Q6_Vh_vpack_VwVw_sat(HVX_Vector u, HVX_Vector v) {
    HVX_Vector d;
    for (int i = 0; i < 32; i++) {
        d.h[i] = (int16_t)ember_hvx_cut(v.w[i], 16);
        d.h[32 + i] = (int16_t)ember_hvx_cut(u.w[i], 16);
    }
    return d;
}

static inline HVX_Vector Q6_Vb_vpack_VhVh_sat(HVX_Vector u, HVX_Vector v) {
    HVX_Vector d;
    for (int i = 0; i < 64; i++) {
        d.b[i] = (int8_t)ember_hvx_cut(v.h[i], 8);
        d.b[64 + i] = (int8_t)ember_hvx_cut(u.h[i], 8);
    }
    return d;
}

static inline HVX_VectorPair Q6_Wh_vunpack_Vb(HVX_Vector u) {
    HVX_VectorPair d;
    for (int i = 0; i < 64; i++) {
        d.lo.h[i] = u.b[i];
        d.hi.h[i] = u.b[64 + i];
    }
    return d;
}

static inline HVX_VectorPair Q6_Ww_vunpack_Vh(HVX_Vector u) {
    HVX_VectorPair d;
    for (int i = 0; i < 32; i++) {
        d.lo.w[i] = u.h[i];
        d.hi.w[i] = u.h[32 + i];
    }
    return d;
}

static inline HVX_Vector Q6_Vb_vshuff_Vb(HVX_Vector u) {
    HVX_Vector d;
    for (int i = 0; i < 64; i++) {
        d.b[2 * i] = u.b[i];
        d.b[2 * i + 1] = u.b[64 + i];
    }
    return d;
}

// The 32 entries `r` of a table of 256, whose vectors hold 128 each, shuffled.
static inline HVX_Vector Q6_Vb_vlut32or_VbVbVbR(HVX_Vector x, HVX_Vector u,
                                                HVX_Vector v, int32_t r) {
    for (int i = 0; i < 128; i++) {
        if (u.ub[i] >> 5 == (r & 7)) {
            x.b[i] |= v.b[2 * (u.ub[i] % 64) + (r >> 1 & 1)];
        }
    }
    return x;
}

static inline HVX_Vector Q6_V_vror_VR(HVX_Vector u, int32_t r) {
    HVX_Vector d;
    for (int i = 0; i < 128; i++) {
        d.b[i] = u.b[(i + r) & 127];
    }
    return d;
}

static inline HVX_Vector Q6_V_valign_VVR(HVX_Vector u, HVX_Vector v, int32_t r) {
    HVX_Vector d;
    for (int i = 0; i < 128; i++) {
        const int from = i + (r & 127);
        d.b[i] = from < 128 ? v.b[from] : u.b[from - 128];
    }
    return d;
}

static inline void ember_hvx_swap(HVX_VectorPair *w, int hi, int lo) {
    const int8_t byte = w->hi.b[hi];
    w->hi.b[hi] = w->lo.b[lo];
    w->lo.b[lo] = byte;
}

// Each set bit of r, starting with the lowest, exchanges blocks of that many bytes.
static inline HVX_VectorPair Q6_W_vshuff_VVR(HVX_Vector u, HVX_Vector v, int32_t r) {
    HVX_VectorPair d = {v, u};
    for (int block = 1; block < 128; block <<= 1) {
        for (int i = 0; (r & block) != 0 && i < 128; i++) {
            if ((i & block) == 0) {
                ember_hvx_swap(&d, i, i + block);
            }
        }
    }
    return d;
}

// The even bytes, then the odd ones.
static inline HVX_Vector Q6_Vb_vdeal_Vb(HVX_Vector u) {
    HVX_Vector d;
    for (int i = 0; i < 64; i++) {
        d.ub[i] = u.ub[2 * i];
        d.ub[64 + i] = u.ub[2 * i + 1];
    }
    return d;
}

// The same starting with the highest bit.
static inline HVX_VectorPair Q6_W_vdeal_VVR(HVX_Vector u, HVX_Vector v, int32_t r) {
    HVX_VectorPair d = {v, u};
    for (int block = 64; block > 0; block >>= 1) {
        for (int i = 0; (r & block) != 0 && i < 128; i++) {
            if ((i & block) == 0) {
                ember_hvx_swap(&d, i, i + block);
            }
        }
    }
    return d;
}

// --- active lanes --------------------------------------------------------------------

static inline HVX_VectorPred Q6_Q_vsetq_R(int32_t r) {
    HVX_VectorPred q;
    for (int i = 0; i < 128; i++) {
        q.b[i] = i < (r & 127);
    }
    return q;
}

static inline HVX_VectorPred Q6_Q_vsetq2_R(int32_t r) {
    HVX_VectorPred q;
    for (int i = 0; i < 128; i++) {
        q.b[i] = i <= ((r - 1) & 127);
    }
    return q;
}

// A lane of words is active, or inactive, with all its bytes.
static inline HVX_VectorPred Q6_Q_vcmp_eq_VwVw(HVX_Vector u, HVX_Vector v) {
    HVX_VectorPred q;
    for (int i = 0; i < 128; i++) {
        q.b[i] = u.w[i / 4] == v.w[i / 4];
    }
    return q;
}

static inline HVX_VectorPred Q6_Q_vcmp_gt_VuwVuw(HVX_Vector u, HVX_Vector v) {
    HVX_VectorPred q;
    for (int i = 0; i < 128; i++) {
        q.b[i] = u.uw[i / 4] > v.uw[i / 4];
    }
    return q;
}

static inline HVX_VectorPred Q6_Q_vcmp_gt_VubVub(HVX_Vector u, HVX_Vector v) {
    HVX_VectorPred q;
    for (int i = 0; i < 128; i++) {
        q.b[i] = (uint8_t)u.b[i] > (uint8_t)v.b[i];
    }
    return q;
}

static inline HVX_VectorPred Q6_Q_vcmp_gt_VwVw(HVX_Vector u, HVX_Vector v) {
    HVX_VectorPred q;
    for (int i = 0; i < 128; i++) {
        q.b[i] = u.w[i / 4] > v.w[i / 4];
    }
    return q;
}

static inline HVX_Vector Q6_V_vand_QV(HVX_VectorPred q, HVX_Vector u) {
    for (int i = 0; i < 128; i++) {
        u.b[i] = q.b[i] ? u.b[i] : 0;
    }
    return u;
}

// How many bits of u are set up to each.
static inline HVX_Vector Q6_Vb_prefixsum_Q(HVX_VectorPred u) {
    HVX_Vector d;
    int8_t count = 0;
    for (int i = 0; i < 128; i++) {
        count = (int8_t)(count + u.b[i]);
        d.b[i] = count;
    }
    return d;
}

// The word at a byte of u.
static inline int32_t Q6_R_vextract_VR(HVX_Vector u, int32_t r) {
    return u.w[(r & 127) / 4];
}

static inline HVX_Vector Q6_V_vmux_QVV(HVX_VectorPred q, HVX_Vector u, HVX_Vector v) {
    for (int i = 0; i < 128; i++) {
        v.b[i] = q.b[i] ? u.b[i] : v.b[i];
    }
    return v;
}

#endif // EMBER_MODELS_HEXAGON_HVX_LANES_H
