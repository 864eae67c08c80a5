package io.fairgate.gateway.lease.receipt;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseIds;
import io.fairgate.lease.LeaseMemory;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.tenant.TenantId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** The proof of a receipt, and that a receipt cannot be changed. */
class ReceiptsTest {

    private static final String KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    private static final String OTHER_KEY = "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY3ODkw";
    private static final TenantId ACME = TenantId.of("acme");
    private static final LeaseId ID = new LeaseId(1, 2);
    private static final LeaseStatus LEASE = new LeaseStatus(
            ID,
            7,
            LeaseHolder.of(ACME, "batch"),
            List.of(
                    new LeaseStatus.Held(
                            "orders", 2, 4711, 0, Duration.ofMinutes(3).toNanos()),
                    new LeaseStatus.Held(
                            "reports", 1, 4711, 0, Duration.ofMinutes(3).toNanos())),
            null,
            Duration.ofSeconds(30).toNanos());

    private static final LeaseMemory MEMORY = memory();

    private static LeaseMemory memory() {
        return new LeaseMemory(new LeaseIds(LeaseIds.newSecret()), Duration.ZERO);
    }

    private Instant now = Instant.parse("2026-11-22T06:00:00Z");
    private final Receipts receipts = with(KEY);

    private Receipts with(String keys) {
        return new Receipts(ReceiptKeys.of(keys), () -> now);
    }

    private static void assertRefused(Receipts receipts, String receipt, String reason) {
        assertThatThrownBy(() -> receipts.verified(receipt, ID, ACME))
                .isInstanceOfSatisfying(
                        HttpProblem.class,
                        problem -> assertThat(problem.reason()).isEqualTo(reason));
    }

    @Test
    void a_receipt_proves_the_held_permits_until_the_lease_expires() {
        String receipt = receipts.receipt(LEASE, MEMORY);
        now = now.plusSeconds(29);
        Receipts.Proof proof = with(KEY).verified(receipt, ID, ACME);
        assertThat(proof.before().permits()).isEqualTo(Map.of("orders", 2, "reports", 1));
        assertThat(proof.before().token()).isEqualTo(4711);
        assertThat(proof.before().heldFor()).isEqualTo(Duration.ofSeconds(3 * 60 + 29));
        assertThat(proof.isOf(memory())).as("another memory").isFalse();
        assertThat(proof.isOf(MEMORY)).isTrue();
        now = now.plusSeconds(1);
        assertRefused(receipts, receipt, "receipt-expired");
        now = now.minusSeconds(3600);
        assertThat(receipts.verified(receipt, ID, ACME).before().heldFor())
                .as("a clock that was set back")
                .isZero();
    }

    @Test
    void a_receipt_is_valid_only_for_its_tenant_and_its_lease() {
        String receipt = receipts.receipt(LEASE, MEMORY);
        assertThatThrownBy(() -> receipts.verified(receipt, ID, TenantId.of("globex")))
                .hasMessage("The receipt belongs to another tenant.");
        assertThatThrownBy(() -> receipts.verified(receipt, new LeaseId(1, 3), ACME))
                .hasMessage("The receipt belongs to another lease.");
    }

    @Test
    void a_changed_receipt_is_refused() {
        String receipt = receipts.receipt(LEASE, MEMORY);
        String[] parts = receipt.split("\\.", -1);
        Receipt real = Receipt.of(Base64.getUrlDecoder().decode(parts[2]));
        assertThat(parts[0] + "." + parts[1] + "." + base64(real) + "." + parts[3])
                .as("unchanged")
                .isEqualTo(receipt);
        for (Receipt changed : List.of(
                new Receipt(
                        UUID.randomUUID(),
                        real.lease(),
                        real.tenant(),
                        real.permits(),
                        real.token(),
                        real.grantedAt(),
                        real.endsAt()),
                changed(real, Map.of("orders", 3, "reports", 1), real.token(), real.grantedAt(), real.endsAt()),
                changed(real, Map.of("others", 2, "reports", 1), real.token(), real.grantedAt(), real.endsAt()),
                changed(real, Map.of("orders", 2), real.token(), real.grantedAt(), real.endsAt()),
                changed(real, real.permits(), 1, real.grantedAt(), real.endsAt()),
                changed(real, real.permits(), real.token(), now, real.endsAt()),
                changed(
                        real,
                        real.permits(),
                        real.token(),
                        real.grantedAt(),
                        real.endsAt().plusSeconds(1)))) {
            assertRefused(
                    receipts, parts[0] + "." + parts[1] + "." + base64(changed) + "." + parts[3], "receipt-invalid");
        }
        for (TenantId other : List.of(TenantId.of("globex"), TenantId.of("acmf"))) {
            Receipt foreign = new Receipt(
                    real.memory(), ID, other, real.permits(), real.token(), real.grantedAt(), real.endsAt());
            String forged = parts[0] + "." + parts[1] + "." + base64(foreign) + "." + parts[3];
            assertThatThrownBy(() -> receipts.verified(forged, ID, other))
                    .hasMessage("No key of this server has signed the receipt.");
        }
        for (int i = 0; i < receipt.length(); i++) {
            char other = receipt.charAt(i) == 'A' ? 'B' : 'A';
            String changed = receipt.substring(0, i) + other + receipt.substring(i + 1);
            boolean isLastOfSignature = i == receipt.length() - 1; // Two of its bits are no part of the signature.
            if (!isLastOfSignature) {
                assertRefused(receipts, changed, "receipt-invalid");
            }
        }
    }

