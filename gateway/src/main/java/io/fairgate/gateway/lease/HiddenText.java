package io.fairgate.gateway.lease;

/** A setting that is a secret: no log and no error shows it. */
public final class HiddenText {

    private final String value;

    private HiddenText(String value) {
        this.value = value;
    }

    /** What Spring makes of the text of a property. */
    public static HiddenText of(String text) {
        return new HiddenText(text);
    }

    String value() {
        return value;
    }

    @Override
    public String toString() {
        return "(hidden)";
    }
}
