// SPDX-License-Identifier: Apache-2.0
// What the backend reads of payloads (schemas XN00 and XN01): ids of fields, and for
// each kind of node the fields of its table.
#ifndef EMBER_XNNPACK_SCHEMA_H
#define EMBER_XNNPACK_SCHEMA_H

enum {
    GRAPH_NODES = 1,
    GRAPH_VALUES = 2,
    GRAPH_EXTERNS = 3,
    GRAPH_INPUTS = 4,
    GRAPH_OUTPUTS = 5,
    GRAPH_BUFFERS = 6,   // vector of BUFFER_*, without an XH00 header
    GRAPH_CONSTANTS = 8, // vector of CONSTANT_*
};
enum { BUFFER_STORAGE = 0 };
enum { CONSTANT_OFFSET = 0, CONSTANT_SIZE = 1, CONSTANT_KEY = 2 };
enum { XVALUE_TAG = 0, XVALUE_BODY = 1 };
enum { XVALUE_TENSOR = 1, XVALUE_QUANTIZED = 2 };
enum { QUANTIZED_TENSOR = 0, QUANTIZED_TAG = 1, QUANTIZED_PARAMS = 2 };
enum {
    TENSOR_DATATYPE = 0,
    TENSOR_RANK = 1,
    TENSOR_DIMS = 2,
    TENSOR_CONSTANT = 3,
    TENSOR_EXTERNAL = 4,
    TENSOR_FLAGS = 5,
    TENSOR_ID = 6,
    TENSOR_DQ_DATATYPE = 7,
};
enum { QUANT_CHANNEL = 1, QUANT_TENSOR = 2, QUANT_TOKEN = 3, QUANT_GROUP = 4 };
enum { PER_TENSOR_SCALE = 0, PER_TENSOR_ZERO = 1 };
enum { PER_TOKEN_DIMS = 0 };
enum {
    PER_CHANNEL_SCALES = 0,
    PER_CHANNEL_DIM = 1,
    PER_CHANNEL_BUFFER = 2,
    PER_CHANNEL_COUNT = 3,
};
enum {
    PER_GROUP_SCALES = 0,
    PER_GROUP_DIM = 1,
    PER_GROUP_SIZE = 2,
    PER_GROUP_BF16 = 3,
    PER_GROUP_BUFFER = 4,
    PER_GROUP_COUNT = 5,
};
enum { NODE_TAG = 0, NODE_BODY = 1, NODE_HANDLE = 2, NODE_RANGE = 3 };
enum { RANGE_LOW = 0, RANGE_HIGH = 1 };

