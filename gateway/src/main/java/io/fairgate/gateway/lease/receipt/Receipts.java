package io.fairgate.gateway.lease.receipt;

import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Receipts of held leases. A holder gets one with each answer, and sends it after a restart. A receipt is invalid as soon as
 * the lease would have expired, so every extension comes with a new one.
 *
 * <p>Thread-safe; no method blocks.
 */
public final class Receipts {

    private final ReceiptKeys keys;
    private final InstantSource clock;

    public Receipts(ReceiptKeys keys, InstantSource clock) {
        this.keys = keys;
        this.clock = clock;
    }

    /**
     * What a receipt proves.
     *
     * @param memory marks where the lease was remembered when the receipt was made
     */
    public record Proof(HeldBefore before, UUID memory) {

        /** Whether this memory knew the lease, so that it has ended if the memory does not know it now. */
        public boolean isOf(LeaseMemory other) {
            return memory.equals(mark(other));
        }
    }

    private static UUID mark(LeaseMemory memory) {
        LeaseId mark = memory.ids().of("\nreceipts"); // no tenant has an empty id
        return new UUID(mark.high(), mark.low());
    }

    /** The receipt of a lease that holds permits. */
    public String receipt(LeaseStatus lease, LeaseMemory memory) {
        Map<String, Integer> permits = new TreeMap<>();
        lease.held().forEach(each -> permits.put(each.pool(), each.permits()));
        LeaseStatus.Held first = lease.held().get(0);
        Instant now = clock.instant();
        return keys.sign(new Receipt(
                        mark(memory),
                        lease.id(),
                        lease.holder().owner(),
                        permits,
                        first.token(),
                        now.minusNanos(first.heldNanos()),
                        now.plusNanos(lease.leftNanos()))
                .bytes());
    }

    /** Verifies a receipt of a lease of this tenant. Throws {@link HttpProblem} when it is invalid or has expired. */
    public Proof verified(String text, LeaseId lease, TenantId owner) {
        byte[] signed = keys.verified(text);
        if (signed == null) {
            throw invalid("No key of this server has signed the receipt.");
        }
        Receipt receipt = Receipt.of(signed);
        if (!receipt.tenant().equals(owner)) {
            throw invalid("The receipt belongs to another tenant.");
        }
        if (!receipt.lease().equals(lease)) {
            throw invalid("The receipt belongs to another lease.");
        }
        Instant now = clock.instant();
        if (!now.isBefore(receipt.endsAt())) {
            throw new HttpProblem(
                    409,
                    "receipt-expired",
                    "The lease of this receipt has expired: acquire a new one, or restore it without the receipt.");
        }
        return new Proof(
                new HeldBefore(receipt.permits(), since(receipt.grantedAt(), now), receipt.token()), receipt.memory());
    }

    public static HttpProblem invalid(String why) {
        return new HttpProblem(409, "receipt-invalid", why);
    }

    /** Never negative: the clock may have been set back. */
    private static Duration since(Instant granted, Instant now) {
        Duration since = Duration.between(granted, now);
        return since.isNegative() ? Duration.ZERO : since.compareTo(LeaseTerm.LONGEST) < 0 ? since : LeaseTerm.LONGEST;
    }
}
