package io.fairgate.gateway.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.rolling.RollingFileAppender;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * A rolling file of records. Either a whole record is in the file, or the thread that logs it gets an exception and no part of
 * it is in the file. Logback's own appender hides that a disk is full, and loses records. The next record is tried again.
 *
 * <p>Only one thread writes to its log.
 */
public final class RecordFile extends RollingFileAppender<ILoggingEvent> {

    private boolean isWritten;
    private @Nullable IOException failure;

    /** @throws UncheckedIOException when the record could not be written */
    @Override
    public void doAppend(ILoggingEvent record) {
        isWritten = false;
        failure = null;
        super.doAppend(record);
        if (!isWritten) {
            throw new UncheckedIOException(failure == null ? new IOException(getFile() + " is not open") : failure);
        }
    }

    /** Throws nothing: an exception from here would stop the appender, or be swallowed by it. */
    @Override
    protected void writeOut(ILoggingEvent record) {
        try {
            if (getOutputStream() == null) {
                openFile(getFile()); // The new file could not be opened when the last one was rolled.
            }
            super.writeOut(record);
            isWritten = true;
        } catch (IOException e) {
            failure = e;
        }
    }

    @Override
    public void openFile(String name) throws IOException {
        setOutputStream(new WholeLines(name));
    }

    /** A line is written with one call, and then either all of it is in the file or nothing. */
    private static final class WholeLines extends FileOutputStream {
        WholeLines(String name) throws IOException {
            super(name, true);
        }

        @Override
        public void write(byte[] line) throws IOException {
            write(line, 0, line.length);
        }

        @Override
        public void write(byte[] line, int offset, int length) throws IOException {
            long before = getChannel().size();
            try {
                super.write(line, offset, length);
            } catch (IOException e) {
                cutTo(before, e);
                throw e;
            }
        }

        private void cutTo(long size, IOException because) {
            try {
                getChannel().truncate(size);
            } catch (IOException e) {
                because.addSuppressed(e);
            }
        }
    }
}
