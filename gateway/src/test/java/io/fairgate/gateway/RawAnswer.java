package io.fairgate.gateway;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * An answer of HTTP/1.1 as it came, without interim ones before it.
 *
 * @param isComplete false when the connection ended before the body
 */
record RawAnswer(int status, String head, String body, boolean isComplete) {

    /** The next answer; null at the end of the connection. */
    static @Nullable RawAnswer read(InputStream in) throws IOException {
        String line = RawBody.readLine(in);
        if (line.isEmpty()) {
            return null;
        }
        StringBuilder head = new StringBuilder();
        for (String next = line; !next.isEmpty(); next = RawBody.readLine(in)) {
            head.append(next).append("\r\n");
        }
        int status = Integer.parseInt(line.split(" ", 3)[1]);
        if (status < 200) {
            return read(in);
        }
        boolean hasBody = status != 204 && status != 304;
        RawBody body = hasBody ? RawBody.read(head.toString(), in) : new RawBody(true, "");
        return new RawAnswer(status, head.toString(), body.text(), body.isComplete());
    }
}
