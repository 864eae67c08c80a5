package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static io.fairgate.spring.forward.RecordingClient.requestWithBody;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request, byte by byte.
 *
 * @param seen what must be in the record, or null if nothing of this request is worth a line of its own
 */
record RequestCase(String name, String bytes, @Nullable String seen) {

    static List<RequestCase> all() {
        List<RequestCase> cases = new ArrayList<>();
        methods(cases);
        framings(cases);
        targets(cases);
        hosts(cases);
        fields(cases);
        hopByHopFields(cases);
        forwardedFields(cases);
        identityFields(cases);
        return cases;
    }

    private static void methods(List<RequestCase> cases) {
        for (String method : List.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "get")) {
            cases.add(new RequestCase(method, request(method, "/x"), method + " /x HTTP/1.1"));
            cases.add(new RequestCase(
                    method + " with a body", requestWithBody(method, "/x", "hello"), "(length, 5 bytes) hello"));
            cases.add(new RequestCase(
                    method + " with a chunked body",
                    request(method, "/x", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n",
                    "5 bytes) hello"));
        }
    }

    private static void framings(List<RequestCase> cases) {
        String chunked = request("POST", "/x", "Transfer-Encoding: chunked");
        cases.add(
                new RequestCase("an empty body with a length", requestWithBody("POST", "/x", ""), "content-length: 0"));
        cases.add(new RequestCase("an empty body with a length, GET", requestWithBody("GET", "/x", ""), "0 bytes"));
        cases.add(new RequestCase("an empty chunked body", chunked + "0\r\n\r\n", "0 bytes"));
        cases.add(new RequestCase(
                "a chunked body with trailers", chunked + "5\r\nhello\r\n0\r\nX-Trailer: t\r\n\r\n", "hello"));
        cases.add(new RequestCase(
                "announced trailers",
                request("POST", "/x", "Transfer-Encoding: chunked", "Trailer: X-Trailer")
                        + "5\r\nhello\r\n0\r\nX-Trailer: t\r\n\r\n",
                "hello"));
        cases.add(new RequestCase("extensions of chunks", chunked + "5;a=b\r\nhello\r\n0;c\r\n\r\n", "hello"));
        cases.add(new RequestCase("a long body", requestWithBody("POST", "/x", "0123456789".repeat(20_000)), "200000"));
        cases.add(new RequestCase(
                "a body of all bytes", requestWithBody("POST", "/x", allBytes()), "(length, 256 bytes)"));
        cases.add(new RequestCase(
                "a length and chunks",
                request("POST", "/x", "Transfer-Encoding: chunked", "Content-Length: 5") + "5\r\nhello\r\n0\r\n\r\n",
                null));
        cases.add(new RequestCase(
                "two equal lengths", request("POST", "/x", "Content-Length: 5", "Content-Length: 5") + "hello", null));
        cases.add(new RequestCase(
                "two different lengths",
                request("POST", "/x", "Content-Length: 5", "Content-Length: 6") + "hello!",
                null));
        cases.add(new RequestCase(
                "a transfer encoding beside chunked",
                request("POST", "/x", "Transfer-Encoding: gzip, chunked") + "5\r\nhello\r\n0\r\n\r\n",
                null));
        cases.add(new RequestCase("HTTP/1.0", http10("GET /x HTTP/1.0"), "GET /x HTTP/1.1"));
        cases.add(new RequestCase(
                "HTTP/1.0 that keeps the connection", http10("GET /x HTTP/1.0", "Connection: keep-alive"), null));
        cases.add(new RequestCase(
                "HTTP/1.0 with a body", http10("POST /x HTTP/1.0", "Content-Length: 5") + "hello", "hello"));
    }

    private static String http10(String start, String... fields) {
        return start + "\r\nX-Tenant-Id: a\r\n" + String.join("", lines(fields)) + "\r\n";
    }

    private static List<String> lines(String... fields) {
        return List.of(fields).stream().map(field -> field + "\r\n").toList();
    }

    private static String allBytes() {
        StringBuilder bytes = new StringBuilder();
        for (char c = 0; c < 256; c++) {
            bytes.append(c);
        }
        return bytes.toString();
    }

