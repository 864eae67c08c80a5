package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.spring.TenantAccess;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Accounts for all that happens to leases, in the audit log and in the meters. */
final class LeaseRecords {

    private final TenantAccess access;
    private final InstantSource clock;

    LeaseRecords(TenantAccess access, InstantSource clock) {
        this.access = access;
        this.clock = clock;
    }

    /** Once for all permits that were granted together, though each pool tells of its own. */
    void granted(LeaseStatus lease, LeaseStatus.Held permits, TenantId who) {
        List<LeaseStatus.Held> together = lease.held().stream()
                .filter(held -> held.token() == permits.token())
                .toList();
        if (together.get(0).equals(permits)) {
            Map<String, Object> record = record("lease-granted", lease, who);
            putHeld(record, together);
            record.put("waited", seconds(permits.waitedNanos()));
            record.put("ttl", seconds(lease.leftNanos()));
            access.audit(record);
        }
    }

    void restored(LeaseStatus lease, TenantId who) {
        access.countLeaseRestored(lease.tenant());
        Map<String, Object> record = record("lease-restored", lease, who);
        putHeld(record, lease.held());
        record.put("ttl", seconds(lease.leftNanos()));
        access.audit(record);
    }

    void extended(LeaseStatus lease, Duration ttl, TenantId who) {
        Map<String, Object> record = record("lease-extended", lease, who);
        putAll(record, lease);
        record.put("ttl", seconds(ttl.toNanos()));
        access.audit(record);
    }

    /** One that was refused is over as well, and was told of. */
    void ended(LeaseStatus lease, String word, TenantId who) {
        if (lease.held().isEmpty() && lease.waiting() == null) {
            return;
        }
        access.countLeaseEnded(lease.tenant(), word);
        Map<String, Object> record = record("lease-" + word, lease, who);
        putAll(record, lease);
        access.audit(record);
    }

    void gaveBack(LeaseStatus lease, LeaseStatus.Held permits, TenantId who) {
        Map<String, Object> record = record("lease-released", lease, who);
        putHeld(record, List.of(permits));
        record.put("held", seconds(permits.heldNanos()));
        access.audit(record);
    }

    void refused(LeaseStatus lease, LeaseStatus.Waiting asked, String reason, TenantId who) {
        Map<String, Object> record = record("lease-refused", lease, who);
        record.put("pools", new TreeMap<>(asked.permits()));
        record.put("waited", seconds(asked.waitedNanos()));
        record.put("reason", reason);
        access.audit(record);
    }

    /** Before there was a lease, or because of what it was charged to. */
    void refused(LeaseAsk ask, String reason) {
        Map<String, Object> record =
                record("lease-refused", ask.id(), ask.caller().named(), ask.holder());
        record.put("pools", ask.permits());
        record.put("reason", reason);
        access.audit(record);
    }

    private Map<String, Object> record(String event, LeaseStatus lease, TenantId who) {
        return record(event, lease.id(), who, lease.holder());
    }

    private Map<String, Object> record(String event, LeaseId id, TenantId who, String holder) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("event", event);
        record.put("at", clock.instant().toString());
        record.put("tenant", who.value());
        if (!holder.isEmpty()) {
            record.put("holder", holder);
        }
        record.put("lease", id.toString());
        return record;
    }

    private static void putAll(Map<String, Object> record, LeaseStatus lease) {
        LeaseStatus.Waiting waiting = lease.waiting();
        if (!lease.held().isEmpty()) {
            putHeld(record, lease.held());
            record.put("held", seconds(lease.held().get(0).heldNanos()));
        } else if (waiting != null) {
            record.put("pools", new TreeMap<>(waiting.permits()));
            record.put("waited", seconds(waiting.waitedNanos()));
        }
    }

    private static void putHeld(Map<String, Object> record, List<LeaseStatus.Held> held) {
        Map<String, Integer> permits = new TreeMap<>();
        held.forEach(each -> permits.put(each.pool(), each.permits()));
        record.put("pools", permits);
        record.put("token", held.get(0).token());
    }

    private static double seconds(long nanos) {
        return Math.round(nanos / 1e6) / 1e3;
    }
}
