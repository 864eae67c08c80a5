package io.fairgate.spring.forward;

import io.fairgate.spring.forward.RecordingUpstream.Script;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A response of an upstream, byte by byte.
 *
 * @param method of the request
 * @param closes whether the upstream closes the connection behind the response
 * @param seen what must be in the record, or null if nothing of this response is worth a line of its own
 */
record ResponseCase(
        String name,
        String method,
        String bytes,
        boolean closes,
        @Nullable String seen) {

    private static final String OK = "HTTP/1.1 200 OK";

    static List<ResponseCase> all() {
        List<ResponseCase> cases = new ArrayList<>();
        statuses(cases);
        framings(cases);
        interim(cases);
        fields(cases);
        hopByHopFields(cases);
        return cases;
    }

    private static void statuses(List<ResponseCase> cases) {
        for (String status : List.of(
                "200 OK",
                "200",
                "200 ",
                "200 All's well",
                "201 Created",
                "202 Accepted",
                "206 Partial Content",
                "299 Odd",
                "300 Multiple Choices",
                "302 Found",
                "307 Temporary Redirect",
                "400 Bad Request",
                "401 Unauthorized",
                "404 Not Found",
                "418 I'm a teapot",
                "429 Too Many Requests",
                "451 Unavailable",
                "499 Odd",
                "500 Oh",
                "503 Service Unavailable",
                "599 Odd",
                "600 Odd",
                "799 Odd",
                "999 Odd")) {
            add(cases, status, null, "HTTP/1.1 " + status, "Content-Length: 2", "", "ok");
        }
        for (String status : List.of("204 No Content", "304 Not Modified")) {
            add(cases, status, "(no body, 0 bytes)", "HTTP/1.1 " + status, "ETag: \"a\"", "", "");
            to(cases, "HEAD", status + " of HEAD", null, "HTTP/1.1 " + status, "ETag: \"a\"", "", "");
        }
        add(cases, "204 with a length", null, "HTTP/1.1 204 No Content", "Content-Length: 0", "", "");
        add(cases, "304 with a length", null, "HTTP/1.1 304 Not Modified", "Content-Length: 5", "", "");
        add(cases, "205 with a length", null, "HTTP/1.1 205 Reset Content", "Content-Length: 0", "", "");
        add(
                cases,
                "205 with chunks",
                null,
                "HTTP/1.1 205 Reset Content",
                "Transfer-Encoding: chunked",
                "",
                "0\r\n\r\n");
        add(cases, "HTTP/1.0", null, "HTTP/1.0 200 OK", "Content-Length: 2", "", "ok");
        add(
                cases,
                "HTTP/1.0 that keeps the connection",
                null,
                "HTTP/1.0 200 OK",
                "Connection: keep-alive",
                "Content-Length: 2",
                "",
                "ok");
    }

    private static void framings(List<ResponseCase> cases) {
        add(cases, "no body", "0 bytes", OK, "Content-Length: 0", "", "");
        add(cases, "a body with a length", "(length, 5 bytes) hello", OK, "Content-Length: 5", "", "hello");
        add(
                cases,
                "chunks",
                "5 bytes) hello",
                OK,
                "Transfer-Encoding: chunked",
                "",
                "2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n");
        add(cases, "no chunks", "0 bytes", OK, "Transfer-Encoding: chunked", "", "0\r\n\r\n");
        add(
                cases,
                "trailers",
                "X-Trailer: t",
                OK,
                "Transfer-Encoding: chunked",
                "",
                "5\r\nhello\r\n0\r\nX-Trailer: t\r\nX-Trailer: u\r\nX-Account: a\r\n\r\n");
        add(
                cases,
                "announced trailers",
                "X-Trailer: t",
                OK,
                "Transfer-Encoding: chunked",
                "Trailer: X-Trailer, X-Other",
                "",
                "5\r\nhello\r\n0\r\nX-Trailer: t\r\nX-Third: u\r\n\r\n");
        add(cases, "a long body", "200000", OK, "Content-Length: 200000", "", "0123456789".repeat(20_000));
        add(
                cases,
                "a long chunk",
                "196608",
                OK,
                "Transfer-Encoding: chunked",
                "",
                "30000\r\n" + "0123456789abcdef".repeat(12_288) + "\r\n0\r\n\r\n");
        close(cases, "a body until the end of the connection", "5 bytes) hello", OK, "", "hello");
        close(cases, "an empty body until the end of the connection", "0 bytes", OK, "", "");
        close(cases, "HTTP/1.0 until the end of the connection", "5 bytes) hello", "HTTP/1.0 200 OK", "", "hello");
        close(cases, "a length, and the upstream closes", "hello", OK, "Content-Length: 5", "", "hello");
        close(
                cases,
                "a length, and the upstream says that it closes",
                "hello",
                OK,
                "Connection: close",
                "Content-Length: 5",
                "",
                "hello");
        close(
                cases,
                "chunks, and the upstream says that it closes",
                "hello",
                OK,
                "Connection: close",
                "Transfer-Encoding: chunked",
                "",
                "5\r\nhello\r\n0\r\n\r\n");
        to(cases, "HEAD", "HEAD with a length", "Content-Length: 5", OK, "Content-Length: 5", "", "");
        to(cases, "HEAD", "HEAD with chunks", null, OK, "Transfer-Encoding: chunked", "", "");
        to(cases, "HEAD", "HEAD without either", null, OK, "X-A: b", "", "");
        to(cases, "HEAD", "HEAD with trailers announced", null, OK, "Transfer-Encoding: chunked", "Trailer: A", "", "");
        to(cases, "OPTIONS", "OPTIONS", "Allow: GET", OK, "Allow: GET", "Content-Length: 0", "", "");
        close(
                cases,
                "a length and chunks",
                null,
                OK,
                "Content-Length: 5",
                "Transfer-Encoding: chunked",
                "",
                "5\r\nhello\r\n0\r\n\r\n");
        close(cases, "two lengths", null, OK, "Content-Length: 5", "Content-Length: 6", "", "hello!");
        close(cases, "two equal lengths", null, OK, "Content-Length: 5", "Content-Length: 5", "", "hello");
        close(cases, "a length that is no number", null, OK, "Content-Length: five", "", "hello");
        close(cases, "a negative length", null, OK, "Content-Length: -5", "", "hello");
        close(
                cases,
                "a transfer encoding beside chunked",
                null,
                OK,
                "Transfer-Encoding: gzip, chunked",
                "",
                "5\r\nhello\r\n0\r\n\r\n");
        close(cases, "gzip", null, OK, "Content-Encoding: gzip", "Content-Length: 5", "", "hello");
    }

    private static void interim(List<ResponseCase> cases) {
        String end = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        add(cases, "100", null, "HTTP/1.1 100 Continue", "", end);
        close(
                cases,
                "101",
                "502",
                "HTTP/1.1 101 Switching Protocols",
                "Upgrade: websocket",
                "Connection: Upgrade",
                "",
                "");
    }

    private static void fields(List<ResponseCase> cases) {
        with(cases, "Set-Cookie: a=b; Path=/; HttpOnly", "Set-Cookie: c=d; Max-Age=0", "set-cookie: a=e");
        with(cases, "Set-Cookie: =; odd, e f=\"g h\"", "Set-Cookie:");
        with(cases, "X-One: 1", "X-One: 2", "x-one: 3");
        with(cases, "X-Empty:", "X-Blank:   ", "X-Trimmed:  \t a  b \t ");
        with(cases, "X-Text: \u00e4\u00f6\u00fc\u00ff\u0080", "X-Tab: a\tb");
        with(cases, "x-lower: 1", "X-UPPER: 2", "X_UNDER: 3", "!#$%&'*+-.^_`|~: 5");
        with(cases, "X-Folded: a", "  b");
        with(cases, "X-Long: " + "v".repeat(6000));
        with(cases, "X-TooLong: " + "v".repeat(10_000));
        with(cases, "X Space: 1");
        with(cases, "X-Space-Before-Colon : 1");
        with(cases, "X-No-Colon");
        with(cases, ": no name");
        with(cases, "X-Nul: a\0b");
        with(cases, "X-Control: a\u0001b");
        with(cases, "Content-Type: text/plain;charset=utf-8");
        with(cases, "Content-Type: not a media type");
        with(cases, "Content-Type: application/json", "Content-Type: text/plain");
        with(cases, "Content-Type: text/event-stream");
        with(cases, "Content-Type:");
        with(
                cases,
                "Date: Sun, 06 Nov 1994 08:49:37 GMT",
                "Server: upstream/1",
                "Age: 3",
                "Via: 1.1 a",
                "Warning: 199");
        with(cases, "Location: /y?a=b", "ETag: W/\"a\"", "Vary: Origin", "Vary: Accept", "Cache-Control: private");
        with(cases, "WWW-Authenticate: Basic realm=\"a\"", "WWW-Authenticate: Bearer", "Allow: GET, HEAD");
        with(cases, "Access-Control-Allow-Origin: *", "Strict-Transport-Security: max-age=1", "Alt-Svc: h2=\":1\"");
        with(cases, "RateLimit: \"a\";r=1", "RateLimit-Policy: \"a\";q=2", "Retry-After: 5", "Server-Timing: db;dur=5");
        with(cases, "X-Account: b", "X-Tenant-Id: b", "x_account: c", "X-Fairgate-A: d", "X-Permit-B: e");
        with(cases, "X-Fencing-Token: 5", "X-Http2-Stream-Id: 3", "HTTP2-Settings: a");
        with(cases, "X-Forwarded-For: 10.0.0.1", "Forwarded: for=a", "X-Application-Context: a");
        String[] many = new String[90];
        for (int i = 0; i < many.length; i++) {
            many[i] = "X-Many-" + i + ": " + i;
        }
        with(cases, many);
    }

    private static void hopByHopFields(List<ResponseCase> cases) {
        with(cases, "Connection: keep-alive", "Keep-Alive: timeout=5, max=9");
        with(cases, "Connection: X-Foo, x-bar", "X-Foo: 1", "X-Bar: 2", "X-Baz: 3");
        with(cases, "Connection: Content-Type", "Content-Type: text/plain");
        with(cases, "Proxy-Authenticate: Basic", "Proxy-Connection: keep-alive", "Proxy-Authorization: a");
        with(cases, "TE: trailers", "Upgrade: h2c", "Trailer: X-A");
        with(cases, "Upgrade: websocket", "Connection: Upgrade");
    }

    private static void with(List<ResponseCase> cases, String... fields) {
        String name = String.join(" | ", fields);
        String[] lines = new String[fields.length + 4];
        lines[0] = OK;
        System.arraycopy(fields, 0, lines, 1, fields.length);
        lines[fields.length + 1] = "Content-Length: 2";
        lines[fields.length + 2] = "";
        lines[fields.length + 3] = "ok";
        add(cases, name, null, lines);
    }

    private static void add(List<ResponseCase> cases, String name, @Nullable String seen, String... lines) {
        cases.add(new ResponseCase(name, "GET", String.join("\r\n", lines), false, seen));
    }

    private static void to(
            List<ResponseCase> cases, String method, String name, @Nullable String seen, String... lines) {
        cases.add(new ResponseCase(name, method, String.join("\r\n", lines), false, seen));
    }

    private static void close(List<ResponseCase> cases, String name, @Nullable String seen, String... lines) {
        cases.add(new ResponseCase(name, "GET", String.join("\r\n", lines), true, seen));
    }

    Script script() {
        return request -> {
            request.body();
            request.send(bytes);
            if (closes) {
                request.close();
            }
        };
    }

    @Override
    public String toString() {
        return Printable.of(name);
    }
}
