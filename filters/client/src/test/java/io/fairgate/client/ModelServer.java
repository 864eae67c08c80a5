package io.fairgate.client;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.summingInt;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.json.JsonMapper;

/**
 * The contract of the lease API, as a model: one tenant, first come first served, everything under one lock.
 */
final class ModelServer {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static final class Entry {
        final String id;
        final String key;
        final Map<String, Integer> pools;
        final long ttl;
        final List<Sinks.One<ApiResponse>> answers = new ArrayList<>();
        boolean isHeld;
        long token;
        long expiresAt;

        Entry(String id, String key, Map<String, Integer> pools, long ttl) {
            this.id = id;
            this.key = key;
            this.pools = pools;
            this.ttl = ttl;
        }
    }

    private final Scheduler time;
    /** Its timers are not among those that a client may have left behind. */
    private final Scheduler.Worker timers;

    private final Map<String, Integer> permits;
    private final Map<String, Entry> leases = new LinkedHashMap<>();
    private final Set<String> endedKeys = new HashSet<>();
    /** Of the processes before and of this one, by the lease; empty when there is no key. */
    private final Map<String, String> receipts = new HashMap<>();

    private boolean hasKey = true;
    private final List<ApiRequest> calls = new ArrayList<>();

    private Duration longestTtl = Duration.ofHours(1);
    private long restoreUntil;
    private long tokens;
    private int ids;
    private final Map<String, Integer> mostHeld = new HashMap<>();

    ModelServer(Scheduler time, Map<String, Integer> permits) {
        this.time = time;
        this.timers = time.createWorker();
        this.permits = permits;
        this.restoreUntil = now();
    }

    // ---- what tests do to it, and look at ----

    synchronized void cutTtlTo(Duration longest) {
        longestTtl = longest;
    }

    /** Forgets everything but its key; within the window it restores leases with receipts, and grants nothing new. */
    synchronized void restart(Duration window) {
        List<Entry> before = List.copyOf(leases.values());
        leases.clear();
        endedKeys.clear();
        restoreUntil = now() + window.toNanos();
        before.forEach(entry -> entry.answers.forEach(answer -> answer.tryEmitError(new IOException("closed"))));
        at(restoreUntil);
    }

    /** As if it had been started anew with another key, or without one. */
    synchronized void changeKey(boolean hasNewKey) {
        receipts.clear();
        hasKey = hasNewKey;
    }

    synchronized List<ApiRequest> calls() {
        return List.copyOf(calls);
    }

    synchronized List<ApiRequest> calls(String method) {
        return calls.stream().filter(call -> call.method().equals(method)).toList();
    }

    /** Permits that are out. */
    synchronized int held() {
        tick();
        return leases.values().stream()
                .filter(entry -> entry.isHeld)
                .flatMap(entry -> entry.pools.values().stream())
                .mapToInt(Integer::intValue)
                .sum();
    }

    synchronized int mostHeld(String pool) {
        return mostHeld.getOrDefault(pool, 0);
    }

    synchronized long waiting() {
        tick();
        return leases.values().stream().filter(entry -> !entry.isHeld).count();
    }

    /** As if another client had asked. */
    synchronized String grantToAnother(String pool, int count, Duration ttl) {
        Entry entry = new Entry(newId(), "other-client-" + ids, Map.of(pool, count), ttl.toNanos());
        leases.put(entry.id, entry);
        promote();
        if (!entry.isHeld) {
            throw new IllegalStateException("not granted");
        }
        return entry.id;
    }

    synchronized void end(String id) {
        Entry entry = leases.remove(id);
        if (entry != null) {
            endedKeys.add(entry.key);
        }
        tick();
    }

    // ---- the calls ----

    /** Acts once subscribed; cancelling it is a client that no longer listens. */
    Mono<ApiResponse> handle(ApiRequest call) {
        return Mono.defer(() -> take(call));
    }

    private synchronized Mono<ApiResponse> take(ApiRequest call) {
        calls.add(call);
        tick();
        String path = call.path();
        if (call.method().equals("POST") && (path.endsWith("/leases") || path.endsWith(":acquireAll"))) {
            return acquire(call);
        }
        String id = path.replaceFirst("/v1/leases/([0-9a-f]{32}).*", "$1");
        return Mono.just(
                switch (call.method()) {
                    case "PUT" -> extend(id, call);
                    case "DELETE" -> {
                        end(id);
                        yield ApiResponse.of(204, null, new byte[0]);
                    }
                    default -> restore(id, call);
                });
    }

    private Mono<ApiResponse> acquire(ApiRequest call) {
        String key = requireNonNull(call.key());
        if (endedKeys.contains(key)) {
            return Mono.just(problem(409, "lease-ended"));
        }
        Map<String, Integer> pools = pools(call);
        if (!permits.keySet().containsAll(pools.keySet())) {
            return Mono.just(problem(404, "unknown-pool"));
        }
        if (pools.entrySet().stream().anyMatch(each -> each.getValue() > permits.getOrDefault(each.getKey(), 0))) {
            return Mono.just(problem(409, "never-fits"));
        }
        Entry entry = leases.values().stream()
                .filter(each -> each.key.equals(key))
                .findAny()
                .orElseGet(() -> open(newId(), key, pools, ttl(call)));
        if (!entry.pools.equals(pools)) {
            return Mono.just(problem(422, "idempotency-key-reused"));
        }
        long wait = nanos(body(call).get("maxWait"));
        if (!entry.isHeld) {
            entry.expiresAt = now() + wait + entry.ttl;
        }
        promote();
        if (entry.isHeld || wait == 0) {
            return Mono.just(response(entry, entry.isHeld ? 201 : 202));
        }
        Sinks.One<ApiResponse> answer = Sinks.one();
        entry.answers.add(answer);
        timers.schedule(() -> answer.tryEmitValue(response(entry, 202)), wait, TimeUnit.NANOSECONDS);
        return answer.asMono();
    }

