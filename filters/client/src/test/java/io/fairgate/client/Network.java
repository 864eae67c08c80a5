package io.fairgate.client;

import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/** Between a client and the model, in one thread: each call goes the way that a test has laid for it, else the straight one. */
final class Network implements Transport {

    /** How a call goes. */
    interface Way {
        Mono<ApiResponse> go(ApiRequest call);
    }

    /** When it was sent, by the clock of both. */
    record Sent(ApiRequest call, Duration at) {}

    private final Scheduler time;
    private final Scheduler.Worker timers;
    private final ModelServer server;
    private final Map<String, Queue<Way>> next = new HashMap<>();
    private final List<Sent> sent = new ArrayList<>();
    private final Map<String, Integer> underWay = new HashMap<>();
    private Function<ApiRequest, Way> otherwise;
    private int mostUnderWay;

    Network(Scheduler time, ModelServer server) {
        this.time = time;
        this.timers = time.createWorker();
        this.server = server;
        this.otherwise = call -> straight();
    }

    /** The next calls with that method go these ways, one each. */
    void next(String method, Way... ways) {
        next.computeIfAbsent(method, any -> new ArrayDeque<>()).addAll(List.of(ways));
    }

    void always(Function<ApiRequest, Way> way) {
        otherwise = way;
    }

    List<Sent> sent() {
        return List.copyOf(sent);
    }

    List<Duration> sentAt(String method) {
        return sent.stream()
                .filter(each -> each.call().method().equals(method))
                .map(Sent::at)
                .toList();
    }

    /** Of calls about one lease, at the same time. */
    int mostUnderWay() {
        return mostUnderWay;
    }

    @Override
    public Mono<ApiResponse> send(ApiRequest call) {
        return Mono.defer(() -> {
            sent.add(new Sent(call, Duration.ofNanos(time.now(TimeUnit.NANOSECONDS))));
            Queue<Way> laid = next.getOrDefault(call.method(), new ArrayDeque<>());
            Way way = laid.isEmpty() ? otherwise.apply(call) : laid.remove();
            boolean isBeat = !call.method().equals("DELETE") && call.key() == null;
            String lease = call.path().replace("/restore", "");
            if (!isBeat) {
                return way.go(call);
            }
            mostUnderWay = Math.max(mostUnderWay, underWay.merge(lease, 1, Integer::sum));
            Runnable over = () -> underWay.merge(lease, -1, Integer::sum);
            return way.go(call).doOnTerminate(over).doOnCancel(over);
        });
    }

    // ---- ways ----

    Way straight() {
        return server::handle;
    }

    /** Not read by the server. */
    Way requestLost() {
        return call -> Mono.error(new IOException("reset"));
    }

    /** Nothing was sent, and that is known. */
    Way unreachable() {
        return call -> Mono.error(new ConnectException("refused"));
    }

    /** The server has acted, and the connection was closed before it had said so. */
    Way answerLost() {
        return call -> server.handle(call).then(Mono.error(new IOException("closed")));
    }

    /** The server has acted, and its answer does not come. */
    Way silent() {
        return call -> server.handle(call).then(Mono.never());
    }

    Way answering(ApiResponse answer) {
        return call -> Mono.just(answer);
    }

    /** Once sent, it arrives, even if the sender no longer waits for the answer. */
    Way delayed(Duration there, Duration back) {
        return call -> {
            Sinks.One<ApiResponse> answer = Sinks.one();
            timers.schedule(
                    () -> server.handle(call)
                            .subscribe(
                                    each -> timers.schedule(
                                            () -> answer.tryEmitValue(each), back.toNanos(), TimeUnit.NANOSECONDS),
                                    answer::tryEmitError),
                    there.toNanos(),
                    TimeUnit.NANOSECONDS);
            return answer.asMono();
        };
    }
}
