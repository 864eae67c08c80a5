package io.fairgate.spring.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Enforcement;
import io.fairgate.policy.Identification;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.spring.RequestWithoutConnection;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.testkit.TestTime;
import io.fairgate.upstream.Balance;
import io.fairgate.upstream.HealthCheck;
import io.fairgate.upstream.HealthRules;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.InstanceStatus;
import io.fairgate.upstream.Outcome;
import io.fairgate.upstream.Upstream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.channel.AbortedException;

/** Changes of the policy, lookups and checks, in virtual time. */
class UpstreamsTest {

    private static final HealthCheck CHECK = new HealthCheck("/healthz", Duration.ofSeconds(3), Duration.ofSeconds(1));

    private final TestTime time = new TestTime();
    private final Map<String, List<String>> names = new HashMap<>();
    private final List<String> lookups = new ArrayList<>();
    private final Set<String> unready = new HashSet<>();
    private final Map<String, Set<String>> shown = new TreeMap<>();
    private final List<String> counted = new ArrayList<>();
    private int shows;
    private final InstanceWatch watch = new InstanceWatch(
            time,
            Schedulers.immediate(),
            this::lookUp,
            (instance, check) -> Mono.fromSupplier(() -> !unready.contains(instance.toString())));
    private final Upstreams upstreams = new Upstreams(policy(Map.of()), time, new CountingMeters(), watch);

    private final class CountingMeters implements InstanceMeters {
        @Override
        public void show(LiveUpstream upstream) {
            Set<String> all = new HashSet<>();
            shows++;
            upstream.status().forEach(status -> all.add(status.instance().toString()));
            shown.put(upstream.name(), all);
        }

        @Override
        public void gone(LiveUpstream upstream) {
            shown.remove(upstream.name());
        }

        @Override
        public void failed(LiveUpstream upstream, InstanceAddress instance, Outcome outcome) {
            counted.add(outcome + " " + instance);
        }

        @Override
        public void repeated(LiveUpstream upstream) {
            counted.add("again");
        }
    }

