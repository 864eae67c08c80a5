package io.fairgate.gateway;

import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Clients of every kind, at random: most ask and get an answer, ten percent of the connections end because their client leaves, five
 * percent are slow; and WebSockets, uploads, refusals, faults of the upstream, leases and clients that break HTTP. A request must not
 * fail unless its kind expects that.
 */
final class SoakTraffic {

    static final String HELD = "/fair/held";
    static final String LARGE = "/fair/large";
    static final String RESET = "/fair/reset";
    static final String GARBAGE = "/fair/garbage";
    static final String SILENT = "/silent/x";
    static final String WEB_SOCKET = "/fair/ws";
    static final int LARGE_BYTES = 1 << 20;

    private static final int CLIENTS = 16;
    private static final int MOST_FAILURES = 20;

    /** What one client does, from its connection to its end. */
    private interface Visit {
        void make(Random random) throws IOException, InterruptedException;
    }

    private record Kind(String name, int percent, Visit visit) {}

    private final RunningGateway gateway;
    private final List<Kind> kinds;
    private final AtomicLong visits = new AtomicLong();
    private final Set<String> made = ConcurrentHashMap.newKeySet();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();

    SoakTraffic(RunningGateway gateway) {
        this.gateway = gateway;
        this.kinds = List.of(
                new Kind("asks", 45, this::ask),
                new Kind("asks over HTTP/2", 10, this::askOverHttp2),
                new Kind("leaves", 10, this::leave),
                new Kind("sends slowly", 2, this::sendSlowly),
                new Kind("stops in its body", 1, this::stopInBody),
                new Kind("reads slowly", 1, this::readSlowly),
                new Kind("reads slowly over HTTP/2", 1, this::readSlowlyOverHttp2),
                new Kind("opens a WebSocket", 5, this::openWebSocket),
                new Kind("uploads", 5, this::upload),
                new Kind("is refused", 9, this::beRefused),
                new Kind("meets a fault", 4, this::meetFault),
                new Kind("leases", 5, this::lease),
                new Kind("breaks HTTP", 2, this::breakHttp));
    }

    long visits() {
        return visits.get();
    }

    /** The kinds of clients that have not come. */
    List<String> missing() {
        return kinds.stream()
                .map(Kind::name)
                .filter(name -> !made.contains(name))
                .toList();
    }