    /** Targets that another component might write in another way. */
    static final List<String> TARGETS = List.of(
            "/",
            "/a%20b?x=%2F&y=a+b",
            "/%C3%A4?%C3%A4=%C3%B6",
            "/%c3%a4",
            "/%41%7E%7e",
            "/x;a=b;c/y;d",
            "/x?a",
            "/x?a=",
            "/x?a=b=c",
            "/x?a=b?c/d",
            "/x?a=[1]",
            "/x?a[]=1&a[]=2",
            "/x?a=b|c",
            "/x?a={b}",
            "/x?a=%7Bb%7D",
            "/x?a=<b>\"c\"",
            "/x?a=b^c`d",
            "/x?a=b\\c",
            "/x?a=%",
            "/x?a=%zz",
            "/x?a=100%&b=c%20d",
            "/x%",
            "/x%zz",
            "/x?a=\u00e4",
            "/\u00e4",
            "/x|y",
            "/x[y]",
            "/{x}",
            "/x'y(z)!$&,:@*+=~._-",
            "/x?a='b'(c)!$,:@*~._-",
            "/x%2By+z",
            "/x?a=%2B+b",
            "/x?a=%26%3D%23",
            "/x%3Fy",
            "/x%23y",
            "/x#y",
            "/x%25",
            "/x%00",
            "/x/",
            "/x//y",
            "/x/../y",
            "/x/%2e%2e/y",
            "/x%2Fy",
            "//x",
            "x",
            "*",
            "http://other.test/x?a=b",
            "http://other.test:81/x?a=b",
            "http://other.test",
            "https://other.test/x",
            "HTTP://OTHER.test/x",
            "http://user:secret@other.test/x",
            "ftp://other.test/x",
            "/x?u=http://a.test/b%20c",
            "/" + "long/".repeat(500) + "?a=" + "b".repeat(1000),
            "/" + "x".repeat(5000));

    private static void targets(List<RequestCase> cases) {
        for (String target : TARGETS) {
            cases.add(new RequestCase("target " + target, request("GET", target), null));
        }
        cases.add(new RequestCase("target * of OPTIONS", request("OPTIONS", "*"), null));
        cases.add(new RequestCase("target with a space", request("GET", "/x y"), null));
    }

    private static void hosts(List<RequestCase> cases) {
        for (String host : List.of(
                "client.test:81",
                "127.0.0.1",
                "[::1]:81",
                "",
                "CLIENT.test",
                "client.test:",
                "client.test:x",
                "a b",
                "user@client.test",
                "client_1.test",
                "client.test/x",
                "\u00e4.test",
                "client.test:99999")) {
            cases.add(new RequestCase(
                    "Host: " + host, "GET /x HTTP/1.1\r\nHost: " + host + "\r\nX-Tenant-Id: a\r\n\r\n", null));
        }
        cases.add(new RequestCase("no Host", "GET /x HTTP/1.1\r\nX-Tenant-Id: a\r\n\r\n", null));
        cases.add(new RequestCase("two Hosts", request("GET", "/x", "Host: other.test"), null));
        cases.add(new RequestCase("two equal Hosts", request("GET", "/x", "Host: client.test"), null));
    }

    private static void fields(List<RequestCase> cases) {
        with(cases, "X-One: 1", "X-One: 2", "x-one: 3", "X-ONE: 4");
        with(cases, "X-One: 1, 2", "X-One: 3");
        with(cases, "Cookie: a=b; c=d", "Cookie: e=f");
        with(cases, "Cookie: a=\"b c\"; =d; e; f=g=h");
        with(cases, "Cookie: a=b%20c; a=d; $Version=1");
        with(cases, "X-Empty:", "X-Blank:   ", "X-Trimmed:  \t a  b \t ");
        with(cases, "X-Text: \u00e4\u00f6\u00fc\u00ff\u0080");
        with(cases, "X-Text: tab\tinside");
        with(cases, "X-Control: a\u0001b");
        with(cases, "X-Nul: a\0b");
        with(cases, "x-lower: 1", "X-UPPER: 2", "X_UNDER: 3", "X.Dot: 4", "!#$%&'*+-.^_`|~: 5");
        with(cases, "X-Colons: a:b: c", "X-Quotes: \"a\\\"b\", 'c'");
        with(cases, "X-Long: " + "v".repeat(6000));
        with(cases, "X-TooLong: " + "v".repeat(10_000));
        with(cases, "X Space: 1");
        with(cases, "X-Space-Before-Colon : 1");
        with(cases, "X-Folded: a", "  b");
        with(cases, "X-No-Colon");
        with(cases, ": no name");
        with(cases, "Accept: text/html;q=0.5", "Accept: */*;q=0.1", "Accept-Encoding: gzip", "Accept-Language: de");
        with(cases, "Accept-Encoding:", "User-Agent:", "Accept:");
        with(cases, "User-Agent: test/1", "Referer: http://a.test/", "Origin: http://a.test");
        with(cases, "Origin: http://client.test", "Access-Control-Request-Method: PUT");
        with(cases, "Authorization: Basic YTpi", "Range: bytes=0-1", "If-None-Match: \"a\", W/\"b\"");
        with(cases, "Content-Type: text/plain;charset=utf-8", "Content-Encoding: gzip");
        with(cases, "Content-Type: not a media type", "Date: yesterday", "If-Modified-Since: never");
        with(cases, "Content-Type: application/json", "Content-Type: text/plain");
        with(cases, "Max-Forwards: 0", "Via: 1.0 a", "Priority: u=1", "Early-Data: 1", "Pragma: no-cache");
        with(cases, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "b3: 0");
        with(cases, "Upgrade-Insecure-Requests: 1", "Sec-Fetch-Mode: navigate", "X-Requested-With: a");
        String[] many = new String[90];
        for (int i = 0; i < many.length; i++) {
            many[i] = "X-Many-" + i + ": " + i;
        }
        cases.add(new RequestCase("90 fields", request("GET", "/x", many), "X-Many-89: 89"));
    }

