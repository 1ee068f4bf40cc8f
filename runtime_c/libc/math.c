#include <math.h>
typedef int ember_nothing;
