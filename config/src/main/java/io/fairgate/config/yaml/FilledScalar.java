package io.fairgate.config.yaml;

import org.yaml.snakeyaml.nodes.ScalarNode;

/** A scalar whose placeholders have been filled in. Mistakes show it as the file writes it. */
final class FilledScalar extends ScalarNode {

    private final String written;

    FilledScalar(ScalarNode written, String filled) {
        super(written.getTag(), filled, written.getStartMark(), written.getEndMark(), written.getScalarStyle());
        this.written = written.getValue();
    }

    String written() {
        return written;
    }
}
