package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.Leases;
import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.tenant.TenantId;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code /actuator/leases}: the leases of all tenants; {@code /actuator/leases/ID}: one of them, which a DELETE ends. */
@WebEndpoint(id = "leases")
record LeasesEndpoint(LeaseRegister register) {

    private static final int MOST_SHOWN = 1_000;
    /** Each takes a round trip when they are in Redis. */
    private static final int MOST_READ = 100_000;

    private static final int AT_A_TIME = 32;

    /**
     * Leases of all tenants.
     *
     * @param matching how many of them were asked for
     * @param complete false when there are more than a hundred thousand, and only so many were looked at
     * @param shown the oldest of those that were asked for, at most a thousand
     */
    record OpenLeases(int open, int holding, int waiting, int matching, boolean complete, List<LeaseState> shown) {}

    /**
     * One lease.
     *
     * @param tenant the id that the holder named
     * @param countedFor the tenant that its permits are counted for, if that is another one
     * @param permits that it holds or waits for, by the name of the pool
     * @param token null while it holds none
     * @param place in the queue; null when it does not wait
     * @param ageSeconds how long it has held permits; if it holds none, how long it has waited
     */
    record LeaseState(
            String id,
            String state,
            String tenant,
            @Nullable String countedFor,
            String holder,
            Map<String, Integer> permits,
            @Nullable Long token,
            @Nullable Integer place,
            double ageSeconds,
            double expiresInSeconds) {

        static LeaseState of(LeaseStatus lease) {
            LeaseStatus.Waiting waiting = lease.waiting();
            LeaseStatus.Held first =
                    lease.held().isEmpty() ? null : lease.held().get(0);
            TenantId owner = lease.holder().owner();
            return new LeaseState(
                    lease.id().toString(),
                    first != null ? "held" : waiting != null ? "waiting" : "opened",
                    owner.value(),
                    owner.equals(lease.tenant()) ? null : lease.tenant().value(),
                    lease.holder().name(),
                    LeaseService.permits(lease),
                    first == null ? null : first.token(),
                    waiting == null ? null : waiting.place(),
                    seconds(first != null ? first.heldNanos() : waiting != null ? waiting.waitedNanos() : 0),
                    seconds(lease.leftNanos()));
        }

        private static double seconds(long nanos) {
            return Math.round(nanos / 1e6) / 1e3;
        }
    }

    private Leases leases() {
        return register.leases();
    }

    /**
     * Those whose tenant has this id, that hold or want permits of this pool, and whose holder's name contains this; null for all.
     *
     * @param limit how many are shown, at most a thousand, which null means
     */
    @ReadOperation
    public Mono<WebEndpointResponse<?>> all(
            @Nullable String tenant, @Nullable String pool, @Nullable String holder, @Nullable Integer limit) {
        int most = limit == null ? MOST_SHOWN : Math.max(0, Math.min(MOST_SHOWN, limit));
        Mono<WebEndpointResponse<?>> found = leases().count()
                .flatMap(count -> asked(tenant, pool, holder)
                        .collectList()
                        .map(asked -> new WebEndpointResponse<>(opened(count, asked, most))));
        return found.onErrorResume(LeasesUnavailableException.class, LeasesEndpoint::lost);
    }

    private Flux<LeaseState> asked(@Nullable String tenant, @Nullable String pool, @Nullable String holder) {
        Flux<LeaseId> ids = leases().ids();
        if (tenant != null && !tenant.isEmpty()) {
            ids = TenantId.isWellFormed(tenant) ? leases().ids(TenantId.of(tenant)) : Flux.empty();
        }
        return ids.take(MOST_READ)
                .flatMap(leases()::status, AT_A_TIME)
                .map(LeaseState::of)
                .filter(lease ->
                        pool == null || pool.isEmpty() || lease.permits().containsKey(pool))
                .filter(lease -> holder == null || lease.holder().contains(holder));
    }

    private static OpenLeases opened(LeaseCount count, List<LeaseState> asked, int most) {
        List<LeaseState> oldest = asked.stream()
                .sorted(Comparator.comparingDouble(LeaseState::ageSeconds)
                        .reversed()
                        .thenComparing(LeaseState::id))
                .limit(most)
                .toList();
        return new OpenLeases(
                count.open(), count.holding(), count.waiting(), asked.size(), count.open() <= MOST_READ, oldest);
    }

    /** One lease. If there is no lease with this id, the result is empty, and the answer is 404. */
    @ReadOperation
    public Mono<WebEndpointResponse<?>> one(@Selector String id) {
        Mono<WebEndpointResponse<?>> found =
                read(id).flatMap(leases()::status).map(lease -> new WebEndpointResponse<>(LeaseState.of(lease)));
        return found.onErrorResume(LeasesUnavailableException.class, LeasesEndpoint::lost);
    }

    /**
     * Ends a lease, and frees its permits. The next call of its holder is refused. The answer is 204, or 404 if there is no lease with this id.
     */
    @DeleteOperation
    public Mono<WebEndpointResponse<?>> end(@Selector String id) {
        Mono<WebEndpointResponse<?>> ended = read(id).flatMap(register::revoke)
                .map(isEnded -> new WebEndpointResponse<>(
                        isEnded ? WebEndpointResponse.STATUS_NO_CONTENT : WebEndpointResponse.STATUS_NOT_FOUND))
                .defaultIfEmpty(new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND))
                .map(answer -> answer);
        return ended.onErrorResume(LeasesUnavailableException.class, LeasesEndpoint::lost);
    }

    private static Mono<LeaseId> read(String id) {
        return Mono.justOrEmpty(LeaseId.parse(id));
    }

    private static Mono<WebEndpointResponse<?>> lost(LeasesUnavailableException lost) {
        return Mono.just(new WebEndpointResponse<>(
                Map.of("reason", "backend-lost", "detail", String.valueOf(lost.getMessage())),
                WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE));
    }
}
