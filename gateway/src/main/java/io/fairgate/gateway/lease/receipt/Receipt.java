package io.fairgate.gateway.lease.receipt;

import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The content of a receipt: that a lease held these permits, and until when it is valid without an extension.
 *
 * @param memory marks where the lease was remembered
 * @param tenant the tenant id that the holder named
 * @param permits by the name of the pool
 * @param token the fencing token of the grant
 * @param grantedAt when the permits were first granted, possibly before earlier restarts
 * @param endsAt when the lease expires, and the receipt with it
 */
record Receipt(
        UUID memory,
        LeaseId lease,
        TenantId tenant,
        Map<String, Integer> permits,
        long token,
        Instant grantedAt,
        Instant endsAt) {

    Receipt {
        permits = Collections.unmodifiableMap(new TreeMap<>(permits));
    }

    /** Each text is preceded by its length, so that the name of a pool cannot be read as another field. */
    byte[] bytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(memory.getMostSignificantBits());
            out.writeLong(memory.getLeastSignificantBits());
            out.writeLong(lease.high());
            out.writeLong(lease.low());
            out.writeUTF(tenant.value());
            out.writeLong(token);
            out.writeLong(grantedAt.toEpochMilli());
            out.writeLong(endsAt.toEpochMilli());
            out.writeInt(permits.size());
            for (Map.Entry<String, Integer> each : permits.entrySet()) {
                out.writeUTF(each.getKey());
                out.writeInt(each.getValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** @param bytes from {@link #bytes}; the caller has verified their signature */
    static Receipt of(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            UUID memory = new UUID(in.readLong(), in.readLong());
            LeaseId lease = new LeaseId(in.readLong(), in.readLong());
            TenantId tenant = TenantId.of(in.readUTF());
            long token = in.readLong();
            Instant grantedAt = Instant.ofEpochMilli(in.readLong());
            Instant endsAt = Instant.ofEpochMilli(in.readLong());
            Map<String, Integer> permits = new TreeMap<>();
            for (int left = in.readInt(); left > 0; left--) {
                permits.put(in.readUTF(), in.readInt());
            }
            return new Receipt(memory, lease, tenant, permits, token, grantedAt, endsAt);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