// Kinds of nodes: XNN(name, number, fields). A letter per field of the node's table: i
// input, b optional input, o output, p 32-bit parameter (a float as its bits), v vector
// of 32-bit items, f flags, - unused by this kind.
#define XNN_UNARY  "iof"
#define XNN_BINARY "iiof"
#define XNN_CONV   "pppppppppppppppiibof"
#define XNN_POOL   "ppppppppppiof"
#define XNN_KINDS(XNN)                                                                 \
    XNN(ADD, 1, XNN_BINARY)                                                            \
    XNN(FULLY_CONNECTED, 2, "iibof")                                                   \
    XNN(SOFTMAX, 3, XNN_UNARY)                                                         \
    XNN(SIGMOID, 4, XNN_UNARY)                                                         \
    XNN(STATIC_TRANSPOSE, 5, "pviof")                                                  \
    XNN(CLAMP, 6, XNN_UNARY)                                                           \
    XNN(CONV_2D, 7, XNN_CONV)                                                          \
    XNN(DIV, 8, XNN_BINARY)                                                            \
    XNN(STATIC_RESIZE_BILINEAR_2D, 9, "ppiof")                                         \
    XNN(STATIC_CONSTANT_PAD, 10, "vvpiof")                                             \
    XNN(AVG_POOLING_2D, 11, XNN_POOL)                                                  \
    XNN(MINIMUM, 12, XNN_BINARY)                                                       \
    XNN(DEPTHWISE_CONV_2D, 13, XNN_CONV)                                               \
    XNN(MAX_POOLING_2D, 14, XNN_POOL)                                                  \
    XNN(MULTIPLY, 15, XNN_BINARY)                                                      \
    XNN(SUBTRACT, 16, XNN_BINARY)                                                      \
    XNN(FLOOR, 17, XNN_UNARY)                                                          \
    XNN(CONVERT, 18, XNN_UNARY)                                                        \
    XNN(GLOBAL_AVG_POOLING_2D, 19, XNN_UNARY)                                          \
    XNN(STATIC_RESHAPE, 20, "pviof")                                                   \
    XNN(ARG_MAX_POOLING_2D, 21, "ppppppioof")                                          \
    XNN(SQUARE_ROOT, 22, XNN_UNARY)                                                    \
    XNN(CEILING, 23, XNN_UNARY)                                                        \
    XNN(HARDSWISH, 24, XNN_UNARY)                                                      \
    XNN(LEAKY_RELU, 25, "piof")                                                        \
    XNN(MAXIMUM, 26, XNN_BINARY)                                                       \
    XNN(NEGATE, 27, XNN_UNARY)                                                         \
    XNN(SQUARE, 28, XNN_UNARY)                                                         \
    XNN(ELU, 29, "piof")                                                               \
    XNN(ABS, 30, XNN_UNARY)                                                            \
    XNN(PRELU, 31, XNN_BINARY)                                                         \
    XNN(CONCATENATE_2, 32, "pii--of")                                                  \
    XNN(CONCATENATE_3, 33, "piii-of")                                                  \
    XNN(CONCATENATE_4, 34, "piiiiof")                                                  \
    XNN(STATIC_SLICE, 35, "pvviof")                                                    \
    XNN(SCALED_DOT_PRODUCT_ATTENTION, 36, "iiiiiof")                                   \
    XNN(BATCH_MATRIX_MULTIPLY, 37, XNN_BINARY)                                         \
    XNN(CONCATENATE_5, 38, "piiiiofi")                                                 \
    XNN(CONV_TRANSPOSE_2D, 39, XNN_CONV)                                               \
    XNN(RECIPROCAL_SQUARE_ROOT, 40, XNN_UNARY)                                         \
    XNN(LOG, 41, XNN_UNARY)                                                            \
    XNN(GELU, 42, XNN_UNARY)                                                           \
    XNN(TANH, 43, XNN_UNARY)                                                           \
    XNN(EXP, 44, XNN_UNARY)                                                            \
    XNN(SIN, 45, XNN_UNARY)                                                            \
    XNN(COPY, 46, XNN_UNARY)                                                           \
    XNN(COS, 47, XNN_UNARY)

#define XNN_KIND_ENUM(name, number, fields) XNN_##name = (number),
enum { XNN_KINDS(XNN_KIND_ENUM) XNN_KIND_MOST = 47 };
#undef XNN_KIND_ENUM

// Places of parameters, the p of a node in order.
enum {
    CONV_PADDING, // top, right, bottom, left
    CONV_KERNEL = 4,
    CONV_STRIDE = 6,
    CONV_DILATION = 8,
    CONV_GROUP_INPUTS = 10,
    CONV_GROUP_OUTPUTS,
    CONV_GROUPS,
    CONV_ADJUSTMENT, // height, width
};
enum { POOL_PADDING, POOL_KERNEL = 4, POOL_STRIDE = 6, POOL_DILATION = 8 };
enum { FLAG_TRANSPOSE_WEIGHTS = 1, FLAG_ALIGN_CORNERS = 8, FLAG_KEEP_DIMS = 64 };

// Datatypes of values.
enum {
    XNN_F32 = 1,
    XNN_F16 = 2,
    XNN_QS8 = 3,   // one scale and zero point
    XNN_QS32 = 5,  // biases
    XNN_QCS8 = 6,  // a scale per channel
    XNN_QCS32 = 7, // biases
    XNN_QCS4 = 8,  // two to a byte, low nibble first, zero point 8
    XNN_QDS8 = 9,  // dynamically quantised, per row
    XNN_QBS4 = 10, // as QCS4, a bfloat16 scale per channel and group
    XNN_S32 = 12,
    XNN_BF16 = 14,
};

#endif // EMBER_XNNPACK_SCHEMA_H
