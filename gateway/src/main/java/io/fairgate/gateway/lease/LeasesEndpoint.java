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

    /** Each takes a round trip when they are in Redis. */
    private static final int MOST = 1_000;

    private static final int AT_A_TIME = 32;

    /**
     * Leases of all tenants.
     *
     * @param shown those that were asked for, the oldest first; of more than a thousand, any thousand
     */
    record OpenLeases(int open, int holding, int waiting, List<LeaseState> shown) {}

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

    /** Those whose tenant has this id, that hold or want permits of this pool, and whose holder's name contains this; null for all. */
    @ReadOperation
    public Mono<WebEndpointResponse<?>> all(@Nullable String tenant, @Nullable String pool, @Nullable String holder) {
        Mono<WebEndpointResponse<?>> found = Mono.zip(leases().count(), asked(tenant, pool, holder))
                .map(both -> new WebEndpointResponse<>(opened(both.getT1(), both.getT2())));
        return found.onErrorResume(LeasesUnavailableException.class, LeasesEndpoint::lost);
    }

    private Mono<List<LeaseState>> asked(@Nullable String tenant, @Nullable String pool, @Nullable String holder) {
        Flux<LeaseId> ids = leases().ids();
        if (tenant != null && !tenant.isEmpty()) {
            ids = TenantId.isWellFormed(tenant) ? leases().ids(TenantId.of(tenant)) : Flux.empty();
        }
        return ids.take(MOST)
                .flatMap(leases()::status, AT_A_TIME)
                .map(LeaseState::of)
                .filter(lease ->
                        pool == null || pool.isEmpty() || lease.permits().containsKey(pool))
                .filter(lease -> holder == null || lease.holder().contains(holder))
                .sort(Comparator.comparingDouble(LeaseState::ageSeconds)
                        .reversed()
                        .thenComparing(LeaseState::id))
                .collectList();
    }

    private static OpenLeases opened(LeaseCount count, List<LeaseState> shown) {
        return new OpenLeases(count.open(), count.holding(), count.waiting(), shown);
    }

    /** Empty, which is answered with 404, when there is none. */
    @ReadOperation
    public Mono<WebEndpointResponse<?>> one(@Selector String id) {
        Mono<WebEndpointResponse<?>> found =
                read(id).flatMap(leases()::status).map(lease -> new WebEndpointResponse<>(LeaseState.of(lease)));
        return found.onErrorResume(LeasesUnavailableException.class, LeasesEndpoint::lost);
    }

    /** Ends a lease: its permits are free, and its holder learns it with its next call. Answered with 204, or with 404 when there is none. */
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
