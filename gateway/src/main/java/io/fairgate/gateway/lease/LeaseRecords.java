package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.Call;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.admission.TenantAccess.Caller;
import io.fairgate.tenant.TenantId;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Records the events of leases in the audit log and in the meters. */
final class LeaseRecords {

    /** For names that come from a caller, so that a record stays small. */
    private static final int LONGEST_NAME = 64;

    private static final int MOST_POOLS = 16;

    private final TenantAccess access;
    private final InstantSource clock;

    LeaseRecords(TenantAccess access, InstantSource clock) {
        this.access = access;
        this.clock = clock;
    }

    /** Writes one record for all permits that were granted together, although it is called for each pool. */
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
        restored(lease.tenant(), "receipt");
        Map<String, Object> record = record("lease-restored", lease, who);
        putHeld(record, lease.held());
        record.put("ttl", seconds(lease.leftNanos()));
        access.audit(record);
    }

    /** Counts a restore by its result: accepted (receipt), acquired like any other lease (queue), or refused. */
    void restored(TenantId tenant, String result) {
        access.countLeaseRestore(tenant, result);
    }

    void extended(LeaseStatus lease, Duration ttl, TenantId who) {
        Map<String, Object> record = record("lease-extended", lease, who);
        putAll(record, lease);
        record.put("ttl", seconds(ttl.toNanos()));
        access.audit(record);
    }

    /** A lease that was refused also ends; its refusal has been recorded before. */
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

    /** A refusal by a quota. */
    void refused(LeaseAsk ask) {
        Map<String, Object> record =
                record("lease-refused", ask.id(), ask.caller().named(), ask.holder());
        putAsked(record, ask.permits());
        record.put("reason", "quota");
        access.audit(record);
    }

    /**
     * The subject of a call, as far as it is known.
     *
     * @param holder empty when the call has none
     * @param permits the requested permits, by the name of the pool
     */
    record Subject(String holder, @Nullable LeaseId lease, Map<String, ? extends Number> permits) {}

    /**
     * Records a refused call. Refusals by a pool or a quota, and those of unidentified calls, have been recorded elsewhere,
     * and are ignored here.
     *
     * @param caller null when the caller has not been identified
     */
    void refused(Call call, @Nullable Caller caller, Subject subject, Throwable failure) {
        if (failure instanceof LeaseProblem problem) {
            refused(call, caller, subject, problem.reason());
        } else if (TenantAccess.isForDraining(failure)) {
            refused(call, caller, subject, "draining");
        }
    }

    /** The same with a given reason, for refusals of other protocols. */
    void refused(Call call, @Nullable Caller caller, Subject subject, String reason) {
        Map<String, Object> record = record("lease-refused");
        if (caller != null) {
            record.put("tenant", caller.named().value());
            access.countRefusal(caller.tenant().id(), reason);
        }
        InetSocketAddress peer = call.exchange().getRequest().getRemoteAddress();
        if (peer != null && peer.getAddress() != null) {
            record.put("peer", peer.getAddress().getHostAddress());
        }
        if (!subject.holder.isEmpty()) {
            record.put("holder", subject.holder);
        }
        if (subject.lease != null) {
            record.put("lease", subject.lease.toString());
        }
        String pool = call.parts().getOrDefault("pool", call.parts().get("semaphore"));
        if (!subject.permits.isEmpty()) {
            putAsked(record, subject.permits);
        } else if (pool != null) {
            record.put("pool", shown(pool));
        }
        record.put("reason", reason);
        access.audit(record);
    }

    /** The names come from the caller and need not exist, so their number and length are limited. */
    private static void putAsked(Map<String, Object> record, Map<String, ? extends Number> permits) {
        Map<String, Number> shown = new TreeMap<>();
        permits.entrySet().stream().limit(MOST_POOLS).forEach(each -> shown.put(shown(each.getKey()), each.getValue()));
        record.put("pools", shown);
    }

    private static String shown(String name) {
        if (name.length() <= LONGEST_NAME) {
            return name;
        }
        boolean isWithinPair = Character.isHighSurrogate(name.charAt(LONGEST_NAME - 1));
        return name.substring(0, isWithinPair ? LONGEST_NAME - 1 : LONGEST_NAME) + "…";
    }

    private Map<String, Object> record(String event, LeaseStatus lease, TenantId who) {
        return record(event, lease.id(), who, lease.holder());
    }

    private Map<String, Object> record(String event, LeaseId id, TenantId who, String holder) {
        Map<String, Object> record = record(event);
        record.put("tenant", who.value());
        if (!holder.isEmpty()) {
            record.put("holder", holder);
        }
        record.put("lease", id.toString());
        return record;
    }

    private Map<String, Object> record(String event) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("event", event);
        record.put("at", clock.instant().toString());
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
