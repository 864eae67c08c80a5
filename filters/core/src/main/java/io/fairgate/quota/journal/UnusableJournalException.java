package io.fairgate.quota.journal;

/** The file of a {@link UsageJournal} cannot be used; the message is one sentence that says what to do about it. */
public final class UnusableJournalException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnusableJournalException(String message) {
        super(message);
    }
}