    private Entry open(String id, String key, Map<String, Integer> pools, long ttl) {
        Entry entry = new Entry(id, key, pools, ttl);
        entry.expiresAt = Long.MAX_VALUE;
        leases.put(id, entry);
        return entry;
    }

    private ApiResponse extend(String id, ApiRequest call) {
        Entry entry = leases.get(id);
        if (entry == null) {
            return problem(404, "lease-expired");
        }
        entry.expiresAt = now() + ttl(call);
        at(entry.expiresAt);
        return response(entry, 200);
    }

    private ApiResponse restore(String id, ApiRequest call) {
        Entry entry = leases.get(id);
        if (entry == null && now() >= restoreUntil) {
            return problem(409, "restore-closed");
        }
        Map<String, Integer> pools = pools(call);
        if (entry != null && !entry.pools.equals(pools)) {
            return problem(409, "restore-conflict");
        }
        Object receipt = body(call).get("receipt");
        boolean isBelieved = receipt != null && receipt.equals(receipts.get(id));
        if (hasKey && receipt != null && !isBelieved) {
            return problem(409, "receipt-invalid");
        }
        if (entry == null) {
            entry = open(id, "restored-" + id, pools, ttl(call));
            if (isBelieved) {
                hold(entry);
            }
        }
        if (!entry.isHeld) {
            entry.expiresAt = now() + entry.ttl;
            promote();
        }
        return response(entry, entry.isHeld ? 200 : 202);
    }

    // ---- what goes on inside ----

    private void tick() {
        long now = now();
        leases.values().stream()
                .filter(entry -> entry.expiresAt <= now)
                .toList()
                .forEach(entry -> {
                    leases.remove(entry.id);
                    endedKeys.add(entry.key);
                });
        promote();
    }

    private void promote() {
        if (now() < restoreUntil) {
            return;
        }
        Map<String, Integer> out = new HashMap<>();
        leases.values().stream()
                .filter(entry -> entry.isHeld)
                .forEach(entry -> entry.pools.forEach((pool, count) -> out.merge(pool, count, Integer::sum)));
        for (Entry entry : List.copyOf(leases.values())) {
            if (!entry.isHeld) {
                boolean fits = entry.pools.entrySet().stream()
                        .allMatch(each -> out.getOrDefault(each.getKey(), 0) + each.getValue()
                                <= permits.getOrDefault(each.getKey(), 0));
                if (!fits) {
                    return;
                }
                hold(entry);
                entry.pools.forEach((pool, count) -> out.merge(pool, count, Integer::sum));
            }
        }
    }

    private void hold(Entry entry) {
        entry.isHeld = true;
        entry.token = ++tokens;
        entry.expiresAt = now() + entry.ttl;
        at(entry.expiresAt);
        leases.values().stream()
                .filter(each -> each.isHeld)
                .flatMap(each -> each.pools.entrySet().stream())
                .collect(groupingBy(Map.Entry::getKey, summingInt(Map.Entry::getValue)))
                .forEach((pool, out) -> mostHeld.merge(pool, out, Math::max));
        entry.answers.forEach(answer -> answer.tryEmitValue(response(entry, 201)));
    }

    private void at(long when) {
        timers.schedule(
                () -> {
                    synchronized (this) {
                        tick();
                    }
                },
                Math.max(1, when - now()),
                TimeUnit.NANOSECONDS);
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    private String newId() {
        return "%032x".formatted(++ids);
    }

    private synchronized ApiResponse response(Entry entry, int status) {
        Map<String, Object> lease = new LinkedHashMap<>();
        lease.put("id", entry.id);
        lease.put("state", entry.isHeld ? "held" : "waiting");
        lease.put("pools", entry.pools);
        if (entry.isHeld) {
            lease.put("token", entry.token);
            if (hasKey) {
                String receipt = "receipt-" + entry.id + "-" + entry.token;
                receipts.put(entry.id, receipt);
                lease.put("receipt", receipt);
            }
        }
        lease.put("expiresInMillis", Math.max(0, (entry.expiresAt - now()) / 1_000_000));
        lease.put("addedByALaterServer", List.of(1));
        return ApiResponse.of(status, null, JSON.writeValueAsBytes(lease));
    }

    static ApiResponse problem(int status, String reason) {
        return problem(status, reason, null);
    }

    static ApiResponse problem(int status, String reason, @Nullable String retryAfter) {
        String json =
                "{\"status\":%d,\"reason\":\"%s\",\"detail\":\"because of %s\"}".formatted(status, reason, reason);
        return ApiResponse.of(status, retryAfter, json.getBytes(StandardCharsets.UTF_8));
    }

    private static Map<String, Object> body(ApiRequest call) {
        return requireNonNull(call.body());
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Integer> pools(ApiRequest call) {
        Map<String, Object> body = body(call);
        return body.containsKey("pools")
                ? (Map<String, Integer>) body.get("pools")
                : Map.of(call.path().split("/", -1)[3], (Integer) body.get("permits"));
    }

    private long ttl(ApiRequest call) {
        return Math.min(longestTtl.toNanos(), nanos(body(call).get("ttl")));
    }

    private static long nanos(@Nullable Object text) {
        return Long.parseLong(String.valueOf(text).replace("ms", "")) * 1_000_000;
    }
}