    private InetAddress[] lookUp(String host) throws UnknownHostException {
        lookups.add(host);
        List<String> found = names.get(host);
        if (found == null) {
            throw new UnknownHostException(host);
        }
        InetAddress[] addresses = new InetAddress[found.size()];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = InetAddress.getByName(found.get(i));
        }
        return addresses;
    }

    @AfterEach
    void no_timer_is_left() {
        watch.destroy();
        assertThat(time.timersLeft()).isZero();
    }

    @Test
    void a_change_of_the_policy_keeps_the_state_of_instances_that_stay() {
        change(Map.of("orders", upstream(null, "http://10.0.0.1:1", "http://10.0.0.2:1")));
        LiveUpstream before = upstream("orders");
        Disposable sent = send("GET", use -> Mono.never());
        fail(before, "10.0.0.1:1");
        assertThat(inUse("orders")).containsExactly("10.0.0.2:1");

        change(Map.of("orders", upstream(null, "http://10.0.0.1:1", "http://10.0.0.2:1", "http://10.0.0.3:1")));
        assertThat(upstream("orders")).isSameAs(before);
        assertThat(inUse("orders")).containsExactly("10.0.0.2:1", "10.0.0.3:1");
        assertThat(before.status().stream().mapToInt(InstanceStatus::inFlight).sum())
                .isOne();
        assertThat(shown.get("orders")).hasSize(3);

        change(Map.of("others", upstream(null, "http://10.0.0.1:1")));
        assertThat(upstreams.of(URI.create("upstream://orders"))).isNull();
        assertThat(shown).containsOnlyKeys("others");
        sent.dispose();
    }

    @Test
    void an_upstream_that_is_named_again_has_its_state_as_long_as_requests_are_in_flight() {
        Map<String, Upstream> policy = Map.of("orders", upstream(null, "http://10.0.0.1:1", "http://10.0.0.2:1"));
        change(policy);
        LiveUpstream before = upstream("orders");
        Disposable held = hold(null);
        change(Map.of());
        fail(before, "10.0.0.1:1");
        assertThat(shown).as("metrics of an upstream that is gone").isEmpty();
        change(policy);
        assertThat(inFlight()).isOne();
        assertThat(inUse("orders")).containsExactly("10.0.0.2:1");
        assertThat(shown).containsOnlyKeys("orders");

        change(Map.of());
        held.dispose();
        change(Map.of());
        change(policy);
        assertThat(upstream("orders")).isNotSameAs(before);
    }

    @Test
    void a_policy_that_is_refused_leaves_nothing_behind() {
        change(Map.of("orders", upstream(null, "http://10.0.0.1:1")));
        upstreams.prepare(policy(Map.of("others", upstream(null, "http://10.0.0.2:1"))));
        upstreams.rollBack();
        assertThat(upstreams.all()).extracting(LiveUpstream::name).containsExactly("orders");
    }

    @Test
    void each_address_of_a_name_is_an_instance() {
        names.put("orders.test", List.of("10.0.0.1", "10.0.0.2", "::1"));
        change(Map.of("orders", upstream(null, "http://orders.test:9000")));
        assertThat(inUse("orders")).as("of one family").containsExactly("10.0.0.1:9000", "10.0.0.2:9000");
        assertThat(shown.get("orders")).hasSize(2);

        names.put("orders.test", List.of("10.0.0.2", "10.0.0.3"));
        time.advanceBy(Duration.ofSeconds(5));
        assertThat(inUse("orders")).containsExactly("10.0.0.2:9000", "10.0.0.3:9000");
        names.remove("orders.test");
        time.advanceBy(Duration.ofSeconds(5));
        assertThat(inUse("orders")).as("when the lookup fails").containsExactly("10.0.0.2:9000", "10.0.0.3:9000");
        names.put("orders.test", List.of("10.0.0.2"));
        time.advanceBy(Duration.ofSeconds(5));
        assertThat(inUse("orders")).as("left to the HTTP client").containsExactly("orders.test:9000");
        assertThat(lookups).hasSize(4);
    }

    @Test
    void addresses_in_another_order_are_no_change_and_another_weight_keeps_them() {
        names.put("orders.test", List.of("10.0.0.2", "10.0.0.1"));
        change(Map.of("orders", upstream(null, "http://orders.test:9000")));
        int before = shows;
        names.put("orders.test", List.of("10.0.0.1", "10.0.0.2"));
        time.advanceBy(Duration.ofSeconds(5));
        assertThat(lookups).hasSize(2);
        assertThat(shows).isEqualTo(before);

        names.clear();
        change(Map.of("orders", Upstream.of(List.of(new Instance(URI.create("http://orders.test:9000"), 7)))));
        assertThat(inUse("orders")).containsExactly("10.0.0.1:9000", "10.0.0.2:9000");
    }

    @Test
    void addresses_and_names_with_tls_are_not_looked_up() {
        change(Map.of(
                "addresses",
                upstream(null, "http://10.0.0.1:1", "http://[::1]:1"),
                "secure",
                upstream(null, "https://orders.test")));
        time.advanceBy(Duration.ofMinutes(1));
        assertThat(lookups).isEmpty();
    }

    @Test
    void an_upstream_that_is_gone_is_neither_looked_up_nor_checked() {
        names.put("orders.test", List.of("10.0.0.1", "10.0.0.2"));
        change(Map.of("orders", upstream(CHECK, "http://orders.test:9000")));
        change(Map.of());
        assertThat(time.timersLeft()).isZero();
    }

    @Test
    void an_instance_that_fails_two_checks_in_a_row_gets_no_requests_until_it_passes_one() {
        change(Map.of("orders", upstream(CHECK, "http://10.0.0.1:1", "http://10.0.0.2:1")));
        unready.add("10.0.0.1:1");
        time.advanceBy(Duration.ofSeconds(3));
        assertThat(inUse("orders")).hasSize(2);
        unready.clear();
        time.advanceBy(Duration.ofSeconds(3));
        unready.add("10.0.0.1:1");
        time.advanceBy(Duration.ofSeconds(3));
        assertThat(inUse("orders")).as("not in a row").hasSize(2);
        time.advanceBy(Duration.ofSeconds(3));
        assertThat(inUse("orders")).containsExactly("10.0.0.2:1");
        unready.clear();
        time.advanceBy(Duration.ofSeconds(3));
        assertThat(inUse("orders")).hasSize(2);
    }

    @Test
    void without_checks_all_instances_are_ready() {
        unready.add("10.0.0.1:1");
        change(Map.of("orders", upstream(CHECK, "http://10.0.0.1:1", "http://10.0.0.2:1")));
        time.advanceBy(Duration.ofSeconds(3));
        assertThat(inUse("orders")).hasSize(1);
        change(Map.of("orders", upstream(null, "http://10.0.0.1:1", "http://10.0.0.2:1")));
        assertThat(inUse("orders")).hasSize(2);
    }

    @Test
    void what_cannot_be_the_fault_of_an_instance_is_not_counted() {
        change(Map.of("orders", upstream(null, "http://10.0.0.1:1", "http://10.0.0.2:1")));
        for (Throwable failure : List.of(new IllegalStateException("a filter"), new StackOverflowError())) {
            for (int i = 0; i < 10; i++) {
                send("GET", use -> Mono.error(failure)).dispose();
            }
        }
        assertThat(counted).isEmpty();
        assertThat(upstream("orders").status()).allMatch(status -> status.failures() == 0 && status.inFlight() == 0);
        send("POST", use -> Mono.error(new ConnectException("refused"))).dispose();
        assertThat(counted).hasSize(3).contains("again");
    }

    @Test
    void a_request_waits_for_room_if_its_pool_has_permits_for_each_instance() {
        changePerInstance(new Enforcement(true, Set.of()));
        List<Disposable> held = List.of(hold("each"), hold("each"));
        Disposable waiting = hold("each");
        Disposable leaving = hold("each");
        assertThat(inFlight()).isEqualTo(2);
        List<Disposable> others = List.of(hold("whole"), hold(null));
        assertThat(inFlight()).as("of another pool, and without a permit").isEqualTo(4);
        others.forEach(Disposable::dispose);
        leaving.dispose();
        assertThat(inFlight()).isEqualTo(2);

        held.get(0).dispose();
        assertThat(inFlight()).as("the one that waited").isEqualTo(2);
        waiting.dispose();
        held.get(1).dispose();
        assertThat(inFlight()).isZero();
    }

    @Test
    void a_request_that_waits_for_room_fails_when_no_instance_is_left_for_it() {
        Policy both = perInstance(new Enforcement(true, Set.of()), "http://10.0.0.1:1", "http://10.0.0.2:1");
        upstreams.prepare(both);
        upstreams.commit(both);
        Disposable held = send("GET", "each", use -> Mono.never());
        String full = upstream("orders").status().stream()
                .filter(status -> status.inFlight() == 1)
                .map(status -> status.instance().toString())
                .findFirst()
                .orElseThrow();
        String other = full.equals("10.0.0.1:1") ? "10.0.0.2:1" : "10.0.0.1:1";
        List<Throwable> failures = new ArrayList<>();
        Disposable unused = upstream("orders")
                .send(
                        exchange("GET", "each"),
                        use -> Mono.error(new ConnectException(use.instance().toString())))
                .subscribe(nothing -> {}, failures::add);
        assertThat(failures).as("it waits for the one that is full").isEmpty();
        Policy one = perInstance(new Enforcement(true, Set.of()), "http://" + other);
        upstreams.prepare(one);
        upstreams.commit(one);
        assertThat(failures).singleElement().hasToString("java.net.ConnectException: " + other);
        held.dispose();
    }

    @Test
    void a_connection_that_was_closed_before_it_was_used_is_a_failure_of_the_upstream() {
        change(Map.of("orders", upstream(null, "http://10.0.0.1:1", "http://10.0.0.2:1")));
        List<Throwable> failures = new ArrayList<>();
        Disposable unused = upstream("orders")
                .send(exchange("POST", null), use -> Mono.error(AbortedException.beforeSend()))
                .subscribe(nothing -> {}, failures::add);
        assertThat(counted).containsExactly("again");
        assertThat(failures).singleElement().isInstanceOf(IOException.class);
    }

    @Test
    void a_request_that_waits_for_room_gets_it_when_there_are_more_instances() {
        changePerInstance(new Enforcement(true, Set.of()));
        List<Disposable> all = List.of(hold("each"), hold("each"), hold("each"));
        assertThat(inFlight()).isEqualTo(2);
        Policy more = perInstance(
                new Enforcement(true, Set.of()), "http://10.0.0.1:1", "http://10.0.0.2:1", "http://10.0.0.3:1");
        upstreams.prepare(more);
        upstreams.commit(more);
        assertThat(inFlight()).isEqualTo(3);
        all.forEach(Disposable::dispose);
        assertThat(inFlight()).isZero();
    }

    @Test
    void in_a_dry_run_no_request_waits_for_room() {
        for (Enforcement dryRun : List.of(new Enforcement(false, Set.of()), new Enforcement(true, Set.of("each")))) {
            changePerInstance(dryRun);
            List<Disposable> all = List.of(hold("each"), hold("each"), hold("each"));
            assertThat(inFlight()).isEqualTo(3);
            all.forEach(Disposable::dispose);
        }
    }

    private void changePerInstance(Enforcement enforcement) {
        Policy policy = perInstance(enforcement, "http://10.0.0.1:1", "http://10.0.0.2:1");
        upstreams.prepare(policy);
        upstreams.commit(policy);
    }

    private static Policy perInstance(Enforcement enforcement, String... uris) {
        return new Policy(
                new Identification(List.of()),
                Map.of(),
                null,
                Map.of("each", PoolSettings.ofPermits(1), "whole", PoolSettings.ofPermits(1)),
                Map.of(),
                Map.of(),
                QuotaTerms.NONE,
                enforcement,
                Set.of(),
                Map.of("orders", upstream(null, uris)),
                Map.of("each", "orders"));
    }

    /** A request that is not answered. */
    private Disposable hold(@Nullable String pool) {
        return send("GET", pool, use -> Mono.never());
    }

    private int inFlight() {
        return upstream("orders").status().stream()
                .mapToInt(InstanceStatus::inFlight)
                .sum();
    }

    /** Puts an instance aside. */
    private static void fail(LiveUpstream upstream, String instance) {
        for (int i = 0; i < 2; i++) {
            upstream.send(
                            exchange("POST", null),
                            use -> Mono.error(
                                    use.instance().toString().equals(instance)
                                            ? new ConnectException("refused")
                                            : new IllegalStateException("not counted")))
                    .subscribe(nothing -> {}, failure -> {})
                    .dispose();
        }
        assertThat(inUse(upstream)).doesNotContain(instance);
    }

    private Disposable send(String method, Function<InstanceUse, Mono<Void>> attempt) {
        return send(method, null, attempt);
    }

    private Disposable send(String method, @Nullable String pool, Function<InstanceUse, Mono<Void>> attempt) {
        return upstream("orders").send(exchange(method, pool), attempt).subscribe(nothing -> {}, failure -> {});
    }

    private static ServerWebExchange exchange(String method, @Nullable String pool) {
        ServerHttpRequest request = new RequestWithoutConnection(HttpMethod.valueOf(method), new HttpHeaders());
        ServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/"))
                .mutate()
                .request(request)
                .build();
        if (pool != null) {
            Exchanges.setPool(exchange, pool, null);
        }
        return exchange;
    }

    private LiveUpstream upstream(String name) {
        return Objects.requireNonNull(upstreams.of(URI.create("upstream://" + name)));
    }

    private List<String> inUse(String name) {
        return inUse(upstream(name));
    }

    private static List<String> inUse(LiveUpstream upstream) {
        return upstream.status().stream()
                .filter(InstanceStatus::isInUse)
                .map(status -> status.instance().toString())
                .toList();
    }

    private void change(Map<String, Upstream> next) {
        Policy policy = policy(next);
        upstreams.prepare(policy);
        upstreams.commit(policy);
    }

    private static Upstream upstream(@Nullable HealthCheck check, String... uris) {
        HealthRules rules = new HealthRules(1, Duration.ofSeconds(10), Duration.ofSeconds(10));
        List<Instance> instances =
                Arrays.stream(uris).map(uri -> new Instance(URI.create(uri), 1)).toList();
        return new Upstream(instances, Balance.ROUND_ROBIN, rules, check, 2);
    }

    private static Policy policy(Map<String, Upstream> upstreams) {
        return new Policy(
                new Identification(List.of()),
                Map.of(),
                null,
                Map.of(),
                Map.of(),
                Map.of(),
                QuotaTerms.NONE,
                Enforcement.FULL,
                Set.of(),
                upstreams,
                Map.of());
    }
}
