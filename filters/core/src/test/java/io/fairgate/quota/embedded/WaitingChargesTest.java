package io.fairgate.quota.embedded;

import static io.fairgate.quota.embedded.JournaledQuotas.CHUNK;
import static io.fairgate.quota.embedded.JournaledQuotas.LONGEST;
import static io.fairgate.quota.embedded.JournaledQuotas.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.embedded.JournaledQuotas.Request;
import io.fairgate.quota.journal.JournalRecord;
import io.fairgate.quota.journal.TestDisk;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Charges that wait for the disk, and the units recorded for them when they return or leave. */
class WaitingChargesTest {
    private static final Quota.Total OWN = new Quota.Total("own", 900);

    private final JournaledQuotas journaled = new JournaledQuotas();
    private final TestDisk disk = journaled.disk;
    private final QuotaSet acme = inOrganisation("acme");

    /** A tenant's own quota, and a quota shared by its organisation. */
    private static QuotaSet inOrganisation(String tenant) {
        return QuotaSet.of(List.of(
                new OwnedQuota(QuotaOwner.tenant(TenantId.of(tenant)), OWN, true),
                new OwnedQuota(QuotaOwner.group("org"), SHARED, true)));
    }

    @AfterEach
    void close() {
        journaled.close();
    }

    /** The disk hangs, so that all wait: once the first chunk is written, a request may pass at once. */
    private List<Request> waitingCrowd(int size) {
        disk.hang();
        List<Request> crowd = crowd(size);
        disk.goOn();
        return crowd;
    }

    private List<Request> crowd(int size) {
        return IntStream.range(0, size)
                .mapToObj(i -> journaled.request(acme, 1))
                .toList();
    }

    @Test
    void requests_that_leave_during_the_write_cost_at_most_one_chunk() throws Exception {
        disk.hang();
        Request first = journaled.request(acme, 1);
        disk.awaitWrite();
        crowd(800).forEach(Request::leave);
        disk.goOn();
        journaled.comeBack();
        assertThat(first.passes()).isTrue();
        journaled.assertUsedAfterACrash(acme, 1);
    }

    @Test
    void requests_that_leave_after_the_write_cost_at_most_one_chunk() {
        List<Request> crowd = waitingCrowd(800);
        journaled.awaitWritten();
        journaled.assertUsedAfterACrash(acme, 800);
        crowd.forEach(Request::leave);
        journaled.comeBack();
        journaled.assertUsedAfterACrash(acme, 0);
    }

    @Test
    void requests_that_leave_repeatedly_take_nothing_from_the_others() {
        for (int i = 0; i < 20; i++) {
            waitingCrowd(100).forEach(Request::leave);
            journaled.comeBack();
        }
        journaled.assertUsedAfterACrash(acme, 0);
        Request other = journaled.request(inOrganisation("globex"), 900);
        journaled.comeBack();
        assertThat(other.passes()).isTrue();
    }

    @Test
    void the_remaining_requests_are_recorded_although_others_leave() {
        List<Request> crowd = waitingCrowd(800);
        journaled.awaitWritten();
        IntStream.range(0, 800)
                .filter(i -> i % 2 == 0)
                .forEach(i -> crowd.get(i).leave());
        journaled.awaitWritten();
        journaled.assertUsedAfterACrash(acme, 400);
        int writes = disk.writes();
        journaled.runAll();
        assertThat(crowd).filteredOn(request -> !request.hasLeft()).allMatch(Request::passes);
        assertThat(disk.writes()).as("no request waited again").isEqualTo(writes);
        journaled.awaitWritten();
        journaled.assertUsedAfterACrash(acme, 400);
    }

    @Test
    void a_later_request_that_uses_the_chunk_of_others_extends_it() {
        List<Request> crowd = waitingCrowd(100);
        journaled.awaitWritten();
        for (int i = 0; i < CHUNK - 2; i++) {
            assertThat(journaled.request(acme, 1).passes()).isTrue();
        }
        journaled.awaitWritten();
        journaled.runAll();
        assertThat(crowd).as("no request waits again").allMatch(Request::passes);
    }

    @Test
    void units_recorded_for_a_refused_request_are_taken_back() {
        Request first = journaled.request(acme, 500);
        Request second = journaled.request(acme, 600);
        journaled.comeBack();
        assertThat(first.passes()).isTrue();
        assertThat(second.passes()).isFalse();
        journaled.assertUsedAfterACrash(acme, 500);
    }

    @Test
    void a_request_that_waits_for_one_quota_keeps_the_units_recorded_of_the_others() {
        QuotaSet both = QuotaSet.of(VirtualQuotas.ACME, SHARED, OWN);
        QuotaSet one = QuotaSet.of(VirtualQuotas.ACME, SHARED);
        Request large = journaled.request(one, 500);
        journaled.awaitWritten();
        large.leave();
        Request waits = journaled.request(both, 5);
        journaled.awaitWritten();
        Request covered = journaled.request(one, 7);
        assertThat(waits.waits()).isTrue();
        journaled.comeBack();
        assertThat(covered.passes()).isTrue();
        assertThat(waits.passes()).isTrue();
        assertThat(journaled.usedAfterACrash(both))
                .satisfiesExactly(
                        shared -> assertThat(shared).isBetween(12L, 12L + CHUNK),
                        own -> assertThat(own).isBetween(5L, 5L + CHUNK));
    }

    @Test
    void a_charge_that_is_settled_while_it_waits_is_answered_but_not_made() {
        Request request = journaled.request(acme, 50);
        request.charge.settle(50).block();
        journaled.comeBack();
        assertThat(request.passes()).isTrue();
        assertThat(journaled.used(acme)).containsExactly(0L, 0L);
        journaled.assertUsedAfterACrash(acme, 0);
    }

    @Test
    void admitted_units_are_always_on_the_disk_although_half_of_the_requests_leave() {
        EmbeddedQuotas atOnce = journaled.on(Schedulers.parallel());
        QuotaSet set = QuotaSet.of(VirtualQuotas.ACME, new Quota.Total("prepaid", 15_000));
        AtomicLong given = new AtomicLong();
        Long ahead = Flux.range(0, 10_000)
                .flatMap(
                        i -> {
                            QuotaCharge charge = atOnce.newCharge(set, 1 + i % 3);
                            Mono<QuotaDecision> answer = charge.charge().subscribeOn(Schedulers.parallel());
                            if (i % 2 == 0) {
                                return answer.map(decision -> given.addAndGet(charge.units()) > onDisk());
                            }
                            return answer.timeout(Duration.ofNanos(1 + i), Mono.empty())
                                    .then(charge.settle(0))
                                    .thenReturn(false);
                        },
                        500)
                .filter(isAhead -> isAhead)
                .count()
                .block(LONGEST);
        assertThat(ahead).isZero();
        journaled.awaitWritten();
        assertThat(JournaledQuotas.used(atOnce, set)).containsExactly(given.get());
        assertThat(onDisk()).isBetween(given.get(), given.get() + 150);
    }

    private long onDisk() {
        return disk.live().values().stream().mapToLong(JournalRecord::used).sum();
    }
}
