package io.fairgate.quota.embedded;

import io.fairgate.quota.Quotas;
import io.fairgate.quota.journal.JournalListener;
import io.fairgate.quota.journal.JournalRecord;
import io.fairgate.quota.journal.JournalStore;
import io.fairgate.quota.journal.UsageJournal;
import io.fairgate.quota.journal.UsageKey;
import io.fairgate.testkit.TestTime;
import io.fairgate.testkit.quota.QuotasContract;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** Quotas whose charges wait until their units are written to a journal, by another thread. */
class JournaledQuotasContractTest extends QuotasContract {

    private @Nullable UsageJournal journal;

    @Override
    public Quotas newQuotas(TestTime time, InstantSource calendar) {
        journal = new UsageJournal(new Memory(), time, new Silent());
        return new EmbeddedQuotas(time, calendar, journal);
    }

    /** A charge may have to wait for the next write as well. */
    @Override
    public void answer(TestTime time) {
        for (int i = 0; i < 4; i++) {
            Objects.requireNonNull(journal).written().block(Duration.ofSeconds(20));
        }
    }

    @AfterEach
    void close() {
        Objects.requireNonNull(journal).close();
    }

    /** A disk that never fails. */
    private static final class Memory implements JournalStore {
        private final Map<UsageKey, JournalRecord> records = new ConcurrentHashMap<>();

        @Override
        public Map<UsageKey, JournalRecord> live() {
            return records;
        }

        @Override
        public void write(Collection<JournalRecord> written) {
            written.forEach(record -> records.put(record.key(), record));
        }

        @Override
        public void close() {}
    }

    private static final class Silent implements JournalListener {
        @Override
        public void changed(@Nullable IOException failure) {}

        @Override
        public void failed(IOException cause) {}

        @Override
        public void recovered() {}

        @Override
        public void ranAhead(String what) {}
    }
}