    private static void hopByHopFields(List<RequestCase> cases) {
        with(cases, "Connection: close");
        with(cases, "Connection: keep-alive", "Keep-Alive: timeout=5, max=9");
        with(cases, "Connection: X-Foo, x-bar", "X-Foo: 1", "X-Bar: 2", "X-Baz: 3");
        with(cases, "Connection: X-Foo", "Connection: X-Bar", "X-Foo: 1", "X-Bar: 2");
        with(cases, "Connection: close, X-Foo", "X-Foo: 1");
        with(cases, "Connection: X-Tenant-Id, X-Account, Host, Content-Length");
        with(cases, "Connection: ,, X-Foo ,", "X-Foo: 1");
        with(cases, "Connection: \"X-Foo\"", "X-Foo: 1");
        with(cases, "Connection:", "X-Foo: 1");
        with(cases, "TE: trailers, deflate");
        with(cases, "TE: trailers", "Connection: TE");
        with(cases, "Trailer: X-Trailer");
        with(cases, "Proxy-Authorization: Basic YTpi", "Proxy-Authenticate: Basic", "Proxy-Connection: keep-alive");
        with(cases, "Upgrade: something", "Connection: Upgrade");
        with(cases, "Upgrade: something");
        with(cases, "X-Application-Context: a", "Transfer-Encoding: identity");
    }

    private static void forwardedFields(List<RequestCase> cases) {
        with(cases, "X-Forwarded-For: 10.0.0.1, 10.0.0.2", "X-Forwarded-Proto: https", "X-Forwarded-Host: a.test");
        with(cases, "X-Forwarded-Port: 443", "X-Forwarded-Prefix: /a", "X-Forwarded-Server: b", "X-Forwarded: c");
        with(cases, "X-Forwarded-For: 10.0.0.1", "X-Forwarded-For: 10.0.0.2", "x-forwarded-odd: 1");
        with(cases, "Forwarded: for=10.0.0.1;proto=https;host=a.test", "Forwarded: for=\"[::1]:80\"");
        with(cases, "X-Real-IP: 10.0.0.1", "X-Original-URL: /a", "X-Rewrite-URL: /b", "X-HTTP-Method-Override: PUT");
    }

    private static void identityFields(List<RequestCase> cases) {
        with(cases, "X-Account: other", "x_account: other", "X-ACCOUNT: other");
        with(cases, "x_tenant_id: other", "X-Tenant_Id: other");
        with(cases, "X-Tenant-Id: b");
        with(cases, "X-Fairgate-Key: 1", "X-Permit-Id: 2", "X-Fencing-Token: 3", "x_fairgate_key: 4");
        with(cases, "HTTP2-Settings: AAMAAABk", "x-http2-stream-id: 3");
        with(cases, "X-Api-Key: key", "RateLimit: 1", "Server-Timing: a");
        cases.add(new RequestCase("no tenant", "GET /x HTTP/1.1\r\nHost: client.test\r\n\r\n", "401"));
        cases.add(new RequestCase(
                "an unknown tenant", "GET /x HTTP/1.1\r\nHost: client.test\r\nX-Tenant-Id: z\r\n\r\n", "403"));
        cases.add(new RequestCase(
                "a malformed tenant with a body",
                "POST /x HTTP/1.1\r\nHost: client.test\r\nX-Tenant-Id: a b\r\nContent-Length: 5\r\n\r\nhello",
                "400"));
    }

    private static void with(List<RequestCase> cases, String... fields) {
        String name = String.join(" | ", fields);
        cases.add(new RequestCase(name, request("GET", "/x", fields), null));
    }

    @Override
    public String toString() {
        return Printable.of(name);
    }
}
