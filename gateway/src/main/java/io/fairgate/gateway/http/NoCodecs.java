package io.fairgate.gateway.http;

import java.util.List;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.codec.ServerCodecConfigurer;

/**
 * No codecs: the handlers of this server read and write bytes themselves. Spring's default would create every codec on the
 * class path, which takes as long as the rest of a start.
 */
final class NoCodecs implements ServerCodecConfigurer {

    @Override
    public List<HttpMessageReader<?>> getReaders() {
        return List.of();
    }

    @Override
    public List<HttpMessageWriter<?>> getWriters() {
        return List.of();
    }

    @Override
    public ServerDefaultCodecs defaultCodecs() {
        throw new UnsupportedOperationException("there are no codecs");
    }

    @Override
    public CustomCodecs customCodecs() {
        throw new UnsupportedOperationException("there are no codecs");
    }

    @Override
    public void registerDefaults(boolean registerDefaults) {}

    @Override
    public ServerCodecConfigurer clone() {
        return this;
    }
}
