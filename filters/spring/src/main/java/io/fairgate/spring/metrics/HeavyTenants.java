package io.fairgate.spring.metrics;

import io.fairgate.tenant.TenantId;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the tenants with the largest use among any number of them, in constant space and in constant time for each use:
 * the weighted majority vote of Boyer and Moore in each of a fixed number of buckets.
 *
 * <p>A bucket names one tenant. Use by that tenant is added, use by other tenants of the bucket is subtracted, and the
 * tenant that brings the sum below zero takes the place of the named one. So a tenant that uses more than all others of
 * its bucket together is named. The number of ids that the others invent makes no difference: only their use counts.
 */
final class HeavyTenants {

    /**
     * @param seconds at most the permit-time that the tenant used, and at least that less the use of the others in its
     *     bucket
     */
    private record Bucket(TenantId tenant, double seconds) {}

    private final AtomicReferenceArray<@Nullable Bucket> buckets;

    /** @param expected how many heavy tenants there may be at once */
    HeavyTenants(int expected) {
        int size = Integer.highestOneBit(Math.max(8, Math.min(expected, 1 << 16))) * 16;
        buckets = new AtomicReferenceArray<>(size);
    }

    void add(TenantId tenant, double seconds) {
        int spread = (tenant.hashCode() * 0x9E3779B9) >>> 7;
        int i = spread & (buckets.length() - 1);
        Bucket was;
        Bucket next;
        do {
            was = buckets.get(i);
            next = after(was, tenant, seconds);
        } while (!buckets.compareAndSet(i, was, next));
    }

    private static Bucket after(@Nullable Bucket was, TenantId tenant, double seconds) {
        if (was == null) {
            return new Bucket(tenant, seconds);
        } else if (was.tenant.equals(tenant)) {
            return new Bucket(tenant, was.seconds + seconds);
        } else if (was.seconds >= seconds) {
            return new Bucket(was.tenant, was.seconds - seconds);
        }
        return new Bucket(tenant, seconds - was.seconds);
    }

    /** Multiplies all by a factor below 1, so that older use counts for less. */
    void decay(double factor) {
        for (int i = 0; i < buckets.length(); i++) {
            buckets.updateAndGet(i, was -> was == null ? null : new Bucket(was.tenant, was.seconds * factor));
        }
    }

    /** Moves all use to another instance, and clears this one. */
    void moveTo(HeavyTenants others) {
        for (int i = 0; i < buckets.length(); i++) {
            Bucket bucket = buckets.getAndSet(i, null);
            if (bucket != null) {
                others.add(bucket.tenant, bucket.seconds);
            }
        }
    }

    void forEach(BiConsumer<TenantId, Double> action) {
        for (int i = 0; i < buckets.length(); i++) {
            Bucket bucket = buckets.get(i);
            if (bucket != null) {
                action.accept(bucket.tenant, bucket.seconds);
            }
        }
    }
}
