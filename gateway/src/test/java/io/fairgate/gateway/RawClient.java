package io.fairgate.gateway;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A client that writes bytes and can leave in every possible way. */
final class RawClient implements AutoCloseable {

    private final Socket socket;

    RawClient(int port) throws IOException {
        this(new Socket(InetAddress.getLoopbackAddress(), port));
    }

    RawClient(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(30_000);
    }

    /** Reads through a small buffer, so that the operating system takes little of a response for it. */
    static RawClient withSmallBuffer(int port) throws IOException {
        return new RawClient(smallBuffer(port));
    }

    static Socket smallBuffer(int port) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return socket;
    }

    RawClient send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
        return this;
    }

    RawClient get(String path, String tenant) throws IOException {
        return send("GET " + path + " HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: " + tenant + "\r\n\r\n");
    }

    /** Sends a POST with a body of this many bytes; stops early if the gateway reads no more, as a client would. */
    RawClient post(String path, String tenant, int bytes) throws IOException {
        send("POST " + path + " HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: " + tenant + "\r\nContent-Length: " + bytes
                + "\r\n\r\n");
        byte[] chunk = new byte[8192];
        for (int sent = 0; sent < bytes; sent += chunk.length) {
            socket.getOutputStream().write(chunk, 0, Math.min(chunk.length, bytes - sent));
        }
        socket.getOutputStream().flush();
        return this;
    }

    /** Sends unless the other side has closed the connection. */
    void trySend(String text) {
        try {
            send(text);
        } catch (IOException closed) {
            // What is read next shows it.
        }
    }

    /** The next answer; null when the connection has ended, also by a reset. */
    @Nullable
    RawAnswer answer() throws IOException {
        try {
            return RawAnswer.read(socket.getInputStream());
        } catch (SocketException reset) {
            return null;
        }
    }

    /** Everything until the connection ends; throws when it ends by a reset. */
    String readAll() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        socket.getInputStream().transferTo(all);
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    /** Reads this many bytes. */
    void read(int bytes) throws IOException {
        socket.getInputStream().skipNBytes(bytes);
    }

    /** How many bytes come until the connection ends, in whatever way. */
    long readToEnd() throws IOException {
        byte[] part = new byte[1 << 16];
        long read = 0;
        try {
            for (int n = 0; n >= 0; n = socket.getInputStream().read(part)) {
                read += n;
            }
        } catch (SocketException reset) {
            // The end as well.
        }
        return read;
    }

    /** Reads until this text has arrived. */
    String readUntil(String text) throws IOException {
        InputStream in = socket.getInputStream();
        StringBuilder read = new StringBuilder();
        while (read.indexOf(text) < 0) {
            int c = in.read();
            if (c < 0) {
                throw new IOException("ended after: " + read);
            }
            read.append((char) c);
        }
        return read.toString();
    }

    /** Bytes that have come and were not read yet. */
    int available() throws IOException {
        return socket.getInputStream().available();
    }

    /** Closes the sending side, and continues to read. */
    RawClient shutdownOutput() throws IOException {
        socket.shutdownOutput();
        return this;
    }

    /** Leaves with a FIN. */
    @Override
    public void close() throws IOException {
        socket.close();
    }

    /** Leaves with a RST. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }
}
