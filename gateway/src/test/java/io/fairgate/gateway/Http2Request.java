package io.fairgate.gateway;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.List;
import java.util.Map;

/**
 * A request of HTTP/2 as a case of the corpus has it.
 *
 * @param rest the parts of the body and the trailers, in this order. The last of them ends the stream; without any, the head does
 */
record Http2Request(Http2Headers head, List<Part> rest) {

    private static final Map<String, String> USUAL =
            Map.of(":method", "GET", ":scheme", "http", ":authority", "test", ":path", "/fair/x");

    /** A part of the body, or a trailer as {@code name: value}. */
    record Part(String text, boolean isTrailer) {

        Http2Headers trailers() {
            return add(new DefaultHttp2Headers(false), text);
        }
    }

    static Http2Request of(Corpus.Case request) {
        List<Part> rest = request.sent().stream()
                .filter(line -> line.startsWith("| ") || line.startsWith("+ "))
                .map(line -> new Part(Corpus.unescaped(line.substring(2)), line.startsWith("+ ")))
                .toList();
        return new Http2Request(head(request.sent()), rest);
    }

    private static Http2Headers head(List<String> lines) {
        Http2Headers head = new DefaultHttp2Headers(false);
        USUAL.forEach((name, value) -> {
            if (lines.stream().noneMatch(line -> line.startsWith(name + ": ") || line.equals("- " + name))) {
                head.add(name, value);
            }
        });
        lines.stream()
                .filter(line -> line.contains(": ") && !line.startsWith("+ ") && !line.startsWith("| "))
                .forEach(line -> add(head, Corpus.unescaped(line)));
        return head;
    }

    private static Http2Headers add(Http2Headers headers, String line) {
        int colon = line.indexOf(": ");
        return headers.add(line.substring(0, colon), line.substring(colon + 2));
    }
}
