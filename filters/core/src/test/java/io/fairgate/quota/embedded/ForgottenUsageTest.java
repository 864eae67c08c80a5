package io.fairgate.quota.embedded;

import static io.fairgate.quota.embedded.JournaledQuotas.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.embedded.JournaledQuotas.Request;
import io.fairgate.quota.journal.TestDisk;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Unused usages and usages of old windows may be forgotten, unless a record of them is being written.
 */
class ForgottenUsageTest {

    private final JournaledQuotas journaled = new JournaledQuotas();
    private final TestDisk disk = journaled.disk;

    /** So many quotas that the next change forgets the unused ones. */
    @BeforeEach
    void useManyQuotas() {
        Quota[] many = IntStream.range(0, Account.KEPT)
                .mapToObj(i -> new Quota.Total("another-" + i, 10))
                .toArray(Quota[]::new);
        journaled.request(QuotaSet.of(VirtualQuotas.ACME, many), 1);
        journaled.comeBack();
    }

    @AfterEach
    void close() {
        journaled.close();
    }

    /** The same quota each time, in a new set, as after a reload. */
    private static QuotaSet shared() {
        return QuotaSet.of(VirtualQuotas.ACME, SHARED);
    }

    private Request charge(long units) {
        return journaled.request(shared(), units);
    }

    /** The disk hangs with the record of the first request, and the record of the second waits for it. */
    private List<Request> oneOnItsWayAndOneBehindIt() throws InterruptedException {
        disk.hang();
        Request first = charge(1);
        disk.awaitWrite();
        return List.of(first, charge(20));
    }

    @Test
    void a_usage_is_not_forgotten_while_its_first_record_is_being_written() throws Exception {
        List<Request> two = oneOnItsWayAndOneBehindIt();
        Request third = charge(300);
        disk.goOn();
        journaled.comeBack();
        assertThat(two).allMatch(Request::passes);
        assertThat(third.passes()).isTrue();
        assertThat(journaled.used(shared())).containsExactly(321L);
        journaled.assertUsedAfterACrash(shared(), 321);
    }

    @Test
    void a_record_of_the_old_window_is_not_written_after_one_of_the_new_window() throws Exception {
        Request yesterday = charge(700);
        journaled.comeBack();
        assertThat(yesterday.passes()).isTrue();
        journaled.beginTheNextDay();
        List<Request> two = oneOnItsWayAndOneBehindIt();
        Request third = charge(300);
        disk.goOn();
        journaled.comeBack();
        assertThat(two).allMatch(Request::passes);
        assertThat(third.passes()).isTrue();
        journaled.assertUsedAfterACrash(shared(), 321);
    }

    @Test
    void a_usage_of_an_old_window_is_kept_while_its_record_is_being_written() throws Exception {
        List<Request> two = oneOnItsWayAndOneBehindIt();
        journaled.beginTheNextDay();
        Request third = charge(300);
        disk.goOn();
        journaled.awaitWritten();
        two.forEach(Request::leave);
        journaled.comeBack();
        assertThat(third.passes()).isTrue();
        journaled.assertUsedAfterACrash(shared(), 300);
    }

    @Test
    void units_recorded_for_a_request_do_not_count_as_used_before_its_charge() {
        Request first = charge(900);
        journaled.awaitWritten();
        Request second = charge(100);
        journaled.comeBack();
        assertThat(first.passes()).isTrue();
        assertThat(second.passes()).isTrue();
        assertThat(journaled.used(shared())).containsExactly(1000L);
    }

    @Test
    void a_request_that_leaves_after_its_window_does_not_change_the_new_window() {
        Request late = charge(900);
        journaled.awaitWritten();
        journaled.beginTheNextDay();
        Request today = charge(300);
        journaled.awaitWritten();
        late.leave();
        journaled.comeBack();
        assertThat(today.passes()).isTrue();
        journaled.assertUsedAfterACrash(shared(), 300);
    }

    @Test
    void a_usage_of_an_old_window_is_forgotten_even_if_it_was_only_recorded() {
        QuotaOwner owner = QuotaOwner.tenant(VirtualQuotas.ACME);
        charge(900).leave();
        journaled.comeBack();
        int before = journaled.quotas.account(owner).size();
        journaled.beginTheNextDay();
        journaled.quotas.checkNow(
                QuotaSet.of(VirtualQuotas.ACME, new Quota.Calendar("hourly", 5, CalendarUnit.HOUR, ZoneOffset.UTC)), 1);
        assertThat(journaled.quotas.account(owner).size())
                .as("one added and one forgotten")
                .isEqualTo(before);
    }
}
