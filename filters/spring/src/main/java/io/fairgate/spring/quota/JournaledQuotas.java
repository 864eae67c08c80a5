package io.fairgate.spring.quota;

import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.quota.journal.UsageJournal;
import io.fairgate.time.MonotonicScheduler;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * The quotas of this process, and the journal that keeps them across a restart.
 *
 * @param journal null when the process keeps nothing
 */
record JournaledQuotas(EmbeddedQuotas quotas, @Nullable UsageJournal journal) implements AutoCloseable {

    /** @param log the log of the journal; null when the process keeps nothing */
    static JournaledQuotas open(@Nullable JournalLog log) {
        UsageJournal journal = log == null
                ? null
                : UsageJournal.open(log.file(), MonotonicScheduler.INSTANCE, InstantSource.system(), log);
        return new JournaledQuotas(
                new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system(), journal), journal);
    }

    /** Writes the usage exactly, to the unit, and closes the journal. */
    @Override
    public void close() {
        if (journal != null) {
            quotas.writeExactly();
            journal.close();
        }
    }
}
