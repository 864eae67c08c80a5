package io.fairgate.spring;

import io.fairgate.quota.EmbeddedQuotas;
import io.fairgate.quota.UsageJournal;
import io.fairgate.time.MonotonicScheduler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * The quotas of this process, and the journal that keeps them over a restart.
 *
 * @param journal null when the process keeps nothing
 */
record JournaledQuotas(EmbeddedQuotas quotas, @Nullable UsageJournal journal) implements AutoCloseable {

    /** @param path null or empty when the process keeps nothing */
    static JournaledQuotas open(@Nullable Path path, FairgateMeters meters) {
        UsageJournal journal =
                path == null || path.toString().isEmpty() ? null : UsageJournal.open(path, MonotonicScheduler.INSTANCE, new JournalLog(meters));
        return new JournaledQuotas(
                new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system(), journal), journal);
    }

    /** Writes what is used to the unit. */
    @Override
    public void close() throws IOException {
        if (journal != null) {
            quotas.writeExactly();
            journal.close();
        }
    }
}
