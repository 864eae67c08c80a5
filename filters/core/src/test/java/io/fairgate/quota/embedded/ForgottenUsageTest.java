package io.fairgate.quota.embedded;

import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.journal.TestDisk;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaSet;

import static io.fairgate.quota.embedded.JournaledQuotas.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.embedded.JournaledQuotas.Request;
import io.fairgate.quota.Quota.CalendarUnit;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Usages that may be forgotten, because nothing is used of them or their window is over, and those of which a record is on
 * its way, so that they must not be.
 */
class ForgottenUsageTest {

    private final JournaledQuotas journaled = new JournaledQuotas();
    private final TestDisk disk = journaled.disk;

    /** So many that those of which nothing is used go with the next change. */
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

    /** The same quota each time, in a set of its own, as after a reload. */
    private static QuotaSet shared() {
        return QuotaSet.of(VirtualQuotas.ACME, SHARED);
    }

    private Request charge(long units) {
        return journaled.request(shared(), units);
    }

    /** The disk hangs with the first one's record, and the second one's waits for it. */
    private List<Request> oneOnItsWayAndOneBehindIt() throws InterruptedException {
        disk.hang();
        Request first = charge(1);
        disk.awaitWrite();
        return List.of(first, charge(20));
    }

    @Test
    void a_usage_whose_first_record_is_on_its_way_is_not_forgotten_in_favour_of_another() throws Exception {
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
    void a_record_of_the_window_before_does_not_follow_that_of_a_new_one() throws Exception {
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
    void a_usage_whose_window_is_over_is_kept_while_a_record_of_it_is_on_its_way() throws Exception {
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
    void what_is_written_for_a_first_request_is_not_found_as_used_before_it_comes_back() {
        Request first = charge(900);
        journaled.awaitWritten();
        Request second = charge(100);
        journaled.comeBack();
        assertThat(first.passes()).isTrue();
        assertThat(second.passes()).isTrue();
        assertThat(journaled.used(shared())).containsExactly(1000L);
    }

    @Test
    void who_leaves_after_its_window_is_over_does_not_write_over_the_new_one() {
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
    void a_usage_of_a_window_that_is_over_is_forgotten_also_when_it_was_only_written_for() {
        QuotaOwner owner = QuotaOwner.tenant(VirtualQuotas.ACME);
        charge(900).leave();
        journaled.comeBack();
        int before = journaled.quotas.account(owner).size();
        journaled.beginTheNextDay();
        journaled.quotas.checkNow(
                QuotaSet.of(VirtualQuotas.ACME, new Quota.Calendar("hourly", 5, CalendarUnit.HOUR, ZoneOffset.UTC)), 1);
        assertThat(journaled.quotas.account(owner).size())
                .as("one more, and one less")
                .isEqualTo(before);
    }
}
