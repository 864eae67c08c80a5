package io.fairgate.gateway.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.rolling.RollingFileAppender;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * A file of records that rolls. A record is in it as a whole, or whoever logs it gets an exception and nothing of it is
 * there. Logback's own keeps to itself that a disk is full, and lets records vanish. The next record tries again.
 *
 * <p>Its log is written by one thread.
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

    /** Throws nothing: above it an exception would end the appender, or be kept. */
    @Override
    protected void writeOut(ILoggingEvent record) {
        try {
            if (getOutputStream() == null) {
                openFile(getFile()); // It could not be opened after the last one was put aside.
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

    /** A line is given to it at once, and is in the file then, or nothing of it is. */
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
