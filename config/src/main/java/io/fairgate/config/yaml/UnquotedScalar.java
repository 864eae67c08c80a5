package io.fairgate.config.yaml;

import org.yaml.snakeyaml.DumperOptions.ScalarStyle;
import org.yaml.snakeyaml.nodes.ScalarNode;

/** A scalar that quotes do not make a text, as around a placeholder. Mistakes show it as the file writes it. */
final class UnquotedScalar extends ScalarNode {

    private final String written;

    UnquotedScalar(ScalarNode scalar, String value) {
        this(
                scalar,
                value,
                scalar instanceof UnquotedScalar unquoted ? unquoted.written : scalar.getValue(),
                scalar.getScalarStyle());
    }

    private UnquotedScalar(ScalarNode scalar, String value, String written, ScalarStyle style) {
        super(scalar.getTag(), value, scalar.getStartMark(), scalar.getEndMark(), style);
        this.written = written;
    }

    /** A part of a text. Mistakes show all of the text when it was filled in, because the part may be secret. */
    static UnquotedScalar part(ScalarNode whole, String part) {
        boolean isFilled = whole instanceof UnquotedScalar unquoted && !unquoted.written.equals(whole.getValue());
        return isFilled ? new UnquotedScalar(whole, part) : new UnquotedScalar(whole, part, part, ScalarStyle.PLAIN);
    }

    String written() {
        return written;
    }
}
