package io.fairgate.gateway.lease;

/** A secret setting: logs and errors do not show it. */
public final class HiddenText {

    private final String value;

    private HiddenText(String value) {
        this.value = value;
    }

    /** Spring calls this to convert the text of a property. */
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
