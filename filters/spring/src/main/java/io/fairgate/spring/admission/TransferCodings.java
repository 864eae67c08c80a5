package io.fairgate.spring.admission;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.util.Iterator;

/** What {@code Transfer-Encoding} says about the body of a request (RFC 9112, 6.1 and 6.3). */
enum TransferCodings {
    /** There is no such field. */
    NONE,
    /** The body is in chunks. */
    CHUNKED,
    /** The body is in chunks, and encoded in a way that the gateway would have to undo. */
    UNKNOWN,
    /** Where the body ends is not certain. */
    UNCERTAIN;

    private static final String CHUNKED_LAST = ",chunked";

    static TransferCodings of(HttpHeaders headers, HttpVersion version) {
        Iterator<? extends CharSequence> values = headers.valueCharSequenceIterator(HttpHeaderNames.TRANSFER_ENCODING);
        if (!values.hasNext()) {
            return NONE;
        }
        CharSequence first = values.next();
        if (version.equals(HttpVersion.HTTP_1_0)) {
            return UNCERTAIN;
        }
        if (!values.hasNext() && AsciiString.contentEqualsIgnoreCase(HttpHeaderValues.CHUNKED, first)) {
            return CHUNKED;
        }
        StringBuilder all = new StringBuilder().append(first);
        values.forEachRemaining(value -> all.append(',').append(value));
        return ofList(AsciiString.of(all).toLowerCase().toString().replaceAll("[ \t]", ""));
    }

    /** @param codings in lower case and without spaces */
    private static TransferCodings ofList(String codings) {
        String before =
                codings.endsWith(CHUNKED_LAST) ? codings.substring(0, codings.length() - CHUNKED_LAST.length()) : "";
        for (String coding : before.split(",", -1)) {
            if (coding.isEmpty() || coding.equals("chunked")) {
                return UNCERTAIN;
            }
        }
        return UNKNOWN;
    }
}