    /** The first failures; none if all was well. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** Sends requests for so long, and returns when the last client has gone. */
    void runFor(long millis, long seed) throws InterruptedException {
        long until = System.nanoTime() + millis * 1_000_000;
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            Random random = new Random(seed + i);
            Thread client = new Thread(() -> visitUntil(until, random), "client-" + i);
            client.setDaemon(true);
            client.start();
            clients.add(client);
        }
        for (Thread client : clients) {
            client.join();
        }
    }

    private void visitUntil(long until, Random random) {
        while (System.nanoTime() < until) {
            Kind kind = any(random.nextInt(100));
            try {
                kind.visit().make(random);
                visits.incrementAndGet();
                made.add(kind.name());
                Thread.sleep(random.nextInt(20));
            } catch (InterruptedException e) {
                return;
            } catch (Throwable e) { // Also an Error: it would end this client, and the test would pass.
                fail(kind.name() + ": " + e);
            }
        }
    }

    private Kind any(int percent) {
        int left = percent;
        for (Kind kind : kinds) {
            left -= kind.percent();
            if (left < 0) {
                return kind;
            }
        }
        return kinds.get(0);
    }

    private void fail(String what) {
        if (failures.size() < MOST_FAILURES) {
            failures.add(what);
        }
    }

    private void expect(RawClient client, Integer... expected) throws IOException {
        RawAnswer answer = client.answer();
        if (answer == null || !List.of(expected).contains(answer.status())) {
            fail("expected " + List.of(expected) + ": "
                    + (answer == null ? "no answer" : answer.head() + answer.body()));
        }
    }

    private RawClient connect() throws IOException {
        return new RawClient(gateway.port());
    }

    private static String tenant(Random random) {
        return random.nextBoolean() ? "a" : "b";
    }

    private static String get(String target, String fields) {
        return "GET " + target + " HTTP/1.1\r\nHost: test\r\n" + fields + "\r\n";
    }

    private void ask(Random random) throws IOException {
        try (RawClient client = connect()) {
            for (int i = random.nextInt(10); i >= 0; i--) {
                expect(client.get(random.nextBoolean() ? "/fair/x" : HELD, tenant(random)), 200);
            }
        }
    }

    private void askOverHttp2(Random random) throws IOException {
        try (RawHttp2Client client = new RawHttp2Client(gateway.port())) {
            List<RawHttp2Client.Stream> streams = new ArrayList<>();
            for (int i = random.nextInt(8); i >= 0; i--) {
                streams.add(client.get(HELD, tenant(random)));
            }
            if (random.nextInt(4) == 0) {
                return; // It leaves.
            }
            for (RawHttp2Client.Stream stream : streams) {
                if (!stream.status().equals("200")) {
                    fail("over HTTP/2: " + stream.headers());
                }
            }
        }
    }

    private void leave(Random random) throws IOException, InterruptedException {
        RawClient client = connect();
        if (random.nextBoolean()) {
            client.get(HELD, tenant(random));
        } else {
            client.send("POST /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nContent-Length: 100000\r\n\r\nhello");
        }
        Thread.sleep(random.nextInt(30));
        if (random.nextBoolean()) {
            client.reset();
        } else {
            client.close();
        }
    }

    private void sendSlowly(Random random) throws IOException, InterruptedException {
        try (RawClient client = connect()) {
            client.send("POST /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: " + tenant(random)
                    + "\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (int i = 0; i < 5; i++) {
                Thread.sleep(random.nextInt(300));
                client.send("5\r\nhello\r\n");
            }
            expect(client.send("0\r\n\r\n"), 200);
        }
    }

    private void stopInBody(Random random) throws IOException {
        try (RawClient client = connect()) {
            client.send("POST /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: " + tenant(random)
                    + "\r\nContent-Length: 9\r\n\r\nhello");
            expect(client, 408);
        }
    }

    /** Allows its body in small steps. */
    private void readSlowlyOverHttp2(Random random) throws IOException, InterruptedException {
        try (RawHttp2Client client = new RawHttp2Client(gateway.port())) {
            client.allowAtFirst(0);
            RawHttp2Client.Stream stream = client.get(LARGE, tenant(random));
            if (!stream.status().equals("200")) {
                fail("over HTTP/2: " + stream.headers());
            }
            for (int i = 0; i < 30; i++) {
                client.allow(1, 2_000);
                Thread.sleep(random.nextInt(200));
            }
        }
    }

    private void readSlowly(Random random) throws IOException, InterruptedException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port()));
        try (RawClient client = new RawClient(socket)) {
            client.get(LARGE, tenant(random)).readUntil("\r\n\r\n");
            for (int i = 0; i < 16; i++) {
                client.read(LARGE_BYTES / 16);
                Thread.sleep(random.nextInt(50));
            }
        }
    }

    private void openWebSocket(Random random) throws IOException, InterruptedException {
        try (RawClient client = connect()) {
            client.send(get(WEB_SOCKET, "X-Tenant-Id: " + tenant(random) + "\r\n" + WebSocketTunnelTest.FIELDS))
                    .readUntil("\r\n\r\n");
            for (int i = 0; i < 5; i++) {
                client.send("hello").readUntil("hello");
                Thread.sleep(random.nextInt(100));
            }
        }
    }

    private void upload(Random random) throws IOException {
        try (RawClient client = connect()) {
            expect(client.post("/fair/x", tenant(random), 1 + random.nextInt(1 << 20)), 200);
        }
    }

    private void beRefused(Random random) throws IOException {
        try (RawClient client = connect()) {
            switch (random.nextInt(6)) {
                case 0 -> expect(client.send(get("/fair/x", "")), 401);
                case 1 -> expect(client.get("/fair/x", "stranger-" + random.nextInt()), 403);
                case 2 -> expect(client.get("/fair//x", "a"), 400);
                case 3 -> expect(client.get("/nowhere", "a"), 404);
                case 4 -> expect(client.send("CONNECT test:80 HTTP/1.1\r\nHost: test:80\r\n\r\n"), 405);
                default -> {
                    expect(client.get("/fair/x", "c"), 200, 429);
                    for (int i = 0; i < 10; i++) {
                        expect(client.get("/fair/x", "c"), 200, 429);
                    }
                }
            }
        }
    }

    private void meetFault(Random random) throws IOException {
        try (RawClient client = connect()) {
            switch (random.nextInt(3)) {
                case 0 -> expect(client.get(RESET, "a"), 502);
                case 1 -> expect(client.get(GARBAGE, "a"), 502);
                default -> expect(client.get(SILENT, "a"), 504);
            }
        }
    }

    private void lease(Random random) throws IOException {
        try (RawClient client = new RawClient(LeasingTenant.port(gateway))) {
            String body = "{\"permits\":1,\"ttl\":\"1s\"}";
            RawAnswer answer = client.send("POST /v1/pools/leased/leases HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n"
                            + "Content-Type: application/json\r\nIdempotency-Key: " + random.nextLong()
                            + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                    .answer();
            if (answer == null || answer.status() != 201) {
                fail("lease: " + (answer == null ? "no answer" : answer.head() + answer.body()));
            } else if (random.nextInt(4) > 0) { // Otherwise it expires.
                String id = answer.body().replaceFirst("(?s).*\"id\":\"([^\"]*)\".*", "$1");
                expect(
                        client.send("DELETE /v1/leases/" + id + " HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n"),
                        204);
            }
        }
    }

    private void breakHttp(Random random) throws IOException {
        if (random.nextBoolean()) {
            try (RawClient client = connect()) {
                expect(client.send("hello\r\n\r\n"), 400);
            }
            return;
        }
        try (RawHttp2Client client = new RawHttp2Client(gateway.port())) {
            Http2Headers head = RawHttp2Client.request("POST", "/fair/x", "a").add("content-length", "3");
            RawHttp2Client.Stream stream = client.open(head, false);
            client.data("hello", true);
            if (!stream.status().equals("400")) {
                fail("a body that is too long: " + stream.headers());
            }
        }
    }
}
