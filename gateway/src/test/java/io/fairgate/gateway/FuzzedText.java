package io.fairgate.gateway;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Requests of HTTP/1.1 in one connection, changed at random places. The same random numbers give the same text. */
final class FuzzedText implements FuzzedRequests {

    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 (\\d{3}) ");

    /** What parsers of HTTP treat in a special way. */
    private static final List<String> SPECIAL = List.of(
            "\r\n",
            "\n",
            "\r",
            "\r\n\r\n",
            "\0",
            "\t",
            " ",
            ":",
            ",",
            ";",
            "/",
            "//",
            "/../",
            "%2f",
            "%00",
            "%",
            "?",
            "#",
            "@",
            "\"",
            "{",
            "0\r\n\r\n",
            "5\r\nhello\r\n",
            "ffffffffffffffff\r\n",
            "-1",
            "99999999999999999999",
            "HTTP/1.1",
            "HTTP/1.0",
            "HTTP/2.0",
            "http://test/",
            "Content-Length: 5\r\n",
            "Content-Length: 0\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip\r\n",
            "Host: test\r\n",
            "X-Tenant-Id: b\r\n",
            "Connection: close\r\n",
            "Connection: keep-alive, x-tenant-id\r\n",
            "Connection: upgrade\r\nUpgrade: websocket\r\n",
            "Upgrade: h2c\r\n",
            "Expect: 100-continue\r\n",
            "Forwarded: for=1.2.3.4\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "\u00ff",
            "\u00c3(");

    /** Most requests in one connection. */
    private static final int MOST_REQUESTS = 10;

    private final Random random;
    private final StringBuilder text = new StringBuilder();
    private final int count;

    /** Chooses some of the requests, one behind the other, and changes few places or none. */
    FuzzedText(Random random, List<String> requests) {
        this.random = random;
        count = 1 + random.nextInt(MOST_REQUESTS);
        for (int i = 0; i < count; i++) {
            text.append(requests.get(random.nextInt(requests.size())));
        }
        for (int i = random.nextInt(4); i > 0 && !text.isEmpty(); i--) {
            change();
        }
    }

    @Override
    public int count() {
        return count;
    }

    private void change() {
        int at = random.nextInt(text.length());
        int length = Math.min(text.length() - at, 1 + random.nextInt(random.nextBoolean() ? 4 : 100));
        switch (random.nextInt(6)) {
            case 0 -> text.insert(at, SPECIAL.get(random.nextInt(SPECIAL.size())));
            case 1 -> text.replace(at, at + length, SPECIAL.get(random.nextInt(SPECIAL.size())));
            case 2 -> text.setCharAt(at, (char) random.nextInt(256));
            case 3 -> text.delete(at, at + length);
            case 4 -> text.insert(random.nextInt(text.length()), text.substring(at, at + length));
            default -> text.insert(at, text.substring(at, at + length).repeat(1 + random.nextInt(20)));
        }
    }

    @Override
    public byte[] bytes() {
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    @Override
    public List<Integer> statuses(byte[] answers) {
        List<Integer> statuses = new ArrayList<>();
        Matcher status = STATUS.matcher(new String(answers, StandardCharsets.ISO_8859_1));
        while (status.find()) {
            statuses.add(Integer.parseInt(status.group(1)));
        }
        return statuses;
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
