package io.fairgate.gateway;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** An answer of HTTP/1.1 as it came, without interim ones before it. */
record RawAnswer(int status, String head, String body) {

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
        return new RawAnswer(
                status, head.toString(), RawBody.read(head.toString(), in).text());
    }
}
