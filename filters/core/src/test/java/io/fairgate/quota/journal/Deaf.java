package io.fairgate.quota.journal;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Ignores all events of a journal. */
public final class Deaf implements JournalListener {
    @Override
    public void changed(@Nullable IOException failure) {}

    @Override
    public void failed(IOException cause) {}

    @Override
    public void recovered() {}

    @Override
    public void ranAhead(String what) {}
}
