package io.fairgate.gateway.lease;

import io.fairgate.gateway.lease.receipt.Receipts;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.status.TenantStanding;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Leases and pools as a caller sees them: its own numbers, and totals of a pool, which reveal no other tenant.
 *
 * @param receipts issues receipts for held leases; null when none are issued
 */
record LeaseView(InstantSource clock, @Nullable Receipts receipts) {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /** @param memory where the lease is remembered */
    Map<String, Object> lease(LeaseStatus lease, LeaseMemory memory) {
        LeaseStatus.Waiting waiting = lease.waiting();
        boolean isHeld = !lease.held().isEmpty();
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("id", lease.id().toString());
        view.put("state", isHeld ? "held" : "waiting");
        view.put("tenant", lease.holder().owner().value());
        view.put("holder", lease.holder().name());
        Map<String, Object> pools = new TreeMap<>();
        LeaseService.permits(lease).forEach((pool, permits) -> pools.put(pool, Map.of("permits", permits)));
        view.put("pools", pools);
        if (isHeld) {
            view.put("token", lease.held().get(0).token());
        } else if (waiting != null) {
            view.put("place", waiting.place());
        }
        view.put("expiresInMillis", TimeUnit.NANOSECONDS.toMillis(lease.leftNanos()));
        view.put("expiresAt", TIME.format(clock.instant().plusNanos(lease.leftNanos())));
        if (isHeld) {
            long heldNanos = lease.held().get(0).heldNanos();
            view.put("grantedAt", TIME.format(clock.instant().minusNanos(heldNanos)));
            view.put("heldMillis", TimeUnit.NANOSECONDS.toMillis(heldNanos));
            if (receipts != null) {
                view.put("receipt", receipts.receipt(lease, memory));
            }
        }
        return view;
    }

    Map<String, Object> pool(String name, TenantStanding standing) {
        Map<String, Object> ofTenant = new LinkedHashMap<>();
        ofTenant.put("inFlight", standing.inFlight());
        ofTenant.put("waiting", standing.waiting());
        ofTenant.put("share", standing.share());
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("pool", name);
        view.put("permits", standing.pool().permits());
        view.put("inFlight", standing.pool().inFlight());
        view.put("waiting", standing.pool().waiting());
        view.put("own", ofTenant);
        return view;
    }
}