    private static Receipt changed(
            Receipt real, Map<String, Integer> permits, long token, Instant grantedAt, Instant endsAt) {
        return new Receipt(real.memory(), real.lease(), real.tenant(), permits, token, grantedAt, endsAt);
    }

    private static String base64(Receipt receipt) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(receipt.bytes());
    }

    @Test
    void a_malformed_receipt_is_refused() {
        for (String text : List.of("", ".", "...", "v1...", "v1.0.0.0", "v1.é.é.é", "v1.a.b.c.d", "x".repeat(10_000))) {
            assertRefused(receipts, text, "receipt-invalid");
        }
    }

    // ---- keys ----

    @Test
    void the_first_key_signs_and_every_key_verifies() {
        String old = receipts.receipt(LEASE, MEMORY);
        Receipts both = with(OTHER_KEY + "\n" + KEY);
        assertThat(both.verified(old, ID, ACME)).isNotNull();
        String renewed = both.receipt(LEASE, MEMORY);
        assertThat(with(OTHER_KEY).verified(renewed, ID, ACME)).isNotNull();
        assertRefused(receipts, renewed, "receipt-invalid");
        assertRefused(with(OTHER_KEY), old, "receipt-invalid");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ''                            | 0 keys (expected: 1 to 8, each 32 random bytes or more in Base64
            c2hvcnQ=                      | key 1: 5 bytes (expected: 32 random bytes or more in Base64
            not*Base64                    | key 1: not Base64 (expected: 32 random bytes or more in Base64
            """)
    void an_unusable_key_is_refused_and_not_shown(String keys, String told) {
        assertThatThrownBy(() -> ReceiptKeys.of(keys))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(told)
                .hasMessageNotContaining(keys.isEmpty() ? "\0" : keys);
        assertThatThrownBy(() -> ReceiptKeys.of(KEY + " " + keys + " c2hvcnQ=")).hasMessageStartingWith("key 2");
        assertThatThrownBy(() -> ReceiptKeys.of((KEY + ",").repeat(9))).hasMessageStartingWith("9 keys");
    }

    @Test
    void a_file_has_one_key_per_line_and_may_have_comments(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("keys");
        Files.writeString(file, "# since March\n" + OTHER_KEY + "\n\n# until April\n" + KEY + "\n");
        Receipts both = new Receipts(ReceiptKeys.in(file), () -> now);
        assertThat(both.verified(receipts.receipt(LEASE, MEMORY), ID, ACME)).isNotNull();
        assertThat(with(OTHER_KEY).verified(both.receipt(LEASE, MEMORY), ID, ACME))
                .isNotNull();
        Files.writeString(file, KEY + "\nc2hvcnQ=\n");
        assertThatThrownBy(() -> ReceiptKeys.in(file))
                .isInstanceOfSatisfying(InvalidConfigurationPropertyValueException.class, e -> {
                    assertThat(e.getName()).isEqualTo("fairgate.leases.receipt-key-file");
                    assertThat(requireNonNull(e.getReason())).startsWith("key 2: 5 bytes");
                });
        assertThatThrownBy(() -> ReceiptKeys.in(folder.resolve("missing")))
                .isInstanceOfSatisfying(
                        InvalidConfigurationPropertyValueException.class,
                        e -> assertThat(requireNonNull(e.getReason())).startsWith("cannot be read"));
    }
}
