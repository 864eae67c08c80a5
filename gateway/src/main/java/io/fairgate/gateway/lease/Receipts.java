package io.fairgate.gateway.lease;

import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseId;
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
final class Receipts {

    private final ReceiptKeys keys;
    private final InstantSource clock;
    /** Marks the receipts of this process, which knows the state of their leases. */
    private final UUID process = UUID.randomUUID();

    Receipts(ReceiptKeys keys, InstantSource clock) {
        this.keys = keys;
        this.clock = clock;
    }

    /**
     * What a receipt proves.
     *
     * @param isOfThisProcess whether this process granted the lease or has restored it before
     */
    record Proof(HeldBefore before, boolean isOfThisProcess) {}

    /** The receipt of a lease that holds permits. */
    String receipt(LeaseStatus lease, TenantId owner) {
        Map<String, Integer> permits = new TreeMap<>();
        lease.held().forEach(each -> permits.put(each.pool(), each.permits()));
        LeaseStatus.Held first = lease.held().get(0);
        Instant now = clock.instant();
        return keys.sign(new Receipt(
                        process,
                        lease.id(),
                        owner,
                        permits,
                        first.token(),
                        now.minusNanos(first.heldNanos()),
                        now.plusNanos(lease.leftNanos()))
                .bytes());
    }

    /**
     * Verifies a receipt of a lease of this tenant.
     *
     * @throws LeaseProblem when it is no receipt of this lease, or has expired
     */
    Proof verified(String text, LeaseId lease, TenantId owner) {
        byte[] signed = keys.verified(text);
        if (signed == null) {
            throw LeaseProblem.receiptInvalid("No key of this server has signed the receipt.");
        }
        Receipt receipt = Receipt.of(signed);
        if (!receipt.tenant().equals(owner)) {
            throw LeaseProblem.receiptInvalid("The receipt is another tenant's.");
        }
        if (!receipt.lease().equals(lease)) {
            throw LeaseProblem.receiptInvalid("The receipt is of another lease.");
        }
        Instant now = clock.instant();
        if (!now.isBefore(receipt.endsAt())) {
            throw LeaseProblem.receiptExpired();
        }
        return new Proof(
                new HeldBefore(receipt.permits(), since(receipt.grantedAt(), now), receipt.token()),
                receipt.process().equals(process));
    }

    /** Never negative: the clock may have been set back. */
    private static Duration since(Instant granted, Instant now) {
        Duration since = Duration.between(granted, now);
        return since.isNegative() ? Duration.ZERO : since.compareTo(LeaseTerm.LONGEST) < 0 ? since : LeaseTerm.LONGEST;
    }
}
