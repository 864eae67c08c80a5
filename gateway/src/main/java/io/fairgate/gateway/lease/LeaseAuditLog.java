package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.HttpCall;
import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.admission.TenantAccess.Caller;
import io.fairgate.spring.exchange.OriginalRequest;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.proxy.OriginalRequests;
import io.fairgate.spring.refusal.RecordLog;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Records the events of leases in the audit log and in the meters. */
public record LeaseAuditLog(FairgateMeters meters, RecordLog log, PolicyHolder policy, InstantSource clock) {

    /** For names that come from a caller, so that a record stays small. */
    private static final int LONGEST_NAME = 64;

    private static final int MOST_POOLS = 16;

    // ---- events of leases ----

    /** Writes one record for all permits that were granted together, although it is called for each pool. */
    void granted(LeaseStatus lease, LeaseStatus.Held permits) {
        meters.leaseGranted(permits.pool(), lease.tenant());
        List<LeaseStatus.Held> together = lease.held().stream()
                .filter(held -> held.token() == permits.token())
                .toList();
        if (together.get(0).equals(permits)) {
            Map<String, Object> record = record("lease-granted", lease);
            putHeld(record, together);
            record.put("waited", seconds(permits.waitedNanos()));
            record.put("ttl", seconds(lease.leftNanos()));
            log.add(record);
        }
    }

    void restored(LeaseStatus lease) {
        restored(lease.tenant(), "receipt");
        Map<String, Object> record = record("lease-restored", lease);
        putHeld(record, lease.held());
        record.put("ttl", seconds(lease.leftNanos()));
        log.add(record);
    }

    void extended(LeaseStatus lease, Duration ttl) {
        Map<String, Object> record = record("lease-extended", lease);
        putAll(record, lease);
        record.put("ttl", seconds(ttl.toNanos()));
        log.add(record);
    }

    /** A lease that was refused also ends; its refusal has been recorded before. */
    void ended(LeaseStatus lease, String how) {
        if (!lease.held().isEmpty() || lease.waiting() != null) {
            pools(lease).forEach(pool -> meters.leaseEnded(pool, lease.tenant(), how));
            Map<String, Object> record = record("lease-" + how, lease);
            putAll(record, lease);
            log.add(record);
        }
    }

    /** The pools of which it holds permits, or else those for whose permits it waits. */
    private static Collection<String> pools(LeaseStatus lease) {
        return lease.waiting() != null && lease.held().isEmpty()
                ? lease.waiting().permits().keySet()
                : lease.held().stream().map(LeaseStatus.Held::pool).toList();
    }

    void gaveBack(LeaseStatus lease, LeaseStatus.Held permits) {
        meters.leaseEnded(permits.pool(), lease.tenant(), "released");
        Map<String, Object> record = record("lease-released", lease);
        putHeld(record, List.of(permits));
        record.put("held", seconds(permits.heldNanos()));
        log.add(record);
    }

    void refused(LeaseStatus lease, LeaseStatus.Waiting asked, String reason) {
        Map<String, Object> record = record("lease-refused", lease);
        putWaiting(record, asked);
        record.put("reason", reason);
        log.add(record);
    }

    private Map<String, Object> record(String event, LeaseStatus lease) {
        Subject subject = new Subject(lease.holder().name(), lease.id(), Map.of());
        return record(event, lease.holder().owner(), null, subject);
    }

    private static void putAll(Map<String, Object> record, LeaseStatus lease) {
        if (!lease.held().isEmpty()) {
            putHeld(record, lease.held());
            record.put("held", seconds(lease.held().get(0).heldNanos()));
        } else if (lease.waiting() != null) {
            putWaiting(record, lease.waiting());
        }
    }

    private static void putHeld(Map<String, Object> record, List<LeaseStatus.Held> held) {
        Map<String, Integer> permits = new TreeMap<>();
        held.forEach(each -> permits.put(each.pool(), each.permits()));
        record.put("pools", permits);
        record.put("token", held.get(0).token());
    }

    private static void putWaiting(Map<String, Object> record, LeaseStatus.Waiting waiting) {
        record.put("pools", new TreeMap<>(waiting.permits()));
        record.put("waited", seconds(waiting.waitedNanos()));
    }

    private static double seconds(long nanos) {
        return Math.round(nanos / 1e6) / 1e3;
    }

    // ---- calls ----

    /**
     * The subject of a call, as far as it is known.
     *
     * @param holder empty when the call has none
     * @param permits the requested permits, by the name of the pool
     */
    public record Subject(String holder, @Nullable LeaseId lease, Map<String, ? extends Number> permits) {}

    /** Counts a restore by its result: accepted (receipt), acquired like any other lease (queue), or refused. */
    public void restored(TenantId tenant, String result) {
        meters.leaseRestore(tenant, result);
    }

    public void refusedByQuota(Caller caller, Subject subject) {
        Map<String, Object> record = record("lease-refused", caller.named(), null, subject);
        record.put("reason", "quota");
        log.add(record);
    }

    /**
     * Records a refused call. Refusals by a pool or a quota, and those of unidentified calls, are recorded elsewhere.
     *
     * @param caller null when the caller has not been identified
     */
    public void refused(HttpCall call, @Nullable Caller caller, Subject subject, Throwable failure) {
        if (failure instanceof HttpProblem problem) {
            refused(call, caller, subject, problem.reason());
        } else if (TenantAccess.isForDraining(failure)) {
            refused(call, caller, subject, "draining");
        }
    }

    /** The same with a given reason, for refusals of other protocols. */
    public void refused(HttpCall call, @Nullable Caller caller, Subject subject, String reason) {
        if (caller != null) {
            meters.refused(caller.tenant().id(), reason, true);
        }
        Map<String, Object> record = record("lease-refused", caller == null ? null : caller.named(), call, subject);
        String pool = call.parts().getOrDefault("pool", call.parts().get("semaphore"));
        if (subject.permits.isEmpty() && pool != null) {
            record.put("pool", cut(pool));
        }
        record.put("reason", reason);
        log.add(record);
    }

    /** The beginning of every record. Null for what is not known. */
    private Map<String, Object> record(
            String event, @Nullable TenantId owner, @Nullable HttpCall call, Subject subject) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("event", event);
        record.put("at", clock.instant().toString());
        if (owner != null) {
            record.put("tenant", owner.value());
        }
        if (call != null) {
            OriginalRequest original = OriginalRequests.of(call.exchange(), policy);
            record.put("client", original.clientText());
            String peer = original.peerText();
            if (peer != null) {
                record.put("peer", peer);
            }
        }
        if (!subject.holder.isEmpty()) {
            record.put("holder", subject.holder);
        }
        if (subject.lease != null) {
            record.put("lease", subject.lease.toString());
        }
        if (!subject.permits.isEmpty()) {
            // The names come from the caller and need not exist, so their number and length are limited.
            Map<String, Number> pools = new TreeMap<>();
            subject.permits.entrySet().stream()
                    .limit(MOST_POOLS)
                    .forEach(each -> pools.put(cut(each.getKey()), each.getValue()));
            record.put("pools", pools);
        }
        return record;
    }

    private static String cut(String name) {
        if (name.length() <= LONGEST_NAME) {
            return name;
        }
        boolean isWithinPair = Character.isHighSurrogate(name.charAt(LONGEST_NAME - 1));
        return name.substring(0, isWithinPair ? LONGEST_NAME - 1 : LONGEST_NAME) + "…";
    }
}
