package io.fairgate.quota.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.tenant.TenantId;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The log lines and the status of a journal while the log is blocked. */
class JournalReporterTest {
    private static final Quota.Total PREPAID = new Quota.Total("prepaid", 1000);
    private static final Duration LONGEST = Duration.ofSeconds(20);
    private static final int ALL = 1_000_000;

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final TestDisk disk = new TestDisk();
    private final Set<Thread> tellers = ConcurrentHashMap.newKeySet();
    private final Queue<String> told = new ConcurrentLinkedQueue<>();
    private final Semaphore reached = new Semaphore(0);
    private final Semaphore taken = new Semaphore(0);
    private volatile @Nullable IOException state;

    private final UsageJournal journal = new UsageJournal(disk, time, new JournalListener() {
        @Override
        public void changed(@Nullable IOException failure) {
            state = failure;
        }

        @Override
        public void failed(IOException cause) {
            tell("failed: " + cause.getMessage());
        }

        @Override
        public void recovered() {
            tell("recovered");
        }

        @Override
        public void ranAhead(String what) {}

        private void tell(String line) {
            tellers.add(Thread.currentThread());
            reached.release();
            taken.acquireUninterruptibly();
            told.add(line);
        }
    });
    private final EmbeddedQuotas quotas =
            new EmbeddedQuotas(time, () -> Instant.parse("2026-03-10T12:00:00Z"), journal);

    @AfterEach
    void close() {
        taken.release(ALL);
        journal.close();
    }

    /** Causes an access to the disk, because 20 units are more than a chunk. */
    private void write(@Nullable IOException failure) throws Exception {
        disk.failWith(failure);
        QuotaCharge charge = quotas.newCharge(QuotaSet.of(TenantId.of("acme"), PREPAID), 20);
        QuotaDecision decision = charge.charge().toFuture().get(LONGEST.toSeconds(), TimeUnit.SECONDS);
        assertThat(decision.allowed()).isTrue();
        // The answers come before the events.
        journal.written().block(LONGEST);
    }

    @Test
    void a_blocked_log_delays_no_request_and_the_status_stays_current() throws Exception {
        write(new IOException("full"));
        reached.acquire();
        assertThat(state).hasMessage("full");
        write(null);
        assertThat(state).isNull();
        write(null);
        assertThat(disk.live().values())
                .singleElement()
                .extracting(JournalRecord::used)
                .isEqualTo(70L);
        assertThat(told).isEmpty();
        taken.release(ALL);
        journal.close();
        assertThat(told).containsExactly("failed: full", "recovered");
    }

    @Test
    void changes_during_a_blocked_log_do_not_pile_up() throws Exception {
        write(new IOException("full"));
        reached.acquire();
        for (int i = 0; i < 10; i++) {
            write(null);
            write(new IOException("full again"));
        }
        write(null);
        taken.release(ALL);
        journal.close();
        assertThat(told).containsExactly("failed: full", "recovered");
    }

    @Test
    void the_last_log_line_states_the_current_status() throws Exception {
        write(new IOException("full"));
        reached.acquire();
        write(null);
        write(new IOException("full again"));
        assertThat(state).hasMessage("full again");
        taken.release(ALL);
        journal.close();
        assertThat(told).containsExactly("failed: full");
    }

    @Test
    void a_failure_that_ended_before_it_was_logged_is_still_logged() throws Exception {
        write(new IOException("full"));
        reached.acquire();
        write(null);
        taken.release();
        reached.acquire();
        write(new IOException("full for a moment"));
        write(null);
        taken.release(ALL);
        journal.close();
        assertThat(told).containsExactly("failed: full", "recovered", "failed: full for a moment", "recovered");
    }

    @Test
    void close_waits_at_most_a_second_for_a_blocked_log() throws Exception {
        write(new IOException("full"));
        reached.acquire();
        CompletableFuture.runAsync(journal::close).get(LONGEST.toSeconds(), TimeUnit.SECONDS);
        assertThat(disk.isClosed()).isTrue();
        assertThat(told).isEmpty();
    }

    @Test
    void close_waits_for_a_slow_log() throws Exception {
        write(new IOException("full"));
        reached.acquire();
        Thread closing = new Thread(journal::close);
        closing.start();
        while (!disk.isClosed()) {
            Thread.onSpinWait();
        }
        taken.release(ALL);
        closing.join();
        assertThat(told).containsExactly("failed: full");
    }

    @Test
    void the_thread_ends_when_everything_is_logged() throws Exception {
        taken.release(ALL);
        for (int i = 0; i < 3; i++) {
            write(new IOException("full"));
            write(null);
        }
        journal.close();
        assertThat(told).last().isEqualTo("recovered");
        for (Thread teller : tellers) {
            teller.join(LONGEST.toMillis());
        }
        assertThat(tellers).noneMatch(Thread::isAlive).allMatch(Thread::isDaemon);
    }
}
