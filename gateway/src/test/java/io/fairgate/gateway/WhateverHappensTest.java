package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * Clients that leave at random moments, and an upstream that resets, stalls and streams at random: the upstream never gets more
 * concurrent requests than the pool has permits, every request of a client that stays gets an answer, and at the end nothing is
 * in flight (the fixture checks that). The upstream counts on one event loop. That loop handles simultaneous events in any order,
 * and reads one piece of each connection in each round. So it counts a request only some rounds later, when it has also read the
 * earlier events, such as the end of a connection that the gateway closed before it sent the request.
 */
class WhateverHappensTest {

    private static final int PERMITS = 4;
    private static final int CLIENTS = 16;
    private static final int REQUESTS_EACH = 60;
    /** More than the pieces of the longest body, and those of its headers and its end. */
    private static final int ROUNDS_TO_READ_ALL = 32;

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger highest = new AtomicInteger();
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final LoopResources oneLoop = LoopResources.create("upstream", 1, true);
    private final DisposableServer upstream = HttpServer.create()
            .runOn(oneLoop)
            .host("127.0.0.1")
            .port(0)
            .handle(this::misbehave)
            .bindNow();

    @AfterEach
    void stopUpstream() {
        upstream.disposeNow(Duration.ofSeconds(30));
        oneLoop.dispose();
    }

    private Publisher<Void> misbehave(HttpServerRequest request, HttpServerResponse response) {
        EventLoop loop = loopOf(request);
        AtomicBoolean left = new AtomicBoolean();
        AtomicInteger counted = new AtomicInteger();
        Runnable leave = () -> {
            left.set(true);
            now.addAndGet(-counted.getAndSet(0));
        };
        Mono<Void> arrive = Mono.create(sink -> afterRounds(loop, ROUNDS_TO_READ_ALL, () -> {
            if (!left.get()) {
                counted.set(1);
                highest.accumulateAndGet(now.incrementAndGet(), Math::max);
            }
            sink.success();
        }));
        request.withConnection(connection -> connection.onDispose(leave::run));
        // The timers of this loop: those of a thread pool share a lock, and loops must not wait for one.
        Scheduler time = Schedulers.fromExecutorService(loop);
        int fate = Math.floorMod(request.uri().hashCode(), 5);
        Flux<String> answer = switch (fate) {
            case 0 -> Flux.just("at once");
            case 1 -> Flux.interval(Duration.ofMillis(20), time).take(1).map(t -> "later");
            case 2 -> Flux.interval(Duration.ofMillis(5), time).take(5).map(t -> "part ");
            case 3 ->
                Flux.interval(Duration.ofMillis(5), time).take(1).flatMap(t -> {
                    leave.run();
                    reset(request);
                    return Flux.never();
                });
            default -> Flux.just("stalls").concatWith(Flux.never());
        };
        // Only a side that reads notices that the other has closed. The request counts as ended before its answer
        // ends, because the gateway may then send the next request before this loop counts.
        Mono<Void> read = request.receive().then().onErrorComplete();
        return Mono.when(
                        read,
                        response.sendString(arrive.thenMany(answer).doOnTerminate(leave))
                                .then())
                .doFinally(end -> leave.run());
    }

    /** The loop checks timers once in a round, and a timer that is added then belongs to the next round. */
    private static void afterRounds(EventLoop loop, int rounds, Runnable task) {
        var unused =
                loop.schedule(rounds == 0 ? task : () -> afterRounds(loop, rounds - 1, task), 0, TimeUnit.NANOSECONDS);
    }

    private static EventLoop loopOf(HttpServerRequest request) {
        AtomicReference<EventLoop> loop = new AtomicReference<>();
        request.withConnection(connection -> loop.set(connection.channel().eventLoop()));
        return Objects.requireNonNull(loop.get());
    }

    private static void reset(HttpServerRequest request) {
        request.withConnection(connection -> {
            connection.channel().config().setOption(io.netty.channel.ChannelOption.SO_LINGER, 0);
            var unused = connection.channel().close();
        });
    }

    @Test
    void the_upstream_never_gets_more_than_the_permits_and_no_request_is_forgotten() throws Exception {
        gateway.start(
                TestPolicy.onePool("http://127.0.0.1:" + upstream.port(), "permits: " + PERMITS + ", max-wait: 20s"),
                "--fairgate.upstream-body-idle=200ms");
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            int seed = i;
            Thread client = new Thread(() -> sendAll(new SplittableRandom(seed), seed));
            client.setDaemon(true);
            client.start();
            clients.add(client);
        }
        for (Thread client : clients) {
            client.join();
        }
        assertThat(unanswered)
                .as("requests that neither passed nor got an answer")
                .hasValue(0);
        assertThat(answered).hasPositiveValue();
        assertThat(highest).hasValueBetween(2, PERMITS);
        RunningGateway.eventually(() -> assertThat(now).hasValue(0));
    }

    private void sendAll(SplittableRandom random, int id) {
        for (int i = 0; i < REQUESTS_EACH; i++) {
            try (RawClient client = new RawClient(gateway.port())) {
                String tenant = String.valueOf("abc".charAt(random.nextInt(3)));
                String path = "/fair/" + id + "-" + i;
                if (random.nextBoolean()) {
                    client.get(path, tenant);
                } else {
                    client.post(path, tenant, random.nextInt(100_000));
                }
                if (random.nextInt(3) == 0) {
                    leave(client, random);
                } else {
                    client.readUntil(" ");
                    answered.incrementAndGet();
                }
            } catch (SocketTimeoutException e) {
                unanswered.incrementAndGet();
            } catch (SocketException e) {
                // The gateway hung up while we were still sending, which is an answer.
                answered.incrementAndGet();
            } catch (IOException | InterruptedException e) {
                unanswered.incrementAndGet();
            }
        }
    }

    private static void leave(RawClient client, SplittableRandom random) throws IOException, InterruptedException {
        Thread.sleep(random.nextInt(30));
        if (random.nextBoolean()) {
            client.reset();
        } else {
            client.close();
        }
    }
}
