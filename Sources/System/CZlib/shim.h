#include <zlib.h>

// deflateInit and inflateInit are macros, which do not reach Swift.
static inline int czlib_deflate_init(z_stream *stream, int level) {
    return deflateInit(stream, level);
}

static inline int czlib_inflate_init(z_stream *stream) {
    return inflateInit(stream);
}

// A reader of gzip files: the window size with 16 added asks for the gzip header.
static inline int czlib_gunzip_init(z_stream *stream) {
    return inflateInit2(stream, 15 + 16);
}
