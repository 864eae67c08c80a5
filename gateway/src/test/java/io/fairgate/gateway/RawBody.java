package io.fairgate.gateway;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/**
 * The body of a raw HTTP/1.1 message.
 *
 * @param isComplete false when the connection ended before the body
 * @param text the body without chunks, at most its first 1,000 bytes; then the trailers
 */
record RawBody(boolean isComplete, String text) {

    private static final int SHOWN = 1_000;

    /** Reads the body as the fields of its head say; none if they say nothing. */
    static RawBody read(String head, InputStream in) throws IOException {
        StringBuilder text = new StringBuilder();
        List<String> lines = head.toLowerCase(Locale.ROOT).lines().toList();
        boolean isComplete = lines.contains("transfer-encoding: chunked")
                ? readChunks(in, text)
                : readBytes(length(lines), in, text);
        return new RawBody(isComplete, text.toString());
    }

    private static long length(List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith("content-length:"))
                .mapToLong(line -> Long.parseLong(line.substring(15).trim()))
                .findFirst()
                .orElse(0);
    }

    private static boolean readChunks(InputStream in, StringBuilder text) throws IOException {
        while (true) {
            String size = readLine(in);
            if (size.isEmpty()) {
                return false;
            }
            long length = Long.parseLong(size.split(";", 2)[0].trim(), 16);
            if (length == 0) {
                for (String trailer = readLine(in); !trailer.isEmpty(); trailer = readLine(in)) {
                    text.append(" + ").append(trailer);
                }
                return true;
            }
            if (!readBytes(length, in, text)) {
                return false;
            }
            readLine(in);
        }
    }

    private static boolean readBytes(long length, InputStream in, StringBuilder text) throws IOException {
        byte[] buffer = new byte[16_384];
        long left = length;
        while (left > 0) {
            int n = in.read(buffer, 0, (int) Math.min(buffer.length, left));
            if (n < 0) {
                return false;
            }
            left -= n;
            int shown = Math.min(n, SHOWN - text.length());
            if (shown > 0) {
                text.append(new String(buffer, 0, shown, StandardCharsets.ISO_8859_1));
            }
        }
        return true;
    }

    /** The next line without its end; empty at the end of the connection. */
    static String readLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }
}
