package io.fairgate.gateway;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Requests at a constant rate, whether answers come or not, as those of many clients: most on connections that stay open, one in ten on
 * a connection of its own, one in three with a body, one in a hundred that takes two seconds, and one in five hundred that takes six.
 *
 * <p>Nothing is sent twice: a client of a library would repeat what it may when its connection is closed, and hide a loss. Each request has an
 * id, {@code X-Load-Id}.
 */
final class RateLoad implements AutoCloseable {

    private static final int LONGEST_MILLIS = 30_000;
    /** Less than the time after which proxies close an idle connection, which could meet a request. */
    private static final long LONGEST_IDLE_NANOS = 10_000_000_000L;

    private static final String BODY = "x".repeat(10_000);
    /** Some requests come late on a busy machine. */
    private static final double LEAST_RATE = 0.9;

    private record Idle(Socket socket, long since) {}

    private final int port;
    private final String path;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final ExecutorService clients = Executors.newCachedThreadPool();
    private final Deque<Idle> idle = new ConcurrentLinkedDeque<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final AtomicLong sent = new AtomicLong();
    private int perSecond;
    private long began;
    private long ended;

    /** @param path to which {@code /quick}, {@code /slow} and {@code /slower} are added */
    RateLoad(int port, String path) {
        this.port = port;
        this.path = path;
    }

    /** Begins to send this many requests a second. */
    RateLoad start(int rate) {
        perSecond = rate;
        began = System.nanoTime();
        var unused = clock.scheduleAtFixedRate(
                () -> {
                    long number = sent.getAndIncrement();
                    clients.execute(() -> send(number));
                },
                0,
                1_000_000_000L / rate,
                TimeUnit.NANOSECONDS);
        return this;
    }

    private void send(long number) {
        try {
            boolean isAlone = number % 10 == 1;
            Socket kept = isAlone ? null : kept();
            Socket socket = kept == null ? connect() : kept;
            socket.getOutputStream().write(request(number, isAlone).getBytes(StandardCharsets.ISO_8859_1));
            String answer = answer(new BufferedInputStream(socket.getInputStream()));
            if (!answer.startsWith("HTTP/1.1 200 ") || !answer.endsWith("\r\n\r\nok")) {
                failures.add("request %d (%s): %s".formatted(number, kept == null ? "new" : "kept", answer));
            }
            if (isAlone || answer.toLowerCase(Locale.ROOT).contains("\r\nconnection: close\r\n")) {
                socket.close();
            } else {
                idle.addFirst(new Idle(socket, System.nanoTime()));
            }
        } catch (IOException | RuntimeException e) {
            failures.add("request %d: %s".formatted(number, e));
        }
    }

    /** The connection that was used last; null if none was used lately. */
    private @Nullable Socket kept() throws IOException {
        for (Idle last = idle.pollFirst(); last != null; last = idle.pollFirst()) {
            if (System.nanoTime() - last.since() < LONGEST_IDLE_NANOS) {
                return last.socket();
            }
            last.socket().close();
        }
        return null;
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(LONGEST_MILLIS);
        return socket;
    }

    private String request(long number, boolean isAlone) {
        String fields = "Host: test\r\nX-Tenant-Id: %s\r\nX-Load-Id: %d\r\n%s"
                .formatted(number % 2 == 0 ? "a" : "b", number, isAlone ? "Connection: close\r\n" : "");
        String target = path + (number % 500 == 250 ? "/slower" : number % 100 == 50 ? "/slow" : "/quick");
        return number % 3 == 0
                ? "POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s".formatted(target, fields, BODY.length(), BODY)
                : "GET %s HTTP/1.1\r\n%s\r\n".formatted(target, fields);
    }

    /** A response with a length. */
    private static String answer(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException("closed after: " + head);
            }
            head.append((char) next);
        }
        int length = head.toString()
                .lines()
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("content-length:"))
                .mapToInt(line -> Integer.parseInt(line.substring(15).trim()))
                .findFirst()
                .orElse(0);
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("closed in the body after: " + head);
        }
        return head + new String(body, StandardCharsets.ISO_8859_1);
    }

    long sent() {
        return sent.get();
    }

    /** Requests that got anything but their answer. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** Sends no more, and waits for the answers of all requests. */
    void end() throws InterruptedException {
        clock.shutdown();
        ended = System.nanoTime();
        clients.shutdown();
        if (!clock.awaitTermination(10, TimeUnit.SECONDS)
                || !clients.awaitTermination(2L * LONGEST_MILLIS, TimeUnit.MILLISECONDS)) {
            failures.add("still waits for answers");
        }
    }

    /** Whether as much was sent as the rate asks for. */
    boolean wasSteady() {
        return sent.get()
                > LEAST_RATE * perSecond * Duration.ofNanos(ended - began).toMillis() / 1000;
    }

    @Override
    public void close() throws IOException {
        clock.shutdownNow();
        clients.shutdownNow();
        for (Idle each : idle) {
            each.socket().close();
        }
    }
}
