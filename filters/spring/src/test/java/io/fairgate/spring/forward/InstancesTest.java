package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static io.fairgate.spring.forward.RecordingClient.requestWithBody;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.forward.ScriptedInstance.Script;
import io.fairgate.spring.upstream.InstanceAddress;
import io.fairgate.spring.upstream.LiveUpstream;
import io.fairgate.spring.upstream.Upstreams;
import io.fairgate.upstream.InstanceStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests to an upstream with two instances, both ways. */
class InstancesTest {

    private static final ScriptedInstance FIRST = ScriptedInstance.onLoopback();
    private static final ScriptedInstance SECOND = ScriptedInstance.onLoopback();
    private static final String MANY = "fairgate.policy.upstreams.many.";

    private static final int FAILURES = 3;
    private static final int PERMITS = 16;
    private static final int PER_INSTANCE = 2;

    /** Answers with an error at once. */
    private static final Script UNAVAILABLE =
            (client, request) -> client.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");

    private static final Script RESET = (client, request) -> client.reset();

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream())
            .setWebflux("httpclient.pool.max-connections", 100)
            .set(MANY + "uris[0]", "http://" + FIRST.name())
            .set(MANY + "uris[1].uri", "http://" + SECOND.name())
            .set(MANY + "uris[1].weight", 1)
            .set(MANY + "health.failures", FAILURES)
            .set(MANY + "health.aside", "100ms")
            .set(MANY + "health.max-aside", "200ms")
            .set("fairgate.policy.upstreams.once.uris[0]", "http://" + FIRST.name())
            .set("fairgate.policy.upstreams.once.uris[1]", "http://" + SECOND.name())
            .set("fairgate.policy.upstreams.once.retries", 0)
            .set("fairgate.policy.pools.close.permits", PERMITS)
            .set("fairgate.policy.pools.close.on-client-left", "close")
            .routeTo("upstream://many", "many", List.of("Path=/many/**"), List.of("FairShare=pool"))
            .metadata("response-timeout", 2_000) // on a busy machine, a request takes a while to arrive
            .routeTo("upstream://many", "closing", List.of("Path=/closing/**"), List.of("FairShare=close"))
            .routeTo("upstream://many", "free", List.of("Path=/free/**"), List.of())
            .routeTo("upstream://once", "once", List.of("Path=/once/**"), List.of("FairShare=pool"))
            .set("fairgate.policy.upstreams.again.uris[0].uri", "http://" + FIRST.name())
            .set("fairgate.policy.upstreams.again.uris[0].weight", 1000)
            .set("fairgate.policy.upstreams.again.uris[1]", "http://" + SECOND.name())
            .set("fairgate.policy.upstreams.again.balance", "round-robin")
            .set("fairgate.policy.upstreams.again.health.failures", 1000)
            .routeTo("upstream://again", "again", List.of("Path=/again/**"), List.of("FairShare=pool", "Retry=1"))
            .set("fairgate.policy.upstreams[my_each.2].uris[0]", "http://" + FIRST.name())
            .set("fairgate.policy.upstreams[my_each.2].uris[1]", "http://" + SECOND.name())
            .set("fairgate.policy.upstreams[my_each.2].balance", "round-robin")
            .set("fairgate.policy.upstreams[my_each.2].health.failures", 2)
            .set("fairgate.policy.upstreams[my_each.2].health.aside", "100ms")
            .set("fairgate.policy.upstreams[my_each.2].health.max-aside", "200ms")
            .set("fairgate.policy.pools.each.permits", PER_INSTANCE)
            .set("fairgate.policy.pools.each.per-instance-of", "my_each.2")
            .set("fairgate.policy.pools.each.max-wait", "60s")
            // A name that no host has.
            .routeTo("upstream://my_each.2", "each", List.of("Path=/each/**"), List.of("FairShare=each"))
            .routeTo("upstream://my_each.2", "late", List.of("Path=/late/**"), List.of("FairShare=each"))
            .metadata("response-timeout", 1_000)
            .routeTo("upstream://none", "none", List.of("Path=/none/**"), List.of("FairShare=pool"))
            .route("all", "Path=/**");

    @BeforeEach
    void start() throws Exception {
        FIRST.start();
        SECOND.start();
        for (Way way : Way.values()) {
            Patience.until("all instances in use, without failures", () -> {
                answerAtOnce(way, 6);
                return Stream.of("many", "once", "my_each.2")
                        .flatMap(name -> statusOf(way, name).stream())
                        .allMatch(status -> status.isInUse() && status.failures() == 0);
            });
        }
        does(ScriptedInstance.OK);
        FIRST.forget();
        SECOND.forget();
    }

    /** More requests at the same time than failures are remembered, so that each instance gets some. */
    private static void answerAtOnce(Way way, int count) {
        does((client, request) -> {
            Patience.until("all sent", () -> sent() >= 2 * count);
            ScriptedInstance.OK.answer(client, request);
        });
        FIRST.forget();
        SECOND.forget();
        List<RecordingClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                clients.add(gateways.connect(way).send(request("GET", "/many/start")));
                clients.add(gateways.connect(way).send(request("GET", "/once/start")));
            }
            for (RecordingClient client : clients) {
                status(client);
                client.close();
            }
            does(ScriptedInstance.OK);
            try (RecordingClient client = gateways.connect(way)) {
                IntStream.range(0, 4).forEach(i -> get(client, "/each/start"));
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @AfterEach
    void nothingIsInFlight() {
        for (Way way : Way.values()) {
            Patience.until(
                    "nothing in flight",
                    () -> upstreams(way).all().stream()
                            .flatMap(upstream -> upstream.status().stream())
                            .allMatch(status -> status.inFlight() == 0));
        }
    }

    @AfterAll
    static void close() {
        FIRST.close();
        SECOND.close();
    }

    @Test
    void such_a_route_is_forwarded_directly() {
        gateways.assertForwardedDirectly("many", true);
        gateways.assertForwardedDirectly("none", false);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void each_instance_gets_requests_with_its_own_host(Way way) throws Exception {
        try (RecordingClient client = gateways.connect(way)) {
            Patience.until("each has got some", () -> {
                assertThat(get(client, "/many/x?b=1&a=%20")).isEqualTo(200);
                return Math.min(FIRST.requests().size(), SECOND.requests().size()) == 20;
            });
        }
        for (ScriptedInstance instance : List.of(FIRST, SECOND)) {
            assertThat(instance.requests())
                    .allMatch(seen -> seen.startsWith("GET /many/x?") && seen.endsWith(" HTTP/1.1 " + instance.name()));
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void a_request_ends_at_its_instance_whatever_the_response(Way way) throws Exception {
        List<String> responses = List.of(
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 204 No Content\r\n\r\n",
                "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
        try (RecordingClient client = gateways.connect(way)) {
            for (String response : responses) {
                does((upstream, request) -> upstream.send(response));
                for (String path : List.of("/many/x", "/free/x")) {
                    client.send(request("GET", path)).response();
                    nothingIsInFlight();
                }
            }
            does(ScriptedInstance.OK);
            client.send(request("HEAD", "/many/x")).response(true);
            nothingIsInFlight();
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void no_request_is_lost_when_an_instance_is_stopped_also_none_with_a_body(Way way) throws Exception {
        FIRST.stop();
        // Until the gateway has seen that its idle connections are reset: what it sends on one of these before is lost
        // with the connection.
        Thread.sleep(200);
        try (RecordingClient client = gateways.connect(way)) {
            for (int i = 0; i < 50; i++) {
                client.send(requestWithBody("POST", "/many/x", "hello"));
                assertThat(status(client)).isEqualTo(200);
            }
            assertThat(SECOND.requests()).hasSize(50);
            FIRST.start();
            Patience.until("the first is in use again", () -> {
                get(client, "/many/x");
                return inUse(way).contains(FIRST.name());
            });
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void when_all_instances_are_stopped_each_request_is_answered_502_and_the_first_that_is_back_serves(Way way)
            throws Exception {
        FIRST.stop();
        SECOND.stop();
        try (RecordingClient client = gateways.connect(way)) {
            for (int i = 0; i < 20; i++) {
                assertThat(get(client, "/many/x")).isEqualTo(502);
            }
            SECOND.start();
            for (int i = 0; i < 20; i++) {
                assertThat(get(client, "/many/x")).isEqualTo(200);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void a_request_that_may_have_had_an_effect_is_not_sent_again(Way way) throws Exception {
        does(RESET);
        try (RecordingClient client = gateways.connect(way)) {
            client.send(requestWithBody("POST", "/many/x", "hello"));
            assertThat(status(client)).isEqualTo(502);
            assertThat(sent()).isOne();
            client.send(request("PATCH", "/many/x"));
            assertThat(status(client)).isEqualTo(502);
            assertThat(sent()).isEqualTo(2);
            client.send(requestWithBody("PUT", "/many/x", "hello"));
            assertThat(status(client)).as("its body is not kept").isEqualTo(502);
            assertThat(sent()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "DELETE", "OPTIONS"})
    void a_request_that_may_have_its_effect_twice_is_sent_to_another_instance(String method) throws Exception {
        for (Way way : Way.values()) {
            start();
            FIRST.does(RESET);
            try (RecordingClient client = gateways.connect(way)) {
                for (int i = 0; i < 20; i++) {
                    client.send(request(method, "/many/x"));
                    assertThat(status(client)).isEqualTo(200);
                }
            }
            assertThat(SECOND.requests()).hasSize(20);
            does(RESET);
            FIRST.forget();
            SECOND.forget();
            try (RecordingClient client = gateways.connect(way)) {
                client.send(request(method, "/many/x"));
                assertThat(status(client)).isEqualTo(502);
                assertThat(sent()).as("once at each instance").isEqualTo(2);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void without_retries_the_first_failure_is_answered(Way way) throws Exception {
        does(RESET);
        try (RecordingClient client = gateways.connect(way)) {
            assertThat(get(client, "/once/x")).isEqualTo(502);
            assertThat(sent()).isOne();
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void an_instance_that_answers_503_gets_few_requests_and_its_answers_are_passed_on(Way way) throws Exception {
        FIRST.does(UNAVAILABLE);
        List<Integer> statuses = new ArrayList<>();
        try (RecordingClient client = gateways.connect(way)) {
            while (FIRST.requests().size() < FAILURES) {
                statuses.add(get(client, "/many/x"));
            }
            assertThat(inUse(way)).containsExactly(SECOND.name());
        }
        assertThat(statuses).filteredOn(status -> status == 503).hasSize(FAILURES);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void an_instance_that_does_not_answer_in_time_is_put_aside_and_the_request_is_not_sent_again(Way way)
            throws Exception {
        int count = 2 * FAILURES + 2;
        FIRST.does((client, request) -> client.hang());
        SECOND.does((client, request) -> {
            Patience.until("all sent", () -> sent() == count);
            ScriptedInstance.OK.answer(client, request);
        });
        List<RecordingClient> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(gateways.connect(way).send(request("GET", "/many/x")));
        }
        int late = 0;
        for (RecordingClient client : clients) {
            late += status(client) == 504 ? 1 : 0;
        }
        assertThat(late).isEqualTo(FIRST.requests().size()).isGreaterThanOrEqualTo(FAILURES);
        assertThat(inUse(way)).doesNotContain(FIRST.name());
        assertThat(sent()).isEqualTo(clients.size());
        FIRST.stop();
        for (RecordingClient client : clients) {
            client.close();
        }
    }

    /** Ten clients in a row: they must not have an instance put aside, for which others would suffer. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void clients_that_break_off_their_bodies_are_not_the_fault_of_an_instance(Way way) throws Exception {
        List<RecordingClient> clients = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            clients.add(gateways.connect(way).send(request("POST", "/closing/x", "Content-Length: 100000") + "begin"));
        }
        Patience.until("sent", () -> FIRST.atWork() + SECOND.atWork() == clients.size());
        Thread.sleep(1100); // An instance that is silent for a second may be a failed one.
        for (int i = 0; i < clients.size(); i++) {
            if (i % 2 == 0) {
                clients.get(i).wire().socket().setSoLinger(true, 0);
            }
            clients.get(i).close();
        }
        Patience.until("broken off", () -> FIRST.atWork() + SECOND.atWork() == 0);
        nothingIsInFlight();
        assertThat(status(way)).allMatch(status -> status.failures() == 0 && status.isInUse());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/many/x", "/closing/x", "/free/x"})
    void clients_that_leave_at_once_are_not_the_fault_of_an_instance(String path) throws Exception {
        for (Way way : Way.values()) {
            start();
            does((client, request) -> {
                Thread.sleep(50);
                ScriptedInstance.OK.answer(client, request);
            });
            for (int i = 0; i < 10; i++) {
                try (RecordingClient client = gateways.connect(way)) {
                    client.send(request("GET", path));
                    Patience.until("sent", () -> FIRST.atWork() + SECOND.atWork() > 0);
                }
            }
            nothingIsInFlight();
            assertThat(status(way)).allMatch(status -> status.failures() < FAILURES && status.isInUse());
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void clients_that_leave_a_silent_instance_have_it_put_aside(Way way) throws Exception {
        does((client, request) -> client.hang());
        List<RecordingClient> clients = new ArrayList<>();
        for (int i = 0; i < 2 * FAILURES + 2; i++) {
            clients.add(gateways.connect(way).send(request("GET", "/closing/x")));
        }
        Patience.until("sent", () -> sent() == clients.size());
        Thread.sleep(1100);
        for (RecordingClient client : clients) {
            client.close();
        }
        Patience.until("one is aside", () -> inUse(way).size() == 1);
        FIRST.stop();
        SECOND.stop();
    }

    /** As long as its upstream works on it, a request of a client that has left counts at its instance, as it holds its permit. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void a_request_counts_at_its_instance_until_the_upstream_is_done(Way way) throws Exception {
        does((client, request) -> {
            Thread.sleep(300);
            ScriptedInstance.OK.answer(client, request);
        });
        try (RecordingClient client = gateways.connect(way)) {
            client.send(request("GET", "/many/x"));
            Patience.until("sent", () -> FIRST.atWork() + SECOND.atWork() == 1);
        }
        while (FIRST.atWork() + SECOND.atWork() == 1) {
            int counted =
                    status(way).stream().mapToInt(InstanceStatus::inFlight).sum();
            if (FIRST.atWork() + SECOND.atWork() == 1) {
                assertThat(counted).isOne();
            }
            Thread.sleep(10);
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void a_filter_that_sends_a_request_again_sends_it_to_another_instance_even_if_it_is_not_its_turn(Way way)
            throws Exception {
        FIRST.does(UNAVAILABLE);
        try (RecordingClient client = gateways.connect(way)) {
            for (int i = 0; i < 20; i++) {
                assertThat(get(client, "/again/x")).isEqualTo(200);
            }
        }
        does(UNAVAILABLE);
        try (RecordingClient client = gateways.connect(way)) {
            assertThat(get(client, "/again/x")).isEqualTo(503);
        }
    }

    /** Also while one is stopped and started, and its requests are sent to the other one. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void no_instance_gets_more_requests_than_it_has_permits(Way way) throws Exception {
        does((client, request) -> {
            Thread.sleep(5);
            ScriptedInstance.OK.answer(client, request);
        });
        AtomicInteger answered = new AtomicInteger();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < 8 * PER_INSTANCE; i++) {
            Thread thread = new Thread(() -> {
                try (RecordingClient client = gateways.connect(way)) {
                    for (int n = 0; n < 25; n++) {
                        answered.addAndGet(get(client, "/each/x") == 200 ? 1 : 0);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            clients.add(thread);
            thread.start();
        }
        PermitPool pool = Objects.requireNonNull(
                gateways.context(way).getBean(PermitPools.class).get("each"));
        assertThat(pool.settings().permits()).isEqualTo(2 * PER_INSTANCE);
        Patience.until("both at work", () -> FIRST.most() == PER_INSTANCE && SECOND.most() == PER_INSTANCE);
        FIRST.stop();
        Patience.until("the pool is smaller", () -> pool.settings().permits() == PER_INSTANCE);
        Patience.until("the one that is stopped has nothing to do", () -> FIRST.atWork() == 0);
        FIRST.start();
        for (Thread client : clients) {
            client.join(Patience.LIMIT.toMillis());
        }
        assertThat(answered).hasValue(clients.size() * 25);
        assertThat(FIRST.most()).isEqualTo(PER_INSTANCE);
        assertThat(SECOND.most()).isEqualTo(PER_INSTANCE);
        try (RecordingClient client = gateways.connect(way)) {
            Patience.until("the pool is as large as before", () -> {
                get(client, "/each/x");
                return pool.settings().permits() == 2 * PER_INSTANCE;
            });
        }
    }

    /** Its requests hold their permits until the longest hold. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void an_instance_that_hangs_does_not_keep_the_permits_of_the_others(Way way) throws Exception {
        FIRST.does((client, request) -> client.hang());
        PermitPool pool = Objects.requireNonNull(
                gateways.context(way).getBean(PermitPools.class).get("each"));
        List<RecordingClient> late = new ArrayList<>();
        while (FIRST.requests().size() < PER_INSTANCE) {
            late.add(gateways.connect(way).send(request("GET", "/late/x")));
            Patience.until("sent", () -> sent() == late.size());
        }
        Patience.until(
                "held at one that is aside",
                () -> pool.settings().permits() == 2 * PER_INSTANCE
                        && statusOf(way, "my_each.2").stream().anyMatch(status -> !status.isInUse()));
        try (RecordingClient client = gateways.connect(way)) {
            for (int i = 0; i < 50; i++) {
                assertThat(get(client, "/each/x")).isEqualTo(200);
            }
        }
        FIRST.stop();
        Patience.until("held no more", () -> pool.settings().permits() == PER_INSTANCE);
        for (RecordingClient client : late) {
            client.close();
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void a_route_to_an_unknown_upstream_is_500(Way way) throws Exception {
        try (RecordingClient client = gateways.connect(way)) {
            assertThat(get(client, "/none/x")).isEqualTo(500);
        }
    }

    private static void does(Script script) {
        FIRST.does(script);
        SECOND.does(script);
    }

    private static int sent() {
        return FIRST.requests().size() + SECOND.requests().size();
    }

    private static int get(RecordingClient client, String target) {
        try {
            client.send(request("GET", target));
            return status(client);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static int status(RecordingClient client) throws Exception {
        return Integer.parseInt(
                Objects.requireNonNull(client.response(false)).start().split(" ", 3)[1]);
    }

    private static Upstreams upstreams(Way way) {
        return gateways.context(way).getBean(Upstreams.class);
    }

    private static List<InstanceStatus<InstanceAddress>> status(Way way) {
        return statusOf(way, "many");
    }

    private static List<InstanceStatus<InstanceAddress>> statusOf(Way way, String name) {
        LiveUpstream upstream = Objects.requireNonNull(upstreams(way).of(URI.create("upstream://" + name)));
        return upstream.status();
    }

    private static List<String> inUse(Way way) {
        return status(way).stream()
                .filter(InstanceStatus::isInUse)
                .map(status -> status.instance().toString())
                .toList();
    }
}
